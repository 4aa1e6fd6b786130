"""``heldout study corrections``: how good any method of estimation is, where the truth is known."""

from typing import Any

import click

from heldout_papers.cli.options import StudyOptions, names_typed, numbers, option, pairs_of_numbers, whole_numbers
from heldout_papers.cli.study import PreparedStudy, study_command

PARTS = ("independent", "correlated", "tables")


TEXT = """\
How biased, precise, honest and fast methods of estimation are, where the truth is known.

Three parts: matrices of independent columns (Tsamardinos et al. 2018, section 6.1), matrices whose columns
depend on each other as those of real searches do, and real searches on samples of tables, whose other rows are
the truth. Part tables keeps every search in the folder --searches: with --tables FOLDER it makes those that are
not there, seconds each, and without it scores methods on those that are.

DIR receives corrections.parquet (a row a cell, repetition and method), cells.parquet and corrections.csv (a row
a cell and method), study.json and report.html; finished batches are kept in DIR/batches, and --resume continues
from them.
"""


def methods_typed(flag: str, text: str) -> list[str]:
    """``cv,bbc(interval='calibrated')`` as methods: a comma within parentheses does not end a method.

    Examples
    --------
    >>> methods_typed("--methods", "cv, bbc(interval='calibrated', control=False)")
    ['cv', "bbc(interval='calibrated', control=False)"]
    """
    found, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [name.strip() for name in found]


OPTIONS = (
    option("--part", "The matrices.", type=click.Choice(PARTS), default="independent", show_default=True),
    option("--tables", "Of tables: the folder of tables to search, with MANIFEST.csv.", metavar="FOLDER"),
    option("--searches", "Of tables: the folder in which searches are kept.", metavar="FOLDER"),
    option(
        "--designs", "Of tables: some designs such as b100,r100; all by default.", read=names_typed,
        metavar="NAME,NAME",
    ),
    option("--half", "Of tables: judging (the default) or choosing.", type=click.Choice(("judging", "choosing"))),
    option(
        "--methods",
        "Methods of heldout estimate, with settings such as \"bbc(interval='calibrated')\", or oracle; "
        "cv,bbc,shrinkage,oracle by default, of tables shrinkage,bbc.",
        read=methods_typed, metavar="NAME,NAME",
    ),
    option("--reference", "The method that ratios compare with; bbc by default.", metavar="NAME"),
    option(
        "--metrics", "Some of the metrics of the part; accuracy of independent columns, else all by default.",
        read=names_typed, metavar="NAME,NAME",
    ),
    option(
        "--rows", "Numbers of rows; 40,100 with --quick.", read=whole_numbers, quick=(40, 100), metavar="N,N"
    ),
    option(
        "--configurations", "Numbers of configurations; 10,50 with --quick.", read=whole_numbers, quick=(10, 50),
        metavar="C,C",
    ),
    option(
        "--beta", "Of independent columns: true scores are drawn from Beta(A, B); repeatable.",
        read=pairs_of_numbers, quick=((9.0, 6.0),), metavar="A,B", multiple=True,
    ),
    option(
        "--variants", "Of correlated columns: some of plain,tails,ceiling,ties.", read=names_typed,
        metavar="NAME,NAME",
    ),
    option(
        "--repetitions",
        "Matrices of each setting, or searches of each design; 400, of tables 200, 20 with --quick.",
        quick=20, type=int,
    ),
    option(
        "--bootstraps", "Bootstraps of every method; 200, of tables 1000, 100 with --quick.",
        argument="n_bootstraps", quick=100, type=int,
    ),
    option(
        "--levels", "Confidence levels of the intervals; 0.9,0.95 by default.", read=numbers, metavar="P,P"
    ),
    option(
        "--aggregate", "How a configuration is scored: pooled, folds, within or auto; pooled by default, of tables "
        "auto.",
    ),
)  # fmt: skip


def corrections_arguments(wanted: StudyOptions) -> dict[str, Any]:
    """The arguments of the study, without what ``--quick`` sets for other parts."""
    from heldout_papers.corrections.study import OF_PARTS

    part = wanted.arguments["part"]
    typed = {one.argument for one in wanted.own if one.value(wanted.typed) is not None}
    return {
        name: value
        for name, value in wanted.arguments.items()
        if name in typed or part in OF_PARTS.get(name, PARTS)
    }


def _prepared(wanted: StudyOptions) -> PreparedStudy:
    from heldout._text import counted
    from heldout_papers.corrections import corrections
    from heldout_papers.corrections.page import corrections_page

    job = corrections.job(**corrections_arguments(wanted))
    plan, scoring = job.plan, job.plan.settings[0].scoring
    labels = ", ".join(label for label, _ in scoring.methods)
    what = f"{counted(len(plan.settings), 'setting')} x {counted(plan.repetitions, 'repetition')}"
    if wanted.arguments["part"] == "tables":
        designs = dict.fromkeys(setting.source.design.name for setting in plan.settings)
        what = f"{counted(len(plan.settings), 'draw')} of {', '.join(designs)}"
    line = f"Plan: {what}, by {labels}, {scoring.n_bootstraps} bootstraps, seed {plan.entropy}."
    return PreparedStudy(line, job, corrections_page)


command = study_command(
    "corrections",
    "How good any correction and its interval are, where the truth is known.",
    TEXT,
    OPTIONS,
    _prepared,
)
