"""The performance of a search, pooled over imputations: the other reading of Rubin's rules.

A search with ``imputation=`` pools predictions, and scores the pooled ones: it estimates the performance of the
model that is deployed, which pools too. Here each imputation is scored on its own, and the scores are pooled: this
estimates the performance of a model of one imputation, with the variance that missing values add.

Scores are pooled on a scale on which they are about normal. A score between two bounds is pooled as the logarithm
of its odds, (x - low) / (high - x): of an AUC its logit, of a correlation twice Fisher's z. A score with one bound
is pooled as the logarithm of its distance from it. A standard error is carried over by the slope of the scale at
the score (the delta method).
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite, log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from heldout import _defaults
from heldout._record import Record
from heldout._sklearn import rows_at
from heldout._streams import RandomState, entropy_of
from heldout._types import Array, Indices
from heldout.data.checks import check_count, check_interval_settings
from heldout.data.task import array_of, numbers_of, shortened
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates.estimate import estimate
from heldout.estimates.question import AnyAggregate
from heldout.execution.copies import with_copies_together
from heldout.execution.fit import Scoring, seeded_model
from heldout.execution.responses import coded_responses
from heldout.imputation.coefficients import Coefficients, pool_coefficients
from heldout.imputation.imputed_model import ImputedModel
from heldout.metrics.base import Metric, Response
from heldout.metrics.named import metric_named
from heldout.predictions import HeldOutPredictions
from heldout.protocols.nested.estimate import NestedEstimate
from heldout.protocols.validation.arguments import no_scores
from heldout.result import Evaluation


@dataclass(frozen=True)
class PoolingScale:
    """The scale on which scores in a range are pooled.

    Examples
    --------
    >>> [PoolingScale(*ends).name for ends in ((0.0, 1.0), (0.0, float("inf")), (-float("inf"), float("inf")))]
    ['logit', 'log', 'identity']
    >>> PoolingScale(0.0, 1.0).to(0.5), PoolingScale(0.0, 1.0).back(0.0), PoolingScale(0.0, 1.0).slope(0.5)
    (0.0, 0.5, 4.0)
    """

    low: float
    high: float

    @property
    def name(self) -> str:
        bounded = (isfinite(self.low), isfinite(self.high))
        return "logit" if all(bounded) else "log" if any(bounded) else "identity"

    def holds(self, score: float) -> bool:
        """Whether the scale has a finite value for a score."""
        return isfinite(score) and self.low < score < self.high

    def to(self, score: float) -> float:
        """The value on the scale; it increases with the score."""
        if self.name == "logit":
            return log((score - self.low) / (self.high - score))
        if isfinite(self.low):
            return log(score - self.low)
        return -log(self.high - score) if isfinite(self.high) else score

    def slope(self, score: float) -> float:
        """The derivative of ``to``."""
        if self.name == "logit":
            return (self.high - self.low) / ((score - self.low) * (self.high - score))
        if isfinite(self.low):
            return 1 / (score - self.low)
        return 1 / (self.high - score) if isfinite(self.high) else 1.0

    def back(self, value: float) -> float:
        """The score of a value on the scale."""
        if self.name == "logit":
            return self.low + (self.high - self.low) * float(expit(value))
        with np.errstate(over="ignore"):  # an end of an interval may be infinitely far
            if isfinite(self.low):
                return self.low + float(np.exp(value))
            return self.high - float(np.exp(-value)) if isfinite(self.high) else value


@dataclass(frozen=True)
class PooledScore(Record):
    """A score pooled over H imputations by Rubin's rules, with its interval.

    Attributes
    ----------
    metric : str
    value : float
        In the metric's own units; NaN if the scale has no value for a score.
    low, high : float
        The ends of the interval, by Student's t on the scale; NaN without one.
    confidence_level : float
    scale : str
        The scale on which scores are pooled: "logit", "log" or "identity".
    scores, standard_errors : tuple of float
        The score of each imputation and its standard error, in the metric's own units.
    within, between : float
        W and V: the mean squared standard error, and the variance of the scores, on the scale; T = W + (1 + 1/H) V.
    df : float
        Degrees of freedom (Barnard and Rubin 1999).
    variance_from_missing : float
        λ, the share of the variance that is due to missing values.
    """

    metric: str
    value: float
    low: float
    high: float
    confidence_level: float
    scale: str
    scores: tuple[float, ...]
    standard_errors: tuple[float, ...]
    within: float
    between: float
    df: float
    variance_from_missing: float

    _shown = "pooled=value low high degrees_of_freedom=df variance_from_missing"

    def __str__(self) -> str:
        level = f"{self.confidence_level * 100:.4g}%"
        return (
            f"{self.metric} {self.value:.4g} [{self.low:.4g}, {self.high:.4g}] ({level}), pooled over "
            f"{len(self.scores)} imputations"
        )

    @property
    def _title(self) -> str:
        level = f"{self.confidence_level * 100:.4g}%"
        return f"{self.metric}, pooled over {len(self.scores)} imputations, with its {level} interval"


def pool_scores(
    scores: ArrayLike,
    standard_errors: ArrayLike,
    *,
    metric: str | Metric,
    n_rows: Any,
    confidence_level: Any = _defaults.LEVEL,
) -> PooledScore:
    """Pool the scores of H imputations by Rubin's rules, on the scale that suits the metric's range.

    Parameters
    ----------
    scores, standard_errors : array-like of shape (H,)
        The score of each imputation and its standard error, in the metric's own units.
    metric : str or metric
        Its range decides the scale: the logit for an AUC, the logarithm for a loss without an upper bound.
    n_rows : int
        Rows that were scored, for the degrees of freedom.
    confidence_level : float, default=0.95

    Returns
    -------
    PooledScore
        NaN, with a warning, if a score is at a bound of its range or a standard error is not finite.

    Raises
    ------
    InputError
        When there are fewer than two scores, not as many standard errors, or a negative one.

    References
    ----------
    Rubin (1987), section 3.1; Barnard and Rubin (1999); for scales Marshall et al. (2009).

    Examples
    --------
    >>> print(pool_scores([0.80, 0.82, 0.78], [0.04, 0.04, 0.04], metric="roc_auc", n_rows=100))
    roc_auc 0.8005 [0.6873, 0.8799] (95%), pooled over 3 imputations
    """
    values = numbers_of(array_of(scores, "scores"), "scores")
    errors = numbers_of(array_of(standard_errors, "standard_errors"), "standard_errors")
    declared = metric_named(metric)
    if values.ndim != 1 or len(values) < 2 or values.shape != errors.shape or (errors < 0).any():
        raise InputError(
            "scores and standard_errors must be two lists of at least 2 numbers each, one for each imputation, and "
            f"no standard error below 0, got {shortened(scores)} and {shortened(standard_errors)}.",
            argument="scores",
        )
    check_count("n_rows", n_rows, 2)
    check_interval_settings(_defaults.BOOTSTRAPS, confidence_level, _defaults.ALTERNATIVE)
    level, scale = float(confidence_level), PoolingScale(*declared.range)
    given = (tuple(values.tolist()), tuple(errors.tolist()))
    if not all(map(scale.holds, given[0])) or not np.isfinite(errors).all():
        warnings.warn(
            f"the scores of {declared.name} cannot be pooled: one has no standard error, or stands on a bound of "
            f"its range, where the {scale.name} scale has no value.",
            HeldoutWarning,
            stacklevel=2,
        )
        nothing = (float("nan"),) * 3
        rest = (float("nan"),) * 4
        return PooledScore(declared.name, *nothing, level, scale.name, *given, *rest)
    pooled = pool_coefficients(
        [
            Coefficients((declared.name,), np.array([scale.to(x)]), np.array([[(error * scale.slope(x)) ** 2]]))
            for x, error in zip(*given, strict=True)
        ],
        int(n_rows),
    )
    assert pooled is not None, "the sets have one name, and there are rows enough"
    low, high = pooled.intervals(level)[0].tolist()
    return PooledScore(
        declared.name,
        scale.back(float(pooled.values[0])),
        scale.back(low),
        scale.back(high),
        level,
        scale.name,
        *given,
        within=float(pooled.within[0, 0]),
        between=float(pooled.between[0, 0]),
        df=float(pooled.df[0]),
        variance_from_missing=float(pooled.variance_from_missing[0]),
    )


def pooled_performance(
    search: Any,
    X: Any,
    y: Any,
    *,
    metric: str | None = None,
    n_bootstraps: int = _defaults.BOOTSTRAPS,
    confidence_level: float = _defaults.LEVEL,
    random_state: RandomState = None,
) -> PooledScore:
    """Score the winner of a search, or of each outer fold, in each imputation; pool the scores by Rubin's rules.

    Imputation h is a whole analysis: training rows completed for the h-th time, the model fitted on them, and test
    rows completed by the h-th imputer. Its cross-validated score is computed like that of the search
    (``aggregate``), and its standard error by a bootstrap of its held-out predictions (of groups, if there are
    any). Both are transformed to the scale of the metric (the logit of an AUC) and pooled; with the mean variance W
    within imputations and the variance V between them, the variance is T = W + (1 + 1/H) V.

    Parameters
    ----------
    search : HeldOutSearchCV, HeldOutRandomizedSearchCV or NestedEstimate
        Fitted with ``imputation=``, ``keep_models="winner"`` (or "all") and ``keep_predictions=True``; or the
        result of ``ho.nested_cv(imputation=...)``, whose winners are then fitted once more in every outer fold.
    X, y : array-like
        The rows that the search was fitted on.
    metric : str, optional
        The name of one of the search's scorers; by default the one that selected the winner.
    n_bootstraps : int, default=1000
    confidence_level : float, default=0.95
    random_state : int, RandomState or Generator, optional
        Seeds the bootstrap.

    Returns
    -------
    PooledScore
        For a search it is not corrected for the choice of the winner: with several configurations it is about as
        optimistic as ``search.best_score_``, which ``search.estimate_`` corrects. For a nested estimate no
        correction is needed.

    Raises
    ------
    InputError
        When the search has no models of the folds, did not impute, or was fitted on other rows.

    Examples
    --------
    >>> import heldout as ho
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 3))
    >>> y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    >>> X[rng.random(X.shape) < 0.2] = np.nan
    >>> search = ho.HeldOutSearchCV(
    ...     LogisticRegression(), {}, scoring="roc_auc", cv=4, imputation=3, keep_models="winner", random_state=0
    ... ).fit(X, y)
    >>> found = pooled_performance(search, X, y, n_bootstraps=200, random_state=0)
    >>> found.scale, len(found.scores), 0 < found.variance_from_missing < 1
    ('logit', 3, True)
    """
    evaluation, aggregate, tested = _source(search, X, y)
    name = evaluation.refit_metric if metric is None else metric
    opened = evaluation.metrics.get(name)
    if opened is None:
        known = ", ".join(each for each, one in evaluation.metrics.items() if one is not None) or "none"
        raise InputError(
            f"metric must be a scorer of the search that is a metric of heldout ({known}), got {name!r}."
        )
    entropy = entropy_of(random_state)
    found = [
        estimate(
            y, predictions, metric=opened, method="naive_bootstrap", aggregate=aggregate,
            groups=evaluation.task.groups, sample_weight=evaluation.task.sample_weight, n_bootstraps=n_bootstraps,
            confidence_level=confidence_level, random_state=entropy,
        )
        for predictions in _of_imputations(evaluation, tested, opened, X, y)
    ]  # fmt: skip
    return pool_scores(
        [each.uncorrected for each in found],
        [np.nan if each.standard_error is None else each.standard_error for each in found],
        metric=opened,
        n_rows=found[0].n_rows_used,
        confidence_level=confidence_level,
    )


class _Tested(NamedTuple):
    """A fitted model that imputes, and rows that it never saw."""

    repeat: int
    fold: int
    model: ImputedModel
    rows: Indices


def _of_imputations(
    evaluation: Evaluation, tested: Sequence[_Tested], metric: Metric, X: Any, y: Any
) -> list[HeldOutPredictions]:
    """What the models of each imputation predict."""
    task = replace(evaluation.task, X=X, y=y)
    scoring = Scoring(no_scores, {"score": metric})
    response = next(each for each in metric.responses if each in evaluation.predictions.responses)
    n_repeats = 1 + max(one.repeat for one in tested)
    labels = np.full((task.n_rows, n_repeats), -1, dtype=np.int32)
    by_imputation: dict[int, Array] = {}
    for repeat, fold, model, rows in tested:
        labels[rows, repeat] = fold
        for h, member in enumerate(model.pooled_.members):
            answer = coded_responses(task.truth, scoring, member, rows_at(X, rows))[response]
            if h not in by_imputation:
                nothing = -1 if response is Response.LABELS else np.nan
                shape = (task.n_rows, 1, n_repeats, *answer.shape[1:])
                by_imputation[h] = np.full(shape, nothing, dtype=answer.dtype)
            by_imputation[h][rows, 0, repeat] = answer
    return [
        replace(
            evaluation.predictions, responses={response: values}, names=("winner",), folds=labels, failed={},
            dropped={}, question=None,
        )
        for values in by_imputation.values()
    ]  # fmt: skip


def _source(search: Any, X: Any, y: Any) -> tuple[Evaluation, AnyAggregate, list[_Tested]]:
    """The models of a search, or of a nested estimate, whose winners are fitted again; and the aggregate.

    Raises InputError when there are none.
    """
    if isinstance(search, NestedEstimate) and search.evaluation is not None:
        _check_rows(search.evaluation, X)
        return search.evaluation, search.evaluation.estimation.aggregate, _fitted_again(search, X, y)
    evaluation: Any = getattr(search, "evaluation_", None)
    if not isinstance(evaluation, Evaluation):
        raise InputError(
            "search must be a fitted HeldOutSearchCV or HeldOutRandomizedSearchCV with `keep_predictions=True`, or "
            f"the result of nested_cv, got {type(search).__name__}."
        )
    models = evaluation.fold_models
    if models is None or any(model is None for model in models.values()):
        raise InputError(
            "the search has no models of its folds, which say what each imputation predicts; search with "
            "`keep_models='winner'`.",
            argument="search",
        )
    _check_rows(evaluation, X)
    tested = [_Tested(*place, _imputing(models[place]), models.test_rows[place]) for place in models]
    return evaluation, search.aggregate, tested


def _fitted_again(nested: NestedEstimate, X: Any, y: Any) -> list[_Tested]:
    """The winners of the outer folds, each on all rows outside its fold."""
    evaluation = nested.evaluation
    assert evaluation is not None
    if evaluation.task.sample_weight is not None:
        raise InputError(
            "the winners of the outer folds would be fitted again without sample_weight; pass a search with "
            "`keep_models='winner'` instead.",
            argument="search",
        )
    tested = []
    for fold in nested.outer_folds:
        if fold.tested is None:
            raise InputError(
                f"outer fold {fold.fold} of repeat {fold.repeat} has no winner: {fold.reason.rstrip('.')}.",
                argument="search",
            )
        model = _imputing(evaluation.configurations[fold.tested].fresh())
        place = ("pooled performance", fold.repeat, fold.fold)
        model = seeded_model(model, int(nested.provenance["entropy"]), *place)
        rows = fold.training_rows
        fitted = with_copies_together(model, rows).fit(rows_at(X, rows), rows_at(y, rows))
        tested.append(_Tested(fold.repeat, fold.fold, fitted, fold.test_rows))
    return tested


def _imputing(model: Any) -> ImputedModel:
    if not isinstance(model, ImputedModel):
        raise InputError(
            "the search imputed nothing within its fits; search with `imputation=5`, for instance.",
            argument="search",
        )
    return model


def _check_rows(evaluation: Evaluation, X: Any) -> None:
    n_rows = np.shape(X)[0] if hasattr(X, "shape") else len(X)
    if n_rows != evaluation.task.n_rows:
        raise InputError(
            f"X must hold the {evaluation.task.n_rows} rows that the search was fitted on, got {n_rows}.",
            argument="X",
        )
