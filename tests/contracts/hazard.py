"""A survival model of a few lines, in scikit-survival's manner, which tests need no package for."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

SURVIVAL = [("died", bool), ("days", float)]


def survival_data(n: int = 120, seed: int = 0) -> tuple[Any, Any]:
    """Rows of four columns, two of which shorten life; about a third are censored."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    life = rng.exponential(np.exp(-X[:, 0] - 0.5 * X[:, 1]))
    end = rng.exponential(2.0, size=n)
    y = np.empty(n, dtype=SURVIVAL)
    y["died"], y["days"] = life <= end, np.minimum(life, end)
    return X, y


def concordance(y: Any, risk: Any) -> float:
    """Harrell's index, pair by pair."""
    event, time = (y[name] for name in y.dtype.names)
    right = pairs = 0.0
    for i in np.flatnonzero(event):
        later = (time > time[i]) | ((time == time[i]) & ~event)
        pairs += later.sum()
        right += (risk[i] > risk[later]).sum() + (risk[i] == risk[later]).sum() / 2
    return right / pairs if pairs else float("nan")


class Step:
    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y


class Hazard(BaseEstimator):
    """Ridge regression of the logarithm of the time, and Nelson's hazard beneath it.

    ``alpha`` below 0 turns the risks round; ``fails`` makes fits raise.
    """

    def __init__(self, alpha: float = 1.0, column: int | None = None, fails: bool = False) -> None:
        self.alpha, self.column, self.fails = alpha, column, fails

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Hazard:
        if self.fails:
            raise ValueError("it fails")
        event, time = (y[name] for name in y.dtype.names)
        assert event.dtype == bool and time.dtype == float, "what scikit-survival asks of its targets"
        weight = np.ones(len(time)) if sample_weight is None else np.asarray(sample_weight)
        Z = self._used(X)
        self.mean_ = Z.mean(axis=0)
        Z = Z - self.mean_
        left = Z.T @ (weight[:, None] * Z) + abs(self.alpha) * np.eye(Z.shape[1])
        self.coef_ = -np.linalg.solve(left, Z.T @ (weight * np.log(time + 0.01)))
        self.times_ = np.unique(time)
        deaths = np.array([(event & (time == t)).sum() for t in self.times_])
        self.hazard_ = np.cumsum(deaths / np.array([(time >= t).sum() for t in self.times_]))
        return self

    def predict(self, X: Any) -> Any:
        return np.sign(self.alpha) * ((self._used(X) - self.mean_) @ self.coef_)

    def predict_survival_function(self, X: Any) -> Any:
        return [Step(self.times_, np.exp(-self.hazard_ * np.exp(risk))) for risk in self.predict(X)]

    def score(self, X: Any, y: Any) -> float:
        return concordance(y, self.predict(X))

    def _used(self, X: Any) -> Any:
        X = np.asarray(X, dtype=float)
        return X if self.column is None else X[:, [self.column]]
