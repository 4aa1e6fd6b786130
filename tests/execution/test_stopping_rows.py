"""Rows passed for early stopping: the flag comes where they certainly are scored rows, and only there."""

import inspect
import warnings
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.base import is_classifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from heldout.data.task import Task, truth_of
from heldout.errors import HeldoutWarning
from heldout.execution.row_flags import n_scored

RNG = np.random.default_rng(0)
N = 100
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] + RNG.normal(size=N) > 0).astype(int)
OTHER, OTHER_Y = RNG.normal(size=(N, 3)), RNG.integers(0, 2, N)
FLAG = ho.Flag.EARLY_STOPPING_ON_SCORED_ROWS
STOPPING = [lightgbm.early_stopping(5, verbose=False)]
SCORING = {True: "accuracy", False: "r2"}  # CatBoost has a score of its own
NEW_NAMES = "eval_X" in inspect.signature(LGBMClassifier.fit).parameters
LGBM = LGBMClassifier(n_estimators=8, verbose=-1, n_jobs=1)


def rows(X: Any, y: Any) -> dict[str, Any]:
    """Rows to stop on, as this version of LightGBM takes them."""
    return {"eval_X": (X,), "eval_y": (y,)} if NEW_NAMES else {"eval_set": [(X, y)]}


def flag_of(model: Any, X: Any = X, y: Any = Y, **fit_params: Any) -> str | None:
    """The sentence of the flag, which is also that of a warning before the first fit; None without both."""
    search = ho.HeldOutSearchCV(
        model, {}, scoring=SCORING[is_classifier(model)], cv=2, n_bootstraps=10, random_state=0
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        flags = search.fit(X, y, **fit_params).estimate_.flags
    warned = [str(each.message) for each in caught if issubclass(each.category, HeldoutWarning)]
    assert warned.count(flags.get(FLAG, "")) == (FLAG in flags)
    return flags.get(FLAG)


def test_rows_of_the_data_are_flagged_with_their_number() -> None:
    sentence = flag_of(LGBM, **rows(X[:30].copy(), Y[:30]), callbacks=STOPPING)
    assert sentence is not None and sentence.startswith(
        "Models stop early on rows that also score them: 30 of the 30 rows that are passed for it are held-out rows"
    )
    assert "`early_stopping=ho.inner_split(0.1)` stops each model on training rows of its own" in sentence


def test_a_part_of_the_rows_is_enough() -> None:
    both, both_y = np.vstack([X[:80], OTHER]), np.concatenate([Y[:80], OTHER_Y])
    assert "80 of the 180 rows" in str(flag_of(LGBM, **rows(both, both_y), callbacks=STOPPING))


def test_the_rounds_of_the_model_stop_it_as_callbacks_do() -> None:
    model = LGBMClassifier(n_estimators=8, verbose=-1, n_jobs=1, early_stopping_round=5)
    assert flag_of(model, **rows(X[:30], Y[:30])) is not None


def test_rows_behind_the_steps_of_a_pipeline_are_known_by_their_targets() -> None:
    model = Pipeline([("scale", StandardScaler()), ("fit", LGBM)])
    scaled = StandardScaler().fit_transform(X)
    found = flag_of(
        model, **{f"fit__{name}": own for name, own in (rows(scaled, Y) | {"callbacks": STOPPING}).items()}
    )
    assert "100 of the 100 rows" in str(found)


def test_rows_that_are_never_tested_are_not_flagged() -> None:
    splits = [(np.arange(80), np.arange(80, N))]
    search = ho.HeldOutSearchCV(LGBM, {}, cv=splits, n_bootstraps=10, random_state=0)
    search.fit(X, Y, **rows(X[:40], Y[:40]), callbacks=STOPPING)
    assert FLAG not in search.estimate_.flags


@pytest.mark.parametrize(
    "fit_params",
    [
        {},
        {"callbacks": STOPPING, **rows(OTHER, OTHER_Y)},  # other rows
        {**rows(X[:30], Y[:30])},  # scored rows, of which the scores stop nothing
        {"callbacks": STOPPING, **rows(X[:30], 1 - Y[:30])},  # the same columns, another target
        *([{"callbacks": STOPPING, "eval_X": X, "eval_y": Y}] if NEW_NAMES else []),  # cut to the training rows
    ],
)
def test_other_rows_and_fits_that_do_not_stop_are_not_flagged(fit_params: dict[str, Any]) -> None:
    assert flag_of(LGBM, **fit_params) is None


def test_rows_that_agree_by_chance_are_not_flagged() -> None:
    """Of two columns of few values almost every new row is like some old one."""
    rng = np.random.default_rng(3)
    draws = [(rng.integers(0, 3, (n, 2)).astype(float), rng.integers(0, 2, n)) for n in (N, 40)]
    (coarse, target), (new, new_target) = draws
    assert flag_of(LGBM, coarse, target, **rows(new, new_target), callbacks=STOPPING) is None


@pytest.mark.parametrize("n_columns, n_values", [(2, 3), (4, 5), (2, 30)])
def test_new_rows_of_coarse_columns_are_hardly_ever_taken_for_old_ones(n_columns: int, n_values: int) -> None:
    """300 pairs of data and new rows from the same place: at a rate of 1 in 1000, 3 alarms come once in 280."""
    rng = np.random.default_rng(n_columns)
    alarms = 0
    for _ in range(300):
        (old, y), (new, new_y) = (
            (rng.integers(0, n_values, (n, n_columns)).astype(float), rng.integers(0, 2, n)) for n in (100, 40)
        )
        alarms += n_scored(Task(old, truth_of(y)), np.ones(100, dtype=bool), new, new_y) > 0
    assert alarms < 3


def test_tables_with_text_and_gaps_are_compared_too() -> None:
    colour = np.where(RNG.random(N) < 0.1, None, RNG.choice(["red", "blue"], N))
    table = pd.DataFrame({"a": np.where(RNG.random(N) < 0.1, np.nan, X[:, 0]), "b": pd.Categorical(colour)})
    own = {**rows(table.iloc[:30], Y[:30]), "callbacks": STOPPING}
    assert "30 of the 30" in str(flag_of(LGBM, table, Y, **own))
    moved = table.assign(a=table["a"] + 0.5)
    other = {**rows(moved.iloc[:30], Y[:30]), "callbacks": STOPPING}
    assert flag_of(LGBM, table, Y, **other) is None


def test_regressions_are_compared_by_number() -> None:
    model = LGBMRegressor(n_estimators=8, verbose=-1, n_jobs=1)
    found = flag_of(model, X, X[:, 1], **rows(X[:30], X[:30, 1]), callbacks=STOPPING)
    assert "30 of the 30" in str(found)


@pytest.mark.parametrize("stops", [True, "auto"])
def test_histogram_models_stop_on_rows_of_their_own_parameters(stops: Any) -> None:
    model = HistGradientBoostingClassifier(max_iter=8, early_stopping=stops)
    found = flag_of(model, X_val=X[:30], y_val=Y[:30])
    assert (found is not None) == (stops is True), "with few rows auto does not stop"


def test_xgboost_and_catboost() -> None:
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBClassifier(n_estimators=8, n_jobs=1, early_stopping_rounds=3)
    assert flag_of(model, eval_set=[(X[:30], Y[:30])], verbose=False) is not None
    assert flag_of(model, eval_set=[(X[:30], Y[:30]), (OTHER, OTHER_Y)], verbose=False) is None, "the last decides"
    catboost = pytest.importorskip("catboost")
    model = catboost.CatBoostClassifier(iterations=8, verbose=0, thread_count=1, allow_writing_files=False)
    assert flag_of(model, eval_set=(X[:30], Y[:30])) is not None, "it predicts with the best round by default"
    assert flag_of(model, eval_set=(X[:30], Y[:30]), use_best_model=False) is None
