"""The kernels of single metric families, by hand and where there is nothing to compute."""

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from heldout.kernels import reference, reference_curves

ONCE = np.ones((1, 4), dtype=np.uint8)


@pytest.fixture
def curves(kernels: ModuleType) -> ModuleType:
    return reference_curves if kernels is reference else kernels


@pytest.fixture
def calibration(kernels: ModuleType) -> ModuleType:
    return reference_curves if kernels is reference else kernels


Y = np.array([0, 0, 1, 1], dtype=bool)
SCORES = np.array([[0.1], [0.4], [0.35], [0.8]])


def test_the_start_of_a_curve_by_hand(curves: ModuleType) -> None:
    counts = np.array([[1, 1, 1, 1], [2, 2, 1, 3]], dtype=np.uint8)
    # From the top: a positive row, a negative one, a positive one, a negative one.
    for share, found in ((0.0, [0.5, 0.75]), (0.5, [1.0, 1.0]), (0.49, [0.5, 0.75])):
        np.testing.assert_array_equal(curves.SensitivityWithin(SCORES, Y, share).all(counts)[:, 0], found)
    areas = curves.AreaWithin(SCORES, Y, 0.75).all(counts)[:, 0]
    # Half a unit at the height of the first positive row, a quarter at the height of both.
    np.testing.assert_allclose(areas, [0.5 * 0.5 + 0.25 * 1.0, 0.5 * 0.75 + 0.25 * 1.0], rtol=1e-15)


def test_a_curve_rises_linearly_where_rows_are_tied(curves: ModuleType) -> None:
    tied = np.full((4, 1), 0.7)
    areas = curves.AreaWithin(tied, Y, 0.5).all(np.array([[1, 1, 1, 1], [5, 1, 2, 0]], dtype=np.uint8))
    np.testing.assert_allclose(areas[:, 0], [0.125, 0.125], rtol=1e-15)
    assert curves.SensitivityWithin(tied, Y, 0.99).all(ONCE).tolist() == [[0.0]]


def test_one_false_alarm_in_ten_is_a_tenth(curves: ModuleType) -> None:
    y = np.arange(11) == 9  # the second highest score
    found = curves.SensitivityWithin(np.arange(11.0)[:, None], y, 1 - 0.9)  # .09999999999999998
    assert found.all(np.ones((1, 11), dtype=np.uint8)).tolist() == [[1.0]]
    assert curves.SensitivityWithin(np.arange(11.0)[:, None], y, 0.0999).all(np.ones((1, 11), np.uint8))[0, 0] == 0


def test_a_curve_needs_both_classes(curves: ModuleType) -> None:
    counts = np.array([[2, 2, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0]], dtype=np.uint8)
    for kernel in (curves.SensitivityWithin(SCORES, Y, 0.5), curves.AreaWithin(SCORES, Y, 0.5)):
        for weights in (counts, counts.astype(np.float64)):
            assert np.isnan(kernel.all(weights)).all()
            assert np.isnan(kernel.selected(weights, np.zeros(3, dtype=np.intp))).all()


def test_a_share_beyond_one_is_refused(curves: ModuleType) -> None:
    with pytest.raises(ValueError, match=r"from 0 to 1, got 1\.5"):
        curves.SensitivityWithin(SCORES, Y, 1.5)


def test_rank_correlation_by_hand(kernels: ModuleType) -> None:
    target = np.array([1.0, 2.0, 3.0, 4.0])
    values = np.array([[1.0, 4.0, 1.0], [3.0, 3.0, 1.0], [2.0, 2.0, 2.0], [9.0, 1.0, 2.0]])
    found = kernels.RankCorrelations(values, target).all(ONCE)
    # 1 - 6 * 2 / (4 * 15); reversed; ranks 1.5 1.5 3.5 3.5 against 1 2 3 4: 4 / sqrt(4 * 5).
    np.testing.assert_allclose(found, [[0.8, -1.0, 2 / np.sqrt(5)]], rtol=1e-15)


def test_a_constant_has_no_rank_correlation(kernels: ModuleType) -> None:
    target = np.array([1.0, 2.0, 3.0, 3.0])
    kernel = kernels.RankCorrelations(np.array([[5.0, 1.0], [5.0, 2.0], [5.0, 4.0], [5.0, 4.0]]), target)
    counts = np.array([[1, 1, 1, 1], [0, 0, 1, 2], [0, 0, 0, 0], [1, 0, 0, 1]], dtype=np.uint8)
    expected = [[np.nan, 1.0], [np.nan, np.nan], [np.nan, np.nan], [np.nan, 1.0]]
    np.testing.assert_array_equal(kernel.all(counts), expected)
    np.testing.assert_allclose(kernel.all(counts * np.array([0.1, 0.3, 0.7, 0.9])), expected, rtol=1e-15)


def test_a_rank_correlation_needs_a_target_a_row(kernels: ModuleType) -> None:
    with pytest.raises(ValueError, match=r"shape \(4,\)"):
        kernels.RankCorrelations(SCORES, np.arange(3.0))
    with pytest.raises(ValueError, match="accept NaN"):
        kernels.RankCorrelations(SCORES, np.array([1.0, np.nan, 2.0, 3.0]))


def test_gaps_by_hand(calibration: ModuleType) -> None:
    values = np.array([[0.5], [-0.25], [-0.75], [0.125]])
    kernel = calibration.BinnedGaps(values, np.array([[0], [0], [1], [1]], dtype=np.int32), 3, 20)
    counts = np.array([[1, 1, 1, 1], [1, 2, 0, 3]], dtype=np.uint8)
    np.testing.assert_array_equal(kernel.all(counts), [[0.25 + 0.625], [0.0 + 0.375]])


def test_bins_beyond_the_last_are_refused(calibration: ModuleType) -> None:
    with pytest.raises(ValueError, match="from 0 to n_bins - 1"):
        calibration.BinnedGaps(SCORES, np.full((4, 1), 3, dtype=np.int32), 3, 20)


def fits(calibration: ModuleType, x: Any, y: Any, counts: Any, given_slope: bool = False) -> Any:
    kernel = calibration.LogisticFits(np.asarray(x, dtype=np.float64)[:, None], np.asarray(y, bool), given_slope)
    counts = np.atleast_2d(counts)
    found = kernel.all(counts)
    np.testing.assert_array_equal(kernel.selected(counts, np.zeros(len(counts), dtype=np.intp)), found[:, 0])
    return found[:, 0]


def test_a_logistic_fit_by_hand(calibration: ModuleType) -> None:
    # Two values, so that the fit goes through the log-odds of their shares: 1 of 4, and 3 of 4.
    x, y = [0, 0, 2, 2], [0, 1, 0, 1]
    found = fits(calibration, x, y, np.array([[3, 1, 1, 3], [1, 1, 1, 3]], dtype=np.uint8))
    np.testing.assert_allclose(found, [[-np.log(3), np.log(3)], [0.0, np.log(3) / 2]], atol=1e-14)


def test_an_intercept_with_the_slope_given_by_hand(calibration: ModuleType) -> None:
    found = fits(calibration, np.zeros(4), [0, 1, 1, 1], np.array([[1, 1, 1, 1], [6, 1, 1, 1]], np.uint8), True)
    np.testing.assert_allclose(found, [[np.log(3), 1.0], [-np.log(2), 1.0]], rtol=1e-14)


@pytest.mark.parametrize(
    ("x", "y", "weights"),
    [
        ([1, 2, 3, 4], [0, 0, 1, 1], [1, 1, 1, 1]),
        ([1, 2, 3, 4], [1, 1, 0, 0], [1, 1, 1, 1]),
        ([1, 2, 2, 4], [0, 0, 1, 1], [1, 1, 1, 1]),
        ([1, 2, 3, 4], [0, 1, 0, 1], [1, 0, 1, 2]),
        ([2, 2, 2, 2], [0, 1, 0, 1], [1, 1, 1, 1]),
        ([1, 2, 3, 4], [0, 1, 0, 1], [1, 0, 1, 0]),
        ([1, 2, 3, 4], [0, 1, 0, 1], [0, 0, 0, 0]),
    ],
    ids=["separated", "separated downwards", "touching", "separated by weights", "constant", "one class", "none"],
)
def test_where_no_finite_slope_fits_best_there_is_none(
    calibration: ModuleType, x: list[int], y: list[int], weights: list[int]
) -> None:
    for counts in (np.array([weights], dtype=np.uint8), np.array([weights], dtype=np.float64)):
        assert np.isnan(fits(calibration, x, y, counts)).all()


def test_log_odds_must_be_finite(calibration: ModuleType) -> None:
    with pytest.raises(ValueError, match="must be finite"):
        calibration.LogisticFits(np.array([[0.0], [np.inf]]), np.array([True, False]), False)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 30.0])
def test_a_fit_is_level_at_its_maximum(calibration: ModuleType, scale: float) -> None:
    rng = np.random.default_rng(0)
    x = scale * (5 + rng.normal(size=80))
    y = rng.random(80) < 1 / (1 + np.exp(-(x / scale - 5)))
    counts = rng.integers(0, 4, size=(70, 80), dtype=np.uint8)
    found = fits(calibration, x, y, counts)
    assert np.isfinite(found).all()
    residual = counts * (y - 1 / (1 + np.exp(-(found[:, :1] + found[:, 1:] * x))))
    assert np.abs(residual.sum(axis=1)).max() < 1e-9
    assert np.abs((residual * (x / scale - 5)).sum(axis=1)).max() < 1e-9


@pytest.mark.parametrize("given_slope", [False, True])
@pytest.mark.parametrize("kind", ["clusters", "clipped", "far off"])
def test_a_fit_is_found_wherever_its_maximum_lies(calibration: ModuleType, kind: str, given_slope: bool) -> None:
    for seed in range(15):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(6, 120))
        x = {
            "clusters": np.r_[rng.normal(0, 0.25, n), rng.normal(3, 0.2, 8)],
            "clipped": np.clip(40 * rng.normal(size=n), -36, 36),
            "far off": np.r_[rng.normal(0, 0.01, n), rng.normal(0, 20, 4)],
        }[kind]
        steep = rng.choice([1.0, 30.0])
        y = rng.random(len(x)) < 1 / (1 + np.exp(-np.clip(steep * x, -30, 30)))
        y ^= rng.random(len(x)) < rng.choice([0.0, 0.1])
        counts = rng.multinomial(len(x), np.full(len(x), 1 / len(x)), size=3).astype(np.uint8)
        for drawn, fit in zip(counts, fits(calibration, x, y, counts, given_slope), strict=True):
            of_class = [x[(drawn > 0) & (y == label)] for label in (False, True)]
            separated = not all(len(part) for part in of_class) or (
                not given_slope
                and (of_class[0].max() <= of_class[1].min() or of_class[1].max() <= of_class[0].min())
            )
            assert np.isnan(fit).all() == separated
            if not separated:
                log_odds = fit[0] + fit[1] * x
                residual = drawn * (y - 1 / (1 + np.exp(-np.clip(log_odds, -700, 700))))
                assert abs(residual.sum()) < 1e-6
                assert given_slope or abs(residual @ x) < 1e-6 * np.abs(x).max()


def test_a_halved_step_must_rise_as_its_half(calibration: ModuleType) -> None:
    # Both directions overshoot by far: of a step taken half, only half of the rise is expected.
    x = np.array([-36.0, -32.0, -0.5, 34.85, 36.0, 36.0, 36.0])
    found = fits(calibration, x, x > 35, np.ones((1, 7), dtype=np.uint8), given_slope=True)
    assert (1 / (1 + np.exp(-(x + found[0, 0])))).sum() == pytest.approx(3, rel=1e-9)


def test_the_exponential_of_the_fits_is_exact_to_two_units() -> None:
    t = -np.concatenate([np.linspace(0, 50, 4001), [0.0, 1e-300, 36.04, 699.0]])
    error = np.abs(reference_curves.exp_of_nonpositive(t) - np.exp(t)) / np.spacing(np.exp(t))
    assert error.max() <= 2
    assert reference_curves.exp_of_nonpositive(np.array([-1e6]))[0] < 1e-300
