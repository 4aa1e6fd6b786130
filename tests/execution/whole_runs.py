"""A run of all cells by an executor, and its comparison with another."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import get_scorer

from heldout.configurations import make_configurations
from heldout.data.task import Task, truth_of
from heldout.execution.cells import CellKey, CellResult
from heldout.execution.executors import Executor
from heldout.execution.fit import Work, make_scoring
from heldout.execution.plan import Race
from heldout.execution.run import OpenRun, RunSettings
from heldout.execution.store import MemoryRun
from heldout.folds.splits import make_folds


def work_of(model: BaseEstimator, grid: Any, n_rows: int, n_folds: int, error_score: Any = np.nan) -> Work:
    """A regression of two columns; only the first row begins with 0."""
    X = np.arange(2.0 * n_rows).reshape(n_rows, 2)
    task = Task(X, truth_of(np.random.default_rng(0).normal(size=n_rows)))
    scoring = make_scoring(task.truth, get_scorer("neg_mean_squared_error"))
    folds = make_folds(task, n_folds)
    return Work(task, scoring, make_configurations(model, grid), folds, error_score=error_score)


def run(work: Work, executor: Executor, *listeners: Any) -> dict[CellKey, CellResult]:
    """All cells by the loop that every run has."""
    kept = MemoryRun(entropy=0)
    with executor:
        OpenRun(work, kept, executor, RunSettings(listeners=list(listeners))).run_races([Race(work.folds.splits)])
    return {result.key: result for result in kept.results()}


def check_same(found: dict[CellKey, CellResult], expected: dict[CellKey, CellResult]) -> None:
    assert found.keys() == expected.keys()
    for cell, result in expected.items():
        assert found[cell].state is result.state
        assert found[cell].test_scores == result.test_scores
        for response, values in result.predictions.items():
            np.testing.assert_array_equal(found[cell].predictions[response], values, strict=True)
