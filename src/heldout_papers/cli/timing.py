"""``heldout study timing``: how long BBC and BBC-F take."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from heldout.errors import InputError
from heldout_papers.cli.options import StudyOptions, study_options, whole_numbers
from heldout_papers.cli.running import Prepared, run_study

if TYPE_CHECKING:
    from heldout_papers.engine.batches import BatchCallback
    from heldout_papers.timing import TimingStudy

QUICK: dict[str, Any] = {
    "rows": (50, 500, 5000),
    "configurations": (5, 50),
    "folds": (3, 10, 50),
    "repetitions": 10,
}


@dataclass(frozen=True, kw_only=True)
class TimingOptions(StudyOptions):
    """What the user asked for; the fields are the options."""

    rows: str | None
    configurations: str | None
    folds: str | None
    centre: str | None
    repetitions: int | None
    bootstraps: int | None
    ways: str | None

    def asked(self) -> dict[str, Any]:
        """The arguments of ``heldout_papers.timing`` that say what is studied.

        Raises
        ------
        InputError
        """
        given: dict[str, Any] = {
            "rows": whole_numbers("--rows", self.rows),
            "configurations": whole_numbers("--configurations", self.configurations),
            "folds": whole_numbers("--folds", self.folds),
            "centre": whole_numbers("--centre", self.centre),
            "repetitions": self.repetitions,
            "n_bootstraps": self.bootstraps,
            "ways": None if self.ways is None else self.ways.split(","),
        }
        usual = QUICK if self.quick else {}
        return usual | {name: value for name, value in given.items() if value is not None}


@click.command(name="timing", short_help="How long BBC and BBC-F take, by rows, configurations and folds.")
@click.option("--rows", metavar="N,N", help="Numbers of rows; 50,100,250,500,1000,5000,10000 unless told.")
@click.option("--configurations", metavar="C,C", help="Numbers of configurations; 5,10,20,50,100,250 unless told.")
@click.option("--folds", metavar="K,K", help="Numbers of folds; 3,5,10,20,30,50 unless told.")
@click.option(
    "--centre", metavar="N,C,K", help="Rows, configurations and folds while another varies; 500,5,3 unless told."
)
@click.option("--repetitions", type=int, help="Problems of each setting; 100 unless told, of --quick 10.")
@click.option("--bootstraps", type=int, help="Of both; 200 unless told.")
@click.option("--ways", metavar="NAME,NAME", help="Some of bbc,bbc_f,plain_bbc,plain_bbc_f; all unless told.")
@study_options
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """How long BBC and BBC-F take, where the number of rows, of configurations or of folds is varied.

    Paraschakis et al. 2024, figure 3. Both are timed as this library computes them, and once more in plain code, a
    bootstrap after another, as published code does. Times are taken in one process, so that --n-jobs can only be 1,
    and differ from run to run; --resume keeps those of finished batches. DIR receives timing.parquet (a row a
    repetition and method), timing.csv (a row a setting and method), study.json and report.html.
    """
    typed = ctx.get_parameter_source("n_jobs") is ParameterSource.COMMANDLINE
    wanted = TimingOptions(**options)
    one = wanted if typed else replace(wanted, n_jobs=1)
    run_study(ctx, one, lambda console: _prepared(one))


def _prepared(wanted: TimingOptions) -> Prepared:
    from heldout._text import counted
    from heldout_papers.timing import timing, timing_plan
    from heldout_papers.timing.page import timing_page

    if wanted.n_jobs != 1:
        raise InputError(
            f"times are taken in one process, so --n-jobs can only be 1, got {wanted.n_jobs}; leave it out."
        )
    asked = wanted.asked() | {"random_state": wanted.seed}
    plan, _ = timing_plan(**asked)
    n_settings, n = len(plan.settings), plan.repetitions
    line = (
        f"Plan: {counted(n_settings, 'setting')} x {counted(n, 'repetition')}, timed by "
        f"{', '.join(plan.settings[0].ways)}, seed {plan.entropy}."
    )

    def do(*, n_jobs: int, folder: Path, told: BatchCallback | None) -> TimingStudy:
        return timing(**asked, folder=folder, told=told)

    return Prepared(line, do, lambda study, again: timing_page(study, command=again))
