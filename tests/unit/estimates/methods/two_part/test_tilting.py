"""Tilting: the solution in closed cases, its identities, and where there is none."""

from __future__ import annotations

import numpy as np
import pytest

import heldout as ho
from heldout.estimates import Tilting
from heldout.estimates.methods.two_part.tilting import tilt

WHOLE = Tilting(evaluation_share=1.0)


def bound(y, predictions, metric="roc_auc", **asked):
    settings = {"alternative": "greater", "n_bootstraps": 2000, "random_state": 0, "method": WHOLE, **asked}
    return ho.estimate(y, predictions, metric=metric, **settings)


def accuracy_of(right: int, n: int):
    y = np.resize([0, 1], n)
    return y, np.where(np.arange(n) < right, y, 1 - y)[:, None]


def test_a_tilt_that_is_known():
    """Influences -1, 0, 1 with weights e^(-τ), 1, e^τ: the share above 0 is e^τ / (1 + e^τ + e^-τ).

    It is 1/7 where e^τ = ½.
    """
    influence = np.repeat([-1.0, 0.0, 1.0], 5)
    found = tilt(influence, (influence > 0).astype(float), 1 / 7)
    assert found.tau == pytest.approx(-np.log(2), abs=1e-12)
    assert found.effective == pytest.approx(5 * 3.5**2 / (4 + 1 + 0.25), abs=1e-9)


def test_the_conservative_end_is_taken():
    influence = np.linspace(-3, 3, 101)
    exceeds = (influence > 0).astype(float)
    found = tilt(influence, exceeds, 0.05)
    weights = np.exp(found.tau * influence)
    assert weights @ exceeds / weights.sum() <= 0.05


def test_of_several_solutions_the_strongest_tilt_is_taken():
    influence = np.arange(7.0)
    exceeds = np.array([0, 1, 0, 0, 0, 0, 1.0])  # the share rises, falls and rises with τ
    found = tilt(influence, exceeds, 0.1)
    taus = np.linspace(-10, 0, 20001)
    weights = np.exp(taus[:, None] * influence)
    shares = weights @ exceeds / weights.sum(axis=1)
    assert (shares <= 0.1).any() and np.all(shares[taus < found.tau - 1e-3] <= 0.1)
    assert found.tau == pytest.approx(taus[np.argmax(shares > 0.1)], abs=1e-3)


@pytest.mark.parametrize(
    ("influence", "exceeds"),
    [([1, 1, 1], [0, 1, 0]), ([0, 1, 2], [1, 1, 1]), ([0, 1, 2], [0, 0, 0])],
    ids=["no spread", "always above", "never above"],
)
def test_no_tilt(influence, exceeds):
    assert tilt(np.array(influence, dtype=float), np.array(exceeds, dtype=float), 0.05) is None


def test_accuracy_is_close_to_the_binomial_bound():
    """The tilted rows are a binomial: its share whose mid-p value is α, but for the bootstraps' chance.

    Mid-p: P(X > 160) + P(X = 160)/2 = .05 at .7502; 20 000 bootstraps place it within .003.
    """
    from scipy.optimize import brentq
    from scipy.stats import binom

    exact = brentq(lambda p: binom.sf(160, 200, p) + binom.pmf(160, 200, p) / 2 - 0.05, 0.5, 0.8)
    found = bound(*accuracy_of(160, 200), metric="accuracy", n_bootstraps=20_000)
    assert found.interval.low == pytest.approx(exact, abs=0.003) and found.interval.high == 1


def test_the_bound_falls_as_the_level_rises():
    rng = np.random.default_rng(0)
    y = np.resize([0, 1], 150)
    scores = rng.normal(y[:, None] * 1.0)
    lows = [bound(y, scores, confidence_level=level).interval.low for level in (0.6, 0.8, 0.9, 0.95, 0.99)]
    assert np.all(np.diff(lows) < 0) and lows[0] < bound(y, scores).value


def test_monotone_transformations_of_scores_change_nothing():
    rng = np.random.default_rng(0)
    y = np.resize([0, 1], 100)
    scores = rng.normal(y[:, None] * 1.0)
    assert bound(y, scores).interval.low == bound(y, np.exp(scores) - 3).interval.low


def test_the_order_of_repeats_changes_nothing_and_equal_repeats_are_one():
    rng = np.random.default_rng(0)
    y = np.resize([0, 1], 100)
    scores = rng.normal(y[:, None, None] * 1.0, size=(100, 1, 3))
    assert bound(y, scores).interval.low == pytest.approx(bound(y, scores[:, :, ::-1]).interval.low, abs=1e-9)
    once, thrice = bound(y, scores[:, :, :1]), bound(y, np.repeat(scores[:, :, :1], 3, axis=2))
    assert once.interval.low == pytest.approx(thrice.interval.low, abs=1e-9)
    assert bound(y, scores).interval.low > once.interval.low - 0.05  # three predictions a row say no less


def test_the_seed_decides():
    y, labels = accuracy_of(80, 100)
    same = [bound(y, labels, metric="accuracy", random_state=seed).interval.low for seed in (1, 1, 2)]
    assert same[0] == same[1] != same[2]


def test_few_effective_bootstraps_are_flagged():
    y, labels = accuracy_of(80, 100)
    few = bound(y, labels, metric="accuracy", n_bootstraps=100, confidence_level=0.99)
    assert "rests on about" in few.flags["few_effective_bootstraps"]
    assert "few_effective_bootstraps" not in bound(y, labels, metric="accuracy").flags


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc"])
def test_perfect_predictions_have_no_bound_and_are_told_of_another_method(metric):
    y = np.resize([0, 1], 60)
    other = {"accuracy": "'wilson' has a bound there", "roc_auc": "'delong' has no bound there either"}[metric]
    with pytest.warns(ho.HeldoutWarning, match=f"No bound: no tilting changes an .* of 1 .*; method {other}"):
        found = bound(y, y[:, None] if metric == "accuracy" else y[:, None] * 2.0 - 0.5, metric=metric)
    assert found.value == 1 and np.isnan(found.interval.low)


def test_nothing_drawn_above_the_observed_share_asks_for_more_bootstraps_or_another_method():
    y, labels = accuracy_of(99, 100)
    with pytest.warns(ho.HeldoutWarning, match="no tilting of 3 bootstraps .*; method 'wilson' may, or more boot"):
        bound(y, labels, metric="accuracy", n_bootstraps=3, confidence_level=0.3)


def test_the_loss_is_mirrored():
    y, labels = accuracy_of(80, 100)
    accuracy, loss = (bound(y, labels, metric=metric) for metric in ("accuracy", "zero_one_loss"))
    assert loss.interval.low == 0
    assert loss.interval.high == pytest.approx(1 - accuracy.interval.low, abs=1e-12)
