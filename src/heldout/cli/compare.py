"""``heldout compare``: which of several algorithms to deploy, by flat, corrected and nested scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, cast

from heldout import _defaults
from heldout._text import counted
from heldout.cli import tune_options
from heldout.cli.console import Console, command_of
from heldout.cli.files import folder_for, save_model, write_report_files
from heldout.cli.fold_options import inner_named
from heldout.cli.options import DATA, RUNNING
from heldout.cli.result import run_document
from heldout.cli.runs import resumable, run_context, run_session
from heldout.data.checks import COMPARED_SCORES, check_method_name
from heldout.errors import InputError

if TYPE_CHECKING:
    from heldout.execution.search import Search
    from heldout.protocols.algorithms.protocol import AlgorithmSettings, Deploy


@dataclass(frozen=True, kw_only=True)
class CompareOptions(tune_options.TuneOptions):
    """The options of ``heldout compare``."""

    LACKS: ClassVar = frozenset({
        "n_trials", "timeout", "batch_size", "feedback", "stop_when_useless", "imputations", "stop_when_width",
        "return_train_score", "interval", "block_length", "n_rows_of_bootstrap", "training_size_correction",
        "across", "scheme", "deploy", "importance",
    })  # fmt: skip

    search: str | None = tune_options.fixed_search()
    metric: tuple[str, ...] = tune_options.score_option(
        "The metric to compare by: a scorer of scikit-learn, or a metric of heldout. By default roc_auc, accuracy "
        "(several classes), r2 or concordance_index (survival).",
        (),
        metavar="NAME",
        argument="scoring",
    )
    inner: str = tune_options.inner_of_nested_scores()
    method: str = tune_options.estimate_option(
        "How to correct the flat scores; a method of heldout estimate.",
        _defaults.METHOD,
        check=check_method_name,
    )
    n_bootstraps: int = tune_options.estimate_option("Number of bootstraps.", _defaults.BOOTSTRAPS)
    relevant: float | None = tune_options.estimate_option(
        "The difference of scores above which one algorithm is relevantly better; by default the threshold of "
        "Wainer and Cawley.",
        metavar="DIFFERENCE",
    )
    deployed_by: str = tune_options.estimate_option(
        "Which score selects the algorithm of the model: nested, corrected or flat.",
        "nested",
        flag="--deploy",
        metavar="SCORE",
        argument="deploy",
        choices=COMPARED_SCORES,
    )

    @property
    def settings(self) -> AlgorithmSettings:
        """The settings of the comparison itself."""
        from heldout.protocols.algorithms.protocol import AlgorithmSettings

        return AlgorithmSettings(inner_named(self.inner), self.relevant, cast("Deploy", self.deployed_by))


@command_of(
    CompareOptions,
    "compare",
    "Compare algorithms on a table and choose the one to deploy.",
    {
        DATA: DATA,
        tune_options.TRIED: "What is compared",
        tune_options.SCORED: tune_options.SCORED,
        tune_options.CONCLUDED: "What is concluded",
        RUNNING: RUNNING,
    },
)
def command(options: CompareOptions, console: Console, typed: str) -> None:
    """Compare algorithms on DATA by flat, corrected and nested scores on the same folds, and fit the one to deploy.

    DATA is a CSV or Parquet file, or example:breast_cancer (also iris, wine, digits, diabetes). DIR receives
    run.db, model.skops, comparison.json, report.html, methods.md (a paragraph for a paper) and card.md (the result
    for the README of a repository).
    """
    with run_context(console):
        _check(options)
        folder = folder_for(options.out, options.resume, console)
        from heldout.cli.table import with_columns
        from heldout.cli.tune_job import job_of
        from heldout.protocols.algorithms.protocol import algorithms_of_search
        from heldout.report import facts

        job = job_of(options, console)
        with resumable(folder, _bytes_planned(options, job.search, console), typed, options.resume):
            with run_session(options, folder, console) as running:
                comparison = algorithms_of_search(job.search, options.settings, running)
            comparison = replace(
                comparison,
                overall=with_columns(comparison.overall, job.found),
                evaluation=comparison.evaluation.with_provenance(columns=job.found.columns),
            )
            files = {
                "run": folder.run_file,
                **save_model(comparison.model, folder, console, job.found.note(job.search.scoring.times)),
            }
            files["comparison"] = folder.write_json("comparison.json", comparison.to_dict())
            content = facts(comparison, command=typed, title=job.source)
            files |= write_report_files(content, folder)
    console.show(comparison.tables())
    console.table([("files", [str(path) for path in files.values()])])
    console.document({**comparison.to_dict(), **run_document(job.found, files, console.seconds())})
    console.check_all_was_printed(f"the files are in {folder.path}")


def _check(options: CompareOptions) -> None:
    """Refuse wrong values before anything is read, and what no data can make right before that is imported."""
    options.check()
    if len(options.metrics) > 1:
        raise InputError(
            f"--metric: algorithms are compared by one metric, got {len(options.metrics)} "
            f"({', '.join(options.metrics)}); name one."
        )
    options.settings.check()
    tune_options.check_options(options)


def _bytes_planned(options: CompareOptions, search: Search, console: Console) -> int:
    """Bytes of the held-out predictions on the disk; prints how many fits there will be."""
    from heldout.execution.search import check_repeated
    from heldout.protocols.algorithms.protocol import columns_of
    from heldout.protocols.algorithms.run import algorithm_plan

    check_repeated(search)
    plan = algorithm_plan(search, options.settings.inner, columns_of(search))
    task, n_configurations = search.task, len(search.configurations)
    fits = n_configurations * search.folds.n_splits + plan.n_fits(n_configurations) + 1
    most = "" if search.drop is None else "at most "
    console.say(f"Nested scores need the folds inside each fold too: {most}{counted(fits, 'fit')} in all.")
    tested = sum(
        len(race.entrants(n_configurations)) * len(split.test) for race in plan.inner for split in race.splits
    )
    cells = task.n_rows * search.folds.n_repeats * n_configurations + tested
    return 8 * cells * (max(task.truth.n_classes, 1) + 1)
