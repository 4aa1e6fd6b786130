"""The spaces that are searched on real tables: some sixty configurations or two hundred, most of which share fits.

Families differ in how good they are, as those of real searches do; within a family configurations resemble each
other. Every classifier gives probabilities, so that one response serves accuracy, AUC and log loss.
"""

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


def classifiers(X: Any, *, many: bool = False) -> list[Entry]:
    """Classifiers with probabilities, for a table or an array; with ``many`` more families and finer grids."""
    logistic = LogisticRegression(max_iter=2000)
    weighted = LogisticRegression(max_iter=2000, class_weight="balanced")
    discriminant = LinearDiscriminantAnalysis(solver="lsqr")
    tree = DecisionTreeClassifier() if many else DecisionTreeClassifier(min_samples_leaf=2)
    depths = {"fit__max_depth": [1, 2, 3, 4, 6], "fit__min_samples_leaf": [1, 5]}
    regularised = [0.9, 0.7, 0.5, 0.3, 0.1] if many else [0.9, 0.5, 0.1]
    smoothing = _powers(0, -5, 6) if many else [1.0, 0.1, 1e-3]
    found = [
        ("logistic", _scaled(X, logistic), {"fit__C": _powers(-3, 2, 20 if many else ALIKE)}),
        ("weighted", _scaled(X, weighted), {"fit__C": _powers(-3, 2, 10)}),
        ("neighbours", _scaled(X, KNeighborsClassifier()), _neighbours(many)),
        ("discriminant", _scaled(X, discriminant), {"fit__shrinkage": _shares(10 if many else 5)}),
        ("quadratic", _scaled(X, QuadraticDiscriminantAnalysis()), {"fit__reg_param": regularised}),
        ("naive bayes", _scaled(X, GaussianNB()), {"fit__var_smoothing": smoothing}),
        ("tree", _plain(X, tree), _penalties("fit__", many)),
        ("entropy tree", _plain(X, DecisionTreeClassifier(criterion="entropy")), depths),
        ("forest", _plain(X, RandomForestClassifier()), _trees(many)),
        ("extra", _plain(X, ExtraTreesClassifier()), _EXTRA),
        ("boosting", _plain(X, HistGradientBoostingClassifier(**_SMALL)), _rounds(many)),
        ("constant", _plain(X, DummyClassifier()), {}),
    ]
    return found if many else [entry for entry in found if entry[0] not in _OF_MANY]


def regressors(X: Any, *, many: bool = False) -> list[Entry]:
    """Regressors."""
    shares = [1.0, 0.6, 0.3] if many else [1.0, 0.3]
    net = {"fit__regressor__alpha": _powers(0, -2, 6 if many else 3), "fit__regressor__l1_ratio": shares}
    width = 1 / max(column_kinds(X).n_columns, 1)
    kernel = {
        "fit__regressor__C": [0.1, 1.0, 10.0, 100.0] if many else [0.1, 1.0, 10.0],
        "fit__regressor__gamma": [0.1 * width, 0.3 * width, width] if many else [0.1 * width, width],
    }
    tree = DecisionTreeRegressor() if many else DecisionTreeRegressor(min_samples_leaf=2)
    found = [
        ("ridge", _scaled(X, Ridge()), {"fit__alpha": _powers(4, -3, 30 if many else ALIKE)}),
        ("neighbours", _scaled(X, KNeighborsRegressor()), _neighbours(many)),
        ("elastic net", _scaled(X, _of_scaled_target(ElasticNet(max_iter=20_000))), net),
        ("tree", _plain(X, _of_scaled_target(tree)), _penalties("fit__regressor__", many)),
        ("kernel", _scaled(X, _of_scaled_target(SVR())), kernel),
        ("forest", _plain(X, RandomForestRegressor()), _trees(many)),
        ("extra", _plain(X, ExtraTreesRegressor()), _EXTRA),
        ("boosting", _plain(X, HistGradientBoostingRegressor(**_SMALL)), _rounds(many)),
        ("constant", _plain(X, DummyRegressor()), {}),
    ]
    return found if many else [entry for entry in found if entry[0] not in _OF_MANY]


_OF_MANY = ("weighted", "entropy tree", "extra")
_EXTRA: dict[str, list[Any]] = {"fit__min_samples_leaf": [5, 1], "fit__n_estimators": [5, 10, 15, 20]}


def _scaled(X: Any, model: BaseEstimator) -> Pipeline:
    return Pipeline([("prepare", default_preprocessing(X)), ("fit", model)])


def _plain(X: Any, model: BaseEstimator) -> Pipeline:
    return Pipeline([("prepare", default_preprocessing(X, scale=False)), ("fit", model)])


def _of_scaled_target(model: BaseEstimator) -> BaseEstimator:
    return TransformedTargetRegressor(regressor=model, transformer=StandardScaler())


def _neighbours(many: bool) -> dict[str, list[Any]]:
    weights = ["uniform", "distance"]
    if many:
        counts = [25, 21, 19, 17, 15, 13, 11, 9, 7, 6, 5, 4, 3, 2, 1]
        return {"fit__n_neighbors": counts, "fit__weights": weights, "fit__p": [1, 2]}
    return {"fit__n_neighbors": [25, 19, 15, 11, 7, 5, 3, 1], "fit__weights": weights}


def _penalties(prefix: str, many: bool) -> dict[str, list[Any]]:
    leaves = {prefix + "min_samples_leaf": [1, 2, 5]} if many else {}
    return {prefix + "ccp_alpha": [*_powers(-1, -3, 6), 0.0], **leaves}


def _trees(many: bool) -> dict[str, list[Any]]:
    if many:
        return {"fit__min_samples_leaf": [5, 2, 1], "fit__n_estimators": [3, 5, 8, 12, 16, 20]}
    return {"fit__min_samples_leaf": [5, 1], "fit__n_estimators": [5, 10, 20]}


def _rounds(many: bool) -> dict[str, list[Any]]:
    if many:
        return {"fit__learning_rate": [0.05, 0.1, 0.2, 0.4], "fit__max_iter": [5, 10, 15, 20, 25, 35, 50]}
    return {"fit__learning_rate": [0.05, 0.2], "fit__max_iter": [10, 25, 50]}


def _shares(number: int) -> list[float]:
    return [round(float(share), 3) for share in np.linspace(0.9, 0.1, number)]


def _powers(first: float, last: float, number: int) -> list[float]:
    return [float(f"{value:.3g}") for value in np.logspace(first, last, number)]
