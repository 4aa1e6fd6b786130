"""``heldout compare``, in this process with two models of a space of one's own."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import heldout as ho

Command = Callable[..., Any]
Write = Callable[..., Path]

SPACE = """
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

import heldout as ho

GRID = {"kneighborsclassifier__n_neighbors": [3, 9]}


def space(X, y):
    prepare = ho.spaces.default_preprocessing(X)
    return [
        ("neighbours", make_pipeline(prepare, KNeighborsClassifier()), GRID),
        ("tree", make_pipeline(prepare, DecisionTreeClassifier(max_depth=2, random_state=0)), {}),
    ]
"""
COMPARE = ["--target", "outcome", "--n-jobs", "1", "--cv", "3", "--metric", "accuracy", "--n-bootstraps", "50"]


@pytest.fixture(autouse=True)
def space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "compared.py").write_text(SPACE)
    yield
    sys.modules.pop("compared", None)


def compare(command: Command, path: Path, *options: object) -> Any:
    return command("compare", path, *COMPARE, "--space", "compared.py:space", *options)


def test_it_compares_and_resumes(command: Command, table: Write, tmp_path: Path) -> None:
    path = table()
    ended = compare(command, path, "--out", "out")
    assert ended.code == 0, ended
    assert "16 fits in all." in ended.out  # 3 · 3 in folds, 2 · 3 without pairs of folds, and the model
    assert "accuracy of 2 algorithms, each by itself, on the same 3 outer folds\n" in ended.out
    kept = json.loads((tmp_path / "out" / "comparison.json").read_text())
    # The terminal, the page, the card and the document have one number of the model to deploy.
    value = kept["overall"]["value"]
    assert f"\nDeploy {kept['deployed_name']}: accuracy {value:.4f} [" in ended.out
    headline = json.loads((tmp_path / "out" / "report.json").read_text())["headline"]
    assert (headline["value"], headline["uncorrected"]) == (value, kept["overall"]["uncorrected"])
    assert f"**Accuracy on new data: {value:.3f}**" in (tmp_path / "out" / "card.md").read_text()

    again = compare(command, path, "--out", "out", "--resume", "--json", "--quiet")
    document = json.loads(again.out)
    assert document["selections"] == kept["selections"] and document["n_fits"] == 16
    assert [each["outer_scores"] for each in document["algorithms"]] == [
        each["outer_scores"] for each in kept["algorithms"]
    ]
    assert document["deployed_name"] == kept["deployed_name"] and document["n_rows"] == 60
    assert ho.load_model(tmp_path / "out" / "model.skops") is not None


@pytest.mark.draws_report
def test_the_report_has_a_section_on_the_comparison(command: Command, table: Write, tmp_path: Path) -> None:
    ended = compare(command, table(), "--out", "out", "--drop", "bootstrap(threshold=0.6, min_predictions=10)")
    assert ended.code == 0, ended
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    kept = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert '<h2 id="algorithms">Algorithms</h2>' in page and "Wainer" in page
    deployed = next(each for each in kept["algorithms"] if each["name"] == kept["deployed"])
    assert f'{deployed["name"]} <span class="tag">deployed</span>' in page and kept["deployed_name"] in page
    again = command("report", "out", "--to", "again.html")
    assert again.code == 0 and (tmp_path / "again.html").read_text(encoding="utf-8") == page


def test_the_aggregate_is_that_of_every_score(command: Command, table: Write) -> None:
    ended = compare(command, table(), "--aggregate", "pooled", "--out", "pooled", "--json", "--quiet")
    assert ended.code == 0, ended
    document = json.loads(ended.out)
    assert document["overall"]["provenance"]["aggregate"] == "pooled"
    for each in document["algorithms"]:
        assert round(60 * each["flat"], 9) == round(60 * each["flat"]) and round(60 * each["nested"], 9) % 1 == 0
    ended = compare(command, table(), "--aggregate", "sums")
    assert ended.code == 2 and "--aggregate must be one of auto, folds, pooled, within, got 'sums'" in ended.err


def test_losers_of_each_algorithm_are_dropped(command: Command, table: Write) -> None:
    options = ["--drop", "bootstrap(threshold=0.6, min_predictions=10)", "--out", "dropped"]
    ended = compare(command, table(), *options)
    assert ended.code == 0, ended
    assert "at most 22 fits in all." in ended.out  # 3 · 3 on the folds, 3 · 2 · 2 inside, and the model
    document = json.loads(compare(command, table(), *options, "--resume", "--json", "--quiet").out)
    made = sum(each["costs"]["flat_fits"] + each["costs"]["nested_fits"] for each in document["algorithms"])
    assert document["n_fits"] == made + 1
    assert (
        document["overall"]["flags"][0]["flag"] == "dropped_configurations"
    )  # the choice among those that are left
    refused = compare(command, table(), "--drop", "sequential")
    assert refused.code == 2 and "--drop sequential plans its own splits" in refused.err
