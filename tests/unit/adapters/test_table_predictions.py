"""Predictions to and from tables: what heldout writes reads back the same; foreign tables are read as told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from heldout.adapters.table_predictions import (
    check_kinds,
    guessed_metric,
    predictions_from_own_table,
    predictions_from_table,
    table_of_predictions,
)
from heldout.adapters.tables import Table
from heldout.errors import InputError
from heldout.metrics import metric_named
from heldout.metrics.base import Response
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
    )
    groups, weights = np.repeat(np.arange(6), 2), checked_weights(rng.random(N), N)
    return Task(np.zeros((N, 1)), truth, groups, weights), predictions


@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("metric", ["r2", "roc_auc", "accuracy", "log_loss"])
def test_what_is_written_reads_back_the_same(metric: str, repeats: int) -> None:
    task, predictions = task_and_predictions(metric, repeats)
    measured = metric_named(metric)

    frame, roles = table_of_predictions(task, predictions, measured, "outcome")
    back = predictions_from_own_table(Table("t", frame, roles=roles))

    held = back.predictions
    assert isinstance(held, HeldOutPredictions)
    np.testing.assert_array_equal(held.for_metric(measured), predictions.for_metric(measured))
    np.testing.assert_array_equal(held.folds, predictions.folds)
    np.testing.assert_array_equal(back.y_true, task.truth.labels())
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


def foreign(**columns: Any) -> Table:
    rng = np.random.default_rng(2)
    base = {
        "truth": rng.integers(0, 2, N),
        "fold": np.arange(N) % 4,
        "site": np.arange(N) // 2,
        "w": rng.random(N),
        "m1": rng.random(N),
        "m2": rng.random(N),
    }
    return Table("p.csv", pd.DataFrame({**base, **columns}))


def test_every_column_that_is_not_named_is_a_configuration() -> None:
    found = predictions_from_table(foreign(), "truth", fold="fold", group="site", weight="w", exclude=["m2"])

    assert list(found.predictions.columns) == ["m1"]
    np.testing.assert_array_equal(found.folds, np.arange(N) % 4)
    assert found.groups is not None and found.sample_weight is not None


@pytest.mark.parametrize(
    ("columns", "arguments", "said"),
    [
        ({}, {}, "column 'fold' would be read as a configuration.* say --fold fold, or --exclude fold"),
        ({}, {"fold": "Folds"}, "no column 'Folds' to use as the folds; the nearest name is 'fold'"),
        ({}, {"fold": "fold", "group": "fold"}, "column 'fold' was named for two uses"),
        ({}, {"fold": "fold", "exclude": ["m1", "m2", "site", "w"]}, "no column of predictions besides"),
        ({"m2": np.nan}, {"fold": "fold"}, "'m2' of p.csv has no predictions at all"),
        ({"w": "heavy"}, {"fold": "fold", "weight": "w"}, "weights column 'w' must hold numbers, got 'heavy'"),
    ],
)
def test_what_cannot_be_read_is_refused(columns: dict[str, Any], arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        predictions_from_table(foreign(**columns), "truth", **arguments)


def read(**columns: Any) -> Any:
    return predictions_from_table(foreign(**columns), "truth", fold="fold", exclude=["site", "w"])


def test_text_among_numbers_is_refused_with_its_row() -> None:
    mixed = [str(i / N) for i in range(N - 1)] + ["high"]
    found = read(m2=mixed)
    truth = truth_of(found.y_true)

    with pytest.raises(InputError, match="column 'm2' holds 'high' in row 12, but roc_auc needs numbers"):
        check_kinds(found, truth, metric_named("roc_auc"))
    with pytest.raises(InputError, match="column 'm2' holds 'high' in row 12, but most of its other rows"):
        check_kinds(found, truth, metric_named("accuracy"))


def test_labels_beside_scores_are_refused() -> None:
    found = read(m2=["yes", "no"] * 6)

    with pytest.raises(InputError, match="'m1' hold numbers and 'm2' text"):
        check_kinds(found, truth_of(found.y_true), metric_named("accuracy"))


def test_the_metric_is_guessed_from_target_and_predictions() -> None:
    scores, labels = read(), read(m1=[0, 1] * 6, m2=[1, 0] * 6)

    assert guessed_metric(truth_of(scores.y_true), scores) == "roc_auc"
    assert guessed_metric(truth_of(labels.y_true), labels) == "accuracy"
    assert guessed_metric(truth_of(np.arange(N) + 0.5), scores) == "r2"
    assert guessed_metric(truth_of(["a", "b", "c"] * 4), scores) == "accuracy"
