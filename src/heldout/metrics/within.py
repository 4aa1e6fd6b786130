"""Scores that count the pairs of rows of one fold and repeat only, summed over folds and repeats.

The rows of all repeats stand one below another in a single segment, and a fold of a repeat is a fold of its own. So
a bootstrap, which draws a row with its predictions of all repeats, weighs each of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._text import argument
from heldout.data.task import Truth
from heldout.errors import InputError
from heldout.kernels.reference import Floats, Weightings
from heldout.metrics.aggregate import AggregateScore, Bind, Segment, aggregate_score
from heldout.metrics.base import Metric, fitted, positive_of
from heldout.metrics.pairs import PairStatistic, is_pair_based


@dataclass(frozen=True, eq=False, kw_only=True)
class PairSegment(Segment):
    """The rows of all repeats, with a metric of pairs bound to the pairs within folds.

    Attributes
    ----------
    folds, repeats : ndarray of int, shape (len(rows),)
        The fold of each row, whose code does not recur between repeats, and its repeat.
    """

    statistic: PairStatistic
    folds: NDArray[np.intp]
    repeats: NDArray[np.intp]

    def defined(self, weights: Weightings) -> NDArray[np.bool_]:
        return self.statistic.defined(weights)

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

    A mean over rows is the same within folds as over all rows, and is bound to all of them.

    Parameters
    ----------
    truth : Truth of n rows
    predictions : ndarray of shape (n, C, R) or (n, C, R, n_classes)
    folds : ndarray of int, shape (n, R)
        The fold of a row in a repeat, -1 where it is not in play; codes do not recur between repeats.
    sample_weight : ndarray of shape (n,), optional
        Importance weights; a pair weighs the product of those of its rows.

    Raises
    ------
    InputError
        When the metric is neither a share of pairs nor a mean over rows, or no row is in play.

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
        f"{argument('aggregate', 'within')} counts pairs of rows of one fold, and {metric.name} is neither made "
        "of pairs (as roc_auc and concordance_index are) nor a mean over rows; use "
        f"{argument('aggregate', 'folds')} or 'pooled'"
    )
