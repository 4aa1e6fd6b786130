"""The table of predictions that heldout writes, and reads back as the same ``HeldOutPredictions``.

Its metadata (``Table.roles``) gives the role of each column, including repeats and probabilities of several
classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.data.checks import LEAST_ROWS_OF_BOOTSTRAP, call_text
from heldout.data.task import (
    Task,
    TaskKind,
    Truth,
)
from heldout.errors import InputError
from heldout.estimates.methods import label_of
from heldout.metrics.base import Metric, Response, full_name, times_of
from heldout.predictions import UNPREDICTED_LABEL, HeldOutPredictions
from heldout.readers.columns import (
    free_name,
)
from heldout.readers.own_metadata import READERS

OWN_COLUMNS = ("row", "repeat", "fold", "group", "weight")
"""The columns before the target and the configurations."""

SAME = (
    "names", "positive", "exchangeable", "training_rows", "training_range", "grouped", "adaptive", "test_share",
)  # fmt: skip
"""What the roles of columns and the predictions have under the same name."""
SETTINGS = ("aggregate", "n_bootstraps", "confidence_level", "alternative", "drop")
"""What the settings of a search and its question have under the same name."""


def table_of_predictions(
    task: Task, predictions: HeldOutPredictions, metric: Metric, target: str, event: str | None = None
) -> tuple[Any, dict[str, Any]]:
    """The predictions that a metric reads as a table, with the role of each column.

    ``target`` and ``event`` are names for the columns of the target; in a survival task those of time and event.

    Returns
    -------
    frame : pandas.DataFrame
        One line per row and repeat: ``row``, ``repeat``, then ``fold``, ``group`` and ``weight`` if there are any,
        the target, and a column per configuration (per configuration and class if there are several classes, per
        configuration and time for survival probabilities).
    roles : dict
        JSON-safe; ``own_metadata`` reads it back.
    """
    import pandas as pd

    array = predictions.for_metric(metric)
    n_rows, n_configurations, n_repeats = array.shape[:3]
    response = next(response for response in metric.responses if response in predictions.responses)
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
        heads = [names[j]] if array.ndim == 3 else _distinct([f"{names[j]} = {each}" for each in what], [*columns])
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
        "times": list(times_of(metric)),
        "columns": outputs,
        "rows": n_rows,
        "repeats": n_repeats,
        "settings": _settings_of(predictions),
    }
    roles |= {name: getattr(predictions, name) for name in SAME}
    roles |= {
        name: {str(j): why for j, why in getattr(predictions, name).items()} for name in ("failed", "dropped")
    }
    return pd.DataFrame(columns), roles


def _settings_of(predictions: HeldOutPredictions) -> dict[str, Any]:
    """What ``_question`` reads back of the question of a search."""
    question = predictions.remembered
    if question.truth is None:
        return {}
    size = predictions.n_configurations, (), list(question.selected_on)
    texts = {
        "selection": _text_of(question.rule, call_text, "selection", size),
        "method": None if question.method is None else _text_of(question.method, label_of, "method"),
    }
    lost = question.rule.name if texts["selection"] is None else ""
    if question.method is not None and texts["method"] is None:
        lost = question.method.name
    return texts | {
        "entropy": None if question.entropy is None else int(question.entropy),
        "block_length": None if question.block_length is None else str(question.block_length),
        "n_rows_of_bootstrap": question.n_rows_of_bootstrap or max(question.truth.n_rows, LEAST_ROWS_OF_BOOTSTRAP),
        "flags": {flag.value: text for flag, text in question.flags.items()},
        "beyond": f"'{lost}', of which the file has no more than the name" if lost else question.beyond,
        **{name: getattr(question, name) for name in (*SETTINGS, "winner")},
    }


def _text_of(thing: Any, text_of: Callable[[Any], str], name: str, size: Sequence[Any] = ()) -> str | None:
    """The text by which a rule or a method is made again; None where it needs more than the file has."""
    try:
        if size:
            thing.check(*size)
        text = text_of(thing)
        return text if READERS[name](text) == thing and not getattr(thing, "reads_all_metrics", False) else None
    except (InputError, TypeError, ValueError):
        return None


def _truth_columns(truth: Truth, target: str, event: str | None) -> dict[str, NDArray[Any]]:
    """The target's column, or time and event for survival, under names that no other column has."""
    free = {name: name if name not in OWN_COLUMNS else f"{name} (target)" for name in (target, event or "event")}
    if truth.kind is not TaskKind.SURVIVAL:
        return {free[target]: truth.labels()}
    return {free[target]: truth.values["time"], free[event or "event"]: truth.values["event"]}


def _distinct(names: Sequence[str], taken: Sequence[str]) -> list[str]:
    """Column names that differ from each other and from those in ``taken``."""
    used = {*taken}
    distinct = []
    for name in names:
        distinct.append(free_name(name, used))
        used.add(distinct[-1])
    return distinct


def _listed(classes: NDArray[Any] | None) -> list[Any]:
    return [] if classes is None else list(classes.tolist())


def _readable(codes: NDArray[Any], classes: NDArray[Any] | None) -> NDArray[Any]:
    assert classes is not None
    labels = classes.astype(object)[np.where(codes == UNPREDICTED_LABEL, 0, codes)]
    labels[codes == UNPREDICTED_LABEL] = None
    return np.asarray(labels)
