"""The spaces that are searched on real tables: some sixty configurations or two hundred, most of which share fits.

Families differ in how good they are, as those of real searches do; within a family configurations resemble each
other. Every classifier gives probabilities, so that one response serves accuracy, AUC and log loss.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import TransformedTargetRegressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import ElasticNet, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from heldout.spaces.preprocessing import column_kinds, default_preprocessing
from heldout.spaces.presets import Entry

ALIKE = 10
"""The first so many configurations are of one family, and differ in their penalty alone."""
NAMED = (5, 28, 46, 52)
"""Places of the configurations that take turns in a search of one."""

_SMALL: dict[str, Any] = {"early_stopping": False, "max_leaf_nodes": 4, "min_samples_leaf": 5}
"""Boosted trees that forty rows can grow."""


def classifiers(X: Any) -> list[Entry]:
    """Classifiers with probabilities, for a table or an array."""
    return [
        ("logistic", _scaled(X, LogisticRegression(max_iter=2000)), {"fit__C": _powers(-3, 2, ALIKE)}),
        ("neighbours", _scaled(X, KNeighborsClassifier()), _neighbours()),
        ("discriminant", _scaled(X, LinearDiscriminantAnalysis(solver="lsqr")), {"fit__shrinkage": _shares(5)}),
        ("quadratic", _scaled(X, QuadraticDiscriminantAnalysis()), {"fit__reg_param": [0.9, 0.5, 0.1]}),
        ("naive bayes", _scaled(X, GaussianNB()), {"fit__var_smoothing": [1.0, 0.1, 1e-3]}),
        ("tree", _plain(X, DecisionTreeClassifier(min_samples_leaf=2)), _penalties("fit__")),
        ("forest", _plain(X, RandomForestClassifier()), _trees()),
        ("boosting", _plain(X, HistGradientBoostingClassifier(**_SMALL)), _rounds()),
        ("constant", _plain(X, DummyClassifier()), {}),
    ]


def regressors(X: Any) -> list[Entry]:
    """Regressors."""
    net = {"fit__regressor__alpha": _powers(0, -2, 3), "fit__regressor__l1_ratio": [1.0, 0.3]}
    width = 1 / max(column_kinds(X).n_columns, 1)
    kernel = {"fit__regressor__C": [0.1, 1.0, 10.0], "fit__regressor__gamma": [0.1 * width, width]}
    return [
        ("ridge", _scaled(X, Ridge()), {"fit__alpha": _powers(4, -3, ALIKE)}),
        ("neighbours", _scaled(X, KNeighborsRegressor()), _neighbours()),
        ("elastic net", _scaled(X, _of_scaled_target(ElasticNet(max_iter=20_000))), net),
        (
            "tree",
            _plain(X, _of_scaled_target(DecisionTreeRegressor(min_samples_leaf=2))),
            _penalties("fit__regressor__"),
        ),
        ("kernel", _scaled(X, _of_scaled_target(SVR())), kernel),
        ("forest", _plain(X, RandomForestRegressor()), _trees()),
        ("boosting", _plain(X, HistGradientBoostingRegressor(**_SMALL)), _rounds()),
        ("constant", _plain(X, DummyRegressor()), {}),
    ]


def many_classifiers(X: Any) -> list[Entry]:
    """Two hundred classifiers: more families, and finer grids."""
    weighted = LogisticRegression(max_iter=2000, class_weight="balanced")
    tree = {"fit__ccp_alpha": [*_powers(-1, -3, 6), 0.0], "fit__min_samples_leaf": [1, 2, 5]}
    by_entropy = {"fit__max_depth": [1, 2, 3, 4, 6], "fit__min_samples_leaf": [1, 5]}
    return [
        ("logistic", _scaled(X, LogisticRegression(max_iter=2000)), {"fit__C": _powers(-3, 2, 20)}),
        ("weighted", _scaled(X, weighted), {"fit__C": _powers(-3, 2, 10)}),
        ("neighbours", _scaled(X, KNeighborsClassifier()), _MANY_NEIGHBOURS),
        ("discriminant", _scaled(X, LinearDiscriminantAnalysis(solver="lsqr")), {"fit__shrinkage": _shares(10)}),
        (
            "quadratic",
            _scaled(X, QuadraticDiscriminantAnalysis()),
            {"fit__reg_param": [0.9, 0.7, 0.5, 0.3, 0.1]},
        ),
        ("naive bayes", _scaled(X, GaussianNB()), {"fit__var_smoothing": _powers(0, -5, 6)}),
        ("tree", _plain(X, DecisionTreeClassifier()), tree),
        ("entropy tree", _plain(X, DecisionTreeClassifier(criterion="entropy")), by_entropy),
        ("forest", _plain(X, RandomForestClassifier()), _MANY_TREES),
        ("extra", _plain(X, ExtraTreesClassifier()), _MANY_EXTRA),
        ("boosting", _plain(X, HistGradientBoostingClassifier(**_SMALL)), _MANY_ROUNDS),
        ("constant", _plain(X, DummyClassifier()), {}),
    ]


def many_regressors(X: Any) -> list[Entry]:
    """Two hundred regressors."""
    net = {"fit__regressor__alpha": _powers(0, -2, 6), "fit__regressor__l1_ratio": [1.0, 0.6, 0.3]}
    width = 1 / max(column_kinds(X).n_columns, 1)
    kernel = {
        "fit__regressor__C": [0.1, 1.0, 10.0, 100.0],
        "fit__regressor__gamma": [0.1 * width, 0.3 * width, width],
    }
    tree = {
        "fit__regressor__ccp_alpha": [*_powers(-1, -3, 6), 0.0],
        "fit__regressor__min_samples_leaf": [1, 2, 5],
    }
    return [
        ("ridge", _scaled(X, Ridge()), {"fit__alpha": _powers(4, -3, 30)}),
        ("neighbours", _scaled(X, KNeighborsRegressor()), _MANY_NEIGHBOURS),
        ("elastic net", _scaled(X, _of_scaled_target(ElasticNet(max_iter=20_000))), net),
        ("tree", _plain(X, _of_scaled_target(DecisionTreeRegressor())), tree),
        ("kernel", _scaled(X, _of_scaled_target(SVR())), kernel),
        ("forest", _plain(X, RandomForestRegressor()), _MANY_TREES),
        ("extra", _plain(X, ExtraTreesRegressor()), _MANY_EXTRA),
        ("boosting", _plain(X, HistGradientBoostingRegressor(**_SMALL)), _MANY_ROUNDS),
        ("constant", _plain(X, DummyRegressor()), {}),
    ]


_MANY_NEIGHBOURS: dict[str, list[Any]] = {
    "fit__n_neighbors": [25, 21, 19, 17, 15, 13, 11, 9, 7, 6, 5, 4, 3, 2, 1],
    "fit__weights": ["uniform", "distance"],
    "fit__p": [1, 2],
}
_MANY_TREES: dict[str, list[Any]] = {
    "fit__min_samples_leaf": [5, 2, 1],
    "fit__n_estimators": [3, 5, 8, 12, 16, 20],
}
_MANY_EXTRA: dict[str, list[Any]] = {"fit__min_samples_leaf": [5, 1], "fit__n_estimators": [5, 10, 15, 20]}
_MANY_ROUNDS: dict[str, list[Any]] = {
    "fit__learning_rate": [0.05, 0.1, 0.2, 0.4],
    "fit__max_iter": [5, 10, 15, 20, 25, 35, 50],
}


def _scaled(X: Any, model: BaseEstimator) -> Pipeline:
    return Pipeline([("prepare", default_preprocessing(X)), ("fit", model)])


def _plain(X: Any, model: BaseEstimator) -> Pipeline:
    return Pipeline([("prepare", default_preprocessing(X, scale=False)), ("fit", model)])


def _of_scaled_target(model: BaseEstimator) -> BaseEstimator:
    return TransformedTargetRegressor(regressor=model, transformer=StandardScaler())


def _neighbours() -> dict[str, list[Any]]:
    return {"fit__n_neighbors": [25, 19, 15, 11, 7, 5, 3, 1], "fit__weights": ["uniform", "distance"]}


def _penalties(prefix: str) -> dict[str, list[Any]]:
    return {prefix + "ccp_alpha": [*_powers(-1, -3, 6), 0.0]}


def _trees() -> dict[str, list[Any]]:
    return {"fit__min_samples_leaf": [5, 1], "fit__n_estimators": [5, 10, 20]}


def _rounds() -> dict[str, list[Any]]:
    return {"fit__learning_rate": [0.05, 0.2], "fit__max_iter": [10, 25, 50]}


def _shares(number: int) -> list[float]:
    return [round(float(share), 3) for share in np.linspace(0.9, 0.1, number)]


def _powers(first: float, last: float, number: int) -> list[float]:
    return [float(f"{value:.3g}") for value in np.logspace(first, last, number)]
