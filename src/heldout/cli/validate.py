"""``heldout validate``: how good a model fitted on a whole table is, corrected for its optimism."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from heldout import _defaults
from heldout.cli.console import Console
from heldout.cli.files import folder_for, save_model, write_report_files
from heldout.cli.options import EVENT_VALUE_HELP, command_line, options_by_argument, run_options
from heldout.cli.result import run_document
from heldout.cli.runs import resumable, run_context, run_session
from heldout.cli.validate_job import (
    ValidateJob,
    ValidateOptions,
    check_options,
    job_of,
    validation_rows,
)

if TYPE_CHECKING:
    from heldout.cli.files import OutputFolder
    from heldout.protocols.validation.estimate import Validation


@click.command(name="validate", short_help="Estimate how good a model is that was fitted on all rows of a table.")
@click.argument("data")
@click.option(
    "--target", required=True, metavar="COL", help="The column to predict; for survival the time to the event."
)
@click.option(
    "--event",
    metavar="COL",
    help="Survival: 1 where the event was seen at the time in --target, 0 where the row was censored then.",
)
@click.option("--event-value", metavar="VALUE", help=EVENT_VALUE_HELP)
@click.option("--task", metavar="KIND", help="classification, regression or survival; by default guessed.")
@click.option(
    "--model",
    metavar="NAME|FILE",
    multiple=True,
    help="logistic, linear or cox, unpenalised, of all columns; or a Python file that defines model, or a .skops "
    "file. Repeatable: then the best is chosen.",
)
@click.option(
    "--trust",
    metavar="TYPE",
    multiple=True,
    help="The full name of a type in the .skops file that you reviewed and heldout did not; repeatable.",
)
@click.option(
    "--metric",
    metavar="NAME",
    multiple=True,
    help="A metric to report; repeatable, and the first chooses among models. rms: those of R's rms::validate. By "
    "default the usual ones of the task.",
)
@click.option(
    "--time",
    type=float,
    metavar="T",
    multiple=True,
    help="Survival: a time at which to score and calibrate; repeatable.",
)
@click.option(
    "--positive",
    metavar="LABEL",
    help="The positive one of two classes; the case by default.",
)
@click.option("--groups", metavar="COL", help="Rows of one group (a patient, a site) are drawn together.")
@click.option("--copies", type=click.Choice(["together"]), help="Rows with the same predictors are drawn together.")
@click.option(
    "--predictor",
    metavar="COL",
    multiple=True,
    help="A column to predict from; repeatable. By default all columns without another use.",
)
@click.option(
    "--keep", metavar="COL", multiple=True, help="A column to use although it looks like a row number; repeatable."
)
@click.option(
    "--method",
    metavar="NAME",
    help="auto (optimism, and 632+ or oob for a model that memorises its rows; the default), optimism, 632, 632+, "
    "oob, or two_stage (choose among several models, then estimate anew, as auto does by default).",
)
@click.option(
    "--bootstraps",
    type=int,
    default=_defaults.VALIDATION_BOOTSTRAPS,
    show_default=True,
    help="How many samples to draw.",
)
@click.option(
    "--imputations",
    type=int,
    default=0,
    show_default=True,
    help="How often to impute missing values in every sample; 0 leaves them to the model.",
)
@click.option(
    "--imputation-order",
    default="boot_mi",
    show_default=True,
    metavar="ORDER",
    help="boot_mi (draw, then impute), mi_boot (impute, then draw), or naive.",
)
@click.option(
    "--outcome-in-evaluation",
    is_flag=True,
    help="Impute the rows that are evaluated with their outcome too, like those that train. The scores are then "
    "too good for new rows, whose outcome is unknown.",
)
@click.option(
    "--backward",
    type=float,
    metavar="P",
    help="Remove columns one by one while the greatest p-value, pooled over the imputations, is above P; anew in "
    "every sample. Needs --imputations.",
)
@click.option(
    "--interval",
    default="auto",
    show_default=True,
    metavar="NAME",
    help="location_shifted, double (a bootstrap of each bootstrap), percentile (of oob), or none.",
)
@click.option(
    "--inner-bootstraps",
    type=int,
    help="Samples to draw of each bootstrap, with --interval double or --adjust-optimism; by default "
    f"{_defaults.INNER_BOOTSTRAPS}.",
)
@click.option(
    "--second-bootstraps",
    type=int,
    help="Of auto and two_stage: samples that estimate the chosen model; by default as many as --bootstraps, which "
    "choose it.",
)
@click.option(
    "--adjust-optimism",
    is_flag=True,
    help="Adjust the optimism by the double bootstrap: what bootstraps of each bootstrap make of its optimism.",
)
@run_options
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
        check_options(options)
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
