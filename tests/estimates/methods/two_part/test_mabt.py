"""MABT: the adjustment for the best of several, its limits, and near-perfect finalists."""

import warnings

import numpy as np
import pytest

import heldout as ho
from heldout.data.task import truth_of
from heldout.estimates import MABT, METHODS, Tilting
from heldout.estimates.methods.two_part.template import split


def bound(y, predictions, metric="roc_auc", **asked):
    settings = {"alternative": "greater", "n_bootstraps": 4000, "random_state": 0, "method": MABT(), **asked}
    return ho.estimate(y, predictions, metric=metric, **settings)


def test_equal_finalists_cost_nothing_and_independent_ones_cost_sidak():
    rng = np.random.default_rng(4)
    y = np.resize([0, 1], 800)
    one = rng.normal(y * 1.0)[:, None]
    alone = bound(y, one, method=MABT(candidates=1.0))
    twins = bound(y, np.repeat(one, 10, axis=1), method=MABT(candidates=1.0))
    assert twins.interval.low == pytest.approx(alone.interval.low, abs=0.005)  # that one counts ties half
    strangers = rng.normal(y[:, None] * 1.0, size=(800, 10))
    adjusted = bound(y, strangers, method=MABT(candidates=1.0))
    sidak = bound(y, strangers, method=Tilting(candidates=1.0))
    unpaid = bound(y, strangers, method=MABT(candidates=1.0), confidence_level=0.5)
    assert adjusted.selected == sidak.selected
    assert adjusted.interval.low == pytest.approx(sidak.interval.low, abs=0.01)  # of independent ones the same
    assert adjusted.interval.low < unpaid.interval.low


def test_a_single_finalist_is_tilted():
    rng = np.random.default_rng(5)
    y = np.resize([0, 1], 300)
    scores = rng.normal(y[:, None] * 1.0, size=(300, 6))
    alone = bound(y, scores, method=MABT(candidates="best"))
    plain = bound(y, scores, method=Tilting())
    assert alone.selected == plain.selected
    assert alone.interval.low == plain.interval.low


def test_a_tenth_goes_on_by_default():
    rng = np.random.default_rng(6)
    y = np.resize([0, 1], 300)
    found = bound(y, rng.normal(y[:, None] * 1.0, size=(300, 41)))
    assert found.provenance["n_finalists"] == 5 and found.provenance["level_for_each"] == 0.95
    assert found.interval.low < found.value < found.interval.high == 1


def near_perfect(metric, wrong):
    """Three finalists with a wrong row (pair) each, or none."""
    y = np.resize([0, 1], 100)
    predictions = np.repeat(y[:, None], 3, axis=1) * (1 if metric == "accuracy" else 4.0)
    rows = {"accuracy": [4, 5, 6], "roc_auc": [4, 6, 10]}[metric]
    if wrong:
        predictions[rows, [0, 1, 2]] = 1 - y[rows] if metric == "accuracy" else 5.0
    return y, predictions - (0 if metric == "accuracy" else 1)


OTHER = {"accuracy": "wilson", "roc_auc": "delong"}


SAID_OF_PERFECT = {
    "accuracy": "no tilting changes an accuracy of 1 that all rows share; method 'wilson' has a bound there",
    "roc_auc": "an AUC of 1 that all rows share; method 'delong' has no bound there either, more rows may",
}


@pytest.mark.parametrize("metric", OTHER)
def test_perfect_finalists_have_no_bound_and_hear_what_has(metric):
    y, predictions = near_perfect(metric, wrong=False)
    with pytest.warns(ho.HeldoutWarning, match=SAID_OF_PERFECT[metric]):
        found = bound(y, predictions, metric=metric, method=MABT(candidates=1.0, evaluation_share=0.9))
    assert np.isnan(found.interval.low) and found.value == 1
    assert found.flags["no_bound"].startswith("No bound: ")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ho.HeldoutWarning)
        other = bound(y, predictions, metric=metric, method=METHODS[OTHER[metric]](evaluation_share=0.9))
    assert np.isnan(other.interval.low) == (metric == "roc_auc")


@pytest.mark.parametrize("metric", OTHER)
def test_near_perfect_finalists_pay_the_highest_price_and_are_flagged(metric):
    """One wrong row (pair) each: more than a twentieth of the bootstraps are perfect, and tie for the top."""
    y, predictions = near_perfect(metric, wrong=True)
    rows = split(truth_of(y), 0.9, 0).second
    assert np.isin([4, 5, 6] if metric == "accuracy" else [4, 6, 10], rows).all()
    found = bound(y, predictions, metric=metric, method=MABT(candidates=1.0, evaluation_share=0.9))
    sidak = bound(y, predictions, metric=metric, method=Tilting(candidates=1.0, evaluation_share=0.9))
    assert f"method '{OTHER[metric]}' may be tighter" in found.flags["tied_finalists"]
    assert 0.5 < found.interval.low < sidak.interval.low < found.value < 1


def test_of_several_repeats_no_method_is_named_that_refuses_them():
    y = np.resize([0, 1], 40)
    predictions = np.repeat(y[:, None, None], 3, axis=1).repeat(2, axis=2)
    with pytest.warns(ho.HeldoutWarning, match="method 'bbc' has no bound there either, more rows may"):
        bound(y, predictions, metric="accuracy", method=Tilting())


def test_a_configuration_named_beforehand_needs_no_adjustment():
    rng = np.random.default_rng(7)
    y = np.resize([0, 1], 200)
    scores = rng.normal(y[:, None] * 1.0, size=(200, 20))
    found = bound(y, scores, method=MABT(evaluation_share=1.0, configuration=2))
    alone = bound(y, scores[:, [2]], method=MABT(evaluation_share=1.0))
    assert found.interval.low == alone.interval.low and found.provenance["n_finalists"] == 1
