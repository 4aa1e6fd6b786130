"""The smoother equals R's ``lowess`` on rows repeated by their counts, and its definition under real weights."""

import numpy as np
import pytest

from heldout.kernels import lowess
from heldout.kernels.lowess import Lowess

X = np.array([0.02, 0.05, 0.05, 0.11, 0.2, 0.23, 0.3, 0.37, 0.37, 0.45, 0.52, 0.6, 0.61, 0.75, 0.8, 0.93])
Y = np.array([0, 0, 1, 0, 0, 1, 0, 1, 0, 1, 1, 0, 1, 1, 1, 1.0])
COUNTS = np.array([1, 0, 2, 1, 3, 0, 1, 1, 1, 2, 1, 0, 1, 0, 1, 1], dtype=np.uint8)

# In R 4.2: lowess(x, y, iter=0, delta=0)$y, and of rep(x, counts), rep(y, counts).
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


def smooth(x: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """At the rows with weight, by ascending x."""
    smoother = Lowess(x, y)
    return smoother.at_rows((np.ones(len(x)) if weights is None else weights)[smoother.order])[1]


@pytest.fixture
def without_interpolation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lowess, "DELTA", 0.0)


@pytest.mark.usefixtures("without_interpolation")
def test_equals_lowess_of_r() -> None:
    np.testing.assert_allclose(smooth(X, Y), PLAIN, rtol=0, atol=1e-13)


@pytest.mark.usefixtures("without_interpolation")
def test_counts_are_copies() -> None:
    found = smooth(X, Y, COUNTS)
    rows = np.repeat(np.arange(16), COUNTS)
    _, first = np.unique(X[COUNTS > 0], return_index=True)
    np.testing.assert_allclose(found[first], OF_COPIES, rtol=0, atol=1e-13)
    _, first_copy = np.unique(X[rows], return_index=True)
    np.testing.assert_allclose(found[first], smooth(X[rows], Y[rows])[first_copy], rtol=0, atol=1e-14)
    np.testing.assert_array_equal(found, smooth(X, Y, COUNTS.astype(np.float64)))


def by_definition(x: np.ndarray, y: np.ndarray, w: np.ndarray, a: float) -> float:
    """Weighted least squares of y on (1, x - a) by NumPy, of the rows within the neighbourhood."""
    near = np.argsort(np.abs(x - a), kind="stable")
    until = np.cumsum(w[near])
    h = np.abs(x - a)[near[np.argmax(until >= 2 / 3 * w.sum() * (1 - 1e-9))]]
    u = np.abs(x - a) / h
    root = np.sqrt(w * np.where(u <= 0.001, 1, np.where(u <= 0.999, (1 - np.minimum(u, 1) ** 3) ** 3, 0)))
    design = np.stack([np.ones(len(x)), x - a], axis=1) * root[:, None]
    return float(np.linalg.lstsq(design, y * root, rcond=None)[0][0])


@pytest.mark.usefixtures("without_interpolation")
def test_real_weights() -> None:
    rng = np.random.default_rng(0)
    x, y = np.sort(rng.random(60)), rng.normal(size=60)
    for w in rng.gamma(1.0, size=(3, 60)) * (rng.random((3, 60)) < 0.7):
        there = w > 0
        expected = [by_definition(x[there], y[there], w[there], a) for a in x[there]]
        np.testing.assert_allclose(smooth(x, y, w), expected, rtol=0, atol=1e-11)
        np.testing.assert_allclose(smooth(x, y, 1e-3 * w), expected, rtol=0, atol=1e-11)


def test_a_line_is_kept() -> None:
    x = np.sort(np.random.default_rng(1).random(40))
    np.testing.assert_allclose(smooth(x, 3 - 2 * x), 3 - 2 * x, rtol=0, atol=1e-12)


def test_degenerate_rows() -> None:
    np.testing.assert_allclose(smooth(np.full(4, 0.5), np.array([0, 0, 0, 1.0])), np.full(4, 0.25))
    assert smooth(X, Y, np.zeros(16)).size == 0
    one = np.zeros(16)
    one[2] = 1
    np.testing.assert_array_equal(smooth(X, Y, one), [1.0])


def test_rows_however_far_do_not_overflow() -> None:
    near = smooth(np.array([0.0, 1.0, 2.0, 3.0, 1e300]), np.array([1.0, 2.0, 3.0, 4.0, 9.0]))
    assert np.isfinite(near).all()


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_what_is_no_number_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match=r"finite|NaN"):
        Lowess(np.array([0.0, wrong]), np.zeros(2))


# In R 4.2: n <- 300; i <- 0:(n - 1); x <- (i * 0.6180339887498949) %% 1; y <- as.numeric((i * 0.7548776662466927)
# %% 1 < x^2); f <- lowess(x, y, iter=0); f$y[c(1, 2, 50, 111, 150, 201, 250, 300)]
KNOTTED = [
    -0.04286691908244409, -0.041927946598822534, 0.039787011594215986, 0.15113289967523061, 0.25963217990964949,
    0.46157609699231505, 0.70960194688216716, 0.96141080441970839,
]  # fmt: skip


def test_knots_are_those_of_r(monkeypatch: pytest.MonkeyPatch) -> None:
    i = np.arange(300)
    x, y = (i * 0.6180339887498949) % 1, ((i * 0.7548776662466927) % 1 < ((i * 0.6180339887498949) % 1) ** 2) * 1.0
    there, found = Lowess(x, y).at_rows(np.ones(300))
    assert there.all()
    np.testing.assert_allclose(
        found[np.array([1, 2, 50, 111, 150, 201, 250, 300]) - 1], KNOTTED, rtol=0, atol=1e-12
    )
    monkeypatch.setattr(lowess, "DELTA", 0.0)
    everywhere = smooth(x, y)
    np.testing.assert_allclose(found, everywhere, rtol=0, atol=2e-3)
    assert (found != everywhere).any()
