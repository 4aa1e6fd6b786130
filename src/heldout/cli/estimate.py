"""``heldout estimate``: a corrected performance from a file of held-out predictions of any origin."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heldout.cli.console import Console
from heldout.cli.estimate_input import EstimateOptions
from heldout.cli.file_estimate import FileEstimate, SavedWinner, estimate_file
from heldout.cli.files import is_run, run_file_in
from heldout.cli.options import command_line, options_by_argument, parameters, values_typed
from heldout.cli.result import estimate_rows

if TYPE_CHECKING:
    from heldout.cli.files import OutputFolder
    from heldout.estimates.comparison import Comparison
    from heldout.estimates.types import Estimate

_OF_A_RUN = ("file", "n_jobs", "as_json", "quiet")
"""Options that a run file leaves open."""


@click.command(
    name="estimate",
    short_help="Estimate how good the best of many configurations is, from predictions.",
    params=parameters(EstimateOptions),
)
@click.pass_context
def command(ctx: click.Context, /, **values: Any) -> None:
    """Estimate the performance of the best of the configurations in FILE, corrected for having been the best.

    FILE is the file or folder that caret, tidymodels, mlr3, WEKA, H2O or another known tool wrote of its held-out
    predictions, or the predictions.parquet of `heldout tune`: these are recognised, and need no options.

    Or FILE is any CSV or Parquet table with a line for each row: a column of true values, and a column of held-out
    predictions (scores or labels) for each configuration, or one for each class, named name[class]. With --repeat
    there is a line for each row and repeat; with --configuration and --row one for each row and configuration.

    Or FILE is the run.db of a search, or its folder. The search may be unfinished or running: the estimate is then
    from the folds that are complete for all remaining configurations, and says so.
    """
    options = EstimateOptions(**values)
    console = Console(options.as_json, options.quiet, options_by_argument(ctx.command))
    with console.noting_warnings():
        options.check()
        if is_run(Path(options.file)):
            _print(_estimate_of_run(ctx, options), {}, console, None)
            console.check_all_was_printed()
            return
        folder = _folder(options, console)
        answer = estimate_file(options, console, folder)
        files = {} if folder is None else _write_files(folder, answer, command_line(ctx))
    _print(answer.result, files, console, answer.saved)
    where = f"the files are in {folder.path}" if folder else "nothing else was kept"
    console.check_all_was_printed(where)


def _estimate_of_run(ctx: click.Context, options: EstimateOptions) -> Estimate:
    """The estimate of the search in a run file, which has its own settings."""
    from heldout.errors import InputError
    from heldout.execution.store.sqlite import SQLiteStore

    typed = [each for each in values_typed(ctx) if each not in _OF_A_RUN]
    if typed:
        raise InputError(
            f"--{typed[0].replace('_', '-')} has no meaning for a run file, whose search has its own settings; "
            f"leave it out, or name DIR/predictions.parquet of a finished run in place of {options.file}."
        )
    return SQLiteStore(run_file_in(Path(options.file))).estimate_so_far(options.n_jobs)


def _folder(options: EstimateOptions, console: Console) -> OutputFolder | None:
    from heldout.cli.files import OutputFolder, path_named
    from heldout.errors import InputError

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
    from heldout.cli.files import write_report_files

    folder.check_writable()
    content = answer.content(command)
    written = [folder.write_json("estimate.json", answer.main.to_dict())]
    if answer.comparison is None:
        with suppress(FileNotFoundError):  # of other methods than those of this report
            (folder.path / "comparison.json").unlink()
    else:
        written.append(folder.write_json("comparison.json", answer.comparison.to_dict()))
    files = write_report_files(content, folder)
    written += [files["methods"], files["card"], files["report"].with_name("report.json"), files["report"]]
    return {path.name: str(path) for path in written}


def _print(
    result: Estimate | Comparison, files: dict[str, str], console: Console, saved: SavedWinner | None
) -> None:
    from heldout.estimates.types import Estimate

    main = result if isinstance(result, Estimate) else result[result.main]
    rows = estimate_rows(main) if isinstance(result, Estimate) else []
    rows += [] if saved is None else [saved.row(main)]
    rows += [("files", list(files.values()))] if files else []
    if not isinstance(result, Estimate):
        console.show(result.tables())
    if rows:
        console.table(rows)
    console.document(result.to_dict() | ({} if saved is None else {"saved_model": saved.to_dict(main)}))
