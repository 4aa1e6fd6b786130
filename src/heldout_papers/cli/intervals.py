"""``heldout study intervals``: how often each method's one-sided interval holds the truth, and how tight it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import click

from heldout_papers.cli.options import (
    StudyOptions,
    names_typed,
    numbers,
    pair_of_numbers,
    study_options,
    whole_numbers,
)
from heldout_papers.cli.running import Prepared, run_study

QUICK_REPETITIONS, QUICK_BOOTSTRAPS = 30, 500
TASKS = ("binary", "multiclass", "regression")


@dataclass(frozen=True, kw_only=True)
class IntervalOptions(StudyOptions):
    """What the user asked for; the fields are the options."""

    task: str
    rows: str | None
    configurations: str | None
    prevalence: str | None
    beta: tuple[str, ...]
    folds: int
    repetitions: int | None
    bootstraps: int | None
    methods: str | None
    confidence_level: float

    def asked(self) -> dict[str, Any]:
        """The arguments of ``heldout_papers.intervals`` that say what is studied.

        Raises
        ------
        InputError
        """
        given: dict[str, Any] = {
            "task": self.task,
            "rows": whole_numbers("--rows", self.rows),
            "configurations": whole_numbers("--configurations", self.configurations),
            "prevalence": numbers("--prevalence", self.prevalence),
            "beta": [pair_of_numbers("--beta", text) for text in self.beta] or None,
            "folds": self.folds,
            "repetitions": self.repetitions,
            "n_bootstraps": self.bootstraps,
            "methods": names_typed(self.methods),
            "confidence_level": self.confidence_level,
        }
        usual = {"repetitions": QUICK_REPETITIONS, "n_bootstraps": QUICK_BOOTSTRAPS} if self.quick else {}
        return usual | {name: value for name, value in given.items() if value is not None}


@click.command(
    name="intervals", short_help="How often each one-sided interval holds the truth, and how tight it is."
)
@click.option(
    "--task",
    type=click.Choice(TASKS),
    default="binary",
    show_default=True,
    help="AUC of two classes, of five, or R2; the last two have bbc, bbc_f and naive_bootstrap only.",
)
@click.option("--rows", metavar="N,N", help="Numbers of rows; 500,50 unless told.")
@click.option("--configurations", metavar="C,C", help="Numbers of configurations; 100,500 unless told.")
@click.option("--prevalence", metavar="B,B", help="Shares of the rarer class; 0.1,0.5 unless told.")
@click.option(
    "--beta",
    metavar="A,B",
    multiple=True,
    help="True performances are drawn from Beta(A, B); repeatable. 24,6 and 9,6 unless told.",
)
@click.option("--folds", type=int, default=10, show_default=True, help="Of the cross-validation, at most.")
@click.option("--repetitions", type=int, help="Matrices of each setting; 200 unless told, of --quick 30.")
@click.option("--bootstraps", type=int, help="1000 unless told, of --quick 500; twice as many for tilting.")
@click.option(
    "--methods",
    metavar="NAME,NAME",
    help="Some of bbc,bbc_f,delong,hanley_mcneil,tilting,delong_10p,hanley_mcneil_10p,tilting_10p,mabt,"
    "naive_bootstrap; all unless told.",
)
@click.option("--confidence-level", type=float, default=0.95, show_default=True, help="Of the lower bound.")
@study_options
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """How often each method's lower bound is below the truth, and how far, for your rows and configurations.

    Matrices of held-out predictions are drawn whose true performances are known (Paraschakis et al. 2024, table
    2). Without options its 16 settings are repeated, 200 matrices each, with all methods. DIR receives
    intervals.parquet (a row a repetition and method), intervals.csv (a row a setting and method), study.json and
    report.html; finished batches are kept in DIR/batches, from which --resume goes on.
    """
    wanted = IntervalOptions(**options)
    run_study(ctx, wanted, lambda console: _prepared(wanted))


def _prepared(wanted: IntervalOptions) -> Prepared:
    from heldout._text import counted
    from heldout_papers.intervals import intervals, intervals_plan
    from heldout_papers.intervals.page import intervals_page

    asked = wanted.asked() | {"random_state": wanted.seed}
    plan = intervals_plan(**asked)
    n_settings, n = len(plan.settings), plan.repetitions
    line = (
        f"Plan: {counted(n_settings, 'setting')} x {counted(n, 'repetition')} = "
        f"{n_settings * n:,} matrices of predictions, by "
        f"{', '.join(plan.settings[0].settings.methods)}, seed {plan.entropy}."
    )
    return Prepared(line, partial(intervals, **asked), lambda study, again: intervals_page(study, command=again))
