"""``heldout validate``: how good a model fitted on a whole table is, corrected for its optimism."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from heldout.cli.command_line import command_line
from heldout.cli.console import Console
from heldout.cli.folder import folder_for, how_to_go_on
from heldout.cli.group import Interrupted, stops_like_ctrl_c
from heldout.cli.option_words import in_words_of_options
from heldout.cli.run_options import run_options
from heldout.cli.validate_plan import ToValidate, ValidateOptions, check_validate_options, to_validate
from heldout.cli.validate_result import WORDS, validation_document, validation_lines
from heldout.errors import MissingExtraError

if TYPE_CHECKING:
    from heldout.cli.folder import OutputFolder
    from heldout.protocols.validation.estimate import Validation


@click.command(name="validate", short_help="Say how good a model is that was fitted on all rows of a table.")
@click.argument("data")
@click.option(
    "--target", required=True, metavar="COL", help="The column to predict; of survival the time to the event."
)
@click.option("--event", metavar="COL", help="Of survival: whether the event was seen at that time (1) or not (0).")
@click.option("--task", metavar="KIND", help="classification, regression or survival; guessed unless told.")
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
    help="The full name of a type in the .skops file that heldout did not review and you did; repeatable.",
)
@click.option(
    "--metric",
    metavar="NAME",
    multiple=True,
    help="What to report; repeatable, and the first chooses among models. The usual ones of the task unless told.",
)
@click.option(
    "--time",
    type=float,
    metavar="T",
    multiple=True,
    help="Of survival: a time to score at and calibrate; repeatable.",
)
@click.option("--positive", metavar="LABEL", help="The positive of two classes; the last in order unless told.")
@click.option("--groups", metavar="COL", help="Rows of one group (a patient, a site) are drawn together.")
@click.option(
    "--predictor",
    metavar="COL",
    multiple=True,
    help="A column to predict from; repeatable. All others unless told.",
)
@click.option(
    "--keep", metavar="COL", multiple=True, help="A column to use although it looks like a row number; repeatable."
)
@click.option(
    "--method",
    metavar="NAME",
    help="optimism, 632, 632+, oob, or two_stage (choose among several models, then estimate anew). optimism "
    "unless told, of several models two_stage.",
)
@click.option("--bootstraps", type=int, default=200, show_default=True, help="How many samples to draw.")
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
    "--interval",
    default="auto",
    show_default=True,
    metavar="NAME",
    help="location_shifted, double (a bootstrap of each bootstrap), percentile (of oob), or none.",
)
@click.option(
    "--inner-bootstraps",
    type=int,
    help="Samples to draw of each bootstrap, with --interval double; 50 unless told.",
)
@run_options
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """Fit a model on bootstrap samples of DATA, and correct its apparent performance by what it flatters itself.

    DATA is a CSV or Parquet file, or example:breast_cancer (also iris, wine, digits, diabetes). DIR receives
    run.db, model.skops, validation.json and report.html.
    """
    from heldout.protocols.validation.plan import bytes_recorded

    wanted = ValidateOptions(**options)
    console = Console(wanted.as_json, wanted.quiet)
    again = command_line(ctx)
    with console.noting_warnings(), stops_like_ctrl_c(), in_words_of_options(WORDS):
        check_validate_options(wanted)
        folder = folder_for(wanted.out, wanted.resume)
        asked = to_validate(wanted, console)
        folder.check_writable()
        folder.check_room(bytes_recorded(asked.plan))
        try:
            validation = _validated(wanted, asked, folder, console)
            files = _leave(validation, asked, folder, again, console)
        except KeyboardInterrupt:
            raise Interrupted(how_to_go_on(folder, again, wanted.resume)) from None
    seconds = console.seconds()
    console.lines(validation_lines(validation, files, seconds=seconds))
    console.document(validation_document(validation, files, asked, seconds=seconds))
    console.check_all_was_printed(f"the files are in {folder.path}")


def _validated(wanted: ValidateOptions, asked: ToValidate, folder: OutputFolder, console: Console) -> Validation:
    from heldout.cli.engines import fitting_with
    from heldout.execution.listeners.progress import progress
    from heldout.execution.run import RunSettings
    from heldout.execution.store.sqlite import SQLiteStore
    from heldout.protocols.validation.protocol import validated

    # Workers inherit it: what they print would tear the progress bar, and is no more than an interim remark.
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    if wanted.resume and not folder.run_file.exists():
        console.note(f"{folder.path} holds no run yet, so there is nothing to resume; a new one begins.")
    with fitting_with(wanted.engine, wanted.n_jobs), progress(quiet=wanted.quiet) as listener:
        running = RunSettings(
            store=SQLiteStore(
                folder.run_file,
                accept_changed_code=wanted.accept_changed_code,
                one_run=True,
                terms=wanted.terms,
            ),
            resume=wanted.resume,
            n_jobs=wanted.n_jobs,
            fit_timeout=wanted.fit_timeout,
            listeners=[listener],
        )
        return validated(asked.asked, asked.plan, running)


def _leave(
    validation: Validation, asked: ToValidate, folder: OutputFolder, again: str, console: Console
) -> dict[str, str]:
    """Write the files; the report last, so that its being there says that all is there."""
    from heldout.cli.saving import note_on_strangers, write_model
    from heldout.report import write_report
    from heldout.report.from_validation import validation_content

    files = {"run": folder.run_file}
    try:
        files["model"], strangers = write_model(validation.model, folder)
    except MissingExtraError:
        raise
    except Exception as error:  # of skops, which cannot write every estimator: no reason to lose the rest
        said = " ".join(str(error).split())
        console.note(f"The model could not be saved as model.skops ({type(error).__name__}: {said}).")
        strangers = []
    if strangers:
        console.note(note_on_strangers(strangers))
    files["validation"] = folder.write_json("validation.json", validation.to_dict())
    content = validation_content(validation, command=again, title=asked.source)
    folder.write_json("report.json", content.to_dict())
    files["report"] = folder.write("report.html", lambda path: write_report(content, path))
    return {name: str(path) for name, path in files.items()}
