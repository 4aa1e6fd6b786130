"""Row-wise metrics: sums of losses as whole numbers.

Losses are multiples of one power of two, the same for the whole table, so that a loss is a whole number of steps
and a sum of them, in any order and any division into blocks, is that number exactly. A step is 2**-40 of the
largest loss or finer; where losses are so unlike that this is coarse beside the typical one, a loss is two such
numbers (or more), the second counting what the first leaves over. Losses that are 0 or 1 are themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.estimates.out_of_core.block_sums import BootstrapScores, Keeps, TableScores
from heldout.estimates.out_of_core.blocks import Block, BlockReading, BlockSource
from heldout.metrics.row_losses import Finish, OfRowLosses, check_losses
from heldout.metrics.signed import Signed, sign_of

PIECE = 1024
"""Rows of a block that are multiplied at once."""
MOST = 2048
"""Draws of a piece's rows that float64 has room for; more (in no bootstrap that was ever drawn) take integers."""
BITS = 52 - 11
"""Of a whole number that stands for a loss; MOST of them fit float64."""
FINE = 32
"""Bits that the typical loss has at least: rounding one moves it by 1e-10 of the typical loss at most."""
LEAST_EXPONENT = -1074
HALF_WORD = 32


@dataclass(frozen=True)
class Grid:
    """The steps that losses are counted in."""

    exponent: int  # the coarsest step is 2**exponent, the next 2**(exponent - BITS), and so on
    numbers: int = 1  # how many whole numbers stand for a loss

    @property
    def finest(self) -> int:
        """Exponent of the finest step."""
        return self.exponent - BITS * (self.numbers - 1)

    def counted(self, losses: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n, numbers C): the losses (n, C) as whole numbers, the coarsest first."""
        rest, counted = losses, []
        for k in range(self.numbers):
            exponent = self.exponent - BITS * k
            number = np.rint(np.ldexp(rest, -exponent))
            rest = rest - np.ldexp(number, exponent)
            counted.append(number)
        return np.concatenate(counted, axis=1)


ZERO_ONE = Grid(0)


def grid_for(largest: float, typical: float) -> Grid:
    """Steps for losses up to ``largest``, fine beside the ``typical`` one.

    Examples
    --------
    >>> grid_for(1.0, 0.1), grid_for(1e30, 0.1)
    (Grid(exponent=-40, numbers=1), Grid(exponent=59, numbers=4))
    """
    exponent = int(np.frexp(largest)[1]) - BITS
    wanted = int(np.frexp(typical or largest)[1]) - FINE
    numbers = 1 + max(0, -(-(exponent - wanted) // BITS))
    # Nothing is finer than the least double.
    exponent = max(exponent, LEAST_EXPONENT + BITS * (numbers - 1))
    return Grid(exponent, numbers)


@dataclass(frozen=True, eq=False)
class Extremes:
    """What is found of the losses of some blocks before they are summed."""

    largest: float
    clipped: NDArray[np.int64]  # (C,): predictions whose loss a clipping constant sets
    # total, squares (C,): sums of the losses, and of their squares, in units of ``largest``; NaN where that is 0
    total: NDArray[np.float64]
    squares: NDArray[np.float64]

    @property
    def effective(self) -> NDArray[np.float64]:
        """(C,): as how many equal ones the losses count."""
        with np.errstate(invalid="ignore"):
            counts: NDArray[np.float64] = self.total**2 / self.squares
        return counts

    def scaled(self, largest: float) -> Extremes:
        """In units of another loss, at least as large."""
        scale = self.largest / largest if largest else 0.0
        return Extremes(largest, self.clipped, self.total * scale, self.squares * scale**2)


def extremes_joined(parts: list[Extremes]) -> Extremes:
    """Of all blocks."""
    largest = max(part.largest for part in parts)
    scaled = [part.scaled(largest) for part in parts]
    return Extremes(
        largest,
        np.sum([part.clipped for part in scaled], axis=0),
        np.sum([part.total for part in scaled], axis=0),
        np.sum([part.squares for part in scaled], axis=0),
    )


def extremes_in_range(source: BlockSource, reading: BlockReading, first: int, last: int) -> Extremes:
    """Of some blocks."""
    found = []
    for k, block in enumerate(source.blocks(first, last), first):
        losses = losses_of(reading, block)
        greatest = float(losses.max(initial=0.0))
        if not np.isfinite(greatest):
            row, column = (int(found) for found in np.argwhere(~np.isfinite(losses))[0])
            raise InputError(
                f"{source.name}: the loss of {source.names[column]!r} in row {k * source.block_rows + row} "
                f"(counted from 0) is beyond what float64 holds, for the prediction "
                f"{block.predictions[row, column]:g}: leave that configuration out, or rescale the target."
            )
        unit = losses / greatest if greatest else losses
        cells = reading.metric.clipped(block.truth, reading.of(block))
        none = np.zeros(losses.shape[1], dtype=np.int64)
        n_clipped = none if cells is None else cells.sum(axis=0)
        found.append(Extremes(greatest, n_clipped, unit.sum(axis=0), (unit**2).sum(axis=0)))
    return extremes_joined(found)


def losses_of(reading: BlockReading, block: Block) -> NDArray[Any]:
    """(n, C): numbers, or booleans where a loss is 0 or 1."""
    metric, predictions = _inner(reading), reading.of(block)
    losses = metric.losses(block.truth, predictions)
    check_losses(metric.name, losses, predictions.shape[:2])
    return losses


def _inner(reading: BlockReading) -> OfRowLosses:
    """The metric without its sign."""
    inner = reading.metric.metric if isinstance(reading.metric, Signed) else reading.metric
    assert isinstance(inner, OfRowLosses), "check_summable says so"
    return inner


def typical_loss(losses: NDArray[Any]) -> float:
    """Of some rows: the least over configurations of the median of the losses above 0; 0 where none are."""
    medians = [float(np.median(column[column > 0])) for column in losses.T if (column > 0).any()]
    return min(medians, default=0.0)


@dataclass(frozen=True, eq=False)
class WholeSums:
    """A ``Plan``: sums of losses, and of counts, as whole numbers in two halves of 32 and 31 bits and a sign."""

    reading: BlockReading
    grid: Grid
    n_configurations: int
    keeps: Keeps
    extremes: Extremes | None = None  # None where losses are 0 or 1
    lanes: int = 4096
    together: int = 256

    def prepared(self, block: Block) -> NDArray[Any]:
        """(n, numbers C + 1): losses as whole numbers, and a one, whose sum is the weight."""
        losses = losses_of(self.reading, block)
        if losses.dtype.kind == "b":  # PIECE * 255 of them fit float32
            return np.concatenate([losses, np.ones((len(losses), 1), dtype=bool)], axis=1).astype(np.float32)
        return np.concatenate([self.grid.counted(losses), np.ones((len(losses), 1))], axis=1)

    def zeros(self, lanes: int) -> NDArray[np.int64]:
        """(2 halves, 2, lanes, numbers C + 1): in the bag and out of it."""
        return np.zeros((2, 2, lanes, self.grid.numbers * self.n_configurations + 1), dtype=np.int64)

    def add(
        self, total: NDArray[np.int64], lanes: slice, counts: NDArray[np.uint8], prepared: NDArray[Any]
    ) -> None:
        sums = whole_sums(counts, prepared)
        total[0, :, lanes] += sums >> HALF_WORD
        total[1, :, lanes] += sums & ((1 << HALF_WORD) - 1)

    def outcome(self, total: NDArray[np.int64]) -> BootstrapScores:
        (in_bag, drawn), (out_of_bag, weight) = (self._of_lanes(total[:, side]) for side in (0, 1))
        chosen = self._best(in_bag)
        scores = [self._score(out_of_bag[b, j], weight[b]) for b, j in enumerate(chosen.tolist())]
        defined = weight > 0
        none, certain = np.zeros(len(chosen)), np.ones(len(chosen), dtype=bool)
        every = self._every(in_bag, drawn) if self.keeps == "in the bag" else self._every(out_of_bag, weight)
        return BootstrapScores(chosen, np.array(scores), defined, none, certain, every)

    def observed(self, total: NDArray[np.int64]) -> TableScores:
        sums, weight = self._of_lanes(total[:, 0])
        scores = np.array([self._score(one, weight[0]) for one in sums[0]])
        return TableScores(scores, int(self._best(sums)[0]), np.zeros(len(scores)))

    def _every(self, sums: NDArray[Any], weights: NDArray[Any]) -> NDArray[np.float64]:
        """(L, C): every score; (L, 0) where none is kept."""
        if self.keeps == "nothing":
            return np.empty((len(sums), 0))
        lanes = zip(sums.tolist(), weights.tolist(), strict=True)
        return np.array([[self._score(one, weight) for one in lane] for lane, weight in lanes])

    def _of_lanes(self, total: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Python's integers: sums (L, C) in finest steps, and weights (L,)."""
        words = total[0].astype(object) * (1 << HALF_WORD) + total[1].astype(object)
        shape = len(words), self.grid.numbers, self.n_configurations
        sums = 0
        for number in np.moveaxis(words[:, :-1].reshape(shape), 1, 0):
            sums = sums * (1 << BITS) + number
        return np.asarray(sums), words[:, -1]

    def _best(self, sums: NDArray[Any]) -> NDArray[np.intp]:
        metric, inner = self.reading.metric, _inner(self.reading)
        falls = (inner.finish is Finish.COMPLEMENT) != (sign_of(metric) < 0)  # as the loss rises
        return sums.argmin(axis=1) if falls == metric.greater_is_better else sums.argmax(axis=1)

    def _score(self, total: int, weight: int) -> float:
        """The metric from a sum in finest steps, in its own units; divided once, and so rounded once."""
        if not weight:
            return float("nan")
        (finish, sign), finest = self._finish_and_sign, self.grid.finest
        if finish is Finish.COMPLEMENT:
            total = (weight << -finest) - total
        mean = ldexp_quotient(total, weight, finest)
        value = sqrt(mean) if finish is Finish.ROOT else mean
        return value if sign > 0 else 0.0 - value

    @cached_property
    def _finish_and_sign(self) -> tuple[Finish, int]:
        """Found once, because a score is computed for every configuration in every bootstrap."""
        return _inner(self.reading).finish, sign_of(self.reading.metric)


def ldexp_quotient(numerator: int, denominator: int, exponent: int) -> float:
    """``numerator / denominator * 2**exponent``, rounded once.

    Examples
    --------
    >>> ldexp_quotient(3, 4, -1), ldexp_quotient(1, 3, 2) == 4 / 3
    (0.375, True)
    """
    if exponent < 0:
        return numerator / (denominator << -exponent)
    return (numerator << exponent) / denominator


def whole_sums(counts: NDArray[np.uint8], numbers: NDArray[Any]) -> NDArray[np.int64]:
    """Sums of whole numbers (n, M), the last of them 1, over rows drawn ``counts`` (L, n) times and rows not drawn.

    (2, L, M): in the bag and out of it, exact.

    Examples
    --------
    >>> numbers = np.array([[5.0, 1.0], [7.0, 1.0], [2.0**41, 1.0]])
    >>> whole_sums(np.array([[3, 0, 0]], dtype=np.uint8), numbers).tolist()
    [[[15, 3]], [[2199023255559, 2]]]
    """
    n_lanes, n_rows = counts.shape
    sums = np.zeros((2 * n_lanes, numbers.shape[1]), dtype=np.int64)
    both = np.empty((2 * n_lanes, min(PIECE, n_rows)), dtype=numbers.dtype)
    for first in range(0, n_rows, PIECE):
        rows = slice(first, first + PIECE)
        piece = both[:, : len(numbers[rows])]
        piece[:n_lanes] = counts[:, rows]
        piece[n_lanes:] = counts[:, rows] == 0
        product = piece @ numbers[rows]
        if product[:, -1].max(initial=0) > MOST and numbers.dtype != np.float32:
            product = piece.astype(np.int64) @ numbers[rows].astype(np.int64)
        sums += product.astype(np.int64)
    return sums.reshape(2, n_lanes, -1)
