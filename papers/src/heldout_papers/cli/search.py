"""``heldout study search``: the truth of each protocol's estimate and winner, on real tables."""

from functools import partial
from typing import Any

import click

from heldout.errors import InputError
from heldout_papers.cli.options import StudyOptions, option, table_options, whole_numbers
from heldout_papers.cli.study import PreparedStudy, study_command

FULL_SPACE = "tsamardinos2018"
QUICK_TABLES, FULL_TREES = 2, 1000
TASKS = ("binary", "multiclass", "regression", "survival")


TEXT = """\
How far each protocol's estimate of the AUC is from the truth, and how good its winner is, on real tables.

FOLDER holds tables, CSV or Parquet, of two classes or of what --task says. Of 30 % of each, small sub-samples are
drawn and searched by every protocol; what it chooses is scored on the other 70 % (Tsamardinos et al. 2018,
section 6.2). DIR receives
search.parquet (a row a sub-sample and protocol), search.csv (a row a table, number of rows and protocol),
study.json and report.html; finished sub-samples are kept in DIR/batches, and --resume continues from
them.

The whole experiment of the article takes weeks: choose --tables, --configurations and --trees.
"""
OPTIONS = (
    *table_options("two"),
    option(
        "--rows", "Rows of a sub-sample; 20,40,60,80,100,500 by default, 40,80 with --quick.", read=whole_numbers,
        quick=(40, 80), metavar="N,N",
    ),
    option(
        "--task", "The tables that are searched; all but two classes need another --space.",
        type=click.Choice(TASKS), default="binary", show_default=True,
    ),
    option(
        "--metric", "What is estimated: roc_auc by default, accuracy of more classes, r2, concordance_index.",
        metavar="NAME",
    ),
    option("--event", "The column of events of survival tables, whose --target holds times.", metavar="COL"),
    option(
        "--subsamples", "Sub-samples of each table and number of rows; 20 by default, 2 with --quick.",
        quick=2, type=int
    ),
    option(
        "--space", "The space to search: tsamardinos2018 (610 configurations), quick or standard.", metavar="NAME",
        default=FULL_SPACE, show_default=True,
    ),
    option(
        "--trees", "Trees in a forest of tsamardinos2018; 1000 by default, 10 with --quick.",
        quick=10, type=int,
    ),
    option(
        "--configurations",
        "How many configurations of the space, at equal distances; all by default, 8 with --quick.",
        quick=8, type=int, metavar="M",
    ),
    option("--folds", "Folds of the cross-validation.", type=int, default=10, show_default=True),
    option("--repeats", "Repeats of the folds; 10 by default, 3 with --quick.", quick=3, type=int),
    option(
        "--samples", "Samples of the direct bootstrap, each a whole search; none by default.",
        type=int, metavar="N",
    ),
    option(
        "--bootstraps", "Bootstraps of bbc and bced; 1000 by default, 200 with --quick.",
        argument="n_bootstraps", quick=200, type=int,
    ),
)  # fmt: skip


def search_arguments(wanted: StudyOptions) -> dict[str, Any]:
    """The arguments of the study, with the number of trees in its space."""
    arguments = dict(wanted.arguments)
    trees = arguments.pop("trees", FULL_TREES)
    if arguments["space"] != FULL_SPACE:
        if wanted.typed["trees"] is not None:
            raise InputError(f"--trees is of the space {FULL_SPACE}; leave it out, or --space.")
        return arguments
    if trees < 1:
        raise InputError(f"--trees must be a whole number from 1 on, got {trees}.")
    if trees != FULL_TREES:
        from heldout_papers.spaces.tsamardinos2018 import tsamardinos2018

        arguments["space"] = partial(tsamardinos2018, n_trees=trees)
    return arguments


def _prepared(wanted: StudyOptions) -> PreparedStudy:
    from heldout._text import counted
    from heldout_papers.search import search
    from heldout_papers.search.page import search_page
    from heldout_papers.search.study import small_tables

    arguments = search_arguments(wanted)
    if wanted.chooses_tables:
        how = ("rows", "target", "task", "event")
        size = {name: arguments[name] for name in how if name in arguments}
        arguments["names"] = small_tables(wanted.folder, QUICK_TABLES, **size) or None
    job = search.job(wanted.folder, **arguments)
    plan = job.plan
    first = plan.settings[0]
    n_tables, n = len({setting.table.name for setting in plan.settings}), plan.repetitions
    fits = first.folds * first.repeats + first.folds * (first.folds - 1) // 2
    line = (
        f"Plan: {counted(n_tables, 'table')}, {counted(len(plan.settings), 'size')} of sub-samples in all, "
        f"{counted(n, 'sub-sample')} of each; on each {fits} fits a configuration ({first.folds} folds, "
        f"{counted(first.repeats, 'repeat')}, and without every two folds), seed {plan.entropy}."
    )
    return PreparedStudy(line, job, search_page)


command = study_command(
    "search",
    "What each protocol's estimate and winner are worth, on real tables.",
    TEXT,
    OPTIONS,
    _prepared,
    has_tables=True,
)
