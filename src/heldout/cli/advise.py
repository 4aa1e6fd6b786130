"""``heldout advise``: which method to use for a search of a table, and what nested cross-validation would cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from heldout import _defaults
from heldout.cli import tune
from heldout.cli.console import Console
from heldout.cli.options import SectionedCommand, grid_or_random, options_by_argument
from heldout.cli.runs import run_context
from heldout.cli.tune_options import GRID, RANDOM, TuneOptions, check_forms, check_options, inner_named, inner_parts
from heldout.data.checks import check_seconds

SECTIONS = {
    "The data": tune.SECTIONS["The data"],
    "What would be tried": ("preset", "models", "space", "search", "n_iter", "adaptive"),
    "How it would be scored": ("metric", "cv", "repeats", "inner"),
}
"""The options of the help by section; the others are about running."""
_OF_TUNE = {"data", "n_jobs", "seed", "as_json", "quiet"}.union(*SECTIONS.values()) - {"search"}


@click.command(
    cls=SectionedCommand,
    sections=SECTIONS,
    name="advise",
    short_help="Say which method to use for a search of a table, and what it would cost.",
    params=tune.shared_parameters(_OF_TUNE),
)
@grid_or_random
@click.option(
    "--adaptive",
    is_flag=True,
    help="The search will propose configurations because of scores (Optuna, halving); these are examples.",
)
@click.option(
    "--seconds",
    type=float,
    default=10.0,
    show_default=True,
    help="Time to spend on fits from which the times are estimated; with 0 nothing is fitted.",
)
@click.pass_context
def command(ctx: click.Context, /, *, adaptive: bool, seconds: float, **values: Any) -> None:
    """Say which method to use for a search of DATA, what nested cross-validation would cost and probably change.

    DATA is a CSV or Parquet file, or example:breast_cancer (also iris, wine, digits, diabetes). The options are
    those of heldout tune. The fits select nothing and estimate nothing, and no file is written.
    """
    options = TuneOptions(**{**tune.default_values(), "n_bootstraps": _defaults.BOOTSTRAPS, **values})
    console = Console(options.as_json, options.quiet, options_by_argument(tune.command))
    with run_context(console):
        check_seconds(seconds)
        # The inner folds are those of nested cross-validation, whatever the method of a search.
        of_search = replace(options, inner=_defaults.INNER)
        check_forms(of_search, searches=(GRID, RANDOM))
        inner_parts(options.inner)
        check_options(of_search)
        inner = None if options.inner == _defaults.INNER else inner_named(options.inner)
        from heldout.advice.adviser import advice_on
        from heldout.advice.problem import problem_of
        from heldout.cli.tune_job import job_of, search_of

        problem = problem_of(search_of(options, job_of(options, console)), inner)
        advice = advice_on(problem, seconds, options.n_jobs, adaptive=adaptive)
    console.show(advice.tables())
    console.document(advice.to_dict())
    console.check_all_was_printed()
