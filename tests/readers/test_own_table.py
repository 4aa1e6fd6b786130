"""Predictions to and from heldout's own table: what is written reads back the same."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from heldout.data.task import Task, checked_weights, truth_of
from heldout.errors import InputError
from heldout.metrics import metric_named
from heldout.metrics.base import Response, times_of
from heldout.predictions import HeldOutPredictions
from heldout.readers.formats.own import table_of_predictions
from heldout.readers.formats.recognition import FORMATS
from heldout.readers.formats.tool import ColumnUses, Export
from heldout.readers.prediction_table import PredictionTable
from heldout.readers.tables import Table

N, C = 12, 3


def read_back(table: Table) -> PredictionTable:
    """The predictions of a table as of a file with its columns and metadata."""
    export = Export("t")
    vars(export)["table"] = table
    return FORMATS["heldout"].read(export, ColumnUses())


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
        adaptive=repeats > 1,
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
    back = read_back(Table("t", frame, metadata=json.dumps(roles).encode()))

    held = back.predictions
    assert isinstance(held, HeldOutPredictions)
    np.testing.assert_array_equal(held.for_metric(measured), predictions.for_metric(measured))
    np.testing.assert_array_equal(held.folds, predictions.folds)
    assert held.training_range == (8, 10)
    np.testing.assert_array_equal(back.truth, task.truth.labels())
    assert metric_named(roles["metric"]) == measured and held.times == times_of(measured)
    np.testing.assert_array_equal(back.groups, task.groups)
    np.testing.assert_array_equal(back.sample_weight, task.sample_weight)
    for name in ("names", "positive", "failed", "exchangeable", "training_rows", "adaptive"):
        assert getattr(held, name) == getattr(predictions, name)


def test_repeats_may_have_equal_folds_as_those_of_few_groups_have() -> None:
    task, predictions = task_and_predictions("roc_auc", 3)
    predictions = replace(predictions, folds=np.tile(np.arange(N)[:, None] // 4, (1, 3)).astype(np.int32))
    frame, roles = table_of_predictions(task, predictions, metric_named("roc_auc"), "y")
    found = read_back(Table("t", frame, metadata=json.dumps(roles).encode()))
    assert isinstance(found.predictions, HeldOutPredictions)
    assert np.array_equal(found.predictions.folds, predictions.folds)


def test_columns_have_distinct_names_for_any_name_of_the_target() -> None:
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
    assert read_back(Table("t", frame, metadata=json.dumps(roles).encode())).groups is None


def _long(metric: str, repeats: int = 3) -> tuple[pd.DataFrame, dict[str, Any]]:
    task, predictions = task_and_predictions(metric, repeats)
    frame, roles = table_of_predictions(task, predictions, metric_named(metric), "outcome")
    return frame, roles


@pytest.mark.parametrize("metric", ["r2", "accuracy", "log_loss", "integrated_brier_score(times=[2, 5])"])
@pytest.mark.parametrize("order", ["sorted", "shuffled", "reversed"])
def test_the_order_of_the_lines_means_nothing(metric: str, order: str) -> None:
    frame, roles = _long(metric)
    changed = {
        "sorted": frame.sort_values(["row", "repeat"]),
        "shuffled": frame.sample(frac=1, random_state=0),
        "reversed": frame[::-1],
    }[order].reset_index(drop=True)

    expected = read_back(Table("t", frame, metadata=json.dumps(roles).encode()))
    found = read_back(Table("t", changed, metadata=json.dumps(roles).encode()))

    measured = metric_named(metric)
    for part in ("truth", "groups", "sample_weight"):
        np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))
    np.testing.assert_array_equal(found.predictions.folds, expected.predictions.folds)
    array, known = (each.predictions.for_metric(measured) for each in (found, expected))
    np.testing.assert_array_equal(array, known)
    assert array.strides == known.strides


def _changed(line: int, column: str, value: object) -> Callable[[pd.DataFrame], pd.DataFrame]:
    def change(frame: pd.DataFrame) -> pd.DataFrame:
        frame = frame.copy()
        frame[column] = frame[column].astype(object)
        frame.loc[line, column] = value
        frame[column] = frame[column].infer_objects()
        return frame

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda frame: frame.drop(index=20), "row 8 of repeat 1 is in no line.*; the file was cut"),
        (lambda frame: frame[:30], r"row 6 of repeat 2 is in no line \(one of 6 that are missing\)"),
        (lambda frame: frame[frame["repeat"] < 2], "t has 2 repeats, and 3 in its metadata 'heldout'; the file"),
        (lambda frame: frame[frame["row"] < 11], "t has 11 rows, and 12 in its metadata 'heldout'; the file"),
        (lambda frame: pd.concat([frame, frame[3:4]]), "row 3 of repeat 0 is in two lines, 4 and 37; the file"),
        (_changed(15, "row", 4), "row 4 of repeat 1 is in two lines, 16 and 17"),
        (_changed(15, "row", 12), "row 3 of repeat 1 is in no line"),
        (_changed(15, "row", -1), "row -1 of repeat 0 is in no line"),
        (_changed(15, "row", 2**63 + 5), "row 3.* of repeat 1 is in no line"),
        (_changed(15, "row", None), "column 'row' .the rows. has 1 missing value in 36 rows"),
        (_changed(15, "row", "x"), "row 3 of repeat 1 is in no line"),
        (_changed(15, "repeat", 0.5), "row 0 of repeat 0.5 is in no line"),
        (_changed(15, "outcome", "a"), r"row 3 has two values of the target .*: b in line 4 and a in line 16"),
        (_changed(15, "outcome", None), r"column 'outcome' \(the target\) has 1 missing value in 36 rows"),
        (_changed(15, "group", 9), r"row 3 has two values of the groups \(column 'group'\)"),
        (_changed(15, "weight", 9.0), r"row 3 has two values of the weights \(column 'weight'\)"),
        (_changed(15, "fold", 0.5), "column 'fold' must number the folds from -1, got 0.5"),
        (_changed(15, "fold", 99), "column 'fold' must number the folds from -1, got 99"),
        (_changed(15, "same", "x"), "the predictions column 'same' must hold numbers, got 'x'"),
        (lambda frame: frame.drop(columns="row"), "t has no column 'row', which its metadata"),
        (lambda frame: frame.drop(columns="outcome"), "t has no column 'outcome', which its metadata"),
        (lambda frame: frame.drop(columns="other"), "t has no column 'other', which its metadata 'heldout' names"),
    ],
)  # fmt: skip
def test_lines_and_columns_that_do_not_fit_are_refused(
    change: Callable[[pd.DataFrame], pd.DataFrame], said: str
) -> None:
    task, predictions = task_and_predictions("roc_auc", 3)
    truth = truth_of(["a", "b"] * 6)
    held = replace(predictions, classes=truth.classes)
    frame, roles = table_of_predictions(replace(task, truth=truth), held, metric_named("roc_auc"), "outcome")

    with pytest.raises(InputError, match=said):
        read_back(Table("t", change(frame).reset_index(drop=True), metadata=json.dumps(roles).encode()))


def test_labels_that_only_begin_like_a_class_are_refused() -> None:
    frame, roles = _long("accuracy")
    frame = frame.astype({"outcome": object, "same": object})
    labels = roles | {"classes": ["1", "2", "3"]}
    for name in ("outcome", "same", "same #2", "other"):
        frame[name] = frame[name].map(lambda value: None if pd.isna(value) else str(int(value)))
    frame.loc[5, "same"] = "22"

    with pytest.raises(InputError, match="column 'same' holds 22 in row 6, which is none of the classes"):
        read_back(Table("t", frame, metadata=json.dumps(labels).encode()))


def test_columns_differ_for_any_names_of_configurations_and_classes() -> None:
    rng = np.random.default_rng(0)
    truth = truth_of(["x", "y = x", "z"] * 4)
    share = rng.dirichlet([1, 1, 1], size=(N, 3, 1))
    held = HeldOutPredictions({Response.PROBABILITIES: share}, ("m", "m = y", "m"), None, truth.classes)

    frame, roles = table_of_predictions(Task(np.zeros((N, 1)), truth), held, metric_named("log_loss"), "t")
    back = read_back(Table("t", frame, metadata=json.dumps(roles).encode()))

    np.testing.assert_array_equal(back.predictions.for_metric(metric_named("log_loss")), share)
