"""Somers' D: by how much the pairs that are ordered right outnumber those that are ordered wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats, Weightings
from heldout.data.task import TaskKind, Truth
from heldout.metrics.base import Fused, Needs, Response, Selected
from heldout.metrics.by_kind import ByKind, OfKind
from heldout.metrics.ranking import RocAuc
from heldout.metrics.survival import ConcordanceIndex
from heldout.metrics.within import PairBased, PairStatistic


@dataclass(frozen=True)
class SomersD(ByKind, PairBased):
    """Somers' Dxy: the share of comparable pairs ordered right, minus the share ordered wrong.

    Of a binary task 2·AUC - 1 (the Gini coefficient), of a survival task 2·C - 1 with Harrell's concordance index:
    1 where all pairs are right, 0 where a coin orders them, -1 where all are wrong (Somers 1962). It is what
    ``rms::validate`` in R calls ``Dxy``; of risks too, greater is better here.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> scores = np.array([[0.1], [0.4], [0.4], [0.8]])
    >>> bound = SomersD().statistic(truth_of([0, 0, 1, 1]), scores)
    >>> bound.all(np.array([[1, 1, 1, 1], [2, 0, 1, 1]], dtype=np.uint8))
    array([[0.75],
           [1.  ]])
    """

    name = "somers_d"
    sources = ("somers1962",)
    title = "Somers' D"
    definition = (
        "The share of comparable pairs that are ordered right, less the share ordered wrong: 0 is guessing."
    )
    greater_is_better = True
    range = (-1.0, 1.0)

    def of_kinds(self) -> Mapping[TaskKind, OfKind]:
        return {
            TaskKind.BINARY: OfKind(
                (Response.DECISION, Response.PROBABILITIES), Needs.EVERY_CLASS, _bound_to(RocAuc())
            ),
            TaskKind.SURVIVAL: OfKind((Response.RISK,), Needs.PAIR, _bound_to(ConcordanceIndex())),
        }

    def statistic_within(self, truth: Truth, predictions: NDArray[Any], folds: NDArray[np.intp]) -> RightMinusWrong:
        share = ConcordanceIndex() if truth.kind is TaskKind.SURVIVAL else RocAuc()
        return RightMinusWrong(share.statistic_within(truth, predictions, folds))


def _bound_to(share: RocAuc | ConcordanceIndex) -> Callable[[Truth, NDArray[Any]], RightMinusWrong]:
    return lambda truth, predictions: RightMinusWrong(share.statistic(truth, predictions))


class SharesOfPairs(PairStatistic, Fused, Protocol):
    """A statistic of shares with the fused path."""


@dataclass(frozen=True, eq=False)
class RightMinusWrong:
    """2·share - 1 of the share of pairs that is ordered right; a ``Statistic`` with the fused path."""

    shares: SharesOfPairs

    def all(self, counts: Weightings) -> Floats:
        return 2.0 * self.shares.all(counts) - 1.0

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        return 2.0 * self.shares.selected(counts, columns) - 1.0

    def defined(self, counts: Weightings) -> NDArray[np.bool_]:
        return self.shares.defined(counts)

    def best_out_of_bag(self, counts: NDArray[np.uint8]) -> Selected:
        columns, shares = self.shares.best_out_of_bag(counts)
        return Selected(columns, 2.0 * shares - 1.0)
