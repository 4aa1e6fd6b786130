"""The bootstrap of the search on noise, where every configuration is right half of the time.

Labels are drawn anew in every repetition, independent of the columns and of each other. With ``scheme="cvt"``
nothing that scores has touched anything that chose or learned, so that the expectation of the estimate is .5,
whatever the learner. With ``scheme="models"`` that holds for configurations that learn nothing; where models
memorise rows, those that they share leave some of the optimism. A test fails when a mean of its repetitions is so
many of its standard errors away from where it should be that chance does it in 1 of 10 000 runs (Student's t).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

import heldout as ho


class Column(ClassifierMixin, BaseEstimator):
    """Learns nothing: says whether a column is positive."""

    def __init__(self, column: int = 0) -> None:
        self.column = column

    def fit(self, X: Any, y: Any) -> Column:
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X: Any) -> Any:
        return (X[:, self.column] > 0).astype(int)


class Nearest(Column):
    """Memorises: says what the row next in one column said."""

    def fit(self, X: Any, y: Any) -> Nearest:
        order = np.argsort(X[:, self.column], kind="stable")
        self.known_, self.said_ = X[order, self.column], np.asarray(y)[order]
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X: Any) -> Any:
        above = np.clip(np.searchsorted(self.known_, X[:, self.column]), 1, len(self.known_) - 1)
        below = above - 1
        nearer = np.abs(self.known_[below] - X[:, self.column]) <= np.abs(self.known_[above] - X[:, self.column])
        return self.said_[np.where(nearer, below, above)]


def repetitions(model: Any, n: int, n_columns: int, times: int, **settings: Any) -> np.ndarray:
    """(times, 2): estimate and uncorrected accuracy."""
    found = np.empty((times, 2))
    for repetition in range(times):
        rng = np.random.default_rng([n, n_columns, repetition])
        X, y = rng.normal(size=(n, n_columns)), rng.integers(0, 2, size=n)
        estimate = ho.bootstrap_search(
            model, X, y, {"column": list(range(n_columns))}, scoring="accuracy", refit=False,
            random_state=repetition, **settings,
        )  # fmt: skip
        found[repetition] = estimate.value, estimate.uncorrected
    return found


def z_of(values: np.ndarray, expected: float) -> float:
    return float((values.mean() - expected) / (values.std(ddof=1) / np.sqrt(len(values))))


def test_the_direct_bootstrap_keeps_what_scores_apart_from_what_learned() -> None:
    found = repetitions(Nearest(), 40, 10, times=60, cv=4, n_bootstraps=10)
    assert abs(z_of(found[:, 0], 0.5)) < 4.5
    assert z_of(found[:, 1], 0.5) > 4.5


def test_the_bootstrap_of_models_takes_part_of_the_optimism_off_models_that_memorise() -> None:
    found = repetitions(Nearest(), 40, 10, times=60, scheme="models", n_bootstraps=30)
    assert z_of(found[:, 1] - found[:, 0], 0.0) > 4.5
    assert z_of(found[:, 0], 0.5) > 0  # and some of it stays
