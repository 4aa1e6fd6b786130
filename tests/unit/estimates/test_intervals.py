import numpy as np
import pytest

from heldout.errors import InputError
from heldout.estimates.intervals import check_interval_settings, order_statistic, percentile_interval
from heldout.metrics import metric_named

SHUFFLED = np.random.default_rng(0).permutation(np.arange(1.0, 1001.0))


@pytest.mark.parametrize(
    "p, kth", [(0.025, 25), (0.975, 975), (1 - 0.95, 50), (0.05, 50), (0.0, 1), (1.0, 1000), (0.0001, 1)]
)
def test_order_statistic_is_the_ceiling_th_smallest(p, kth):
    assert order_statistic(np.sort(SHUFFLED), p) == kth


def test_one_bootstrap_is_its_own_interval():
    interval = percentile_interval(np.array([0.7]), metric_named("roc_auc"), 0.95, "two-sided")
    assert (interval.low, interval.high) == (0.7, 0.7)


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
    interval = percentile_interval(SHUFFLED / 1000, metric_named(metric), 0.95, alternative)
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
    interval = percentile_interval(SHUFFLED, metric_named("r2"), dtype(0.9), "two-sided")
    assert (interval.low, interval.high, interval.confidence_level) == (50, 950, 0.9)
    assert type(interval.confidence_level) is float
