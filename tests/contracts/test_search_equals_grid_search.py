"""Where ``HeldOutSearchCV`` and ``GridSearchCV`` define the same thing, they say the same."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    LeaveOneGroupOut,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

from heldout.search import HeldOutSearchCV


@dataclass(frozen=True)
class Case:
    data: Callable[[], tuple[Any, Any]]
    estimator: Any
    grid: Any
    settings: dict[str, Any] = field(default_factory=dict)
    fit_params: dict[str, Any] = field(default_factory=dict)


def cancer() -> tuple[Any, Any]:
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X[:200]), y[:200]


def iris() -> tuple[Any, Any]:
    return load_iris(return_X_y=True)


def diabetes() -> tuple[Any, Any]:
    X, y = load_diabetes(return_X_y=True)
    return X[:150], y[:150]


def frame() -> tuple[Any, Any]:
    pandas = pytest.importorskip("pandas")
    X, y = cancer()
    table = pandas.DataFrame(X[:, :4], columns=["a", "b", "c", "d"])
    return table, pandas.Series(np.where(y == 1, "benign", "malignant"), index=range(1000, 1200))


def sparse() -> tuple[Any, Any]:
    from scipy.sparse import csr_matrix

    X, y = cancer()
    return csr_matrix(np.where(X > X.mean(axis=0), X, 0)), y.astype(bool)


LOGISTIC = make_pipeline(StandardScaler(), LogisticRegression())
SEVERAL = ["accuracy", "roc_auc", "neg_log_loss", "average_precision"]

CASES = {
    "default score of a pipeline": Case(cancer, LOGISTIC, {"logisticregression__C": [0.01, 1.0, 100.0]}),
    "multi-class": Case(iris, KNeighborsClassifier(), {"n_neighbors": [1, 5, 30]}),
    "multi-class auc": Case(
        iris, RandomForestClassifier(5, random_state=0), {"max_depth": [1, 3]}, {"scoring": "roc_auc_ovr"}
    ),
    "regression": Case(diabetes, Ridge(), {"alpha": [0.1, 1.0, 10.0]}),
    "regression with a loss": Case(
        diabetes, SVR(), {"C": [1.0, 100.0]}, {"scoring": "neg_mean_absolute_error", "return_train_score": True}
    ),
    "list of grids": Case(
        cancer,
        SVC(),
        [{"kernel": ["linear"], "C": [0.1, 1.0]}, {"kernel": ["rbf"], "gamma": ["scale", 0.1]}],
        {"scoring": "roc_auc"},
    ),
    "several metrics": Case(
        cancer, LOGISTIC, {"logisticregression__C": [0.01, 1.0]}, {"scoring": SEVERAL, "refit": "roc_auc"}
    ),
    "several metrics, no refit": Case(
        cancer, LOGISTIC, {"logisticregression__C": [0.01, 1.0]}, {"scoring": SEVERAL, "refit": False}
    ),
    "one metric, no refit": Case(cancer, LOGISTIC, {"logisticregression__C": [0.01, 1.0]}, {"refit": False}),
    "groups": Case(
        cancer,
        DecisionTreeClassifier(random_state=0),
        {"max_depth": [1, 3]},
        {"cv": LeaveOneGroupOut()},
        {"groups": np.arange(200) // 50},
    ),
    "repeated folds": Case(
        iris,
        DecisionTreeClassifier(random_state=0),
        {"max_depth": [1, 3]},
        {"cv": RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)},
    ),
    "shuffle splits": Case(
        cancer, LOGISTIC, {"logisticregression__C": [0.01, 1.0]}, {"cv": ShuffleSplit(7, random_state=1)}
    ),
    "time series": Case(diabetes, Ridge(), {"alpha": [0.1, 10.0]}, {"cv": TimeSeriesSplit(4)}),
    "a list of splits": Case(
        diabetes, Ridge(), {"alpha": [0.1, 10.0]}, {"cv": list(KFold(3).split(np.zeros((150, 1))))}
    ),
    "shuffled folds": Case(
        cancer, LOGISTIC, {"logisticregression__C": [1.0]}, {"cv": StratifiedKFold(3, shuffle=True, random_state=2)}
    ),
    "string labels of a table": Case(
        frame, LOGISTIC, {"logisticregression__C": [0.01, 1.0]}, {"scoring": "roc_auc"}
    ),
    "sparse matrix, boolean labels": Case(
        sparse, LogisticRegression(max_iter=500), {"C": [0.001, 0.1]}, {"scoring": "roc_auc"}
    ),
    "a scorer of one's own": Case(
        cancer, LOGISTIC, {"logisticregression__C": [0.01, 1.0]}, {"scoring": make_scorer(accuracy_score)}
    ),
    "a precomputed kernel": Case(
        lambda: (cancer()[0] @ cancer()[0].T, cancer()[1]), SVC(kernel="precomputed"), {"C": [1e-3, 1.0]}
    ),
    "weights": Case(
        cancer,
        LogisticRegression(max_iter=500),
        {"C": [0.01, 1.0]},
        {"scoring": "neg_log_loss"},
        {"sample_weight": np.linspace(0.5, 2.0, 200)},
    ),
}


@pytest.fixture(scope="module", params=CASES.values(), ids=CASES.keys())
def pair(request: pytest.FixtureRequest) -> tuple[GridSearchCV, HeldOutSearchCV, Any]:
    case: Case = request.param
    X, y = case.data()
    theirs = GridSearchCV(clone(case.estimator), case.grid, **case.settings).fit(X, y, **case.fit_params)
    ours = HeldOutSearchCV(clone(case.estimator), case.grid, n_bootstraps=20, **case.settings)
    return theirs, ours.fit(X, y, **case.fit_params), X


def test_columns_are_equal(pair: tuple[GridSearchCV, HeldOutSearchCV, Any]) -> None:
    theirs, ours, _ = pair
    assert set(ours.cv_results_) == set(theirs.cv_results_)
    for name, column in theirs.cv_results_.items():
        if name == "params":
            assert ours.cv_results_[name] == column
        elif name.startswith("param_"):
            np.testing.assert_array_equal(ours.cv_results_[name], column)
        elif not name.endswith("_time"):
            np.testing.assert_allclose(ours.cv_results_[name], column, rtol=0, atol=1e-12, err_msg=name)
        assert ours.cv_results_[name].dtype == column.dtype if name != "params" else True


def test_choice_is_equal(pair: tuple[GridSearchCV, HeldOutSearchCV, Any]) -> None:
    theirs, ours, X = pair
    assert ours.n_splits_ == theirs.n_splits_
    assert ours.multimetric_ == theirs.multimetric_
    for name in ("best_index_", "best_params_", "best_score_"):
        assert hasattr(ours, name) == hasattr(theirs, name)
        if hasattr(theirs, name):
            equal = getattr(theirs, name)
            if name == "best_score_":  # our kernels add in another order than scikit-learn's metrics
                equal = pytest.approx(equal, rel=0, abs=1e-12)
            assert getattr(ours, name) == equal, name
    if theirs.refit:
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        assert ours.n_features_in_ == theirs.n_features_in_
        assert ours.refit_time_ > 0
    for name in ("classes_", "feature_names_in_"):
        assert hasattr(ours, name) == hasattr(theirs, name)
        if hasattr(theirs, name):
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))


def test_uncorrected_score_is_best_score(pair: tuple[GridSearchCV, HeldOutSearchCV, Any]) -> None:
    _, ours, _ = pair
    if hasattr(ours, "best_score_"):
        if "scale_of_value" in ours.estimate_.flags:  # of all rows together, which the flag tells apart
            assert f"{ours.best_score_:.4g}" in ours.estimate_.flags["scale_of_value"]
        else:
            assert ours.estimate_.uncorrected == pytest.approx(ours.best_score_, abs=1e-12)
        assert ours.estimate_.selected == ours.best_index_
    else:
        assert ours.estimate_ is None and ours.estimates_ == {}


def test_score_of_new_data_is_equal() -> None:
    X, y = cancer()
    grid = {"logisticregression__C": [0.01, 1.0]}
    for settings in ({}, {"scoring": "roc_auc"}, {"scoring": SEVERAL, "refit": "neg_log_loss"}):
        theirs = GridSearchCV(LOGISTIC, grid, **settings).fit(X, y)
        ours = HeldOutSearchCV(LOGISTIC, grid, n_bootstraps=5, **settings).fit(X, y)
        assert ours.score(X, y) == theirs.score(X, y)
