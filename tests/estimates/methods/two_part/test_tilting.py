"""Tilting: the solution in closed cases, its identities, and where there is none."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom

import heldout as ho
from heldout.estimates import Tilting
from heldout.estimates.methods.two_part.tilting import log_mean_weight, tilt

WHOLE = Tilting(evaluation_share=1.0)


def bound(y, predictions, metric="roc_auc", **asked):
    settings = {"alternative": "greater", "n_bootstraps": 2000, "random_state": 0, "method": WHOLE, **asked}
    return ho.estimate(y, predictions, metric=metric, **settings)


def accuracy_of(right: int, n: int):
    y = np.resize([0, 1], n)
    return y, np.where(np.arange(n) < right, y, 1 - y)[:, None]


def test_a_tilt_that_is_known():
    """Two draws from two rows of influence 0 and 1: both the second with chance (e^τ / (1 + e^τ))².

    It is 1/49 where e^τ = 1/6. A quarter of the bootstraps are such, and their weight is 4 times that chance.
    """
    drawn = np.repeat([0.0, 1.0, 1.0, 2.0], 5)
    found = tilt(drawn, (drawn == 2).astype(float), 1 / 49, [np.array([0.0, 1.0])])
    assert found.tau == pytest.approx(-np.log(6), abs=1e-12)
    assert found.effective == pytest.approx(5)


def test_the_conservative_end_is_taken():
    rows = np.linspace(-3, 3, 7)
    drawn = np.random.default_rng(0).choice(rows, size=(500, 7)).sum(axis=1)
    exceeds = (drawn > 0).astype(float)
    found = tilt(drawn, exceeds, 0.05, [rows])
    chance = np.mean(exceeds * np.exp(found.tau * drawn - log_mean_weight(found.tau, [rows])))
    assert 0.05 - 1e-9 < chance <= 0.05


def test_of_several_solutions_the_strongest_tilt_is_taken():
    drawn = np.arange(7.0)
    exceeds = np.array([0, 1, 0, 0, 0, 0, 1.0])  # the chance rises, falls and rises with τ
    rows = [np.array([0.0, 0.5, 1.0])]
    taus = np.linspace(-10, 0, 1001)
    chances = np.array([np.mean(exceeds * np.exp(tau * drawn - log_mean_weight(tau, rows))) for tau in taus])
    tail = float(np.median(chances[taus > -2]))
    found = tilt(drawn, exceeds, tail, rows)
    assert np.all(chances[taus < found.tau - 1e-2] <= tail)
    assert found.tau == pytest.approx(taus[np.argmax(chances > tail)], abs=1e-2)


@pytest.mark.parametrize(
    ("drawn", "exceeds"), [([1, 1, 1], [0, 1, 0]), ([0, 1, 2], [0, 0, 0])], ids=["no spread", "never above"]
)
def test_no_tilt(drawn, exceeds):
    assert tilt(np.array(drawn, dtype=float), np.array(exceeds, dtype=float), 0.05, [np.arange(3.0)]) is None


@pytest.mark.parametrize(("right", "n"), [(1, 30), (160, 200), (199, 200)])
def test_the_bound_of_an_accuracy_is_its_binomial_one(right, n):
    """P(X > right) + P(X = right)/2 = .05, whatever is drawn and however little."""
    exact = brentq(lambda p: binom.sf(right, n, p) + binom.pmf(right, n, p) / 2 - 0.05, 1e-9, 1 - 1e-9)
    for n_bootstraps, seed in ((1, 0), (2000, 1)):
        found = bound(*accuracy_of(right, n), metric="accuracy", n_bootstraps=n_bootstraps, random_state=seed)
        assert found.interval.low == pytest.approx(exact, abs=1e-12) and found.interval.high == 1
        assert not {"few_effective_bootstraps", "no_bound", "few_bootstraps"} & set(found.flags)


def test_the_order_of_repeats_changes_nothing_and_equal_repeats_are_one():
    rng = np.random.default_rng(0)
    y = np.resize([0, 1], 100)
    scores = rng.normal(y[:, None, None] * 1.0, size=(100, 1, 3))
    assert bound(y, scores).interval.low == pytest.approx(bound(y, scores[:, :, ::-1]).interval.low, abs=1e-9)
    once, thrice = bound(y, scores[:, :, :1]), bound(y, np.repeat(scores[:, :, :1], 3, axis=2))
    assert once.interval.low == pytest.approx(thrice.interval.low, abs=1e-9)
    assert bound(y, scores).interval.low > once.interval.low - 0.05  # three predictions a row say no less


def test_few_effective_bootstraps_are_flagged():
    y = np.resize([0, 1], 100)
    scores = np.random.default_rng(0).normal(y[:, None] * 1.0)
    few = bound(y, scores, n_bootstraps=15, confidence_level=0.99)
    assert "rests on about" in few.flags["few_effective_bootstraps"]
    assert "few_effective_bootstraps" not in bound(y, scores).flags


def test_nothing_drawn_above_the_observed_share_asks_for_more_bootstraps_or_another_method():
    y = np.resize([0, 1], 100)
    scores = y[:, None] + np.where(np.arange(100) == 0, 1.5, 0.0)[:, None]
    with pytest.warns(ho.HeldoutWarning, match="no tilting of 2 bootstraps .*; method 'delong' may, or more boot"):
        bound(y, scores, n_bootstraps=2, random_state=0, confidence_level=0.3)
