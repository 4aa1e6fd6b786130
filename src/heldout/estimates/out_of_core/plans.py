"""How a metric is summed over blocks of rows, so that the sums of any blocks add up in any order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from heldout.estimates.out_of_core.blocks import Block


@dataclass(frozen=True, eq=False)
class TableScores:
    """What the table itself gives.

    Attributes
    ----------
    scores : ndarray of shape (C,)
    winner : int
        The best, the first of equals.
    bounds : ndarray of shape (C,)
        How far each score can lie from the exact one.
    """

    scores: NDArray[np.float64]
    winner: int
    bounds: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BootstrapScores:
    """What L bootstraps gave.

    Attributes
    ----------
    chosen : ndarray of int, shape (L,)
        The configuration that is best in the bag, the first of equals.
    scores : ndarray of shape (L,)
        Its score out of the bag.
    defined : ndarray of bool, shape (L,)
        Whether the metric is defined in the bag and out of it; else the bootstrap is drawn again.
    bounds : ndarray of shape (L,)
        How far the score can lie from the exact one.
    certain : ndarray of bool, shape (L,)
        Whether exact scores would have chosen the same configuration.
    left_out : ndarray of shape (L, C), or (L, 0)
        Every configuration's score out of the bag, where the plan keeps them for the control.
    """

    chosen: NDArray[np.intp]
    scores: NDArray[np.float64]
    defined: NDArray[np.bool_]
    bounds: NDArray[np.float64]
    certain: NDArray[np.bool_]
    left_out: NDArray[np.float64]

    def of(self, lanes: NDArray[Any]) -> BootstrapScores:
        """Of some of the bootstraps, or of all in another order."""
        return BootstrapScores(*(getattr(self, own.name)[lanes] for own in fields(self)))


def joined(outcomes: Sequence[BootstrapScores]) -> BootstrapScores:
    """One after another."""
    return BootstrapScores(
        *(np.concatenate([getattr(each, own.name) for each in outcomes]) for own in fields(BootstrapScores))
    )


class Plan(Protocol):
    """Sums over rows from which a metric follows, in the bag and out of it.

    Attributes
    ----------
    lanes : int
        Bootstraps whose sums are held at once.
    together : int
        Bootstraps whose counts are held at once, at most ``lanes``.
    """

    @property
    def lanes(self) -> int: ...
    @property
    def together(self) -> int: ...

    def prepared(self, block: Block) -> NDArray[Any]:
        """What is summed of each row of the block."""

    def zeros(self, lanes: int) -> NDArray[Any]:
        """Sums of no rows, whole numbers."""

    def add(self, total: NDArray[Any], lanes: slice, counts: NDArray[np.uint8], prepared: NDArray[Any]) -> None:
        """Add a block's rows to the sums of some lanes, which drew them ``counts`` (L', n) times."""

    def outcome(self, total: NDArray[Any]) -> BootstrapScores:
        """From the sums over all blocks."""

    def observed(self, total: NDArray[Any]) -> TableScores:
        """From the sums with every row drawn once."""
