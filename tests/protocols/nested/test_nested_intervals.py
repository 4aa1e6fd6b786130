"""The two intervals of nested cross-validation, against sums done by hand and other people's formulas."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from heldout.estimates.intervals import Spread, interval_around
from heldout.estimates.methods.corrected_t import nadeau_bengio
from heldout.metrics import metric_named
from heldout.protocols.nested.intervals import bates_hastie_tibshirani

ACCURACY, ERROR, MSE = (metric_named(name) for name in ("accuracy", "zero_one_loss", "mean_squared_error"))


@pytest.mark.parametrize(
    "scores, said",
    [
        ([0.8, np.nan], "1 outer fold with a score shows no spread"),
        ([np.nan], "0 outer folds with a score"),
        ([0.8, 0.8, 0.8], "all outer folds have the same score"),
    ],
    ids=["one", "none", "equal"],
)
def test_no_spread_no_standard_error(scores, said):
    spread = nadeau_bengio(np.array(scores), 0.5)
    assert math.isnan(spread.standard_error) and said in spread.reason
    interval = interval_around(spread, ACCURACY, 0.95, "greater")
    assert math.isnan(interval.low) and math.isnan(interval.high)


def test_one_sided_bounds_leave_the_better_side_open_and_none_leaves_the_range():
    spread = Spread(0.9, 0.1)
    z = norm.ppf(0.95)
    assert tuple(interval_around(spread, ACCURACY, 0.95, "greater")) == pytest.approx((0.9 - 0.1 * z, 1.0))
    assert tuple(interval_around(spread, ACCURACY, 0.95, "less")) == pytest.approx((0.0, 1.0))
    assert tuple(interval_around(spread, ERROR, 0.95, "less")) == pytest.approx((0.9 - 0.1 * z, 1.0))
    assert tuple(interval_around(Spread(0.1, 0.1), MSE, 0.95, "greater")) == pytest.approx((0.0, 0.1 + 0.1 * z))
    assert tuple(interval_around(Spread(0.1, 0.1), MSE, 0.95, "less")) == pytest.approx((0.0, math.inf))


def transcribed(e_out, e_in):
    """Algorithm 1 and section 4.3 of Bates, Hastie & Tibshirani, in their order and names, for equal folds."""
    n_repeats, k = len(e_out), len(e_out[0])
    n = sum(len(fold) for fold in e_out[0])
    es, a_list, b_list, outer = [], [], [], []
    for r in range(n_repeats):
        for f in range(k):
            es.extend(e_in[r][f])
            outer.extend(e_out[r][f])
            a_list.append((np.mean(e_in[r][f]) - np.mean(e_out[r][f])) ** 2)
            b_list.append(np.var(e_out[r][f], ddof=1) / len(e_out[r][f]))
    mse = np.mean(a_list) - np.mean(b_list)
    err_ncv, err_cv = np.mean(es), np.mean(outer)
    naive = np.std(es, ddof=1) / math.sqrt(n * (k - 1) / k)
    root = min(max(math.sqrt(max(mse, 0)), naive), naive * math.sqrt(k))  # restricted to [SE, √K SE]
    bias = (1 + ((k - 2) / k) ** 1.5) * (err_ncv - err_cv)
    return err_ncv - bias, math.sqrt((k - 1) / k) * root


def losses(seed, repeats=2, k=5, size=6, shift=0.0):
    rng = np.random.default_rng(seed)
    outer = [[rng.normal(shift, 1, size) for _ in range(k)] for _ in range(repeats)]
    inner = [[rng.normal(0, 1, size * (k - 1)) for _ in range(k)] for _ in range(repeats)]
    return outer, inner


@pytest.mark.parametrize("shift", [0.0, 0.8, 30.0], ids=["at the least", "between", "at the most"])
def test_bates_is_as_transcribed(shift):
    outer, inner = losses(3, shift=shift)
    found = bates_hastie_tibshirani(outer, inner)

    center, standard_error = transcribed(outer, inner)
    assert found.spread.center == pytest.approx(center, abs=1e-12)
    assert found.spread.standard_error == pytest.approx(standard_error, abs=1e-12)
    assert math.isinf(found.spread.degrees_of_freedom)
    assert 1 <= found.inflation <= math.sqrt(5)


def test_bates_by_hand():
    """K = 2 folds of two rows, one repeat: e_out (0, 1), (1, 1); e_in (0, 0), (1, 0)."""
    found = bates_hastie_tibshirani(
        [[np.array([0.0, 1.0]), np.array([1.0, 1.0])]], [[np.array([0.0, 0.0]), np.array([1.0, 0.0])]]
    )
    # a = (0 - 1/2)², (1/2 - 1)²; b = (1/2)/2, 0; mean a - b = (1/4 + 1/4 - 1/4)/2 = 1/8.
    assert found.mean_square == pytest.approx(1 / 8)
    # s² of (0, 0, 1, 0) is 1/4; N(K-1)/K = 2: √(1/8)/(.5/√2) = 1.
    assert found.unlimited_inflation == pytest.approx(1.0)
    assert found.spread.standard_error == pytest.approx(0.5 / 2)
    # (K-2)/K = 0: the bias is 1/4 - 3/4, and taking it off leaves the outer mean.
    assert (found.inner, found.outer, found.bias) == pytest.approx((0.25, 0.75, -0.5))
    assert found.spread.center == pytest.approx(0.75)


@given(seed=st.integers(0, 1000), scale=st.floats(0.1, 10), move=st.floats(-5, 5))
def test_bates_follows_the_units_and_the_sign(seed, scale, move):
    outer, inner = losses(seed)
    found = bates_hastie_tibshirani(outer, inner)
    turned = bates_hastie_tibshirani(
        [[move - scale * fold for fold in repeat] for repeat in outer],
        [[move - scale * fold for fold in repeat] for repeat in inner],
    )
    assert turned.spread.center == pytest.approx(move - scale * found.spread.center, abs=1e-8)
    assert turned.spread.standard_error == pytest.approx(scale * found.spread.standard_error, rel=1e-8)
    assert turned.inflation == pytest.approx(found.inflation, rel=1e-6)


@pytest.mark.parametrize(
    "outer, inner, said",
    [
        ([[np.array([1.0]), np.array([0.0])]], [[np.array([1.0]), np.array([0.0])]], "one row has no variance"),
        ([[np.ones(2), np.ones(2)]], [[np.ones(2), np.ones(2)]], "the same value"),
        ([[np.ones(2), np.ones(2)]], [[np.array([np.inf, 0]), np.ones(2)]], "no finite value"),
    ],
    ids=["one row", "equal", "infinite"],
)
def test_bates_without_a_spread_has_a_reason(outer, inner, said):
    found = bates_hastie_tibshirani(outer, inner)
    assert math.isnan(found.spread.standard_error) and said in found.spread.reason


def test_a_centre_beyond_the_range_has_an_interval_all_the_same():
    interval = interval_around(Spread(1.02, 0.004), ACCURACY, 0.95, "two-sided")
    assert (interval.low, interval.high) == pytest.approx((1 - norm.ppf(0.975) * 0.004, 1.0))
