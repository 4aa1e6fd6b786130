"""Predictions to and from heldout's own table: what is written reads back the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from heldout.adapters.table_predictions_own import predictions_from_own_table, table_of_predictions
from heldout.adapters.tables import Table
from heldout.metrics import metric_named
from heldout.metrics.base import Response, times_of
from heldout.predictions import HeldOutPredictions
from heldout.task import Task, checked_weights, truth_of

N, C = 12, 3


def task_and_predictions(metric: str, repeats: int) -> tuple[Task, HeldOutPredictions]:
    rng = np.random.default_rng(1)
    folds = np.stack([rng.permutation(N) % 4 for _ in range(repeats)], axis=1).astype(np.int32)
    if metric == "r2":
        truth, held = truth_of(rng.normal(size=N)), {Response.VALUES: rng.normal(size=(N, C, repeats))}
    elif metric == "roc_auc":
        truth = truth_of(["no", "yes"] * 6)
        held = {Response.DECISION: rng.normal(size=(N, C, repeats))}
    elif metric == "concordance_index":
        truth = truth_of((np.arange(N) % 3 > 0, np.arange(N) + 0.5), "survival")
        held = {Response.RISK: rng.normal(size=(N, C, repeats))}
    elif metric.startswith(("integrated", "brier_score_at")):
        truth = truth_of((np.arange(N) % 3 > 0, np.arange(N) + 0.5), "survival")
        n_times = len(times_of(metric_named(metric)))
        held = {Response.SURVIVAL: rng.uniform(size=(N, C, repeats, n_times))}
    elif metric == "accuracy":
        truth = truth_of([1, 2, 3] * 4)
        held = {Response.LABELS: rng.integers(0, 3, size=(N, C, repeats)).astype(np.int32)}
        held[Response.LABELS][0, 0, 0] = -1
    else:
        truth = truth_of(["a", "b", "c"] * 4)
        held = {Response.PROBABILITIES: rng.dirichlet([1, 1, 1], size=(N, C, repeats))}
    predictions = HeldOutPredictions(
        held,
        ("same", "same", "other"),
        folds,
        truth.classes,
        truth.positive,
        {2: "it raised"},
        training_rows=9.0,
        training_range=(8, 10),
    )
    groups, weights = np.repeat(np.arange(6), 2), checked_weights(rng.random(N), N)
    return Task(np.zeros((N, 1)), truth, groups, weights), predictions


@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("metric", [
    "r2", "roc_auc", "accuracy", "log_loss", "concordance_index", "integrated_brier_score(times=[2, 5])",
    "brier_score_at(time=5)",
])  # fmt: skip
def test_what_is_written_reads_back_the_same(metric: str, repeats: int) -> None:
    task, predictions = task_and_predictions(metric, repeats)
    measured = metric_named(metric)

    frame, roles = table_of_predictions(task, predictions, measured, "outcome")
    back = predictions_from_own_table(Table("t", frame, roles=roles))

    held = back.predictions
    assert isinstance(held, HeldOutPredictions)
    np.testing.assert_array_equal(held.for_metric(measured), predictions.for_metric(measured))
    np.testing.assert_array_equal(held.folds, predictions.folds)
    assert held.training_range == (8, 10)
    np.testing.assert_array_equal(back.y_true, task.truth.labels())
    assert metric_named(roles["metric"]) == measured and held.times == times_of(measured)
    np.testing.assert_array_equal(back.groups, task.groups)
    np.testing.assert_array_equal(back.sample_weight, task.sample_weight)
    for name in ("names", "positive", "failed", "exchangeable", "training_rows"):
        assert getattr(held, name) == getattr(predictions, name)


def test_columns_have_distinct_names_whatever_the_target_is_called() -> None:
    task, predictions = task_and_predictions("roc_auc", 1)

    frame, roles = table_of_predictions(task, predictions, metric_named("roc_auc"), "fold")

    assert frame.columns.is_unique
    assert roles["target"] == "fold (target)"
    assert [heads[0] for heads in roles["columns"]] == ["same", "same #2", "other"]


def test_a_table_without_groups_and_weights_has_no_columns_of_them() -> None:
    task, predictions = task_and_predictions("roc_auc", 1)

    frame, roles = table_of_predictions(
        replace(task, groups=None, sample_weight=None), predictions, metric_named("roc_auc"), "y"
    )

    assert list(frame.columns)[:4] == ["row", "repeat", "fold", "y"]
    assert predictions_from_own_table(Table("t", frame, roles=roles)).groups is None
