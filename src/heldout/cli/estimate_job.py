"""The work of ``heldout estimate``: from a file and options to an estimate and its files."""

import shlex
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self, cast

from heldout import _defaults
from heldout._text import counted
from heldout.cli.console import Console, Row
from heldout.cli.estimate_options import EstimateOptions, method_of_text, share_of_candidates
from heldout.cli.files import OutputFolder, write_report_files
from heldout.cli.options import OptionText, about_option, naming
from heldout.cli.result import estimate_rows
from heldout.data.checks import call_in, rows_of_bootstrap
from heldout.data.task import TaskKind, Truth, has_fields, labels_text, no_labels, truth_of
from heldout.errors import InputError
from heldout.estimates import METHODS, leaderboard
from heldout.estimates.base import Method
from heldout.estimates.comparison import Comparison, compare
from heldout.estimates.data_flags import flag_of_upside_down
from heldout.estimates.input_arrays import ResponseName
from heldout.estimates.inputs import Inputs, read_inputs, warn_of
from heldout.estimates.methods import answer, method_of
from heldout.estimates.paired.compare import comparison_of
from heldout.estimates.paired.leaderboard import REPLAYED, Leaderboard
from heldout.estimates.question import Aggregate
from heldout.estimates.types import Alternative, Estimate, was_named
from heldout.flags import Flag
from heldout.metrics import check_fits, metric_named
from heldout.metrics.base import Metric, full_name, reads_as_numbers
from heldout.predictions import HeldOutPredictions, SearchQuestion
from heldout.readers.columns import quoted
from heldout.readers.formats.own import ColumnRoles, own_roles
from heldout.readers.formats.recognition import FORMATS, format_of
from heldout.readers.formats.tool import Export
from heldout.readers.long_table import ColumnUses
from heldout.readers.prediction_columns import holds_amounts, remarks_on_whole_numbers
from heldout.readers.prediction_table import PredictionTable
from heldout.readers.table_task import code_of_text, with_usual_positive
from heldout.selection import rule_of

_PLAIN = ("wide", "long")
OF_CONFIGURATIONS = ("wide", "heldout")
"""Formats with columns for each configuration."""


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
    return SearchQuestion() if table.held is None else table.held.remembered


def _recognised(export: Export, options: EstimateOptions) -> PredictionTable:
    """The predictions of the file, by the format that recognises it or that is named."""
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
    default = None if roles is None else roles.metric
    if default is None and (remembered := _remembered(table).metric) is not None:
        default = full_name(remembered)
    name = options.metric or default or table.guessed_metric(truth)
    if options.metric is None:
        console.say(f"Metric: {name}. To choose another: --metric NAME.")
    with about_option("--metric", name):
        return check_fits(metric_named(name), truth)


def _what_was_read(table: PredictionTable, truth: Truth, held: HeldOutPredictions, metric: Metric) -> str:
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


def methods_of_options(options: EstimateOptions, found: EstimateInput) -> dict[str, Method]:
    """All methods, or the one named, each with those of the options that are its settings.

    Where none is named, that of the search that made the predictions.
    """
    settings, method, own = _settings(options, found), options.method, found.held.remembered.method
    is_own, method = method is None and own is not None, method or (own.name if own else _defaults.METHOD)
    if method != "all":
        chosen = own if is_own and own is not None else method_of_text(method)
        made, names = {chosen.name: chosen}, [chosen.name]
        twice = next((name for name in (call_in(method) or ("", {}))[1] if name in settings), None)
        if twice is not None:
            raise InputError(f"--method {method} says {twice}, and so does an option; leave one of them out.")
    else:
        made, names = {name: make() for name, make in METHODS.items()}, list(METHODS)
        made |= {} if own is None else {own.name: own}
    for setting in settings:
        able = [name for name, make in METHODS.items() if setting in fields_of(make())]
        if not set(able) & set(names):
            option = "--fixed-configuration" if setting == "configuration" else f"--{setting.replace('_', '-')}"
            of = f"it is one of {', '.join(able)}" if able else "no method of this version has it"
            use = f"use --method {able[0]}, or " if able else ""
            raise InputError(f"{option} is not a setting of --method {method}; {of}: {use}leave it out.")
    return {
        name: replace(
            cast(Any, made[name]), **{key: settings[key] for key in settings.keys() & fields_of(made[name])}
        )
        for name in names
    }


def _settings(options: EstimateOptions, found: EstimateInput) -> dict[str, Any]:
    settings = {
        "stratify": options.stratify or None,
        "interval": options.interval,
        "control": {"on": True, "off": False}.get(options.control or "", options.control),
        "ties": options.ties,
        "candidates": None if options.candidates is None else share_of_candidates(options.candidates),
        "evaluation_share": options.evaluation_share,
        "configuration": _configuration(options, found),
    }
    return {name: value for name, value in settings.items() if value is not None}


def _configuration(options: EstimateOptions, found: EstimateInput) -> str | None:
    """The configuration to bound; of a file with columns for each configuration, --configuration names it too."""
    name = options.fixed_configuration
    if options.configuration and found.table.source.format in OF_CONFIGURATIONS:
        if name is not None or len(options.configuration) > 1:
            raise InputError(
                "--configuration names the column that identifies the configuration of a line, and needs --row "
                "COL, the column that identifies its row."
            )
        (name,) = options.configuration
    if name is None or name in found.held.names:
        return name
    raise InputError(
        f"--fixed-configuration must name a configuration of the file, got {name!r}; they are "
        f"{quoted(found.held.names)} (to name the column that identifies configurations: --configuration COL "
        "--row COL)."
    )


def fields_of(method: Method) -> set[str]:
    """The names of its parameters."""
    return {field.name for field in fields(method) if field.init}  # type: ignore[arg-type]


MODEL_FILE = "model.skops"


@dataclass(frozen=True)
class SavedWinner:
    """The configuration of a run's model, and what it was selected by."""

    name: str
    metric: str
    aggregate: str | None
    selection: str | None
    file: str
    """The path of the model beside the predictions; empty where there is none."""

    @classmethod
    def of(cls, roles: ColumnRoles | None, path: str) -> Self | None:
        """That of a table of ``heldout tune``; None of another table, or where the file does not say."""
        if roles is None or roles.settings.winner is None:
            return None
        model = Path(path).with_name(MODEL_FILE)
        return cls(
            name=roles.names[roles.settings.winner],
            metric=roles.metric,
            aggregate=roles.settings.aggregate,
            selection=roles.settings.selection,
            file=str(model) if model.exists() else "",
        )

    def flagged(self, estimate: Estimate, metric: str, selection: str) -> Estimate:
        """The estimate with a flag if it is of another configuration.

        ``metric``, ``selection``: what the estimate selects by.
        """
        if estimate.selected_name == self.name:
            return estimate
        why = self._why_other(estimate, metric, selection)
        sentence = Flag.OTHER_MODEL.filled(model=self.name, selected=estimate.selected_name, why=why)
        return replace(estimate, flags={**estimate.flags, Flag.OTHER_MODEL: sentence})

    def row(self, estimate: Estimate) -> Row:
        """The label and text for the table of results."""
        where = f" ({self.file})" if self.file else ""
        return "saved model", f"{self.name}{where}" if Flag.OTHER_MODEL in estimate.flags else f"the same{where}"

    def to_dict(self, estimate: Estimate) -> dict[str, Any]:
        """Plain values for JSON."""
        is_selected = estimate.selected_name == self.name
        return {"configuration": self.name, "is_selected": is_selected, "file": self.file or None}

    def _why_other(self, estimate: Estimate, metric: str, selection: str) -> str:
        if was_named(estimate):
            return "it is of the configuration that was named beforehand"
        aggregate = str(estimate.provenance.get("aggregate"))
        pairs = (
            ("", self.metric, metric),
            ("aggregate ", None if self.aggregate == "auto" else self.aggregate, aggregate),
            ("rule ", self.selection, selection),
        )
        others = [(what, run, here) for what, run, here in pairs if run is not None and run != here]
        if others:
            run = ", ".join(f"{what}{value}" for what, value, _ in others)
            here = ", ".join(f"{what}{value}" for what, _, value in others)
            return f"the run selected by {run}, and the estimate by {here}"
        if Flag.OTHER_CONFIGURATION in estimate.flags:
            return f"method {estimate.method} selects on a part of the rows"
        return "the run selected by other scores than those of these predictions"


@dataclass(frozen=True, eq=False)
class FileEstimate:
    """The answer to a file of predictions, and what its report needs; of a run file the estimate alone."""

    result: Estimate | Comparison
    """A ``Comparison`` for ``--method all``."""
    inputs: Inputs | None = None
    table: str = ""
    saved: SavedWinner | None = None
    """The model that was saved beside the file."""
    leaderboard: Leaderboard | None = None
    """Of scores without a target, or where there is a baseline."""

    @property
    def main(self) -> Estimate:
        """The estimate that the report is about."""
        return self.result if isinstance(self.result, Estimate) else self.result[self.result.main]

    @property
    def comparison(self) -> Comparison | None:
        return self.result if isinstance(self.result, Comparison) else None

    def content(self, command: str) -> Any:
        from heldout.report import file_facts

        assert self.inputs is not None, "a run has a report of its own"
        return file_facts(
            self.main,
            self.inputs,
            comparison=self.comparison,
            leaderboard=self.leaderboard,
            command=command,
            title=self.table,
        )


def estimate_file(options: EstimateOptions, console: Console, folder: OutputFolder | None = None) -> FileEstimate:
    """Read the file, and estimate; ``folder`` is where files will be written, if any."""
    with naming({"configuration": OptionText("--configuration", "COL")}):
        reading = read(options, console)
    methods = methods_of_options(options, reading)
    inputs = _inputs(options, reading, next(iter(methods.values())))
    if folder is not None:
        folder.check_writable()  # before the work that would be lost
    result, saved = _result(inputs, methods, options.method == "all"), SavedWinner.of(reading.roles, options.file)
    if saved is not None:
        result = _with_saved(result, saved, reading.metric, inputs.question.rule.name)
    return FileEstimate(result, inputs, reading.table.source.name, saved, _leaderboard(options, inputs, methods))


def _leaderboard(options: EstimateOptions, inputs: Inputs, methods: dict[str, Method]) -> Leaderboard | None:
    if options.baseline is None and inputs.question.metric.reads_truth:
        return None
    method = next((methods[name] for name in REPLAYED if name in methods), method_of(_defaults.METHOD))
    compared = comparison_of(inputs, method)
    if options.baseline is None:
        return leaderboard(compared, method=method)
    with about_option("--baseline", options.baseline):
        return leaderboard(compared, baseline=options.baseline, method=method)


def _inputs(options: EstimateOptions, reading: EstimateInput, method: Method) -> Inputs:
    n_rows = options.n_rows_of_bootstrap
    return read_inputs(
        reading.table.truth,
        reading.held,
        metric=reading.metric,
        method=None if options.method == "all" else method,
        groups=reading.table.groups,
        sample_weight=reading.table.sample_weight,
        aggregate=cast("Aggregate | None", options.aggregate),
        selection=options.selection,
        threshold=reading.threshold,
        adaptive=options.adaptive,
        block_length=options.block_length,
        n_rows_of_bootstrap="auto" if n_rows is None else rows_of_bootstrap(n_rows),
        n_bootstraps=options.n_bootstraps,
        confidence_level=options.confidence_level,
        alternative=cast("Alternative | None", options.alternative),
        n_jobs=options.n_jobs,
        random_state=0 if options.seed is None and reading.held.remembered.entropy is None else options.seed,
    )


def _result(inputs: Inputs, methods: dict[str, Method], are_compared: bool) -> Estimate | Comparison:
    if are_compared:
        result: Estimate | Comparison = compare(inputs, methods)
    else:
        (method,) = methods.values()
        result = answer(method, inputs.evidence(method))
    warn_of(*(result.values() if isinstance(result, Comparison) else [result]), stacklevel=2)
    return result


def _with_saved(
    result: Estimate | Comparison, saved: SavedWinner, metric: str, selection: str
) -> Estimate | Comparison:
    """The result, with a flag on each estimate that is not of the saved model's configuration."""
    if isinstance(result, Estimate):
        return saved.flagged(result, metric, selection)
    flagged = {name: saved.flagged(each, metric, selection) for name, each in result.estimates.items()}
    return replace(result, estimates=flagged)


def write_files(folder: OutputFolder, answer: FileEstimate, command: str) -> dict[str, str]:
    """Write the files in place of those of an earlier estimate; returns their paths by their names."""
    folder.check_writable()
    content, document = answer.content(command), answer.main.to_dict()
    if answer.leaderboard is not None:
        document["leaderboard"] = answer.leaderboard.to_dict()
    written = [folder.write_json("estimate.json", document)]
    if answer.comparison is None:
        with suppress(FileNotFoundError):  # of other methods than those of this report
            (folder.path / "comparison.json").unlink()
    else:
        written.append(folder.write_json("comparison.json", answer.comparison.to_dict()))
    files = write_report_files(content, folder)
    written += [files["methods"], files["card"], files["report"].with_name("report.json"), files["report"]]
    return {path.name: str(path) for path in written}


def print_answer(answer: FileEstimate, files: dict[str, str], console: Console) -> None:
    main, saved, document = answer.main, answer.saved, answer.result.to_dict()
    rows = estimate_rows(main) if answer.comparison is None else []
    if saved is not None:
        rows.append(saved.row(main))
        document["saved_model"] = saved.to_dict(main)
    rows += [("files", list(files.values()))] if files else []
    if answer.comparison is not None:
        console.show(answer.comparison.tables())
    if rows:
        console.table(rows)
    if answer.leaderboard is not None:
        console.lines([""])
        console.show(answer.leaderboard.tables())
        document["leaderboard"] = answer.leaderboard.to_dict()
    console.document(document)
