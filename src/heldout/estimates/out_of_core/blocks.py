"""Where rows come from, a block at a time, and what a metric reads of a block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from heldout.data.task import TaskKind, Truth
from heldout.errors import InputError
from heldout.estimates.responses import read_response
from heldout.metrics.base import Metric, Response


@dataclass(frozen=True, eq=False)
class Block:
    """Some consecutive rows of a table of predictions.

    Attributes
    ----------
    truth : Truth of n rows
        Every block has the classes of the whole table.
    predictions : ndarray of shape (n, C)
        Numbers as they were written, or class codes (int32) where labels were written as text.
    coded : bool
        Whether they are those codes.
    """

    truth: Truth
    predictions: NDArray[Any]
    coded: bool = False


class BlockSource(Protocol):
    """A table of predictions that is read in blocks; it is sent to workers, so it holds a path and no rows.

    Attributes
    ----------
    name : str
        For sentences.
    names : sequence of str
        Of the C configurations.
    n_rows, block_rows : int
        Block k holds rows ``k block_rows .. (k + 1) block_rows - 1``, the last block what is left.
    """

    @property
    def name(self) -> str: ...
    @property
    def names(self) -> Sequence[str]: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def block_rows(self) -> int: ...

    def ranges(self) -> list[tuple[int, int]]:
        """All blocks, divided into ranges ``first .. last - 1`` that are well read in one go."""

    def blocks(self, first: int, last: int) -> Iterator[Block]:
        """Blocks ``first .. last - 1``, one after another."""


@dataclass(frozen=True, eq=False)
class BlockReading:
    """What a metric reads of a block.

    Attributes
    ----------
    metric : Metric
        As it is on the table's target.
    response : Response
    threshold : float or None
    """

    metric: Metric
    response: Response
    threshold: float | None = None

    def of(self, block: Block) -> NDArray[Any]:
        """(n, C), in the response that the metric reads."""
        if block.truth.kind is TaskKind.REGRESSION:
            return np.asarray(block.predictions, dtype=np.float64)
        if block.coded:
            return block.predictions
        array = block.predictions[:, :, None, None]
        response: Any = self.response.value
        _, held = read_response(block.truth, array, self.metric, response, self.threshold)
        return held[:, :, 0]


def refuse_unusable(block: Block, first_row: int, source: BlockSource) -> None:
    """Refuse what is missing or infinite, naming its place.

    Raises
    ------
    InputError
    """
    numbers = block.predictions
    if numbers.dtype.kind != "f" or np.isfinite(numbers).all():
        return
    row, column = (int(found) for found in np.argwhere(~np.isfinite(numbers))[0])
    what = "missing" if np.isnan(numbers[row, column]) else "infinite"
    raise InputError(
        f"{source.name}: the prediction of {source.names[column]!r} in row {first_row + row} (counted from 0) is "
        f"{what}; a table that is read in blocks must be complete and finite: leave out that row or configuration."
    )
