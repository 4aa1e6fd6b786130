"""``heldout study timing``: how long BBC and BBC-F take."""

from heldout.errors import InputError
from heldout_papers.cli.options import StudyOptions, names_typed, option, whole_numbers
from heldout_papers.cli.study import PreparedStudy, study_command

TEXT = """\
How long BBC and BBC-F take, where the number of rows, of configurations or of folds is varied.

Paraschakis et al. 2024, figure 3. Both are timed as this library computes them, and once more in plain code, a
bootstrap after another, as published code does. Times are taken in one process, so that --n-jobs can only be 1,
and differ from run to run; --resume keeps those of finished batches. DIR receives timing.parquet (a row a
repetition and method), timing.csv (a row a setting and method), study.json and report.html.
"""
OPTIONS = (
    option(
        "--rows", "Numbers of rows; 50,100,250,500,1000,5000,10000 by default.", read=whole_numbers,
        quick=(50, 500, 5000), metavar="N,N",
    ),
    option(
        "--configurations", "Numbers of configurations; 5,10,20,50,100,250 by default.", read=whole_numbers,
        quick=(5, 50), metavar="C,C",
    ),
    option(
        "--folds", "Numbers of folds; 3,5,10,20,30,50 by default.", read=whole_numbers, quick=(3, 10, 50),
        metavar="K,K",
    ),
    option(
        "--centre", "Rows, configurations and folds while another varies; 500,5,3 by default.", read=whole_numbers,
        metavar="N,C,K",
    ),
    option("--repetitions", "Problems of each setting; 100 by default, 10 with --quick.", quick=10, type=int),
    option("--bootstraps", "Bootstraps of each method; 200 by default.", argument="n_bootstraps", type=int),
    option(
        "--ways", "Some of bbc,bbc_f,plain_bbc,plain_bbc_f; all by default.", read=names_typed, metavar="NAME,NAME"
    ),
)  # fmt: skip


def _prepared(wanted: StudyOptions) -> PreparedStudy:
    from heldout._text import counted
    from heldout_papers.timing import timing
    from heldout_papers.timing.page import timing_page

    if wanted.n_jobs != 1:
        raise InputError(
            f"times are taken in one process, so --n-jobs can only be 1, got {wanted.n_jobs}; leave it out."
        )
    job = timing.job(**wanted.arguments)
    plan = job.plan
    line = (
        f"Plan: {counted(len(plan.settings), 'setting')} x {counted(plan.repetitions, 'repetition')}, timed by "
        f"{', '.join(plan.settings[0].ways)}, seed {plan.entropy}."
    )
    return PreparedStudy(line, job, timing_page)


command = study_command(
    "timing",
    "How long BBC and BBC-F take, by rows, configurations and folds.",
    TEXT,
    OPTIONS,
    _prepared,
    n_jobs=1,
)
