"""The table of predictions that heldout writes, and the metadata that says what its columns are.

Anybody with the file can change it, so the type and range of every entry are checked as any input is. A copy with
its lines in another order, or with another name, is read as the same predictions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import chain, pairwise
from typing import Annotated, Any, TypeAlias

import numpy as np

from heldout import _defaults
from heldout._types import Array
from heldout.data.checks import AGGREGATES, ALTERNATIVES, LEAST_ROWS_OF_BOOTSTRAP, call_text
from heldout.data.declared import Between, of_type
from heldout.data.task import Task, TaskKind, Truth, shortened
from heldout.errors import InputError
from heldout.estimates.methods import label_of, method_of
from heldout.estimates.question import blocks_of
from heldout.metrics.base import Metric, Response, check_among, full_name, times_of
from heldout.predictions import UNPREDICTED_LABEL, HeldOutPredictions
from heldout.readers.columns import first_line, free_name
from heldout.selection import configuration_rule_of

METADATA_KEY = b"heldout"
REMEDY = "write the file again with heldout tune, or save it as CSV, which has no metadata, and name its columns"

_RESPONSES = {
    TaskKind.REGRESSION: {Response.VALUES},
    TaskKind.SURVIVAL: {Response.RISK, Response.SURVIVAL},
    TaskKind.BINARY: {Response.LABELS, Response.PROBABILITIES, Response.DECISION},
    TaskKind.MULTICLASS: {Response.LABELS, Response.PROBABILITIES, Response.DECISION},
}


Count: TypeAlias = Annotated[int, Between(0, 2**62)]
Share: TypeAlias = Annotated[float, Between(0, 1)]


@dataclass(frozen=True)
class SearchSettings:
    """Settings of the search that wrote the table; None where it recorded none."""

    aggregate: str | None = None
    entropy: Annotated[int, Between(0, 2**64 - 1)] | None = None
    n_bootstraps: Annotated[int, Between(1, 2**62)] | None = None
    confidence_level: Share | None = None
    alternative: str | None = None
    method: str | None = None
    block_length: str | None = None
    n_rows_of_bootstrap: Count = _defaults.ROWS_OF_BOOTSTRAP
    """All rows of the table where bootstraps draw from all."""
    selection: str | None = None
    """How the winner was selected; None too for a rule that no text names, as ``beyond`` then says."""
    drop: str | None = None
    flags: Mapping[str, str] = field(default_factory=dict)
    beyond: str = ""
    winner: Count | None = None
    """The number of the configuration of the model that was fitted on all rows."""


@dataclass(frozen=True)
class ColumnRoles:
    """The role of each column in a table that ``heldout tune`` wrote."""

    target: str
    """Column of true values; of times in a survival task, which also has ``event``."""
    kind: TaskKind
    metric: str
    response: Response
    """What the predictions are."""
    names: tuple[str, ...]
    """Names of the C configurations."""
    columns: tuple[tuple[str, ...], ...]
    """The columns of each configuration: one, or one per class or time."""
    exchangeable: bool
    event: str | None = None
    classes: tuple[str, ...] | tuple[bool, ...] | tuple[int | float, ...] | None = None
    """The labels of a classification, in the order of their codes."""
    positive: Count | None = None
    times: tuple[float, ...] = ()
    failed: Mapping[int, str] = field(default_factory=dict)
    dropped: Mapping[int, str] = field(default_factory=dict)
    training_rows: float | None = None
    training_range: tuple[Count, Count] | None = None
    grouped: bool = False
    adaptive: bool = False
    test_share: Share | None = None
    """``failed``, ``dropped``, ``exchangeable``, ``training_rows``, ``training_range``, ``grouped``,
    ``adaptive``, ``test_share``: as in ``HeldOutPredictions``."""
    rows: Count | None = None
    repeats: Count | None = None
    """``rows``, ``repeats``: numbers of rows and repeats; None in files of earlier versions."""
    settings: SearchSettings = SearchSettings()

    @property
    def several(self) -> bool:
        """Whether a configuration has an axis of classes or times."""
        return len(self.columns[0]) > 1 or self.response is Response.SURVIVAL


def roles_of_metadata(metadata: Mapping[bytes, bytes] | None, path: str) -> ColumnRoles | None:
    """The column roles in the metadata of a Parquet file; None if heldout did not write the file."""
    if not metadata or METADATA_KEY not in metadata:
        return None
    try:
        content = json.loads(metadata[METADATA_KEY].decode("utf-8"))
    except (ValueError, RecursionError) as error:  # ValueError: no JSON, no UTF-8, or a number of 5 000 digits
        raise InputError(
            f"{path}: its metadata 'heldout' cannot be read as JSON ({first_line(error)}); {REMEDY}."
        ) from None
    return roles_of_json(content, path)


def roles_of_json(content: Any, path: str) -> ColumnRoles:
    """The column roles in decoded JSON; wrong types and values that contradict each other are refused."""
    entries = _known_entries(ColumnRoles, content)
    if isinstance(entries, dict) and "settings" in entries:
        entries["settings"] = _known_entries(SearchSettings, entries["settings"])
    try:
        roles: ColumnRoles = of_type(ColumnRoles, entries)
    except ValueError as error:
        raise InputError(
            f"{path}: its metadata 'heldout' does not say what the columns are ({error}); {REMEDY}."
        ) from None
    for name, value, fits in _entries(roles):
        if not fits:
            raise InputError(
                f"{path}: {name!r} of its metadata 'heldout' does not fit the other entries, got "
                f"{shortened(value)}; {REMEDY}."
            )
    return roles


READERS: Mapping[str, Callable[[str], Any]] = {
    "aggregate": partial(check_among, "aggregate", allowed=AGGREGATES),
    "alternative": partial(check_among, "alternative", allowed=ALTERNATIVES),
    "method": method_of,
    "block_length": blocks_of,
    "selection": configuration_rule_of,
}
"""From the text of a setting to what it names."""


def _known_entries(kind: Any, content: Any) -> Any:
    """The entries of an object that this version knows, without those that are null."""
    if not isinstance(content, dict):
        return content
    return {one.name: content[one.name] for one in fields(kind) if content.get(one.name) is not None}


def _entries(roles: ColumnRoles) -> Iterator[tuple[str, Any, bool]]:
    """Entries with their values, and whether these can stand beside the others."""
    kind, classes, settings, n = roles.kind, roles.classes or (), roles.settings, len(roles.names)
    is_binary, is_survival = kind is TaskKind.BINARY, kind is TaskKind.SURVIVAL
    n_classes = len(classes) if len({*classes}) == len(classes) else 0
    yield "kind", kind.value, kind in _RESPONSES
    yield "response", str(roles.response), roles.response in _RESPONSES.get(kind, ())
    of_kind = n_classes >= 2 if kind.is_classification else not classes
    yield "classes", [*classes], of_kind and (n_classes == 2 or not is_binary)
    positive = -1 if roles.positive is None else roles.positive
    yield "positive", roles.positive, positive < max(n_classes, 0) and (positive >= 0 or not is_binary)
    yield "event", roles.event, is_survival == (roles.event is not None)
    yield "times", [*roles.times], all(low < high for low, high in pairwise(roles.times))
    fewest, most = roles.training_range or (0, 0)
    yield "training_range", [fewest, most], fewest <= most
    yield "test_share", roles.test_share, roles.test_share not in (0, 1)
    yield "confidence_level", settings.confidence_level, settings.confidence_level not in (0, 1)
    yield from ((name, getattr(settings, name), _is_read(name, getattr(settings, name))) for name in READERS)
    yield "winner", settings.winner, settings.winner is None or settings.winner < n
    yield "failed", [*roles.failed], all(number < n for number in roles.failed)
    yield "dropped", [*roles.dropped], all(number < n for number in roles.dropped)
    by_class = kind is TaskKind.MULTICLASS and roles.response is not Response.LABELS
    width = len(roles.times) if roles.response is Response.SURVIVAL else n_classes if by_class else 1
    uses = [*chain(*roles.columns), roles.target, roles.event, "row", "repeat", "fold", "group", "weight"]
    fit = len(roles.columns) == n > 0 and {*map(len, roles.columns)} == {width}
    yield "columns", [*map(list, roles.columns)], fit and len({*uses}) == len(uses)


def _is_read(name: str, text: str | None) -> bool:
    """Whether the text of a setting, if there is one, names something."""
    try:
        None if text is None else READERS[name](text)
    except (InputError, TypeError, ValueError):  # of a parameter that is none
        return False
    return True


OWN_COLUMNS = ("row", "repeat", "fold", "group", "weight")
"""The columns before the target and the configurations."""

SAME = (
    "names", "positive", "exchangeable", "training_rows", "training_range", "grouped", "adaptive", "test_share",
)  # fmt: skip
"""What the roles of columns and the predictions have under the same name."""
SETTINGS = ("aggregate", "n_bootstraps", "confidence_level", "alternative", "drop")
"""What the settings of a search and its question have under the same name."""


def table_of_predictions(
    task: Task,
    predictions: HeldOutPredictions,
    metric: Metric,
    target: str,
    event: str | None = None,
    *,
    rows: slice = slice(None),
) -> tuple[Any, dict[str, Any]]:
    """The predictions that a metric reads as a table, with the role of each column.

    ``target`` and ``event`` are names for the columns of the target; in a survival task those of time and event.
    Of many rows the frame can have some (``rows``); roles are of all.

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
    numbers, array = np.arange(len(array))[rows], array[rows]
    n_rows, n_configurations, n_repeats = array.shape[:3]
    response = next(response for response in metric.responses if response in predictions.responses)
    truth_columns = _truth_columns(task.truth, target, event)
    names = _distinct(predictions.names, taken=(*OWN_COLUMNS, *truth_columns))
    classes = predictions.classes
    columns: dict[str, Any] = {
        "row": np.tile(numbers, n_repeats),
        "repeat": np.repeat(np.arange(n_repeats), n_rows),
    }
    if predictions.folds is not None:
        columns["fold"] = predictions.folds[rows].T.ravel()
    if task.groups is not None:
        columns["group"] = np.tile(task.groups[rows], n_repeats)
    if task.sample_weight is not None:
        columns["weight"] = np.tile(task.sample_weight[rows], n_repeats)
    for name, values in truth_columns.items():
        columns[name] = np.tile(values[rows], n_repeats)
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
        "rows": predictions.n_rows,
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


def _truth_columns(truth: Truth, target: str, event: str | None) -> dict[str, Array]:
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


def _listed(classes: Array | None) -> list[Any]:
    return [] if classes is None else list(classes.tolist())


def _readable(codes: Array, classes: Array | None) -> Array:
    assert classes is not None
    labels = classes.astype(object)[np.where(codes == UNPREDICTED_LABEL, 0, codes)]
    labels[codes == UNPREDICTED_LABEL] = None
    return np.asarray(labels)
