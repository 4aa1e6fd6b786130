"""Rounds of XGBoost, LightGBM and CatBoost against separate fits; each where it is installed."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from provider_contract import (
    CLASSES,
    CLASSIFICATION,
    REGRESSION,
    Case,
    check_predictions,
    grid_of,
    rows_of,
    without,
)
from sklearn.base import clone

from heldout.search import HeldOutSearchCV
from heldout.spaces.submodels import SeparateFitsError, family_of

ROUNDS = grid_of("n_estimators", (5, 1, 12, 5))
QUIET_LIGHTGBM = {"verbose": -1, "n_jobs": 1, "min_child_samples": 4, "force_col_wise": True}
QUIET_CATBOOST = {"verbose": 0, "thread_count": 1, "allow_writing_files": False}


def xgboost_cases() -> list[Case]:
    xgboost = pytest.importorskip("xgboost")
    classifier, regressor = xgboost.XGBClassifier(n_jobs=1), xgboost.XGBRegressor(n_jobs=1)
    draws = {"subsample": 0.5, "colsample_bynode": 0.5, "random_state": 3}
    return [
        Case(classifier, ROUNDS, CLASSIFICATION),
        Case(regressor, ROUNDS, REGRESSION),
        Case(clone(classifier).set_params(**draws), ROUNDS, CLASSES),
        Case(clone(regressor).set_params(**draws, num_parallel_tree=3), ROUNDS, ["regression-weighted"]),
        Case(clone(regressor).set_params(tree_method="exact", base_score=2.0), ROUNDS, ["regression"]),
        Case(clone(regressor).set_params(tree_method="approx", grow_policy="lossguide"), ROUNDS, ["regression"]),
        Case(clone(regressor).set_params(objective="reg:absoluteerror"), ROUNDS, ["regression"]),
        Case(clone(regressor).set_params(objective="count:poisson"), ROUNDS, ["regression"]),
    ]


def lightgbm_cases() -> list[Case]:
    lightgbm = pytest.importorskip("lightgbm")
    classifier, regressor = lightgbm.LGBMClassifier(**QUIET_LIGHTGBM), lightgbm.LGBMRegressor(**QUIET_LIGHTGBM)
    draws = {"subsample": 0.5, "subsample_freq": 1, "colsample_bytree": 0.5, "random_state": 3}
    many = grid_of("n_estimators", (3, 40, 80))
    return [
        Case(classifier, ROUNDS, CLASSIFICATION),
        Case(regressor, ROUNDS, REGRESSION),
        Case(clone(classifier).set_params(**draws, class_weight="balanced"), ROUNDS, CLASSES),
        # In some rounds no leaf can be split.
        Case(clone(regressor).set_params(**draws, extra_trees=True), many, ["regression-weighted", "regression"]),
        Case(clone(classifier).set_params(**draws, min_split_gain=1.5), many, CLASSES),
        Case(clone(regressor).set_params(boosting_type="goss"), many, ["regression"]),
        Case(clone(regressor).set_params(linear_tree=True), ROUNDS, ["regression"]),
        Case(clone(regressor).set_params(objective="quantile", alpha=0.3), ROUNDS, ["regression"]),
        Case(clone(classifier).set_params(min_split_gain=2.0), many, ["binary"], name="LGBM, ends early"),
    ]


def catboost_cases() -> list[Case]:
    catboost = pytest.importorskip("catboost")
    classifier = catboost.CatBoostClassifier(learning_rate=0.1, **QUIET_CATBOOST)
    regressor = catboost.CatBoostRegressor(eta=0.3, **QUIET_CATBOOST)
    rounds = grid_of("iterations", (5, 1, 12, 5))
    # With fewer than 200 rounds CatBoost estimates leaves in another way.
    around = grid_of("num_trees", (150, 201, 199, 220, 10, 200))
    draws = {"rsm": 0.5, "bootstrap_type": "Bernoulli", "subsample": 0.5, "random_seed": 3}
    return [
        Case(classifier, ROUNDS, without(CLASSIFICATION, "sparse")),
        Case(regressor, rounds, without(REGRESSION, "sparse")),
        Case(clone(classifier).set_params(**draws, auto_class_weights="Balanced"), rounds, CLASSES),
        Case(clone(regressor).set_params(**draws), rounds, ["regression-weighted"]),
        Case(clone(regressor).set_params(boosting_type="Ordered"), rounds, ["regression"]),
        Case(clone(regressor).set_params(grow_policy="Lossguide"), rounds, ["regression"]),
        Case(clone(regressor).set_params(loss_function="MAE"), rounds, ["regression"]),
        Case(clone(classifier).set_params(depth=2), around, CLASSES, name="CatBoost, other defaults"),
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cases", [xgboost_cases, lightgbm_cases, catboost_cases])
def test_one_fit_predicts_as_separate_fits(cases: Callable[[], list[Case]]) -> None:
    for case in cases():
        for kind in case.kinds:
            rows = rows_of(kind)
            if rows.y.dtype.kind != "f":  # XGBoost takes no other labels than 0, 1, ...
                rows = replace(rows, y=np.unique(rows.y, return_inverse=True)[1])
            check_predictions(case, kind, rows)


@pytest.mark.parametrize(
    ("package", "name", "parameters"),
    [
        ("xgboost", "XGBClassifier", {"booster": "dart"}),
        ("xgboost", "XGBClassifier", {"booster": "gblinear"}),
        ("xgboost", "XGBRegressor", {"early_stopping_rounds": 3}),
        ("xgboost", "XGBRegressor", {"callbacks": []}),
        ("xgboost", "XGBRegressor", {"process_type": "update", "updater": "refresh"}),
        ("xgboost", "XGBRegressor", {"num_boost_round": 7}),
        ("xgboost", "XGBRFRegressor", {}),
        ("lightgbm", "LGBMClassifier", {"boosting_type": "dart"}),
        ("lightgbm", "LGBMRegressor", {"boosting_type": "rf"}),
        ("lightgbm", "LGBMClassifier", {"early_stopping_round": 2}),
        ("lightgbm", "LGBMClassifier", {"num_iterations": 2}),
        ("lightgbm", "LGBMRegressor", {"boosting": "dart"}),
        ("catboost", "CatBoostClassifier", {}),
        ("catboost", "CatBoostRegressor", {"learning_rate": 0.1, "model_shrink_rate": 0.1}),
        ("catboost", "CatBoostClassifier", {"learning_rate": 0.1, "early_stopping_rounds": 2}),
        ("catboost", "CatBoostClassifier", {"learning_rate": 0.1, "od_type": "Iter"}),
        ("catboost", "CatBoostRegressor", {"learning_rate": 0.1, "langevin": True}),
        ("catboost", "CatBoostRegressor", {"learning_rate": 0.1, "iterations": 5, "num_trees": 5}),
    ],
)
def test_parameters_exclude_the_provider(package: str, name: str, parameters: dict[str, Any]) -> None:
    module = pytest.importorskip(package)
    assert family_of(getattr(module, name)(**parameters)) is None


def test_rounds_of_catboost_have_one_name_in_a_group() -> None:
    catboost = pytest.importorskip("catboost")
    rows, estimator = rows_of("regression"), catboost.CatBoostRegressor(learning_rate=0.1, **QUIET_CATBOOST)
    family = family_of(estimator)
    assert family is not None
    with pytest.raises(SeparateFitsError):
        family.fit_many(estimator, [{"iterations": 3}, {"num_trees": 4}], rows.X, rows.y)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("package", "name", "parameters", "grid", "shared"),
    [
        ("xgboost", "XGBClassifier", {"n_jobs": 1}, {"n_estimators": [2, 5], "subsample": [0.5, 1.0]}, 12),
        ("lightgbm", "LGBMClassifier", QUIET_LIGHTGBM, {"n_estimators": [2, 5], "num_leaves": [3, 5]}, 12),
        (
            "catboost",
            "CatBoostClassifier",
            {"learning_rate": 0.1, **QUIET_CATBOOST},
            {"iterations": [2, 5], "depth": [2, 3]},
            12,
        ),
        # The first configuration names no rounds, and those of the others have two names.
        (
            "catboost",
            "CatBoostClassifier",
            {"learning_rate": 0.1, "depth": 1, **QUIET_CATBOOST},
            [{"rsm": [1.0]}, {"iterations": [2], "rsm": [1.0]}, {"num_trees": [3], "rsm": [1.0]}],
            0,
        ),
    ],
)
def test_a_search_over_rounds(package: str, name: str, parameters: dict[str, Any], grid: Any, shared: int) -> None:
    estimator = getattr(pytest.importorskip(package), name)(**parameters)
    rows = rows_of("binary")
    settings: Any = {"scoring": "roc_auc", "cv": 3, "n_bootstraps": 5, "random_state": 0}
    alone, together = (
        HeldOutSearchCV(estimator, grid, share=share, **settings).fit(rows.X, (rows.y == "yes").astype(int))
        for share in (False, "exact")
    )
    assert together.n_fits_shared_ == shared
    for key, values in alone.predictions_.responses.items():
        assert np.array_equal(values, together.predictions_.responses[key])
