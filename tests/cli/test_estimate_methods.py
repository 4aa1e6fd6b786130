"""``heldout estimate --method``: any method with its settings, or all of them side by side."""

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import heldout as ho
from heldout.estimates import METHODS

Command = Callable[..., Any]
N = 120
NAMES = ["one", "two", "three", "four"]
READ = ["estimate", "p.csv", "--target", "truth", "--fold", "fold", "--n-bootstraps", "100"]


@pytest.fixture
def scores(tmp_path: Path) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, N)
    frame = pd.DataFrame({"truth": y, "fold": np.arange(N) % 6})
    for name in NAMES:
        frame[name] = 1 / (1 + np.exp(-(y + rng.normal(size=N))))
    frame.to_csv(tmp_path / "p.csv", index=False)
    return frame


def compared(scores: pd.DataFrame, **more: Any) -> Any:
    asked = {"metric": "roc_auc", "folds": scores["fold"], "n_bootstraps": 100, "random_state": 0, **more}
    return ho.compare_estimates(scores["truth"], scores[NAMES], **asked)


def test_all_methods_are_what_the_function_returns(
    command: Command, scores: pd.DataFrame, as_estimate_prints: Callable[[Any], Any]
) -> None:
    ended = command(*READ, "--method", "all", "--json")

    assert ended.code == 0
    assert json.loads(ended.out) == as_estimate_prints(compared(scores).to_dict())


def test_the_comparison_for_people(command: Command, scores: pd.DataFrame) -> None:
    found = compared(scores)
    ended = command(*READ, "--method", "all")
    lines = ended.out.splitlines()

    assert f"roc_auc of {found['shrinkage'].selected_name}" in lines
    heading = next(line for line in lines if line.split()[:1] == ["method"])
    assert heading.split() == ["method", "value", "interval", "(95%)", "uncorrected", "optimism", "note"]
    rows = lines[lines.index(heading) + 1 : lines.index(heading) + 1 + len(found)]
    assert [row[1:].split()[0] for row in rows] == list(found)
    assert [row.startswith(">") for row in rows] == [name == "shrinkage" for name in found]
    others = [line for line in lines if "does not apply: " in line]
    assert [line.split()[0] for line in others] == list(found.refused)
    tilting = next(line for line in others if "tilting" in line)
    assert "it needs --alternative greater (got 'two-sided')" in tilting


def test_one_sided_bounds_are_there_for_the_asking(command: Command, scores: pd.DataFrame) -> None:
    ended = command(*READ, "--method", "all", "--alternative", "greater")

    assert "interval (95%, greater)" in ended.out
    assert any(line.split()[:1] == ["tilting"] for line in ended.out.splitlines())


@pytest.mark.parametrize("name", list(METHODS))
def test_every_method_by_name_answers_or_says_why_not(command: Command, scores: pd.DataFrame, name: str) -> None:
    found = compared(scores)
    ended = command(*READ, "--method", name, "--json")

    if name in found:
        assert json.loads(ended.out) == found[name].to_dict()
    else:
        assert ended.code == 2 and ended.out == ""
        assert ended.last.startswith(f"Error: method '{name}' does not fit: "), ended.last
        assert "methods that do: " in ended.last


def test_settings_of_a_method_reach_it(command: Command, scores: pd.DataFrame) -> None:
    part = command(*READ, "--method", "delong", "--candidates", "0.5", "--evaluation-share", "0.4", "--json")
    asked = ["--method", "delong", "--fixed-configuration", "three", "--evaluation-share", "1", "--json"]
    whole = command(*READ, *asked)
    drawn = command(*READ, "--stratify", "--json")
    calibrated = command(*READ, "--method", "bbc", "--interval", "calibrated", "--json")
    controlled = command(*READ, "--method", "bbc", "--control", "on", "--json")

    def expected(method: Any) -> Any:
        return compared(scores, methods=[method])[method.name].to_dict()

    assert json.loads(part.out) == expected(ho.estimates.DeLong(candidates=0.5, evaluation_share=0.4))
    assert json.loads(whole.out) == expected(ho.estimates.DeLong(configuration="three", evaluation_share=1.0))
    assert json.loads(drawn.out) == expected(ho.estimates.Shrinkage(stratify=True))
    assert json.loads(calibrated.out) == expected(ho.estimates.BBC(interval="calibrated"))
    assert json.loads(controlled.out) == expected(ho.estimates.BBC(control=True))


def test_settings_reach_every_method_that_has_them(command: Command, scores: pd.DataFrame) -> None:
    ended = command(*READ, "--method", "all", "--evaluation-share", "0.4", "--json")
    document = json.loads(ended.out)

    having = {name for name, make in METHODS.items() if "evaluation_share" in {f.name for f in fields(make())}}
    expected = compared(scores, methods=[ho.estimates.DeLong(evaluation_share=0.4)])["delong"]
    assert "delong" in having and "bbc" not in having
    assert document["estimates"]["delong"] == expected.to_dict()
    assert document["estimates"]["bbc"] == compared(scores)["bbc"].to_dict()


def test_a_threshold_cuts_scores_into_labels(command: Command, scores: pd.DataFrame) -> None:
    ended = command(*READ, "--metric", "accuracy", "--threshold", "0.3", "--json")
    expected = ho.estimate(
        scores["truth"], scores[NAMES], metric="accuracy", threshold=0.3, folds=scores["fold"], n_bootstraps=100,
        random_state=0,
    )  # fmt: skip

    assert json.loads(ended.out) == expected.to_dict()
    assert json.loads(command(*READ, "--metric", "accuracy", "--json").out)["value"] != expected.value


def test_a_failed_configuration_is_noted_once(command: Command, scores: pd.DataFrame, tmp_path: Path) -> None:
    scores.assign(two=np.where(np.arange(N) == 3, np.inf, scores["two"])).to_csv(tmp_path / "p.csv", index=False)
    ended = command(*READ, "--method", "all")

    assert ended.code == 0
    assert ended.err.count("1 of 4 configurations failed and could not be selected: two (it predicted an") == 1
    assert "\nshrinkage: 1 of 4 configurations failed" in ended.out


@pytest.mark.parametrize(
    ("text", "method"),
    [
        ("naive_bootstrap(unit='folds')", ho.estimates.NaiveBootstrap(unit="folds")),
        ("delong(within_classes=False)", ho.estimates.DeLong(within_classes=False)),
        ("bbc(interval='calibrated', ties='average')", ho.estimates.BBC(interval="calibrated", ties="average")),
    ],
)
def test_a_method_takes_its_parameters(command: Command, scores: pd.DataFrame, text: str, method: Any) -> None:
    ended = command(*READ, "--metric", "roc_auc", "--method", text, "--seed", "0", "--json")
    found = ho.estimate(
        scores["truth"], scores[NAMES], metric="roc_auc", folds=scores["fold"], method=method, n_bootstraps=100,
        random_state=0,
    )  # fmt: skip
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["value"] == found.value
