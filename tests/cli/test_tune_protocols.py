"""``heldout tune`` on plans of folds, with every method, and by protocols that repeat the search."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heldout.estimates import METHODS

Run = Callable[..., Any]
Write = Callable[..., Path]
PLANS = ("4", "loo", "holdout:0.4", "repeated_holdout:3:0.4", "paired_holdout:3:0.2:2")
ALL = {"cv", "bbc", "shrinkage", "naive_bootstrap", "wald_cv", "locally_simultaneous", "zoom"}
PARTS = {"tilting", "mabt", "wilson", "clopper_pearson"}
FITTING = {
    "4": ALL | PARTS | {"tt", "bbc_f", "corrected_t"},
    "loo": ALL | PARTS | {"tt", "bbc_f", "corrected_t"},
    "holdout:0.4": ALL | PARTS | {"hoeffding"},
    "repeated_holdout:3:0.4": ALL | {"tt", "corrected_t", "wmc", "wmcs"},
    "paired_holdout:3:0.2:2": ALL | {"tt", "corrected_t", "conservative_z", "wmc", "wmcs"},
}
WITHOUT_INTERVAL = {"cv", "tt", "wmc", "wmcs"}
SMALL = "tune small.csv --target outcome --metric accuracy --n-bootstraps 50 --n-jobs 1"
NESTED = "tune data.csv --target outcome --n-jobs 1 --cv 4 --method nested --seed 3 --out out"


@pytest.fixture
def small(command: Run, frame: Any) -> None:
    """Six rows of each class."""
    frame[["a", "outcome", "site"]].groupby("outcome").head(6).to_csv("small.csv", index=False)


@pytest.fixture
def numbers(command: Run, table: Write, bare_space: None) -> None:
    table(drop=["text"])


def read(name: str) -> Any:
    return json.loads((Path("out") / name).read_text(encoding="utf-8"))


@pytest.mark.usefixtures("bare_space", "small")
@pytest.mark.parametrize(
    "cv",
    ["4", *(pytest.param(cv, marks=pytest.mark.slow) for cv in PLANS[1:])],
)  # a test of estimates takes every plan always
def test_every_method_on_every_plan_gives_a_number_or_is_refused_before_fitting(
    command: Run, cv: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heldout.cli.tune_job.write_files", lambda *found: {})  # the files are tested elsewhere
    fitting = set()
    for method in METHODS:
        bound = " --alternative greater" if method in ("tilting", "mabt") else ""
        asked = f"{SMALL} --out {method}-out --cv {cv} --method {method} --json --quiet{bound}"
        ended = command(*asked.split())
        if ended.code == 2:
            assert not Path(f"{method}-out", "run.db").exists(), "nothing was fitted"
            assert method in ended.last
            continue
        assert ended.code == 0, ended.err
        found = json.loads(ended.out)
        assert 0 <= found["value"] <= 1
        assert (found["interval"] is None) == (method in WITHOUT_INTERVAL)
        fitting.add(method)
    assert fitting == FITTING[cv]


@pytest.mark.usefixtures("tiny_space", "small")
def test_leave_one_out_scores_all_rows_together_and_says_so(run: Run) -> None:
    ended = run(f"{SMALL} --cv loo --metric roc_auc --json")
    assert "Leave-one-out tests one row at a time: all held-out rows are scored together" in ended.err
    found = json.loads(ended.out)
    assert found["provenance"]["aggregate"] == "pooled" and found["n_fits"] == 2 * found["n_rows"]


@pytest.mark.usefixtures("numbers")
@pytest.mark.parametrize(
    ("options", "fits"),
    [
        ("--method bootstrap_search --scheme cvt --n-bootstraps 2 --cv 3", 2 * (3 * 2 + 1) + 3 * 2 + 1),
        ("--method bootstrap_search --scheme models --n-bootstraps 2", 2 * 2 + 1),
    ],
    ids=["cvt", "models"],
)
def test_the_bootstrap_of_the_search(document: Run, options: str, fits: int) -> None:
    asked = f"tune data.csv --target outcome --metric accuracy --n-jobs 1 --out out {options}"
    found = document(asked)
    assert found["n_fits"] == fits
    assert found["method"] == ("bootstrap_search" if "cvt" in options else "bootstrap_search_models")
    scores = [each["out_of_bag_score"] for each in found["bootstraps"]]
    assert found["value"] == pytest.approx(np.mean(scores))
    assert document(f"{asked} --resume")["n_fits_resumed"] == fits - 1


@pytest.mark.parametrize(("method", "fits"), [("nested", 4 + 1), ("bootstrap_search", 3 + 4 + 1)])
def test_one_model_that_selects_by_itself_makes_the_fits_that_are_announced(
    run: Run, table: Write, method: str, fits: int
) -> None:
    table()
    Path("space.py").write_text(
        "from sklearn.dummy import DummyClassifier\n"
        "from sklearn.model_selection import GridSearchCV\n"
        "from sklearn.pipeline import make_pipeline\n"
        "grid = {'strategy': ['prior', 'uniform'], 'random_state': [0]}\n"
        "model = make_pipeline(GridSearchCV(DummyClassifier(), grid, cv=2))\n"
    )
    asked = f"--space space.py:model --cv 4 --method {method} --n-bootstraps 3 --metric accuracy --n-jobs 1"
    ended = run(f"tune data.csv --target outcome {asked}")
    assert f", {fits} fits in all." in ended.out and f"{fits} done" in ended.out


@pytest.mark.usefixtures("numbers", "page_of_words")
def test_nested_cross_validation_leaves_the_files_of_a_search_and_resuming_gives_the_same(
    document: Run, run: Run
) -> None:
    ended = run(NESTED)
    assert "the search is repeated for each of 4 outer folds, 37 fits in all." in ended.out  # 16 · 2 + 4 + 1
    found = read("estimate.json")
    assert found["method"] == "nested_cv" and found["n_fits"] == 37
    assert len(found["outer_folds"]) == 4 and found["provenance"]["interval"] == "nadeau_bengio"
    assert found["value"] == pytest.approx(np.mean([fold["score"] for fold in found["outer_folds"]]))
    assert "ested cross-validation" in Path("out/report.html").read_text(encoding="utf-8")
    assert Path("out/model.skops").exists()
    estimated = document("estimate out/predictions.parquet --n-bootstraps 50")
    # The predictions are of the search on all rows; the estimate pools them, the search scores by fold.
    assert estimated["uncorrected"] == pytest.approx(found["uncorrected"], abs=0.1)
    again = document(f"{NESTED} --resume")
    assert again["n_fits_resumed"] == 36
    assert {name: again[name] for name in found} == found


@pytest.mark.usefixtures("numbers")
@pytest.mark.parametrize(
    ("options", "said", "fits"),
    [
        ("--inner 2 --repeats 2", "nadeau_bengio", 2 * 8 * 2 + 8 + 2 * 2 + 1),
        ("--across all --interval none", None, 37),
        ("--metric accuracy --interval bates_hastie_tibshirani", "bates_hastie_tibshirani", 37 + 6 * (2 * 2 + 1)),
        ("--cv holdout:0.3 --inner holdout:0.2 --metric accuracy", "test_part", 2 + 1 + 1),
    ],
    ids=["number", "across", "bates", "share"],
)
def test_options_reach_nested_cross_validation(run: Run, options: str, said: str | None, fits: int) -> None:
    ended = run(f"{NESTED} {options}")
    found = read("estimate.json")
    assert ("inner means" in ended.out) == ("--across" in options)
    assert found["n_fits"] == fits and found["provenance"]["interval"] == said
    assert (found["interval"] is None) == (said is None)


@pytest.mark.usefixtures("numbers", "page_of_words")
def test_a_hold_out_inside_a_hold_out_is_one_search_whose_winner_is_tested_once(document: Run) -> None:
    asked = f"{NESTED} --cv holdout --inner holdout --metric accuracy"
    found = document(asked)
    (fold,) = found["outer_folds"]
    assert (fold["n_training_rows"], fold["n_test_rows"]) == (45, 15) and fold["tested"] == found["selected"]
    assert found["provenance"]["interval_of_test_part"] == "clopper_pearson"
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert "There is one split. The winner of the search on the other rows was fitted" in page
    assert "exact binomial one (Clopper and Pearson)" in page and "the search on all rows" not in page
    again = document(f"{asked} --resume")
    assert again["n_fits_resumed"] == 3 and again["value"] == found["value"]


@pytest.mark.usefixtures("tiny_space")
def test_a_two_part_method_bounds_on_a_second_part_of_the_rows(document: Run, table: Write) -> None:
    table()
    asked = "tune data.csv --target outcome --out out --n-jobs 1 --method delong"
    found = document(f"{asked} --alternative greater --confidence-level 0.9")
    assert found["method"] == "delong" and found["interval"]["high"] == 1
    assert found["provenance"]["n_rows_evaluated"] == 15
