"""``heldout validate``: how good a model fitted on a whole table is, corrected for its optimism."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from heldout.cli.console import Console
from heldout.cli.files import folder_for, save_model, write_report_files
from heldout.cli.options import command_line, options_by_argument, parameters
from heldout.cli.result import run_document
from heldout.cli.runs import resumable, run_context, run_session
from heldout.cli.validate_job import (
    ValidateJob,
    ValidateOptions,
    job_of,
    validation_rows,
)

if TYPE_CHECKING:
    from heldout.cli.files import OutputFolder
    from heldout.protocols.validation.estimate import Validation


@click.command(
    name="validate",
    short_help="Estimate how good a model is that was fitted on all rows of a table.",
    params=parameters(ValidateOptions),
)
@click.pass_context
def command(ctx: click.Context, /, **values: Any) -> None:
    """Fit a model on bootstrap samples of DATA, and subtract the estimated optimism from its apparent performance.

    DATA is a CSV or Parquet file, or example:breast_cancer (also iris, wine, digits, diabetes). DIR receives
    run.db, model.skops, validation.json and report.html; methods.md, a paragraph for a paper with its BibTeX; and
    card.md, the result for the README of a repository.
    """
    options = ValidateOptions(**values)
    console = Console(options.as_json, options.quiet, options_by_argument(ctx.command))
    typed = command_line(ctx)
    with run_context(console):
        options.check()
        folder = folder_for(options.out, options.resume, console)
        job = job_of(options, console)
        with resumable(folder, job.n_bytes, typed, options.resume):
            validation = _validate(options, job, folder, console)
            files = _write_files(validation, job, folder, typed, console)
    seconds = console.seconds()
    console.show(validation.tables())
    console.table(validation_rows(validation, files, seconds=seconds))
    console.document({**validation.to_dict(), **run_document(job.found, files, seconds)})
    console.check_all_was_printed(f"the files are in {folder.path}")


def _validate(options: ValidateOptions, job: ValidateJob, folder: OutputFolder, console: Console) -> Validation:
    from heldout.cli.table import with_columns
    from heldout.protocols.validation.protocol import validated

    with run_session(options, folder, console) as running:
        validation = validated(job.arguments, job.plan, running)
    estimates = {name: with_columns(estimate, job.found) for name, estimate in validation.estimates.items()}
    return replace(validation, estimates=estimates)


def _write_files(
    validation: Validation, job: ValidateJob, folder: OutputFolder, command: str, console: Console
) -> dict[str, str]:
    """The paths of the files by their kind."""
    from heldout.report import facts

    files = {"run": folder.run_file, **save_model(validation.model, folder, console)}
    files["validation"] = folder.write_json("validation.json", validation.to_dict())
    files |= write_report_files(facts(validation, command=command, title=job.source), folder)
    return {name: str(path) for name, path in files.items()}
