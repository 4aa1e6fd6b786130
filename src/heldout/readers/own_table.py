"""The table of predictions that heldout writes, and reads back as the same ``HeldOutPredictions``.

Its metadata (``Table.roles``) gives the role of each column, including repeats and probabilities of several
classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.data.checks import LEAST_ROWS_OF_BOOTSTRAP, call_text
from heldout.data.task import (
    Task,
    TaskKind,
    Truth,
    checked_groups,
    checked_weights,
    truth_of,
)
from heldout.errors import InputError
from heldout.estimates.methods import label_of
from heldout.flags import Flag
from heldout.metrics import check_fits, metric_named
from heldout.metrics.base import Metric, Response, full_name, times_of
from heldout.predictions import UNPREDICTED_LABEL, HeldOutPredictions, SearchQuestion
from heldout.readers.columns import (
    check_complete,
    check_numbers,
    free_name,
    labels_of_column,
    survival_of_columns,
)
from heldout.readers.known_classes import KnownClasses
from heldout.readers.lines import check_same, line_key, lines_of_cells
from heldout.readers.own_metadata import READERS, ColumnRoles
from heldout.readers.prediction_arrays import check_probabilities
from heldout.readers.prediction_table import PredictionTable, Source
from heldout.readers.tables import Table

OWN_COLUMNS = ("row", "repeat", "fold", "group", "weight")
"""The columns before the target and the configurations."""

_SAME = (
    "names", "positive", "exchangeable", "training_rows", "training_range", "grouped", "adaptive", "test_share",
)  # fmt: skip
"""What the roles of columns and the predictions have under the same name."""
_SETTINGS = ("aggregate", "n_bootstraps", "confidence_level", "alternative", "drop")
"""What the settings of a search and its question have under the same name."""
AS_WRITTEN = "use the file as heldout tune wrote it"
AS_CSV = f"{AS_WRITTEN}, or save it as CSV and name its columns"


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
    roles |= {name: getattr(predictions, name) for name in _SAME}
    roles |= {
        name: {str(j): why for j, why in getattr(predictions, name).items()} for name in ("failed", "dropped")
    }
    return pd.DataFrame(columns), roles


def predictions_from_own_table(table: Table) -> PredictionTable:
    """Read back what ``table_of_predictions`` wrote, in any order of its lines.

    Lines and columns that are missing, occur twice or contradict each other are refused.
    """
    assert table.roles is not None, "called only for tables with roles"
    frame, roles = table.frame, table.roles
    _check_columns(table, roles)
    uses = {"row": "the rows", "repeat": "the repeats", roles.target: "the target", "group": "the groups"}
    uses |= {"weight": "the weights"} | ({} if roles.event is None else {roles.event: "the event"})
    uses = {name: purpose for name, purpose in uses.items() if name in frame}
    for name, purpose in uses.items():
        check_complete(frame[name], purpose)
    rows, repeats = line_key("row", frame["row"]), line_key("repeat", frame["repeat"])
    cut = f"the file was cut or filtered: {AS_CSV}"
    lines = lines_of_cells([rows, repeats], f"each row has one line in each repeat: {AS_WRITTEN}", cut)
    for noun, size, written in zip(("rows", "repeats"), lines.shape, (roles.rows, roles.repeats), strict=True):
        if written not in (None, size):
            raise InputError(f"{table.name} has {size} {noun}, and {written} in its metadata 'heldout'; {cut}.")
    for name in [*uses][2:]:
        check_same(uses[name], frame[name], lines, rows)
    once = frame.iloc[lines[:, 0]].reset_index(drop=True)
    classes = None if roles.classes is None else np.asarray(roles.classes)
    array = np.ascontiguousarray(_predictions_of(frame, roles, classes)[lines].swapaxes(1, 2))
    if roles.response in (Response.PROBABILITIES, Response.SURVIVAL):
        check_probabilities(array, roles.names, of_classes=roles.response is Response.PROBABILITIES)
    truth = _true_values(roles, once, classes)
    groups = checked_groups(labels_of_column(once.get("group")), len(once))
    weights = checked_weights(once["weight"].to_numpy() if "weight" in once else None, len(once))
    folds = _folds(frame["fold"])[lines] if "fold" in frame else None
    predictions = HeldOutPredictions(
        responses={roles.response: array},
        folds=folds,
        classes=classes,
        failed=roles.failed,
        dropped=roles.dropped,
        times=roles.times,
        question=replace(_question(roles, truth), groups=groups, sample_weight=weights),
        **{name: getattr(roles, name) for name in _SAME},
    )
    return PredictionTable(truth, predictions, folds, groups, weights, Source(table.name), remarks=table.remarks)


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
        **{name: getattr(question, name) for name in (*_SETTINGS, "winner")},
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


def _question(roles: ColumnRoles, target: NDArray[Any]) -> SearchQuestion:
    """What the search asked that wrote a table; without its groups and weights."""
    settings = roles.settings
    positive = None if roles.classes is None or roles.positive is None else roles.classes[roles.positive]
    truth = truth_of(target, roles.kind, classes=roles.classes, pos_label=positive)
    try:
        metric = check_fits(metric_named(roles.metric), truth)
    except InputError:  # one of the user's own, or of another version
        metric = None
    texts = {
        name: reader(text) for name, reader in READERS.items() if (text := getattr(settings, name)) is not None
    }
    rule = texts.get("selection")
    return SearchQuestion(
        metric=metric,
        method=texts.get("method"),
        selection=rule,
        rule=rule,
        entropy=settings.entropy,
        block_length=texts.get("block_length"),
        n_rows_of_bootstrap=settings.n_rows_of_bootstrap,
        truth=truth,
        names=roles.names,
        winner=None if rule is None else settings.winner,
        flags={flag: settings.flags[flag] for flag in Flag if flag in settings.flags},
        beyond=settings.beyond,
        **{name: getattr(settings, name) for name in _SETTINGS},
    )


def check_repeats_used(table: Table, repeat: str | None) -> None:
    """Refuse to read heldout's own table without its repeats: each row would count several times."""
    if repeat != "repeat" and "repeat" in table.frame and table.frame["repeat"].nunique() > 1:
        raise InputError(
            f"{table.name} holds several repeats of the same rows, which would count as different rows; add --row "
            "row --repeat repeat, or name no column at all, as the file describes its own columns."
        )


def _check_columns(table: Table, roles: ColumnRoles) -> None:
    """Refuse a table with a column that is missing, or that its metadata does not name."""
    expected = ["row", "repeat", roles.target, *([roles.event] if roles.event else []), *chain(*roles.columns)]
    absent = [
        f"no column {name!r}, which its metadata 'heldout' names" for name in expected if name not in table.frame
    ]
    strange = {*table.frame} - {*expected, *OWN_COLUMNS}
    absent += [f"a column {name!r}, which its metadata 'heldout' does not name" for name in sorted(strange)]
    if absent:
        raise InputError(f"{table.name} has {absent[0]}; {AS_CSV}.")


def _folds(column: Any) -> NDArray[np.int32]:
    """The number of each line's fold, -1 where its row was not held out."""
    check_complete(column, "the folds")
    check_numbers(column, "the folds")
    odd = column[(column < -1) | (column >= len(column)) | (column % 1 != 0)]
    if len(odd):
        raise InputError(f"column 'fold' must number the folds from -1, got {odd.iloc[0]}; {AS_CSV}.")
    return column.to_numpy().astype(np.int32)


def _true_values(roles: ColumnRoles, once: Any, classes: NDArray[Any] | None) -> NDArray[Any]:
    """The target: labels of the classes, numbers, or times and events."""
    target = once[roles.target]
    if roles.event is not None:
        return np.asarray(survival_of_columns(target, once[roles.event]).values)
    if classes is None:
        check_numbers(target, "the target")
        return np.asarray(target.to_numpy())
    return classes[KnownClasses(classes).codes(target)]


def _predictions_of(frame: Any, roles: ColumnRoles, classes: NDArray[Any] | None) -> NDArray[Any]:
    """(lines, C) or (lines, C, n_classes or n_times), labels as codes."""
    heads = [*chain(*roles.columns)]
    if roles.response is Response.LABELS:
        assert classes is not None, "labels are of classes"
        return np.stack([KnownClasses(classes).codes(frame[head]) for head in heads], axis=1)
    for head in heads:
        if frame[head].notna().any():  # a failed configuration has missing values only, of no type
            check_numbers(frame[head], "the predictions")
    values = frame[heads].to_numpy(dtype=np.float64)
    return values.reshape(len(values), len(roles.columns), -1) if roles.several else values


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
