"""From the table and the options of ``heldout tune`` to everything that is decided before the first fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from heldout.cli.console import Console
from heldout.cli.run_options import RunOptions

if TYPE_CHECKING:
    from heldout.configurations import Configurations
    from heldout.data.task import Task
    from heldout.estimates.base import Method
    from heldout.estimates.question import Aggregate
    from heldout.estimates.types import Alternative
    from heldout.execution.fit import Scoring
    from heldout.folds.splits import Folds
    from heldout.readers.table_task import TableTask


@dataclass(frozen=True, kw_only=True)
class Options(RunOptions):
    """What the user asked for; the fields are the options."""

    data: str
    target: str
    event: str | None
    task: str | None
    metric: str | None
    positive: str | None
    preset: str
    cv: str
    repeats: int
    drop: str
    groups: str | None
    keep: tuple[str, ...]
    selection: str
    method: str
    inner: str
    across: str
    interval: str | None
    scheme: str
    n_bootstraps: int
    aggregate: str | None = None


@dataclass(frozen=True, eq=False)
class Plan:
    """Everything that is decided before the first fit."""

    found: TableTask
    task: Task
    scoring: Scoring
    folds: Folds
    configurations: Configurations
    source: str
    aggregate: Aggregate = "folds"


def check_options(wanted: Options) -> None:
    """Refuse what can be refused before anything is read.

    Raises
    ------
    InputError
    """
    from heldout.cli.tune_protocols import PROTOCOLS, check_protocol_options
    from heldout.dropping import drop_rule_of, strategy_of
    from heldout.errors import InputError
    from heldout.estimates import METHODS
    from heldout.estimates.named import check_alternative
    from heldout.estimates.question import check_interval_settings
    from heldout.folds.plans import HoldOut, Repeated, plan_named, rounds_of
    from heldout.selection import Threshold, WeightRule, rule_of
    from heldout.spaces import PRESETS

    allowed = {"--method": (wanted.method, (*METHODS, *PROTOCOLS, "none")), "--preset": (wanted.preset, PRESETS)}
    for option, (value, choices) in allowed.items():
        if value not in choices:
            raise InputError(f"{option} must be one of {', '.join(choices)}, got {value!r}.")
    if isinstance(rule_of(wanted.selection), Threshold | WeightRule):
        raise InputError(
            f"--selection {wanted.selection} chooses more than a configuration, and tune fits one on all rows; "
            "leave it out, then ask heldout estimate DIR/predictions.parquet with it."
        )
    drop_rule_of(wanted.drop)
    if strategy_of(wanted.drop) is not None and wanted.repeats > 1:
        raise InputError(
            f"--drop {wanted.drop} plans its own splits, without repeats; leave --repeats out, or use --drop "
            "bootstrap."
        )
    wanted.check()
    if wanted.repeats < 1:
        raise InputError(f"--repeats must be at least 1, got {wanted.repeats}.")
    cv = plan_named(wanted.cv)
    rounds_of(cv, wanted.repeats, 0, stratified=False, grouped=False)
    check_interval_settings(wanted.n_bootstraps, wanted.confidence_level, wanted.alternative)
    check_protocol_options(wanted)
    method = method_wanted(wanted)
    is_one_split = isinstance(cv, HoldOut) and wanted.repeats == 1
    if method is not None and method.needs_one_split and not is_one_split:
        raise InputError(
            f"--method {wanted.method} is for one development set, and here are {cv.words} with a model "
            "each; use bbc, or --cv holdout."
        )
    is_drawn_anew = isinstance(cv, HoldOut) or (isinstance(cv, Repeated) and isinstance(cv.plan, HoldOut))
    if method is not None and method.needs_test_share and (not is_drawn_anew or is_one_split):
        raise InputError(
            f"--method {wanted.method} is for repeated subsampling, and here are {cv.words}; use --cv "
            "repeated_holdout:50:0.2, or --method bbc."
        )
    check_alternative(method, cast("Alternative", wanted.alternative))


def method_wanted(wanted: Options) -> Method | None:
    """The method of estimation with its interval; None where a protocol estimates, or nothing does.

    Raises
    ------
    InputError
        When the method has no such interval.
    """
    from heldout.cli.tune_protocols import NESTED, is_protocol
    from heldout.errors import InputError
    from heldout.estimates import BBC, METHODS

    method = None if wanted.method == "none" or is_protocol(wanted) else METHODS[wanted.method]()
    if wanted.interval is None or wanted.method in NESTED:
        return method
    if isinstance(method, BBC):
        return replace(method, interval=wanted.interval)  # type: ignore[arg-type]  # checked there
    raise InputError(
        f"--interval {wanted.interval} is for --method bbc (percentile, calibrated) and for --method nested; here "
        f"the method is {wanted.method}: leave --interval out."
    )


def plan_of(wanted: Options, console: Console) -> Plan:
    """Read the table and make the plan, and say what was read and decided.

    Raises
    ------
    InputError
    """
    from heldout.cli.measures import scorer_of, without_the_unable
    from heldout.cli.table_reading import read_task
    from heldout.configurations import make_configurations
    from heldout.dropping import strategy_of
    from heldout.errors import InputError
    from heldout.execution.fit import make_scoring
    from heldout.folds.plans import plan_named
    from heldout.metrics.base import Response
    from heldout.readers.table_task import DEFAULT_METRICS, check_folds_fit
    from heldout.spaces import preset

    found, source = read_task(
        wanted.data,
        wanted.target,
        console,
        event=wanted.event,
        kind=wanted.task,
        groups=wanted.groups,
        positive=wanted.positive,
        keep=wanted.keep,
    )
    task = found.task
    metric = wanted.metric or DEFAULT_METRICS[task.truth.kind]
    keep = (Response.LABELS, Response.PROBABILITIES) if task.truth.kind.is_classification else ()
    scoring = make_scoring(task.truth, scorer_of(metric, task.truth), keep=keep)
    console.say(f"Metric: {metric}." + ("" if wanted.metric else " To choose another: --metric NAME."))
    strategy = strategy_of(wanted.drop)
    if strategy is None:
        check_folds_fit(found, plan_named(wanted.cv).most_folds() or 2)
    folds = _folds(task, wanted) if strategy is None else strategy.folds(task, wanted.seed)
    entries, unable = without_the_unable(preset(wanted.preset, task.X, task.truth.kind), scoring.metrics)
    if unable:
        console.note(f"Left out {', '.join(unable)}: these models give no probabilities, which {metric} needs.")
    if not entries:
        raise InputError(f"no model of the preset can be scored by {metric}; choose another --metric.")
    configurations = make_configurations(entries)
    console.say(_plan_sentence(wanted, folds, configurations, [name for name, _, _ in entries]))
    why_pooled = "" if wanted.aggregate else _why_pooled(wanted, task, scoring, folds)
    if why_pooled:
        console.note(f"{why_pooled}: all held-out rows are scored together, in choosing too (aggregate: pooled).")
    aggregate = wanted.aggregate or ("pooled" if why_pooled else "folds")
    return Plan(found, task, scoring, folds, configurations, source, cast("Aggregate", aggregate))


def _folds(task: Task, wanted: Options) -> Folds:
    """Shuffled folds, because the order of a file's rows is seldom random; stratified, and groups kept whole."""
    from heldout.folds.plans import plan_named
    from heldout.folds.splits import make_folds

    return make_folds(task, plan_named(wanted.cv), repeats=wanted.repeats, entropy=wanted.seed)


def _why_pooled(wanted: Options, task: Task, scoring: Scoring, folds: Folds) -> str:
    """Why folds cannot be scored one by one when each leaves one row, or one group, out; empty where they can."""
    from heldout.folds.plans import LeaveOut, plan_named
    from heldout.folds.scored import unscored_splits

    if not isinstance(plan_named(wanted.cv), LeaveOut):
        return ""
    if task.groups is None:
        return "Leave-one-out tests one row at a time"
    return unscored_splits(scoring.metrics[scoring.refit_metric], task.truth, folds)


def _plan_sentence(wanted: Options, folds: Folds, configurations: Configurations, models: list[str]) -> str:
    from heldout._text import counted
    from heldout.dropping import strategy_of
    from heldout.folds.plans import plan_named

    steps = f"{folds.n_splits} steps on more and more rows (--cv does not apply)"
    splits = plan_named(wanted.cv).words if strategy_of(wanted.drop) is None else steps
    repeats = f" x {wanted.repeats} repeats" if wanted.repeats > 1 else ""
    grouped = " of whole groups" if wanted.groups else ""
    return (
        f"Plan: {counted(len(configurations), 'configuration')} ({', '.join(models)}) x "
        f"{splits}{grouped}{repeats} = "
        f"{counted(len(configurations) * folds.n_splits, 'fit')}, seed {wanted.seed}."
    )
