"""Held-out predictions of two classes whose truth is known, and what methods say of them."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import binom
from sklearn.base import BaseEstimator, ClassifierMixin

import heldout as ho

FALSE_ALARM = 1e-4
Floats = NDArray[np.float64]
Truths = Callable[[np.random.Generator], Floats]


class Column(ClassifierMixin, BaseEstimator):
    """Learns nothing: says whether a column is above the cut. Its fits are noted: the column and how many rows."""

    fits: list[tuple[int, int]] = []  # noqa: RUF012

    def __init__(self, column: int = 0, cut: float = 0.0) -> None:
        self.column = column
        self.cut = cut

    def fit(self, X: Any, y: Any) -> Any:
        Column.fits.append((self.column, len(X)))
        self.classes_ = np.array([0, 1])
        return self

    def decision_function(self, X: Any) -> Any:
        return X[:, self.column]

    def predict(self, X: Any) -> Any:
        return (X[:, self.column] > self.cut).astype(int)


def labels(rng: np.random.Generator, truth: Floats, n: int) -> tuple[Any, Any]:
    """Configurations that are right with these probabilities, independently."""
    y = np.arange(n) % 2
    return y, np.where(rng.random((n, len(truth))) < truth, y[:, None], 1 - y[:, None])


def scores(rng: np.random.Generator, truth: Floats, n: int) -> tuple[Any, Any]:
    """Normal scores with these areas under the curve."""
    y = np.arange(n) % 2
    return y, rng.normal(size=(n, len(truth))) + np.sqrt(2) * ndtri(truth) * y[:, None]


DRAWERS = {"accuracy": labels, "roc_auc": scores}


def errors_and_hits(
    method: Any, truths: Truths, n: int, repetitions: int, *, metric: str = "accuracy", **settings: Any
) -> tuple[Floats, NDArray[np.bool_]]:
    """Values less the truth of what was selected, and which of the intervals that there are contain it."""
    errors, hits = [], []
    for seed in range(repetitions):
        rng = np.random.default_rng([n, seed])
        truth = truths(rng)
        y, predictions = DRAWERS[metric](rng, truth, n)
        settings = {"folds": np.zeros(n, dtype=int), "n_bootstraps": 100} | settings
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ho.errors.HeldoutWarning)
            estimate = ho.estimate(y, predictions, metric=metric, method=method, random_state=seed, **settings)
        errors.append(estimate.value - truth[estimate.selected])
        if estimate.interval is not None and not np.isnan(estimate.interval.low):
            hits.append(truth[estimate.selected] in estimate.interval)
    return np.array(errors), np.array(hits)


def standard_error(values: Floats) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def covers(hits: NDArray[np.bool_], level: float = 0.95) -> bool:
    """Whether so few are no surprise: an interval of this level fails once in 10 000 runs."""
    return bool(binom.cdf(int(hits.sum()), len(hits), level) > FALSE_ALARM)
