"""The same seed gives the same bits: for any number of jobs, after any interruption, with any estimator."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
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


def searched(random_state: Any = 7, **settings: Any) -> HeldOutSearchCV:
    settings = {"scoring": "roc_auc", "cv": 3, "n_bootstraps": 20} | settings
    return HeldOutSearchCV(FOREST, random_state=random_state, **settings).fit(X, Y)


@cache
def plain() -> HeldOutSearchCV:
    return searched()


def test_repeats_are_shuffled_and_the_same_again() -> None:
    once, again = searched(repeats=2), searched(repeats=2)
    assert_same(once, again)
    assert once.n_splits_ == 6 and once.n_fits_ == 24
    first, second = once.predictions_.folds.T
    assert (first != second).any()


def test_another_seed_gives_other_forests() -> None:
    one, other = plain(), searched(8)
    assert (one.predictions_.responses["probabilities"] != other.predictions_.responses["probabilities"]).any()


def test_configurations_share_their_luck() -> None:
    search = HeldOutSearchCV(
        RandomForestClassifier(3), [{"max_depth": [2]}, {"max_depth": [2]}], cv=2, random_state=1
    )
    search.fit(X, Y)
    one, other = search.predictions_.responses["labels"].transpose(1, 0, 2)
    np.testing.assert_array_equal(one, other)


def test_a_seed_inside_an_estimator_is_left_alone() -> None:
    forest = RandomForestClassifier(5, random_state=3)
    ours = HeldOutSearchCV(forest, {"max_depth": [1, 3]}, cv=2, random_state=7, n_bootstraps=5).fit(X, Y)
    theirs = GridSearchCV(forest, {"max_depth": [1, 3]}, cv=2).fit(X, Y)
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


def test_without_a_seed_estimators_keep_their_own_luck() -> None:
    assert searched(None).best_estimator_.get_params().get("random_state") is None
    seeded = HeldOutSearchCV(RandomForestClassifier(5), {}, cv=2, random_state=7, n_bootstraps=5).fit(X, Y)
    assert seeded.best_estimator_.random_state is not None


@pytest.mark.parametrize("random_state", [np.random.RandomState(0), np.random.default_rng(0)])
def test_generators_seed_a_search(random_state: Any) -> None:
    assert 0 < searched(random_state, cv=2).corrected_score_ < 1


def test_what_cannot_be_recognised_is_refused_with_a_store(tmp_path: Path) -> None:
    estimator = LogisticRegression(random_state=np.random.RandomState(0))
    HeldOutSearchCV(estimator, {}, n_bootstraps=5).fit(X[:, :2], Y)
    with pytest.raises(StoreError, match=r"cannot be stored.*RandomState has no canonical form"):
        HeldOutSearchCV(estimator, {}, n_bootstraps=5, store=tmp_path / "run.db").fit(X[:, :2], Y)
