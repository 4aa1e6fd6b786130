"""Metrics that are shares of pairs of rows, so that they can count the pairs of rows of one fold only.

Scores of different folds come from different models, and nothing promises that they are on one scale. A share of
the pairs within folds needs no such promise, and unlike the mean over folds it is defined as soon as one fold holds
a pair: numerators and denominators are summed over the folds, and divided once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from heldout.data.task import Truth
from heldout.kernels.reference import Floats, Weightings
from heldout.metrics.base import Metric, Statistic


class PairStatistic(Statistic, Protocol):
    """A statistic that knows where it has pairs."""

    def defined(self, counts: Weightings) -> NDArray[np.bool_]:
        """(L,): whether the rows of positive weight (L, n) hold every pair that the metric needs."""


@runtime_checkable
class PairBased(Metric, Protocol):
    """A metric that can count the pairs of rows of one fold only.

    Attributes
    ----------
    pair_based : bool
        False of a wrapper around a metric that cannot.
    share_of_pairs : PairBased
        The metric, or one that tells of the same scores whether folds are comparable: folds of any size have the
        expected share of pairs of all rows then, while the beginning of a curve is coarser in a small fold.
    """

    @property
    def pair_based(self) -> bool:
        return True

    @property
    def share_of_pairs(self) -> PairBased:
        return self

    def statistic_within(self, truth: Truth, predictions: NDArray[Any], folds: NDArray[np.intp]) -> PairStatistic:
        """As ``Metric.statistic``, of the pairs of rows with equal ``folds`` (n,), codes of at least 0."""


def is_pair_based(metric: Metric) -> TypeGuard[PairBased]:
    """Whether a metric can count the pairs within folds.

    Examples
    --------
    >>> from heldout.metrics import metric_named
    >>> [is_pair_based(metric_named(name)) for name in ("roc_auc", "concordance_index", "log_loss", "neg_log_loss")]
    [True, True, False, False]
    """
    return isinstance(metric, PairBased) and metric.pair_based


@dataclass(frozen=True, eq=False)
class PairsWithin:
    """The weight of the pairs of a positive and a negative row of one fold.

    Attributes
    ----------
    positive, negative : ndarray of int
        Rows of the folds that hold both, fold by fold.
    positive_starts, negative_starts : ndarray of int
        Where each of these folds begins in them.

    Examples
    --------
    >>> positive = np.array([True, True, False, False, False])
    >>> pairs = PairsWithin.of(positive, ~positive, np.array([0, 1, 1, 1, 2]))
    >>> pairs.weight(np.array([[1, 1, 1, 1, 1], [1, 2, 3, 0, 1]], dtype=np.uint8)).tolist()
    [2.0, 6.0]
    """

    positive: NDArray[np.intp]
    negative: NDArray[np.intp]
    positive_starts: NDArray[np.intp]
    negative_starts: NDArray[np.intp]

    @staticmethod
    def of(positive: NDArray[np.bool_], negative: NDArray[np.bool_], folds: NDArray[np.intp]) -> PairsWithin:
        """From flags and folds (n,) of the rows."""
        both = np.isin(folds, np.intersect1d(folds[positive], folds[negative]))
        rows = [_by_fold(np.flatnonzero(flags & both), folds) for flags in (positive, negative)]
        return PairsWithin(*rows, *(np.unique(folds[each], return_index=True)[1] for each in rows))

    def weight(self, counts: Weightings) -> Floats:
        """(L,)."""
        if not self.positive.size:
            return np.zeros(len(counts))
        found = self.weights(counts)
        total: Floats = found.sum(axis=1) if counts.dtype == np.uint8 else np.cumsum(found, axis=1)[:, -1]
        return total

    def weights(self, counts: Weightings) -> Floats:
        """(L, folds): of each fold that holds both."""
        upper = np.take(counts, self.positive, axis=1).astype(np.float64)
        lower = np.take(counts, self.negative, axis=1).astype(np.float64)
        weights: Floats = np.add.reduceat(upper, self.positive_starts, axis=1)
        weights *= np.add.reduceat(lower, self.negative_starts, axis=1)
        return weights


def _by_fold(rows: NDArray[np.intp], folds: NDArray[np.intp]) -> NDArray[np.intp]:
    return rows[np.argsort(folds[rows], kind="stable")]
