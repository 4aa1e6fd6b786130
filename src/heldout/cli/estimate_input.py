"""The options of ``heldout estimate``, and what they and the file say: predictions, target and metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from numpy.typing import NDArray

from heldout.cli.options import about_option
from heldout.errors import InputError

if TYPE_CHECKING:
    from heldout.cli.console import Console
    from heldout.data.task import Truth
    from heldout.estimates.responses import ResponseName
    from heldout.metrics.base import Metric
    from heldout.predictions import HeldOutPredictions
    from heldout.readers.prediction_columns import PredictionColumns
    from heldout.readers.predictions import TablePredictions
    from heldout.readers.tables import Table


@dataclass(frozen=True)
class EstimateOptions:
    """The options of ``heldout estimate``."""

    file: str
    target: str | None
    event: str | None
    fold: str | None
    repeat: str | None
    row: str | None
    group: str | None
    weight: str | None
    exclude: tuple[str, ...]
    prediction: tuple[str, ...]
    metric: str | None
    positive: str | None
    response: str
    threshold: float | None
    method: str
    candidates: str | None
    evaluation_share: float | None
    configuration: tuple[str, ...]
    fixed_configuration: str | None
    stratify: bool
    interval: str | None
    control: str | None
    ties: str | None
    selection: str
    aggregate: str | None
    adaptive: bool
    n_bootstraps: int | None
    confidence_level: float | None
    alternative: str
    seed: int | None
    out_of_core: bool
    n_jobs: int | None
    out: str | None
    as_json: bool
    quiet: bool


@dataclass(frozen=True, eq=False)
class EstimateInput:
    """The contents of the file, each part checked against the others."""

    table: Table
    y_true: NDArray[Any]
    """(N,): as in the file; for survival a structured array."""
    truth: Truth
    """The same, coded."""
    held: HeldOutPredictions
    metric: str
    groups: NDArray[Any] | None
    sample_weight: NDArray[Any] | None
    """``groups``, ``sample_weight``: (N,)."""
    threshold: float | None = None
    """Where the average of an ensemble is cut into labels."""
    long: bool = False
    """Whether the file has a line for each row and configuration."""


def read(options: EstimateOptions, console: Console) -> EstimateInput:
    """Read the file, and print what was read."""
    from heldout.estimates.input_arrays import read_as, refuse_labels, threshold_of_reading
    from heldout.metrics.parameters import full_name
    from heldout.readers.prediction_columns import (
        check_kinds,
        held_out,
        prediction_columns_of,
        remarks_on_whole_numbers,
    )
    from heldout.readers.tables import read_table
    from heldout.selection import rule_of

    table = read_table(options.file)
    is_long = table.roles is None and bool(options.configuration) and options.row is not None
    table, found = _of_long(table, options) if is_long else (table, _predictions(table, options))
    for remark in (*table.remarks, *found.remarks, *remarks_on_whole_numbers(found)):
        console.note(remark)
    truth = _with_positive(_truth(found, options), found, options.positive)
    heads = prediction_columns_of(found, truth)
    metric = _metric(options, table, truth, found, heads, console)
    check_kinds(found, heads, truth, metric)
    _check_folds(options, found)
    if found.held is not None and options.threshold is not None:
        raise InputError(
            f"--threshold {options.threshold:g}: {table.name} was written by heldout, and its scores were "
            "already cut into labels; leave the option out."
        )
    if found.held is not None and options.response != "auto":
        raise InputError(
            f"--response {options.response}: {table.name} was written by heldout, and its metadata tells what "
            "its predictions are; leave the option out."
        )
    rule = rule_of(options.selection)
    response = cast("ResponseName", options.response)
    threshold = threshold_of_reading(rule, [metric], options.threshold)
    standing = read_as(rule, metric, truth)
    if found.held is None and not heads.per_class:
        refuse_labels(rule, truth, found.predictions, options.response)
    held = held_out(found, heads, truth, standing, response=response, threshold=threshold)
    console.say(_what_was_read(table, truth, found, held))
    of_average = options.threshold if threshold is None else None
    return EstimateInput(
        table, found.y_true, truth, held, full_name(metric), found.groups, found.sample_weight, of_average, is_long
    )


def _predictions(table: Table, options: EstimateOptions) -> TablePredictions:
    from heldout.readers.own_table import check_repeats_used, predictions_from_own_table
    from heldout.readers.predictions import predictions_from_table

    if table.roles is not None:
        own = {name: name for name in ("fold", "group", "weight", "row", "repeat")}
        own["target"] = table.roles.target
        agreed = all(getattr(options, option) in (None, column) for option, column in own.items())
        agreed = agreed and not options.prediction
        if agreed and options.event is None and {*options.exclude} <= {"row", "repeat"}:
            return predictions_from_own_table(table)
        check_repeats_used(table, options.repeat)
    return predictions_from_table(table, _target(table, options), **_uses_of_columns(options))


def _of_long(table: Table, options: EstimateOptions) -> tuple[Table, TablePredictions]:
    """The table with its remarks, and the predictions of one with a line for each row and configuration."""
    from heldout.readers.long_table import LongColumns, predictions_from_long_table

    columns = LongColumns(
        configuration=options.configuration, target=_target(table, options), **_uses_of_columns(options)
    )
    return predictions_from_long_table(table, columns)


def _target(table: Table, options: EstimateOptions) -> str:
    if options.target is None:
        raise InputError(f"--target is needed: which column of {table.name} holds the true values?")
    return options.target


def _uses_of_columns(options: EstimateOptions) -> dict[str, Any]:
    names = ("event", "fold", "repeat", "row", "group", "weight", "exclude")
    return {name: getattr(options, name) for name in names} | {"predictions": options.prediction}


def _truth(found: TablePredictions, options: EstimateOptions) -> Truth:
    """The target in the kind that the metric needs, else in the kind of its values."""
    from heldout.data.arrays import has_fields
    from heldout.data.task import TaskKind, no_labels, truth_of
    from heldout.metrics import metric_named
    from heldout.metrics.by_kind import reads_as_numbers

    metric = options.metric
    tasks = None if metric is None else metric_named(metric).tasks
    if options.event is not None or has_fields(found.y_true):
        return truth_of(found.y_true, TaskKind.SURVIVAL)
    if tasks == frozenset({TaskKind.SURVIVAL}):
        raise InputError(
            f"--metric {metric} is for times to an event; name the column that tells whether the event happened "
            "with --event COL."
        )
    if found.held is not None and found.held.classes is not None:
        return truth_of(found.y_true, TaskKind.MULTICLASS, classes=found.held.classes)
    if tasks is not None and TaskKind.REGRESSION not in tasks:
        fractions = no_labels(found.y_true)
        if fractions.any():
            raise InputError(
                f"--metric {metric} is for labels, but the target holds numbers with decimals (such as "
                f"{found.y_true[fractions][0]:.6g}); use a metric of numbers such as r2, or name another --target."
            )
        return truth_of(found.y_true, TaskKind.MULTICLASS)
    if metric is not None and reads_as_numbers(metric_named(metric), found.y_true):
        return truth_of(found.y_true, TaskKind.REGRESSION)
    truth = truth_of(found.y_true)
    # Whole numbers of many values are amounts: no table of predictions has one class for every few rows.
    if truth.n_classes * 5 > truth.n_rows and found.y_true.dtype.kind in "iuf":
        return truth_of(found.y_true, TaskKind.REGRESSION)
    return truth


def _with_positive(truth: Truth, found: TablePredictions, label: str | None) -> Truth:
    """The target with its positive class: that of our own file, or the one of --positive."""
    from heldout.data.task import labels_text
    from heldout.readers.table_task import code_of_text

    own = None if found.held is None else found.held.positive
    if label is None:
        return truth if own is None else truth.with_positive(own)
    code = code_of_text(truth, label)
    if own is not None and code != own:
        assert truth.classes is not None
        raise InputError(
            f"--positive {label}: the scores in this file point to class {labels_text([truth.classes[own]])}, "
            "which was fixed when they were made; leave the option out."
        )
    return truth.with_positive(code)


def _metric(
    options: EstimateOptions,
    table: Table,
    truth: Truth,
    found: TablePredictions,
    heads: PredictionColumns,
    console: Console,
) -> Metric:
    from heldout.metrics import check_fits, metric_named
    from heldout.readers.prediction_columns import guessed_metric

    own = None if table.roles is None else table.roles.metric
    name = options.metric or own or guessed_metric(truth, found, heads)
    if options.metric is None:
        console.say(f"Metric: {name}. To choose another: --metric NAME.")
    with about_option("--metric", name):
        return check_fits(metric_named(name), truth)


def _check_folds(options: EstimateOptions, found: TablePredictions) -> None:
    """Refuse methods that compare fold by fold where there are no folds."""
    from heldout.cli.method_text import method_of_text

    folds = found.folds if found.held is None else found.held.folds
    method = None if options.method == "all" else method_of_text(options.method)
    needs_more = method is not None and method.needs_test_share  # more than folds: it refuses by itself
    by_fold = method is not None and method.reads == {"fold scores"} and not needs_more
    is_by_fold = options.aggregate in ("folds", "within")
    asking = f"--method {options.method}" if by_fold else f"--aggregate {options.aggregate}" if is_by_fold else ""
    if asking and folds is None:
        raise InputError(f"{asking} compares scores fold by fold; name the column of folds with --fold.")


def _what_was_read(table: Table, truth: Truth, found: TablePredictions, held: HeldOutPredictions) -> str:
    from heldout._text import counted
    from heldout.data.task import labels_text

    text = f"{table.name}: {counted(truth.n_rows, 'row')}, {counted(held.n_configurations, 'configuration')}"
    if found.held is None and held.n_configurations > 1:
        text += f" ({held.names[0]!r} to {held.names[-1]!r})"
    if held.n_repeats > 1:
        text += f", {held.n_repeats} repeats"
    text += f", {truth.kind.value} target"
    if truth.positive is None:
        return f"{text}."
    otherwise = "" if found.held is not None else "; --positive LABEL says otherwise"
    return f"{text} (positive class {labels_text([truth.pos_label])}{otherwise})."
