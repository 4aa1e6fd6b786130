"""``heldout study intervals``: how often each method's one-sided interval holds the truth, and how tight it is."""

import click

from heldout_papers.cli.options import StudyOptions, names_typed, numbers, option, pairs_of_numbers, whole_numbers
from heldout_papers.cli.study import PreparedStudy, study_command

TASKS = ("binary", "multiclass", "regression", "survival")


TEXT = """\
How often each method's lower bound is below the truth, and how far, for your rows and configurations.

Matrices of held-out predictions are drawn whose true performances are known (Paraschakis et al. 2024, table
2). Without options its 16 settings are repeated, 200 matrices each, with all methods. DIR receives
intervals.parquet (a row a repetition and method), intervals.csv (a row a setting and method), study.json and
report.html; finished batches are kept in DIR/batches, and --resume continues from
them.
"""
OPTIONS = (
    option(
        "--task", "Two classes, five, numbers or censored times; all but two classes have bbc, bbc_f and "
        "naive_bootstrap only.",
        type=click.Choice(TASKS), default="binary", show_default=True,
    ),
    option(
        "--metric", "Of two classes roc_auc (default), accuracy, balanced_accuracy or f1; of five roc_auc_ovo "
        "(default), accuracy or balanced_accuracy; r2 of numbers, concordance_index of times.", metavar="NAME",
    ),
    option("--rows", "Numbers of rows; 500,50 by default.", read=whole_numbers, metavar="N,N"),
    option("--configurations", "Numbers of configurations; 100,500 by default.", read=whole_numbers, metavar="C,C"),
    option(
        "--prevalence", "Shares of the rarer class, 0.1,0.5 by default; of events, 0.3,0.7.", read=numbers,
        metavar="B,B",
    ),
    option(
        "--beta", "True performances are drawn from Beta(A, B); repeatable. 24,6 and 9,6 by default.",
        read=pairs_of_numbers, metavar="A,B", multiple=True,
    ),
    option("--folds", "Folds of the cross-validation, at most.", type=int, default=10, show_default=True),
    option("--repetitions", "Matrices of each setting; 200 by default, 30 with --quick.", quick=30, type=int),
    option(
        "--bootstraps", "Bootstraps, twice as many for tilting; 1000 by default, 500 with --quick.",
        argument="n_bootstraps", quick=500, type=int,
    ),
    option(
        "--methods",
        "Some of bbc,bbc_f,delong,hanley_mcneil,tilting,delong_10p,hanley_mcneil_10p,tilting_10p,mabt,"
        "naive_bootstrap; all by default.",
        read=names_typed, metavar="NAME,NAME",
    ),
    option("--confidence-level", "Confidence level of the intervals.", type=float, default=0.95, show_default=True),
)  # fmt: skip


def _prepared(wanted: StudyOptions) -> PreparedStudy:
    from heldout._text import counted
    from heldout_papers.intervals import intervals
    from heldout_papers.intervals.page import intervals_page

    job = intervals.job(**wanted.arguments)
    plan = job.plan
    n_settings, n = len(plan.settings), plan.repetitions
    line = (
        f"Plan: {counted(n_settings, 'setting')} x {counted(n, 'repetition')} = {n_settings * n:,} matrices of "
        f"predictions, by {', '.join(plan.settings[0].settings.methods)}, seed {plan.entropy}."
    )
    return PreparedStudy(line, job, intervals_page)


command = study_command(
    "intervals",
    "How often each one-sided interval holds the truth, and how tight it is.",
    TEXT,
    OPTIONS,
    _prepared,
)
