"""``heldout study intervals-on-tables``: how often each method's one-sided interval holds on real tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import click

from heldout.cli.console import Console
from heldout_papers.cli.options import StudyOptions, names_typed, study_options, table_options
from heldout_papers.cli.running import Prepared, run_study

QUICK: dict[str, Any] = {"repetitions": 3, "configurations": 12, "n_bootstraps": 300}
QUICK_TABLES = 3


@dataclass(frozen=True, kw_only=True)
class TablesOptions(StudyOptions):
    """What the user asked for; the fields are the options."""

    folder: str
    tables: str | None
    target: str
    train_rows: int | None
    repetitions: int | None
    space: str
    configurations: int | None
    bootstraps: int | None
    methods: str | None
    confidence_level: float

    def asked(self) -> dict[str, Any]:
        """The arguments of ``heldout_papers.intervals_on_tables`` that say what is studied."""
        given: dict[str, Any] = {
            "names": names_typed(self.tables),
            "target": self.target,
            "train_rows": self.train_rows,
            "repetitions": self.repetitions,
            "space": self.space,
            "configurations": self.configurations,
            "n_bootstraps": self.bootstraps,
            "methods": names_typed(self.methods),
            "confidence_level": self.confidence_level,
        }
        usual = QUICK if self.quick else {}
        return usual | {name: value for name, value in given.items() if value is not None}


@click.command(
    name="intervals-on-tables", short_help="How often each one-sided interval holds on real tables of a folder."
)
@table_options("three")
@click.option(
    "--train-rows", type=int, metavar="N", help="Of a training set; 50 unless told, 500 of 12 000 rows and more."
)
@click.option("--repetitions", type=int, help="Training sets of each table; 100 unless told, of --quick 3.")
@click.option("--space", default="light", show_default=True, help="What is searched: light, quick or standard.")
@click.option("--configurations", type=int, help="How many are taken of it; all unless told, of --quick 12.")
@click.option("--bootstraps", type=int, help="Twice as many for tilting; 1000 unless told, of --quick 300.")
@click.option("--methods", metavar="NAME,NAME", help="Some of those of the study intervals; all unless told.")
@click.option("--confidence-level", type=float, default=0.95, show_default=True, help="Of the intervals.")
@study_options
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """How often each method's lower bound of the AUC holds on real tables, and how tight it is.

    FOLDER holds tables of two classes, CSV or Parquet. Of each, small training sets are searched, and what each
    method chooses is scored on all other rows (Paraschakis et al. 2024, table 3). DIR receives
    intervals-on-tables.parquet (a row a training set and method), intervals-on-tables.csv (a row a table and
    method), study.json and report.html; finished training sets are kept in DIR/batches, from which --resume goes
    on.
    """
    wanted = TablesOptions(**options)
    run_study(ctx, wanted, lambda console: _prepared(wanted, console))


def _prepared(wanted: TablesOptions, console: Console) -> Prepared:
    from heldout._text import counted
    from heldout_papers.intervals.on_tables import intervals_on_tables, intervals_on_tables_plan, small_tables
    from heldout_papers.intervals.tables_page import tables_page

    asked = wanted.asked() | {"random_state": wanted.seed}
    if wanted.quick and wanted.tables is None:
        small = small_tables(wanted.folder, QUICK_TABLES, train_rows=wanted.train_rows, target=wanted.target)
        asked["names"] = small or None
    plan, left_out = intervals_on_tables_plan(wanted.folder, **asked)
    for name, reason in left_out.items():
        console.note(f"{name} is left out: {reason}.")
    n_tables, n = len(plan.settings), plan.repetitions
    line = (
        f"Plan: {counted(n_tables, 'table')} x {counted(n, 'training set')}, bounded by "
        f"{', '.join(plan.settings[0].bounds.methods)}, seed {plan.entropy}."
    )
    do = partial(intervals_on_tables, wanted.folder, **asked)
    return Prepared(line, do, lambda study, again: tables_page(study, command=again))
