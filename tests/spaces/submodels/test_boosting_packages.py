"""Rounds of XGBoost, LightGBM and CatBoost against separate fits."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest
from provider_contract import (
    RESPONSES,
    Case,
    assert_same,
    grid_of,
    rows_of,
)
from sklearn.base import clone, is_classifier

from heldout.spaces.submodels import family_of


def _boosting_packages() -> list[Any]:
    """Estimators, where they are installed, and whether a provider serves them."""
    served, excluded = [], []
    if find_spec("xgboost"):
        from xgboost import XGBClassifier, XGBRegressor

        served += [XGBClassifier(n_jobs=1, subsample=0.5, random_state=1), XGBRegressor(n_jobs=1)]
        excluded += [XGBClassifier(booster="dart"), XGBClassifier(booster="gblinear")]
        excluded += [XGBRegressor(early_stopping_rounds=3)]
    if find_spec("lightgbm"):
        from lightgbm import LGBMClassifier, LGBMRegressor

        quiet = {"verbose": -1, "n_jobs": 1, "min_child_samples": 4}
        served += [LGBMClassifier(**quiet), LGBMRegressor(subsample=0.5, subsample_freq=1, **quiet)]
        excluded += [LGBMClassifier(boosting_type="dart"), LGBMRegressor(boosting_type="rf")]
        excluded += [LGBMClassifier(early_stopping_round=2)]
    if find_spec("catboost"):
        from catboost import CatBoostClassifier, CatBoostRegressor

        quiet = {"verbose": 0, "thread_count": 1, "allow_writing_files": False}
        served += [CatBoostClassifier(learning_rate=0.1, **quiet), CatBoostRegressor(learning_rate=0.3, **quiet)]
        excluded += [CatBoostClassifier(), CatBoostRegressor(learning_rate=0.1, model_shrink_rate=0.1)]
        excluded += [CatBoostClassifier(learning_rate=0.1, early_stopping_rounds=2)]
    return [
        *(
            pytest.param(estimator, True, id=f"{type(estimator).__name__}-{n}")
            for n, estimator in enumerate(served)
        ),
        *(
            pytest.param(estimator, False, id=f"not {type(estimator).__name__}-{n}")
            for n, estimator in enumerate(excluded)
        ),
    ] or [pytest.param(None, False, marks=pytest.mark.skip("no boosting package is installed"))]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "is_served"), _boosting_packages())
def test_rounds_of_boosting_packages(estimator: Any, is_served: bool) -> None:
    family = family_of(estimator)
    assert (family is not None) is is_served
    if family is None:
        return
    rows = rows_of("binary" if is_classifier(estimator) else "regression")
    case = Case(estimator, grid_of("n_estimators", (5, 1, 12, 5)), [])
    y = (rows.y == "yes").astype(int) if is_classifier(estimator) else rows.y
    many: Any = family.fit_many(clone(estimator), case.values, rows.X, y)
    for response in (name for name in RESPONSES if hasattr(estimator, name)):
        for value, shared in zip(case.values, many.predict_many(rows.X_new, response), strict=True):
            alone = clone(estimator).set_params(**value).fit(rows.X, y)
            assert_same(shared, getattr(alone, response)(rows.X_new), case)
