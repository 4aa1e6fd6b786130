"""A classifier that is as good as its parameter says, in a module that worker processes can import."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification

X, Y = make_classification(180, 8, n_informative=4, random_state=0)
X = np.column_stack([X, np.arange(180.0)])


class Flipping(ClassifierMixin, BaseEstimator):
    """Knows the truth, and says the contrary of it for a share of the rows that is its quality."""

    def __init__(self, share: float = 0.0, seed: int = 0, fails: bool = False) -> None:
        self.share = share
        self.seed = seed
        self.fails = fails

    def fit(self, X: Any, y: Any) -> Flipping:
        if self.fails:
            raise ValueError("it was told to")
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X: Any) -> Any:
        rows = X[:, -1].astype(int)
        wrong = np.random.default_rng(self.seed).random(180) < self.share
        return np.where(wrong[rows], 1 - Y[rows], Y[rows])
