"""Nested cross-validation is not flattered by its search: on noise its mean is that of guessing.

Each of C columns is 0 or 1 at random, and a configuration predicts its column: nothing is learned, so that
every configuration is right half of the time on new rows, whichever was chosen. By symmetry the expectation of the
nested estimate is exactly .5 for every size. A test fails when the mean of its repetitions is so many of its own
standard errors away that chance does it in 1 of 10 000 runs (Student's t).
"""

import numpy as np
import pytest
from scipy.stats import t as student
from sklearn.base import BaseEstimator, ClassifierMixin

import heldout as ho


class Column(ClassifierMixin, BaseEstimator):
    """Predicts a column."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return X[:, self.column].astype(int)


def repetitions(n: int, n_folds: int, n_columns: int, times: int, **settings: object) -> np.ndarray:
    """(times, 2): nested and uncorrected accuracy on noise."""
    found = np.empty((times, 2))
    for repetition in range(times):
        rng = np.random.default_rng([n, n_folds, n_columns, repetition])
        X, y = rng.integers(0, 2, (n, n_columns)), np.arange(n) % 2
        grid = {"column": list(range(n_columns))}
        estimate = ho.nested_cv(
            Column(), X, y, grid, scoring="accuracy", cv=n_folds, interval=None, refit=False, **settings
        )
        found[repetition] = estimate.value, estimate.uncorrected
    return found


def assert_unbiased(found: np.ndarray) -> None:
    mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(len(found))
    far = student.isf(5e-5, len(found) - 1)
    assert abs(mean[0] - 0.5) < far * error[0]
    assert mean[1] - 0.5 > far * error[1]  # the same search's best score is flattered, and would fail


@pytest.mark.parametrize("inner", ["remaining", "holdout", 3])
def test_on_noise_it_is_half_for_every_way_to_search_inside(inner: object) -> None:
    assert_unbiased(repetitions(32, 4, 10, times=80, inner=inner))
