"""``heldout study intervals-on-tables``: how often each method's one-sided interval holds on real tables."""

from heldout_papers.cli.options import StudyOptions, names_typed, option, table_options
from heldout_papers.cli.study import PreparedStudy, study_command

QUICK_TABLES = 3


TEXT = """\
How often each method's lower bound of the AUC holds on real tables, and how tight it is.

FOLDER holds tables of two classes, or with --event of censored times, CSV or Parquet. Of each, small training
sets are searched, and what each method chooses is scored on all other rows (Paraschakis et al. 2024, table 3).
DIR receives intervals-on-tables.parquet (a row a training set and method), intervals-on-tables.csv (a row a
table and method), study.json and report.html; finished training sets are kept in DIR/batches, and --resume
continues from them.
"""
OPTIONS = (
    *table_options("three"),
    option(
        "--train-rows", "Rows of a training set; 50 by default, 500 for tables of 12 000 rows and more.", type=int,
        metavar="N",
    ),
    option(
        "--metric", "roc_auc (default), accuracy, balanced_accuracy or f1; of times concordance_index.",
        metavar="NAME",
    ),
    option("--event", "The column of events of survival tables, whose --target holds times.", metavar="COL"),
    option("--repetitions", "Training sets of each table; 100 by default, 3 with --quick.", quick=3, type=int),
    option("--space", "The space to search: light, quick or standard.", default="light", show_default=True),
    option(
        "--configurations", "How many configurations of the space; all by default, 12 with --quick.",
        quick=12, type=int
    ),
    option(
        "--bootstraps", "Bootstraps, twice as many for tilting; 1000 by default, 300 with --quick.",
        argument="n_bootstraps", quick=300, type=int,
    ),
    option(
        "--methods", "Some of the methods of heldout study intervals; all by default.",
        read=names_typed, metavar="NAME,NAME"
    ),
    option("--confidence-level", "Confidence level of the intervals.", type=float, default=0.95, show_default=True),
)  # fmt: skip


def _prepared(wanted: StudyOptions) -> PreparedStudy:
    from heldout._text import counted
    from heldout_papers.intervals.on_tables import intervals_on_tables, small_tables
    from heldout_papers.intervals.tables_page import tables_page

    arguments = dict(wanted.arguments)
    if wanted.chooses_tables:
        size = {name: arguments[name] for name in ("train_rows", "target", "event") if name in arguments}
        arguments["names"] = small_tables(wanted.folder, QUICK_TABLES, **size) or None
    job = intervals_on_tables.job(wanted.folder, **arguments)
    plan = job.plan
    n_tables, n = len(plan.settings), plan.repetitions
    line = (
        f"Plan: {counted(n_tables, 'table')} x {counted(n, 'training set')}, bounded by "
        f"{', '.join(plan.settings[0].bounds.methods)}, seed {plan.entropy}."
    )
    return PreparedStudy(line, job, tables_page)


command = study_command(
    "intervals-on-tables",
    "How often each one-sided interval holds on real tables of a folder.",
    TEXT,
    OPTIONS,
    _prepared,
    has_tables=True,
)
