"""The zoom correction: its closed form against a search over a grid, and its limits."""

import numpy as np
import pytest

import heldout as ho
from heldout.estimates.intervals import order_statistic
from heldout.estimates.methods.locally_simultaneous import reach_above, reach_below

N = 150
RNG = np.random.default_rng(5)
TARGET = RNG.normal(size=N)


def of(predictions, **more):
    more = {"metric": "mean_squared_error", "random_state": 1} | more
    return ho.estimate(TARGET, predictions, **more)


def guesses(*spreads):
    return TARGET[:, None] + np.random.default_rng(0).normal(size=(N, len(spreads))) * np.array(spreads)


def ends_by_grid(size, scores, level, steps):
    """The accepted expectations t of the winner, tried one by one: those whose radius is at least |M_w - t|.

    Written from the description: with theta_w = t and theta_c = min((2 M_c + t)/3, t), the radius is the quantile
    of the greatest noise that exceeds half its gap to t.
    """
    winner = scores.argmax()
    accepted = []
    for t in steps:
        theta = np.minimum((2 * scores + t) / 3, t)
        theta[winner] = t
        counting = size * (size > (t - theta) / 2)
        radius = order_statistic(np.sort(counting.max(axis=1)), level)
        if radius >= abs(scores[winner] - t):
            accepted.append(t)
    return min(accepted), max(accepted)


@pytest.mark.parametrize("seed", range(3))
def test_the_ends_are_those_of_a_fine_grid(seed):
    rng = np.random.default_rng(seed)
    c = int(rng.integers(2, 12))
    scores = np.sort(rng.normal(size=c) * rng.choice([0.5, 2.0, 6.0]))[::-1]
    mixing = rng.normal(size=(c, c)) * rng.choice([0.2, 1.0])
    size = np.abs(rng.normal(size=(300, c)) @ mixing + rng.normal(size=(300, 1)))
    gaps = scores[0] - scores
    for level in (0.8, 0.95):
        below, above = reach_below(size, gaps, level), reach_above(size, gaps, level)
        most = size.max() * 1.1
        steps = np.linspace(scores[0] - most, scores[0] + most, 1501)
        low, high = ends_by_grid(size, scores, level, steps)
        assert scores[0] - below == pytest.approx(low, abs=2 * (steps[1] - steps[0]))
        assert scores[0] + above == pytest.approx(high, abs=2 * (steps[1] - steps[0]))
        assert below >= above


def test_one_configuration_has_the_plain_bootstrap_interval():
    predictions = guesses(1.0)
    alone = of(predictions, method="zoom").interval
    assert list(alone) == pytest.approx(list(of(predictions, method="locally_simultaneous").interval), rel=1e-12)


def test_bad_configurations_of_much_noise_are_why_only_plausible_ones_count():
    predictions = guesses(0.5, 9.0, 9.0, 9.0)
    published = of(predictions, method=ho.estimates.Zoom(share=0.0))
    assert published.provenance["n_plausible"] == 4
    assert published.interval.high > 10 * of(predictions, method="zoom").interval.high


def test_the_published_form_has_the_whole_level():
    predictions = guesses(1.0, 1.02, 1.04)
    found = of(predictions, method=ho.estimates.Zoom(share=0.0))
    only = of(predictions, method="zoom", confidence_level=1 - 0.05 / 0.9)  # of which .9 are left
    assert only.provenance["n_plausible"] == 3
    assert list(found.interval) == pytest.approx(list(only.interval), rel=1e-12)


def test_a_wrong_share_is_refused():
    with pytest.raises(ho.InputError, match="share must be a number of at least 0 and below 1, got 1"):
        ho.estimates.Zoom(share=1)


def test_noise_that_cannot_close_the_gap_does_not_count():
    size = np.array([[0.1, 0.3]] * 20)
    assert reach_above(size, np.array([0.0, 0.6]), 0.95) == pytest.approx(0.3)  # 3 · .3 - .6 = .3
    assert reach_above(size, np.array([0.0, 0.7]), 0.95) == pytest.approx(0.2)
    assert reach_above(size, np.array([0.0, 0.9]), 0.95) == pytest.approx(0.1)
    assert reach_below(size, np.array([0.0, 1.2]), 0.95) == pytest.approx(0.3)  # 4 · .3
    assert reach_below(size, np.array([0.0, 1.21]), 0.95) == pytest.approx(0.1)


def test_one_sided_intervals_are_the_two_sided_one_with_an_open_end():
    predictions = guesses(1.0, 1.1, 1.2)
    both = of(predictions, method="zoom").interval
    worst = of(predictions, method="zoom", alternative="greater").interval
    best = of(predictions, method="zoom", alternative="less").interval
    assert (worst.low, worst.high) == (0.0, both.high)
    assert (best.low, best.high) == (both.low, np.inf)
