"""The two presets: a few dozen configurations for a first look, a few hundred for a serious search.

Both try the families that win most comparisons on tables: penalised linear models, support vector machines, random
forests, gradient-boosted trees and nearest neighbours. For times to an event there are Cox regressions.
``random_state`` is None, so a search sets it from its own seed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import sklearn
from sklearn.base import BaseEstimator
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import ElasticNet, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

from heldout.data.task import TaskKind, truth_of
from heldout.errors import InputError
from heldout.spaces.cox import CoxRegression
from heldout.spaces.preprocessing import column_kinds, default_preprocessing

Entry: TypeAlias = tuple[str, BaseEstimator, dict[str, list[Any]]]
"""(name, estimator, grid), as ``HeldOutSearchCV`` takes a list of them."""

PRESETS = ("quick", "standard")
MOST_CLASSES = 20
"""Whole numbers with more distinct values than this are read as amounts, not as labels."""

MOST_KERNEL_ROWS = 10_000
"""With more rows kernel machines, whose time grows with the square of N, are left out."""


def quick(X: Any, y: Any) -> list[Entry]:
    """A few dozen configurations.

    Parameters
    ----------
    X : table or array of shape (N, p)
        Numbers, booleans and text, with gaps.
    y : array-like of shape (N,)
        The target, which decides between classification, regression and survival.

    Returns
    -------
    list of (name, estimator, grid)
        The ``estimator`` of ``HeldOutSearchCV``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> [name for name, _, _ in quick(*load_iris(return_X_y=True))]
    ['logistic', 'linear svm', 'rbf svm', 'forest', 'boosting', 'neighbours']
    """
    return preset("quick", X, kind_of_target(y))


def standard(X: Any, y: Any) -> list[Entry]:
    """A few hundred configurations, of the families of ``quick`` and of sparse linear models.

    Parameters
    ----------
    X, y : as for ``quick``

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> [name for name, _, _ in standard(*load_diabetes(return_X_y=True))]
    ['ridge', 'elastic net', 'linear svm', 'rbf svm', 'forest', 'boosting', 'neighbours']
    """
    return preset("standard", X, kind_of_target(y))


def kind_of_target(y: Any) -> TaskKind:
    """The kind of task, from the values: numbers of more than ``MOST_CLASSES`` values are amounts."""
    truth = truth_of(y)
    amounts = truth.classes is not None and truth.classes.dtype.kind in "iuf" and truth.n_classes > MOST_CLASSES
    return TaskKind.REGRESSION if amounts else truth.kind


def preset(name: str, X: Any, kind: TaskKind) -> list[Entry]:
    """The preset of a name, for a kind of task."""
    if name not in PRESETS:
        raise InputError(f"preset must be one of {', '.join(PRESETS)}, got {name!r}.", argument="preset")
    wide = name == "standard"
    make = _survival if kind is TaskKind.SURVIVAL else _classification if kind.is_classification else _regression
    n_rows = X.shape[0]
    kept = make(wide, 1 / max(column_kinds(X).n_columns, 1), n_rows)
    return [(family, wrapped(X), grid) for family, wrapped, grid in kept]


_Family: TypeAlias = tuple[str, Callable[[Any], BaseEstimator], dict[str, list[Any]]]


def _classification(wide: bool, width: float, n_rows: int) -> list[_Family]:
    """Families for classes; ``width`` is 1/p, the natural unit of an RBF kernel's gamma on standardised columns."""
    families: list[_Family] = [
        ("logistic", _on_scaled(LogisticRegression(max_iter=5000)), {"fit__C": _powers(-4, 3, 15 if wide else 8)})
    ]
    if wide:
        grid = {"fit__C": _powers(-2, 1, 7), "fit__l1_ratio": [0.2, 0.5, 1.0]}
        families.append(("elastic net", _on_scaled(_elastic_logistic()), grid))
    families.append(
        (
            "linear svm",
            _on_scaled(LinearSVC(dual="auto", max_iter=20_000)),
            {"fit__C": _powers(-4, 0, 9 if wide else 5)},
        )
    )
    if n_rows <= MOST_KERNEL_ROWS:
        families.append(("rbf svm", _on_scaled(SVC()), _kernel_grid("fit__", wide, width)))
    forest = RandomForestClassifier(n_estimators=500 if wide else 200)
    return [
        *families,
        ("forest", _on_unscaled(forest), _forest_grid(wide)),
        ("boosting", _on_unscaled(HistGradientBoostingClassifier()), _boosting_grid(wide)),
        ("neighbours", _on_scaled(KNeighborsClassifier()), _neighbours_grid(wide, n_rows)),
    ]


def _regression(wide: bool, width: float, n_rows: int) -> list[_Family]:
    """Families for numbers; models whose penalty depends on the target's unit get it standardised."""
    families: list[_Family] = [
        ("ridge", _on_scaled(Ridge()), {"fit__alpha": _powers(-3, 4, 15 if wide else 8)}),
        (
            "elastic net",
            _on_scaled_target(ElasticNet(max_iter=20_000)),
            {
                "regressor__fit__alpha": _powers(-3, 0, 7 if wide else 4),
                "regressor__fit__l1_ratio": [0.2, 0.5, 1.0] if wide else [0.5, 1.0],
            },
        ),
        (
            "linear svm",
            _on_scaled_target(LinearSVR(dual="auto", loss="squared_epsilon_insensitive", max_iter=20_000)),
            {"regressor__fit__C": _powers(-4, 0, 9 if wide else 5)},
        ),
    ]
    if n_rows <= MOST_KERNEL_ROWS:
        families.append(("rbf svm", _on_scaled_target(SVR()), _kernel_grid("regressor__fit__", wide, width)))
    forest = RandomForestRegressor(n_estimators=500 if wide else 200, max_features=1.0)
    return [
        *families,
        ("forest", _on_unscaled(forest), _forest_grid(wide)),
        ("boosting", _on_unscaled(HistGradientBoostingRegressor()), _boosting_grid(wide)),
        ("neighbours", _on_scaled(KNeighborsRegressor()), _neighbours_grid(wide, n_rows)),
    ]


def _survival(wide: bool, width: float, n_rows: int) -> list[_Family]:
    """Penalised Cox regressions; without a penalty the indicators of a column's categories would be dependent."""
    return [("cox", _on_scaled(CoxRegression()), {"fit__alpha": _powers(-2, 4, 19 if wide else 7)})]


def _elastic_logistic() -> LogisticRegression:
    """Elastic net in the spelling of each scikit-learn version: since 1.8 ``l1_ratio`` alone decides."""
    by_ratio = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) >= (1, 8)
    spelling = {} if by_ratio else {"penalty": "elasticnet"}
    return LogisticRegression(solver="saga", l1_ratio=0.5, max_iter=5000, tol=1e-3, **spelling)


def _on_scaled(model: BaseEstimator) -> Callable[[Any], BaseEstimator]:
    return lambda X: Pipeline([("prepare", default_preprocessing(X)), ("fit", model)])


def _on_unscaled(model: BaseEstimator) -> Callable[[Any], BaseEstimator]:
    return lambda X: Pipeline([("prepare", default_preprocessing(X, scale=False)), ("fit", model)])


def _on_scaled_target(model: BaseEstimator) -> Callable[[Any], BaseEstimator]:
    return lambda X: TransformedTargetRegressor(regressor=_on_scaled(model)(X), transformer=StandardScaler())


def _kernel_grid(prefix: str, wide: bool, width: float) -> dict[str, list[Any]]:
    costs, widths = (_powers(-1, 3, 6), _powers(-2, 1, 6)) if wide else ([1.0, 10.0, 100.0], [0.1, 0.3, 1.0])
    return {prefix + "C": costs, prefix + "gamma": [float(f"{width * factor:.3g}") for factor in widths]}


def _forest_grid(wide: bool) -> dict[str, list[Any]]:
    if wide:
        return {"fit__min_samples_leaf": [1, 3, 5, 10], "fit__max_features": ["sqrt", 0.1, 0.3, 0.6]}
    return {"fit__min_samples_leaf": [1, 3, 5], "fit__max_features": ["sqrt", 0.3]}


def _boosting_grid(wide: bool) -> dict[str, list[Any]]:
    if wide:
        return {
            "fit__learning_rate": [0.02, 0.05, 0.1, 0.2],
            "fit__max_leaf_nodes": [4, 8, 16, 31],
            "fit__l2_regularization": [0.0, 1.0],
            "fit__max_iter": [100, 300],
        }
    return {"fit__learning_rate": [0.03, 0.1, 0.3], "fit__max_leaf_nodes": [4, 16]}


def _neighbours_grid(wide: bool, n_rows: int) -> dict[str, list[Any]]:
    """No more neighbours than the smallest training part: with two folds that is half the rows."""
    numbers = [1, 3, 5, 7, 11, 15, 21, 31, 45, 61] if wide else [3, 7, 15, 31]
    possible = [number for number in numbers if number <= n_rows // 3] or [1]
    grid: dict[str, list[Any]] = {"fit__n_neighbors": possible, "fit__weights": ["uniform", "distance"]}
    return {**grid, "fit__p": [1, 2]} if wide else grid


def _powers(low: float, high: float, number: int) -> list[float]:
    """Powers of ten at equal steps, rounded to three digits."""
    return [float(f"{value:.3g}") for value in np.logspace(low, high, number)]
