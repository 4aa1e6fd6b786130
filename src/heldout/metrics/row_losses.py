"""Metrics that are a mean of one loss a row: what accuracy, log loss, Brier, MSE and MAE share.

The denominator (the weight of the rows) is common to all columns, so the best column in the bag is the one
with the least sum, and no matrix of values is needed to find it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.dispatch import CellSums, LossSums, best_out_of_bag
from heldout.kernels.reference import Floats, Weightings
from heldout.metrics.base import Selected, Sums
from heldout.metrics.weights import total_weight


class Finish(StrEnum):
    """What becomes of a mean loss."""

    MEAN = "the mean itself"
    ROOT = "its square root"
    COMPLEMENT = "one minus the mean"


@dataclass(frozen=True, eq=False)
class MeanLoss:
    """A weighted mean of losses, of every column; a ``Statistic`` with the fused path.

    Attributes
    ----------
    sums : LossSums, or CellSums of one cell
    finish : Finish
        All three keep the order of the sums: the least sum is the best column.
    """

    sums: Sums
    finish: Finish = Finish.MEAN

    def all(self, counts: Weightings) -> Floats:
        return self._value(one_cell(self.sums.all(counts), 2), total_weight(counts)[:, None])

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        return self._value(one_cell(self.sums.selected(counts, columns), 1), total_weight(counts))

    def best_out_of_bag(self, counts: NDArray[np.uint8]) -> Selected:
        columns, sums = best_out_of_bag(self.sums, counts, greatest=False)
        left_out = np.count_nonzero(counts == 0, axis=1).astype(np.float64)
        return Selected(columns, self._value(one_cell(sums, 1), left_out))

    def _value(self, sums: NDArray[Any], weight: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            if self.finish is Finish.COMPLEMENT:  # so that all wrong is exactly 0
                share: Floats = (weight - sums) / weight
                return share
            mean: Floats = sums / weight
            return np.sqrt(mean) if self.finish is Finish.ROOT else mean


def mean_loss(losses: Floats, finish: Finish = Finish.MEAN) -> MeanLoss:
    """The mean of losses (n, C)."""
    return MeanLoss(loss_sums(losses), finish)


def mean_of_errors(wrong: NDArray[np.bool_], finish: Finish = Finish.MEAN) -> MeanLoss:
    """The share of rows (n, C) that are wrong, or right."""
    return MeanLoss(CellSums(np.where(wrong, 0, -1).astype(np.int32), 1), finish)


def loss_sums(losses: Floats) -> Sums:
    """Sums of losses, exact for bootstrap counts.

    A loss so large that a sum would overflow counts as the largest that does not: a model that diverged
    keeps a finite loss and comes last, rather than spoiling the column for every draw.
    """
    most = most_drawn(len(losses))
    largest = np.finfo(np.float64).max / (8 * most)
    return LossSums(np.minimum(losses, largest), most)


def most_drawn(n_rows: int) -> int:
    """A total count that n rows of a larger table pass in practically no bootstrap (eight deviations)."""
    return n_rows + 8 * (isqrt(n_rows) + 1)


def one_cell(sums: NDArray[Any], dimensions: int) -> NDArray[Any]:
    """Sums without the axis of cells, where the kernel counts one cell."""
    return sums[..., 0] if sums.ndim > dimensions else sums
