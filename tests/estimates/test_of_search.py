"""Estimates as a search asks for them: given winner, several metrics, closed scorers, rules that fail."""

from dataclasses import fields, replace

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.linear_model import Ridge

import heldout as ho
from heldout.data.task import truth_of
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates.of_search import Estimation, check_applicable, estimates_of_search
from heldout.metrics import metric_named
from heldout.metrics.base import Response
from heldout.predictions import FoldScores, HeldOutPredictions
from heldout.selection import CallableRefit

RNG = np.random.default_rng(8)
Y = RNG.permutation(np.repeat([0, 1], 60))
SCORES = RNG.normal(size=(120, 6)) + Y[:, None]
FOLDS = np.empty(120, dtype=np.int32)
for code in (0, 1):
    FOLDS[Y == code] = np.arange(60) % 4
PREDICTIONS = HeldOutPredictions(
    {Response.DECISION: SCORES[:, :, None], Response.LABELS: (SCORES > 0.5).astype(np.int32)[:, :, None]},
    tuple("abcdef"),
    FOLDS[:, None],
    np.array([0, 1]),
    1,
)
TRUTH = truth_of(Y)


def fold_scores(function, table):
    values = [[function(Y[FOLDS == k], table[FOLDS == k, j]) for j in range(6)] for k in range(4)]
    return FoldScores(np.array(values), True, np.zeros(4, dtype=np.intp))


AUC = fold_scores(sk.roc_auc_score, SCORES)
ACCURACY = fold_scores(sk.accuracy_score, (SCORES > 0.5).astype(int))
METRICS = {"roc_auc": metric_named("roc_auc"), "accuracy": metric_named("accuracy")}
BOTH = {"roc_auc": AUC, "accuracy": ACCURACY}

OWN = {field.name for field in fields(Estimation)}


def run(**changes):
    arguments = {
        "metrics": METRICS,
        "fold_scores": BOTH,
        "refit_metric": "roc_auc",
        "winner": int(AUC.values.mean(axis=0).argmax()),
        "n_bootstraps": 80,
        "entropy": 4,
        "params": [{"depth": depth} for depth in (3, 1, 2, 6, 5, 4)],
    }
    settings = arguments | changes
    estimation = Estimation(**{name: settings.pop(name) for name in list(settings) if name in OWN})
    return estimates_of_search(TRUTH, PREDICTIONS, estimation, **settings)


def test_every_metric_is_of_the_same_choice():
    found = run()
    assert found["accuracy"].selected == found["roc_auc"].selected
    np.testing.assert_array_equal(found["accuracy"].selection_frequency, found["roc_auc"].selection_frequency)
    alone = run(metrics={"accuracy": METRICS["accuracy"]}, refit_metric="accuracy", winner=0)["accuracy"]
    assert not np.array_equal(alone.selection_frequency, found["accuracy"].selection_frequency)
    winner = found["roc_auc"].selected
    assert found["accuracy"].uncorrected == pytest.approx(ACCURACY.values[:, winner].mean(), abs=1e-12)


def test_a_callable_refit_is_replayed():
    def shallowest(results):
        return int(np.argmin(results["param_depth"]))

    found = run(selection=CallableRefit(shallowest), winner=1)
    assert found["roc_auc"].selection_frequency[1] == 1.0
    best = run(selection=CallableRefit(lambda results: int(results["rank_test_roc_auc"].argmin())))["roc_auc"]
    assert best.value == run()["roc_auc"].value


def test_a_callable_refit_that_fails_gives_nan_with_its_flag():
    with pytest.warns(HeldoutWarning, match="mean_fit_time"):
        found = run(selection=CallableRefit(lambda results: results["mean_fit_time"]))["roc_auc"]
    assert np.isnan(found.value)
    assert "selection_not_replayable" in found.flags


def test_a_closed_scorer_has_tt_and_no_bbc():
    closed = {"score": None}
    found = run(metrics=closed, fold_scores={"score": ACCURACY}, refit_metric="score", method="tt", winner=2)[
        "score"
    ]
    winners = ACCURACY.values[:, 2]
    assert found.value == pytest.approx(winners.mean() - (ACCURACY.values.max(axis=1) - winners).mean())
    with pytest.raises(InputError, match="method='tt'"):
        check_applicable("bbc", closed, ["score"])
    check_applicable("tt", closed, ["score"])
    check_applicable(None, closed, ["score"])
    with pytest.warns(HeldoutWarning, match="cannot be opened"):
        nothing = run(metrics=closed, fold_scores={"score": ACCURACY}, refit_metric="score", winner=2)["score"]
    assert np.isnan(nothing.value) and "undefined" in nothing.flags


def test_a_metric_that_cannot_read_the_winner_gives_nan_and_a_flag():
    probabilities = np.full((120, 6, 1), 0.5)
    probabilities[:, 3] = np.nan
    both = replace(PREDICTIONS, responses={**PREDICTIONS.responses, Response.PROBABILITIES: probabilities})
    metrics = {"roc_auc": METRICS["roc_auc"], "log_loss": metric_named("log_loss")}
    with pytest.warns(HeldoutWarning, match="the winner, d, has no predictions that log_loss can read"):
        found = estimates_of_search(
            TRUTH,
            both,
            Estimation(n_bootstraps=50),
            metrics=metrics,
            fold_scores={"roc_auc": AUC, "log_loss": AUC},
            refit_metric="roc_auc",
            winner=3,
        )
    assert np.isnan(found["log_loss"].value)
    assert np.isfinite(found["roc_auc"].value)


def test_a_class_of_one_row_gives_nan_and_a_warning():
    y = np.where(np.arange(120) == 0, "rare", "common")
    truth = truth_of(y)
    with pytest.warns(HeldoutWarning, match="class 'rare' has 1 row"):
        found = estimates_of_search(
            truth,
            PREDICTIONS,
            Estimation(aggregate="pooled"),
            metrics={"roc_auc": METRICS["roc_auc"]},
            fold_scores={"roc_auc": AUC},
            refit_metric="roc_auc",
            winner=0,
        )["roc_auc"]
    assert np.isnan(found.value) and found.interval is None


def test_r2_of_small_folds_is_not_torn_by_folds_of_three_rows():
    rng = np.random.default_rng(40)
    X = rng.normal(size=(40, 4))
    y = X @ [1.0, 0.5, 0.0, 0.0] + rng.normal(size=40)
    grid = {"alpha": [0.1, 1, 10, 100]}
    asked = {"method": "bbc", "n_bootstraps": 300, "aggregate": "folds", "random_state": 0}
    search = ho.HeldOutSearchCV(Ridge(), grid, cv=5, **asked).fit(X, y)
    with pytest.warns(HeldoutWarning, match="has `aggregate='folds'`"):
        pooled = ho.estimate(y, search.predictions_, aggregate="pooled")
    assert abs(search.estimate_.value - search.estimate_.uncorrected) < 0.1
    assert np.std(search.estimate_.distribution) < 1.5 * np.std(pooled.distribution)
    assert "out_of_bag_pooled" in search.estimate_.flags


def test_a_class_whose_rows_in_a_fold_weigh_nothing_is_too_small_for_it():
    y = np.tile([0, 1], 60)
    folds = np.repeat(np.arange(3), 40)
    weights = np.where((folds == 0) & (y == 1), 0.0, 1.0)
    found = ho.estimate(
        y,
        y[:, None],
        metric="f1",
        method="bbc",
        folds=folds,
        aggregate="folds",
        sample_weight=weights,
        n_bootstraps=50,
        random_state=0,
    )
    assert (
        found.distribution is not None and np.ptp(found.distribution) < 1e-12
    )  # all is right, whatever is left out
    assert found.value == pytest.approx(found.uncorrected)  # which counts the fold of negatives as 0
    assert "on the scale of the mean over folds" in found.flags["out_of_bag_pooled"]


def test_a_scorer_of_ones_own_for_a_regression_has_an_estimate() -> None:
    from sklearn.datasets import load_diabetes
    from sklearn.linear_model import Ridge
    from sklearn.metrics import make_scorer, mean_tweedie_deviance

    from heldout.search import HeldOutSearchCV

    X, y = load_diabetes(return_X_y=True)
    scorer = make_scorer(mean_tweedie_deviance, power=0, greater_is_better=False)
    search = HeldOutSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, scoring=scorer, cv=3, n_bootstraps=10, random_state=0)
    assert search.fit(X[:90], y[:90]).evaluation_ is not None
