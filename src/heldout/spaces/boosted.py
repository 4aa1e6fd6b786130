"""The preset of boosted models: HistGradientBoosting, and LightGBM, XGBoost and CatBoost where they are installed.

Categories stay categories: each package splits on them in its own way. Numbers of rounds are listed densely,
because one fit serves them all.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import Pipeline

from heldout.data.task import TaskKind
from heldout.errors import InputError
from heldout.spaces.native_categories import NativeCategories, plain_names, text_columns

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


_Family = tuple[str, Callable[[Any], BaseEstimator], dict[str, Any]]


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
