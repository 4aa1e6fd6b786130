"""``heldout tune`` on every plan of folds, with every method, and the bootstrap of the search."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heldout.estimates import METHODS

Command = Callable[..., Any]
Write = Callable[..., Path]
PLANS = ("4", "loo", "holdout:0.4", "repeated_holdout:3:0.4", "paired_holdout:3:0.2:2")
ALL = {"cv", "bbc", "shrinkage", "naive_bootstrap", "wald_cv", "locally_simultaneous", "zoom"}
SHOWN = ["--target", "outcome", "--metric", "accuracy", "--n-bootstraps", 50, "--n-jobs", 1, "--out", "out"]
PARTS = {"tilting", "mabt", "wilson", "clopper_pearson"}
FITTING = {
    "4": ALL | PARTS | {"tt", "bbc_f", "corrected_t"},
    "loo": ALL | PARTS | {"tt", "bbc_f", "corrected_t"},
    "holdout:0.4": ALL | PARTS | {"hoeffding"},
    "repeated_holdout:3:0.4": ALL | {"tt", "corrected_t", "wmc", "wmcs"},
    "paired_holdout:3:0.2:2": ALL | {"tt", "corrected_t", "conservative_z", "wmc", "wmcs"},
}
WITHOUT_INTERVAL = {"cv", "tt", "wmc", "wmcs"}


@pytest.fixture
def small(frame: Any, tmp_path: Path) -> Path:
    """Six rows of each class."""
    frame[["a", "outcome", "site"]].groupby("outcome").head(6).to_csv(tmp_path / "small.csv", index=False)
    return Path("small.csv")


@pytest.mark.usefixtures("bare_space")
@pytest.mark.parametrize(
    "cv",
    ["4", *(pytest.param(cv, marks=pytest.mark.slow) for cv in PLANS[1:])],
)  # a test of estimates takes every plan always
def test_every_method_on_every_plan_gives_a_number_or_is_refused_before_fitting(
    command: Command, small: Path, cv: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heldout.cli.tune_job.write_files", lambda *found: {})  # the files are tested elsewhere
    fitting = set()
    for method in METHODS:
        out = f"{method}-out"
        bound = ["--alternative", "greater"] if method in ("tilting", "mabt") else []
        ended = command(
            "tune", small, *SHOWN[:-1], out, "--cv", cv, "--method", method, "--json", "--quiet", *bound
        )
        if ended.code == 2:
            assert not (tmp_path / out / "run.db").exists(), "nothing was fitted"
            assert method in ended.last
            continue
        assert ended.code == 0, ended.err
        found = json.loads(ended.out)
        assert 0 <= found["value"] <= 1
        assert (found["interval"] is None) == (method in WITHOUT_INTERVAL)
        fitting.add(method)
    assert fitting == FITTING[cv]


@pytest.mark.usefixtures("tiny_space")
def test_leave_one_out_scores_all_rows_together_and_says_so(command: Command, small: Path) -> None:
    ended = command("tune", small, *SHOWN, "--cv", "loo", "--metric", "roc_auc", "--json")
    assert ended.code == 0, ended.err
    assert "Leave-one-out tests one row at a time: all held-out rows are scored together" in ended.err
    found = json.loads(ended.out)
    assert found["provenance"]["aggregate"] == "pooled"
    assert found["n_fits"] == 2 * found["n_rows"]


@pytest.mark.usefixtures("tiny_space")
def test_leave_one_out_leaves_groups_out(command: Command, table: Write) -> None:
    ended = command("tune", table(), *SHOWN, "--cv", "loo", "--groups", "site", "--json")
    assert ended.code == 0, ended.err
    assert "leave-one-out of whole groups = 20 fits" in ended.err
    assert json.loads(ended.out)["provenance"]["aggregate"] == "folds"


@pytest.mark.usefixtures("tiny_space")
def test_a_hold_out_is_planned_in_words(command: Command, table: Write) -> None:
    ended = command("tune", table(), *SHOWN, "--cv", "holdout:0.25", "--repeats", 2, "--json")
    assert ended.code == 0, ended.err
    assert "one hold-out of 25% of the rows x 2 repeats = 4 fits" in ended.err


@pytest.mark.draws_report
@pytest.mark.usefixtures("bare_space")
@pytest.mark.parametrize(("scheme", "fits"), [("cvt", 4 * (3 * 2 + 1) + 3 * 2 + 1), ("models", 4 * 2 + 1)])
def test_the_bootstrap_of_the_search(
    command: Command, table: Write, scheme: str, fits: int, tmp_path: Path
) -> None:
    told = ["tune", table(drop=["text"]), *SHOWN, "--method", "bootstrap_search"]
    told += ["--scheme", scheme, "--n-bootstraps", 4]
    told += ["--cv", 3] if scheme == "cvt" else []
    ended = command(*told, "--json")
    assert ended.code == 0, ended.err
    assert f"{fits} fits" in ended.err
    found = json.loads(ended.out)
    assert found["n_fits"] == fits
    assert found["method"] == {"cvt": "bootstrap_search", "models": "bootstrap_search_models"}[scheme]
    scores = [each["out_of_bag_score"] for each in found["bootstraps"]]
    assert found["value"] == pytest.approx(np.mean(scores))
    assert "on 4 bootstrap samples of the data" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    again = command(*told, "--resume")
    assert again.code == 0, again.err
    assert f"({fits - 1} of them before)" in again.out
    assert "\nchosen by the bootstraps\nconfiguration " in again.out


@pytest.mark.parametrize(
    ("method", "fits"), [("nested", 4 + 1), ("bootstrap_search", 3 + 4 + 1)], ids=["nested", "bootstrap"]
)
def test_one_model_that_selects_by_itself_makes_the_fits_that_are_announced(
    command: Command, table: Write, tmp_path: Path, method: str, fits: int
) -> None:
    lines = [
        "from sklearn.dummy import DummyClassifier",
        "from sklearn.model_selection import GridSearchCV",
        "from sklearn.pipeline import make_pipeline",
        "grid = {'strategy': ['prior', 'uniform'], 'random_state': [0]}",
        "model = make_pipeline(GridSearchCV(DummyClassifier(), grid, cv=2))",
    ]
    (tmp_path / "space.py").write_text("\n".join(lines))
    options = ["--space", "space.py:model", "--cv", 4, "--method", method, "--n-bootstraps", 3]
    ended = command("tune", table(), "--target", "outcome", "--metric", "accuracy", "--n-jobs", 1, *options)
    assert ended.code == 0, ended
    assert f", {fits} fits in all." in ended.out
    assert f"{fits} done" in ended.out
