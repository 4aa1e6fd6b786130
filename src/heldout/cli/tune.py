"""``heldout tune``: from a table to a fitted model, an estimate that can be believed, and a report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from heldout import _defaults
from heldout._text import counted
from heldout.cli.console import Console, command_of
from heldout.cli.files import folder_for, save_model, write_predictions, write_report_files
from heldout.cli.options import DATA, RUNNING
from heldout.cli.result import estimate_document, search_document, search_rows
from heldout.cli.runs import resumable, run_context, run_session
from heldout.cli.tune_options import (
    BOOTSTRAP,
    CONCLUDED,
    OPTUNA,
    SCORED,
    TRIED,
    TuneOptions,
    check_options,
    is_protocol,
    nested_settings,
)
from heldout.data.checks import rows_of_bootstrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.cli.files import OutputFolder
    from heldout.cli.python_file import FileSpace
    from heldout.configurations import Configurations
    from heldout.data.task import Task
    from heldout.estimates.question import AnyAggregate
    from heldout.estimates.types import Alternative
    from heldout.execution.fit import Scoring
    from heldout.execution.run import RunSettings
    from heldout.execution.search import DeployedModel, Search
    from heldout.execution.sharing.groups import Share
    from heldout.folds.splits import Folds
    from heldout.protocols.nested.estimate import NestedEstimate
    from heldout.protocols.search_bootstrap import SearchBootstrapEstimate
    from heldout.readers.table_task import TableTask
    from heldout.result import Evaluation


@dataclass(frozen=True, eq=False)
class TuneJob:
    """Everything that is decided before the first fit."""

    found: TableTask
    source: str
    space: FileSpace
    n_planned: int
    """How many configurations there will be, at most."""
    search: Search


def job_of(options: TuneOptions, console: Console) -> TuneJob:
    """Read the table, decide what to fit, and print both."""
    from heldout.cli.python_file import OwnSpace
    from heldout.cli.table import read_task
    from heldout.cli.tune_options import method_of_options
    from heldout.cli.tune_space import chosen, configurations_of, n_planned, routing_of, scoring_of, space_of
    from heldout.dropping import planned_folds, strategy_of
    from heldout.execution.search import Search
    from heldout.folds.splits import make_folds
    from heldout.metrics.base import Response
    from heldout.readers.table_task import DEFAULT_METRICS, check_folds_fit

    own = None if options.space is None else OwnSpace.of(options.space)
    if own is not None and not own.needs_data:
        chosen(own.space(None, None), options)  # a misspelt --models is refused before the table is read
    found, source = read_task(options, console)
    task = found.task
    metrics = options.metrics or (DEFAULT_METRICS[task.truth.kind],)
    keep = (Response.LABELS, Response.PROBABILITIES) if task.truth.kind.is_classification else ()
    scoring = scoring_of(metrics, task.truth, keep)
    console.say(_metric_sentence(metrics, bool(options.metric)))
    strategy = strategy_of(options.drop)
    if strategy is None:
        check_folds_fit(found, options.fold_plan.most_folds() or 2)
        # Shuffled, because the rows of a file are seldom in random order.
        folds = make_folds(task, options.fold_plan, repeats=options.repeats, entropy=options.seed)
    else:
        folds = planned_folds(strategy, task, options.seed)
    space = space_of(options, own, task, scoring.metrics, console)
    configurations = _imputing(configurations_of(space, options), options, task, console)
    number = n_planned(space, options, configurations)
    console.say(_plan_sentence(options, folds, number, space))
    why_pooled = "" if options.aggregate else _why_pooled(options, task, scoring, folds)
    if why_pooled:
        console.note(f"{why_pooled}: all held-out rows are scored together, in choosing too (aggregate: pooled).")
    search = Search(
        task, configurations, folds, scoring, routing_of(space, task), options.seed, seed_estimators=True,
        method=method_of_options(options),
        selection=options.selection,
        aggregate=cast("AnyAggregate", options.aggregate or ("pooled" if why_pooled else _defaults.AGGREGATE)),
        n_bootstraps=options.bootstraps,
        confidence_level=options.confidence_level,
        alternative=cast("Alternative", options.alternative),
        block_length=options.block_length,
        n_rows_of_bootstrap=rows_of_bootstrap(options.n_rows_of_bootstrap),
        drop=options.drop,
        stop_when_width=options.stop_when_width,
        training_size_correction=options.training_size_correction,
        share=False if options.share == "no" else cast("Share", options.share),
        deploy=cast("DeployedModel", options.deploy),
        imputation=options.imputations or None,
        keep_models="winner" if options.importance else "none",
        return_train_score=options.return_train_score,
    )  # fmt: skip
    return TuneJob(found, source, space, number, search)


def _imputing(configurations: Configurations, options: TuneOptions, task: Task, console: Console) -> Configurations:
    """The configurations, each of which imputes within its fits if --imputations says so."""
    from heldout.configurations import Configurations
    from heldout.execution.search import imputed
    from heldout.flags import Flag
    from heldout.imputation.settings import imputation_of
    from heldout.imputation.tables import has_missing

    imputation = imputation_of(options.imputations or None)
    if imputation is None:
        return configurations
    if not has_missing(task.X):
        console.note(Flag.NOTHING_MISSING.filled())
    return Configurations(tuple(imputed(one, imputation) for one in configurations))


def _metric_sentence(metrics: Sequence[str], is_chosen: bool) -> str:
    if len(metrics) > 1:
        return f"Metrics: {', '.join(metrics)}; {metrics[0]} chooses the winner, and each has its estimate."
    return f"Metric: {metrics[0]}." + ("" if is_chosen else " To choose another: --metric NAME.")


def _why_pooled(options: TuneOptions, task: Task, scoring: Scoring, folds: Folds) -> str:
    """Why folds of one row or one group cannot be scored one by one; empty where they can."""
    from heldout.execution.search_check import unscored_splits
    from heldout.folds.plans import LeaveOut

    if not isinstance(options.fold_plan, LeaveOut):
        return ""
    if task.groups is None:
        return "Leave-one-out tests one row at a time"
    return unscored_splits(scoring.metrics[scoring.refit_metric], task.truth, folds)


def _plan_sentence(options: TuneOptions, folds: Folds, number: int, space: FileSpace) -> str:
    from heldout.cli.tune_options import OPTUNA, RANDOM
    from heldout.dropping import strategy_of

    drawn = {RANDOM: " drawn at random", OPTUNA: " proposed by Optuna"}.get(space.search or "", "")
    most = "at most " if options.timeout is not None else ""
    fits = number * folds.n_splits + len(folds.halves)
    models = f" ({', '.join(space.names)})" if space.names else ""
    steps = f"{folds.n_splits} steps on more and more rows (--cv does not apply)"
    splits = options.fold_plan.words if strategy_of(options.drop) is None else steps
    repeats = f" x {options.repeats} repeats" if options.repeats > 1 else ""
    grouped = " of whole groups" if folds.grouped else ""
    each = f", each of {options.imputations:,} imputations" if options.imputations else ""
    return (
        f"Plan: {most}{counted(number, 'configuration')}{drawn}{models} x "
        f"{splits}{grouped}{repeats} = "
        f"{most}{counted(fits, 'fit')}{_fits_beside(options, folds, number, space)}{each}, seed {options.seed}."
    )


def _fits_beside(options: TuneOptions, folds: Folds, number: int, space: FileSpace) -> str:
    """The further fits of a search with Optuna for its estimate; empty where there are none."""
    from heldout.cli.tune_options import OPTUNA, feedback_of, method_of_options

    if space.search != OPTUNA or method_of_options(options) is None:
        return ""
    from heldout.search.optuna.cross_fitting import cross_fitting_of

    cross_fitting = cross_fitting_of(feedback_of(options.feedback))
    if cross_fitting is None or cross_fitting.obstacle(folds, number) is not None:
        return ""
    return f" and {cross_fitting.n_fits(folds, number):,} more for the corrected estimate"


def times_predicted(options: TuneOptions, search: Search, console: Console) -> int:
    """How many times as many predictions as a single search the method makes; prints the number of fits."""
    if not is_protocol(options):
        return 1
    from heldout.execution.search_check import check_repeated

    check_repeated(search)
    n_configurations = len(search.configurations)
    if options.method in BOOTSTRAP:
        return _times_bootstrapped(options, n_configurations, search.folds.n_splits, console)
    from heldout.protocols.nested.plan import BATES, nested_folds

    settings, selects = nested_settings(options), n_configurations > 1
    pairs = settings.interval == BATES
    nested = nested_folds(
        search.task, search.folds, settings.inner, pairs=pairs, selects=selects, entropy=options.seed
    )
    fits = nested.n_fits(n_configurations)
    if nested.is_one_split:
        console.say(
            f"Hold-out: the winner of a search on the other rows is tested once, {counted(fits, 'fit')} in all."
        )
        return 2
    console.say(
        f"Nested cross-validation: the search is repeated for each of {counted(len(nested.outer), 'outer fold')}"
        + (f" and for each of {counted(len(nested.pairs), 'pair')} of them" if nested.pairs else "")
        + f", {counted(fits, 'fit')} in all."
    )
    return 1 + len(nested.branches)


def run_protocol(options: TuneOptions, search: Search, running: RunSettings) -> Evaluation:
    """The search on all rows, with the estimate of the protocol and the fits of both."""
    from heldout.protocols.nested.protocol import nested_of_search
    from heldout.protocols.search_bootstrap import BootstrapPlan

    estimate: NestedEstimate | SearchBootstrapEstimate
    if options.method in BOOTSTRAP:
        classifier = search.task.truth.kind.is_classification
        settings = search.estimation.settings(search.entropy, options.n_jobs)
        plan = BootstrapPlan(search, settings, options.fold_plan, options.repeats, classifier)
        estimate = plan.run_models(running) if options.scheme == "models" else plan.run_cvt(running)
    else:
        estimate = nested_of_search(search, nested_settings(options), running)
    evaluation = estimate.evaluation
    assert evaluation is not None, "the protocol ran the search"
    return replace(
        evaluation,
        estimates={evaluation.refit_metric: replace(estimate, evaluation=None, model=None)},
        n_fits=estimate.n_fits,
        n_fits_saved=estimate.n_fits_saved,
    )


def _times_bootstrapped(options: TuneOptions, n_configurations: int, n_splits: int, console: Console) -> int:
    """The same, of a bootstrap."""
    times = options.bootstraps
    if options.scheme == "models":
        fits = times * n_configurations + 1
        console.say(
            f"Bootstrap: every configuration on each of {counted(times, 'sample')}, {counted(fits, 'fit')}."
        )
        return times
    searched = n_configurations * n_splits
    fits = (searched + 1) + times * ((searched if n_configurations > 1 else 0) + 1)
    console.say(
        f"Bootstrap of the search: it is repeated on each of {counted(times, 'sample')}, {counted(fits, 'fit')} "
        "in all."
    )
    return 1 + times


@command_of(
    TuneOptions,
    "tune",
    "Tune models on a table and estimate how good the best one is.",
    {section: section for section in (DATA, TRIED, SCORED, CONCLUDED, RUNNING)},
)
def command(options: TuneOptions, console: Console, typed: str) -> None:
    """Try many models on DATA and estimate how good the best one is, corrected for having been the best.

    DATA is a CSV or Parquet file, or example:breast_cancer (also iris, wine, digits, diabetes). DIR receives
    run.db, model.skops, predictions.parquet, estimate.json and report.html; methods.md, a paragraph for a paper
    with its BibTeX; and card.md, the result for the README of a repository.
    """
    with run_context(console):
        options.check()
        check_options(options)
        folder = folder_for(options.out, options.resume, console)
        job = job_of(options, console)
        n_bytes = times_predicted(options, job.search, console) * _bytes_of(job)
        with resumable(folder, n_bytes, typed, options.resume):
            evaluation, n_resumed = _evaluate(options, job, folder, console)
            files = _write_files(evaluation, job, options.selection, folder, typed, console)
    seconds = console.seconds()
    console.table(search_rows(evaluation, files, n_resumed, seconds=seconds))
    if evaluation.estimate is not None:
        console.show(evaluation.estimate.tables()[1:])
    console.document(
        {**search_document(evaluation, files, job.found, seconds=seconds), "n_fits_resumed": n_resumed}
    )
    console.check_all_was_printed(f"the files are in {folder.path}")


def _bytes_of(job: TuneJob) -> int:
    """Held-out predictions on the disk: in the run file, and once more in predictions.parquet."""
    task = job.search.task
    outputs = max(task.truth.n_classes, 1)
    cells = task.n_rows * job.n_planned * job.search.folds.n_repeats
    return 8 * cells * (2 * outputs + 2)


def _evaluate(options: TuneOptions, job: TuneJob, folder: OutputFolder, console: Console) -> tuple[Evaluation, int]:
    """The search, and how many of its fits an earlier run had done."""
    from heldout.cli.table import with_columns
    from heldout.cli.tune_space import evaluate_trials
    from heldout.evaluate import evaluate
    from heldout.execution.events import ConfigurationsAdded, Event, SearchStarted

    resumed: list[int] = []

    def count(event: Event) -> None:
        if isinstance(event, SearchStarted):
            resumed.append(event.n_resumed)
        elif isinstance(event, ConfigurationsAdded):
            resumed.extend(event.resumed.values())

    with run_session(options, folder, console, count) as running:
        if is_protocol(options):
            evaluation = run_protocol(options, job.search, running)
        elif job.space.search == OPTUNA:
            evaluation = evaluate_trials(job.space, options, job.search, folder, running, job.n_planned)
        else:
            evaluation = evaluate(job.search, running)
    evaluation = evaluation.with_provenance(
        configurations_from=job.space.search or "list", columns=job.found.columns
    )
    estimates = {name: with_columns(estimate, job.found) for name, estimate in evaluation.estimates.items()}
    return replace(evaluation, estimates=estimates), sum(resumed)


def _write_files(
    evaluation: Evaluation, job: TuneJob, selection: str, folder: OutputFolder, command: str, console: Console
) -> dict[str, str]:
    """The paths of the files by their kind."""
    from heldout.report import facts
    from heldout.report.importance import unfit_for_importance

    files = {
        "run": folder.run_file,
        **save_model(evaluation.model, folder, console, job.found.note(job.search.scoring.times)),
    }
    metric = job.search.scoring.metrics[job.search.scoring.refit_metric]
    if metric is not None:
        found = job.found
        files["predictions"] = write_predictions(evaluation, metric, found.target, folder, event=found.event)
    if evaluation.estimate is not None:
        files["estimate"] = folder.write_json("estimate.json", estimate_document(evaluation))
    if evaluation.fold_models is not None and (reason := unfit_for_importance(evaluation)):
        console.note(f"The report has no importance of the columns: {reason}.")
    files |= write_report_files(facts(evaluation, command=command, title=job.source), folder)
    return {name: str(path) for name, path in files.items()}
