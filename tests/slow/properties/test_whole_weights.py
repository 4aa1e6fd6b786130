"""Weights that are whole numbers equal repeated rows, for every metric that does not use the number of rows."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import heldout as ho
from heldout.data.task import TaskKind
from heldout.metrics import Metric
from heldout.metrics.base import Response
from heldout.metrics.named import DECLARED, metric_named

COUNTS_ROWS = {"likelihood_ratio", "discrimination_index", "unreliability_index", "quality_index", "g_index"}
"""Sums, or divided by the number of rows or one less."""
CURVES = {"emax", "e90", "ici", "eci"}
"""A curve through neighbourhoods of so many rows."""
COX = {"nagelkerke_r2", "calibration_slope", "calibration_slope_error"}
"""Of survival by a Cox model, in which repeated events are ties."""
CALLED = (
    "neg_mean_poisson_deviance", "neg_mean_squared_log_error", "neg_mean_absolute_percentage_error",
    "jaccard_macro", "explained_variance", "top_k_accuracy",
)  # fmt: skip
METRICS = [
    *(metric for metric in DECLARED if metric.reads_truth),
    *map(metric_named, (*CALLED, "mean_pinball_loss(alpha=0.9)", "f2", "neg_log_loss")),
]


def cases() -> list[Any]:
    return [
        pytest.param(metric, kind, id=f"{metric.name}-{kind.value}")
        for metric in METRICS
        for kind in TaskKind
        if kind in metric.tasks
        and metric.name not in COUNTS_ROWS | CURVES
        # the censoring of these is estimated on all rows without their weights
        and not metric.name.endswith(("_at", "_ipcw", "integrated_brier_score"))
        and not (kind is TaskKind.SURVIVAL and metric.name in COX)
        and not (kind is TaskKind.BINARY and metric.name == "top_k_accuracy_score")
    ]


def rows_of(kind: TaskKind, metric: Metric, rng: np.random.Generator) -> tuple[Any, Any]:
    """30 rows of a target and of the predictions of one configuration, with ties."""
    n = 30
    if kind is TaskKind.SURVIVAL:
        times = np.round(rng.exponential(size=n), 1) + 0.1
        y = np.array(list(zip(rng.random(n) < 0.7, times, strict=True)), dtype=[("event", bool), ("time", float)])
        return y, np.round(rng.random((n, 1)), 1)
    if kind is TaskKind.REGRESSION:
        return rng.gamma(2, size=n), np.round(rng.random((n, 1)) + 0.1, 1)
    n_classes = 2 if kind is TaskKind.BINARY else 3
    y = np.r_[np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)]
    if Response.LABELS in metric.responses:
        return y, rng.integers(0, n_classes, (n, 1))
    if kind is TaskKind.BINARY:
        return y, np.round(0.1 + 0.8 * rng.random((n, 1)), 1)
    return y, rng.dirichlet(np.ones(3), (n, 1, 1))


@pytest.mark.parametrize(("metric", "kind"), cases())
@settings(max_examples=3)
@given(seed=st.integers(0, 2**32))
def test_whole_weights_equal_repeated_rows(metric: Metric, kind: TaskKind, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y, predictions = rows_of(kind, metric, rng)
    weights = np.r_[1, 2, 3, rng.integers(0, 4, len(y) - 3)]
    asked: dict[str, Any] = {"metric": metric, "method": "cv", "random_state": 0}
    if kind.is_classification:
        asked["classes"] = np.unique(y)
    weighted = ho.estimate(y, predictions, sample_weight=weights, **asked).value
    repeated = ho.estimate(np.repeat(y, weights), np.repeat(predictions, weights, axis=0), **asked).value
    assert weighted == pytest.approx(repeated, rel=1e-8, abs=1e-10, nan_ok=True)


def test_the_weighted_median_is_the_middle_of_the_repeated_errors():
    errors = np.array([0.82, 0.30, 0.16, 0.43])
    found = ho.estimate(
        np.full(4, 0.5), 0.5 + errors[:, None], metric="median_absolute_error", method="cv",
        sample_weight=[1, 0, 3, 2],
    )  # fmt: skip
    assert found.value == pytest.approx(np.median([0.82, 0.16, 0.16, 0.16, 0.43, 0.43])) == pytest.approx(0.295)
