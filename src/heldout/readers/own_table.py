"""The table of predictions that heldout writes, and reads back as the same ``HeldOutPredictions``.

Its metadata (``Table.roles``) gives the role of each column, including repeats and probabilities of several
classes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.data.checks import call_text
from heldout.data.task import (
    Task,
    TaskKind,
    Truth,
    checked_groups,
    checked_weights,
    codes_of,
    labels_text,
    truth_of,
)
from heldout.errors import InputError
from heldout.estimates.methods import label_of
from heldout.flags import Flag
from heldout.metrics import check_fits, metric_named
from heldout.metrics.base import Metric, Response
from heldout.metrics.parameters import full_name, times_of
from heldout.predictions import UNPREDICTED_LABEL, HeldOutPredictions, SearchQuestion
from heldout.readers.columns import (
    check_complete,
    check_numbers,
    free_name,
    labels_of_column,
    plain,
    survival_of_columns,
)
from heldout.readers.lines import LineKey, check_agree, lines_of_cells
from heldout.readers.own_metadata import READERS, ColumnRoles
from heldout.readers.prediction_arrays import check_probabilities
from heldout.readers.prediction_table import PredictionTable, Source
from heldout.readers.tables import Table

OWN_COLUMNS = ("row", "repeat", "fold", "group", "weight")
"""The columns before the target and the configurations."""

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
        "positive": predictions.positive,
        "times": list(times_of(metric)),
        "names": list(predictions.names),
        "columns": outputs,
        "failed": {str(position): reason for position, reason in predictions.failed.items()},
        "dropped": {str(position): reason for position, reason in predictions.dropped.items()},
        "exchangeable": predictions.exchangeable,
        "training_rows": predictions.training_rows,
        "training_range": predictions.training_range,
        "grouped": predictions.grouped,
        "adaptive": predictions.adaptive,
        "test_share": predictions.test_share,
        "rows": n_rows,
        "repeats": n_repeats,
        "settings": _settings_of(predictions),
    }
    return pd.DataFrame(columns), roles


def predictions_from_own_table(table: Table) -> PredictionTable:
    """Read back what ``table_of_predictions`` wrote, in any order of its lines.

    Lines and columns that are missing, occur twice or contradict each other are refused.
    """
    assert table.roles is not None, "called only for tables with roles"
    frame, roles = table.frame, table.roles
    _check_columns(table, roles)
    places = _places(table, roles)
    once = _once_a_row(table, roles, places)
    classes = None if roles.classes is None else np.asarray(roles.classes)
    array = np.ascontiguousarray(_predictions_of(table, roles, classes)[places].swapaxes(1, 2))
    if roles.response in (Response.PROBABILITIES, Response.SURVIVAL):
        check_probabilities(array, roles.names, of_classes=roles.response is Response.PROBABILITIES)
    truth = _true_values(roles, once, classes)
    groups = checked_groups(labels_of_column(once.get("group")), len(places))
    weights = checked_weights(None if "weight" not in once else once["weight"].to_numpy(), len(places))
    predictions = HeldOutPredictions(
        responses={roles.response: array},
        names=roles.names,
        folds=_folds(frame["fold"], places) if "fold" in frame else None,
        classes=classes,
        positive=roles.positive,
        failed=roles.failed,
        dropped=roles.dropped,
        exchangeable=roles.exchangeable,
        training_rows=roles.training_rows,
        training_range=roles.training_range,
        grouped=roles.grouped,
        adaptive=roles.adaptive,
        times=roles.times,
        test_share=roles.test_share,
        question=replace(_question(roles, truth), groups=groups, sample_weight=weights),
    )
    return PredictionTable(
        truth, predictions, predictions.folds, groups=groups, sample_weight=weights, source=Source(table.name)
    )


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
        "aggregate": question.aggregate,
        "entropy": None if question.entropy is None else int(question.entropy),
        "n_bootstraps": question.n_bootstraps,
        "confidence_level": question.confidence_level,
        "alternative": question.alternative,
        "block_length": None if question.block_length is None else str(question.block_length),
        "drop": question.drop,
        "winner": question.winner,
        "flags": {flag.value: text for flag, text in question.flags.items()},
        "beyond": f"'{lost}', of which the file has no more than the name" if lost else question.beyond,
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
        aggregate=settings.aggregate,
        method=texts.get("method"),
        selection=rule,
        rule=rule,
        n_bootstraps=settings.n_bootstraps,
        confidence_level=settings.confidence_level,
        alternative=settings.alternative,
        entropy=settings.entropy,
        block_length=texts.get("block_length"),
        drop=settings.drop,
        truth=truth,
        names=roles.names,
        winner=None if rule is None else settings.winner,
        flags={flag: settings.flags[flag] for flag in Flag if flag in settings.flags},
        beyond=settings.beyond,
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
    absent = [name for name in expected if name not in table.frame]
    if absent:
        raise InputError(f"{table.name} has no column {absent[0]!r}, which its metadata 'heldout' names; {AS_CSV}.")
    strange = [name for name in table.frame if name not in {*expected, *OWN_COLUMNS}]
    if strange:
        raise InputError(
            f"{table.name} has a column {strange[0]!r}, which its metadata 'heldout' does not name; {AS_CSV}."
        )


def _places(table: Table, roles: ColumnRoles) -> NDArray[np.intp]:
    """(N, R): the line of each row in each repeat."""
    keys = [_numbered(table, "row", roles.rows), _numbered(table, "repeat", roles.repeats)]
    return lines_of_cells(
        keys,
        (
            f"each row has one line in each repeat: {AS_WRITTEN}",
            f"the file was cut or filtered: {AS_CSV}",
        ),
    )


def _numbered(table: Table, noun: str, size: int | None) -> LineKey:
    """The key with a column that counts from 0, up to ``size`` if that is known."""
    column = table.frame[noun]
    if column.dtype.kind not in "iu" or column.min() < 0 or column.max() >= 2**62:
        stranger = _first_stranger(column)
        raise InputError(
            f"column {noun!r} of {table.name} must number the {noun}s from 0, got {stranger!s}; {AS_CSV}."
        )
    number = int(column.max()) + 1 if size is None else size
    if column.max() >= number:
        raise InputError(
            f"column {noun!r} of {table.name} must be from 0 to {number - 1} by its metadata 'heldout', got "
            f"{column.max()!s}; {AS_CSV}."
        )
    return LineKey(noun, column.to_numpy().astype(np.intp), range(number))


def _first_stranger(column: Any) -> Any:
    """The first value that is not a whole number from 0, or the first value."""
    return next((value for value in column if not _counts(value)), column.iloc[0])


def _counts(value: Any) -> bool:
    numeric = isinstance(value, int | float | np.integer | np.floating) and bool(np.isfinite(value))
    return numeric and 0 <= value < 2**62 and int(value) == value


def _once_a_row(table: Table, roles: ColumnRoles, places: NDArray[np.intp]) -> dict[str, Any]:
    """The columns that are equal in all repeats of a row: name → (N,)."""
    uses = {roles.target: "the target", "group": "the groups", "weight": "the weights"}
    uses |= {} if roles.event is None else {roles.event: "the event"}
    once = {}
    for name, use in uses.items():
        if name in table.frame:
            column = table.frame[name]
            check_complete(column, use)
            check_agree(use, column, places, range(places.shape[1]), table.frame["row"])
            once[name] = column.iloc[places[:, 0]].reset_index(drop=True)
    return once


def _true_values(roles: ColumnRoles, once: Mapping[str, Any], classes: NDArray[Any] | None) -> NDArray[Any]:
    """The target: labels of the classes, numbers, or times and events."""
    target = once[roles.target]
    if roles.event is not None:
        return np.asarray(survival_of_columns(target, once[roles.event]).values)
    if classes is None:
        check_numbers(target, "the target")
        return np.asarray(target.to_numpy())
    return classes[_codes(target, classes)]


def _predictions_of(table: Table, roles: ColumnRoles, classes: NDArray[Any] | None) -> NDArray[Any]:
    """(lines, C) or (lines, C, n_classes or n_times), labels as codes."""
    if roles.response is Response.LABELS:
        assert classes is not None, "labels are of classes"
        lines = [_codes(table.frame[head], classes) for (head,) in roles.columns]
        return np.stack(lines, axis=1)
    for head in chain(*roles.columns):
        if table.frame[head].notna().any():  # a failed configuration has missing values only, of no type
            check_numbers(table.frame[head], "the predictions")
    values = table.frame[list(chain(*roles.columns))].to_numpy(dtype=np.float64)
    shape = (len(values), len(roles.columns))
    return values.reshape(*shape, -1) if roles.several else values


def _folds(column: Any, places: NDArray[np.intp]) -> NDArray[np.int32]:
    """(N, R), -1 where a row was not held out."""
    labels = column.to_numpy()
    if labels.dtype.kind not in "iu":
        stranger = _first_stranger(column)
        raise InputError(f"column {column.name!r} must number the folds from 0, got {stranger!s}; {AS_WRITTEN}.")
    if labels.min() < -1 or labels.max() >= len(labels):
        raise InputError(
            f"column {column.name!r} must number the folds from 0, with -1 where a row was not held out, got "
            f"{labels.min()} to {labels.max()}; {AS_WRITTEN}."
        )
    return np.asarray(labels[places].astype(np.int32))


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


def _codes(column: Any, classes: NDArray[Any]) -> NDArray[np.int32]:
    """The code of each label, -1 for a missing one."""
    absent = column.isna().to_numpy()
    codes = np.full(len(column), UNPREDICTED_LABEL, dtype=np.int32)
    labels = column.to_numpy()[~absent]
    codes[~absent] = codes_of(labels, classes)
    strange = ~absent & (codes == UNPREDICTED_LABEL)
    if strange.any():
        first = int(strange.argmax())
        raise InputError(
            f"column {column.name!r} holds {plain(column.iloc[first])} in row {first + 1}, which is none of the "
            f"classes {labels_text(classes)}; {AS_WRITTEN}."
        )
    return codes
