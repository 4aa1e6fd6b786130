"""Cox's partial likelihood by hand, by its definition on repeated rows, and against the numbers of R."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import brentq

from heldout.kernels.reference_cox import MOST_STEPS, CoxFits, Ties

BOTH = pytest.mark.parametrize("ties", ["efron", "breslow"])

TIME = np.array([1, 1, 2, 3, 3, 3, 4, 5, 5, 6, 7, 7], dtype=float)
EVENT = np.array([1, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 1], dtype=bool)
X = np.array([1.2, -0.3, 0.5, 0.8, 1.1, -1.0, 0.1, -0.7, 0.9, -0.2, -1.5, 0.4])[:, None]
ONCE, COUNTS = np.ones(12, dtype=np.uint8), np.array([1, 0, 2, 1, 3, 1, 2, 1, 0, 1, 2, 1], dtype=np.uint8)
WEIGHTS = np.array([0.5, 1.2, 2.0, 0.3, 1.7, 0.9, 1.1, 0.4, 2.2, 0.6, 1.3, 0.8])

# control <- coxph.control(eps = 1e-14, toler.chol = 1e-15, iter.max = 50); r <- rep(1:12, COUNTS)
# fit <- coxph(Surv(time, event) ~ x, ties = ties, control = control), and on time[r], event[r], x[r]
# at1 <- coxph(Surv(time, event) ~ x, ties = ties, init = 1, control = coxph.control(iter.max = 0))
# c(fit$coef, fit$loglik[1], at1$loglik[2], fit$loglik[2]); of the last one with weights = WEIGHTS
OF_R = {
    ("efron", "once"): [1.349355234239838, -14.352424892492637, -11.468036796999360, -11.318954705602192],
    ("efron", "counts"): [2.664829279756658, -18.313238062090214, -12.400342068560546, -10.271046186896067],
    ("breslow", "once"): [1.286632961071481, -14.557219305138648, -11.829806259428004, -11.726974282244594],
    ("breslow", "counts"): [2.360260262096439, -19.024403748152839, -13.886191316495736, -12.479141099270358],
    ("breslow", "weights"): [1.037861841962511, -15.720826442222663, -13.492577203388006, -13.490550037101812],
}


@pytest.mark.parametrize(("ties", "which"), list(OF_R), ids=str)
def test_equals_coxph_of_r(ties: Ties, which: str) -> None:
    weighting = {"once": ONCE, "counts": COUNTS, "weights": WEIGHTS}[which]
    found = CoxFits(X, EVENT, TIME, ties).all(weighting[None])
    np.testing.assert_allclose(found[0, 0], OF_R[ties, which], rtol=1e-12)


def test_by_hand() -> None:
    # e^b / (2 e^b + 2), 1 / (e^b + 2) and e^b / (e^b + 1): level where u = e^b solves u^2 - u - 4 = 0.
    fits = CoxFits(np.array([[1.0], [0.0], [1.0], [0.0]]), np.arange(4) < 3, np.arange(4.0))
    best = (1 + np.sqrt(17)) / 2
    at = [np.log(u**2 / (2 * (u + 1) ** 2 * (u + 2))) for u in (1.0, np.e, best)]
    np.testing.assert_allclose(fits.all(ONCE[None, :4])[0, 0], [np.log(best), *at], rtol=1e-12)


def log_likelihood(slope: float, x: np.ndarray, event: np.ndarray, time: np.ndarray, ties: Ties) -> float:
    """Time by time, in the words of Efron (1977) and Breslow (1974)."""
    total = 0.0
    for t in np.unique(time[event]):
        tied = event & (time == t)
        at_risk, leaving = np.exp(slope * x[time >= t]).sum(), np.exp(slope * x[tied]).sum()
        shares = np.arange(tied.sum()) / tied.sum() if ties == "efron" else np.zeros(tied.sum())
        total += slope * x[tied].sum() - np.log(at_risk - shares * leaving).sum()
    return float(total)


@BOTH
@pytest.mark.parametrize("times", [2, 9, 10_000])
def test_counts_are_repeated_rows(ties: Ties, times: int) -> None:
    rng = np.random.default_rng(times)
    n = 40
    event, time = rng.random(n) < 0.6, rng.integers(0, times, n).astype(float)
    x = np.round(rng.normal(size=(n, 3)) - 0.5 * time[:, None] / times, 1)
    counts = rng.multinomial(n, np.full(n, 1 / n), size=5).astype(np.uint8)
    found = CoxFits(x, event, time, ties).all(counts)
    for lane, drawn in enumerate(counts):
        rows = np.repeat(np.arange(n), drawn)
        for j in range(3):

            def of(slope: float, rows: np.ndarray = rows, j: int = j) -> float:
                return log_likelihood(slope, x[rows, j], event[rows], time[rows], ties)

            slope = found[lane, j, 0]
            level = brentq(lambda b: of(b + 1e-6) - of(b - 1e-6), -20, 20, xtol=1e-12)
            assert slope == pytest.approx(level, abs=1e-7)
            np.testing.assert_allclose(found[lane, j, 1:], [of(0), of(1), of(slope)], rtol=1e-12)


@BOTH
def test_whole_weights_are_counts_and_others_lie_between(ties: Ties) -> None:
    fits = CoxFits(X, EVENT, TIME, ties)
    np.testing.assert_allclose(fits.all(COUNTS[None] * 1.0), fits.all(COUNTS[None]), rtol=1e-12)
    # From one count of the row to the next the likelihood moves on without a jump.
    path = np.repeat(COUNTS[None] * 1.0, 201, axis=0)
    path[:, 4] = np.linspace(2, 4, 201)
    along = fits.all(path)[:, 0, :]
    jumps = np.abs(np.diff(along, axis=0))
    assert (jumps < 4 * np.abs(along[-1] - along[0]) / 200 + 0.01).all()


def test_great_weights_take_longer_steps() -> None:
    fits = CoxFits(X, EVENT, TIME)
    found = fits.all(np.stack([ONCE * 0.9 * MOST_STEPS, ONCE * 1.1 * MOST_STEPS, ONCE * 1e9]))[:, 0, 0]
    np.testing.assert_allclose(found, found[0], rtol=1e-2)
    assert np.ptp(found) > 0


def test_lanes_do_not_depend_on_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    x, counts = rng.normal(size=(12, 6)), rng.integers(0, 3, size=(30, 12)).astype(np.uint8)
    fits = CoxFits(x, EVENT, TIME)
    together, columns = fits.all(counts), rng.integers(0, 6, 30)
    np.testing.assert_array_equal(fits.selected(counts, columns), together[np.arange(30), columns])
    np.testing.assert_array_equal(CoxFits(x[:, 2:3], EVENT, TIME).all(counts[4:5])[0, 0], together[4, 2])
    monkeypatch.setattr("heldout.kernels.reference_cox.NUMBERS_AT_ONCE", 1)
    np.testing.assert_array_equal(fits.all(counts), together)


@pytest.mark.parametrize("scale", [1e-12, 1e9])
def test_units_and_place_of_the_values(scale: float) -> None:
    once = CoxFits(X, EVENT, TIME).all(COUNTS[None])[0, 0]
    moved = CoxFits(scale * (X + 5.0), EVENT, TIME).all(COUNTS[None])[0, 0]
    np.testing.assert_allclose(moved[[0, 1, 3]] * [scale, 1, 1], once[[0, 1, 3]], rtol=1e-6)


def test_a_row_far_off_does_not_hide_the_maximum() -> None:
    x = X.copy()
    x[9, 0] = -60.0  # an event late, of the least risk: 30 times as far off as the others lie apart
    found = CoxFits(x, EVENT, TIME).all(ONCE[None])[0, 0]
    beside = [log_likelihood(found[0] + d, x[:, 0], EVENT, TIME, "efron") for d in (-1e-3, 0, 1e-3)]
    assert beside[1] == pytest.approx(found[3], abs=1e-10)
    assert beside[1] > max(beside[0], beside[2])


def test_the_search_does_not_bounce_between_two_steps_too_long() -> None:
    # A steep likelihood, and rows far off: the longest step overshoots, and so does the one back.
    rng, n, slopes = np.random.default_rng(0), 150, []
    for _ in range(100):
        x = np.r_[rng.normal(0, 0.25, n - 8), rng.normal(3, 0.2, 8)]
        fits = CoxFits(x[:, None], np.ones(n, dtype=bool), rng.exponential(1 / np.exp(x)))
        slopes.append(fits.all(np.ones((1, n), dtype=np.uint8))[0, 0, 0])
    assert np.isfinite(slopes).all()
    assert 0.8 < np.mean(slopes) < 1.2


def slope_of_likelihood(slope: float, x: np.ndarray, event: np.ndarray, time: np.ndarray) -> float:
    """The derivative of Efron's likelihood, with hazards over the greatest at risk of each time."""
    total = 0.0
    for t in np.unique(time[event]):
        at_risk, tied = time >= t, event & (time == t)
        hazards = np.exp(np.where(at_risk, slope * x - (slope * x[at_risk]).max(), -np.inf))
        for left in np.arange(tied.sum()) / tied.sum():
            shares = hazards * (1 - left * tied)
            total -= shares @ x / shares.sum()
        total += x[tied].sum()
    return float(total)


HEAVY = {
    "two clusters": lambda rng, n: np.r_[rng.normal(0, 0.25, n), rng.normal(3, 0.2, 8)],
    "Cauchy": lambda rng, n: rng.standard_t(1, n),
    "log-normal": lambda rng, n: np.exp(rng.normal(0, 3, n)),
    "few far off": lambda rng, n: np.r_[rng.normal(0, 0.01, n), rng.normal(0, 100, 4)],
    "whole numbers": lambda rng, n: np.round(rng.normal(0, 2, n)),
}


@pytest.mark.parametrize("values", HEAVY.values(), ids=HEAVY)
def test_a_fit_is_level_wherever_its_maximum_lies(values: Callable[[np.random.Generator, int], np.ndarray]) -> None:
    found = 0
    for seed in range(15):
        rng = np.random.default_rng(seed)
        x = values(rng, int(rng.integers(5, 60)))
        steep, noise = rng.choice([0.0, 1.0, -30.0]), rng.choice([0.01, 1.0])
        time = np.argsort(np.argsort(noise * rng.normal(size=len(x)) - steep * x)) // rng.choice([1.0, 3.0])
        event = rng.random(len(x)) < 0.8
        slope, _, _, at_slope = CoxFits(x[:, None], event, time).all(np.ones((1, len(x)), dtype=np.uint8))[0, 0]
        if np.isnan(slope):  # only where steeper is always better: the log-likelihood approaches what is given
            steepest = max(slope_of_likelihood(1e7, x, event, time), -slope_of_likelihood(-1e7, x, event, time))
            assert steepest == pytest.approx(0, abs=1e-6 * np.ptp(x))
            continue
        found += 1
        beside = 1e-6 * (abs(slope) + 1 / np.ptp(x))
        assert slope_of_likelihood(slope - beside, x, event, time) > 0
        assert slope_of_likelihood(slope + beside, x, event, time) < 0
        assert np.isfinite(at_slope)
    assert found > 5


@pytest.mark.parametrize(
    ("x", "counts", "approached"),
    [
        pytest.param([3, 2, 1, 0], [1, 1, 1, 1], 0, id="the greatest always next"),
        pytest.param([0, 1, 2, 3], [1, 1, 1, 1], 0, id="the least always next"),
        pytest.param([3, 2, 1, 0], [1, 2, 1, 1], -np.log(2), id="the greatest always next, one of them twice"),
        pytest.param([3, 3, 1, 1], [1, 1, 1, 1], -np.log(2 * 2), id="in groups"),
        pytest.param([1, 1, 3, 3], [1, 1, 1, 1], -np.log(2 * 2), id="in groups, the least first"),
        pytest.param([1, 1, 1, 1], [1, 1, 1, 1], -np.log(4 * 3 * 2), id="all equal"),
        pytest.param([0, 1, 2, 3], [0, 0, 0, 2], 0, id="no event"),
        pytest.param([0, 3, 0, 0], [1, 0, 1, 1], -np.log(3 * 2), id="all of weight equal"),
        pytest.param([0, 3, 1, 2], [0, 0, 0, 0], 0, id="no rows"),
    ],
)
def test_no_finite_slope(x: list[float], counts: list[int], approached: float) -> None:
    fits = CoxFits(np.array(x, dtype=float)[:, None], np.arange(4) < 3, np.arange(4.0))
    slope, _, _, at_slope = fits.all(np.array([counts], dtype=np.uint8))[0, 0]
    assert np.isnan(slope)
    assert at_slope == pytest.approx(approached, abs=1e-14)


def test_what_steep_slopes_approach_among_ties() -> None:
    time, event = np.array([1, 1, 1, 2, 2, 3, 3], dtype=float), np.array([1, 1, 0, 1, 0, 1, 0], dtype=bool)
    x = np.array([5, 5, 5, 4, 3, 3, 1], dtype=float)
    for sign in (1, -1):
        found = CoxFits(sign * x[:, None], event, time).all(ONCE[None, :7])[0, 0]
        assert np.isnan(found[0])
        assert found[3] == pytest.approx(log_likelihood(40.0, x, event, time, "efron"), abs=1e-12)


def test_what_is_no_log_hazard_is_refused() -> None:
    with pytest.raises(ValueError, match="log hazards must be finite"):
        CoxFits(np.array([[np.inf]]), np.array([True]), np.array([1.0]))
    with pytest.raises(ValueError, match="accept NaN"):
        CoxFits(np.array([[np.nan]]), np.array([True]), np.array([1.0]))
    with pytest.raises(ValueError, match="one value per row"):
        CoxFits(np.array([[1.0]]), np.array([True]), np.array([1.0, 2.0]))
