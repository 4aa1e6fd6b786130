"""Percentiles and calibrated intervals: by hand, against all draws enumerated, and as a user asks for them."""

import itertools

import numpy as np
import pytest

import heldout as ho
from heldout.data.checks import check_interval_settings
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates.intervals import (
    EXACT_UNITS,
    Calibration,
    calibrated_interval,
    calibration_of,
    effective_units,
    order_statistic,
    out_of_bag_shrinkage,
    percentile_interval,
)
from heldout.estimates.question import Settings
from heldout.metrics import metric_named

SHUFFLED = np.random.default_rng(0).permutation(np.arange(1.0, 1001.0))


@pytest.mark.parametrize(
    "p, kth", [(0.025, 25), (0.975, 975), (1 - 0.95, 50), (0.05, 50), (0.0, 1), (1.0, 1000), (0.0001, 1)]
)
def test_order_statistic_is_the_ceiling_th_smallest(p, kth):
    assert order_statistic(np.sort(SHUFFLED), p) == kth


@pytest.mark.parametrize(
    "metric, alternative, expected",
    [
        ("roc_auc", "two-sided", (0.025, 0.975)),
        ("roc_auc", "greater", (0.05, 1.0)),
        ("roc_auc", "less", (0.0, 0.95)),
        ("brier_score", "greater", (0.0, 0.95)),
        ("zero_one_loss", "less", (0.05, 1.0)),
        ("mean_squared_error", "greater", (0.0, 0.95)),
        ("mean_squared_error", "less", (0.05, np.inf)),
        ("neg_mean_squared_error", "greater", (0.05, 0.0)),
    ],
)
def test_the_better_side_is_open_with_greater(metric, alternative, expected):
    interval = percentile_interval(SHUFFLED / 1000, metric_named(metric), Settings(alternative=alternative))
    assert (interval.low, interval.high) == pytest.approx(expected)


@pytest.mark.parametrize(
    "settings, said",
    [
        ((0, 0.95, "two-sided"), "n_bootstraps must be an integer of at least 1, got 0"),
        ((1.5, 0.95, "two-sided"), "n_bootstraps"),
        ((True, 0.95, "two-sided"), "n_bootstraps"),
        ((10, 95, "two-sided"), "confidence_level must lie between 0 and 1, got 95"),
        ((10, 0.95, "both"), "alternative must be one of two-sided, greater, less, got 'both'"),
    ],
)
def test_settings_without_meaning_are_refused(settings, said):
    with pytest.raises(InputError, match=said):
        check_interval_settings(*settings)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_level_of_any_float_is_the_level_as_written(dtype):
    check_interval_settings(10, dtype(0.9), "two-sided")
    interval = percentile_interval(SHUFFLED, metric_named("r2"), Settings(confidence_level=dtype(0.9)))
    assert (interval.low, interval.high, interval.confidence_level) == (50, 950, 0.9)
    assert type(interval.confidence_level) is float


def left_out_counts(n):
    """How often m of n units are left out by n draws, from all n^n draws."""
    return np.bincount([n - len(set(draw)) for draw in itertools.product(range(n), repeat=n)], minlength=n)


@pytest.mark.parametrize("n", [2, 3, 6])
def test_shrinkage_is_that_of_all_draws_enumerated(n):
    counts = left_out_counts(n)[1:]
    mean_inverse = np.average(1 / np.arange(1, n), weights=counts)
    assert out_of_bag_shrinkage(n) == pytest.approx(np.sqrt((1 / n) / (mean_inverse - 1 / n)), abs=1e-12)


@pytest.mark.parametrize("n", [3, 5])
def test_shrinkage_takes_the_variance_of_out_of_bag_means_to_that_of_the_mean(n):
    """All n^n draws of n numbers: the variance of the means left out, times the squared factor, is S²/n exactly."""
    values = np.random.default_rng(n).normal(size=n)
    means = []
    for draw in itertools.product(range(n), repeat=n):
        left_out = np.setdiff1d(np.arange(n), draw)
        if left_out.size:
            means.append(values[left_out].mean())
    assert out_of_bag_shrinkage(n) ** 2 * np.var(means) == pytest.approx(values.var(ddof=1) / n, rel=1e-12)


def test_shrinkage_of_many_units():
    limit = 1 / np.sqrt(np.e - 1)
    assert out_of_bag_shrinkage(10**7) == pytest.approx(limit, abs=1e-6)
    assert 1 / limit == pytest.approx(1.31, abs=0.002)
    series = out_of_bag_shrinkage(EXACT_UNITS + 1)
    assert out_of_bag_shrinkage(EXACT_UNITS) == pytest.approx(series, abs=1e-5)
    factors = [out_of_bag_shrinkage(n) for n in (10, 20, 50, 100, 500, 1000, 10**5)]
    assert factors == sorted(factors)


def test_few_units_need_students_t():
    calibration = Calibration(0.7, 9)
    assert calibration.factor(0.975) == pytest.approx(0.7 * 2.262157 / 1.959964, abs=1e-6)
    assert calibration.factor(0.025) == pytest.approx(calibration.factor(0.975))
    assert calibration.factor(0.5) == 0.7
    assert Calibration(0.7, 2).factor(0.975) == 1.0
    assert Calibration(0.7, 0.5).factor(0.975) == 1.0


@pytest.mark.parametrize(
    "weights, classes, stratified, shrinkage_of, degrees",
    [
        (None, [], False, 20, 19),
        (None, [slice(0, 8), slice(8, 20)], False, 20, 7),
        (None, [slice(0, 8), slice(8, 20)], True, 12, 7),
        ([3.0] * 20, [], False, 20, 19),
        ([1.0] * 10 + [3.0] * 10, [], False, 20, 15),  # 40² / 100 - 1
    ],
)
def test_calibration_counts_units_that_matter(weights, classes, stratified, shrinkage_of, degrees):
    masks = [np.isin(np.arange(20), np.arange(20)[rows]) for rows in classes]
    found = calibration_of(
        np.arange(20), None if weights is None else np.array(weights), masks, stratified=stratified
    )
    assert found.shrinkage == out_of_bag_shrinkage(shrinkage_of)
    assert found.degrees_of_freedom == pytest.approx(degrees)


def test_groups_are_the_units():
    found = calibration_of(np.repeat(np.arange(10), 4))
    assert (found.shrinkage, found.degrees_of_freedom) == (out_of_bag_shrinkage(10), 9)
    assert effective_units(np.array([0, 0, 1]), np.array([1.0, 1.0, 0.0])) == (1, 1.0)


MIDDLE = 500.5
HALF = Calibration(0.5, 10**9)


@pytest.mark.parametrize(
    "metric, alternative, uncorrected, expected",
    [
        # by hand: percentiles 25 and 975 lie 475.5 below and 474.5 above the value, half of that remains
        ("r2", "two-sided", MIDDLE, (MIDDLE - 237.75, MIDDLE + 237.25)),
        ("r2", "two-sided", MIDDLE + 30, (MIDDLE - 237.75, MIDDLE + 247.25)),
        ("r2", "two-sided", MIDDLE - 30, (MIDDLE - 237.75, MIDDLE + 237.25)),
        ("r2", "two-sided", MIDDLE + 9999, (MIDDLE - 237.75, 975)),
        ("r2", "two-sided", np.nan, (MIDDLE - 237.75, 975)),
        ("r2", "greater", MIDDLE + 30, (MIDDLE - 225.25, 1000.0)),
        ("mean_squared_error", "two-sided", MIDDLE - 30, (MIDDLE - 247.75, MIDDLE + 237.25)),
        ("mean_squared_error", "two-sided", MIDDLE - 9999, (25, MIDDLE + 237.25)),
        ("mean_squared_error", "greater", MIDDLE - 30, (0.0, MIDDLE + 224.75)),
        ("mean_squared_error", "less", MIDDLE - 30, (MIDDLE - 235.25, np.inf)),
    ],
)
def test_calibrated_ends(metric, alternative, uncorrected, expected):
    found = calibrated_interval(
        SHUFFLED / 1000,
        metric_named(metric),
        Settings(alternative=alternative),
        value=MIDDLE / 1000,
        uncorrected=uncorrected / 1000,
        calibration=HALF,
    )
    assert tuple(found) == pytest.approx(np.divide(expected, 1000), abs=1e-9)
    assert (found.confidence_level, found.alternative) == (0.95, alternative)


@pytest.mark.parametrize(
    ("metric", "alternative", "settings"),
    [
        ("roc_auc", "two-sided", {}),
        ("accuracy", "greater", {"groups": np.arange(60) // 4}),
        ("brier_score", "less", {"sample_weight": np.arange(60) % 5}),
    ],
)
def test_the_calibrated_interval_lies_inside_the_percentiles(metric, alternative, settings):
    rng = np.random.default_rng(1)
    y = np.arange(60) % 2
    p = 1 / (1 + np.exp(-(y[:, None] + rng.normal(size=(60, 30)))))
    asked = {"metric": metric, "alternative": alternative, "random_state": 3, **settings}
    outer = ho.estimate(y, p, method="bbc", **asked)
    inner = ho.estimate(y, p, method=ho.estimates.BBC(interval="calibrated"), **asked)
    assert inner.value == outer.value
    assert np.array_equal(inner.distribution, outer.distribution)
    assert outer.interval.low <= inner.interval.low < inner.interval.high <= outer.interval.high
    if alternative != "less":  # of which only the better end is bounded, and a large optimism can keep it
        assert tuple(inner.interval) != tuple(outer.interval)
    assert (outer.provenance["interval"], outer.provenance["shrinkage"]) == ("percentile", None)
    assert inner.provenance["interval"] == "calibrated"
    assert 0.6 < inner.provenance["shrinkage"] < 0.77


def test_a_class_of_few_rows_keeps_its_percentiles():
    rng = np.random.default_rng(1)
    y = np.arange(60) % 20 == 0
    scores = y[:, None] + rng.normal(size=(60, 3))
    asked = {"metric": "roc_auc", "response": "decision", "random_state": 3}
    outer = ho.estimate(y, scores, method="bbc", **asked)
    inner = ho.estimate(y, scores, method=ho.estimates.BBC(interval="calibrated"), **asked)
    assert inner.interval == outer.interval  # three rows: t with 2 degrees is wider than what shrinkage saves


def test_an_infinite_value_has_no_calibrated_interval():
    asked = {"metric": "mean_squared_error", "random_state": 0, "n_bootstraps": 50}
    with pytest.warns(HeldoutWarning, match="beyond what float64 holds"):
        found = ho.estimate(
            np.arange(20.0), np.full((20, 1), 1e160), method=ho.estimates.BBC(interval="calibrated"), **asked
        )
    assert np.isnan(found.value) and found.interval is None


def test_an_unknown_interval_is_refused():
    with pytest.raises(InputError, match="interval must be one of percentile, calibrated, sampling, got 'basic'"):
        ho.estimates.BBC(interval="basic")


@pytest.mark.parametrize(
    "alternative, text", [("two-sided", "] (90%)"), ("greater", "] (90%, greater)"), ("less", "] (90%, less)")]
)
def test_the_text_of_an_interval_names_its_level(alternative: str, text: str) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    estimate = ho.estimate(
        y, rng.normal(size=(60, 3)) + y[:, None], metric="roc_auc", n_bootstraps=50,
        confidence_level=0.9, alternative=alternative, random_state=0,
    )  # fmt: skip
    assert str(estimate.interval).endswith(text)
    assert str(estimate.interval) in repr(estimate)
    assert f">interval {text[2:]}<" in estimate._repr_html_()
