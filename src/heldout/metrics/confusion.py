"""Metrics that are functions of the confusion matrix.

For bootstrap counts only the *errors* are summed (there are few) and hits are what is left of a class, in
exact integers. For real weights that subtraction would leave crumbs where the truth is zero (and 0/0 would
become a number), so hits are summed themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats, Weightings
from heldout.data.task import Truth
from heldout.kernels.dispatch import CellSums
from heldout.kernels.reference import class_weights
from heldout.metrics.base import Sums

LANES_AT_ONCE = 16


@dataclass(frozen=True, eq=False)
class ConfusionCells:
    """What L weightings give each of K classes, in D columns (all C of them, or the one selected)."""

    support: Floats  # (K, L, 1): weight of the rows that are of the class
    # missed, wrongly_found (L, D, K): weight of the rows of the class that are predicted to be of another, and the
    # reverse
    missed: NDArray[Any]
    wrongly_found: NDArray[Any]
    # (L, D, K): weight of the rows of the class that are predicted to be; what is left of the support when None
    found: NDArray[Any] | None
    # (K, 1 or L, D): whether the class occurs among the bound rows' labels or the column's predictions, drawn or
    # not
    occurs: NDArray[np.bool_]

    @property
    def n_classes(self) -> int:
        return len(self.support)

    def lanes(self, first: int, last: int) -> ConfusionCells:
        """Of the weightings ``first .. last - 1``."""
        few = slice(first, last)
        found = None if self.found is None else self.found[few]
        occurs = self.occurs if self.occurs.shape[1] == 1 else self.occurs[:, few]
        return ConfusionCells(self.support[:, few], self.missed[few], self.wrongly_found[few], found, occurs)

    def hits(self, code: int) -> Floats:
        """(L, D)."""
        if self.found is None:
            return self.support[code] - self.missed[..., code].astype(np.float64)
        return self.found[..., code].astype(np.float64)

    def false_alarms(self, code: int) -> Floats:
        """(L, D)."""
        return self.wrongly_found[..., code].astype(np.float64)

    def of_class(self, code: int) -> ClassCells:
        return ClassCells(self.hits(code), self.false_alarms(code), self.support[code])

    def of_all(self) -> ClassCells:
        """Of all classes together."""
        each = [self.of_class(code) for code in range(self.n_classes)]
        hits = np.sum([cells.hits for cells in each], axis=0)
        false_alarms = np.sum([cells.false_alarms for cells in each], axis=0)
        return ClassCells(hits, false_alarms, self.support.sum(axis=0))


class ClassCells(NamedTuple):
    """What a score of one class is made of: hits and false alarms (L, D), support (L, 1)."""

    hits: Floats
    false_alarms: Floats
    support: Floats


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

    def all(self, counts: Weightings) -> ConfusionCells:
        """Every column."""
        return self._cells(counts, lambda sums: sums.all(counts), self._occurs[:, None, :])

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> ConfusionCells:
        """One column a weighting (D = 1)."""
        occurs = self._occurs[:, columns][:, :, None]
        return self._cells(counts, lambda sums: sums.selected(counts, columns)[:, None], occurs)

    def _cells(
        self, counts: Weightings, ask: Callable[[Sums], NDArray[Any]], occurs: NDArray[np.bool_]
    ) -> ConfusionCells:
        missed = ask(self._missed)
        # Of two classes, a miss of one is a false alarm of the other.
        wrongly_found = missed[..., ::-1] if self._n_classes == 2 else ask(self._wrongly_found)
        # Counts are exact, so hits are what is left of a class; real weights would leave crumbs where nothing is.
        found = None if counts.dtype == np.uint8 else ask(self._found)
        support = class_weights(counts, self._codes, self._n_classes)[:, :, None]
        return ConfusionCells(support, missed, wrongly_found, found, occurs)

    @cached_property
    def _missed(self) -> Sums:
        return self._sums(np.where(self._wrong, self._codes[:, None], -1))

    @cached_property
    def _wrongly_found(self) -> Sums:
        return self._sums(np.where(self._wrong, self._labels, -1))

    @cached_property
    def _found(self) -> Sums:
        return self._sums(np.where(self._wrong, -1, self._codes[:, None]))

    def _sums(self, cells: NDArray[Any]) -> Sums:
        return CellSums(cells.astype(np.int32), self._n_classes)


@dataclass(frozen=True, eq=False)
class ConfusionStatistic:
    """A function of the cells, bound to rows; a ``Statistic``."""

    confusion: Confusion
    value: Callable[[ConfusionCells], Floats]

    def all(self, counts: Weightings) -> Floats:
        cells = self.confusion.all(counts)
        values = np.empty(cells.missed.shape[:2])
        # A few weightings at a time: what lies between the cells and the value stays in the cache.
        for first in range(0, len(counts), LANES_AT_ONCE):
            last = first + LANES_AT_ONCE
            values[first:last] = self._value(cells.lanes(first, last))
        return values

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        return self._value(self.confusion.selected(counts, columns))[:, 0]

    def _value(self, cells: ConfusionCells) -> Floats:
        return np.clip(self.value(cells), -1.0, 1.0)  # roots and real weights round beyond the ends


def ratio(above: Floats, below: Floats) -> Floats:
    """``above / below``, and 0 where both are 0, which is what scikit-learn returns there."""
    with np.errstate(invalid="ignore", divide="ignore"):
        value: Floats = above / below
    empty = below == 0
    return np.where(empty, 0.0, value) if empty.any() else value


def mean_recall(cells: ConfusionCells) -> Floats:
    """(L, D): the mean share of hits over the classes that have weight."""
    total = ratio(cells.hits(0), cells.support[0])
    for code in range(1, cells.n_classes):
        total += ratio(cells.hits(code), cells.support[code])
    with np.errstate(invalid="ignore"):
        # The number of classes with weight under each weighting: a bootstrap may lack one.
        mean: Floats = total / (cells.support > 0).sum(axis=0)
    return mean


def matthews(cells: ConfusionCells) -> Floats:
    """(L, D): the correlation of two label columns (Gorodkin 2004, eq. 8), 0 where one is constant.

    For two classes ``(TP TN - FP FN) / sqrt(P N (TP + FP) (TN + FN))``.
    """
    covariance, predicted_spread, true_spread = (
        _matthews_parts_of_two(cells) if cells.n_classes == 2 else _matthews_parts(cells)
    )
    # Two roots, not the root of a product: the product of four weights overflows first.
    return ratio(covariance, np.sqrt(predicted_spread) * np.sqrt(true_spread))


def _matthews_parts_of_two(cells: ConfusionCells) -> tuple[Floats, Floats, Floats]:
    negative, positive = cells.of_class(0), cells.of_class(1)
    covariance = positive.hits * negative.hits - positive.false_alarms * negative.false_alarms
    predicted = (positive.hits + positive.false_alarms) * (negative.hits + negative.false_alarms)
    return covariance, predicted, positive.support * negative.support


def _matthews_parts(cells: ConfusionCells) -> tuple[Floats, Floats, Floats]:
    each = [cells.of_class(code) for code in range(cells.n_classes)]
    predicted = [mine.hits + mine.false_alarms for mine in each]
    all_rows, all_true = np.sum(predicted, axis=0), cells.support.sum(axis=0)
    covariance = all_rows * np.sum([mine.hits for mine in each], axis=0)
    predicted_spread, true_spread = np.zeros_like(covariance), np.zeros_like(all_true)
    for mine, found in zip(each, predicted, strict=True):
        covariance -= mine.support * found
        predicted_spread += found * (all_rows - found)
        true_spread += mine.support * (all_true - mine.support)
    return covariance, predicted_spread, true_spread
