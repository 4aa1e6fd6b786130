"""``heldout study bias``: how biased each protocol's estimate is, where the truth is known."""

from heldout_papers.cli.options import StudyOptions, names_typed, option, pairs_of_numbers, whole_numbers
from heldout_papers.cli.study import PreparedStudy, study_command

TEXT = """\
How biased each protocol's estimate of the winner's performance is, for your rows, configurations and folds.

Matrices of held-out predictions are drawn whose true performance is known (Tsamardinos et al. 2018, section
6.1). Without options all 196 settings of the article are repeated, 98 000 matrices. DIR receives bias.parquet
(a row a repetition and protocol), bias.csv (a row a setting and protocol), moments.parquet (the means and
covariances of the errors, from which the claims follow), study.json and report.html; finished batches are kept
in DIR/batches, and --resume continues from them.
"""
OPTIONS = (
    option(
        "--metric", "accuracy, roc_auc or mean_squared_error.", default="accuracy", show_default=True
    ),
    option("--prevalence", "The share of rows of class 1, for roc_auc; .5 by default.", type=float),
    option(
        "--rows", "Numbers of rows; 20,40,60,80,100,500,1000 by default.", read=whole_numbers, metavar="N,N"
    ),
    option(
        "--configurations", "Numbers of configurations; 50,100,200,300,500,1000,2000 by default.",
        read=whole_numbers, metavar="C,C",
    ),
    option(
        "--beta",
        "True accuracies (areas, shares of variance explained) are drawn from Beta(A, B); repeatable. 9,6 and "
        "14,6 and 24,6 and 54,6 by default, 9,6 with --quick.",
        read=pairs_of_numbers, quick=((9.0, 6.0),), metavar="A,B", multiple=True,
    ),
    option("--folds", "Folds of the cross-validation.", type=int, default=10, show_default=True),
    option("--repetitions", "Matrices of each setting; 500 by default, 30 with --quick.", quick=30, type=int),
    option(
        "--bootstraps", "Bootstraps of bbc and bced; 1000 by default, 200 with --quick.",
        argument="n_bootstraps", quick=200, type=int,
    ),
    option(
        "--protocols", "Some of cv,tt,nested_cv,bbc,bced; all by default.", read=names_typed, metavar="NAME,NAME"
    ),
)  # fmt: skip


def _prepared(wanted: StudyOptions) -> PreparedStudy:
    from heldout._text import counted
    from heldout_papers.bias import bias
    from heldout_papers.bias.page import bias_page

    job = bias.job(**wanted.arguments)
    plan = job.plan
    n_settings, n, first = len(plan.settings), plan.repetitions, plan.settings[0]
    line = (
        f"Plan: {counted(n_settings, 'setting')} x {counted(n, 'repetition')} = {n_settings * n:,} matrices of "
        f"predictions, by {', '.join(first.protocols)}, of {first.metric}, seed {plan.entropy}."
    )
    return PreparedStudy(line, job, bias_page)


command = study_command(
    "bias",
    "How biased cv, tt, nested cv, bbc and bced are, where the truth is known.",
    TEXT,
    OPTIONS,
    _prepared,
)
