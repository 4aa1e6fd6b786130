"""Metrics that are shares of pairs of rows, counted over the pairs of rows of one fold and repeat only.

Scores of different folds come from different models, and nothing promises that they are on one scale. A share of
the pairs within folds needs no such promise, and unlike the mean over folds it is defined as soon as one fold holds
a pair: numerators and denominators are summed over the folds, and divided once.

The rows of all repeats stand one below another in a single segment, and a fold of a repeat is a fold of its own. So
a bootstrap, which draws a row with its predictions of all repeats, weighs each of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats, Weightings
from heldout.data.task import Truth
from heldout.errors import InputError
from heldout.kernels.dispatch import cut_rows
from heldout.metrics.aggregate import AggregateScore, Bind, Segment, aggregate_score
from heldout.metrics.base import Metric, Statistic, fitted, positive_of


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

    Examples
    --------
    >>> positive = np.array([True, True, False, False, False])
    >>> pairs = PairsWithin.of(positive, ~positive, np.array([0, 1, 1, 1, 2]))
    >>> pairs.weight(np.array([[1, 1, 1, 1, 1], [1, 2, 3, 0, 1]], dtype=np.uint8)).tolist()
    [2.0, 6.0]
    """

    # positive, negative: rows of the folds that hold both, fold by fold
    positive: NDArray[np.intp]
    negative: NDArray[np.intp]
    # positive_starts, negative_starts: where each of these folds begins in them
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


@dataclass(frozen=True, eq=False, kw_only=True)
class PairSegment(Segment):
    """The rows of all repeats, with a metric of pairs bound to the pairs within folds."""

    statistic: PairStatistic
    # folds, repeats (len(rows),): the fold of each row, whose code does not recur between repeats, and its repeat
    folds: NDArray[np.intp]
    repeats: NDArray[np.intp]

    def defined(self, weights: Weightings) -> NDArray[np.bool_]:
        return self.statistic.defined(weights)

    def defined_among(self, weights: Weightings) -> NDArray[np.bool_]:
        return self.defined(cut_rows(weights, self.rows))

    def by_repeat(self, weights: Weightings) -> dict[int, Floats]:
        found = {}
        for repeat in np.unique(self.repeats).tolist():
            own = np.where(self.repeats == repeat, weights, np.zeros(1, dtype=weights.dtype))
            found[repeat] = np.where(self.defined(own)[:, None], self.statistic.all(own), np.nan)
        return found

    def reading(self, metric: Metric, predictions: NDArray[Any], bind: Bind | None) -> PairSegment:
        assert is_pair_based(metric), "bound already"
        read = predictions[self.rows, :, self.repeats]
        return replace(self, statistic=metric.statistic_within(self.truth, read, self.folds))


def within_score(
    metric: Metric,
    truth: Truth,
    predictions: NDArray[Any],
    folds: NDArray[np.int32],
    sample_weight: Floats | None = None,
) -> AggregateScore:
    """Bind a metric to predictions and to folds, of whose rows alone it counts the pairs.

    A mean over rows is the same within folds as over all rows, and is bound to all of them. ``folds`` (n, R) are
    codes as the segments of ``aggregate_score``. A pair weighs the product of the weights of its rows.

    Examples
    --------
    >>> from heldout.metrics import metric_named
    >>> from heldout.data.task import truth_of
    >>> truth, scores = truth_of([0, 1, 0, 1]), np.array([0.1, 0.2, 0.8, 0.9])[:, None, None]
    >>> folds = np.array([0, 0, 1, 1], dtype=np.int32)[:, None]  # the second model's scores are all higher
    >>> within_score(metric_named("roc_auc"), truth, scores, folds).observed()
    array([1.])
    """
    if not is_pair_based(metric):
        reason = unfit_within(metric)
        if reason:
            raise InputError(f"{reason}.")
        pooled = np.where(folds >= 0, np.arange(folds.shape[1]), -1).astype(np.int32)
        return aggregate_score(metric, truth, predictions, pooled, sample_weight)
    bound = fitted(metric, truth)
    assert is_pair_based(bound), "fitting a metric does not change what it is"
    repeats, rows = np.nonzero(folds.T >= 0)
    if not rows.size:
        raise InputError("no row is in play: every row's fold is -1; give at least one predicted row.")
    mine, codes = truth.rows(rows), folds[rows, repeats].astype(np.intp)
    segment = PairSegment(
        rows=rows,
        truth=mine,
        positive=positive_of(bound, truth),
        statistic=bound.statistic_within(mine, predictions[rows, :, repeats], codes),
        counted=bound.truth_for_needs(mine),
        needs=bound.needs,
        folds=codes,
        repeats=repeats,
    )
    return AggregateScore(bound, (segment,), truth.n_rows, predictions.shape[1], sample_weight)


def unfit_within(metric: Metric) -> str | None:
    """Why a metric cannot be counted within folds, as a sentence without its end; None where it can.

    Examples
    --------
    >>> from heldout.metrics import metric_named
    >>> [unfit_within(metric_named(name)) is None for name in ("roc_auc", "accuracy", "f1", "r2")]
    [True, True, False, False]
    """
    if is_pair_based(metric) or metric.row_wise:
        return None
    return (
        f"`aggregate='within'` counts pairs of rows of one fold, and {metric.name} is neither made of pairs (as "
        "roc_auc and concordance_index are) nor a mean over rows; use `aggregate='folds'` or 'pooled'"
    )
