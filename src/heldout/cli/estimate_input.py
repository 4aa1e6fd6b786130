"""The options of ``heldout estimate``, and what they and the file say: predictions, target and metric."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, cast

from heldout import _defaults
from heldout._streams import entropy_of
from heldout._text import counted
from heldout.cli.options import (
    BLOCK_LENGTH_HELP,
    ROWS_OF_BOOTSTRAP_HELP,
    about_option,
    argument,
    check_values,
    json_option,
    option,
    quiet_option,
)
from heldout.data import checks, limits
from heldout.errors import InputError

if TYPE_CHECKING:
    from heldout.cli.console import Console
    from heldout.data.task import Truth
    from heldout.estimates.base import Method
    from heldout.estimates.input_arrays import ResponseName
    from heldout.metrics.base import Metric
    from heldout.predictions import HeldOutPredictions, SearchQuestion
    from heldout.readers.formats.own import ColumnRoles
    from heldout.readers.formats.tool import Export
    from heldout.readers.prediction_table import PredictionTable


def method_of_text(text: str) -> Method:
    """A method by its name, with the parameters that may follow it: ``naive_bootstrap(unit='folds')``.

    Raises InputError for an unknown name or parameter, and a wrong value.
    """
    from heldout.estimates.methods import method_of

    name, given = checks.call_in(text) or (text, {})
    with about_option("--method", text):
        if name == "all":
            checks.check_known("method", name, given, [])
        return method_of(text)


def fields_of(method: Method) -> set[str]:
    """The names of its parameters."""
    return {field.name for field in fields(method) if field.init}  # type: ignore[arg-type]


def configured(method: Method, settings: dict[str, Any]) -> Method:
    """The method with those of the settings that it has."""
    mine: dict[str, Any] = {name: value for name, value in settings.items() if name in fields_of(method)}
    return replace(method, **mine) if mine else method  # type: ignore[type-var]


_PLAIN = ("wide", "long")
OF_CONFIGURATIONS = ("wide", "heldout")
"""Formats with columns for each configuration."""


def _check_method(text: str) -> None:
    checks.check_choice("method", (checks.call_in(text) or (text, {}))[0], ("all", *checks.METHODS))


def share_of_candidates(text: str) -> str | float:
    """The value of ``--candidates``, as a method takes it."""
    if text == "best":
        return text
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--candidates must be best or a share such as 0.1, got {text!r}.") from None


@dataclass(frozen=True)
class EstimateOptions:
    """The options of ``heldout estimate``."""

    file: str = argument("FILE")
    format: str = option(
        "The format of FILE: the name of a tool (caret, tidymodels, mlr3, ...), wide or long; a wrong name lists "
        "them.",
        "auto",
        metavar="NAME",
        check=checks.check_format,
    )
    target: str | None = option(
        "The column of true values; of times, with --event; FILE:COL of another file.", metavar="COL"
    )
    event: str | None = option("Survival: 1 where the event was seen, 0 where the time is censored.", metavar="COL")
    fold: str | None = option(
        "The column of the fold in which a row was held out.", metavar="COL", argument="folds"
    )
    repeat: str | None = option("The column of the repeat that a line belongs to.", metavar="COL")
    row: str | None = option(
        "The column that identifies a row: its lines in every repeat have the same value.", metavar="COL"
    )
    configuration: tuple[str, ...] = option(
        "With --row, for a table with a line for each row and configuration: the column that identifies a "
        "configuration; repeatable (penalty and mixture). Of a recognised tool: a further such column.",
        (),
        metavar="COL",
    )
    prediction: tuple[str, ...] = option(
        "A column of predictions; by default all columns without another use.", (), metavar="COL"
    )
    group: str | None = option("Rows of one group are drawn together.", metavar="COL", argument="groups")
    weight: str | None = option("How much each row counts.", metavar="COL", argument="sample_weight")
    exclude: tuple[str, ...] = option("A column to ignore; repeatable.", (), metavar="COL")
    tasks: str | None = option(
        "Evaluations of several tasks: stratified draws items within each task (the default), whole draws tasks.",
        metavar="stratified|whole",
        choices=checks.TASK_DRAWS,
    )
    baseline: str | None = option(
        "The configuration, named beforehand, from which the leaderboard gives differences.", metavar="NAME"
    )
    metric: str | None = option(
        "The metric to estimate; by default guessed from target and predictions.",
        metavar="NAME",
        argument="scoring",
    )
    positive: str | None = option(
        "The class that greater scores mean; the case by default.", metavar="LABEL", argument="pos_label"
    )
    response: str = option(
        "The kind of the predictions: labels, probabilities, decision, or auto.",
        _defaults.RESPONSE,
        choices=checks.RESPONSES,
    )
    threshold: float | None = option("Where scores are cut into labels; above it is positive.")
    method: str | None = option(
        "A method's name, also with parameters, as in \"naive_bootstrap(unit='folds')\"; or all: every method "
        f"that applies, side by side. By default that of the file, else {_defaults.METHOD}.",
        metavar="NAME",
        check=_check_method,
    )
    candidates: str | None = option(
        "Two-part methods: the best one, or a share such as 0.1.", metavar="best|SHARE", check=share_of_candidates
    )
    evaluation_share: float | None = option("Two-part methods: the share of rows for the bound.")
    fixed_configuration: str | None = option(
        "The configuration to bound, named beforehand.", metavar="NAME", argument="configuration"
    )
    stratify: bool = option("Draw rows within classes.", False)
    interval: str | None = option("Of bbc: percentile, or calibrated, which is narrower.", metavar="NAME")
    control: str | None = option(
        "Of bbc: subtract the effect of few rows on the metric; off as published.",
        metavar="auto|on|off",
        choices=("auto", "on", "off"),
    )
    ties: str | None = option(
        "Of bbc: score the first of the candidates that tie (the default), or average all of them.",
        metavar="first|average",
    )
    selection: str | None = option(
        "How the winner is chosen: a rule, also with parameters, such as 'top_k(k=3)'; by default that of the "
        "file, else best.",
        metavar="NAME",
        check=checks.check_rule_names,
    )
    aggregate: str | None = option(
        "pooled: the metric over all rows; folds: its mean over folds; within: for metrics made of pairs, "
        "only pairs of rows of one fold; auto: as in heldout tune. By default that of the file, else pooled, or "
        "within where folds are not on one scale.",
        metavar="NAME",
        check=checks.check_aggregate,
    )
    adaptive: bool = option(
        "The configurations were proposed or dropped because of scores on these rows (Optuna, halving): flag it.",
        False,
    )
    block_length: str | None = option(BLOCK_LENGTH_HELP, metavar="auto|ROWS", check=checks.check_block_length)
    n_rows_of_bootstrap: str | None = option(
        f"{ROWS_OF_BOOTSTRAP_HELP} By default that of the file, else {_defaults.ROWS_OF_BOOTSTRAP}.",
        metavar="ROWS|all",
        check=checks.rows_of_bootstrap,
    )
    n_bootstraps: int | None = option(
        f"Number of bootstraps; by default that of the file, else {_defaults.BOOTSTRAPS}."
    )
    confidence_level: float | None = option(
        f"Confidence level of the interval; by default that of the file, else {_defaults.LEVEL}."
    )
    alternative: str | None = option("two-sided, greater or less; by default that of the file, else two-sided.")
    seed: int | None = option(
        "The same seed gives the same result; by default that of the file, else 0.",
        argument="random_state",
        check=entropy_of,
    )
    n_jobs: int | None = option("Threads that compute the bootstraps; -1 for all cores.", check=limits.check_jobs)
    out: str | None = option(
        "The folder for estimate.json, report.html, methods.md and card.md; by default nothing is written.",
        metavar="DIR",
    )
    as_json: bool = json_option()
    quiet: bool = quiet_option()

    def check(self) -> None:
        """Refuse names, forms and numbers that nothing has, before scikit-learn is imported."""
        check_values(self)
        checks.check_interval_settings(
            _defaults.BOOTSTRAPS if self.n_bootstraps is None else self.n_bootstraps,
            _defaults.LEVEL if self.confidence_level is None else self.confidence_level,
            _defaults.ALTERNATIVE if self.alternative is None else self.alternative,
        )


@dataclass(frozen=True, eq=False)
class EstimateInput:
    """The contents of the file, each part checked against the others."""

    table: PredictionTable
    roles: ColumnRoles | None
    """What the columns are, in a file that heldout wrote."""
    held: HeldOutPredictions
    metric: str
    threshold: float | None = None
    """Where the average of an ensemble is cut into labels."""


def read(options: EstimateOptions, console: Console) -> EstimateInput:
    """Read the file, and print what was read."""
    from heldout.estimates.data_flags import flag_of_upside_down
    from heldout.metrics.base import full_name
    from heldout.readers.formats.own import own_roles
    from heldout.readers.formats.tool import Export
    from heldout.readers.prediction_columns import remarks_on_whole_numbers
    from heldout.selection import rule_of

    export = Export.of(options.file)
    table = _recognised(export, options)
    if table.arrays is not None:
        console.say(str(table.source))
    doubts = () if table.columns is None else remarks_on_whole_numbers(table.columns)
    for remark in (*table.remarks, *doubts):
        console.note(remark)
    truth = _with_positive(_truth(table, options), table, options.positive)
    roles = own_roles(export.table_with()) if table.source.format == "heldout" else None
    metric = _metric(options, roles, truth, table, console)
    held, threshold = table.held_for(
        truth,
        metric,
        rule_of(options.selection or _remembered(table).selection or "best"),
        response=cast("ResponseName", options.response),
        threshold=options.threshold,
    )
    console.say(_what_was_read(table, truth, held, metric))
    # Columns named by their classes, and our own files, know their direction.
    known = roles is not None or table.has_probabilities
    upside_down = {} if known else flag_of_upside_down(truth, held)
    if upside_down and options.positive is None:
        sentence = next(iter(upside_down.values()))
        raise InputError(f"{sentence} If not, say --positive {shlex.quote(str(truth.pos_label))}.")
    held = replace(held, flags={**held.flags, **upside_down})
    return EstimateInput(table, roles, held, full_name(metric), threshold)


def _remembered(table: PredictionTable) -> SearchQuestion:
    """What the file says of the search that wrote it."""
    from heldout.predictions import SearchQuestion

    return SearchQuestion() if table.held is None else table.held.remembered


def _recognised(export: Export, options: EstimateOptions) -> PredictionTable:
    """The predictions of the file, by the format that recognises it or that is named."""
    from heldout.metrics import metric_named
    from heldout.readers.formats.recognition import FORMATS, format_of
    from heldout.readers.formats.tool import ColumnUses

    names = ("target", "event", "fold", "repeat", "row", "group", "weight", "configuration", "exclude", "tasks")
    uses = ColumnUses(**{name: getattr(options, name) for name in names}, predictions=options.prediction)
    known = format_of(export, uses, options.format)
    if known.name in _PLAIN and options.metric is not None and not metric_named(options.metric).reads_truth:
        known = FORMATS["scores"]
    if known.name in OF_CONFIGURATIONS:  # where --configuration names one of them
        uses = replace(uses, configuration=())
    return known.read(export, uses)


def _truth(table: PredictionTable, options: EstimateOptions) -> Truth:
    """The target in the kind that the metric needs, else in the kind of its values."""
    from heldout.data.task import TaskKind, has_fields, no_labels, truth_of
    from heldout.metrics import metric_named
    from heldout.metrics.base import reads_as_numbers
    from heldout.readers.prediction_columns import holds_amounts

    metric = options.metric
    tasks = None if metric is None else metric_named(metric).tasks
    if options.event is not None or has_fields(table.truth):
        return truth_of(table.truth, TaskKind.SURVIVAL)
    if tasks == frozenset({TaskKind.SURVIVAL}):
        raise InputError(
            f"--metric {metric} is for times to an event; name the column that tells whether the event happened "
            "with --event COL."
        )
    if (known := table.known_truth()) is not None:
        return known
    if table.held is not None and table.held.classes is not None:
        return truth_of(table.truth, TaskKind.MULTICLASS, classes=table.held.classes)
    if tasks is not None and TaskKind.REGRESSION not in tasks:
        fractions = no_labels(table.truth)
        if fractions.any():
            raise InputError(
                f"--metric {metric} is for labels, but the target holds numbers with decimals (such as "
                f"{table.truth[fractions][0]:.6g}); use a metric of numbers such as r2, or name another --target."
            )
        return truth_of(table.truth, TaskKind.MULTICLASS)
    if metric is not None and reads_as_numbers(metric_named(metric), table.truth):
        return truth_of(table.truth, TaskKind.REGRESSION)
    truth = truth_of(table.truth)
    # Whole numbers of many values are amounts: no table of predictions has one class for every few rows.
    many = truth.n_classes * 5 > truth.n_rows and table.truth.dtype.kind in "iuf"
    if many or (table.columns is not None and holds_amounts(table.columns, truth)):
        return truth_of(table.truth, TaskKind.REGRESSION)
    return truth


def _with_positive(truth: Truth, table: PredictionTable, label: str | None) -> Truth:
    """The target with its positive class: that of our own file, or the one of --positive."""
    from heldout.data.task import labels_text
    from heldout.readers.table_task import code_of_text, with_usual_positive

    file_code = None if table.held is None or table.arrays is not None else table.held.positive
    if label is None:
        return with_usual_positive(truth) if file_code is None else truth.with_positive(file_code)
    code = code_of_text(truth, label)
    if file_code is not None and code != file_code:
        assert truth.classes is not None
        raise InputError(
            f"--positive {label}: the scores in this file point to class "
            f"{labels_text([truth.classes[file_code]])}, which was fixed when they were made; leave the option out."
        )
    return truth.with_positive(code)


def _metric(
    options: EstimateOptions,
    roles: ColumnRoles | None,
    truth: Truth,
    table: PredictionTable,
    console: Console,
) -> Metric:
    from heldout.metrics import check_fits, metric_named
    from heldout.metrics.base import full_name

    default = None if roles is None else roles.metric
    if default is None and (remembered := _remembered(table).metric) is not None:
        default = full_name(remembered)
    name = options.metric or default or table.guessed_metric(truth)
    if options.metric is None:
        console.say(f"Metric: {name}. To choose another: --metric NAME.")
    with about_option("--metric", name):
        return check_fits(metric_named(name), truth)


def _what_was_read(table: PredictionTable, truth: Truth, held: HeldOutPredictions, metric: Metric) -> str:
    from heldout.data.task import labels_text

    text = f"{table.source.name}: {counted(truth.n_rows, 'row')}, {counted(held.n_configurations, 'configuration')}"
    is_ours = table.source.format == "heldout"
    if not is_ours and held.n_configurations > 1:
        text += f" ({held.names[0]!r} to {held.names[-1]!r})"
    if held.n_repeats > 1:
        text += f", {held.n_repeats} repeats"
    text += f", {truth.kind.value} target" if metric.reads_truth else ""
    if truth.positive is None or not metric.reads_truth:
        return f"{text}."
    otherwise = "" if is_ours else "; --positive LABEL says otherwise"
    if table.has_probabilities and truth.classes is not None:
        otherwise = f", whose probability is read; --positive {truth.classes[1 - truth.positive]} for the other"
    return f"{text} (positive class {labels_text([truth.pos_label])}{otherwise})."
