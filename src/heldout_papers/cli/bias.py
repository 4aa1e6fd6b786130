"""``heldout study bias``: how biased each protocol's estimate is, where the truth is known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import click

from heldout.errors import InputError
from heldout_papers.cli.options import StudyOptions, study_options, whole_numbers
from heldout_papers.cli.running import Prepared, run_study

QUICK_BETA, QUICK_REPETITIONS, QUICK_BOOTSTRAPS = ((9.0, 6.0),), 30, 200


@dataclass(frozen=True, kw_only=True)
class BiasOptions(StudyOptions):
    """What the user asked for; the fields are the options."""

    metric: str
    prevalence: float | None
    rows: str | None
    configurations: str | None
    beta: tuple[str, ...]
    folds: int
    repetitions: int | None
    bootstraps: int | None
    protocols: str | None

    def asked(self) -> dict[str, Any]:
        """The arguments of ``heldout_papers.bias`` that say what is studied.

        Raises
        ------
        InputError
        """
        given: dict[str, Any] = {
            "metric": self.metric,
            "prevalence": self.prevalence,
            "rows": whole_numbers("--rows", self.rows),
            "configurations": whole_numbers("--configurations", self.configurations),
            "beta": [_pair(text) for text in self.beta] or None,
            "folds": self.folds,
            "repetitions": self.repetitions,
            "n_bootstraps": self.bootstraps,
            "protocols": None if self.protocols is None else self.protocols.split(","),
        }
        usual: dict[str, Any] = {}
        if self.quick:
            usual = {"beta": QUICK_BETA, "repetitions": QUICK_REPETITIONS, "n_bootstraps": QUICK_BOOTSTRAPS}
        return usual | {name: value for name, value in given.items() if value is not None}


def _pair(text: str) -> tuple[float, ...]:
    try:
        a, b = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--beta must be two numbers with a comma between, such as 9,6, got {text!r}.") from None
    if not (0 < a < float("inf") and 0 < b < float("inf")):
        raise InputError(f"--beta must be two numbers above 0, such as 9,6, got {text!r}.")
    return a, b


@click.command(name="bias", short_help="How biased cv, tt, nested cv, bbc and bced are, where the truth is known.")
@click.option(
    "--metric",
    default="accuracy",
    show_default=True,
    help="accuracy, roc_auc or mean_squared_error.",
)
@click.option("--prevalence", type=float, help="The share of rows of class 1, for roc_auc; .5 unless told.")
@click.option("--rows", metavar="N,N", help="Numbers of rows; 20,40,60,80,100,500,1000 unless told.")
@click.option(
    "--configurations",
    metavar="C,C",
    help="Numbers of configurations; 50,100,200,300,500,1000,2000 unless told.",
)
@click.option(
    "--beta",
    metavar="A,B",
    multiple=True,
    help="True accuracies (areas, shares of variance explained) are drawn from Beta(A, B); repeatable. 9,6 and "
    "14,6 and 24,6 and 54,6 unless told, of --quick 9,6.",
)
@click.option("--folds", type=int, default=10, show_default=True, help="Of the cross-validation.")
@click.option("--repetitions", type=int, help="Matrices of each setting; 500 unless told, of --quick 30.")
@click.option("--bootstraps", type=int, help="Of bbc and bced; 1000 unless told, of --quick 200.")
@click.option("--protocols", metavar="NAME,NAME", help="Some of cv,tt,nested_cv,bbc,bced; all unless told.")
@study_options
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """How biased each protocol's estimate of the winner's performance is, for your rows, configurations and folds.

    Matrices of held-out predictions are drawn whose true performance is known (Tsamardinos et al. 2018, section
    6.1). Without options all 196 settings of the article are repeated, 98 000 matrices. DIR receives bias.parquet
    (a row a repetition and protocol), bias.csv (a row a setting and protocol), moments.parquet (the means and
    covariances of the errors, from which the claims follow), study.json and report.html; finished batches are kept
    in DIR/batches, from which --resume goes on.
    """
    wanted = BiasOptions(**options)
    run_study(ctx, wanted, lambda console: _prepared(wanted))


def _prepared(wanted: BiasOptions) -> Prepared:
    from heldout._text import counted
    from heldout_papers.bias import bias, bias_plan
    from heldout_papers.bias.page import bias_page

    asked = wanted.asked() | {"random_state": wanted.seed}
    plan = bias_plan(**asked)
    n_settings, n = len(plan.settings), plan.repetitions
    line = (
        f"Plan: {counted(n_settings, 'setting')} x {counted(n, 'repetition')} = "
        f"{n_settings * n:,} matrices of predictions, by "
        f"{', '.join(plan.settings[0].protocols)}, of {plan.settings[0].metric}, seed {plan.entropy}."
    )
    return Prepared(line, partial(bias, **asked), lambda study, again: bias_page(study, command=again))
