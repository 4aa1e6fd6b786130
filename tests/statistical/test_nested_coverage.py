"""How often the intervals of nested cross-validation hold what they estimate, where the truth is known.

The search chooses the penalty of a ridge regression among a few, on rows with p columns and a linear truth. The
simulation does what the library does with a few lines of linear algebra, and a test holds the two equal, so that
hundreds of repetitions of the scheme with pairs of folds take seconds. What is estimated is the expected squared
error of the search on the rows of an outer fold's training part (Nadeau & Bengio) or on all of them (Bates, Hastie
& Tibshirani); both are the means over the repetitions of the exact risk of what was fitted.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.data.task import Task, truth_of
from heldout.estimates.base import interval_around, nadeau_bengio
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


def coverage(n: int, p: int, n_folds: int, repeats: int, times: int, level: float = 0.9) -> dict[str, float]:
    """Shares of repetitions in which the intervals hold what they estimate, and their mean widths."""
    intervals: dict[str, list[tuple[float, float]]] = {"nb one draw": [], "nb": [], "bates": [], "independent": []}
    outer_risks, whole_risks = [], []
    for repetition in range(times):
        rng = np.random.default_rng([n, p, n_folds, repetition])
        X, y, truth = data(rng, n, p)
        draws = [rng.permutation(np.arange(n) % n_folds) for _ in range(repeats)]
        outer, inner, risks = zip(*(scheme(X, y, folds, truth) for folds in draws), strict=True)
        scores = np.array([[values.mean() for values in repeat] for repeat in outer])
        bates = bates_hastie_tibshirani(outer, inner).spread
        rows = np.concatenate(outer[0])
        independent = bates._replace(center=rows.mean(), standard_error=rows.std(ddof=1) / np.sqrt(n))
        spreads = {
            "nb one draw": nadeau_bengio(scores[0], 1 / (n_folds - 1)),
            "nb": nadeau_bengio(scores.ravel(), 1 / (n_folds - 1)),
            "bates": bates,
            "independent": independent,
        }
        for name, spread in spreads.items():
            intervals[name].append(tuple(interval_around(spread, MSE, level, "two-sided")))
        outer_risks.append(np.mean(risks))
        whole_risks.append(1 + np.sum((search(X, y, draws[0], np.full(n, True)) - truth) ** 2))
    found = {}
    for name, ends in intervals.items():
        target = np.mean(whole_risks if name == "bates" else outer_risks)
        low, high = np.array(ends).T
        found[name] = float(np.mean((low <= target) & (target <= high)))
        found[f"{name} width"] = float(np.mean(high - low))
    return found


@pytest.mark.slow
def test_both_intervals_cover_where_independent_rows_do_not() -> None:
    """90 % intervals, 400 repetitions; papers/pages/nested.md has the figures.

    Seen: .915 of Nadeau and Bengio from one draw of the folds, .858 from eight (scores of several draws are no
    more independent, and its degrees of freedom take them so), .935 of Bates, Hastie and Tibshirani, .78 of rows
    taken as independent. With a coverage of .90 a share below .855 comes by chance in fewer than 1 of 600 runs of
    other seeds; these are fixed.
    """
    found = coverage(40, 15, 5, repeats=8, times=400)
    assert found["nb one draw"] >= 0.855 and found["bates"] >= 0.855
    assert 0.82 <= found["nb"] < found["nb one draw"]
    assert found["independent"] < min(found["nb"], found["bates"]) - 0.05
