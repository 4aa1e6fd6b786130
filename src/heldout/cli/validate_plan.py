"""From the options of ``heldout validate`` to a plan, and what is said on the way."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from heldout.cli.console import Console
from heldout.cli.run_options import RunOptions

if TYPE_CHECKING:
    from heldout.estimates.types import Alternative
    from heldout.protocols.validation.arguments import ValidationArguments
    from heldout.protocols.validation.plan import ValidationPlan
    from heldout.readers.table_task import TableTask


MOST_IMPUTATIONS = 1000
OF_A_TIME = ("brier_score_at", "roc_auc_at")
"""Metrics that --time is for; the first is reported unless one is named."""


@dataclass(frozen=True, kw_only=True)
class ValidateOptions(RunOptions):
    """What the user asked for; the fields are the options."""

    data: str
    target: str
    event: str | None
    task: str | None
    model: tuple[str, ...]
    trust: tuple[str, ...]
    metric: tuple[str, ...]
    time: tuple[float, ...]
    positive: str | None
    groups: str | None
    predictor: tuple[str, ...]
    keep: tuple[str, ...]
    method: str | None
    bootstraps: int
    imputations: int
    imputation_order: str
    interval: str
    inner_bootstraps: int | None


@dataclass(frozen=True, eq=False)
class ToValidate:
    """Everything that is decided before the first fit."""

    found: TableTask
    source: str
    asked: ValidationArguments
    plan: ValidationPlan


def check_validate_options(wanted: ValidateOptions) -> None:
    """Refuse what can be refused before anything is read.

    Raises
    ------
    InputError
    """
    from heldout.errors import InputError
    from heldout.estimates.question import check_interval_settings
    from heldout.protocols.validation.arguments import TWO_STAGE
    from heldout.protocols.validation.corrections import CORRECTIONS
    from heldout.protocols.validation.intervals import KINDS, interval_kind

    methods = (*CORRECTIONS, TWO_STAGE)
    if wanted.method is not None and wanted.method not in methods:
        raise InputError(f"--method must be one of {', '.join(methods)}, got {wanted.method!r}.")
    wanted.check()
    check_interval_settings(wanted.bootstraps, wanted.confidence_level, wanted.alternative)
    intervals = ("auto", *KINDS, "none")
    if wanted.interval not in intervals:
        raise InputError(f"--interval must be one of {', '.join(intervals)}, got {wanted.interval!r}.")
    interval_kind(_interval(wanted), "optimism" if wanted.method in (None, TWO_STAGE) else wanted.method)
    if wanted.inner_bootstraps is not None and wanted.interval != "double":
        raise InputError("--inner-bootstraps is of --interval double; give both, or leave it out.")
    if wanted.trust and not any(name.endswith(".skops") for name in wanted.model):
        raise InputError("--trust is of --model FILE.skops; give both, or leave it out.")
    _check_imputing(wanted)
    if wanted.time and wanted.event is None:
        raise InputError("--time is of survival, which --event COL makes of the times in --target; give both.")


def _check_imputing(wanted: ValidateOptions) -> None:
    from heldout.errors import InputError
    from heldout.imputation.settings import Order

    h, orders = wanted.imputations, get_args(Order)
    if h != 0 and not 2 <= h <= MOST_IMPUTATIONS:
        raise InputError(f"--imputations must be 0 for none, or from 2 to {MOST_IMPUTATIONS}, got {h}; 5 is usual.")
    if wanted.imputation_order not in orders:
        raise InputError(f"--imputation-order must be one of {', '.join(orders)}, got {wanted.imputation_order!r}.")
    if not h and wanted.imputation_order != "boot_mi":
        raise InputError("--imputation-order needs --imputations, the number of them; 5 is usual.")


def to_validate(wanted: ValidateOptions, console: Console) -> ToValidate:
    """Read the table and make the plan, and say what was read and decided.

    Raises
    ------
    InputError
    """
    from heldout._text import counted
    from heldout.cli.table_reading import read_task
    from heldout.imputation.settings import Imputation
    from heldout.imputation.tables import holes_of
    from heldout.protocols.validation.arguments import TWO_STAGE, ValidationArguments

    found, source = read_task(
        wanted.data, wanted.target, console, event=wanted.event, kind=wanted.task, groups=wanted.groups,
        positive=wanted.positive, keep=wanted.keep, predictors=wanted.predictor,
    )  # fmt: skip
    task = found.task
    n_lacking = int(holes_of(task.X).any(axis=1).sum())
    if n_lacking and not wanted.imputations:
        console.note(_of_missing(wanted, n_lacking))
    imputation = None
    if wanted.imputations:
        imputation = Imputation(wanted.imputations, order=cast("Any", wanted.imputation_order))
    models = _models(wanted, found)
    method = wanted.method or (TWO_STAGE if len(models) > 1 else "optimism")
    asked = ValidationArguments(
        models,
        metric=_metrics(wanted, found),
        method=method,
        n_bootstraps=wanted.bootstraps,
        n_inner_bootstraps=50 if wanted.inner_bootstraps is None else wanted.inner_bootstraps,
        imputation=imputation,
        interval=_interval(wanted),
        confidence_level=wanted.confidence_level,
        alternative=cast("Alternative", wanted.alternative),
        random_state=wanted.seed,
    )
    plan = asked.plan_of(task)
    names = ", ".join(configuration.name for configuration in plan.models)
    each = f", each of {plan.do.n_completions // 2} imputations" if plan.do.n_completions > 1 else ""
    inner = f" of {counted(plan.n_inner, 'bootstrap')} each" if plan.n_inner else ""
    console.say(
        f"Plan: {names} by {method}, {counted(wanted.bootstraps, 'bootstrap')}{inner}: "
        f"{counted(plan.most_fits, 'fit')}{each}, seed {wanted.seed}. Metrics: {', '.join(plan.metrics)}."
    )
    return ToValidate(found, source, asked, plan)


def _of_missing(wanted: ValidateOptions, n_rows: int) -> str:
    """Who deals with missing values, where nothing is imputed."""
    from heldout._text import counted
    from heldout.spaces.regressions import MODELS

    files = [name for name in wanted.model if name not in MODELS]
    by_us = "the named models fill them in by the median, or as a category"
    by_them = f"{', '.join(files)} must deal with them"
    whose = by_them if files and len(files) == len(wanted.model) else by_us
    return f"Missing values in {counted(n_rows, 'row')}: {whose}; --imputations 5 imputes them instead."


def _interval(wanted: ValidateOptions) -> str | None:
    return None if wanted.interval == "none" else wanted.interval


def _models(wanted: ValidateOptions, found: TableTask) -> list[Any]:
    """Each with its name."""
    from heldout.cli.model_file import models_of_file
    from heldout.errors import InputError
    from heldout.spaces.regressions import MODELS, regression, usual_model

    kind, X = found.task.truth.kind, found.task.X
    entries: list[tuple[str, Any]] = []
    for name in wanted.model or (usual_model(kind),):
        if name in MODELS:
            entries.append((name, regression(name, X, kind, fill=not wanted.imputations)))
            continue
        models = models_of_file(Path(name), wanted.trust)
        entries += models if isinstance(models, list | tuple) else [(Path(name).stem, models)]
    names = [entry[0] for entry in entries if isinstance(entry, tuple | list) and entry]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"--model names {twice!r} twice; give each model a name of its own.")
    return entries


def _metrics(wanted: ValidateOptions, found: TableTask) -> list[str] | None:
    """Those that were named, or the usual ones, and each that is of a time at all of the times asked for."""
    from heldout.protocols.validation.arguments import DEFAULT_METRICS

    if not wanted.metric and not wanted.time:
        return None
    named = wanted.metric or DEFAULT_METRICS[found.task.truth.kind]
    if wanted.time and not any(name in OF_A_TIME for name in named):
        named = (*named, OF_A_TIME[0])
    of_each = {name: [f"{name}(time={_written(time)})" for time in wanted.time] for name in OF_A_TIME}
    return [each for name in named for each in of_each.get(name) or [name]]


def _written(time: float) -> str:
    return f"{time:g}" if float(f"{time:g}") == time else repr(time)
