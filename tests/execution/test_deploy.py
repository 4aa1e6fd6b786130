"""The winner of a search and of its predictions; ``deploy="bounded"``: the model that one hold-out tested."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.errors import InputError
from heldout.flags import Flag

X, Y = load_breast_cancer(return_X_y=True)
GRID = {"n_neighbors": [1, 5, 15]}


def test_the_model_is_that_of_the_training_part() -> None:
    hold_out = ho.protocols.hold_out(0.3, random_state=1)
    search = ho.HeldOutSearchCV(
        KNeighborsClassifier(), GRID, cv=hold_out, method="hoeffding", deploy="bounded", random_state=0
    ).fit(X, Y)
    ((train, test),) = hold_out.split(X, Y)
    scores = [
        KNeighborsClassifier(n_neighbors=k).fit(X[train], Y[train]).score(X[test], Y[test])
        for k in GRID["n_neighbors"]
    ]
    assert search.best_index_ == int(np.argmax(scores))
    assert search.best_estimator_.n_samples_fit_ == len(train)
    # The bound is of this very model: its score on the test part, ± √(ln(2 · 3 / .05) / (2n)).
    assert search.best_estimator_.score(X[test], Y[test]) == search.estimate_.value
    half = np.sqrt(np.log(2 * 3 / 0.05) / (2 * len(test)))
    assert search.confidence_interval_.low == pytest.approx(search.estimate_.value - half, abs=1e-12)
    assert search.evaluation_.provenance["deploy"] == "bounded"
    whole = ho.HeldOutSearchCV(KNeighborsClassifier(), GRID, cv=hold_out, method=None).fit(X, Y)
    assert whole.best_estimator_.n_samples_fit_ == len(Y)
    assert whole.evaluation_.provenance["deploy"] == "all"


def test_random_models_are_those_that_were_tested() -> None:
    hold_out = ho.protocols.hold_out(0.3, random_state=1)
    search = ho.HeldOutRandomizedSearchCV(
        RandomForestClassifier(5), {"max_depth": [1, 3]}, n_iter=2, cv=hold_out, method=None, deploy="bounded"
    ).fit(X[:200], Y[:200])
    ((_, test),) = hold_out.split(X[:200], Y[:200])
    assert search.best_estimator_.score(X[test], Y[test]) == search.best_score_


def test_it_needs_one_split_and_a_model() -> None:
    with pytest.raises(InputError, match="deploys the model that one hold-out tested, and here are 5 splits"):
        ho.HeldOutSearchCV(KNeighborsClassifier(), GRID, deploy="bounded").fit(X, Y)
    with pytest.raises(InputError, match="needs a model to deploy, got `refit=False`"):
        ho.HeldOutSearchCV(
            KNeighborsClassifier(), GRID, cv=ho.protocols.hold_out(), deploy="bounded", refit=False
        ).fit(X, Y)
    with pytest.raises(ValueError, match="The 'deploy' parameter"):
        ho.HeldOutSearchCV(KNeighborsClassifier(), GRID, deploy="tested").fit(X, Y)


def test_a_protocol_refuses_it() -> None:
    search = ho.HeldOutSearchCV(KNeighborsClassifier(), GRID, cv=ho.protocols.hold_out(), deploy="bounded")
    for protocol in (ho.nested_cv, ho.bootstrap_search, ho.protocols.learning_curve):
        with pytest.raises(InputError, match="a protocol deploys the winner of its search on all rows"):
            protocol(search, X, Y)


def test_an_open_search_takes_it() -> None:
    run = ho.open_search(X, Y, cv=ho.protocols.hold_out(0.3, random_state=1), random_state=0, deploy="bounded")
    run.evaluate(KNeighborsClassifier(5))
    run.evaluate(KNeighborsClassifier(15))
    assert run.finish().model.n_samples_fit_ == 398


def test_nesting_with_development_sets_says_what_it_deploys() -> None:
    model, grid = LogisticRegression(), {"C": [0.1, 1.0]}
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    flagged = ho.nested_cv(model, X, y, grid, inner="holdout", random_state=0)
    assert "chosen by all 5 folds of the rows" in flagged.flags[ho.estimates.Flag.OTHER_CHOICE_DEPLOYED]
    for inner in ("remaining", 3):
        found = ho.nested_cv(model, X, y, grid, inner=inner, random_state=0)
        assert "other_choice_deployed" not in {str(flag) for flag in found.flags}


# One function chooses: a search and the estimate of its predictions have the same winner, ties included.


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


@pytest.mark.parametrize("seed", [2, 3, 14])
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
