"""The winner of a search, scored in each imputation by plain code."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, mean_squared_error, roc_auc_score
from sklearn.model_selection import KFold

import heldout as ho
from heldout._streams import numpy_seed
from heldout.errors import InputError
from heldout.imputation.imputed_model import ImputedModel
from heldout.imputation.settings import Imputation
from heldout.protocols import pool_scores, pooled_performance

N = 72
RNG = np.random.default_rng(8)
WHOLE = RNG.normal(size=(N, 3))
Y = (WHOLE[:, 0] + RNG.normal(size=N) > 0).astype(int)
X = np.where(RNG.random(WHOLE.shape) < 0.25, np.nan, WHOLE)
SETTINGS: dict[str, Any] = {"cv": KFold(3), "imputation": 3, "keep_models": "winner", "random_state": 0}


def searched(scoring: Any = "roc_auc", **more: Any) -> Any:
    grid = {"C": [0.1, 1.0]}
    return ho.HeldOutSearchCV(
        LogisticRegression(), grid, scoring=scoring, n_bootstraps=20, **{**SETTINGS, **more}
    ).fit(X, Y)


usual = cache(searched)


def test_each_imputation_has_a_score_of_its_own() -> None:
    search = usual()
    found = pooled_performance(search, X, Y, n_bootstraps=300, random_state=0)
    scores = np.zeros((3, 3))
    for fold, (model, rows) in enumerate(search.fold_models_.held_out()):
        for h, member in enumerate(model.pooled_.members):
            scores[h, fold] = roc_auc_score(Y[rows], member.predict_proba(X[rows])[:, 1])
    np.testing.assert_allclose(found.scores, scores.mean(axis=1), rtol=1e-12)
    assert found.value == pytest.approx(expit(logit(scores.mean(axis=1)).mean()))
    again = pool_scores(found.scores, found.standard_errors, metric="roc_auc", n_rows=N)
    assert again == found and 0.02 < min(found.standard_errors) < max(found.standard_errors) < 0.2
    assert found.low < found.value < found.high and 0 < found.variance_from_missing < 0.5
    assert found == pooled_performance(search, X, Y, n_bootstraps=300, random_state=0)


def test_other_scorers_aggregates_and_tables() -> None:
    table = pd.DataFrame(X, columns=list("abc"))
    search = ho.HeldOutSearchCV(
        LogisticRegression(), {}, scoring=["roc_auc", "accuracy"], refit="roc_auc", aggregate="pooled", **SETTINGS
    ).fit(table, Y)
    found = pooled_performance(search, table, Y, metric="accuracy", n_bootstraps=50, random_state=0)
    labels = np.zeros((3, N), dtype=int)
    for model, rows in search.fold_models_.held_out():
        labels[:, rows] = [member.predict(table.iloc[rows]) for member in model.pooled_.members]
    assert found.scores == pytest.approx([accuracy_score(Y, each) for each in labels])


def test_a_nested_estimate_is_scored_in_each_imputation() -> None:
    settings: dict[str, Any] = {
        "scoring": "roc_auc",
        "cv": KFold(3, shuffle=True, random_state=1),
        "random_state": 0,
    }
    nested = ho.nested_cv(LogisticRegression(), X, Y, {"C": [0.01, 1.0]}, imputation=2, **settings)
    found = pooled_performance(nested, X, Y, n_bootstraps=100, random_state=0)
    scores = np.zeros((2, 3))
    for number, fold in enumerate(nested.outer_folds):
        train, test = fold.training_rows, fold.test_rows
        C = nested.evaluation.configurations[fold.tested].params["C"]
        seed = numpy_seed(nested.provenance["entropy"], "cells", "random_state", "pooled performance", 0, fold.fold)
        seeds = {"estimator__random_state": 0, "random_state": seed}
        model = ImputedModel(LogisticRegression(C=C), Imputation(2)).set_params(**seeds).fit(X[train], Y[train])
        for h, member in enumerate(model.pooled_.members):
            scores[h, number] = roc_auc_score(Y[test], member.predict_proba(X[test])[:, 1])
    np.testing.assert_allclose(found.scores, scores.mean(axis=1), rtol=1e-12)
    assert abs(found.value - nested.value) < 0.1 and found.low < nested.value < found.high
    repeated = ho.nested_cv(LogisticRegression(), X, Y, imputation=2, scoring="roc_auc", repeats=2, cv=2)
    assert len(pooled_performance(repeated, X, Y, n_bootstraps=20).scores) == 2


def test_numbers() -> None:
    y = WHOLE[:, 0] + RNG.normal(size=N)
    search = ho.HeldOutSearchCV(LinearRegression(), {}, scoring="neg_mean_squared_error", **SETTINGS).fit(X, y)
    found = pooled_performance(search, X, y, n_bootstraps=50, random_state=0)
    by_fold = [
        [-mean_squared_error(y[rows], member.predict(X[rows])) for member in model.pooled_.members]
        for model, rows in search.fold_models_.held_out()
    ]
    assert found.scores == pytest.approx(np.mean(by_fold, axis=0)) and found.scale == "log"


@pytest.mark.parametrize(
    ("search", "more", "said", "argument"),
    [
        (lambda: searched(keep_models="none"), {}, "keep_models='winner'", "search"),
        (lambda: searched(keep_predictions=False), {}, "keep_predictions=True", "search"),
        (LogisticRegression, {}, "got LogisticRegression", "search"),
        (usual, {"X": X[:10]}, "the 72 rows", "X"),
        (usual, {"metric": "accuracy"}, "must be a scorer of the search", "metric"),
        (lambda: ho.nested_cv(LogisticRegression(), WHOLE, Y, cv=2), {}, "imputed nothing", "search"),
        (
            lambda: ho.HeldOutSearchCV(LogisticRegression(), {}, cv=3, keep_models="winner").fit(WHOLE, Y),
            {},
            "imputed nothing",
            "search",
        ),
        (
            lambda: ho.nested_cv(LogisticRegression(), X, Y, cv=2, imputation=2, sample_weight=np.ones(N) + Y),
            {},
            "without sample_weight",
            "search",
        ),
    ],
)
def test_bad_input_is_one_sentence(search: Any, more: dict[str, Any], said: str, argument: str) -> None:
    with pytest.raises(InputError) as caught:
        pooled_performance(search(), **{"X": X, "y": Y, **more})
    assert said in str(caught.value) and caught.value.argument == argument
