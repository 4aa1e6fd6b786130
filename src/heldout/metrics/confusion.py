"""Metrics that are functions of the confusion matrix.

For bootstrap counts only the *errors* are summed (there are few) and hits are what is left of a class, in
exact integers. For real weights that subtraction would leave crumbs where the truth is zero (and 0/0 would
become a number), so hits are summed themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.dispatch import CellSums
from heldout.kernels.reference import Floats, Weightings
from heldout.metrics.base import Sums
from heldout.metrics.weights import class_weights
from heldout.task import Truth


@dataclass(frozen=True, eq=False)
class Cells:
    """What L weightings give each of K classes, in D columns (all C of them, or the one selected).

    Attributes
    ----------
    support : ndarray of shape (K, L, 1)
        Weight of the rows that are of the class.
    hits : ndarray of shape (K, L, D)
        ... and predicted to be.
    false_alarms : ndarray of shape (K, L, D)
        Weight of the rows that are predicted to be of the class and are not.
    occurs : ndarray of bool, shape (K, 1 or L, D)
        Whether the class occurs among the bound rows' labels or the column's predictions, drawn or not.
    """

    support: Floats
    hits: Floats
    false_alarms: Floats
    occurs: NDArray[np.bool_]

    @property
    def misses(self) -> Floats:
        return self.support - self.hits


class Confusion:
    """Confusion matrices of C columns of predicted class codes, asked for by class.

    Parameters
    ----------
    truth : Truth of n rows
    labels : ndarray of int, shape (n, C)
    """

    def __init__(self, truth: Truth, labels: NDArray[Any]) -> None:
        self._codes, self._n_classes = truth.values, truth.n_classes
        self._labels = labels.astype(np.int32)
        self._wrong = self._labels != self._codes[:, None]
        classes = np.arange(self._n_classes)
        true = (self._codes[:, None] == classes).any(axis=0)
        self._occurs = np.stack([true[k] | (self._labels == k).any(axis=0) for k in classes])

    def all(self, counts: Weightings) -> Cells:
        """Every column."""
        return self._cells(
            counts,
            missed=lambda: _class_first(self._missed.all(counts)),
            false_alarms=lambda: _class_first(self._false_alarms.all(counts)),
            hits=lambda: _class_first(self._hits.all(counts)),
            occurs=self._occurs[:, None, :],
        )

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Cells:
        """One column a weighting (D = 1)."""
        return self._cells(
            counts,
            missed=lambda: _class_first(self._missed.selected(counts, columns)[:, None]),
            false_alarms=lambda: _class_first(self._false_alarms.selected(counts, columns)[:, None]),
            hits=lambda: _class_first(self._hits.selected(counts, columns)[:, None]),
            occurs=self._occurs[:, columns][:, :, None],
        )

    def _cells(
        self,
        counts: Weightings,
        missed: Callable[[], Floats],
        false_alarms: Callable[[], Floats],
        hits: Callable[[], Floats],
        occurs: NDArray[np.bool_],
    ) -> Cells:
        support = class_weights(counts, self._codes, self._n_classes)[:, :, None]
        whole = counts.dtype == np.uint8
        if self._n_classes == 2:  # a miss of one class is a false alarm of the other
            errors = missed()
            return Cells(support, support - errors if whole else hits(), errors[::-1], occurs)
        return Cells(support, support - missed() if whole else hits(), false_alarms(), occurs)

    @cached_property
    def _missed(self) -> Sums:
        return self._sums(np.where(self._wrong, self._codes[:, None], -1))

    @cached_property
    def _false_alarms(self) -> Sums:
        return self._sums(np.where(self._wrong, self._labels, -1))

    @cached_property
    def _hits(self) -> Sums:
        return self._sums(np.where(self._wrong, -1, self._codes[:, None]))

    def _sums(self, cells: NDArray[Any]) -> Sums:
        return CellSums(cells.astype(np.int32), self._n_classes)


def _class_first(sums: NDArray[Any]) -> Floats:
    return np.ascontiguousarray(np.moveaxis(sums, 2, 0), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class ConfusionStatistic:
    """A function of the cells, bound to rows; a ``Statistic``."""

    confusion: Confusion
    value: Callable[[Cells], Floats]

    def all(self, counts: Weightings) -> Floats:
        return self.value(self.confusion.all(counts))

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        return self.value(self.confusion.selected(counts, columns))[:, 0]


def ratio(above: Floats, below: Floats) -> Floats:
    """``above / below``, and 0 where both are 0, which is what scikit-learn returns there."""
    return np.divide(above, below, out=np.zeros(np.broadcast_shapes(above.shape, below.shape)), where=below != 0)


def mean_recall(cells: Cells) -> Floats:
    """(L, D): the mean share of hits over the classes that have weight."""
    total = np.zeros(cells.hits.shape[1:])
    classes = np.zeros(cells.support.shape[1:])
    for support, hits in zip(cells.support, cells.hits, strict=True):
        total += ratio(hits, support)
        classes += support > 0
    with np.errstate(invalid="ignore"):
        mean: Floats = total / classes
    return mean


def matthews(cells: Cells) -> Floats:
    """(L, D): the correlation of two label columns (Gorodkin 2004, eq. 8), 0 where one is constant.

    For two classes ``(TP TN - FP FN) / sqrt(P N (TP + FP) (TN + FN))``.
    """
    if len(cells.support) == 2:
        covariance, predicted_spread, true_spread = _matthews_parts_of_two(cells)
    else:
        covariance, predicted_spread, true_spread = _matthews_parts(cells)
    # Two roots, not the root of a product: the product of four weights overflows first.
    return ratio(covariance, np.sqrt(predicted_spread) * np.sqrt(true_spread))


def _matthews_parts_of_two(cells: Cells) -> tuple[Floats, Floats, Floats]:
    negative, positive = cells.support
    correct_negative, correct_positive = cells.hits
    false_negative, false_positive = cells.false_alarms
    covariance = correct_positive * correct_negative - false_positive * false_negative
    predicted = (correct_positive + false_positive) * (correct_negative + false_negative)
    return covariance, predicted, positive * negative


def _matthews_parts(cells: Cells) -> tuple[Floats, Floats, Floats]:
    predicted = cells.hits + cells.false_alarms
    all_rows = predicted.sum(axis=0)
    true_rows = cells.support.sum(axis=0)
    covariance = cells.hits.sum(axis=0) * all_rows
    predicted_spread = np.zeros_like(covariance)
    true_spread = np.zeros_like(true_rows)
    for support, mine in zip(cells.support, predicted, strict=True):
        covariance -= support * mine
        predicted_spread += mine * (all_rows - mine)
        true_spread += support * (true_rows - support)
    return covariance, predicted_spread, true_spread
