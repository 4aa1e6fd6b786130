"""The preset of boosted models: HistGradientBoosting, and LightGBM, XGBoost and CatBoost where they are installed.

Categories stay categories: each package splits on them in its own way. Numbers of rounds are listed densely,
because one fit serves them all.
"""

from __future__ import annotations

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
_FAMILY = tuple[str, BaseEstimator, dict[str, list[Any]]]


def boosted_families(X: Any, kind: TaskKind) -> list[_FAMILY]:
    """(name, estimator, grid) of each package that is installed, on tables or arrays like X."""
    if kind is TaskKind.SURVIVAL:
        raise InputError(
            "the preset boosted has no models for times to an event; use quick or standard.", argument="preset"
        )
    makers = {"lightgbm": _lightgbm, "xgboost": _xgboost, "catboost": _catboost}
    found = [_histogram(kind), *(makers[name](X, kind) for name in PACKAGES if find_spec(name) is not None)]
    prepare = NativeCategories() if _is_table(X) else "passthrough"
    return [
        (name, Pipeline([("prepare", prepare), ("fit", model)]), {f"fit__{key}": own for key, own in grid.items()})
        for name, model, grid in found
    ]


def _histogram(kind: TaskKind) -> _FAMILY:
    make = HistGradientBoostingClassifier if kind.is_classification else HistGradientBoostingRegressor
    # With early stopping, the default above 10 000 rows, each number of rounds would be another fit.
    model = make(early_stopping=False, categorical_features="from_dtype")
    return "hist boosting", model, {"learning_rate": RATES, "max_leaf_nodes": [7, 31], "max_iter": ROUNDS}


def _lightgbm(X: Any, kind: TaskKind) -> _FAMILY:
    from lightgbm import LGBMClassifier, LGBMRegressor

    make = LGBMClassifier if kind.is_classification else LGBMRegressor
    model = make(n_jobs=1, verbosity=-1, deterministic=True, force_col_wise=True)
    return "lightgbm", model, {"learning_rate": RATES, "num_leaves": [7, 31], "n_estimators": ROUNDS}


def _xgboost(X: Any, kind: TaskKind) -> _FAMILY:
    from xgboost import XGBRegressor

    from heldout.spaces.labelled_xgboost import LabelledXGBClassifier

    make = LabelledXGBClassifier if kind.is_classification else XGBRegressor
    model = make(n_jobs=1, enable_categorical=True, tree_method="hist")
    return "xgboost", model, {"learning_rate": RATES, "max_depth": [3, 6], "n_estimators": ROUNDS}


def _catboost(X: Any, kind: TaskKind) -> _FAMILY:
    from catboost import CatBoostClassifier, CatBoostRegressor

    make = CatBoostClassifier if kind.is_classification else CatBoostRegressor
    model = make(thread_count=1, verbose=0, allow_writing_files=False, cat_features=_names_of_text(X) or None)
    return "catboost", model, {"learning_rate": RATES, "depth": [4, 6], "iterations": ROUNDS}


def _names_of_text(X: Any) -> tuple[str, ...]:
    """The columns of categories, as they are called behind ``NativeCategories``.

    A tuple, because CatBoost copies a list, and scikit-learn then clones no model of it.
    """
    if not _is_table(X):
        return ()
    wanted = set(text_columns(X))
    return tuple(plain for name, plain in zip(X.columns, plain_names(X.columns), strict=True) if name in wanted)


def _is_table(X: Any) -> bool:
    return hasattr(X, "columns")
