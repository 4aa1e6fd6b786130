"""The presets: some seventy configurations for a first look, a few hundred for a serious search, boosted models.

The first two try the families that win most comparisons on tables: penalised linear models, support vector
machines, nearest neighbours, forests and gradient-boosted trees. For times to an event there are Cox regressions.
Families, and the values of each parameter, go from simple to complex.

Numbers of trees, of rounds and of neighbours, and penalties of ridge regression and of pruned trees are listed
densely, because a search fits such a list once. ``random_state`` is None, so a search sets it from its own seed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import sklearn
from sklearn.base import BaseEstimator
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
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
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from heldout._defaults import MODELS_OF_PRESETS
from heldout._text import is_one_of
from heldout.data.task import TaskKind, truth_of
from heldout.errors import InputError
from heldout.spaces.boosted import boosted_families
from heldout.spaces.cox import CoxRegression
from heldout.spaces.distributions import as_distributions
from heldout.spaces.preprocessing import column_kinds, default_preprocessing

Entry: TypeAlias = tuple[str, BaseEstimator, dict[str, Any]]
"""(name, estimator, grid or distributions), as the searches take a list of them."""

PRESETS = tuple(MODELS_OF_PRESETS)
MOST_CLASSES = 20
"""Whole numbers with more distinct values than this are read as amounts, not as labels."""

MOST_KERNEL_ROWS = 10_000
"""With more rows kernel machines, whose time grows with the square of N, are left out."""


def quick(X: Any, y: Any, *, distributions: bool = False) -> list[Entry]:
    """Some seventy configurations, from simple to complex.

    Parameters
    ----------
    X : table or array of shape (N, p)
        Numbers, booleans and text, with gaps.
    y : array-like of shape (N,)
        The target, which decides between classification, regression and survival.
    distributions : bool, default=False
        Whether parameters have distributions, for ``HeldOutRandomizedSearchCV``, in place of lists of values.

    Returns
    -------
    list of (name, estimator, grid or distributions)
        The ``estimator`` of the search. Give the search a ``random_state``: forests without seeds share no trees.

    Raises
    ------
    InputError
        When the target cannot be read: gaps, one class, another shape.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> [name for name, _, _ in quick(*load_iris(return_X_y=True))]
    ['logistic', 'linear svm', 'neighbours', 'rbf svm', 'forest', 'boosting']
    """
    return preset("quick", X, kind_of_target(y), distributions=distributions)


def standard(X: Any, y: Any, *, distributions: bool = False) -> list[Entry]:
    """A few hundred configurations: the families of ``quick``, sparse linear models, single trees and extra trees.

    Parameters
    ----------
    X, y, distributions : as for ``quick``

    Returns
    -------
    list of (name, estimator, grid or distributions)

    Raises
    ------
    InputError
        When the target cannot be read: gaps, one class, another shape.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> print(*[name for name, _, _ in standard(*load_diabetes(return_X_y=True))], sep=", ")
    ridge, elastic net, linear svm, tree, neighbours, rbf svm, forest, extra trees, boosting
    """
    return preset("standard", X, kind_of_target(y), distributions=distributions)


def boosted(X: Any, y: Any, *, distributions: bool = False) -> list[Entry]:
    """Boosted models: HistGradientBoosting, and LightGBM, XGBoost and CatBoost where they are installed.

    Thirty-two configurations each. Categories are not turned into indicators: each package splits on them in its
    own way.

    Parameters
    ----------
    X, y, distributions : as for ``quick``

    Returns
    -------
    list of (name, estimator, grid or distributions)

    Raises
    ------
    InputError
        When the target cannot be read: gaps, one class, another shape.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> boosted(*load_diabetes(return_X_y=True))[0][0]
    'hist boosting'
    """
    return preset("boosted", X, kind_of_target(y), distributions=distributions)


def kind_of_target(y: Any) -> TaskKind:
    """The kind of task, from the values: numbers of more than ``MOST_CLASSES`` values are amounts."""
    truth = truth_of(y)
    amounts = truth.classes is not None and truth.classes.dtype.kind in "iuf" and truth.n_classes > MOST_CLASSES
    return TaskKind.REGRESSION if amounts else truth.kind


def preset(name: str, X: Any, kind: TaskKind, *, distributions: bool = False) -> list[Entry]:
    """The preset of a name for the columns ``X`` and the ``kind`` of a task, with grids or with distributions.

    Parameters
    ----------
    name : {"quick", "standard", "boosted"}
    X : table or array of shape (N, p)
    kind : TaskKind
        Classification, regression or survival.
    distributions : bool, default=False
        Whether parameters have distributions in place of lists of values.

    Returns
    -------
    list of (name, estimator, grid or distributions)

    Raises
    ------
    InputError
        For an unknown name.

    Examples
    --------
    >>> import numpy as np
    >>> from heldout.data.task import TaskKind
    >>> [name for name, _, _ in preset("quick", np.zeros((20, 3)), TaskKind.REGRESSION)][:2]
    ['ridge', 'elastic net']
    """
    if not is_one_of(name, PRESETS):
        raise InputError(f"preset must be one of {', '.join(PRESETS)}, got {name!r}.", argument="preset")
    wide = name == "standard"
    make = _survival if kind is TaskKind.SURVIVAL else _classification if kind.is_classification else _regression
    n_rows, width = X.shape[0], 1 / max(column_kinds(X).n_columns, 1)
    families = boosted_families(kind) if name == "boosted" else make(wide, width, n_rows)
    if distributions:
        families = [(name, model, as_distributions(name, grid, width, n_rows)) for name, model, grid in families]
    return [(family, wrapped(X), values) for family, wrapped, values in families]


_MOST_TREES = [50, 100, 150, 200, 250, 300, 400, 500]
_Family: TypeAlias = tuple[str, Callable[[Any], BaseEstimator], dict[str, Any]]


def _classification(wide: bool, width: float, n_rows: int) -> list[_Family]:
    """Families for classes; ``width`` is 1/p, the natural unit of an RBF kernel's gamma on standardised columns."""
    logistic = _on_scaled(LogisticRegression(max_iter=5000))
    sparse = {"fit__C": _powers(-2, 1, 7), "fit__l1_ratio": [1.0, 0.5]}
    linear = _on_scaled(LinearSVC(dual="auto", max_iter=20_000))
    tree = _on_unscaled(DecisionTreeClassifier(min_samples_leaf=5))
    # With early stopping, the default above 10 000 rows, each number of rounds would be another fit.
    boosting = _on_unscaled(HistGradientBoostingClassifier(early_stopping=False))
    families: list[_Family | None] = [
        ("logistic", logistic, {"fit__C": _powers(-4, 3, 15 if wide else 8)}),
        ("elastic net", _on_scaled(_elastic_logistic()), sparse) if wide else None,
        ("linear svm", linear, {"fit__C": _powers(-4, 0, 9 if wide else 5)}),
        ("tree", tree, _tree_grid("fit__")) if wide else None,
        ("neighbours", _on_scaled(KNeighborsClassifier()), _neighbours_grid(wide, n_rows)),
        ("rbf svm", _on_scaled(SVC()), _kernel_grid("fit__", wide, width)) if n_rows <= MOST_KERNEL_ROWS else None,
        ("forest", _on_unscaled(RandomForestClassifier()), _forest_grid(wide)),
        ("extra trees", _on_unscaled(ExtraTreesClassifier()), _extra_trees_grid()) if wide else None,
        ("boosting", boosting, _boosting_grid(wide)),
    ]
    return [family for family in families if family is not None]


def _regression(wide: bool, width: float, n_rows: int) -> list[_Family]:
    """Families for numbers; models whose penalty depends on the target's unit get it standardised."""
    net = {
        "fit__regressor__alpha": _powers(0, -3, 7 if wide else 4),
        "fit__regressor__l1_ratio": [1.0, 0.5, 0.2] if wide else [1.0, 0.5],
    }
    linear = LinearSVR(dual="auto", loss="squared_epsilon_insensitive", max_iter=20_000)
    tree = _on_unscaled(_of_scaled_target(DecisionTreeRegressor(min_samples_leaf=5)))
    kernel_grid = _kernel_grid("fit__regressor__", wide, width)
    boosting = _on_unscaled(HistGradientBoostingRegressor(early_stopping=False))
    families: list[_Family | None] = [
        ("ridge", _on_scaled(Ridge()), {"fit__alpha": _powers(4, -3, 29 if wide else 15)}),
        ("elastic net", _on_scaled(_of_scaled_target(ElasticNet(max_iter=20_000))), net),
        (
            "linear svm",
            _on_scaled(_of_scaled_target(linear)),
            {"fit__regressor__C": _powers(-4, 0, 9 if wide else 5)},
        ),
        ("tree", tree, _tree_grid("fit__regressor__")) if wide else None,
        ("neighbours", _on_scaled(KNeighborsRegressor()), _neighbours_grid(wide, n_rows)),
        ("rbf svm", _on_scaled(_of_scaled_target(SVR())), kernel_grid) if n_rows <= MOST_KERNEL_ROWS else None,
        ("forest", _on_unscaled(RandomForestRegressor()), _forest_grid(wide)),
        ("extra trees", _on_unscaled(ExtraTreesRegressor()), _extra_trees_grid()) if wide else None,
        ("boosting", boosting, _boosting_grid(wide)),
    ]
    return [family for family in families if family is not None]


def _survival(wide: bool, width: float, n_rows: int) -> list[_Family]:
    """Penalised Cox regressions; without a penalty the indicators of a column's categories would be dependent."""
    return [("cox", _on_scaled(CoxRegression()), {"fit__alpha": _powers(4, -2, 19 if wide else 7)})]


def _elastic_logistic() -> LogisticRegression:
    """Elastic net in the spelling of each scikit-learn version: since 1.8 ``l1_ratio`` alone decides."""
    by_ratio = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) >= (1, 8)
    spelling = {} if by_ratio else {"penalty": "elasticnet"}
    return LogisticRegression(solver="saga", l1_ratio=0.5, max_iter=5000, tol=1e-3, **spelling)


def _on_scaled(model: BaseEstimator) -> Callable[[Any], BaseEstimator]:
    return lambda X: Pipeline([("prepare", default_preprocessing(X)), ("fit", model)])


def _on_unscaled(model: BaseEstimator) -> Callable[[Any], BaseEstimator]:
    return lambda X: Pipeline([("prepare", default_preprocessing(X, scale=False)), ("fit", model)])


def _of_scaled_target(model: BaseEstimator) -> BaseEstimator:
    return TransformedTargetRegressor(regressor=model, transformer=StandardScaler())


def _tree_grid(prefix: str) -> dict[str, list[Any]]:
    """Penalties a leaf, as shares of the impurity of all rows (at most 1, of a standardised target always 1)."""
    return {prefix + "ccp_alpha": [*_powers(-1.5, -3.5, 7), 0.0]}


def _kernel_grid(prefix: str, wide: bool, width: float) -> dict[str, list[Any]]:
    costs, widths = (_powers(-1, 3, 6), _powers(-2, 1, 6)) if wide else (_powers(-1, 2, 4), [0.1, 0.3, 1.0])
    return {prefix + "C": costs, prefix + "gamma": [float(f"{width * factor:.3g}") for factor in widths]}


def _forest_grid(wide: bool) -> dict[str, list[Any]]:
    return {
        "fit__min_samples_leaf": [10, 3, 1] if wide else [5, 1],
        "fit__max_features": ["sqrt", 0.4],
        "fit__n_estimators": _MOST_TREES if wide else [50, 100, 200],
    }


def _extra_trees_grid() -> dict[str, list[Any]]:
    return {
        "fit__min_samples_leaf": [3, 1],
        "fit__max_features": ["sqrt", 0.5],
        "fit__n_estimators": _MOST_TREES,
    }


def _boosting_grid(wide: bool) -> dict[str, list[Any]]:
    if wide:
        return {
            "fit__learning_rate": [0.02, 0.05, 0.15],
            "fit__max_leaf_nodes": [4, 8, 16, 31],
            "fit__max_iter": [25, 50, 75, 100, 150, 200, 250, 300, 400, 500],
        }
    return {
        "fit__learning_rate": [0.05, 0.2],
        "fit__max_leaf_nodes": [4, 16],
        "fit__max_iter": [25, 50, 100, 150],
    }


def _neighbours_grid(wide: bool, n_rows: int) -> dict[str, list[Any]]:
    """No more neighbours than the smallest training part: with two folds that is half the rows."""
    numbers = [91, 61, 45, 31, 21, 15, 11, 9, 7, 5, 3, 1] if wide else [31, 21, 15, 11, 7, 5, 3]
    possible = [number for number in numbers if number <= n_rows // 3] or [1]
    grid: dict[str, list[Any]] = {"fit__n_neighbors": possible, "fit__weights": ["uniform", "distance"]}
    return {**grid, "fit__p": [2, 1]} if wide else grid


def _powers(first: float, last: float, number: int) -> list[float]:
    """Powers of ten at equal steps, rounded to three digits."""
    return [float(f"{value:.3g}") for value in np.logspace(first, last, number)]
