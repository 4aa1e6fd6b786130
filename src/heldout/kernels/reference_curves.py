"""NumPy kernels of the ROC curve: the whole curve, and its beginning, up to a largest false positive rate.

The kernels of the beginning go through the distinct scores of a column in descending order. For each score they use
the weight of the negative rows above it, of the negative rows down to it, and of the positive rows at it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats, Weightings
from heldout.kernels.reference import Columns, refuse_nan, sum_in_order

SLACK = 1e-12
"""A relative excess over the allowed weight of false alarms that counts as rounding: .1 of ten rows is one row."""


class _Thresholds(NamedTuple):
    """Weights at G distinct scores, descending, each (L, G)."""

    above: Floats
    """Of the negative rows above the score."""
    down_to: Floats
    """Of the negative rows above it or tied with it."""
    gained: Floats
    """Of the positive rows at the score."""


class CurveStart(Columns):
    """The beginning of the ROC curve of every column.

    Parameters
    ----------
    scores : ndarray of shape (n, C)
        Greater = more positive; no NaN.
    positive : ndarray of bool, shape (n,)
    share : float
        The largest false positive rate, from 0 to 1.
    """

    def __init__(self, scores: Floats, positive: NDArray[np.bool_], share: float) -> None:
        super().__init__(scores.shape)
        refuse_nan(scores)
        check_share(share)
        self._scores, self._positive, self._share = scores, positive, share

    def _thresholds(self, counts: Weightings, j: int) -> _Thresholds:
        order = np.lexsort((self._positive, -self._scores[:, j]))
        ranked, positive = self._scores[order, j], self._positive[order]
        last_of_tie = np.append(ranked[1:] != ranked[:-1], True)
        weights = counts[:, order].astype(np.float64)
        down_to = np.cumsum(weights * ~positive, axis=1)[:, last_of_tie]
        above = np.concatenate([np.zeros((len(counts), 1)), down_to[:, :-1]], axis=1)
        hits = np.cumsum(weights * positive, axis=1)[:, last_of_tie]
        return _Thresholds(above, down_to, np.diff(hits, axis=1, prepend=0.0))

    def _totals(self, counts: Weightings) -> tuple[Floats, Floats]:
        """(L,) each: the weight of positive and of negative rows."""
        weights = counts.astype(np.float64)
        return sum_in_order(weights[:, self._positive]), sum_in_order(weights[:, ~self._positive])


def check_share(share: float) -> None:
    if not 0 <= share <= 1:
        raise ValueError(f"the false positive rate must be from 0 to 1, got {share}")


class SensitivityWithin(CurveStart):
    """The share of positive rows at or above the lowest score with at most ``share`` of the negative rows.

    With ``share`` = 1 - specificity this is the largest sensitivity at that specificity, over the thresholds
    "at least this score". NaN if a class has no weight.
    """

    def _column(self, counts: Weightings, j: int) -> Floats:
        at = self._thresholds(counts, j)
        positives, negatives = self._totals(counts)
        allowed = negatives * self._share * (1 + SLACK)
        hits = sum_in_order(np.where(at.down_to <= allowed[:, None], at.gained, 0.0))
        with np.errstate(invalid="ignore", divide="ignore"):
            share: Floats = np.minimum(hits / positives, 1.0)
        return np.where(negatives > 0, share, np.nan)


class AreaWithin(CurveStart):
    """The area under the ROC curve from a false positive rate of 0 to one of ``share``.

    The curve rises linearly where positive and negative rows are tied: each positive row counts with the allowed
    false alarms that are left at its score, averaged over the negative rows tied with it. NaN if a class has no
    weight.
    """

    def _column(self, counts: Weightings, j: int) -> Floats:
        at = self._thresholds(counts, j)
        positives, negatives = self._totals(counts)
        allowed = (negatives * self._share)[:, None]
        left_before = np.maximum(allowed - at.above, 0.0)
        left_after = np.maximum(allowed - at.down_to, 0.0)
        tied = at.down_to - at.above
        ends_within = left_before * left_before / np.where(tied > 0, tied, 1.0)
        twice = sum_in_order(at.gained * np.where(left_after > 0, left_before + left_after, ends_within))
        with np.errstate(invalid="ignore", divide="ignore"):
            area: Floats = twice / (2.0 * positives * negatives)
        return area


def roc_points(positive: NDArray[np.bool_], scores: Floats, weights: Floats) -> tuple[Floats, Floats, float]:
    """False and true positive rates from (0, 0) to (1, 1), with tied scores together, and the area under them.

    Examples
    --------
    >>> x, y, area = roc_points(np.array([False, True, True]), np.array([0.1, 0.1, 0.7]), np.ones(3))
    >>> x.tolist(), y.tolist(), area
    ([0.0, 0.0, 1.0], [0.0, 0.5, 1.0], 0.75)
    """
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(np.diff(scores[order], append=np.nan) != 0)
    hits = np.cumsum(np.where(positive, weights, 0.0)[order])[ends]
    alarms = np.cumsum(np.where(positive, 0.0, weights)[order])[ends]
    x, y = np.append(0.0, alarms / alarms[-1]), np.append(0.0, hits / hits[-1])
    return x, y, float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2))


def precision_recall_points(
    positive: NDArray[np.bool_], scores: Floats, weights: Floats
) -> tuple[Floats, Floats, float]:
    """Recall and precision from the highest score down, tied scores together, and the average precision.

    The first point has recall 0 and the precision of the highest score, so that the curve starts at the edge.

    Examples
    --------
    >>> positive = np.array([True, False, True, False])
    >>> recall, precision, average = precision_recall_points(positive, np.array([0.9, 0.8, 0.7, 0.1]), np.ones(4))
    >>> recall.tolist(), precision.round(3).tolist(), round(average, 4)
    ([0.0, 0.5, 0.5, 1.0, 1.0], [1.0, 1.0, 0.5, 0.667, 0.5], 0.8333)
    """
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(np.diff(scores[order], append=np.nan) != 0)
    hits = np.cumsum(np.where(positive, weights, 0.0)[order])[ends]
    reached = np.cumsum(weights[order])[ends]
    recall, precision = hits / hits[-1], hits / reached
    average = float(np.sum(np.diff(recall, prepend=0.0) * precision))
    return np.append(0.0, recall), np.append(precision[0], precision), average


def net_benefit(observed: Floats, predicted: Floats, weights: Floats, thresholds: Floats) -> Floats:
    """(m,): net benefit a row, in true positives, of acting where the prediction is at least each threshold.

    Positives acted on, less the others acted on times threshold / (1 - threshold), over all rows (Vickers and Elkin
    2006). NaN without weight.

    Examples
    --------
    Acting from .5 on reaches one of two positives and one other row: (1 - 1) / 4.

    >>> net_benefit(np.array([0.0, 0, 1, 1]), np.array([0.1, 0.6, 0.3, 0.8]), np.ones(4), np.array([0.5])).tolist()
    [0.0]
    """
    acted = predicted[:, None] >= thresholds
    hits = (weights * observed) @ acted
    alarms = (weights * (1.0 - observed)) @ acted
    total = weights.sum()
    odds = thresholds / (1.0 - thresholds)
    return (hits - alarms * odds) / total if total else np.full(len(thresholds), np.nan)
