"""The arguments of a validation: models, rows and metrics as users pass them, made into a plan."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from heldout import _defaults
from heldout._record import json_safe
from heldout._types import Array, Floats
from heldout.arguments.search import check_weights_fit, checked_target, repeatable, routed_to_fit, rows_of, task_of
from heldout.configurations import Configurations, checked_model, make_configurations
from heldout.data.checks import RMS, TWO_STAGE, check_count, check_interval_settings, checked_flag, usual_name
from heldout.data.task import Task, TaskKind, Truth, in_one_order
from heldout.errors import InputError
from heldout.estimates.types import Alternative
from heldout.execution.fit import Routing, Scoring, Work
from heldout.execution.responses import available_responses
from heldout.execution.sharing.groups import Share, check_share
from heldout.execution.store import entropy_of_run, store_of
from heldout.execution.threads import on_one_thread
from heldout.flags import Flag
from heldout.imputation.settings import Imputation, imputation_of
from heldout.imputation.tables import holes_of
from heldout.metrics.base import ESTIMATOR_METHODS, Metric, Response
from heldout.metrics.named import check_fits, metric_named
from heldout.protocols.validation.corrections import correction_named
from heldout.protocols.validation.intervals import interval_kind
from heldout.protocols.validation.plan import ValidationPlan
from heldout.protocols.validation.replicate import ImputedFit, ReplicateFit
from heldout.protocols.validation.rows import rms_metrics

MOST_INNER = 10_000_000
DEFAULT_METRICS: Mapping[TaskKind, tuple[str, ...]] = {
    TaskKind.BINARY: (
        "roc_auc", "somers_d", "nagelkerke_r2", "brier_score", "log_loss",
        "calibration_intercept", "calibration_slope", "emax", "eci",
    ),
    TaskKind.MULTICLASS: ("roc_auc_ovr", "log_loss", "brier_score", "accuracy"),
    TaskKind.REGRESSION: ("r2", "mean_squared_error", "mean_absolute_error", "calibration_slope"),
    TaskKind.SURVIVAL: ("concordance_index", "somers_d", "nagelkerke_r2", "calibration_slope"),
}  # fmt: skip
"""The metrics by default: discrimination, accuracy and calibration, as far as the models offer them."""


@dataclass(frozen=True, eq=False)
class ValidationArguments:
    """The arguments of ``bootstrap_validate`` that decide what is computed, as the user passed them."""

    estimator: Any
    metric: Any = None
    method: Any = "auto"
    n_bootstraps: int = _defaults.VALIDATION_BOOTSTRAPS
    n_inner_bootstraps: int = _defaults.INNER_BOOTSTRAPS
    imputation: Any = None
    interval: Any = "auto"
    confidence_level: float = _defaults.LEVEL
    alternative: Alternative = _defaults.ALTERNATIVE
    store: Any = None
    random_state: Any = None
    share: Share = _defaults.SHARE
    n_second_bootstraps: int | None = None
    adjust_optimism: bool = False

    def plan(
        self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None, pos_label: Any = None
    ) -> ValidationPlan:
        """Everything checked, before anything is fitted."""
        models = _models(self.estimator)
        rows = {"y": y, "X": X, "groups": groups, "sample_weight": sample_weight}
        y, X, groups, sample_weight = in_one_order(rows).values()
        X, y = rows_of(X, checked_target(models[0].fresh(), y, "validation"))
        task = task_of(models[0].fresh(), X, y, groups, sample_weight).with_pos_label(pos_label)
        # Scores depend on ratios of weights only, but a penalty depends on their size.
        own = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64).reshape(task.n_rows)
        return self.plan_of(task, own)

    def plan_of(self, task: Task, fit_weight: Floats | None = None) -> ValidationPlan:
        """The plan for a task.

        ``fit_weight`` (N,): the weights for ``fit``; by default those of the task, whose mean is 1.
        """
        check_share(self.share)
        check_interval_settings(self.n_bootstraps, self.confidence_level, self.alternative, usual_bootstraps=200)
        is_named = isinstance(self.method, str) and self.method == TWO_STAGE
        correction = correction_named("optimism" if is_named else self.method)
        interval = interval_kind(self.interval, correction.name)
        models = _models(self.estimator)
        by_auto = correction.name == "auto" and self.n_second_bootstraps is not None and len(models) > 1
        two_stages = is_named or by_auto
        if two_stages and len(models) == 1:
            raise InputError(
                "`method='two_stage'` chooses among several models first, got one; give several, or use "
                "`method='optimism'`.",
                argument="method",
            )
        n_second = self._n_second(two_stages)
        self._check_adjusts(correction.name, interval)
        entropy = entropy_of_run(self.random_state, store_of(self.store))
        seeds = None if self.random_state is None else entropy
        weights = task.sample_weight if fit_weight is None else fit_weight
        scoring = _offered(
            _scoring(task, _metrics(self.metric, task.truth)), task, models, named=self.metric is not None
        )
        if len(models) > 1:
            _check_chooses(scoring)
        routed = _routed(models, weights, task.groups)
        fits = Work(task, scoring, models, routed=routed, entropy=entropy, seeds=seeds)
        n_inner = self._n_inner(interval, n_second or self.n_bootstraps)
        do = self._do(task, entropy)
        return ValidationPlan(
            fits, do, correction, self.n_bootstraps, n_second, n_inner, self.adjust_optimism, self.share
        )  # fmt: skip

    def record(self) -> dict[str, Any]:
        return {
            "method": usual_name("method", self.method) if isinstance(self.method, str) else self.method.name,
            "n_bootstraps": self.n_bootstraps,
            "n_second_bootstraps": self.n_second_bootstraps,
            "interval": self.interval,
            "adjust_optimism": self.adjust_optimism,
            "n_inner_bootstraps": self.n_inner_bootstraps if self._draws_twice(self.interval) else None,
            "imputation": json_safe(_settings_of(imputation_of(self.imputation))),
            "confidence_level": self.confidence_level,
            "alternative": self.alternative,
        }

    def _draws_twice(self, interval: str | None) -> bool:
        return interval == "double" or self.adjust_optimism

    def _n_second(self, two_stages: bool) -> int:
        """Samples of the second stage; 0 without one."""
        number = self.n_second_bootstraps
        if not two_stages:
            if number is not None:
                raise InputError(
                    f"`n_second_bootstraps={number!r}` is for `method={TWO_STAGE!r}`, the one with a second stage; "
                    "use both, or leave it out.",
                    argument="n_second_bootstraps",
                )
            return 0
        if number is None:
            return self.n_bootstraps
        check_count("n_second_bootstraps", number, 2, "200 is usual")
        return int(number)

    def _check_adjusts(self, correction: str, interval: str | None) -> None:
        checked_flag("adjust_optimism", self.adjust_optimism)
        if not self.adjust_optimism:
            return
        if correction not in ("optimism", "auto"):
            raise InputError(
                f"`adjust_optimism=True` is for `method='optimism'` and `method={TWO_STAGE!r}`; "
                f"`method={correction!r}` subtracts no optimism.",
                argument="adjust_optimism",
            )
        if interval == "double":
            raise InputError(
                "`interval='double'` is made of scores whose optimism is not adjusted, so it does not go with "
                "`adjust_optimism=True`; use `interval='location_shifted'`, or leave the adjustment out: then both "
                "optimisms are in the table.",
                argument="interval",
            )

    def _n_inner(self, interval: str | None, n_outer: int) -> int:
        if not self._draws_twice(interval):
            return 0
        number = self.n_inner_bootstraps
        check_count("n_inner_bootstraps", number, 2, "50 is usual")
        if number * n_outer > MOST_INNER:
            name = "adjust_optimism" if self.adjust_optimism else "interval"
            raise InputError(
                f"`{name}={self.adjust_optimism or 'double'!r}` would take {number * n_outer:,} fits ({n_outer} × "
                f"{number}); lower n_inner_bootstraps or n_bootstraps.",
                argument=name,
            )
        return int(number)

    def _do(self, task: Task, entropy: int) -> ReplicateFit:
        imputation = imputation_of(self.imputation)
        if imputation is None:
            return ReplicateFit()
        if not holes_of(task.X).any():
            return ReplicateFit(flags=Flag.NOTHING_MISSING.of())
        with on_one_thread():  # like cells
            with_outcome = tuple(imputation.completed(task.X, task.truth, entropy, "rows that train"))
            evaluated = with_outcome
            if not (imputation.outcome_in_evaluation or imputation.order == "naive"):
                evaluated = tuple(imputation.completed(task.X, None, entropy, "rows that are evaluated"))
        return ImputedFit(
            imputation,
            task.truth,
            with_outcome,
            evaluated,
            entropy,
            task.sample_weight,
            flags=_flags_of_imputing(imputation),
        )


# Its source, the docstring included, is part of the identity of stored validations: do not change it.
def no_scores(estimator: Any, X: Any, y: Any) -> dict[str, float]:
    """The scorer of cells whose predictions are scored later, under several weights of the rows."""
    return {}


def _models(estimator: Any) -> Configurations:
    if not isinstance(estimator, list | tuple):
        several = "several are given as a list of (name, estimator)"
        return make_configurations(repeatable(checked_model(estimator, otherwise=several)))
    wanted = "several models are given as a list of (name, estimator)"
    if not estimator:
        raise InputError(f"{wanted}, got an empty one.")
    for entry in estimator:
        if not (isinstance(entry, tuple | list) and len(entry) == 2 and isinstance(entry[0], str)):
            raise InputError(f"{wanted}, got {entry!r} in it; for instance [('logistic', LogisticRegression())].")
    return make_configurations([(name, repeatable(checked_model(model)), {}) for name, model in estimator])


def _metrics(wanted: Any, truth: Truth) -> dict[str, Metric]:
    """The metrics by name, each as it is on this target."""
    if wanted is None:
        wanted = DEFAULT_METRICS[truth.kind]
    listed = list(wanted) if isinstance(wanted, list | tuple) else [wanted]
    if not listed:
        raise InputError(
            "metric must name at least one, got an empty list; leave it out for the usual ones.", argument="metric"
        )
    metrics: dict[str, Metric] = {}
    named: set[str] = set()
    for one in listed:
        if isinstance(one, str) and one == RMS:
            metrics |= {name: check_fits(metric_named(name), truth) for name in rms_metrics(truth.kind)}
            continue
        metric = check_fits(metric_named(one), truth)
        if metric.name in named:
            raise InputError(f"metric names '{metric.name}' twice; name each once.", argument="metric")
        named.add(metric.name)
        metrics[metric.name] = metric
    return metrics


def _scoring(task: Task, metrics: Mapping[str, Metric]) -> Scoring:
    # Curves are drawn from probabilities, where there are any.
    keep = (Response.PROBABILITIES,) if task.truth.kind.is_classification else ()
    if task.truth.kind is TaskKind.SURVIVAL:
        keep = (Response.RISK,)  # it tells whether the model memorises
    scoring = Scoring(no_scores, metrics, next(iter(metrics)), keep=keep)
    if task.truth.kind is TaskKind.SURVIVAL and not scoring.times:
        events = np.sort(task.truth.values["time"][task.truth.values["event"]])
        # No metric names a time, so survival is predicted at the median time of an event.
        middle = tuple(events[len(events) // 2 :][:1].tolist())
        scoring = replace(scoring, keep=(*keep, Response.SURVIVAL), more_times=middle)
    return scoring


def _offered_by(scoring: Scoring, task: Task, model: Any) -> set[Response]:
    """The responses of a model; one that knows them only when it is fitted (as a stack does) is fitted for them."""
    if any(_known_when_fitted(model, method) for method in ESTIMATOR_METHODS.values()):
        # A model that cannot be fitted on all rows is not validated, which is said there.
        with suppress(Exception), on_one_thread():
            model.fit(task.X, task.target)
    return available_responses(task.truth, scoring, model)


def _known_when_fitted(model: Any, method: str) -> bool:
    """Whether a model lacks a method because a part of it that fitting makes is not there."""
    try:
        getattr(model, method)
    except AttributeError as error:
        cause: BaseException | None = error
        while isinstance(cause, AttributeError):
            if str(cause.name).endswith("_") or str(cause).startswith("'NoneType'"):
                return True
            cause = cause.__cause__ or cause.__context__
    return False


def _offered(scoring: Scoring, task: Task, models: Configurations, *, named: bool) -> Scoring:
    """The scoring with the metrics that every model offers; metrics that the user named must all be offered."""
    kept = {}
    offered = {model.name: _offered_by(scoring, task, model.fresh()) for model in models}
    for name, metric in scoring.metrics.items():
        assert metric is not None, "validations have metrics, not scorers"
        unable = next((name for name, given in offered.items() if not {*metric.responses} & given), None)
        if unable is None:
            kept[name] = metric
        elif named:
            raise InputError(
                f"metric '{name}' reads {' or '.join(metric.responses)}, which {unable} does not offer; use "
                "another metric, or a model that does (CalibratedClassifierCV gives any classifier probabilities).",
                argument="metric",
            )
    if not kept:
        raise InputError("no default metric fits the responses that all models offer; name one as `metric=`.")
    return replace(scoring, metrics=kept, refit_metric=next(iter(kept)))


def _check_chooses(scoring: Scoring) -> None:
    metric = scoring.metrics[scoring.refit_metric]
    assert metric is not None
    if (ideal := metric.ideal) is not None:
        raise InputError(
            f"the first metric chooses among models, and '{metric.name}' is best at {ideal:g}, in neither "
            "direction; name another one first."
        )


def _routed(models: Configurations, weights: Floats | None, groups: Array | None) -> Routing:
    if weights is not None:
        check_weights_fit((model.name, model.fresh()) for model in models)
    return routed_to_fit(((model.model or "", model.fresh()) for model in models), weights, groups)


def _settings_of(imputation: Imputation | None) -> dict[str, Any] | None:
    return (
        None
        if imputation is None
        else {field.name: getattr(imputation, field.name) for field in fields(imputation)}
    )


def _flags_of_imputing(imputation: Imputation) -> dict[Flag, str]:
    flags = [Flag.NAIVE_IMPUTATION] if imputation.order == "naive" else []
    flags += [Flag.IMPUTED_BEFORE_DRAWING] if imputation.order == "mi_boot" else []
    flags += [Flag.OUTCOME_IN_EVALUATION] if imputation.outcome_in_evaluation else []
    return {flag: flag.filled() for flag in flags}
