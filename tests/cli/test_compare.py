"""``heldout compare``, in this process with two models of a space of one's own."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import heldout as ho

Run = Callable[..., Any]
DROP = "'bootstrap(threshold=0.6, min_predictions=10)'"
COMPARE = (
    "compare data.csv --target outcome --n-jobs 1 --cv 3 --metric accuracy --n-bootstraps 50 --out out"
    " --space own_space.py:prepared"
)

pytestmark = pytest.mark.usefixtures("files")


def read(name: str) -> Any:
    return json.loads(Path("out", name).read_text(encoding="utf-8"))


@pytest.mark.usefixtures("page_of_words")
def test_it_compares_resumes_and_is_drawn_again(run: Run, document: Run) -> None:
    ended = run(COMPARE)
    assert "16 fits in all." in ended.out  # 3 · 3 in folds, 2 · 3 without pairs of folds, and the model
    assert "accuracy of 2 algorithms, each by itself, on the same 3 outer folds\n" in ended.out
    kept = read("comparison.json")
    # The terminal, the page, the card and the document have one number of the model to deploy.
    value = kept["overall"]["value"]
    assert f"\nDeploy {kept['deployed_name']}: accuracy {value:.4f} [" in ended.out
    headline = read("report.json")["headline"]
    assert (headline["value"], headline["uncorrected"]) == (value, kept["overall"]["uncorrected"])
    assert f"**Accuracy on new data: {value:.3f}**" in Path("out/card.md").read_text()
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert '<h2 id="algorithms">Algorithms</h2>' in page and "Wainer" in page
    deployed = next(each for each in kept["algorithms"] if each["name"] == kept["deployed"])
    assert f'{deployed["name"]} <span class="tag">deployed</span>' in page and kept["deployed_name"] in page
    run("report out --to again.html")
    assert Path("again.html").read_text(encoding="utf-8") == page

    found = document(f"{COMPARE} --resume --quiet")
    assert found["selections"] == kept["selections"] and found["n_fits"] == 16
    assert [each["outer_scores"] for each in found["algorithms"]] == [
        each["outer_scores"] for each in kept["algorithms"]
    ]
    assert found["deployed_name"] == kept["deployed_name"] and found["n_rows"] == 60
    assert ho.load_model(Path("out/model.skops")) is not None


def test_the_aggregate_is_that_of_every_score(document: Run) -> None:
    found = document(f"{COMPARE} --aggregate pooled --quiet")
    assert found["overall"]["provenance"]["aggregate"] == "pooled"
    for each in found["algorithms"]:
        assert round(60 * each["flat"], 9) == round(60 * each["flat"]) and round(60 * each["nested"], 9) % 1 == 0


def test_losers_of_each_algorithm_are_dropped(run: Run, document: Run) -> None:
    ended = run(f"{COMPARE} --drop {DROP}")
    assert "at most 22 fits in all." in ended.out  # 3 · 3 on the folds, 3 · 2 · 2 inside, and the model
    found = document(f"{COMPARE} --drop {DROP} --resume --quiet")
    made = sum(each["costs"]["flat_fits"] + each["costs"]["nested_fits"] for each in found["algorithms"])
    assert found["n_fits"] == made + 1
    # the choice among those that are left
    assert found["overall"]["flags"][0]["flag"] == "dropped_configurations"
