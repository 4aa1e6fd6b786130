"""``heldout estimate``: a corrected performance from a file of held-out predictions of any origin."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from heldout import _defaults
from heldout.cli.console import Console, Row, command_of
from heldout.cli.estimate_input import (
    OF_CONFIGURATIONS,
    EstimateOptions,
    configured,
    fields_of,
    method_of_text,
    share_of_candidates,
)
from heldout.cli.files import OutputFolder, is_run, path_named, run_file_in, write_report_files
from heldout.cli.options import OptionText, about_option, naming, values_typed
from heldout.cli.result import estimate_rows
from heldout.errors import InputError
from heldout.flags import Flag

if TYPE_CHECKING:
    from heldout.cli.estimate_input import EstimateInput
    from heldout.estimates.base import Method
    from heldout.estimates.comparison import Comparison
    from heldout.estimates.inputs import Inputs
    from heldout.estimates.paired.leaderboard import Leaderboard
    from heldout.estimates.question import Aggregate
    from heldout.estimates.types import Alternative, Estimate
    from heldout.readers.formats.own import ColumnRoles
    from heldout.report.entries import Facts


def _check_parts(options: EstimateOptions) -> None:
    """Refuse what the parts of the library refuse, before anything is read."""
    from heldout.metrics import metric_named
    from heldout.selection import rule_of

    if options.metric is not None:
        with about_option("--metric", options.metric):
            metric_named(options.metric)
    if options.method not in (None, "all"):
        method_of_text(options.method)
    if options.selection is not None:
        with about_option("--selection", options.selection):
            rule_of(options.selection)


def methods_of_options(options: EstimateOptions, found: EstimateInput) -> dict[str, Method]:
    """All methods, or the one named, each with those of the options that are its settings.

    Where none is named, that of the search that made the predictions.
    """
    from heldout.data.checks import call_in
    from heldout.estimates import METHODS

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
    return {name: configured(made[name], settings) for name in names}


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
    from heldout.readers.columns import quoted

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
    def of(cls, roles: ColumnRoles | None, path: str) -> SavedWinner | None:
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
        from heldout.estimates.types import was_named

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
        from heldout.estimates.types import Estimate

        return self.result if isinstance(self.result, Estimate) else self.result[self.result.main]

    @property
    def comparison(self) -> Comparison | None:
        from heldout.estimates.comparison import Comparison

        return self.result if isinstance(self.result, Comparison) else None

    def content(self, command: str) -> Facts:
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
    from heldout.cli.estimate_input import read

    _check_parts(options)
    with naming({"configuration": OptionText("--configuration", "COL")}):
        reading = read(options, console)
    methods = methods_of_options(options, reading)
    inputs = _inputs(options, reading, next(iter(methods.values())))
    if folder is not None:
        folder.check_writable()  # before the work that would be lost
    result, saved = _result(options, inputs, methods), SavedWinner.of(reading.roles, options.file)
    if saved is not None:
        result = _with_saved(result, saved, reading.metric, inputs.question.rule.name)
    return FileEstimate(result, inputs, reading.table.source.name, saved, _leaderboard(options, inputs, methods))


def _leaderboard(options: EstimateOptions, inputs: Inputs, methods: dict[str, Method]) -> Leaderboard | None:
    from heldout.estimates import leaderboard
    from heldout.estimates.methods import method_of
    from heldout.estimates.paired.compare import comparison_of
    from heldout.estimates.paired.leaderboard import REPLAYED

    if options.baseline is None and inputs.question.metric.reads_truth:
        return None
    method = next((methods[name] for name in REPLAYED if name in methods), method_of(_defaults.METHOD))
    compared = comparison_of(inputs, method)
    if options.baseline is None:
        return leaderboard(compared, method=method)
    with about_option("--baseline", options.baseline):
        return leaderboard(compared, baseline=options.baseline, method=method)


def _inputs(options: EstimateOptions, reading: EstimateInput, method: Method) -> Inputs:
    from heldout.data.checks import rows_of_bootstrap
    from heldout.estimates.inputs import read_inputs

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


def _result(options: EstimateOptions, inputs: Inputs, methods: dict[str, Method]) -> Estimate | Comparison:
    """A ``Comparison`` for ``--method all``."""
    from heldout.estimates.comparison import compare
    from heldout.estimates.inputs import warn_of
    from heldout.estimates.methods import answer

    if options.method == "all":
        comparison = compare(inputs, methods)
        warn_of(*comparison.values(), stacklevel=2)
        return comparison
    (method,) = methods.values()
    estimate = answer(method, inputs.evidence(method))
    warn_of(estimate, stacklevel=2)
    return estimate


def _with_saved(
    result: Estimate | Comparison, saved: SavedWinner, metric: str, selection: str
) -> Estimate | Comparison:
    """The result, with a flag on each estimate that is not of the saved model's configuration."""
    from heldout.estimates.types import Estimate

    if isinstance(result, Estimate):
        return saved.flagged(result, metric, selection)
    flagged = {name: saved.flagged(each, metric, selection) for name, each in result.estimates.items()}
    return replace(result, estimates=flagged)


_OF_A_RUN = ("file", "n_jobs", "as_json", "quiet")
"""Options that a run file leaves open."""


@command_of(EstimateOptions, "estimate", "Estimate how good the best of many configurations is, from predictions.")
def command(options: EstimateOptions, console: Console, typed: str) -> None:
    """Estimate the performance of the best of the configurations in FILE, corrected for having been the best.

    FILE is the file or folder that caret, tidymodels, mlr3, WEKA, H2O or another known tool wrote of its held-out
    predictions, or the predictions.parquet of `heldout tune`: these are recognised, and need no options.

    Or FILE is any CSV or Parquet table with a line for each row: a column of true values, and a column of held-out
    predictions (scores or labels) for each configuration, or one for each class, named name[class]. With --repeat
    there is a line for each row and repeat; with --configuration and --row one for each row and configuration.

    Or FILE is the run.db of a search, or its folder. The search may be unfinished or running: the estimate is then
    from the folds that are complete for all remaining configurations, and says so.
    """
    with console.noting_warnings():
        options.check()
        if is_run(Path(options.file)):
            _print(FileEstimate(_estimate_of_run(options)), {}, console)
            console.check_all_was_printed()
            return
        folder = _folder(options, console)
        answer = estimate_file(options, console, folder)
        files = {} if folder is None else _write_files(folder, answer, typed)
    _print(answer, files, console)
    where = f"the files are in {folder.path}" if folder else "nothing else was kept"
    console.check_all_was_printed(where)


def _estimate_of_run(options: EstimateOptions) -> Estimate:
    """The estimate of the search in a run file, which has its own settings."""
    from heldout.execution.store.sqlite import SQLiteStore

    typed = [each for each in values_typed(click.get_current_context()) if each not in _OF_A_RUN]
    if typed:
        raise InputError(
            f"--{typed[0].replace('_', '-')} has no meaning for a run file, whose search has its own settings; "
            f"leave it out, or name DIR/predictions.parquet of a finished run in place of {options.file}."
        )
    return SQLiteStore(run_file_in(Path(options.file))).estimate_so_far(options.n_jobs)


def _folder(options: EstimateOptions, console: Console) -> OutputFolder | None:
    if options.out is None:
        return None
    folder = OutputFolder(path_named(options.out, "--out"), console.options)
    if folder.run_file.exists():
        raise InputError(
            f"{folder.path} holds a run of heldout tune, whose estimate and report would be lost; choose another "
            "folder with --out."
        )
    return folder


def _write_files(folder: OutputFolder, answer: FileEstimate, command: str) -> dict[str, str]:
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


def _print(answer: FileEstimate, files: dict[str, str], console: Console) -> None:
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
