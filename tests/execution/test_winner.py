"""One function chooses: a search and the estimate of its predictions have the same winner, ties included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV, KFold

import heldout as ho
from heldout.flags import Flag

N_ROWS = 60


class Says(ClassifierMixin, BaseEstimator):
    """Predicts what a column of X holds."""

    def __init__(self, column: int = 0) -> None:
        self.column = column

    def fit(self, X: Any, y: Any) -> Says:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(X[:, self.column].astype(int))


def permuted(seed: int) -> tuple[NDArray[Any], NDArray[np.int_], KFold]:
    """Two columns of labels whose fold accuracies are permutations of each other (within folds of one size)."""
    rng = np.random.default_rng(seed)
    y = np.arange(N_ROWS) % 2
    cv = KFold(int(rng.integers(3, 11)))
    folds = [test for _, test in cv.split(y)]
    sizes = np.array([len(fold) for fold in folds])
    wrong = rng.integers(0, sizes.min() + 1, len(folds))
    X = np.stack([y, y], axis=1)
    for column in range(2):
        for size in np.unique(sizes):
            wrong[sizes == size] = rng.permutation(wrong[sizes == size])
        for fold, n_wrong in zip(folds, wrong, strict=True):
            X[fold[:n_wrong], column] = 1 - y[fold[:n_wrong]]
    return X, y, cv


@pytest.mark.parametrize("seed", [2, 3, 14, 15, 38, 40])
def test_search_and_estimate_have_the_same_winner(seed: int) -> None:
    X, y, cv = permuted(seed)
    search = ho.HeldOutSearchCV(Says(), {"column": [0, 1]}, cv=cv, n_bootstraps=2, random_state=0).fit(X, y)
    again = ho.estimate(
        y, search.predictions_, metric="accuracy", aggregate="folds", n_bootstraps=2, random_state=0
    )
    assert search.best_index_ == again.selected == search.estimate_.selected == 0
    assert search.cv_results_["rank_test_score"][0] == 1
    theirs = GridSearchCV(Says(), {"column": [0, 1]}, cv=cv).fit(X, y)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    assert (Flag.TIED_WINNER in search.estimate_.flags) == (theirs.best_index_ != 0)
