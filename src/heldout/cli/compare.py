"""``heldout compare``: which of several algorithms to deploy, by flat, corrected and nested scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import click

from heldout import _defaults
from heldout.cli import tune
from heldout.cli.console import Console
from heldout.cli.files import folder_for, save_model, write_report_files
from heldout.cli.options import SectionedCommand, command_line, grid_or_random, options_by_argument
from heldout.cli.result import run_document
from heldout.cli.runs import resumable, run_context, run_session
from heldout.cli.tune_job import TuneJob, job_of, search_of
from heldout.cli.tune_options import GRID, RANDOM, TuneOptions, check_forms, check_options, inner_named, inner_parts
from heldout.data.checks import COMPARED_SCORES, METHODS, check_choice
from heldout.errors import InputError

if TYPE_CHECKING:
    from heldout.execution.search import Search
    from heldout.protocols.algorithms.protocol import AlgorithmSettings, Deploy

SECTIONS = {
    "The data": tune.SECTIONS["The data"],
    "What is compared": ("preset", "models", "space", "search", "n_iter"),
    "How it is scored and chosen": ("metric", "aggregate", "selection", "cv", "repeats", "inner", "drop", "share"),
    "What is concluded": ("method", "n_bootstraps", "confidence_level", "alternative", "relevant", "deployed_by"),
}
"""The options of the help by section; the others are about running."""

_OF_TUNE = {
    "data", "n_iter", "preset", "models", "space", "cv", "repeats", "inner", "drop", "share", "selection",
    "aggregate", "confidence_level", "alternative", "engine", "fit_timeout", "verbose", "accept_changed_code",
    "n_jobs", "seed", "out", "resume", "as_json", "quiet", *SECTIONS["The data"],
}  # fmt: skip
"""The parameters that tune has too."""


@dataclass(frozen=True, kw_only=True)
class CompareOptions(TuneOptions):
    """The options of ``heldout compare``."""

    relevant: float | None
    deployed_by: str

    @property
    def settings(self) -> AlgorithmSettings:
        """The settings of the comparison itself."""
        from heldout.protocols.algorithms.protocol import AlgorithmSettings

        return AlgorithmSettings(inner_named(self.inner), self.relevant, cast("Deploy", self.deployed_by))


@click.command(
    cls=SectionedCommand,
    sections=SECTIONS,
    name="compare",
    short_help="Compare algorithms on a table and choose the one to deploy.",
    params=tune.shared_parameters(_OF_TUNE),
)
@click.option(
    "--metric",
    metavar="NAME",
    multiple=True,
    help="The metric to compare by: a scorer of scikit-learn, or a metric of heldout. By default roc_auc, accuracy "
    "(several classes), r2 or concordance_index (survival).",
)
@grid_or_random
@click.option(
    "--method",
    default=_defaults.METHOD,
    show_default=True,
    help="How to correct the flat scores; a method of heldout estimate.",
)
@click.option(
    "--n-bootstraps", type=int, default=_defaults.BOOTSTRAPS, show_default=True, help="Number of bootstraps."
)
@click.option(
    "--relevant",
    type=float,
    metavar="DIFFERENCE",
    help="The difference of scores above which one algorithm is relevantly better; by default the threshold of "
    "Wainer and Cawley.",
)
@click.option(
    "--deploy",
    "deployed_by",
    default="nested",
    show_default=True,
    metavar="SCORE",
    help="Which score selects the algorithm of the model: nested, corrected or flat.",
)
@click.pass_context
def command(ctx: click.Context, /, **values: Any) -> None:
    """Compare algorithms on DATA by flat, corrected and nested scores on the same folds, and fit the one to deploy.

    DATA is a CSV or Parquet file, or example:breast_cancer (also iris, wine, digits, diabetes). DIR receives
    run.db, model.skops, comparison.json, report.html, methods.md (a paragraph for a paper) and card.md (the result
    for the README of a repository).
    """
    options = CompareOptions(**{**tune.default_values(), **values})
    console = Console(options.as_json, options.quiet, options_by_argument(ctx.command))
    typed = command_line(ctx)
    with run_context(console):
        _check(options)
        folder = folder_for(options.out, options.resume, console)
        job = job_of(options, console)
        search = search_of(options, job)
        with resumable(folder, _bytes_planned(options, job, search, console), typed, options.resume):
            with run_session(options, folder, console) as running:
                from heldout.cli.table import with_columns
                from heldout.protocols.algorithms.protocol import algorithms_of_search
                from heldout.report import facts

                comparison = algorithms_of_search(search, options.settings, running)
            comparison = replace(
                comparison,
                overall=with_columns(comparison.overall, job.found),
                evaluation=comparison.evaluation.with_provenance(columns=job.found.columns),
            )
            files = {"run": folder.run_file, **save_model(comparison.model, folder, console)}
            files["comparison"] = folder.write_json("comparison.json", comparison.to_dict())
            content = facts(comparison, command=typed, title=job.source)
            files |= write_report_files(content, folder)
    console.show(comparison.tables())
    console.table([("files", [str(path) for path in files.values()])])
    console.document({**comparison.to_dict(), **run_document(job.found, files, console.seconds())})
    console.check_all_was_printed(f"the files are in {folder.path}")


def _check(options: CompareOptions) -> None:
    """Refuse wrong values before anything is read, and what no data can make right before that is imported."""
    of_tune = TuneOptions(**{**_fields_of_tune(options), "inner": _defaults.INNER})  # its own are of a protocol
    check_forms(of_tune, METHODS, (GRID, RANDOM))
    inner_parts(options.inner)
    check_choice("deploy", options.deployed_by, COMPARED_SCORES)
    if len(options.metrics) > 1:
        raise InputError(
            f"--metric: algorithms are compared by one metric, got {len(options.metrics)} "
            f"({', '.join(options.metrics)}); name one."
        )
    from heldout.dropping import strategy_of

    options.settings.check()
    if strategy_of(options.drop) is not None:
        raise InputError(f"--drop {options.drop} plans its own splits; use --drop bootstrap, or leave it out.")
    check_options(of_tune)


def _fields_of_tune(options: CompareOptions) -> dict[str, Any]:
    return {name: value for name, value in vars(options).items() if name in TuneOptions.__dataclass_fields__}


def _bytes_planned(options: CompareOptions, job: TuneJob, search: Search, console: Console) -> int:
    """Bytes of the held-out predictions on the disk; prints how many fits there will be."""
    from heldout._text import counted
    from heldout.protocols.algorithms.protocol import plan_of

    _, plan = plan_of(search, options.settings.inner)
    n_configurations = len(job.configurations)
    fits = n_configurations * job.folds.n_splits + plan.n_fits(n_configurations) + 1
    most = "" if search.drop is None else "at most "
    console.say(f"Nested scores need the folds inside each fold too: {most}{counted(fits, 'fit')} in all.")
    tested = sum(
        len(race.entrants(n_configurations)) * len(split.test) for race in plan.races for split in race.splits
    )
    cells = job.task.n_rows * job.folds.n_repeats * n_configurations + tested
    return 8 * cells * (max(job.task.truth.n_classes, 1) + 1)
