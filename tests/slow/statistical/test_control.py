"""Does bbc leave one configuration alone, and correct the best of 20 equal ones enough (papers/pages/control.md)?

A metric passes where the bias of bbc is at most ``MARGIN`` standard deviations of one configuration's score, as far
as chance can tell: a true bias at the margin fails a comparison once in 1000, one of 0 less often. Seeds are fixed.
"""

from functools import cache

import numpy as np
import pytest
from control_simulation import Bias, C, bias, cases, sample

from heldout.data.task import TaskKind
from heldout.metrics import metric_named
from heldout.metrics.named import DECLARED

MARGIN = 0.15
QUANTILE = 3.1
"""Of the normal distribution: .001 lies above."""


@cache
def in_short(name: str, kind: TaskKind, aggregate: str) -> Bias:
    return bias(kind, metric_named(name), aggregate, repetitions=25, n_bootstraps=60)


def assert_corrected(found: Bias) -> None:
    assert found.corrected - QUANTILE * found.error < MARGIN, found


def test_without_a_control_it_is_not():
    """The comparison catches the published form, as ECE of few rows is far too high and RMSE too low."""
    found = in_short("root_mean_squared_error", TaskKind.REGRESSION, "folds")
    assert found.published - QUANTILE * found.error > MARGIN
    found = in_short("expected_calibration_error", TaskKind.BINARY, "pooled")
    assert found.published < -1.5


def test_every_metric_is_among_the_cases():
    pooled = [(kind, metric) for kind, metric, aggregate in cases() if aggregate == "pooled"]
    assert len(pooled) == sum(len(metric.tasks) for metric in DECLARED)
    for kind, metric in pooled:
        _, table = sample(kind, metric, np.random.default_rng(0))
        assert table.shape[1] == C


@pytest.mark.parametrize(("kind", "metric", "aggregate"), [each for each in cases() if each[1].ideal is None])
def test_every_metric(kind, metric, aggregate):
    if aggregate == "folds" and metric.name == "calibration_slope_error" and kind is not TaskKind.REGRESSION:
        pytest.skip("folds of 10 rows have no slope")
    assert_corrected(bias(kind, metric, aggregate, repetitions=60))
