"""A search has the candidates, columns, choice and predictions of ``GridSearchCV`` or ``RandomizedSearchCV``."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from peers import cancer, results, same
from scipy.sparse import csc_array
from scipy.stats import loguniform, randint
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.covariance import EmpiricalCovariance
from sklearn.datasets import load_diabetes, load_iris, make_multilabel_classification, make_regression
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, make_scorer, mean_absolute_error
from sklearn.model_selection import (
    GridSearchCV,
    LeaveOneGroupOut,
    RandomizedSearchCV,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.neighbors import KernelDensity, KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

import heldout as ho

NUMBERS = make_regression(60, 4, n_targets=3, noise=20, random_state=0)
LABELS = make_multilabel_classification(60, 4, n_classes=3, random_state=0)
SEVERAL = ["accuracy", "roc_auc", "neg_log_loss", "average_precision"]
TREE = DecisionTreeClassifier(random_state=0)
LOGISTIC = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
COSTS = {"logisticregression__C": [0.01, 1.0]}


@dataclass(frozen=True)
class Case:
    data: Callable[[], tuple[Any, Any]]
    model: Any
    grid: Any
    settings: dict[str, Any] = field(default_factory=dict)
    fit: dict[str, Any] = field(default_factory=dict)
    method: str | None = None


def iris() -> tuple[Any, Any]:
    return load_iris(return_X_y=True)


def diabetes() -> tuple[Any, Any]:
    X, y = load_diabetes(return_X_y=True)
    return X[:150], y[:150]


def table() -> tuple[Any, Any]:
    pandas = pytest.importorskip("pandas")
    X, y = cancer(120, 4)
    labels = np.where(y == 1, "benign", "malignant")
    return pandas.DataFrame(X, columns=list("abcd")), pandas.Series(labels, index=range(1000, 1120))


def sparse() -> tuple[Any, Any]:
    X, y = cancer()
    return csc_array(np.where(X > X.mean(axis=0), X, 0)), y.astype(bool)


def kernel() -> tuple[Any, Any]:
    X, y = cancer()
    return X @ X.T, y


def score(model: Any, X: Any, y: Any = None) -> float:
    return float((model.predict(X) == y).mean())


def scores(model: Any, X: Any, y: Any) -> dict[str, float]:
    return {"hits": score(model, X, y), "misses": -1 + score(model, X, y)}


class OwnScore(LogisticRegression):
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        return -float(np.mean((self.predict_proba(X)[:, 1] - y) ** 2))


def weighted(y: Any, predicted: Any) -> float:
    return -float(mean_absolute_error(y, predicted, multioutput=[0.2, 0.3, 0.5]))


class Halved(type(make_scorer(accuracy_score))):  # type: ignore[misc]
    """It scores otherwise than its function, which is one of numbers."""

    def __init__(self) -> None:
        super().__init__(mean_absolute_error, 1, {}, "predict")

    def _score(self, method_caller: Any, model: Any, X: Any, y: Any, **given: Any) -> float:
        return score(model, X, y) / 2


def by_folds(data: Any, model: Any, grid: Any, **settings: Any) -> Case:
    """No predictions can be resampled, so that the estimate is of the scores of the folds."""
    return Case(data if callable(data) else lambda: data, model, grid, settings, method="bbc_f")


KMEANS, C = KMeans(n_init=1, random_state=0), {"C": [0.01, 1.0]}
CASES = {
    "default folds and score of a pipeline": Case(
        cancer, LOGISTIC, {"logisticregression__C": [0.01, 1.0, 100.0]}, {"cv": None}
    ),
    "multi-class": Case(iris, KNeighborsClassifier(), {"n_neighbors": [1, 5, 30]}),
    "multi-class auc": Case(
        iris, RandomForestClassifier(5, random_state=0), {"max_depth": [1, 3]}, {"scoring": "roc_auc_ovr"}
    ),
    "regression with a loss": Case(
        diabetes, SVR(), {"C": [1.0, 100.0]}, {"scoring": "neg_mean_absolute_error", "return_train_score": True}
    ),
    "list of grids": Case(
        cancer, SVC(), [{"kernel": ["linear"], "C": [0.1, 1.0]}, {"kernel": ["rbf"], "gamma": ["scale", 0.1]}],
        {"scoring": "roc_auc"},
    ),
    "several metrics": Case(
        cancer, LOGISTIC, COSTS, {"scoring": SEVERAL, "refit": "neg_log_loss", "return_train_score": True}
    ),
    "several metrics, no refit": Case(cancer, LOGISTIC, COSTS, {"scoring": SEVERAL, "refit": False}),
    "one metric, no refit": Case(cancer, LOGISTIC, COSTS, {"refit": False}),
    "groups": Case(
        cancer, TREE, {"max_depth": [1, 3]}, {"cv": LeaveOneGroupOut()}, {"groups": np.arange(120) // 30}
    ),
    "repeated folds": Case(
        iris, TREE, {"max_depth": [1, 3]},
        {"cv": RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)},
    ),
    "shuffle splits": Case(cancer, LOGISTIC, COSTS, {"cv": ShuffleSplit(7, random_state=1)}),
    "time series": Case(diabetes, Ridge(), {"alpha": [0.1, 10.0]}, {"cv": TimeSeriesSplit(4)}),
    "string labels of a table": Case(table, LOGISTIC, COSTS, {"scoring": "roc_auc"}),
    "sparse matrix, boolean labels": Case(sparse, LogisticRegression(), C, {"scoring": "roc_auc"}),
    "a precomputed kernel": Case(kernel, SVC(kernel="precomputed"), {"C": [1e-3, 1.0]}),
    "weights": Case(
        cancer, LogisticRegression(), C, {"scoring": "neg_log_loss"},
        {"sample_weight": np.linspace(0.5, 2.0, 120)},
    ),
    "draws from lists": Case(
        iris, KNeighborsClassifier(), {"n_neighbors": list(range(1, 20)), "weights": ["uniform", "distance"]},
        {"n_iter": 10},
    ),
    "draws from distributions": Case(
        iris, TREE,
        {"max_depth": randint(1, 6), "ccp_alpha": loguniform(1e-4, 1e-1), "criterion": ["gini", "entropy"]},
        {"n_iter": 7, "random_state": 2**32 - 1, "scoring": "neg_log_loss"},
    ),
    "draws from a list of dicts": Case(
        iris, SVC(),
        [{"kernel": ["linear"], "C": loguniform(0.1, 10)}, {"kernel": ["rbf"], "gamma": loguniform(0.01, 1)}],
        {"n_iter": 6, "random_state": 3, "cv": 3},
    ),
    "draws from a list of dicts of lists": Case(
        iris, SVC(),
        [{"kernel": ["linear"], "C": [0.1, 1, 10]}, {"kernel": ["rbf"], "gamma": np.array([0.01, 0.1])}],
        {"n_iter": 4, "cv": 3},
    ),
    "fewer combinations than draws": Case(
        iris, KNeighborsClassifier(), {"n_neighbors": (1, 5, 30)}, {"n_iter": 10}
    ),
    "nothing to draw": Case(iris, KNeighborsClassifier(), {}, {"n_iter": 10}),
    "draws of estimators": Case(
        iris, LOGISTIC, {"standardscaler": [StandardScaler(), MinMaxScaler(), "passthrough"], **COSTS},
        {"n_iter": 4, "scoring": ["accuracy", "neg_log_loss"], "refit": "neg_log_loss"},
    ),
    "a function of the model": by_folds(cancer, LogisticRegression(), C, scoring=score),
    "a function that gives several": by_folds(cancer, LogisticRegression(), C, scoring=scores, refit="misses"),
    "a scorer of a derived class": by_folds(cancer, LogisticRegression(), C, scoring=Halved()),
    "a score of its own": by_folds(cancer, OwnScore(), C),
    "no target": by_folds((LABELS[0], None), KMEANS, {"n_clusters": [2, 3]}),
    "no target, no predictions": by_folds((LABELS[0], None), KernelDensity(), {"bandwidth": [0.5, 1]}),
    "several numbers": by_folds(NUMBERS, Ridge(), {"alpha": [0.1, 10]}, scoring=make_scorer(weighted)),
    "several labels": by_folds(LABELS, KNeighborsClassifier(), {"n_neighbors": [3, 9]}, scoring="f1_macro"),
    "two columns, no events": by_folds(
        (NUMBERS[0], NUMBERS[1][:, :2]), EmpiricalCovariance(), {"assume_centered": [True, False]}
    ),
    "clusters beside several columns": by_folds(LABELS, KMEANS, {"n_clusters": [2, 3]}),
    "several columns of text": by_folds(
        (LABELS[0], LABELS[1].astype(str)), TREE, {"max_depth": [1, 3]}, scoring=score
    ),
    "numbers of labels": by_folds(cancer, LogisticRegression(), C, scoring="neg_mean_squared_error"),
    "lists": by_folds(
        lambda: tuple(each.tolist() for each in cancer()), LogisticRegression(), C, scoring=score
    ),
}  # fmt: skip


def fitted(kind: Any, case: Case, X: Any, y: Any, **more: Any) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="the space|The total space")
        return kind(clone(case.model), case.grid, **{"cv": 3} | case.settings | more).fit(X, y, **case.fit)


@pytest.mark.parametrize("name", CASES)
def test_a_search_equals_its_peer(name: str) -> None:
    case = CASES[name]
    X, y = case.data()
    if "n_iter" in case.settings:
        seed: dict[str, Any] = {"random_state": 0} if "random_state" not in case.settings else {}
        theirs = fitted(RandomizedSearchCV, case, X, y, **seed)
        ours = fitted(ho.HeldOutRandomizedSearchCV, case, X, y, n_bootstraps=20, **seed)
    else:
        theirs, ours = fitted(GridSearchCV, case, X, y), fitted(ho.HeldOutSearchCV, case, X, y, n_bootstraps=20)
    same(results(ours), results(theirs))
    if theirs.refit:
        assert ours.refit_time_ > 0
        same(ours.score(X, y), theirs.score(X, y))
    if hasattr(theirs, "predict"):
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    check_estimate(ours, case.method)


def check_estimate(search: Any, method: str | None) -> None:
    """Its uncorrected score is that by which the search chose."""
    estimate = search.estimate_
    if not hasattr(search, "best_score_"):
        assert estimate is None and search.estimates_ == {}
        return
    assert estimate.selected == search.best_index_
    if "scale_of_value" in estimate.flags:  # of all rows together, which the flag tells apart
        assert f"{search.best_score_:.4g}" in estimate.flags["scale_of_value"]
    else:
        assert estimate.uncorrected == pytest.approx(search.best_score_, abs=1e-12)
    if method is not None:
        assert estimate.method == method
        assert estimate.interval.low <= estimate.value <= estimate.interval.high
        assert search.methods_text() and ho.report_card(search)
