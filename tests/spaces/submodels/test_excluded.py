"""Estimators, values and data that no provider serves."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from provider_contract import TRAINING, grid_of, rows_of
from sklearn.base import clone
from sklearn.cross_decomposition import CCA, PLSCanonical
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_selection import RFE, SelectKBest, mutual_info_classif
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from heldout.spaces.submodels import SeparateFitsError, family_of


@pytest.mark.parametrize("value", [0, 2.5, "many", True])
def test_unusual_values_are_fitted_alone(value: Any) -> None:
    rows = rows_of("regression")
    for estimator, name in (
        (RandomForestRegressor(random_state=1), "n_estimators"),
        (HistGradientBoostingRegressor(), "max_iter"),
        (KNeighborsRegressor(), "n_neighbors"),
    ):
        family = family_of(estimator)
        assert family is not None
        many: Any = family.fit_many(estimator, [{name: value}, {name: 2}], rows.X, rows.y)
        first, second = many.predict_many(rows.X_new, "predict")
        assert first is None
        assert second is not None


@pytest.mark.parametrize("parameters", [{"groups": np.zeros(TRAINING)}, {"X_val": 1}])
def test_other_parameters_of_fit_exclude_sharing(parameters: Mapping[str, Any]) -> None:
    rows = rows_of("regression")
    for case in (
        RandomForestRegressor(random_state=1),
        HistGradientBoostingRegressor(),
        Ridge(),
        KNeighborsRegressor(),
    ):
        family = family_of(case)
        assert family is not None
        values = [dict.fromkeys(family.parameters[:1], 3)]
        with pytest.raises(SeparateFitsError):
            family.fit_many(case, values, rows.X, rows.y, **parameters)


def test_early_stopping_of_many_rows_excludes_rounds() -> None:
    X, y = np.zeros((10_001, 1)), np.zeros(10_001)
    family = family_of(HistGradientBoostingRegressor())
    assert family is not None
    with pytest.raises(SeparateFitsError):
        family.fit_many(HistGradientBoostingRegressor(), grid_of("max_iter", (1, 2)), X, y)


def test_tables_keep_their_names() -> None:
    pandas = pytest.importorskip("pandas")
    rows = rows_of("regression")
    table, new = (pandas.DataFrame(X, columns=list("abcdef")) for X in (rows.X, rows.X_new))
    for estimator, values in (
        (HistGradientBoostingRegressor(), grid_of("max_iter", (2, 4))),
        (RandomForestRegressor(random_state=1), grid_of("n_estimators", (2, 4))),
        (KNeighborsRegressor(), grid_of("n_neighbors", (2, 4))),
        (Ridge(), grid_of("alpha", (1.0, 2.0))),
        (Lasso(), grid_of("alpha", (1.0, 2.0))),
        (DecisionTreeRegressor(random_state=1), grid_of("ccp_alpha", (0.01, 0.02))),
    ):
        family = family_of(estimator, "tolerance")
        assert family is not None
        many: Any = family.fit_many(clone(estimator), values, table, rows.y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            shared = many.predict_many(new, "predict")
        for value, predictions in zip(values, shared, strict=True):
            alone = clone(estimator).set_params(**value).fit(table, rows.y).predict(new)
            assert np.max(np.abs(predictions - alone)) <= 1e-6


EXCLUDED = [
    HistGradientBoostingClassifier(early_stopping=True),
    HistGradientBoostingRegressor(warm_start=True),
    HistGradientBoostingRegressor(max_features=0.5),
    GradientBoostingClassifier(n_iter_no_change=3, random_state=1),
    GradientBoostingClassifier(warm_start=True, random_state=1),
    GradientBoostingRegressor(),
    AdaBoostClassifier(),
    RandomForestClassifier(),
    RandomForestClassifier(oob_score=True, random_state=1),
    ExtraTreesRegressor(warm_start=True, random_state=1),
    BaggingClassifier(n_jobs=2, random_state=1),
    KNeighborsClassifier(weights=np.exp),
    Ridge(solver="lsqr"),
    SVC(kernel="precomputed"),
    DecisionTreeClassifier(),
    LogisticRegression(solver="liblinear"),
    LogisticRegression(l1_ratio=1.0, solver="saga"),
    LogisticRegression(warm_start=True),
    ElasticNet(l1_ratio=0.0),
    SelectKBest(mutual_info_classif),
    SelectKBest(lambda X, y: np.random.default_rng().normal(size=X.shape[1])),
    RFE(Ridge(), step=2),
    RFE(DecisionTreeRegressor()),
    PCA(svd_solver="randomized"),
    PCA(copy=False),
    TruncatedSVD(),
    Ridge(positive=True),
    RidgeClassifier(solver="sag", random_state=1),
    KernelRidge(kernel="precomputed"),
    KNeighborsRegressor(metric="precomputed"),
    PLSCanonical(),
    CCA(),
]


@pytest.mark.parametrize("estimator", EXCLUDED, ids=lambda estimator: type(estimator).__name__)
def test_parameters_exclude_the_provider(estimator: Any) -> None:
    assert family_of(estimator, "tolerance") is None
