"""``heldout study search``: what each protocol's estimate and winner are worth, on real tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import click

from heldout.cli.console import Console
from heldout.errors import InputError
from heldout_papers.cli.options import StudyOptions, names_typed, study_options, table_options, whole_numbers
from heldout_papers.cli.running import Prepared, run_study

FULL_SPACE = "tsamardinos2018"
QUICK: dict[str, Any] = {
    "rows": (40, 80),
    "subsamples": 2,
    "configurations": 8,
    "repeats": 3,
    "n_bootstraps": 200,
}
QUICK_TABLES, QUICK_TREES, FULL_TREES = 2, 10, 1000


@dataclass(frozen=True, kw_only=True)
class SearchOptions(StudyOptions):
    """What the user asked for; the fields are the options."""

    folder: str
    tables: str | None
    target: str
    rows: str | None
    subsamples: int | None
    space: str
    trees: int | None
    configurations: int | None
    folds: int
    repeats: int | None
    bootstraps: int | None

    def asked(self) -> dict[str, Any]:
        """The arguments of ``heldout_papers.search`` that say what is studied.

        Raises
        ------
        InputError
        """
        given: dict[str, Any] = {
            "names": names_typed(self.tables),
            "target": self.target,
            "rows": whole_numbers("--rows", self.rows),
            "subsamples": self.subsamples,
            "space": self._searched(),
            "configurations": self.configurations,
            "folds": self.folds,
            "repeats": self.repeats,
            "n_bootstraps": self.bootstraps,
        }
        usual = QUICK if self.quick else {}
        return usual | {name: value for name, value in given.items() if value is not None}

    def _searched(self) -> Any:
        if self.space != FULL_SPACE:
            if self.trees is not None:
                raise InputError(f"--trees is of the space {FULL_SPACE}; leave it out, or --space.")
            return self.space
        trees = self.trees if self.trees is not None else QUICK_TREES if self.quick else FULL_TREES
        if trees < 1:
            raise InputError(f"--trees must be a whole number from 1 on, got {trees}.")
        if trees == FULL_TREES:
            return self.space
        from heldout_papers.spaces.tsamardinos2018 import tsamardinos2018

        return partial(tsamardinos2018, n_trees=trees)


@click.command(name="search", short_help="What each protocol's estimate and winner are worth, on real tables.")
@table_options("two")
@click.option("--rows", metavar="N,N", help="Of sub-samples; 20,40,60,80,100,500 unless told, of --quick 40,80.")
@click.option("--subsamples", type=int, help="Of each table and number of rows; 20 unless told, of --quick 2.")
@click.option(
    "--space",
    metavar="NAME",
    default=FULL_SPACE,
    show_default=True,
    help="What is searched: tsamardinos2018 (610 configurations), quick or standard.",
)
@click.option("--trees", type=int, help="Of each forest of tsamardinos2018; 1000 unless told, of --quick 10.")
@click.option(
    "--configurations",
    type=int,
    metavar="M",
    help="How many are taken of the space, at equal distances; all unless told, of --quick 8.",
)
@click.option("--folds", type=int, default=10, show_default=True, help="Of the cross-validation.")
@click.option("--repeats", type=int, help="Of the folds; 10 unless told, of --quick 3.")
@click.option("--bootstraps", type=int, help="Of bbc and bced; 1000 unless told, of --quick 200.")
@study_options
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> None:
    """How far each protocol's estimate of the AUC is from the truth, and how good its winner is, on real tables.

    FOLDER holds tables of two classes, CSV or Parquet. Of 30 % of each, small sub-samples are drawn and searched by
    every protocol; what it chooses is scored on the other 70 % (Tsamardinos et al. 2018, section 6.2). DIR receives
    search.parquet (a row a sub-sample and protocol), search.csv (a row a table, number of rows and protocol),
    study.json and report.html; finished sub-samples are kept in DIR/batches, from which --resume goes on.

    All of the article takes weeks: choose --tables, --configurations and --trees.
    """
    wanted = SearchOptions(**options)
    run_study(ctx, wanted, lambda console: _prepared(wanted, console))


def _prepared(wanted: SearchOptions, console: Console) -> Prepared:
    from heldout._text import counted
    from heldout_papers.search import search, search_plan
    from heldout_papers.search.page import search_page
    from heldout_papers.search.study import small_tables

    asked = wanted.asked() | {"random_state": wanted.seed}
    if wanted.quick and wanted.tables is None:
        size = {name: asked[name] for name in ("rows", "target")}
        asked["names"] = small_tables(wanted.folder, QUICK_TABLES, **size) or None
    plan, left_out = search_plan(wanted.folder, **asked)
    for name, reason in left_out.items():
        console.note(f"{name} is left out: {reason}.")
    first = plan.settings[0]
    n_tables, n = len({setting.table.name for setting in plan.settings}), plan.repetitions
    fits = first.folds * first.repeats + first.folds * (first.folds - 1) // 2
    line = (
        f"Plan: {counted(n_tables, 'table')}, {counted(len(plan.settings), 'size')} of sub-samples in all, "
        f"{counted(n, 'sub-sample')} of each; on each {fits} fits a configuration ({first.folds} folds, "
        f"{counted(first.repeats, 'repeat')}, and without every two folds), seed {plan.entropy}."
    )
    do = partial(search, wanted.folder, **asked)
    return Prepared(line, do, lambda study, again: search_page(study, command=again))
