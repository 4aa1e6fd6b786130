"""The options of ``heldout validate``, checked, and what it decides before the first fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from heldout import _defaults
from heldout._text import counted
from heldout.cli.console import Console
from heldout.cli.options import RunOptions, check_imputations
from heldout.data.checks import (
    CORRECTIONS,
    IMPUTATION_ORDERS,
    REGRESSIONS,
    RMS,
    TASKS,
    TWO_STAGE,
    VALIDATION_INTERVALS,
    check_choice,
    check_count,
    check_interval_settings,
)
from heldout.errors import InputError

if TYPE_CHECKING:
    from heldout.cli.console import Row
    from heldout.estimates.types import Alternative
    from heldout.protocols.validation.arguments import ValidationArguments
    from heldout.protocols.validation.estimate import Validation
    from heldout.protocols.validation.plan import ValidationPlan
    from heldout.readers.table_task import TableTask


OF_A_TIME = ("brier_score_at", "roc_auc_at")
"""Metrics that --time is for; the first is reported by default."""


@dataclass(frozen=True, kw_only=True)
class ValidateOptions(RunOptions):
    """The options of ``heldout validate``."""

    data: str
    target: str
    event: str | None
    event_value: str | None
    task: str | None
    model: tuple[str, ...]
    trust: tuple[str, ...]
    metric: tuple[str, ...]
    time: tuple[float, ...]
    positive: str | None
    groups: str | None
    copies: str | None
    predictor: tuple[str, ...]
    keep: tuple[str, ...]
    method: str | None
    bootstraps: int
    imputations: int
    imputation_order: str
    outcome_in_evaluation: bool
    backward: float | None
    interval: str
    inner_bootstraps: int | None
    second_bootstraps: int | None
    adjust_optimism: bool


@dataclass(frozen=True, eq=False)
class ValidateJob:
    """Everything that is decided before the first fit."""

    found: TableTask
    source: str
    arguments: ValidationArguments
    plan: ValidationPlan

    @property
    def n_bytes(self) -> int:
        """Of the files."""
        from heldout.protocols.validation.plan import bytes_recorded

        return bytes_recorded(self.plan)


def check_options(options: ValidateOptions) -> None:
    """Refuse wrong values, and options that do not go together, before anything is read or imported."""
    options.check()
    method, interval = options.method or "auto", options.interval
    check_choice("method", method, ("auto", *CORRECTIONS, TWO_STAGE))
    check_interval_settings(
        options.bootstraps, options.confidence_level, options.alternative,
        usual_bootstraps=_defaults.VALIDATION_BOOTSTRAPS,
    )  # fmt: skip
    check_choice("interval", interval, ("auto", *VALIDATION_INTERVALS, "none"))
    if options.task is not None:
        check_choice("task", options.task, TASKS)
    if options.inner_bootstraps is not None:
        if not (interval == "double" or options.adjust_optimism):
            raise InputError(
                "--inner-bootstraps is for --interval double or --adjust-optimism; use one of them, or leave it "
                "out."
            )
        check_count("n_inner_bootstraps", options.inner_bootstraps, 2, "50 is usual")
    if options.second_bootstraps is not None:
        if method not in ("auto", TWO_STAGE):
            raise InputError("--second-bootstraps is for --method two_stage; use both, or leave it out.")
        check_count("n_second_bootstraps", options.second_bootstraps, 2, "200 is usual")
    for name in options.model:
        if name not in REGRESSIONS:
            check_file(Path(name))
    if options.trust and not any(name.endswith(".skops") for name in options.model):
        raise InputError("--trust is for --model FILE.skops; use both, or leave it out.")
    _check_imputing(options)
    if options.time and options.event is None:
        raise InputError("--time is for survival, which needs --event COL and times in --target; add --event COL.")
    _check_parts(options)


def check_file(path: Path) -> None:
    """Refuse what is no file of a model, by its name."""
    if not path.is_file():
        raise InputError(
            f"--model must be logistic, linear, cox, or a file (.py or .skops), got {str(path)!r}; there is no "
            "such file."
        )
    if path.suffix not in (".skops", ".py"):
        raise InputError(f"--model {path} must be a Python file (.py) that defines model, or a .skops file.")


def _check_imputing(options: ValidateOptions) -> None:
    h = options.imputations
    check_imputations(h)
    check_choice("order", options.imputation_order, IMPUTATION_ORDERS)
    if not h and options.imputation_order != "boot_mi":
        raise InputError("--imputation-order needs --imputations, the number of them; 5 is usual.")
    if not h and options.backward is not None:
        raise InputError("--backward needs --imputations, the number of them; 5 is usual.")
    if options.backward is not None and not 0 < options.backward < 1:
        raise InputError(f"--backward must lie between 0 and 1, got {options.backward}; .05 and .157 are usual.")
    if options.backward is not None and options.imputation_order == "naive":
        raise InputError("--backward pools p-values, and --imputation-order naive pools nothing; leave one out.")
    if not h and options.outcome_in_evaluation:
        raise InputError("--outcome-in-evaluation needs --imputations, the number of them; 5 is usual.")


def _check_parts(options: ValidateOptions) -> None:
    """Refuse what the parts of the library refuse, before anything is read."""
    from heldout.metrics import metric_named
    from heldout.protocols.validation.intervals import interval_kind

    interval_kind(_interval(options), "optimism" if options.method == TWO_STAGE else options.method or "auto")
    for name in options.metric:
        if name not in (*OF_A_TIME, RMS):
            metric_named(name)


def job_of(options: ValidateOptions, console: Console) -> ValidateJob:
    """Read the table, decide what to fit, and print both."""
    from heldout._text import counted
    from heldout.cli.table import read_task
    from heldout.imputation.backward import BackwardSelection
    from heldout.imputation.settings import Imputation
    from heldout.imputation.tables import holes_of
    from heldout.protocols.validation.arguments import ValidationArguments

    found, source = read_task(
        options.data, options.target, console, event=options.event, event_value=options.event_value,
        kind=options.task, groups=options.groups, positive=options.positive, keep=options.keep,
        predictors=options.predictor, copies=options.copies,
    )  # fmt: skip
    task = found.task
    n_lacking = int(holes_of(task.X).any(axis=1).sum())
    if n_lacking and not options.imputations:
        console.note(_of_missing(options, n_lacking))
    imputation = None
    if options.imputations:
        imputation = Imputation(
            options.imputations,
            order=cast("Any", options.imputation_order),
            outcome_in_evaluation=options.outcome_in_evaluation,
            selection=None if options.backward is None else BackwardSelection(options.backward),
        )
    models = _models(options, found)
    method, n_second = options.method or "auto", options.second_bootstraps
    if options.method is None and len(models) > 1 and n_second is None:
        n_second = options.bootstraps
    arguments = ValidationArguments(
        models,
        metric=_metrics(options, found),
        method=method,
        n_bootstraps=options.bootstraps,
        n_inner_bootstraps=_defaults.INNER_BOOTSTRAPS
        if options.inner_bootstraps is None
        else options.inner_bootstraps,
        imputation=imputation,
        interval=_interval(options),
        confidence_level=options.confidence_level,
        alternative=cast("Alternative", options.alternative),
        random_state=options.seed,
        n_second_bootstraps=n_second,
        adjust_optimism=options.adjust_optimism,
    )
    plan = arguments.plan_of(task)
    names = ", ".join(configuration.name for configuration in plan.models)
    each = f", each of {plan.do.n_completions // 2} imputations" if plan.do.n_completions > 1 else ""
    inner = f" of {counted(plan.n_inner, 'bootstrap')} each" if plan.n_inner else ""
    second = f" to choose and {plan.n_second:,} to estimate" if plan.two_stages else ""
    console.say(
        f"Plan: {names} by {method}, {counted(options.bootstraps, 'bootstrap')}{second}{inner}: "
        f"{counted(plan.most_fits, 'fit')}{each}, seed {options.seed}. Metrics: {', '.join(plan.metrics)}."
    )
    return ValidateJob(found, source, arguments, plan)


def _of_missing(options: ValidateOptions, n_rows: int) -> str:
    """How missing values are handled, where nothing is imputed."""
    from heldout._text import counted
    from heldout.spaces.regressions import MODELS

    files = [name for name in options.model if name not in MODELS]
    by_us = "the named models fill them in by the median, or as a category"
    by_them = f"{', '.join(files)} must handle them"
    whose = by_them if files and len(files) == len(options.model) else by_us
    return f"Missing values in {counted(n_rows, 'row')}: {whose}; --imputations 5 imputes them instead."


def _interval(options: ValidateOptions) -> str | None:
    return None if options.interval == "none" else options.interval


def _models(options: ValidateOptions, found: TableTask) -> list[Any]:
    """(name, estimator) of each model."""
    from heldout.cli.python_file import models_of_file
    from heldout.spaces.regressions import MODELS, regression, usual_model

    kind, X = found.task.truth.kind, found.task.X
    entries: list[tuple[str, Any]] = []
    for name in options.model or (usual_model(kind),):
        if name in MODELS:
            entries.append((name, regression(name, X, kind, fill=not options.imputations)))
            continue
        models = models_of_file(Path(name), options.trust)
        entries += models if isinstance(models, list | tuple) else [(Path(name).stem, models)]
    names = [entry[0] for entry in entries if isinstance(entry, tuple | list) and entry]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"--model names {twice!r} twice; give each model a name of its own.")
    return entries


def _metrics(options: ValidateOptions, found: TableTask) -> list[str] | None:
    """The named metrics or the default ones; a metric of a time appears once for each --time."""
    from heldout.protocols.validation.arguments import DEFAULT_METRICS

    if not options.metric and not options.time:
        return None
    named = options.metric or DEFAULT_METRICS[found.task.truth.kind]
    if options.time and not any(name in OF_A_TIME for name in named):
        named = (*named, OF_A_TIME[0])
    of_each = {name: [f"{name}(time={_written(time)})" for time in options.time] for name in OF_A_TIME}
    return [each for name in named for each in of_each.get(name) or [name]]


def _written(time: float) -> str:
    return f"{time:g}" if float(f"{time:g}") == time else repr(time)


def validation_rows(validation: Validation, files: Mapping[str, str], *, seconds: float) -> list[Row]:
    """What the validation cost, and the files."""
    from heldout.execution.listeners.words import command_words

    failed = f", {counted(len(validation.failures), 'bootstrap')} failed" if validation.failures else ""
    fits = f"{validation.n_fits:,}{failed}"
    return [("fits", fits), ("time", command_words(seconds)), ("files", list(files.values()))]
