"""``heldout estimate``: a corrected performance from a file of held-out predictions of any origin."""

from pathlib import Path
from typing import Any

import click

from heldout.cli.console import Console, command_of
from heldout.cli.estimate_options import EstimateOptions
from heldout.cli.files import OutputFolder, is_run, path_named, run_file_in
from heldout.cli.options import values_typed
from heldout.errors import InputError


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
            estimate = _estimate_of_run(options)
            from heldout.cli.estimate_job import FileEstimate, print_answer

            print_answer(FileEstimate(estimate), {}, console)
            console.check_all_was_printed()
            return
        folder = _folder(options, console)
        options.check_parts()
        from heldout.cli.estimate_job import estimate_file, print_answer, write_files

        answer = estimate_file(options, console, folder)
        files = {} if folder is None else write_files(folder, answer, typed)
    print_answer(answer, files, console)
    where = f"the files are in {folder.path}" if folder else "nothing else was kept"
    console.check_all_was_printed(where)


_OF_A_RUN = ("file", "n_jobs", "as_json", "quiet")
"""Options that a run file leaves open."""


def _estimate_of_run(options: EstimateOptions) -> Any:
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
