"""``heldout estimate``: a corrected performance from a file of held-out predictions of any origin."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heldout import _defaults
from heldout.cli.console import Console
from heldout.cli.estimate_input import EstimateOptions
from heldout.cli.file_estimate import FileEstimate, SavedWinner, check_forms, estimate_file
from heldout.cli.files import is_run, run_file_in
from heldout.cli.options import command_line, options_by_argument, values_typed
from heldout.cli.result import estimate_rows

if TYPE_CHECKING:
    from heldout.cli.files import OutputFolder
    from heldout.estimates.comparison import Comparison
    from heldout.estimates.types import Estimate

_OF_A_RUN = ("file", "n_jobs", "as_json", "quiet")
"""Options that a run file leaves open."""


@click.command(
    name="estimate", short_help="Estimate how good the best of many configurations is, from predictions."
)
@click.argument("file")
@click.option(
    "--format",
    default="auto",
    show_default=True,
    metavar="NAME",
    help="The format of FILE: the name of a tool (caret, tidymodels, mlr3, ...), wide or long; a wrong name lists "
    "them.",
)
@click.option(
    "--target", metavar="COL", help="The column of true values; of times, with --event; FILE:COL of another file."
)
@click.option("--event", metavar="COL", help="Survival: 1 where the event was seen, 0 where the time is censored.")
@click.option("--fold", metavar="COL", help="The column of the fold in which a row was held out.")
@click.option("--repeat", metavar="COL", help="The column of the repeat that a line belongs to.")
@click.option(
    "--row", metavar="COL", help="The column that identifies a row: its lines in every repeat have the same value."
)
@click.option(
    "--configuration",
    metavar="COL",
    multiple=True,
    help="With --row, for a table with a line for each row and configuration: the column that identifies a "
    "configuration; repeatable (penalty and mixture). Of a recognised tool: a further such column.",
)
@click.option(
    "--prediction",
    metavar="COL",
    multiple=True,
    help="A column of predictions; by default all columns without another use.",
)
@click.option("--group", metavar="COL", help="Rows of one group are drawn together.")
@click.option("--weight", metavar="COL", help="How much each row counts.")
@click.option("--exclude", metavar="COL", multiple=True, help="A column to ignore; repeatable.")
@click.option(
    "--metric", metavar="NAME", help="The metric to estimate; by default guessed from target and predictions."
)
@click.option(
    "--positive",
    metavar="LABEL",
    help="The class that greater scores mean; the case by default.",
)
@click.option(
    "--response",
    default=_defaults.RESPONSE,
    show_default=True,
    help="The kind of the predictions: labels, probabilities, decision, or auto.",
)
@click.option("--threshold", type=float, help="Where scores are cut into labels; above it is positive.")
@click.option(
    "--method",
    metavar="NAME",
    help="A method's name, also with parameters, as in \"naive_bootstrap(unit='folds')\"; or all: every method "
    f"that applies, side by side. By default that of the file, else {_defaults.METHOD}.",
)
@click.option("--candidates", metavar="best|SHARE", help="Two-part methods: the best one, or a share such as 0.1.")
@click.option("--evaluation-share", type=float, help="Two-part methods: the share of rows for the bound.")
@click.option("--fixed-configuration", metavar="NAME", help="The configuration to bound, named beforehand.")
@click.option("--stratify", is_flag=True, help="Draw rows within classes.")
@click.option("--interval", metavar="NAME", help="Of bbc: percentile, or calibrated, which is narrower.")
@click.option(
    "--control",
    metavar="auto|on|off",
    help="Of bbc: subtract the effect of few rows on the metric; off as published.",
)
@click.option(
    "--ties",
    metavar="first|average",
    help="Of bbc: score the first of the candidates that tie (the default), or average all of them.",
)
@click.option(
    "--selection",
    metavar="NAME",
    help="How the winner is chosen: a rule, also with parameters, such as 'top_k(k=3)'; by default that of the "
    "file, else best.",
)
@click.option(
    "--aggregate",
    metavar="NAME",
    help="pooled: the metric over all rows; folds: its mean over folds; within: for metrics made of pairs, "
    "only pairs of rows of one fold; auto: as in heldout tune. By default that of the file, else pooled, or "
    "within where folds are not on one scale.",
)
@click.option(
    "--adaptive",
    is_flag=True,
    help="The configurations were proposed or dropped because of scores on these rows (Optuna, halving): flag it.",
)
@click.option(
    "--block-length",
    metavar="auto|ROWS",
    help="The lines follow time, and bootstraps draw blocks of so many consecutive ones, or auto; "
    "stationary:ROWS for blocks of geometric lengths.",
)
@click.option(
    "--n-bootstraps",
    type=int,
    help=f"Number of bootstraps; by default that of the file, else {_defaults.BOOTSTRAPS}.",
)
@click.option(
    "--confidence-level",
    type=float,
    help=f"Confidence level of the interval; by default that of the file, else {_defaults.LEVEL}.",
)
@click.option("--alternative", help="two-sided, greater or less; by default that of the file, else two-sided.")
@click.option("--seed", type=int, help="The same seed gives the same result; by default that of the file, else 0.")
@click.option("--n-jobs", type=int, help="Threads that compute the bootstraps; -1 for all cores.")
@click.option(
    "--out",
    metavar="DIR",
    help="The folder for estimate.json, report.html, methods.md and card.md; by default nothing is written.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else to stdout.")
@click.option("--quiet", is_flag=True, help="Print only the result.")
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
        check_forms(options)
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
