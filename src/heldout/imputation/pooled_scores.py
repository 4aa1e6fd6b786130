"""Rubin's rules for a score: one of each imputation, pooled on a scale on which it is about normal.

A score between two bounds is pooled as the logarithm of its odds, (x - low) / (high - x): of an AUC its logit, of a
correlation twice Fisher's z. A score with one bound is pooled as the logarithm of its distance from it. A standard
error is carried over by the slope of the scale at the score (the delta method).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import isfinite, log
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from heldout import _defaults
from heldout._record import Record
from heldout.data.checks import check_count
from heldout.data.task import array_of, numbers_of, shortened
from heldout.errors import HeldoutWarning, InputError
from heldout.imputation.coefficients import Coefficients, pool_coefficients
from heldout.metrics.base import Metric
from heldout.metrics.named import metric_named


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
    if isinstance(confidence_level, bool) or not (
        isinstance(confidence_level, Real) and 0 < float(confidence_level) < 1
    ):
        raise InputError(
            f"confidence_level must lie between 0 and 1, got {shortened(confidence_level)}; for instance .95.",
            argument="confidence_level",
        )
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
