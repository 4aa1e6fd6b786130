"""The same seed gives the same bits: for any number of jobs, after any interruption, with any estimator."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from heldout.errors import StoreError
from heldout.search import HeldOutSearchCV

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:150, :6], Y[:150]
FOREST = [
    ("forest", RandomForestClassifier(5), {"max_depth": [1, 3]}),
    ("linear", make_pipeline(StandardScaler(), LogisticRegression()), {"logisticregression__C": [0.1, 10.0]}),
]


def assert_same(one: HeldOutSearchCV, other: HeldOutSearchCV) -> None:
    """To the last bit, times aside."""
    for response, values in one.predictions_.responses.items():
        assert values.tobytes() == other.predictions_.responses[response].tobytes()
    assert one.estimate_.distribution.tobytes() == other.estimate_.distribution.tobytes()
    assert one.estimate_.to_dict() == other.estimate_.to_dict()
    for name, column in one.cv_results_.items():
        if "time" not in name and column is not one.cv_results_["params"]:
            np.testing.assert_array_equal(other.cv_results_[name], column)
    assert one.predict_proba(X).tobytes() == other.predict_proba(X).tobytes()


def searched(random_state: int | None = 7, **settings: Any) -> HeldOutSearchCV:
    settings = {"scoring": "roc_auc", "cv": 3, "n_bootstraps": 100} | settings
    return HeldOutSearchCV(FOREST, random_state=random_state, **settings).fit(X, Y)


def test_jobs_change_nothing() -> None:
    assert_same(searched(n_jobs=1), searched(n_jobs=2))


def test_repeats_are_shuffled_and_the_same_again() -> None:
    once, again = searched(repeats=2), searched(repeats=2)
    assert_same(once, again)
    assert once.n_splits_ == 6 and once.n_fits_ == 24
    first, second = once.predictions_.folds.T
    assert (first != second).any()


def test_another_seed_gives_other_forests() -> None:
    one, other = searched(7), searched(8)
    assert (one.predictions_.responses["probabilities"] != other.predictions_.responses["probabilities"]).any()


def test_configurations_share_their_luck() -> None:
    search = HeldOutSearchCV(RandomForestClassifier(3), [{"max_depth": [2]}, {"max_depth": [2]}], random_state=1)
    search.fit(X, Y)
    one, other = search.predictions_.responses["labels"].transpose(1, 0, 2)
    np.testing.assert_array_equal(one, other)


def test_a_seed_inside_an_estimator_is_left_alone() -> None:
    forest = RandomForestClassifier(5, random_state=3)
    ours = HeldOutSearchCV(forest, {"max_depth": [1, 3]}, random_state=7, n_bootstraps=5).fit(X, Y)
    theirs = GridSearchCV(forest, {"max_depth": [1, 3]}).fit(X, Y)
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


def test_without_a_seed_estimators_keep_their_own_luck() -> None:
    assert searched(None).best_estimator_.get_params().get("random_state") is None
    seeded = HeldOutSearchCV(RandomForestClassifier(5), {}, random_state=7, n_bootstraps=5).fit(X, Y)
    assert seeded.best_estimator_.random_state is not None


@pytest.mark.parametrize("random_state", [np.random.RandomState(0), np.random.default_rng(0)])
def test_generators_seed_a_search(random_state: Any) -> None:
    assert 0 < HeldOutSearchCV(FOREST, random_state=random_state, n_bootstraps=5).fit(X, Y).corrected_score_ < 1


class Counting(ClassifierMixin, BaseEstimator):
    """Counts its fits in a file, and gives up after as many as the environment allows."""

    def __init__(self, path: str = "", c: float = 1.0) -> None:
        self.path = path
        self.c = c

    def fit(self, X: Any, y: Any) -> Counting:
        done = len(Path(self.path).read_text()) if Path(self.path).exists() else 0
        if done >= int(os.environ.get("FITS_ALLOWED", "1000")):
            raise KeyboardInterrupt
        Path(self.path).write_text("x" * (done + 1))
        self.model_ = LogisticRegression(C=self.c, max_iter=3000).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X: Any) -> Any:
        return self.model_.predict(X)

    def predict_proba(self, X: Any) -> Any:
        return self.model_.predict_proba(X)


def test_a_stored_search_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fits = tmp_path / "fits"

    def counted() -> int:
        return len(fits.read_text())

    def search(store: Any, random_state: int | None = 0) -> HeldOutSearchCV:
        return HeldOutSearchCV(
            Counting(str(fits)), {"c": [0.1, 1.0]}, cv=3, n_bootstraps=50, store=store, random_state=random_state
        )

    uninterrupted = search(None).fit(X, Y)
    assert counted() == 7 and uninterrupted.n_fits_ == 6
    fits.unlink()
    run = tmp_path / "run.db"
    monkeypatch.setenv("FITS_ALLOWED", "4")
    with pytest.raises(KeyboardInterrupt):
        search(run).fit(X, Y)
    assert counted() == 4
    monkeypatch.delenv("FITS_ALLOWED")
    resumed = search(run).fit(X, Y)
    assert counted() == 7  # two cells that were left, and the refit
    assert_same(resumed, uninterrupted)
    assert_same(search(str(run)).fit(X, Y), uninterrupted)
    assert counted() == 8  # the refit alone


def test_a_store_remembers_the_seed(tmp_path: Path) -> None:
    run = tmp_path / "run.db"
    grid = {"logisticregression__C": [0.1, 10.0]}
    first = HeldOutSearchCV(FOREST[1][1], grid, n_bootstraps=50, store=run).fit(X, Y)
    again = HeldOutSearchCV(FOREST[1][1], grid, n_bootstraps=50, store=run).fit(X, Y)
    assert_same(first, again)


def test_what_cannot_be_recognised_is_refused_with_a_store(tmp_path: Path) -> None:
    estimator = LogisticRegression(random_state=np.random.RandomState(0))
    HeldOutSearchCV(estimator, {}, n_bootstraps=5).fit(X[:, :2], Y)
    with pytest.raises(StoreError, match=r"cannot be stored.*RandomState has no canonical form"):
        HeldOutSearchCV(estimator, {}, n_bootstraps=5, store=tmp_path / "run.db").fit(X[:, :2], Y)
