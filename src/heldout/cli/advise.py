"""``heldout advise``: which method to use for a search of a table, and what nested cross-validation would cost."""

from dataclasses import dataclass
from typing import ClassVar

from heldout import _defaults
from heldout.cli import tune
from heldout.cli.compare import CompareOptions
from heldout.cli.console import Console, command_of
from heldout.cli.fold_options import inner_named
from heldout.cli.options import DATA, RUNNING, options_by_argument, running_option
from heldout.cli.runs import run_context
from heldout.cli.tune_options import (
    SCORED,
    TRIED,
    TuneOptions,
    check_options,
    fixed_search,
    inner_of_nested_scores,
    space_option,
)
from heldout.data.checks import check_seconds


@dataclass(frozen=True, kw_only=True)
class AdviseOptions(TuneOptions):
    """The options of ``heldout advise``."""

    LACKS: ClassVar = CompareOptions.LACKS | {
        "aggregate", "selection", "drop", "share", "method", "n_bootstraps", "confidence_level", "alternative",
        "engine", "fit_timeout", "verbose", "accept_changed_code", "out", "resume",
    }  # fmt: skip

    search: str | None = fixed_search()
    inner: str = inner_of_nested_scores()
    adaptive: bool = space_option(
        "The search will propose configurations because of scores (Optuna, halving); these are examples.",
        False,
    )
    seconds: float = running_option(
        "Time to spend on fits from which the times are estimated; with 0 nothing is fitted.",
        10.0,
        check=check_seconds,
    )


@command_of(
    AdviseOptions,
    "advise",
    "Say which method to use for a search of a table, and what it would cost.",
    {DATA: DATA, TRIED: "What would be tried", SCORED: "How it would be scored", RUNNING: RUNNING},
)
def command(options: AdviseOptions, console: Console, _: str) -> None:
    """Say which method to use for a search of DATA, what nested cross-validation would cost and probably change.

    DATA is a CSV or Parquet file, or example:breast_cancer (also iris, wine, digits, diabetes). The options are
    those of heldout tune. The fits select nothing and estimate nothing, and no file is written.
    """
    console.options = options_by_argument(tune.command)
    with run_context(console):
        options.check()
        check_options(options)
        inner = None if options.inner == _defaults.INNER else inner_named(options.inner)
        from heldout.advice.adviser import advice_on
        from heldout.advice.costs import problem_of
        from heldout.cli.tune_job import job_of

        problem = problem_of(job_of(options, console).search, inner)
        advice = advice_on(problem, options.seconds, options.n_jobs, adaptive=options.adaptive)
    console.show(advice.tables())
    console.document(advice.to_dict())
    console.check_all_was_printed()
