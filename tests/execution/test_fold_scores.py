"""Scores from predictions equal those of scikit-learn's scorers."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from one_cell import fit_cell
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.preprocessing import scale

from heldout.configurations import make_configurations
from heldout.data.task import Task, truth_of
from heldout.errors import InputError
from heldout.execution.cells import CellResult
from heldout.execution.fit import Routing, Work, make_scoring, scores_by_scorer
from heldout.execution.split_fits import SplitFits
from heldout.folds.splits import Split

ROWS = np.random.default_rng(0).permutation(90)
SPLIT = Split(0, 0, ROWS[:60], ROWS[60:])
WEIGHTS = np.linspace(0.5, 2.0, 90)
MODEL = {"binary": LogisticRegression(), "several": LogisticRegression(), "numbers": Ridge()}


def rows_of(kind: str) -> tuple[Any, Any]:
    X, y = {"binary": load_breast_cancer, "several": load_wine, "numbers": load_diabetes}[kind](return_X_y=True)
    chosen = np.random.default_rng(1).permutation(len(y))[:90]
    return scale(X[chosen, :3]), y[chosen] + (0.5 if kind == "numbers" else 0)


def works(kind: str, weighted: bool) -> list[tuple[str, Work]]:
    """One for each scorer that can be opened."""
    X, y = rows_of(kind)
    found = []
    for name in get_scorer_names():
        task = Task(X, truth_of(y))
        try:
            scoring = make_scoring(task.truth, get_scorer(name))
        except InputError:
            continue
        if scoring.metrics["score"] is not None:
            routed = Routing(score={"sample_weight": WEIGHTS} if weighted else {})
            found.append((name, Work(task, scoring, routed=routed)))
    return found


CASES = [("binary", False), ("binary", True), ("several", False), ("numbers", True)]


@pytest.mark.parametrize(("kind", "weighted"), CASES, ids=lambda each: str(each))
def test_they_equal_those_of_the_scorer(kind: str, weighted: bool) -> None:
    (configuration,) = make_configurations(MODEL[kind])
    X, y = rows_of(kind)
    model: BaseEstimator = configuration.fresh().fit(X[SPLIT.train], y[SPLIT.train])
    compared = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, work in works(kind, weighted):
            result: CellResult = fit_cell(work, configuration, SPLIT)
            X, y = work.task.X[SPLIT.test], work.task.target[SPLIT.test]
            theirs, _ = scores_by_scorer(work, model, X, y, SPLIT.test)
            assert result.test_scores == pytest.approx(theirs, rel=1e-12, abs=1e-12, nan_ok=True), name
            compared += 1
    assert compared >= 9


def test_a_split_is_scored_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows_of("binary")
    task = Task(X, truth_of(y))
    configurations = make_configurations(LogisticRegression(), {"C": [0.1, 1.0, 10.0]})
    scoring = make_scoring(task.truth, get_scorer("roc_auc"))
    work = Work(task, scoring)

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("a scorer was called")

    monkeypatch.setattr("heldout.execution.split_fits.scores_by_scorer", never)
    fits = SplitFits(replace(work, configurations=configurations), SPLIT, (0, 1, 2))
    unscored = [result for unit in fits.units for result in fits.results(unit)]
    assert all(not result.test_scores for result in unscored)
    assert all(0.5 < result.test_scores["score"] <= 1 for result in fits.scored(unscored))


def test_rows_of_one_class_are_scored_by_the_scorer() -> None:
    X, y = rows_of("binary")
    task = Task(X, truth_of(y))
    (configuration,) = make_configurations(LogisticRegression())
    scoring = make_scoring(task.truth, get_scorer("roc_auc"))
    work = Work(task, scoring)
    ones = np.flatnonzero(y == 1)[:5]
    split = Split(0, 0, np.setdiff1d(np.arange(90), ones), ones)
    with pytest.warns(UserWarning, match="Only one class"):
        result = fit_cell(work, configuration, split)
    assert np.isnan(result.test_scores["score"])
