"""``heldout tune``: from a table to a fitted model, an estimate that can be believed, and a report."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from heldout import _defaults
from heldout.cli.console import Console
from heldout.cli.files import folder_for, save_model, write_predictions, write_report_files
from heldout.cli.options import SectionedCommand, command_line, options_by_argument, run_options, table_options
from heldout.cli.result import estimate_document, search_document, search_rows
from heldout.cli.runs import resumable, run_context, run_session
from heldout.cli.tune_job import TuneJob, job_of, run_protocol, search_of, times_predicted
from heldout.cli.tune_options import BOOTSTRAP, OPTUNA, TuneOptions, check_forms, check_options, is_protocol

if TYPE_CHECKING:
    from heldout.cli.files import OutputFolder
    from heldout.execution.run import RunSettings
    from heldout.execution.search import Search
    from heldout.result import Evaluation

SECTIONS = {
    "The data": ("target", "event", "event_value", "task", "positive", "groups", "copies", "weight", "keep"),
    "What is tried": ("preset", "models", "space", "search", "n_iter", "n_trials", "timeout", "batch_size",
                      "feedback", "stop_when_useless", "imputations"),
    "How it is scored and chosen": (
        "metric", "aggregate", "selection", "cv", "repeats", "drop", "stop_when_width", "share",
        "return_train_score",
    ),
    "How good the winner is": (
        "method", "interval", "n_bootstraps", "confidence_level", "alternative", "block_length",
        "training_size_correction", "inner", "across", "scheme", "deploy", "importance",
    ),
}  # fmt: skip
"""The options of the help by section; the others are about running."""


@click.command(
    cls=SectionedCommand,
    sections=SECTIONS,
    name="tune",
    short_help="Tune models on a table and estimate how good the best one is.",
)
@click.argument("data")
@table_options
@click.option(
    "--metric",
    metavar="NAMES",
    multiple=True,
    help="The metric to tune for and to estimate: a scorer of scikit-learn, or a metric of heldout. By "
    "default roc_auc, accuracy (several classes), r2 or concordance_index (survival). Several (a,b, or the option "
    "repeated): the first chooses the winner, and each is estimated.",
)
@click.option(
    "--search",
    metavar="KIND",
    help="grid: every combination of the listed values; random: --n-iter of them, drawn from lists and "
    "distributions before the first fit; optuna: --n-trials, each proposed by Optuna from the scores of those "
    "before. By default grid.",
)
@click.option(
    "--n-iter",
    type=int,
    metavar="N",
    help="Of random: how many configurations to draw from all models; by default 60.",
)
@click.option(
    "--n-trials", type=int, metavar="N", help="Of optuna: how many configurations to propose; by default 100."
)
@click.option(
    "--timeout",
    type=float,
    metavar="SECONDS",
    help="Of optuna: propose no more after this time, in all searches. The result then depends on the speed of the "
    "machine.",
)
@click.option(
    "--batch-size",
    type=int,
    metavar="N",
    help="Of optuna: how many to propose at once and to fit in parallel; by default 1, whose folds are parallel.",
)
@click.option(
    "--feedback",
    metavar="KIND",
    help="Of optuna: cross-fitted: after the search a short one for each fold, which never sees its rows, so that "
    "how configurations were proposed does not flatter the estimate, for at most .3 more fits; cross-fitted:TRIALS "
    "sets the trials of each; all: without. By default auto: cross-fitted where folds and trials allow it.",
)
@click.option(
    "--stop-when-useless",
    is_flag=True,
    default=None,
    help="Of optuna: stop when the folds could not show a further gain.",
)
@click.option(
    "--preset",
    default="quick",
    show_default=True,
    metavar="NAME",
    help="The models and values to try. quick: some seventy configurations; standard: a few hundred; "
    "boosted: boosted models alone; or, with heldout-papers, the space of an article: tsamardinos2018 (610 "
    "configurations) or wainer_cawley2021 (12 algorithms), also as in 'wainer_cawley2021(small=True)'.",
)
@click.option(
    "--models",
    metavar="NAMES",
    help="Only these models of the preset or the space, as in 'forest,boosting'; a wrong name lists them all.",
)
@click.option(
    "--space",
    metavar="FILE.py:NAME",
    help="Own models in place of a preset. FILE.py is run, with all that it contains. NAME in it is an "
    "estimator, a list of (name, estimator, grid or distributions), a search object (its models and values "
    "are taken), a function of an Optuna trial that returns an estimator, or a function of X and y that returns "
    "one of these. ho.spaces.default_preprocessing(X) prepares text and gaps.",
)
@click.option(
    "--cv",
    default="5",
    show_default=True,
    metavar="FOLDS",
    help="Number of folds; or auto (as many as the smallest class allows, at most 10), loo (leave one out), "
    "holdout:0.25 (one split that tests a quarter), repeated_holdout:20:0.25 (twenty of them), bootstrap:50 (fifty "
    "samples drawn with replacement, which test the rows that they leave out), paired_holdout:15:0.1:10 (fifteen, "
    "and as many in both halves of ten halvings of the rows, of the winner alone: for --method conservative_z).",
)
@click.option(
    "--repeats",
    type=int,
    default=1,
    show_default=True,
    help="How often to repeat the cross-validation with new folds.",
)
@click.option(
    "--drop",
    default="never",
    show_default=True,
    metavar="RULE",
    help="When to drop losing configurations: never, bootstrap (after every fold those that are worse than the "
    "current best in 99 % of bootstraps), hoeffding_race, paired, wilcoxon, sequential, forgiving or aggressive; "
    "also with parameters, as in \"bootstrap(threshold=0.999, against='best_of_each')\".",
)
@click.option(
    "--imputations",
    type=int,
    default=0,
    show_default=True,
    help="How often every fit imputes the missing values of its training rows, with pooled predictions; 0 leaves "
    "them to the models.",
)
@click.option(
    "--stop-when-width",
    type=float,
    metavar="WIDTH",
    help="Stop after the fold or repeat at which the interval of the estimate is no wider than this, such as 0.05; "
    "by default all folds are run.",
)
@click.option(
    "--share",
    type=click.Choice(["exact", "tolerance", "no"]),
    default=_defaults.SHARE,
    show_default=True,
    help="Which work configurations share: exact (results as without sharing), tolerance (also solutions along a "
    "penalty, within the tolerance of their solvers), no.",
)
@click.option(
    "--selection",
    default=_defaults.SELECTION,
    show_default=True,
    metavar="NAME",
    help="How the winner is chosen: best, one_standard_error (the simplest within it, in the preset's order), or "
    "another rule, such as 'within(tolerance=0.01)'.",
)
@click.option(
    "--aggregate",
    metavar="NAME",
    help="Score of a configuration. folds: the mean over folds; pooled: the metric over all rows; within: for "
    "metrics made of pairs (AUC, concordance, Somers' D), only pairs of rows of one fold. By default auto, which "
    "selects by folds and reports R2, F1 and other metrics that are no mean over rows or pairs on all rows "
    "together; or pooled where each fold is one row.",
)
@click.option(
    "--method",
    default=_defaults.METHOD,
    show_default=True,
    help="How to estimate: shrinkage or bbc (corrected by bootstrap, with an interval), tt, cv (uncorrected), or "
    "none; or nested (nested cross-validation, at K times the fits) or bootstrap_search (at as many times as "
    "bootstraps).",
)
@click.option(
    "--block-length",
    metavar="auto|ROWS",
    help="The lines follow time, and bootstraps draw blocks of so many consecutive ones, or auto; "
    "stationary:ROWS for blocks of geometric lengths.",
)
@click.option(
    "--training-size-correction",
    is_flag=True,
    help="Correct the value for training on a part of the rows: K (K - 1) / 2 further fits of the better half of "
    "the configurations, each without two of the K folds (3 to 10), say what more rows are worth.",
)
@click.option(
    "--inner",
    default=_defaults.INNER,
    show_default=True,
    metavar="FOLDS",
    help="Of nested: the inner folds are the remaining outer ones, one holdout (of as many rows as an outer fold, "
    "or holdout:SHARE), or a number of new ones. With --cv holdout: training, tuning and estimation rows.",
)
@click.option(
    "--across",
    default=_defaults.ACROSS,
    show_default=True,
    metavar="WHAT",
    help="Of nested: folds (each outer fold chooses its own winner) or all (one winner for all).",
)
@click.option(
    "--interval",
    metavar="NAME",
    help="Of bbc: percentile (the default) or calibrated, which is narrower. Of nested: nadeau_bengio (the "
    "default), bates_hastie_tibshirani (many more fits), test_part (the default of --cv holdout), or none.",
)
@click.option(
    "--deploy",
    default=_defaults.DEPLOY,
    show_default=True,
    metavar="MODEL",
    help="The model to save: all (fitted on all rows) or bounded (with --cv holdout: the one that the hold-out "
    "tested, for which its interval holds).",
)
@click.option(
    "--scheme",
    default=_defaults.SCHEME,
    show_default=True,
    metavar="NAME",
    help="Of bootstrap_search: cvt (the whole search on every sample) or models (all configurations, no folds).",
)
@click.option(
    "--n-bootstraps",
    type=int,
    help=f"Number of bootstraps; by default {_defaults.BOOTSTRAPS}, and {_defaults.SEARCH_BOOTSTRAPS} for "
    "bootstrap_search, which searches in each.",
)
@click.option(
    "--return-train-score",
    is_flag=True,
    help="Score every model on the rows that trained it too: the report shows both, and how far they differ.",
)
@click.option(
    "--importance",
    is_flag=True,
    help="Fit the winner once more on each split, and report how much worse it is on held-out rows with a column "
    "shuffled.",
)
@run_options
@click.pass_context
def command(ctx: click.Context, /, **values: Any) -> None:
    """Try many models on DATA and estimate how good the best one is, corrected for having been the best.

    DATA is a CSV or Parquet file, or example:breast_cancer (also iris, wine, digits, diabetes). DIR receives
    run.db, model.skops, predictions.parquet, estimate.json and report.html; methods.md, a paragraph for a paper
    with its BibTeX; and card.md, the result for the README of a repository.
    """
    if values["n_bootstraps"] is None:
        is_of_searches = values["method"] in BOOTSTRAP
        values["n_bootstraps"] = _defaults.SEARCH_BOOTSTRAPS if is_of_searches else _defaults.BOOTSTRAPS
    options = TuneOptions(**values)
    console = Console(options.as_json, options.quiet, options_by_argument(ctx.command))
    typed = command_line(ctx)
    with run_context(console):
        check_forms(options)
        check_options(options)
        folder = folder_for(options.out, options.resume, console)
        job = job_of(options, console)
        n_bytes = times_predicted(options, job, console) * _bytes_of(job)
        with resumable(folder, n_bytes, typed, options.resume):
            evaluation, n_resumed = _evaluate(options, job, folder, console)
            files = _write_files(evaluation, job, options.selection, folder, typed, console)
    seconds = console.seconds()
    console.table(search_rows(evaluation, files, n_resumed, seconds=seconds))
    if evaluation.estimate is not None:
        console.show(evaluation.estimate.tables()[1:])
    console.document({**search_document(evaluation, files, job, seconds=seconds), "n_fits_resumed": n_resumed})
    console.check_all_was_printed(f"the files are in {folder.path}")


def shared_parameters(names: Collection[str]) -> list[click.Parameter]:
    """The argument and the options of tune that another command has too."""
    return [parameter for parameter in command.params if parameter.name in names]


def default_values() -> dict[str, Any]:
    """The values of all parameters where only DATA and the target are typed, for commands that lack some."""
    return command.make_context("tune", ["DATA", "--target", "COL"]).params


def _bytes_of(job: TuneJob) -> int:
    """Held-out predictions on the disk: in the run file, and once more in predictions.parquet."""
    outputs = max(job.task.truth.n_classes, 1)
    cells = job.task.n_rows * job.n_planned * job.folds.n_repeats
    return 8 * cells * (2 * outputs + 2)


def _evaluate(options: TuneOptions, job: TuneJob, folder: OutputFolder, console: Console) -> tuple[Evaluation, int]:
    """The search, and how many of its fits an earlier run had done."""
    from heldout.cli.table import with_columns
    from heldout.execution.events import ConfigurationsAdded, Event, SearchStarted

    resumed: list[int] = []

    def count(event: Event) -> None:
        if isinstance(event, SearchStarted):
            resumed.append(event.n_resumed)
        elif isinstance(event, ConfigurationsAdded):
            resumed.extend(event.resumed.values())

    search = search_of(options, job)
    with run_session(options, folder, console, count) as running:
        evaluation = _evaluation(options, job, search, folder, running)
    evaluation = evaluation.with_provenance(
        configurations_from=job.space.search or "list", columns=job.found.columns
    )
    estimates = {name: with_columns(estimate, job.found) for name, estimate in evaluation.estimates.items()}
    return replace(evaluation, estimates=estimates), sum(resumed)


def _evaluation(
    options: TuneOptions, job: TuneJob, search: Search, folder: OutputFolder, running: RunSettings
) -> Evaluation:
    from heldout.cli.tune_space import evaluate_trials
    from heldout.evaluate import evaluate

    if is_protocol(options):
        return run_protocol(options, search, running)
    if job.space.search != OPTUNA:
        return evaluate(search, running)
    return evaluate_trials(job.space, options, search, folder, running, job.n_planned)


def _write_files(
    evaluation: Evaluation, job: TuneJob, selection: str, folder: OutputFolder, command: str, console: Console
) -> dict[str, str]:
    """The paths of the files by their kind."""
    from heldout.report import facts
    from heldout.report.importance import unfit_for_importance

    files = {"run": folder.run_file, **save_model(evaluation.model, folder, console)}
    metric = job.scoring.metrics[job.scoring.refit_metric]
    if metric is not None:
        files["predictions"] = write_predictions(
            evaluation,
            metric,
            job.found.target,
            folder,
            event=job.found.event,
        )
    if evaluation.estimate is not None:
        files["estimate"] = folder.write_json("estimate.json", estimate_document(evaluation))
    if evaluation.fold_models is not None and (reason := unfit_for_importance(evaluation)):
        console.note(f"The report has no importance of the columns: {reason}.")
    files |= write_report_files(facts(evaluation, command=command, title=job.source), folder)
    return {name: str(path) for name, path in files.items()}
