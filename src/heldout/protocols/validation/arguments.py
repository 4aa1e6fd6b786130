"""Validation of a model by resampling, as users call it: its arguments, made into a plan."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from heldout import _defaults
from heldout._record import json_safe
from heldout._types import Array, Floats
from heldout.arguments.search import check_weights_fit, repeatable, routed_to_fit
from heldout.arguments.target import checked_target, rows_of, task_of
from heldout.configurations import Configurations, checked_model, make_configurations
from heldout.data.checks import RMS, TWO_STAGE, check_count, check_interval_settings, checked_flag, usual_name
from heldout.data.limits import effective_threads
from heldout.data.row_labels import in_one_order
from heldout.data.task import Task, TaskKind, Truth
from heldout.errors import InputError
from heldout.estimates.question import Settings
from heldout.estimates.types import Alternative
from heldout.execution.fit import Routing, Scoring, Work
from heldout.execution.listeners import progress_listeners
from heldout.execution.responses import available_responses
from heldout.execution.run import RunSettings, open_run
from heldout.execution.sharing.groups import Share, check_share
from heldout.execution.store import MemoryStore, entropy_of_run, store_of
from heldout.execution.threads import on_one_thread
from heldout.flags import Flag
from heldout.imputation.settings import Imputation, imputation_of
from heldout.imputation.tables import holes_of, missing_counts
from heldout.metrics.base import ESTIMATOR_METHODS, Metric, Response
from heldout.metrics.named import check_fits, metric_named
from heldout.protocols.validation.conclusion import ValidationConclusion
from heldout.protocols.validation.corrections import correction_named
from heldout.protocols.validation.estimate import Validation, rms_metrics
from heldout.protocols.validation.intervals import interval_kind
from heldout.protocols.validation.plan import Fits, ImputedFit, ReplicateFit, ValidationPlan, check_memory

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
                "`method='optimism'`."
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
        imputation = imputation_of(self.imputation)
        settings = imputation and {each.name: getattr(imputation, each.name) for each in fields(imputation)}
        return {
            "method": usual_name("method", self.method) if isinstance(self.method, str) else self.method.name,
            "n_bootstraps": self.n_bootstraps,
            "n_second_bootstraps": self.n_second_bootstraps,
            "interval": self.interval,
            "adjust_optimism": self.adjust_optimism,
            "n_inner_bootstraps": self.n_inner_bootstraps if self._draws_twice(self.interval) else None,
            "imputation": json_safe(settings),
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
                    "use both, or leave it out."
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
                f"`method={correction!r}` subtracts no optimism."
            )
        if interval == "double":
            raise InputError(
                "`interval='double'` is made of scores whose optimism is not adjusted, so it does not go with "
                "`adjust_optimism=True`; use `interval='location_shifted'`, or leave the adjustment out: then both "
                "optimisms are in the table."
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
                f"{number}); lower n_inner_bootstraps or n_bootstraps."
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
        raise InputError("metric must name at least one, got an empty list; leave it out for the usual ones.")
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


def _flags_of_imputing(imputation: Imputation) -> dict[Flag, str]:
    flags = [Flag.NAIVE_IMPUTATION] if imputation.order == "naive" else []
    flags += [Flag.IMPUTED_BEFORE_DRAWING] if imputation.order == "mi_boot" else []
    flags += [Flag.OUTCOME_IN_EVALUATION] if imputation.outcome_in_evaluation else []
    return {flag: flag.filled() for flag in flags}


def bootstrap_validate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    metric: Any = None,
    method: Any = "auto",
    n_bootstraps: int = _defaults.VALIDATION_BOOTSTRAPS,
    imputation: Any = None,
    interval: Any = "auto",
    n_inner_bootstraps: int = _defaults.INNER_BOOTSTRAPS,
    n_second_bootstraps: int | None = None,
    adjust_optimism: bool = False,
    confidence_level: float = _defaults.LEVEL,
    alternative: Alternative = _defaults.ALTERNATIVE,
    groups: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    n_jobs: int | None = None,
    fit_timeout: float | None = None,
    share: Share = _defaults.SHARE,
    store: Any = None,
    random_state: Any = None,
    verbose: int = 0,
) -> Validation:
    """Validate a model by fitting it on bootstrap samples of its rows.

    For b = 1..B draw N rows with replacement, fit the model on them, and score it on its own sample, on all rows,
    and on the rows that were not drawn. Its score on its own sample minus its score on all rows is its *optimism*.
    The mean optimism is subtracted from the apparent score, that of the model fitted on all rows. Nothing is held
    out, so the estimate is for a model fitted on all N rows.

    Parameters
    ----------
    estimator : estimator, or list of (name, estimator)
        Any estimator of scikit-learn, or a whole search, which every bootstrap then repeats (with the copies of a
        row in one inner fold); for survival any estimator with scikit-survival's methods, or
        ``ho.spaces.CoxRegression``. With several models, the best by the corrected first metric is reported.
    X : array-like of shape (N, n_features)
    y : array-like of shape (N,)
        Labels, numbers, or scikit-survival's structured array of events and times.
    metric : str, metric, or list of these, optional
        The metrics to report; the first chooses among models. By default the usual ones of the task. ``"rms"``
        stands for the metrics of R's ``rms::validate``: Dxy, R2, intercept, slope, Emax, D, U, Q, B, g and gp.
    method : {"auto", "optimism", "632", "632+", "oob", "two_stage"} or correction, default="auto"
        "auto": "optimism", but for a model that memorises its rows "632+", or "oob" for metrics without a
        no-information rate; each row of the result names its method, and a flag says why. A model memorises if its
        error (1 - ROC AUC or concordance, or squared) on its own sample is below a tenth of that on the rows left
        out in more than half of the samples, or if the relative overfitting of "632+" exceeds .9. "optimism":
        apparent - mean(in bootstrap - on original) (Efron; Harrell), without an interval for a model that
        memorises. "oob": the mean score on the rows that each sample left out. "632": .368 apparent + .632 oob.
        "632+": the more the model overfits, the more weight oob has (Efron & Tibshirani 1997). "two_stage": choose
        among several models by the optimism bootstrap, then estimate the chosen one on new samples (Klamer 2022).
    n_bootstraps : int, default=200
        B; with "two_stage" the samples that choose the model (J).
    imputation : int or Imputation, optional
        How many times missing values are imputed, or how; every model is then fitted on each completion and pooled.
        By default the model receives X unchanged.
    interval : {"auto", "location_shifted", "double", "percentile"} or None, default="auto"
        "location_shifted": percentiles of the scores in the bootstrap, minus the optimism. "double": percentiles of
        the corrected score, which each bootstrap computes anew by bootstraps of its own sample (Noma et al. 2021);
        it takes ``n_inner_bootstraps`` times the fits. "percentile", for "oob" only: percentiles of the out-of-bag
        scores. "auto" is "percentile" for "oob", else "location_shifted"; None gives no interval.
    n_inner_bootstraps : int, default=50
        Bootstraps of each bootstrap, with ``interval="double"`` or ``adjust_optimism=True``.
    n_second_bootstraps : int, optional
        With "two_stage" the samples of the second stage (K), which estimate the chosen model; ``n_bootstraps`` by
        default. With "auto" it adds a second stage, and both stages use the method of each model.
    adjust_optimism : bool, default=False
        Whether to adjust the optimism by the double bootstrap, with "optimism" and "two_stage": each bootstrap
        estimates its own optimism by bootstraps of its sample, and the mean error of these estimates is subtracted.
        It takes ``n_inner_bootstraps`` times the fits. Where "auto" corrects by another method, it adjusts nothing,
        and the flag of a model that memorises says so.
    confidence_level : float, default=0.95
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
    groups : array-like of shape (N,), optional
        The group of each row; bootstraps draw groups whole.
    sample_weight : array-like of shape (N,), optional
        Importance weights: fits receive them unchanged; for scores only their ratios matter.
    pos_label : label, optional
        The positive class of a binary task, to which scores, curves, coefficients and odds ratios refer; by default
        the last in sorted order. ``model`` itself is fitted on the unchanged labels.
    n_jobs, fit_timeout, share, store, random_state, verbose
        As in ``ho.HeldOutSearchCV``. Bootstrap b is the same for any B; an interrupted run with a ``store``
        continues where it stopped.

    Returns
    -------
    Validation
        ``.estimates`` by metric, ``.value`` for a single one, ``.to_frame()`` for the table, ``.model`` fitted on
        all rows, ``.coefficients`` of a regression, ``.calibration_curve()`` and ``.roc_curve()``; ``print`` shows
        the tables and caveats. A bootstrap that fails is left out and counted, with its message in ``.failures``;
        more than 5 % are flagged.

    Raises
    ------
    InputError
        When settings do not go together, a metric does not fit, or no model could be fitted on all rows.

    References
    ----------
    Efron (1983); Harrell, Lee and Mark (1996); Efron and Tibshirani (1997); Klamer (2022); Noma et al. (2021).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = X[:80, [1, 4, 8, 9]]
    >>> found = bootstrap_validate(
    ...     LogisticRegression(C=1e6, solver="newton-cholesky"), X, y[:80], metric=["roc_auc", "brier_score"],
    ...     n_bootstraps=50, random_state=0,
    ... )
    >>> for row in found.rows.values():
    ...     print(f"{row.metric}: apparent {row.apparent:.2f}, corrected {row.corrected:.2f}")
    roc_auc: apparent 0.87, corrected 0.83
    brier_score: apparent 0.13, corrected 0.15
    """
    arguments = ValidationArguments(
        estimator, metric, method, n_bootstraps, n_inner_bootstraps, imputation, interval, confidence_level,
        alternative, store, random_state, share, n_second_bootstraps, adjust_optimism,
    )  # fmt: skip
    running = RunSettings(
        store_of(store), True, n_jobs, fit_timeout=fit_timeout, listeners=progress_listeners(verbose)
    )
    return validated(arguments, arguments.plan(X, y, groups, sample_weight, pos_label), running)


def validated(arguments: ValidationArguments, plan: ValidationPlan, running: RunSettings) -> Validation:
    """Run a plan and return its validation.

    Raises InputError when it would not fit in memory, or no model could be fitted on all rows.
    """
    check_memory(plan, keeps_fits=isinstance(running.store, MemoryStore))
    settings = Settings(
        plan.n_bootstraps,
        arguments.confidence_level,
        arguments.alternative,
        plan.fits.entropy,
        effective_threads(running.n_jobs),
    )
    concluding = ValidationConclusion(
        plan,
        arguments.interval,
        settings,
        arguments.record() | {"missing": missing_counts(plan.task.X)},
    )
    with open_run(plan.work, running, n_cells=plan.n_cells, is_validation=True) as run:
        return concluding(Fits(plan, run))
