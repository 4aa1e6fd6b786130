"""Nested cross-validation with pairs of folds does what a few lines of linear algebra do.

The search chooses the penalty of a ridge regression among a few, on rows with p columns and a linear truth. The
long simulation of the coverage (tests/slow/statistical) uses these lines for hundreds of repetitions.
"""

from itertools import combinations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.data.task import Task, truth_of
from heldout.estimates.intervals import interval_around
from heldout.folds.splits import make_folds
from heldout.metrics import metric_named
from heldout.protocols.nested.intervals import bates_hastie_tibshirani

PENALTIES = (0.1, 3.0, 30.0, 300.0)
MSE = metric_named("mean_squared_error")


def fitted(X: np.ndarray, y: np.ndarray, penalty: float) -> np.ndarray:
    return np.linalg.solve(X.T @ X + penalty * np.eye(X.shape[1]), X.T @ y)


def search(X: np.ndarray, y: np.ndarray, folds: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """The coefficients of the winner of a search on the rows ``inside``, by their own folds."""
    errors = np.zeros(len(PENALTIES))
    for fold in np.unique(folds[inside]):
        train, test = inside & (folds != fold), inside & (folds == fold)
        for place, penalty in enumerate(PENALTIES):
            errors[place] += np.mean((y[test] - X[test] @ fitted(X[train], y[train], penalty)) ** 2)
    return fitted(X[inside], y[inside], PENALTIES[int(errors.argmin())])


def squared(X: np.ndarray, y: np.ndarray, rows: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    return (y[rows] - X[rows] @ coefficients) ** 2


def scheme(X, y, folds, truth):
    """Of one draw of the folds: e_out and e_in by fold, and the mean exact risk of the outer winners."""
    k = int(folds.max()) + 1
    outer, risks = [], []
    for fold in range(k):
        coefficients = search(X, y, folds, folds != fold)
        outer.append(squared(X, y, folds == fold, coefficients))
        risks.append(1 + np.sum((coefficients - truth) ** 2))
    inner: list[list[np.ndarray]] = [[] for _ in range(k)]
    for one, two in combinations(range(k), 2):
        coefficients = search(X, y, folds, (folds != one) & (folds != two))
        inner[one].append(squared(X, y, folds == two, coefficients))
        inner[two].append(squared(X, y, folds == one, coefficients))
    return outer, [np.concatenate(values) for values in inner], float(np.mean(risks))


def data(rng: np.random.Generator, n: int, p: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    truth = np.full(p, 0.25)
    X = rng.normal(size=(n, p))
    return X, X @ truth + rng.normal(size=n), truth


def test_the_simulation_is_the_library() -> None:
    X, y, truth = data(np.random.default_rng(1), 30, 6)
    settings = {"scoring": "neg_mean_squared_error", "cv": 5, "repeats": 2, "random_state": 8}
    found = ho.nested_cv(
        Ridge(fit_intercept=False), X, y, {"alpha": list(PENALTIES)}, interval="bates_hastie_tibshirani", **settings
    )
    draws = make_folds(Task(X, truth_of(y)), 5, repeats=2, entropy=8).labels.T
    outer, inner, _ = zip(*(scheme(X, y, folds, truth) for folds in draws), strict=True)
    bates = bates_hastie_tibshirani(outer, inner)

    low, high = interval_around(bates.spread, MSE, 0.95, "two-sided")
    assert (-found.interval.high, -found.interval.low) == pytest.approx((low, high), abs=1e-10)
    assert found.provenance["bates_hastie_tibshirani"]["inflation"] == pytest.approx(bates.inflation, abs=1e-10)
    assert -found.value == pytest.approx(bates.outer, abs=1e-10)
