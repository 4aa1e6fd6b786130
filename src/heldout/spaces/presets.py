"""The presets: some seventy configurations for a first look, a few hundred for a serious search, boosted models.

The first two try the families that win most comparisons on tables: penalised linear models, support vector
machines, nearest neighbours, forests and gradient-boosted trees. For times to an event there are Cox regressions.
Families, and the values of each parameter, go from simple to complex.

Numbers of trees, of rounds and of neighbours, and penalties of ridge regression and of pruned trees are listed
densely, because a search fits such a list once. ``random_state`` is None, so a search sets it from its own seed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np
import sklearn
from scipy.stats import loguniform, randint
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

from heldout import _defaults
from heldout._papers import attribute_of_papers, of_papers
from heldout._text import is_one_of
from heldout.data.checks import check_known, preset_call
from heldout.data.task import TaskKind, truth_of
from heldout.errors import InputError
from heldout.spaces.cox import CoxRegression
from heldout.spaces.preprocessing import (
    NativeCategories,
    column_kinds,
    default_preprocessing,
    plain_names,
    text_columns,
)

_TREES = [50, 100, 200, 300, 500]
_ROUNDS = [25, 50, 100, 150, 200, 300, 400, 500]
_RATES = [0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3]
_LEAF_NODES = [3, 4, 6, 8, 12, 16, 24, 31]
_LEAVES, _SHARES = [20, 10, 5, 3, 2, 1], ["sqrt", 0.2, 0.4, 0.7]


def as_distributions(model: str, grid: dict[str, list[Any]], width: float, n_rows: int) -> dict[str, Any]:
    """The grid of a preset's model with distributions in place of lists, where there are any.

    ``width`` is 1/p, the natural unit of an RBF kernel's gamma on standardised columns.

    Examples
    --------
    >>> found = as_distributions("linear svm", {"fit__C": [0.1, 1.0], "fit__loss": ["hinge"]}, 0.1, 100)
    >>> print(*found["fit__C"].support(), found["fit__loss"])
    0.0001 1 ['hinge']
    """
    known = _distributions(width, n_rows).get(model, {})
    return {name: known.get(name.rpartition("__")[2], values) for name, values in grid.items()}


def _distributions(width: float, n_rows: int) -> dict[str, dict[str, Any]]:
    """By model and parameter; lists go from simple to complex, as those of the grids."""
    most_neighbours = min(100, max(n_rows // 3, 1))  # two folds train on half the rows
    return {
        "logistic": {"C": loguniform(1e-4, 1e3)},
        "ridge": {"alpha": loguniform(1e-3, 1e4)},
        "elastic net": {"C": loguniform(1e-2, 10), "alpha": loguniform(1e-3, 1), "l1_ratio": [1.0, 0.9, 0.5, 0.1]},
        "linear svm": {"C": loguniform(1e-4, 1)},
        "tree": {"ccp_alpha": loguniform(1e-4, 0.1)},
        "neighbours": {"n_neighbors": randint(1, most_neighbours + 1)},
        "rbf svm": {"C": loguniform(0.1, 1e3), "gamma": loguniform(0.01 * width, 10 * width)},
        "forest": {"min_samples_leaf": _LEAVES, "max_features": _SHARES, "n_estimators": _TREES},
        "extra trees": {"min_samples_leaf": _LEAVES, "max_features": _SHARES, "n_estimators": _TREES},
        "boosting": {"learning_rate": _RATES, "max_leaf_nodes": _LEAF_NODES, "max_iter": _ROUNDS},
        "hist boosting": {"learning_rate": _RATES, "max_leaf_nodes": _LEAF_NODES},
        "lightgbm": {"learning_rate": _RATES, "num_leaves": _LEAF_NODES},
        "xgboost": {"learning_rate": _RATES, "max_depth": [2, 3, 4, 5, 6, 8]},
        "catboost": {"learning_rate": _RATES, "depth": [2, 3, 4, 5, 6, 8]},
        "cox": {"alpha": loguniform(1e-2, 1e4)},
    }


Entry: TypeAlias = tuple[str, BaseEstimator, dict[str, Any]]
"""(name, estimator, grid or distributions), as the searches take a list of them."""

PRESETS = tuple(_defaults.MODELS_OF_PRESETS)
MOST_CLASSES = 20
"""Whole numbers with more distinct values than this are read as amounts, not as labels."""

MOST_KERNEL_ROWS = 10_000
"""With more rows kernel machines, whose time grows with the square of N, are left out."""


def quick(X: Any, y: Any, *, distributions: bool = False) -> list[Entry]:
    """The preset "quick": about seventy configurations, from simple to complex.

    Parameters
    ----------
    X : table or array of shape (N, p)
        Numbers, booleans and text; missing values are allowed.
    y : array-like of shape (N,)
        The target; it determines whether the task is classification, regression or survival.
    distributions : bool, default=False
        Whether parameters have distributions, for ``HeldOutRandomizedSearchCV``, in place of lists of values.

    Returns
    -------
    list of (name, estimator, grid or distributions) Pass it as ``estimator`` of a search. Give the search a
    ``random_state``: forests without seeds share no
        trees.

    Raises
    ------
    InputError
        When the target cannot be read: missing values, one class, or another shape.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> [name for name, _, _ in quick(*load_iris(return_X_y=True))]
    ['logistic', 'linear svm', 'neighbours', 'rbf svm', 'forest', 'boosting']
    """
    return preset("quick", X, kind_of_target(y), distributions=distributions)


def standard(X: Any, y: Any, *, distributions: bool = False) -> list[Entry]:
    """The preset "standard": a few hundred configurations, those of ``quick`` and more kinds of model.

    Parameters
    ----------
    X, y, distributions : as for ``quick``

    Returns
    -------
    list of (name, estimator, grid or distributions)

    Raises
    ------
    InputError
        When the target cannot be read: missing values, one class, or another shape.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> print(*[name for name, _, _ in standard(*load_diabetes(return_X_y=True))], sep=", ")
    ridge, elastic net, linear svm, tree, neighbours, rbf svm, forest, extra trees, boosting
    """
    return preset("standard", X, kind_of_target(y), distributions=distributions)


def boosted(X: Any, y: Any, *, distributions: bool = False) -> list[Entry]:
    """The preset "boosted": HistGradientBoosting, and LightGBM, XGBoost and CatBoost if installed.

    Thirty-two configurations each. Categories are not encoded: each package splits on them in its own way.

    Parameters
    ----------
    X, y, distributions : as for ``quick``

    Returns
    -------
    list of (name, estimator, grid or distributions)

    Raises
    ------
    InputError
        When the target cannot be read: missing values, one class, or another shape.

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
    """Return the preset of a name, for the columns of ``X`` and the kind of task.

    Parameters
    ----------
    name : {"quick", "standard", "boosted"}
    X : table or array of shape (N, p)
    kind : TaskKind
        Classification, regression or survival.
    distributions : bool, default=False
        Whether parameters have distributions, for ``HeldOutRandomizedSearchCV``, in place of lists of values.

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
        raise InputError(f"preset must be one of {', '.join(PRESETS)}, got {name!r}.")
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


PACKAGES = ("lightgbm", "xgboost", "catboost")
"""Of the extra ``boost``."""
ROUNDS = [25, 50, 100, 150, 200, 300, 400, 500]
RATES = [0.03, 0.1]


def boosted_families(kind: TaskKind) -> list[tuple[str, Callable[[Any], BaseEstimator], dict[str, Any]]]:
    """(name, from X to an estimator, grid) of scikit-learn and of each package that is installed."""
    if kind is TaskKind.SURVIVAL:
        raise InputError(
            "the preset boosted has no models for times to an event; use quick or standard.", argument="preset"
        )
    makers = {"lightgbm": _lightgbm, "xgboost": _xgboost, "catboost": _catboost}
    installed = [makers[name] for name in PACKAGES if find_spec(name) is not None]
    return [make(kind.is_classification) for make in (_histogram, *installed)]


def _histogram(classifies: bool) -> _Family:
    make = HistGradientBoostingClassifier if classifies else HistGradientBoostingRegressor
    # With early stopping, the default above 10 000 rows, each number of rounds would be another fit.
    model = make(early_stopping=False, categorical_features="from_dtype")
    grid = {"fit__learning_rate": RATES, "fit__max_leaf_nodes": [7, 31], "fit__max_iter": ROUNDS}
    return "hist boosting", lambda X: _on_categories(X, model), grid


def _lightgbm(classifies: bool) -> _Family:
    from lightgbm import LGBMClassifier, LGBMRegressor

    make = LGBMClassifier if classifies else LGBMRegressor
    model = make(n_jobs=1, verbosity=-1, deterministic=True, force_col_wise=True)
    grid = {"fit__learning_rate": RATES, "fit__num_leaves": [7, 31], "fit__n_estimators": ROUNDS}
    return "lightgbm", lambda X: _on_categories(X, model), grid


def _xgboost(classifies: bool) -> _Family:
    from xgboost import XGBRegressor

    from heldout.spaces.labelled_xgboost import LabelledXGBClassifier

    make = LabelledXGBClassifier if classifies else XGBRegressor
    model = make(n_jobs=1, enable_categorical=True, tree_method="hist")
    grid = {"fit__learning_rate": RATES, "fit__max_depth": [3, 6], "fit__n_estimators": ROUNDS}
    return "xgboost", lambda X: _on_categories(X, model), grid


def _catboost(classifies: bool) -> _Family:
    from catboost import CatBoostClassifier, CatBoostRegressor

    make = CatBoostClassifier if classifies else CatBoostRegressor
    quiet = {"thread_count": 1, "verbose": 0, "allow_writing_files": False}
    grid = {"fit__learning_rate": RATES, "fit__depth": [4, 6], "fit__iterations": ROUNDS}
    return "catboost", lambda X: _on_categories(X, make(cat_features=_names_of_text(X), **quiet)), grid


def _on_categories(X: Any, model: BaseEstimator) -> BaseEstimator:
    prepare = NativeCategories() if hasattr(X, "columns") else "passthrough"
    return Pipeline([("prepare", prepare), ("fit", model)])


def _names_of_text(X: Any) -> tuple[str, ...] | None:
    """The columns of categories, as they are called behind ``NativeCategories``; None without any.

    A tuple, because CatBoost copies a list, and scikit-learn then clones no model of it.
    """
    if not hasattr(X, "columns"):
        return None
    wanted = set(text_columns(X))
    names = (plain for name, plain in zip(X.columns, plain_names(X.columns), strict=True) if name in wanted)
    return tuple(names) or None


@dataclass(frozen=True)
class PublishedSpace:
    """What is known of a function of X and y, by its name, that returns a list of (name, estimator, grid)."""

    kinds: tuple[TaskKind, ...]
    """Of the targets that it is for."""
    parameters: tuple[str, ...] = ()


_SPACES = "heldout.spaces"


def published_spaces() -> Mapping[str, PublishedSpace]:
    """The spaces of articles by their names; none without heldout-papers."""
    return {name: space for module in of_papers(_SPACES).values() for name, space in module.PUBLISHED.items()}


def published_name(text: str) -> tuple[str, dict[str, Any]] | None:
    """Split the text of a preset into name and parameters of a published space; None for heldout's presets.

    Parameters
    ----------
    text : str
        Such as "tsamardinos2018(n_trees=100)".

    Returns
    -------
    (str, dict) or None

    Raises
    ------
    InputError
        For an unknown name or parameter.

    Examples
    --------
    >>> published_name("tsamardinos2018(n_trees=100)")  # with heldout-papers  # doctest: +SKIP
    ('tsamardinos2018', {'n_trees': 100})
    >>> published_name("quick") is None
    True
    """
    name, given = preset_call(text)
    if name in PRESETS:
        return None
    check_known("preset", name, given, published_spaces()[name].parameters)
    return name, given


def published_space(text: str, X: Any, y: Any, kind: TaskKind) -> list[Entry] | None:
    """Return the space of a published experiment for these data; None for heldout's presets.

    Parameters
    ----------
    text : str
        Its name, or its name with parameters: "wainer_cawley2021(small=True)".
    X : table or array of shape (N, p)
    y : array-like of shape (N,)
    kind : TaskKind

    Returns
    -------
    list of (name, estimator, grid), or None
        None for a preset of heldout.

    Raises
    ------
    InputError
        For an unknown name or parameter, or a target of another kind than the experiment's.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> space = published_space("wainer_cawley2021", X, y, TaskKind.MULTICLASS)  # doctest: +SKIP
    >>> [name for name, _, _ in space][:4]  # with heldout-papers  # doctest: +SKIP
    ['bst', 'gbm', 'knn', 'lvq']
    >>> published_space("quick", X, y, TaskKind.MULTICLASS) is None
    True
    """
    found = published_name(text)
    if found is None:
        return None
    name, given = found
    kinds = published_spaces()[name].kinds
    if kind not in kinds:
        raise InputError(
            f"preset '{name}' is for {' or '.join(f'{each} classification' for each in kinds)}, and the target is "
            f"{kind}; use preset 'standard'.",
            argument="preset",
        )
    make = attribute_of_papers(_SPACES, name)
    try:
        entries: list[Entry] = make(X, y, **given)
    except InputError as error:
        if error.argument not in given:
            raise
        raise InputError(f"preset '{text}': {error}", argument="preset") from error
    return entries
