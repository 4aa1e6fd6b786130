"""Shrunken centres: numbers worked out by hand, exact identities, and sizes near the ends of float64."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from heldout._types import Floats
from heldout.estimates.shrunken_centres import MOST_NOISE, Centres, ScoreRange, unit_of
from heldout.estimates.shrunken_centres import shrunken as overwriting
from heldout.metrics import metric_named

ENDLESS = ScoreRange(-np.inf, np.inf)
ACCURACY = ScoreRange(0.0, 1.0)
LOSS = ScoreRange(-np.inf, 0.0)


def rng():
    return np.random.default_rng(0)


def shrunken(observed: Floats, noise: Floats, possible: ScoreRange, rng: np.random.Generator) -> Centres:
    return overwriting(observed, noise.copy(), possible, rng)


# Four candidates: the median of .5, .6, .7, .8 is .65, so the last two compete.
OBSERVED = np.array([0.5, 0.6, 0.7, 0.8])
NOISE = np.array([[0.01, -0.02, 0.03, -0.01], [-0.01, 0.02, -0.03, 0.01]])
# Noise of .7 and .8 less the mean of each row: (.02, -.02), (-.02, .02). The mean square is .0004, times k/(k - 1)
# it is v = .0008. Their spread about .65 is t = (.05² + .15²) / (2 - .5) = .025 / 1.5.
FACTOR = math.sqrt(1 - 0.0008 * 1.5 / 0.025)  # = √.952 = .97570


def test_four_candidates_by_hand():
    found = shrunken(OBSERVED, NOISE, ENDLESS, rng())
    assert found.competes.tolist() == [False, False, True, True]
    assert found.factor == pytest.approx(FACTOR, abs=1e-15) == pytest.approx(0.9757049, abs=1e-7)
    # .65 + .97570 · .05 and .65 + .97570 · .15; the others stay
    assert found.values == pytest.approx([0.5, 0.6, 0.6987852, 0.7963557], abs=1e-7)
    np.testing.assert_array_equal(found.noise, NOISE)  # where nothing ends the range, noise is the same everywhere


def test_noise_of_an_accuracy_is_greater_nearer_to_a_half():
    found = shrunken(OBSERVED, NOISE, ACCURACY, rng())
    # √(.6987852 · .3012148 / (.7 · .3)) = √1.0023068 = 1.0011527 and √(.7963557 · .2036443 / .16) = 1.0067686
    assert found.noise[0] == pytest.approx([0.01, -0.02, 0.03 * 1.0011527, -0.01 * 1.0067686], abs=1e-8)


def test_three_candidates_all_compete():
    observed, noise = np.array([0.1, 0.4, 0.7]), np.array([[0.03, -0.01, 0.01], [-0.03, 0.01, -0.01]])
    found = shrunken(observed, noise, ENDLESS, rng())
    # less the mean .01: (.02, -.02, 0) squared is (.0004, .0004, 0); mean .0008/3, times 3/2 = .0004
    # t = (.3² + 0 + .3²) / (3 - 1) = .09
    assert found.factor == pytest.approx(math.sqrt(1 - 0.0004 / 0.09), abs=1e-15)
    assert found.values == pytest.approx([0.4 - 0.3 * found.factor, 0.4, 0.4 + 0.3 * found.factor])
    assert found.competes.all()


def test_one_candidate_stays_as_it_is():
    noise = np.array([[0.5], [-0.5]])
    found = shrunken(np.array([0.9]), noise, ACCURACY, rng())
    assert found.values.tolist() == [0.9] and found.factor == 1.0
    np.testing.assert_array_equal(found.noise, noise)


NORMAL = np.random.default_rng(0).normal(size=(50, 6))


@pytest.mark.parametrize(
    ("observed", "noise", "possible", "factor", "values"),
    [
        (OBSERVED, np.zeros((5, 4)), ENDLESS, 1, OBSERVED),
        (OBSERVED, NORMAL[:, :1] * np.ones(4), ENDLESS, 1, OBSERVED),
        (np.full(6, 0.7), NORMAL, ACCURACY, 0, [0.7] * 6),
        (OBSERVED, 10 * NOISE, ENDLESS, 0, [0.5, 0.6, 0.65, 0.65]),
        (np.ones(5), np.zeros((10, 5)), ACCURACY, None, [1.0] * 5),
    ],
    ids=["no noise", "noise in common", "all alike", "more noise than spread", "all silent"],
)
def test_centres_at_the_ends(observed, noise, possible, factor, values):
    before = observed.copy()
    found = shrunken(observed, noise - noise.mean(axis=0), possible, rng())
    assert factor is None or found.factor == pytest.approx(factor, abs=1e-12)
    assert found.values == pytest.approx(values, abs=1e-12)
    assert noise.any() or not found.noise.any()  # none is made up
    np.testing.assert_array_equal(observed, before)


def test_a_silent_candidate_has_the_noise_of_the_others():
    """All rows right: no noise is seen there, but at its centre below 1 there is some."""
    observed = np.array([0.5, 0.6, 0.8, 1.0])
    noise = np.random.default_rng(1).normal(scale=0.1, size=(20_000, 4))
    noise[:, 3] = 0
    found = shrunken(observed, noise - noise.mean(axis=0), ACCURACY, rng())
    assert 0.9 < found.values[3] < 1
    # Mean squares .01 at variances .25, .24 and .16: .01/.21667 for each unit of variance, there c(1 - c).
    expected = math.sqrt(0.03 / 0.65 * found.values[3] * (1 - found.values[3]))
    assert found.noise[:, 3].std() == pytest.approx(expected, rel=0.03)  # six standard errors
    assert found.noise[:, 3].mean() == pytest.approx(0, abs=1e-15)
    assert abs(np.corrcoef(found.noise[:, 2], found.noise[:, 3])[0, 1]) < 0.05


def test_noise_that_is_cut_off_keeps_its_mean():
    """A rare enormous loss is cut off, which must not make the candidate better in all other bootstraps."""
    noise = np.random.default_rng(2).normal(size=(1000, 5))
    noise[0, 0] = -10_000.0
    noise -= noise.mean(axis=0)
    found = shrunken(np.arange(5.0), noise, ENDLESS, rng())
    assert -1.3 * MOST_NOISE < found.noise.min() < -MOST_NOISE and found.noise.max() < 5
    np.testing.assert_allclose(found.noise.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_array_equal(found.noise[:, 1:], noise[:, 1:])


scores = arrays(np.float64, 6, elements=st.floats(-2, 2, width=16))
noises = arrays(np.float64, (8, 6), elements=st.floats(-1, 1, width=16))


@given(scores, noises, st.sampled_from([2.0**-1000, 2.0**-600, 0.25, 8.0, 2.0**600, 2.0**1000]))
def test_a_unit_changes_nothing(observed, noise, unit):
    """Also where squares overflow or vanish. Powers of two change no digit."""
    plain = shrunken(observed, noise, ENDLESS, rng())
    scaled = shrunken(observed * unit, noise * unit, ENDLESS, rng())
    assert scaled.factor == plain.factor
    np.testing.assert_array_equal(scaled.values, plain.values * unit)
    np.testing.assert_array_equal(scaled.noise, plain.noise * unit)


@given(scores, noises, st.floats(-5, 5))
def test_a_shift_is_a_shift(observed, noise, shift):
    plain = shrunken(observed, noise, ENDLESS, rng())
    shifted = shrunken(observed + shift, noise, ENDLESS, rng())
    if np.array_equal(plain.competes, shifted.competes):  # rounding may part equal scores
        # Rounding of scores of 5 is 1e-15; a factor near 0 is the root of a small difference.
        np.testing.assert_allclose(shifted.values, plain.values + shift, atol=1e-6)


@given(scores, noises)
def test_centres_keep_the_order_and_lie_between_the_median_and_the_scores(observed, noise):
    found = shrunken(observed, noise, ENDLESS, rng())
    assert 0 <= found.factor <= 1
    order = np.argsort(observed, kind="stable")
    assert (np.diff(found.values[order]) >= -1e-12).all()
    assert (found.values <= observed + 1e-12).all()
    assert (found.values[found.competes] >= np.median(observed) - 1e-12).all()


def test_units():
    assert unit_of(np.array([1e-99, 0.0]), np.array([-1e99])) == 1.0
    assert unit_of(np.array([1e-120])) < 1e-119
    assert unit_of(np.array([0.0, -1e300])) > 1e300


# --- ScoreRange


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        ("accuracy", (0.0, 1.0)),
        ("log_loss", (-np.inf, 0.0)),
        ("r2", (-np.inf, 1.0)),
        ("zero_one_loss", (-1.0, 0.0)),
        ("matthews_corrcoef", (-1.0, 1.0)),
    ],
)
def test_the_range_of_a_loss_is_turned_round(name, ends):
    found = ScoreRange.of(metric_named(name))
    assert (found.worst, found.best) == ends


def test_reach_is_wilsons_interval_and_at_least_walds():
    # 45 of 50 right, z = 2: Wilson's centre is (.9 + 4/100) / (1 + 4/50) = .94/1.08 = .870370 and his half width
    # 2/1.08 · √(.0018 + 4/10 000) = 1.851852 · .0469042 = .086859, so [.783511, .957230].
    # Wald's is .9 ± 2 · √.0018 = .9 ± .084853, so [.815147, .984853].
    low, high = ACCURACY.reach(0.9, 2 * math.sqrt(0.9 * 0.1 / 50))
    assert low == pytest.approx(0.783511, abs=1e-6)
    assert high == pytest.approx(0.984853, abs=1e-6)
    # The mirror image
    low, high = ACCURACY.reach(0.1, 2 * math.sqrt(0.9 * 0.1 / 50))
    assert (low, high) == (pytest.approx(1 - 0.984853, abs=1e-6), pytest.approx(1 - 0.783511, abs=1e-6))


def test_reach_of_a_loss_by_hand():
    # Loss 1, width .5: (1 - y)² = .25 y, so y = (2.25 ± √(2.25² - 4)) / 2 = 1.640388 and .609612.
    low, high = LOSS.reach(-1.0, 0.5)
    assert low == pytest.approx(-1.640388, abs=1e-6)
    assert high == -0.5  # farther than -.609612
    # The mirror image: a score that has a worst value and no best one
    low, high = ScoreRange(0.0, np.inf).reach(1.0, 0.5)
    assert (low, high) == (0.5, pytest.approx(1.640388, abs=1e-6))
    # r2, whose best is 1: the same distances from there
    low, high = ScoreRange(-np.inf, 1.0).reach(0.0, 0.5)
    assert (low, high) == (pytest.approx(-0.640388, abs=1e-6), 0.5)


def test_reach_is_as_far_as_noise_at_the_centre_allows():
    # c = .01/.09 = .1111; (1 + c) x² - (1.98 + c) x + .9801 = 0: x = (2.091111 - √(2.091111² - 4.356)) / 2.222222,
    # the root √(4.372746 - 4.356) = .129404: x = .882768; the width reaches .89
    low, _ = ACCURACY.reach(0.99, 0.1, 0.9)
    assert low == pytest.approx(0.882768, abs=1e-5)
    assert ACCURACY.reach(0.9, 0.1, 0.99) == ACCURACY.reach(0.9, 0.1)  # the score varies more than that centre
    assert ACCURACY.reach(0.9, 0.1, math.nan) == ACCURACY.reach(0.9, 0.1)


def test_reach_without_ends_is_the_width():
    assert ENDLESS.reach(3.0, 2.0) == (1.0, 5.0)


@pytest.mark.parametrize("possible", [ACCURACY, LOSS, ENDLESS, ScoreRange(-np.inf, 1.0), ScoreRange(0.0, np.inf)])
@given(share=st.floats(0, 1), width=st.floats(0, 10))
@example(share=1e-308, width=1.0)
def test_reach_holds_the_score_and_ends_in_the_range(possible, share, width):
    score = {ACCURACY: share, LOSS: -share}.get(possible, share)
    low, high = possible.reach(score, width)
    assert possible.worst <= low <= score <= high <= possible.best
    assert low <= max(score - width, possible.worst) and high >= min(score + width, possible.best)


@given(st.floats(0.001, 1000), st.floats(0.001, 1000), st.sampled_from([2.0**-600, 2.0**-3, 2.0**600]))
def test_reach_of_a_loss_has_its_unit(loss, width, unit):
    plain, scaled = LOSS.reach(-loss, width), LOSS.reach(-loss * unit, width * unit)
    np.testing.assert_allclose(scaled, np.multiply(plain, unit), rtol=1e-12)


def test_a_unit_is_a_number_up_to_the_end_of_float64() -> None:
    greatest = np.finfo(float).max
    assert np.isfinite(unit_of(np.array([greatest]))) and np.isfinite(
        (greatest / unit_of(np.array([greatest]))) ** 2
    )
