"""``heldout study adaptive``: what a corrected score is worth after an adaptive search."""

from heldout_papers.cli.options import StudyOptions, names_typed, option, whole_numbers
from heldout_papers.cli.study import PreparedStudy, study_command

TEXT = """\
What a corrected score is worth after an adaptive search, where the truth is known.

Candidates that were proposed because of scores on the same rows flatter, and no bootstrap can repeat how they were
proposed. Random search, TPE, a Gaussian process, CMA-ES and successive halving are compared on noise, on data with
a signal, on smooth simulated accuracies, and on the tables of a folder: bias, error and coverage of the uncorrected
score, bbc, shrinkage, the cross-fitted estimate and nested cross-validation, and the true score of the winner. DIR
receives adaptive.parquet (a row a repetition and method), adaptive.csv (a row a setting and method), study.json and
report.html.
"""
OPTIONS = (
    option("--worlds", "Some of noise,signal,smooth; all by default.", read=names_typed, metavar="NAME,NAME"),
    option(
        "--searchers", "Some of random,tpe,gp,cmaes,halving; all by default.", read=names_typed,
        quick=("random", "tpe"), metavar="NAME,NAME",
    ),
    option(
        "--rows", "Numbers of rows; 40,60,150,400,1000 by default.", read=whole_numbers, quick=(40,), metavar="N,N"
    ),
    option(
        "--trials", "Numbers of trials; 20,50,100,200,500 by default.", read=whole_numbers, quick=(20,),
        metavar="T,T",
    ),
    option(
        "--centre", "Rows and trials while the other varies; 60,200 by default.", read=whole_numbers,
        quick=(40, 40), metavar="N,T",
    ),
    option("--tables", "A folder of tables that are worlds too.", metavar="FOLDER"),
    option("--names", "Only these tables of the folder.", read=names_typed, metavar="NAME,NAME"),
    option("--repetitions", "Searches of each setting; 24 by default, 3 with --quick.", quick=3, type=int),
    option(
        "--nested", "In how many of them nested cross-validation is run; 6 by default, 1 with --quick.",
        argument="n_nested", quick=1, type=int,
    ),
    option("--bootstraps", "Bootstraps of each method; 200 by default.", argument="n_bootstraps", type=int),
)  # fmt: skip


def _prepared(wanted: StudyOptions) -> PreparedStudy:
    from heldout._text import counted
    from heldout_papers.adaptive import adaptive
    from heldout_papers.adaptive.page import adaptive_page

    job = adaptive.job(**wanted.arguments)
    plan = job.plan
    line = (
        f"Plan: {counted(len(plan.settings), 'setting')} x {plan.repetitions} searches, each "
        f"corrected by every method, seed {plan.entropy}."
    )
    return PreparedStudy(line, job, adaptive_page)


command = study_command(
    "adaptive",
    "What a corrected score is worth after an adaptive search, where the truth is known.",
    TEXT,
    OPTIONS,
    _prepared,
)
