"""``heldout study flat-vs-nested``: whether nested cross-validation is needed to choose an algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import click

from heldout.cli.console import Console
from heldout_papers.cli.options import StudyOptions, names_typed, study_options, table_options
from heldout_papers.cli.running import Prepared, run_study

QUICK: dict[str, Any] = {"repetitions": 1, "max_rows": 100, "small": True}
QUICK_TABLES = 3


@dataclass(frozen=True, kw_only=True)
class FlatVsNestedOptions(StudyOptions):
    """What the user asked for; the fields are the options."""

    folder: str
    tables: str | None
    target: str
    scenario: str
    small: bool
    repetitions: int | None
    folds: int
    max_rows: int | None

    def asked(self) -> dict[str, Any]:
        """The arguments of ``heldout_papers.flat_vs_nested`` that say what is studied."""
        given: dict[str, Any] = {
            "names": names_typed(self.tables),
            "target": self.target,
            "algorithms": self.scenario,
            "small": self.small or None,
            "repetitions": self.repetitions,
            "folds": self.folds,
            "max_rows": self.max_rows,
        }
        usual = QUICK if self.quick else {}
        return usual | {name: value for name, value in given.items() if value is not None}


@click.command(
    name="flat-vs-nested", short_help="Whether nested cv is needed to choose an algorithm, on your tables."
)
@table_options("three")
@click.option(
    "--scenario",
    metavar="NAME",
    default="full",
    show_default=True,
    help="full: all 12 algorithms; top3: random forest, support vector machine and boosted trees.",
)
@click.option("--small", is_flag=True, help="Smaller grids and fewer trees: a tenth of the time.")
@click.option("--repetitions", type=int, help="Half splits of each table; 6 unless told, of --quick 1.")
@click.option("--folds", type=int, default=5, show_default=True, help="Of flat cv and of both loops of nested cv.")
@click.option(
    "--max-rows", type=int, metavar="N", help="Drawn of larger tables; 10000 unless told, of --quick 100."
)
@study_options
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """Whether nested cross-validation chooses a better algorithm than flat cross-validation does.

    FOLDER holds tables of two classes, CSV or Parquet. On half of each, the accuracy of every algorithm is
    estimated in both ways; what is chosen by either is scored on the other half (Wainer and Cawley 2021). DIR
    receives flat-vs-nested.parquet (a row a table, repetition and algorithm), flat-vs-nested.csv (a row a scenario
    and analysis), study.json and report.html; finished repetitions are kept in DIR/batches, from which --resume
    goes on.
    """
    wanted = FlatVsNestedOptions(**options)
    run_study(ctx, wanted, lambda console: _prepared(wanted, console))


def _prepared(wanted: FlatVsNestedOptions, console: Console) -> Prepared:
    from heldout._text import counted
    from heldout_papers.flat_vs_nested.page import flat_vs_nested_page
    from heldout_papers.flat_vs_nested.study import flat_vs_nested, flat_vs_nested_plan, small_tables

    asked = wanted.asked() | {"random_state": wanted.seed}
    if wanted.quick and wanted.tables is None:
        size = {name: asked[name] for name in ("folds", "max_rows", "target")}
        asked["names"] = small_tables(wanted.folder, QUICK_TABLES, **size)
    plan, left_out = flat_vs_nested_plan(wanted.folder, **asked)
    for name, reason in left_out.items():
        console.note(f"{name} is left out: {reason}.")
    n_tables, n = len(plan.settings), plan.repetitions
    line = (
        f"Plan: {counted(n_tables, 'table')} x {counted(n, 'half split')}, {plan.settings[0].folds}-fold flat and "
        f"nested cross-validation of {', '.join(plan.settings[0].algorithms)}, seed {plan.entropy}."
    )
    do = partial(flat_vs_nested, wanted.folder, **asked)
    return Prepared(line, do, lambda study, again: flat_vs_nested_page(study, command=again))
