"""What ``heldout tune`` decides before the first fit, from the table and the options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from heldout.cli.console import Console
from heldout.cli.tune_options import TuneOptions

if TYPE_CHECKING:
    from heldout.configurations import Configurations
    from heldout.data.task import Task
    from heldout.estimates.question import Aggregate
    from heldout.execution.fit import Scoring
    from heldout.folds.splits import Folds
    from heldout.readers.table_task import TableTask


@dataclass(frozen=True, eq=False)
class TuneJob:
    """Everything that is decided before the first fit."""

    found: TableTask
    task: Task
    scoring: Scoring
    folds: Folds
    configurations: Configurations
    source: str
    aggregate: Aggregate = "folds"


def job_of(options: TuneOptions, console: Console) -> TuneJob:
    """Read the table, decide what to fit, and print both."""
    from heldout.cli.scorers import scorer_of, without_the_unable
    from heldout.cli.table import read_task
    from heldout.configurations import make_configurations
    from heldout.dropping import strategy_of
    from heldout.errors import InputError
    from heldout.execution.fit import make_scoring
    from heldout.metrics.base import Response
    from heldout.readers.table_task import DEFAULT_METRICS, check_folds_fit
    from heldout.spaces import preset

    found, source = read_task(
        options.data,
        options.target,
        console,
        event=options.event,
        kind=options.task,
        groups=options.groups,
        positive=options.positive,
        keep=options.keep,
    )
    task = found.task
    metric = options.metric or DEFAULT_METRICS[task.truth.kind]
    keep = (Response.LABELS, Response.PROBABILITIES) if task.truth.kind.is_classification else ()
    scoring = make_scoring(task.truth, scorer_of(metric, task.truth), keep=keep)
    console.say(f"Metric: {metric}." + ("" if options.metric else " To choose another: --metric NAME."))
    strategy = strategy_of(options.drop)
    if strategy is None:
        check_folds_fit(found, options.fold_plan.most_folds() or 2)
    folds = _folds(task, options) if strategy is None else strategy.folds(task, options.seed)
    entries, unable = without_the_unable(preset(options.preset, task.X, task.truth.kind), scoring.metrics)
    if unable:
        console.note(f"Left out {', '.join(unable)}: these models give no probabilities, which {metric} needs.")
    if not entries:
        raise InputError(f"no model of the preset can be scored by {metric}; choose another --metric.")
    configurations = make_configurations(entries)
    console.say(_plan_sentence(options, folds, configurations, [name for name, _, _ in entries]))
    why_pooled = "" if options.aggregate else _why_pooled(options, task, scoring, folds)
    if why_pooled:
        console.note(f"{why_pooled}: all held-out rows are scored together, in choosing too (aggregate: pooled).")
    aggregate = options.aggregate or ("pooled" if why_pooled else "folds")
    return TuneJob(found, task, scoring, folds, configurations, source, cast("Aggregate", aggregate))


def _folds(task: Task, options: TuneOptions) -> Folds:
    """Shuffled folds, because the rows of a file are seldom in random order; stratified, with whole groups."""
    from heldout.folds.splits import make_folds

    return make_folds(task, options.fold_plan, repeats=options.repeats, entropy=options.seed)


def _why_pooled(options: TuneOptions, task: Task, scoring: Scoring, folds: Folds) -> str:
    """Why folds of one row or one group cannot be scored one by one; empty where they can."""
    from heldout.execution.search import unscored_splits
    from heldout.folds.plans import LeaveOut

    if not isinstance(options.fold_plan, LeaveOut):
        return ""
    if task.groups is None:
        return "Leave-one-out tests one row at a time"
    return unscored_splits(scoring.metrics[scoring.refit_metric], task.truth, folds)


def _plan_sentence(options: TuneOptions, folds: Folds, configurations: Configurations, models: list[str]) -> str:
    from heldout._text import counted
    from heldout.dropping import strategy_of

    steps = f"{folds.n_splits} steps on more and more rows (--cv does not apply)"
    splits = options.fold_plan.words if strategy_of(options.drop) is None else steps
    repeats = f" x {options.repeats} repeats" if options.repeats > 1 else ""
    grouped = " of whole groups" if options.groups else ""
    return (
        f"Plan: {counted(len(configurations), 'configuration')} ({', '.join(models)}) x "
        f"{splits}{grouped}{repeats} = "
        f"{counted(len(configurations) * folds.n_splits, 'fit')}, seed {options.seed}."
    )
