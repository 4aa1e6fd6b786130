"""The ``predictions.parquet`` of ``heldout tune``, whose metadata says what its columns are."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import chain, pairwise
from typing import Annotated, Any, TypeAlias

import numpy as np

from heldout import _defaults
from heldout._types import Array, Codes
from heldout.data.checks import AGGREGATES, ALTERNATIVES, LEAST_ROWS_OF_BOOTSTRAP, call_text
from heldout.data.declared import Between, of_type
from heldout.data.task import Task, TaskKind, Truth, checked_groups, checked_weights, shortened, truth_of
from heldout.errors import InputError
from heldout.estimates.methods import label_of, method_of
from heldout.estimates.question import blocks_of
from heldout.flags import Flag
from heldout.metrics import check_fits, metric_named
from heldout.metrics.base import Metric, Response, check_among, full_name, times_of
from heldout.predictions import UNPREDICTED_LABEL, HeldOutPredictions, SearchQuestion
from heldout.readers.columns import check_complete, check_numbers, codes_of_column, first_line, free_names
from heldout.readers.formats.tool import Export, Tool
from heldout.readers.long_table import ColumnUses, pivot_of
from heldout.readers.prediction_table import PredictionTable, Source, check_probabilities
from heldout.readers.tables import Table
from heldout.selection import configuration_rule_of

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


def own_roles(table: Table) -> ColumnRoles | None:
    """The role of each column in a table that heldout wrote; None of any other.

    Metadata of wrong types, or that contradict each other, are refused.
    """
    if table.metadata is None:
        return None
    what = f"{table.name}: its metadata 'heldout'"
    try:
        entries = _known_entries(ColumnRoles, json.loads(table.metadata.decode("utf-8")))
        if isinstance(entries, dict) and "settings" in entries:
            entries["settings"] = _known_entries(SearchSettings, entries["settings"])
        roles: ColumnRoles = of_type(ColumnRoles, entries)
    except (ValueError, RecursionError) as error:  # no JSON, no UTF-8, or a number of 5 000 digits are ValueErrors
        raise InputError(f"{what} does not say what the columns are ({first_line(error)}); {REMEDY}.") from None
    for name, value, fits in _entries(roles):
        if not fits:
            got = f"got {shortened(value)}"
            raise InputError(
                f"{table.name}: {name!r} of its metadata 'heldout' does not fit the other entries, {got}; {REMEDY}."
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
    "failed", "dropped",
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
        JSON-safe; ``own_roles`` reads it back.
    """
    import pandas as pd

    array = predictions.for_metric(metric)
    numbers, array = np.arange(len(array))[rows], array[rows]
    n_rows, n_configurations, n_repeats = array.shape[:3]
    response = next(response for response in metric.responses if response in predictions.responses)
    truth_columns = _truth_columns(task.truth, target, event)
    names = free_names(predictions.names, taken=(*OWN_COLUMNS, *truth_columns))
    classes = predictions.classes
    columns: dict[str, Any] = {
        "row": np.tile(numbers, n_repeats),
        "repeat": np.repeat(np.arange(n_repeats), n_rows),
    }
    if predictions.folds is not None:
        columns["fold"] = predictions.folds[rows].T.ravel()
    of_rows = {"group": task.groups, "weight": task.sample_weight} | truth_columns
    columns |= {name: np.tile(values[rows], n_repeats) for name, values in of_rows.items() if values is not None}
    what = [f"until {time:.6g}" for time in times_of(metric)] if response is Response.SURVIVAL else _listed(classes)
    outputs: list[list[str]] = []
    for j in range(n_configurations):
        long = np.moveaxis(array[:, j], 1, 0).reshape(n_rows * n_repeats, -1)
        heads = [names[j]] if array.ndim == 3 else free_names([f"{names[j]} = {each}" for each in what], [*columns])
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
    return pd.DataFrame(columns), roles | {name: getattr(predictions, name) for name in SAME}


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


def _listed(classes: Array | None) -> list[Any]:
    return [] if classes is None else list(classes.tolist())


def _readable(codes: Array, classes: Array | None) -> Array:
    assert classes is not None
    labels = classes.astype(object)[np.where(codes == UNPREDICTED_LABEL, 0, codes)]
    labels[codes == UNPREDICTED_LABEL] = None
    return np.asarray(labels)


_AS_CSV = "use the file as heldout tune wrote it, or save it as CSV and name its columns"
_CUT = f"the file was cut or changed: {_AS_CSV}"


class OwnFile(Tool):
    """Where the user names other columns than its own, the file is a plain table."""

    name = "heldout"
    title = "the predictions of heldout tune"
    signs = "the metadata 'heldout' of a Parquet file"
    free = ("event", "repeat", "configuration", "predictions")

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        table = export.table
        roles = None if table is None else own_roles(table)
        if table is None or roles is None:
            return False
        own = {name: name for name in OWN_COLUMNS} | {"target": roles.target}
        agreed = all(getattr(uses, use) in (None, column) for use, column in own.items()) and not uses.predictions
        if agreed and uses.event is None and {*uses.exclude} <= {"row", "repeat"}:
            return True
        if uses.repeat != "repeat" and "repeat" in table.frame and table.frame["repeat"].nunique() > 1:
            raise InputError(
                f"{table.name} holds several repeats of the same rows, which would count as different rows; add "
                "--row row --repeat repeat, or name no column at all, as the file describes its own columns."
            )
        return False

    def tables(self, export: Export, uses: ColumnUses) -> tuple[dict[str, Table], ColumnUses]:
        table = export.table_with()
        roles = own_roles(table)
        if roles is None:
            raise InputError(
                f"{export.name} was not written by heldout tune: it lacks {self.signs}; leave "
                f"`format={self.name!r}` out.",
                argument="format",
            )
        named = ("row", "repeat", roles.target, roles.event, *chain(*roles.columns))
        absent = [name for name in named if name is not None and name not in table.frame]
        if absent:
            raise InputError(
                f"{table.name} has no column {absent[0]!r}, which its metadata 'heldout' names; {_CUT}."
            )
        own: dict[str, Any] = {name: name for name in OWN_COLUMNS if name in table.frame}
        return {"": table}, ColumnUses(target=roles.target, event=roles.event, **own)

    def roles(self, export: Export, table: Table, uses: ColumnUses) -> ColumnUses:
        return uses.with_roles(whole=True, when_damaged=_CUT)

    def predictions(self, table: Table, roles: ColumnUses) -> PredictionTable:
        columns = own_roles(table)
        assert columns is not None, "tables() refuses tables without"
        pivot = pivot_of(table, roles, self.configuration)
        for noun, size, written in zip(
            ("rows", "repeats"), pivot.lines.shape[:2], (columns.rows, columns.repeats), strict=True
        ):
            if written not in (None, size):
                raise InputError(
                    f"{table.name} has {size} {noun}, and {written} in its metadata 'heldout'; {_CUT}."
                )
        classes = None if columns.classes is None else np.asarray(columns.classes)
        lines = pivot.lines[..., 0]
        array = np.ascontiguousarray(_predictions_of(table.frame, columns, classes)[lines].swapaxes(1, 2))
        if columns.response in (Response.PROBABILITIES, Response.SURVIVAL):
            check_probabilities(array, columns.names, of_classes=columns.response is Response.PROBABILITIES)
        truth = pivot.truth
        if classes is not None:
            truth = classes[codes_of_column(table.frame[columns.target], classes)[lines[:, 0]]]
        elif columns.event is None:
            check_numbers(table.frame[columns.target], "the target")
        groups = checked_groups(pivot.groups, len(truth))
        weights = checked_weights(pivot.weights, len(truth))
        folds = None if pivot.folds is None else _checked_folds(table.frame["fold"])[lines]
        predictions = HeldOutPredictions(
            responses={columns.response: array},
            folds=folds,
            classes=classes,
            times=columns.times,
            question=replace(_question(columns, truth), groups=groups, sample_weight=weights),
            **{name: getattr(columns, name) for name in SAME},
        )
        source = Source(table.name, self.name, self.title)
        return PredictionTable(truth, predictions, folds, groups, weights, source, remarks=table.remarks)


def _question(roles: ColumnRoles, target: Array) -> SearchQuestion:
    """What the search asked that wrote a table; without its groups and weights."""
    settings = roles.settings
    positive = None if roles.classes is None or roles.positive is None else roles.classes[roles.positive]
    truth = truth_of(target, roles.kind, classes=roles.classes, pos_label=positive)
    try:
        metric = check_fits(metric_named(roles.metric), truth)
    except InputError:  # one of the user's own, or of another version
        metric = None
    rule, method, blocks = (
        None if (text := getattr(settings, name)) is None else READERS[name](text)
        for name in ("selection", "method", "block_length")
    )
    return SearchQuestion(
        metric=metric,
        method=method,
        selection=rule,
        rule=rule,
        entropy=settings.entropy,
        block_length=blocks,
        n_rows_of_bootstrap=settings.n_rows_of_bootstrap,
        truth=truth,
        names=roles.names,
        winner=None if rule is None else settings.winner,
        flags={flag: settings.flags[flag] for flag in Flag if flag in settings.flags},
        beyond=settings.beyond,
        **{name: getattr(settings, name) for name in SETTINGS},
    )


def _checked_folds(column: Any) -> Codes:
    """The number of each line's fold, -1 where its row was not held out."""
    check_complete(column, "the folds")
    check_numbers(column, "the folds")
    odd = column[(column < -1) | (column >= len(column)) | (column % 1 != 0)]
    if len(odd):
        raise InputError(f"column 'fold' must number the folds from -1, got {odd.iloc[0]}; {_AS_CSV}.")
    return column.to_numpy().astype(np.int32)


def _predictions_of(frame: Any, roles: ColumnRoles, classes: Array | None) -> Array:
    """(lines, C) or (lines, C, n_classes or n_times), labels as codes."""
    heads = [*chain(*roles.columns)]
    if roles.response is Response.LABELS:
        assert classes is not None, "labels are of classes"
        return np.stack([codes_of_column(frame[head], classes) for head in heads], axis=1)
    for head in heads:
        if frame[head].notna().any():  # a failed configuration has missing values only, of no type
            check_numbers(frame[head], "the predictions")
    values = frame[heads].to_numpy(dtype=np.float64)
    return values.reshape(len(values), len(roles.columns), -1) if roles.several else values
