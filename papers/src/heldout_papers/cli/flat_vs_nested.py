"""``heldout study flat-vs-nested``: whether nested cross-validation is needed to choose an algorithm."""

from typing import Any

from heldout_papers.cli.options import StudyOptions, names_typed, option, table_options
from heldout_papers.cli.study import PreparedStudy, study_command

QUICK_TABLES = 3


TEXT = """\
Whether nested cross-validation chooses a better algorithm than flat cross-validation does.

FOLDER holds tables of two classes, CSV or Parquet. On half of each, the accuracy of every algorithm is
estimated in both ways; what is chosen by either is scored on the other half (Wainer and Cawley 2021). The
algorithms are those of a scenario, some by name, or your own. DIR receives flat-vs-nested.parquet (a row a
table, repetition and algorithm), flat-vs-nested.csv (a row a scenario and analysis), study.json and
report.html; finished repetitions are kept in DIR/batches, and --resume continues from them.
"""


def _if_set(flag: str, is_set: Any) -> bool | None:
    return True if is_set else None


OPTIONS = (
    *table_options("three"),
    option(
        "--scenario", "full: all 12 algorithms; top3: random forest, support vector machine and boosted trees; "
        "ard: a kernel with one length scale and one with a length scale for each column.",
        argument="scenario", metavar="NAME", default="full", show_default=True,
    ),
    option(
        "--algorithms", "Only these, instead of a scenario; of --space only these models.", read=names_typed,
        metavar="NAME,NAME",
    ),
    option(
        "--space", "Your own algorithms: a list of (name, estimator, grid) in a Python file, or a function of X "
        "and y that gives one.", metavar="FILE.py:NAME",
    ),
    option("--metric", "What is estimated, as roc_auc.", metavar="NAME", default="accuracy", show_default=True),
    option("--multiclass", "Tables of more than two classes too.", read=_if_set, is_flag=True),
    option(
        "--independent-folds", "Flat cv draws folds of its own, not the outer ones of nested cv.", read=_if_set,
        is_flag=True,
    ),
    option(
        "--small", "Smaller grids and fewer trees: a tenth of the time.", read=_if_set, quick=True, is_flag=True
    ),
    option("--repetitions", "Half splits of each table; 6 by default, 1 with --quick.", quick=1, type=int),
    option("--folds", "Folds of flat cv and of both loops of nested cv.", type=int, default=5, show_default=True),
    option(
        "--max-rows", "Rows that are drawn of larger tables; 10000 by default, 100 with --quick.",
        quick=100, type=int, metavar="N",
    ),
)  # fmt: skip


def _prepared(wanted: StudyOptions) -> PreparedStudy:
    from heldout._text import counted
    from heldout_papers.flat_vs_nested.page import flat_vs_nested_page
    from heldout_papers.flat_vs_nested.study import flat_vs_nested, small_tables

    arguments = dict(wanted.arguments)
    arguments["algorithms"] = _algorithms(arguments.pop("scenario"), arguments.pop("space", None), arguments)
    if wanted.chooses_tables:
        how = ("folds", "max_rows", "target", "multiclass", "metric")
        size = {name: arguments[name] for name in how if name in arguments}
        arguments["names"] = small_tables(wanted.folder, QUICK_TABLES, **size)
    job = flat_vs_nested.job(wanted.folder, **arguments)
    plan = job.plan
    n_tables, n, first = len(plan.settings), plan.repetitions, plan.settings[0]
    by = "" if first.metric.name == "accuracy" else f" by {first.metric.name}"
    line = (
        f"Plan: {counted(n_tables, 'table')} x {counted(n, 'half split')}, {first.folds}-fold flat and "
        f"nested cross-validation of {', '.join(first.algorithms)}{by}, seed {plan.entropy}."
    )
    return PreparedStudy(line, job, flat_vs_nested_page)


def _algorithms(scenario: str, space: str | None, arguments: dict[str, Any]) -> Any:
    """The argument of the study, from what names a scenario, algorithms and a file of the user."""
    from heldout.errors import InputError
    from heldout_papers.flat_vs_nested.algorithms import SCENARIOS

    if scenario not in SCENARIOS:
        raise InputError(f"--scenario must be one of {', '.join(SCENARIOS)}, got {scenario!r}.")
    names = arguments.pop("algorithms", None)
    if space is None:
        return scenario if names is None else names
    from heldout_papers.cli.own_algorithms import algorithms_of_file

    return algorithms_of_file(space, None if names is None else tuple(names))


command = study_command(
    "flat-vs-nested",
    "Whether nested cv is needed to choose an algorithm, on your tables.",
    TEXT,
    OPTIONS,
    _prepared,
    has_tables=True,
)
