"""Hand-worked and degenerate values of calibration, and what a metric without a direction may be asked for."""

from typing import Any

import numpy as np
import pytest

import heldout as ho
from heldout.data.task import truth_of
from heldout.errors import InputError
from heldout.metrics import (
    CalibrationIntercept,
    CalibrationInterceptError,
    CalibrationSlope,
    CalibrationSlopeError,
    ExpectedCalibrationError,
)
from heldout.metrics.base import Metric


def value(metric: Metric, y: Any, given: Any, counts: Any = None, **how: Any) -> float:
    weights = np.ones((1, len(y)), np.uint8) if counts is None else np.array([counts], np.uint8)
    return float(metric.statistic(truth_of(y, **how), np.asarray(given)[:, None]).all(weights)[0, 0])


def test_calibration_error_by_hand() -> None:
    y, given = [0, 1, 1, 1, 0], [0.2, 0.2, 0.9, 1.0, 0.0]
    # Bins: (.2, .2) off by .3 on average, (.9) and (1.0) together by .05, (0) by nothing.
    assert value(ExpectedCalibrationError(), y, given) == pytest.approx((2 * 0.3 + 2 * 0.05) / 5)
    assert value(ExpectedCalibrationError(1), y, given) == pytest.approx(abs(3 / 5 - 2.3 / 5))


def test_an_edge_belongs_to_the_bin_below() -> None:
    y, given = [0, 1, 1, 1], [0.5, 0.25, 0.75, 0.75]
    assert value(ExpectedCalibrationError(2), y, given) == pytest.approx((abs(1 - 0.75) + abs(2 - 1.5)) / 4)


def test_bins_between_quantiles_stay_while_rows_are_drawn() -> None:
    y, given = [0, 1, 0, 1], [0.1, 0.2, 0.3, 0.9]
    metric = ExpectedCalibrationError(2, strategy="quantile")
    assert value(metric, y, given) == pytest.approx((abs(1 - 0.3) + abs(1 - 1.2)) / 4)
    assert value(metric, y, given, [3, 0, 1, 0]) == pytest.approx((0.3 + 0.3) / 4)


def test_the_calibration_error_of_several_classes_is_of_the_greatest_probability() -> None:
    given = [[0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.4, 0.35, 0.25]]
    # Right with .7, wrong with .8, right with .4: the first two in bins of their own too.
    assert value(ExpectedCalibrationError(), ["a", "b", "a"], given, classes=["a", "b", "c"]) == pytest.approx(
        (0.3 + 0.8 + 0.6) / 3
    )


def test_the_calibration_error_is_the_same_of_either_class() -> None:
    rng = np.random.default_rng(0)
    y, given = rng.integers(0, 2, 50), rng.random(50)
    one = value(ExpectedCalibrationError(), y, given, pos_label=1)
    assert value(ExpectedCalibrationError(), y, 1 - given, pos_label=0) == pytest.approx(one, abs=1e-14)


def two_groups(*shares: tuple[float, int, int]) -> tuple[list[int], list[float]]:
    """Rows given a probability, of which some are positive and some not."""
    y = [label for _, ones, zeros in shares for label in [1] * ones + [0] * zeros]
    return y, [p for p, ones, zeros in shares for _ in range(ones + zeros)]


def test_slope_and_intercept_by_hand() -> None:
    # Said: log-odds of -log(9) and log(9). Happened: -log(3) and log(3).
    y, given = two_groups((0.1, 1, 3), (0.9, 3, 1))
    assert value(CalibrationSlope(), y, given) == pytest.approx(0.5, abs=1e-14)
    assert value(CalibrationIntercept(), y, given) == pytest.approx(0.0, abs=1e-14)
    # Said: -log(3) and log(3). Happened: 0 and log(9): too low by log(3) both times.
    y, given = two_groups((0.25, 2, 2), (0.75, 9, 1))
    assert value(CalibrationSlope(), y, given) == pytest.approx(1.0, abs=1e-14)
    assert value(CalibrationIntercept(), y, given) == pytest.approx(np.log(3), abs=1e-14)
    assert value(CalibrationIntercept(given_slope=False), y, given) == pytest.approx(np.log(3), abs=1e-14)
    assert value(CalibrationInterceptError(), y, given) == pytest.approx(np.log(3), abs=1e-14)


def test_the_errors_are_distances() -> None:
    y, given = two_groups((0.1, 1, 3), (0.9, 3, 1))
    assert value(CalibrationSlopeError(), y, given) == pytest.approx(0.5, abs=1e-14)
    y, given = two_groups((0.75, 2, 2), (0.25, 1, 9))
    assert value(CalibrationIntercept(), y, given) < -0.9
    assert value(CalibrationInterceptError(), y, given) == -value(CalibrationIntercept(), y, given)


def test_probabilities_of_zero_and_one_are_clipped() -> None:
    # Log-odds of -36.04 and 36.04, with one row of four on the wrong side each.
    y, given = two_groups((0.0, 1, 3), (1.0, 3, 1))
    assert value(CalibrationSlope(), y, given) == pytest.approx(np.log(3) / np.log(2.0**52 - 1), rel=1e-12)


@pytest.mark.parametrize("metric", [CalibrationSlope(), CalibrationSlopeError()], ids=lambda m: m.name)
def test_there_is_no_slope_where_the_classes_are_separated(metric: Metric) -> None:
    assert np.isnan(value(metric, [0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8]))
    assert np.isnan(value(metric, [0, 0, 1, 1], [0.5, 0.5, 0.5, 0.5]))
    assert not np.isnan(value(CalibrationIntercept(), [0, 0, 1, 1], [0.5, 0.5, 0.5, 0.5]))


@pytest.mark.parametrize(
    "metric", [CalibrationSlope(), CalibrationIntercept(), ExpectedCalibrationError()], ids=lambda m: m.name
)
def test_decisions_are_no_probabilities(metric: Metric) -> None:
    with pytest.raises(InputError, match=f"'{metric.name}' needs probabilities from 0 to 1, got values from -2"):
        value(metric, [0, 1], [-2.0, 3.0])


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"n_bins": 0}, "n_bins must be an integer of at least 1, got 0"),
        ({"n_bins": 2.5}, "n_bins must be an integer of at least"),
        ({"n_bins": True}, "n_bins must be an integer of at least"),
        ({"strategy": "equal"}, "strategy must be one of 'uniform', 'quantile', got 'equal'"),
    ],
    ids=str,
)
def test_parameters_have_their_sentences(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        ExpectedCalibrationError(**wrong)


RNG = np.random.default_rng(1)
TARGET = RNG.integers(0, 2, 150)
GIVEN = 1 / (1 + np.exp(-2 * (TARGET[:, None] - 0.5 + RNG.normal(size=(150, 3)))))


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("calibration_slope", r"from 1 \('calibration_slope_error'\)"),
        ("calibration_intercept(given_slope=False)", r"0 \('calibration_intercept_error\(given_slope=False\)'\)"),
    ],
)
def test_a_metric_without_a_direction_chooses_none(name: str, instead: str) -> None:
    with pytest.raises(InputError, match=f"cannot select among 3 configurations.*{instead}"):
        ho.estimate(TARGET, GIVEN, metric=name, n_bootstraps=50, random_state=0)


def test_a_metric_without_a_direction_describes_one_configuration() -> None:
    found = ho.estimate(TARGET, GIVEN[:, :1], metric="calibration_slope", n_bootstraps=200, random_state=0)
    assert found.interval is not None
    assert found.interval.low < found.uncorrected < found.interval.high
    assert found.uncorrected == pytest.approx(value(CalibrationSlope(), TARGET, GIVEN[:, 0]), abs=1e-12)


def test_the_distance_from_the_ideal_chooses() -> None:
    found = ho.estimate(TARGET, GIVEN, metric="calibration_slope_error", n_bootstraps=100, random_state=0)
    slopes = [value(CalibrationSlope(), TARGET, column) for column in GIVEN.T]
    assert found.selected == np.argmin(np.abs(np.array(slopes) - 1))


@pytest.mark.parametrize(
    ("y", "given"), [([1, 1, 1, 0], [0.5, 0.5, 0.5, 0.0]), ([1, 1, 0, 1], [0.5, 0.0, 0.5, 0.5])]
)
def test_a_flat_likelihood_has_its_maximum_all_the_same(y: list[int], given: list[float]) -> None:
    """A certain prediction leaves so little curvature that rounding moves the last step about.

    Of log-odds 0 and -e = log(eps / (1 - eps)) the score is 3 / (1 + exp(a)) - 1 / (1 + exp(e - a)) in the first,
    and 2 / (1 + exp(a)) + 1 / (1 + exp(a - e)) - 1 / (1 + exp(-a)) in the second: nothing at a = (e + log(3)) / 2.
    """
    e = -np.log(np.finfo(np.float64).eps)
    bound = CalibrationIntercept().statistic(truth_of(y), np.array(given)[:, None])
    assert bound.all(np.ones((1, 4), dtype=np.uint8))[0, 0] == pytest.approx((e + np.log(3)) / 2, abs=1e-5)


def test_where_every_configuration_separates_the_classes_no_row_is_called_missing() -> None:
    y, given = [0, 1, 0, 1], np.array([[0.1, 0.3], [0.8, 0.6], [0.2, 0.2], [0.9, 0.7]])
    with pytest.raises(InputError, match=r"\(calibration_slope_error gives a number for none of them\)"):
        ho.estimate(y, given, metric="calibration_slope_error")
