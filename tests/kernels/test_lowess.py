"""The smoother equals R's ``lowess`` on rows repeated by their counts, and its definition under real weights."""

from __future__ import annotations

import numpy as np
import pytest

from heldout.kernels.reference_lowess import Lowess, lowess

X = np.array([0.02, 0.05, 0.05, 0.11, 0.2, 0.23, 0.3, 0.37, 0.37, 0.45, 0.52, 0.6, 0.61, 0.75, 0.8, 0.93])
Y = np.array([0, 0, 1, 0, 0, 1, 0, 1, 0, 1, 1, 0, 1, 1, 1, 1.0])
COUNTS = np.array([1, 0, 2, 1, 3, 0, 1, 1, 1, 2, 1, 0, 1, 0, 1, 1], dtype=np.uint8)

# In R 4.2: lowess(x, y, iter=0, delta=0)$y, and of rep(x, counts), rep(y, counts) with f=2/3 and f=.4.
PLAIN = [
    0.24673824417876367, 0.26141066308931121, 0.26141066308931121, 0.29270175881603960, 0.32844552614428896,
    0.32712917855348156, 0.43957869359995427, 0.58638198201384684, 0.58638198201384684, 0.62151220645547345,
    0.68257264738565882, 0.77339965146702483, 0.78081601326282035, 0.88205195618485865, 0.92236454617955044,
    1.03988212645701239,
]  # fmt: skip
OF_COPIES = [
    0.620788953795432863, 0.520378381848104477, 0.331147667797061063, 0.026903447100416231, 0.275082605698981297,
    0.536612374282279814, 0.806786543952186963, 0.956539226662640796, 0.956373133782409734, 1.012902371916594157,
    1.053596659367430632,
]  # fmt: skip
OF_COPIES_NEAR = [
    5.9667090033953996e-01, 5.4161291308714377e-01, 0, 0, 1.6072208742585479e-16, 4.8443370627717997e-01,
    8.9103594394025887e-01, 1, 1, 1, 1,
]  # fmt: skip


def test_equals_lowess_of_r() -> None:
    np.testing.assert_allclose(lowess(X, Y, X)[0], PLAIN, rtol=0, atol=1e-13)


@pytest.mark.parametrize(("span", "expected"), [(2 / 3, OF_COPIES), (0.4, OF_COPIES_NEAR)], ids=["2/3", ".4"])
def test_counts_are_copies(span: float, expected: list[float]) -> None:
    at = np.unique(X[COUNTS > 0])
    found = lowess(X, Y, at, COUNTS[None], span)[0]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)
    rows = np.repeat(np.arange(16), COUNTS)
    np.testing.assert_allclose(found, lowess(X[rows], Y[rows], at, span=span)[0], rtol=0, atol=1e-14)
    np.testing.assert_array_equal(found, lowess(X, Y, at, COUNTS[None].astype(np.float64), span)[0])


def by_definition(x: np.ndarray, y: np.ndarray, w: np.ndarray, a: float, span: float) -> float:
    """Weighted least squares of y on (1, x - a) by NumPy, of the rows within the neighbourhood."""
    near = np.argsort(np.abs(x - a), kind="stable")
    until = np.cumsum(w[near])
    h = np.abs(x - a)[near[np.argmax(until >= span * w.sum() * (1 - 1e-9))]]
    u = np.abs(x - a) / h
    root = np.sqrt(w * np.where(u <= 0.001, 1, np.where(u <= 0.999, (1 - np.minimum(u, 1) ** 3) ** 3, 0)))
    design = np.stack([np.ones(len(x)), x - a], axis=1) * root[:, None]
    return float(np.linalg.lstsq(design, y * root, rcond=None)[0][0])


@pytest.mark.parametrize("span", [0.3, 2 / 3, 1.0])
def test_real_weights(span: float) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.random(60), rng.normal(size=60)
    weights = rng.gamma(1.0, size=(3, 60)) * (rng.random((3, 60)) < 0.7)
    at = np.linspace(0.05, 0.95, 7)
    found = lowess(x, y, at, weights, span)
    for lane, w in enumerate(weights):
        expected = [by_definition(x[w > 0], y[w > 0], w[w > 0], a, span) for a in at]
        np.testing.assert_allclose(found[lane], expected, rtol=0, atol=1e-11)
    np.testing.assert_allclose(lowess(x, y, at, 1e-3 * weights, span), found, rtol=0, atol=1e-12)


def test_a_weighting_may_have_its_own_response() -> None:
    other = 1 - Y
    both = np.stack([COUNTS, COUNTS])
    found = lowess(X, np.stack([Y, other]), X, both)
    np.testing.assert_array_equal(found[0], lowess(X, Y, X, COUNTS[None])[0])
    np.testing.assert_array_equal(found[1], lowess(X, other, X, COUNTS[None])[0])


def test_a_line_is_kept_and_goes_on_beyond_the_rows() -> None:
    x = np.sort(np.random.default_rng(1).random(40))
    at = np.array([-0.2, 0.1, 0.5, 1.3])
    np.testing.assert_allclose(lowess(x, 3 - 2 * x, at)[0], 3 - 2 * at, rtol=0, atol=1e-12)


def test_degenerate_rows() -> None:
    at = np.array([0.0, 0.5, 2.0])
    same = lowess(np.full(4, 0.5), np.array([0, 0, 0, 1.0]), at)
    np.testing.assert_allclose(same, np.full((1, 3), 0.25))
    assert np.isnan(lowess(X, Y, at, np.zeros((1, 16), dtype=np.uint8))).all()
    one = np.zeros((1, 16), dtype=np.uint8)
    one[0, 2] = 1
    np.testing.assert_array_equal(lowess(X, Y, at, one), np.ones((1, 3)))


def test_rows_however_far_do_not_overflow() -> None:
    x = np.array([0.0, 1.0, 2.0, 3.0, 1e300])
    near, far = lowess(x, np.array([1.0, 2.0, 3.0, 4.0, 9.0]), np.array([1.0, 1e300]), span=0.5)[0]
    assert near == pytest.approx(2.0)
    assert np.isfinite(far)


def test_between_two_groups_neighbours_as_far_as_the_furthest_are_averaged() -> None:
    x, y = np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 0.0, 0.0, 1.0])
    np.testing.assert_allclose(lowess(x, y, np.array([0.5]))[0], [0.25])


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_what_is_no_number_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match=r"finite|NaN"):
        lowess(X, Y, np.array([wrong]))
    with pytest.raises(ValueError, match="span must be above 0, got 0"):
        lowess(X, Y, X, span=0)


# In R 4.2: n <- 300; i <- 0:(n - 1); x <- (i * 0.6180339887498949) %% 1; y <- as.numeric((i * 0.7548776662466927)
# %% 1 < x^2); f <- lowess(x, y, iter=0); f$y[c(1, 2, 50, 111, 150, 201, 250, 300)]
KNOTTED = [
    -0.04286691908244409, -0.041927946598822534, 0.039787011594215986, 0.15113289967523061, 0.25963217990964949,
    0.46157609699231505, 0.70960194688216716, 0.96141080441970839,
]  # fmt: skip


def test_knots_are_those_of_r() -> None:
    i = np.arange(300)
    x, y = (i * 0.6180339887498949) % 1, ((i * 0.7548776662466927) % 1 < ((i * 0.6180339887498949) % 1) ** 2) * 1.0
    there, found = Lowess(x, y).at_rows(np.ones(300))
    assert there.all()
    np.testing.assert_allclose(
        found[np.array([1, 2, 50, 111, 150, 201, 250, 300]) - 1], KNOTTED, rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(found, lowess(x, y, np.sort(x))[0], rtol=0, atol=2e-3)
    assert (found != lowess(x, y, np.sort(x))[0]).any()
