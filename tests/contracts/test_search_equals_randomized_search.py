"""``HeldOutRandomizedSearchCV`` draws, scores and chooses like ``RandomizedSearchCV``."""

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from scipy.stats import loguniform, randint
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RandomizedSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import heldout as ho

X, Y = load_iris(return_X_y=True)
PIPELINE = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))


@dataclass(frozen=True)
class Case:
    estimator: Any
    distributions: Any
    settings: dict[str, Any] = field(default_factory=dict)


CASES = {
    "lists": Case(KNeighborsClassifier(), {"n_neighbors": list(range(1, 20)), "weights": ["uniform", "distance"]}),
    "distributions": Case(
        DecisionTreeClassifier(random_state=0),
        {"max_depth": randint(1, 6), "ccp_alpha": loguniform(1e-4, 1e-1), "criterion": ["gini", "entropy"]},
        {"n_iter": 7, "random_state": 2**32 - 1, "scoring": "neg_log_loss"},
    ),
    "list of dicts": Case(
        SVC(),
        [{"kernel": ["linear"], "C": loguniform(0.1, 10)}, {"kernel": ["rbf"], "gamma": loguniform(0.01, 1)}],
        {"n_iter": 6, "random_state": 3, "cv": 3},
    ),
    "list of dicts of lists": Case(
        SVC(), [{"kernel": ["linear"], "C": [0.1, 1, 10]}, {"kernel": ["rbf"], "gamma": np.array([0.01, 0.1])}],
        {"n_iter": 4, "cv": 3},
    ),
    "fewer combinations than draws": Case(KNeighborsClassifier(), {"n_neighbors": (1, 5, 30)}),
    "nothing to draw": Case(KNeighborsClassifier(), {}),
    "estimators among the values": Case(
        PIPELINE,
        {"standardscaler": [StandardScaler(), MinMaxScaler(), "passthrough"], "logisticregression__C": [0.1, 1.0]},
        {"n_iter": 4, "scoring": ["accuracy", "neg_log_loss"], "refit": "neg_log_loss"},
    ),
}  # fmt: skip


def fitted(kind: Any, case: Case, **more: Any) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="the space|The total space")
        settings = {"random_state": 0, **case.settings, **more}
        return kind(clone(case.estimator), case.distributions, **settings).fit(X, Y)


@pytest.fixture(scope="module", params=CASES.values(), ids=CASES.keys())
def pair(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    theirs = fitted(RandomizedSearchCV, request.param)
    return theirs, fitted(ho.HeldOutRandomizedSearchCV, request.param, n_bootstraps=20)


def test_candidates_and_columns_are_equal(pair: tuple[Any, Any]) -> None:
    theirs, ours = pair
    assert set(ours.cv_results_) == set(theirs.cv_results_)
    for name, column in theirs.cv_results_.items():
        if name == "params":
            assert ours.cv_results_[name] == column
        elif name.startswith("param_"):
            np.testing.assert_array_equal(ours.cv_results_[name], column)
            assert ours.cv_results_[name].dtype == column.dtype
        elif not name.endswith("_time"):
            np.testing.assert_allclose(ours.cv_results_[name], column, rtol=0, atol=1e-12, err_msg=name)


def test_choice_is_equal(pair: tuple[Any, Any]) -> None:
    theirs, ours = pair
    assert ours.best_index_ == theirs.best_index_
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=0, abs=1e-12)
    assert ours.n_splits_ == theirs.n_splits_
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.estimate_.uncorrected == pytest.approx(ours.best_score_, abs=1e-12)
