"""The log-likelihood of predictions: without them, as they are, and recalibrated by a regression on them.

Of probabilities the regression is logistic, on their log-odds; of risks it is Cox's. Nagelkerke's R², the
likelihood ratio and Harrell's indices D, U and Q are made of these three numbers, in either kind of task.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats, Weightings
from heldout.data.task import TaskKind, Truth
from heldout.kernels.dispatch import LogisticFits, total_weight, weight_of
from heldout.kernels.reference import sum_in_order
from heldout.kernels.reference_cox import AT_ONE, AT_SLOPE, AT_ZERO, CoxFits
from heldout.metrics.base import Needs, Response, Statistic, Sums
from heldout.metrics.by_kind import OfKind
from heldout.metrics.calibration import log_odds


@dataclass(frozen=True, eq=False)
class LogLikelihoods:
    """Three log-likelihoods of the truth, each (...,), and how many rows they are of.

    Attributes
    ----------
    n_rows : ndarray
        The total weight.
    without : ndarray
        Of no predictions: of the prevalence, or of equal hazards.
    as_given : ndarray
        Of the predictions as they are; at least ``-inf``.
    recalibrated : ndarray
        Of the regression on them, or what it approaches where no finite slope fits best; at least ``without``.
    """

    n_rows: Floats
    without: Floats
    as_given: Floats
    recalibrated: Floats


Value: TypeAlias = Callable[[LogLikelihoods], Floats]


@dataclass(frozen=True, eq=False)
class OfLikelihoods:
    """A number made of the log-likelihoods of every column; a ``Statistic``."""

    fits: Sums  # (..., 4), as those of ``CoxFits``
    value: Value

    def all(self, counts: Weightings) -> Floats:
        return self._value(self.fits.all(counts), total_weight(counts)[:, None])

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        return self._value(self.fits.selected(counts, columns), total_weight(counts))

    def _value(self, fits: Floats, n_rows: Floats) -> Floats:
        without = fits[..., AT_ZERO]
        recalibrated = np.maximum(fits[..., AT_SLOPE], without)  # a fit of no use, rounded
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            return self.value(LogLikelihoods(n_rows, without, fits[..., AT_ONE], recalibrated))


def share_gained(found: LogLikelihoods, *, is_recalibrated: bool = True) -> Floats:
    """Nagelkerke's R², at most 1; NaN where there is nothing to gain."""
    reached = found.recalibrated if is_recalibrated else found.as_given
    most = -np.expm1(2.0 * found.without / found.n_rows)
    share: Floats = -np.expm1(-2.0 * (reached - found.without) / found.n_rows) / np.where(most > 0, most, np.nan)
    return np.minimum(share, 1.0)


def likelihoods_of_kinds(name: str, of_probabilities: Value, of_risks: Value) -> Mapping[TaskKind, OfKind]:
    """The table of a metric that is made of log-likelihoods; the two may divide by different numbers."""

    def logistic(truth: Truth, predictions: NDArray[Any]) -> Statistic:
        positive = truth.values == truth.positive
        return OfLikelihoods(LogisticLikelihoods(log_odds(name, predictions), positive), of_probabilities)

    def cox(truth: Truth, predictions: NDArray[Any]) -> Statistic:
        risks = np.asarray(predictions, dtype=np.float64)
        return OfLikelihoods(CoxFits(risks, truth.values["event"], truth.values["time"]), of_risks)

    return {
        TaskKind.BINARY: OfKind((Response.PROBABILITIES,), Needs.EVERY_CLASS, logistic),
        TaskKind.SURVIVAL: OfKind((Response.RISK,), Needs.PAIR, cox),
    }


class LogisticLikelihoods:
    """Slope and log-likelihoods of the logistic regression on every column, in the order of ``CoxFits``.

    The log-likelihoods are NaN where a class has no weight.
    """

    def __init__(self, log_odds: Floats, positive: NDArray[np.bool_]) -> None:
        self._log_odds, self._positive = log_odds, positive
        self._fits = LogisticFits(log_odds, positive, given_slope=False)

    def all(self, counts: Weightings) -> Floats:
        """(L, C, 4)."""
        fits = self._fits.all(counts)
        columns = [
            self._of(counts, np.broadcast_to(x, counts.shape), fits[:, j]) for j, x in enumerate(self._log_odds.T)
        ]
        return np.stack(columns, axis=1)

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        """(L, 4)."""
        return self._of(counts, self._log_odds.T[columns], self._fits.selected(counts, columns))

    def _of(self, counts: Weightings, x: Floats, fits: Floats) -> Floats:
        """(L, 4): of log-odds (L, n) and their fits (L, 2)."""
        weights = counts.astype(np.float64)
        total, ones = total_weight(counts), weight_of(counts, self._positive)
        fitted = np.isfinite(fits).all(axis=1)
        reached = np.empty(len(weights))
        line = fits[fitted, :1] + fits[fitted, 1:] * x[fitted]
        reached[fitted] = self._likelihood(weights[fitted], line)
        reached[~fitted] = self._separated(weights[~fitted], x[~fitted])
        found = np.stack([fits[:, 1], _binomial(ones, total - ones), self._likelihood(weights, x), reached], axis=1)
        found[~((ones > 0) & (ones < total)), AT_ZERO:] = np.nan
        return found

    def _likelihood(self, weights: Floats, x: Floats) -> Floats:
        """(L,): the log-likelihood of log-odds (L, n)."""
        against = np.where(self._positive, -x, x)
        return -sum_in_order(weights * np.logaddexp(0.0, against))

    def _separated(self, weights: Floats, x: Floats) -> Floats:
        """(L,): what the likelihood approaches where a value separates the classes.

        Only rows at that value remain in doubt, if it has rows of both classes.
        """
        doubt = np.zeros(len(x))
        for of_class in (self._positive, ~self._positive):
            below = np.where((weights > 0) & of_class, x, -np.inf).max(axis=1, initial=-np.inf)
            above = np.where((weights > 0) & ~of_class, x, np.inf).min(axis=1, initial=np.inf)
            at = np.where(x == below[:, None], weights, 0.0)
            share = _binomial((at * self._positive).sum(axis=1), (at * ~self._positive).sum(axis=1))
            # Of a constant both are the same; of others one of the two touches, or none does.
            doubt = np.where(below == above, share, doubt)
        return doubt


def _binomial(ones: Floats, zeros: Floats) -> Floats:
    """The log-likelihood of the share itself, 0 · log(0) being 0."""
    total = np.where(ones + zeros > 0, ones + zeros, 1.0)
    both = np.zeros_like(total)
    for part in (ones, zeros):
        present = part > 0
        both += part * np.log(np.where(present, part, 1.0) / np.where(present, total, 1.0))
    return both
