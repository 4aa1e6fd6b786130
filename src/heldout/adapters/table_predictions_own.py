"""The table of predictions that heldout itself writes, and reads back as the same ``HeldOutPredictions``.

Its metadata (``Table.roles``) says what each column is: repeats and probabilities of several classes included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.adapters.table_predictions import TablePredictions, labels_of_column
from heldout.adapters.table_survival import survival_of_columns
from heldout.adapters.tables import Table
from heldout.metrics.base import Metric, Response, full_name, times_of
from heldout.predictions import UNPREDICTED_LABEL, HeldOutPredictions
from heldout.task import Task, TaskKind, Truth, checked_groups, checked_weights, codes_of, missing

OWN_COLUMNS = ("row", "repeat", "fold", "group", "weight")
"""Columns before the target and the configurations."""


def table_of_predictions(
    task: Task, predictions: HeldOutPredictions, metric: Metric, target: str, event: str | None = None
) -> tuple[Any, dict[str, Any]]:
    """The predictions that a metric reads as a table, with what each column is.

    Parameters
    ----------
    target, event : str
        Names for the columns of the target; of a survival task those of the time and the event.

    Returns
    -------
    frame : pandas.DataFrame
        One row for each data row and repeat: ``row``, ``repeat``, ``fold``, ``group`` and ``weight`` where there
        are any, the target, then a column a configuration (one a configuration and class of several classes, one a
        configuration and time of survival probabilities).
    roles : dict
        JSON-safe; ``predictions_from_own_table`` reads the frame back by it.
    """
    import pandas as pd

    array = predictions.for_metric(metric)
    n_rows, n_configurations, n_repeats = array.shape[:3]
    response = _response_held(predictions, metric)
    truth_columns = _truth_columns(task.truth, target, event)
    names = _distinct(predictions.names, taken=(*OWN_COLUMNS, *truth_columns))
    classes = predictions.classes
    columns: dict[str, Any] = {
        "row": np.tile(np.arange(n_rows), n_repeats),
        "repeat": np.repeat(np.arange(n_repeats), n_rows),
    }
    if predictions.folds is not None:
        columns["fold"] = predictions.folds.T.ravel()
    if task.groups is not None:
        columns["group"] = np.tile(task.groups, n_repeats)
    if task.sample_weight is not None:
        columns["weight"] = np.tile(task.sample_weight, n_repeats)
    for name, values in truth_columns.items():
        columns[name] = np.tile(values, n_repeats)
    what = [f"until {time:.6g}" for time in times_of(metric)] if response is Response.SURVIVAL else _listed(classes)
    outputs: list[list[str]] = []
    for j in range(n_configurations):
        long = np.moveaxis(array[:, j], 1, 0).reshape(n_rows * n_repeats, -1)
        heads = [names[j]] if array.ndim == 3 else [f"{names[j]} = {each}" for each in what]
        for head, values in zip(heads, long.T, strict=True):
            columns[head] = _readable(values, classes) if response is Response.LABELS else values
        outputs.append(heads)
    roles = {
        "target": next(iter(truth_columns)),
        "event": None if len(truth_columns) == 1 else list(truth_columns)[1],
        "kind": task.truth.kind.value,
        "metric": full_name(metric),
        "response": response.value,
        "classes": None if classes is None else _listed(classes),
        "positive": predictions.positive,
        "times": list(times_of(metric)),
        "names": list(predictions.names),
        "columns": outputs,
        "failed": {str(position): reason for position, reason in predictions.failed.items()},
        "dropped": {str(position): reason for position, reason in predictions.dropped.items()},
        "exchangeable": predictions.exchangeable,
        "training_rows": predictions.training_rows,
        "training_range": predictions.training_range,
    }
    return pd.DataFrame(columns), roles


def predictions_from_own_table(table: Table) -> TablePredictions:
    """Read back what ``table_of_predictions`` wrote."""
    frame, roles = table.frame, table.roles
    n_rows = int(frame["row"].max()) + 1
    n_repeats = int(frame["repeat"].max()) + 1
    response = Response(roles["response"])
    classes = None if roles["classes"] is None else np.asarray(roles["classes"])
    several = len(roles["columns"][0]) > 1 or response is Response.SURVIVAL

    def by_row(column: str) -> NDArray[Any]:
        return np.asarray(frame[column].to_numpy().reshape(n_repeats, n_rows).T)

    def of_configuration(heads: Sequence[str]) -> NDArray[Any]:
        stacked = np.stack([by_row(head) for head in heads], axis=-1)
        return stacked if several else stacked[..., 0]

    array = np.stack([of_configuration(heads) for heads in roles["columns"]], axis=1)
    if response is Response.LABELS:
        array = _codes(array, classes)
    predictions = HeldOutPredictions(
        responses={response: array},
        names=tuple(roles["names"]),
        folds=by_row("fold").astype(np.int32) if "fold" in frame else None,
        classes=classes,
        positive=roles["positive"],
        failed={int(position): reason for position, reason in roles["failed"].items()},
        dropped={int(position): reason for position, reason in roles.get("dropped", {}).items()},
        exchangeable=roles["exchangeable"],
        training_rows=roles["training_rows"],
        training_range=None if roles.get("training_range") is None else tuple(roles["training_range"]),
        times=tuple(roles.get("times", ())),
    )
    first = frame["repeat"].to_numpy() == 0
    kept = {name: frame[name].to_numpy()[first] for name in ("group", "weight") if name in frame}
    y_true = labels_of_column(frame[roles["target"]][first])
    if roles.get("event") is not None:
        y_true = survival_of_columns(frame[roles["target"]][first], frame[roles["event"]][first]).values
    if classes is not None:
        y_true = y_true.astype(classes.dtype)
    return TablePredictions(
        y_true,
        predictions,
        groups=checked_groups(kept.get("group"), n_rows),
        sample_weight=checked_weights(kept.get("weight"), n_rows),
    )


def _truth_columns(truth: Truth, target: str, event: str | None) -> dict[str, NDArray[Any]]:
    """The target's column by a name that no other column has; of survival the time and the event."""
    free = {name: name if name not in OWN_COLUMNS else f"{name} (target)" for name in (target, event or "event")}
    if truth.kind is not TaskKind.SURVIVAL:
        return {free[target]: truth.labels()}
    return {free[target]: truth.values["time"], free[event or "event"]: truth.values["event"]}


def _response_held(predictions: HeldOutPredictions, metric: Metric) -> Response:
    return next(response for response in metric.responses if response in predictions.responses)


def _distinct(names: Sequence[str], taken: Sequence[str]) -> list[str]:
    """Column names that differ from each other and from the other columns."""
    seen: Counter[str] = Counter(taken)
    distinct = []
    for name in names:
        seen[name] += 1
        distinct.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return distinct


def _listed(classes: NDArray[Any] | None) -> list[Any]:
    return [] if classes is None else list(classes.tolist())


def _readable(codes: NDArray[Any], classes: NDArray[Any] | None) -> NDArray[Any]:
    assert classes is not None
    labels = classes.astype(object)[np.where(codes == UNPREDICTED_LABEL, 0, codes)]
    labels[codes == UNPREDICTED_LABEL] = None
    return np.asarray(labels)


def _codes(array: NDArray[Any], classes: NDArray[Any] | None) -> NDArray[np.int32]:
    assert classes is not None
    absent = missing(array)
    codes = np.full(array.shape, UNPREDICTED_LABEL, dtype=np.int32)
    codes[~absent] = codes_of(array[~absent].astype(classes.dtype), classes)
    return codes
