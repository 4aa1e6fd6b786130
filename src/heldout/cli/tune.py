"""``heldout tune``: from a table to a fitted model, an estimate that can be believed, and a report."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from heldout.cli.console import Console
from heldout.cli.files import folder_for, save_model, write_predictions, write_report_files
from heldout.cli.options import RUNNING, SectionedCommand, command_line, options_by_argument, parameters
from heldout.cli.result import estimate_document, search_document, search_rows
from heldout.cli.runs import resumable, run_context, run_session
from heldout.cli.tune_job import TuneJob, job_of, run_protocol, times_predicted
from heldout.cli.tune_options import (
    CONCLUDED,
    DATA,
    OPTUNA,
    SCORED,
    TRIED,
    TuneOptions,
    check_options,
    is_protocol,
)

if TYPE_CHECKING:
    from heldout.cli.files import OutputFolder
    from heldout.result import Evaluation


@click.command(
    cls=SectionedCommand,
    titles={section: section for section in (DATA, TRIED, SCORED, CONCLUDED, RUNNING)},
    name="tune",
    short_help="Tune models on a table and estimate how good the best one is.",
    params=parameters(TuneOptions),
)
@click.pass_context
def command(ctx: click.Context, /, **values: Any) -> None:
    """Try many models on DATA and estimate how good the best one is, corrected for having been the best.

    DATA is a CSV or Parquet file, or example:breast_cancer (also iris, wine, digits, diabetes). DIR receives
    run.db, model.skops, predictions.parquet, estimate.json and report.html; methods.md, a paragraph for a paper
    with its BibTeX; and card.md, the result for the README of a repository.
    """
    options = TuneOptions(**values)
    console = Console(options.as_json, options.quiet, options_by_argument(ctx.command))
    typed = command_line(ctx)
    with run_context(console):
        options.check()
        check_options(options)
        folder = folder_for(options.out, options.resume, console)
        job = job_of(options, console)
        n_bytes = times_predicted(options, job.search, console) * _bytes_of(job)
        with resumable(folder, n_bytes, typed, options.resume):
            evaluation, n_resumed = _evaluate(options, job, folder, console)
            files = _write_files(evaluation, job, options.selection, folder, typed, console)
    seconds = console.seconds()
    console.table(search_rows(evaluation, files, n_resumed, seconds=seconds))
    if evaluation.estimate is not None:
        console.show(evaluation.estimate.tables()[1:])
    console.document(
        {**search_document(evaluation, files, job.found, seconds=seconds), "n_fits_resumed": n_resumed}
    )
    console.check_all_was_printed(f"the files are in {folder.path}")


def _bytes_of(job: TuneJob) -> int:
    """Held-out predictions on the disk: in the run file, and once more in predictions.parquet."""
    task = job.search.task
    outputs = max(task.truth.n_classes, 1)
    cells = task.n_rows * job.n_planned * job.search.folds.n_repeats
    return 8 * cells * (2 * outputs + 2)


def _evaluate(options: TuneOptions, job: TuneJob, folder: OutputFolder, console: Console) -> tuple[Evaluation, int]:
    """The search, and how many of its fits an earlier run had done."""
    from heldout.cli.table import with_columns
    from heldout.cli.tune_space import evaluate_trials
    from heldout.evaluate import evaluate
    from heldout.execution.events import ConfigurationsAdded, Event, SearchStarted

    resumed: list[int] = []

    def count(event: Event) -> None:
        if isinstance(event, SearchStarted):
            resumed.append(event.n_resumed)
        elif isinstance(event, ConfigurationsAdded):
            resumed.extend(event.resumed.values())

    with run_session(options, folder, console, count) as running:
        if is_protocol(options):
            evaluation = run_protocol(options, job.search, running)
        elif job.space.search == OPTUNA:
            evaluation = evaluate_trials(job.space, options, job.search, folder, running, job.n_planned)
        else:
            evaluation = evaluate(job.search, running)
    evaluation = evaluation.with_provenance(
        configurations_from=job.space.search or "list", columns=job.found.columns
    )
    estimates = {name: with_columns(estimate, job.found) for name, estimate in evaluation.estimates.items()}
    return replace(evaluation, estimates=estimates), sum(resumed)


def _write_files(
    evaluation: Evaluation, job: TuneJob, selection: str, folder: OutputFolder, command: str, console: Console
) -> dict[str, str]:
    """The paths of the files by their kind."""
    from heldout.report import facts
    from heldout.report.importance import unfit_for_importance

    files = {"run": folder.run_file, **save_model(evaluation.model, folder, console)}
    metric = job.search.scoring.metrics[job.search.scoring.refit_metric]
    if metric is not None:
        found = job.found
        files["predictions"] = write_predictions(evaluation, metric, found.target, folder, event=found.event)
    if evaluation.estimate is not None:
        files["estimate"] = folder.write_json("estimate.json", estimate_document(evaluation))
    if evaluation.fold_models is not None and (reason := unfit_for_importance(evaluation)):
        console.note(f"The report has no importance of the columns: {reason}.")
    files |= write_report_files(facts(evaluation, command=command, title=job.source), folder)
    return {name: str(path) for name, path in files.items()}
