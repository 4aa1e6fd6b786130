"""Bootstrap draws: which rows are drawn, how often, and which are left out.

A draw depends on (seed, b, attempt) alone: Philox4x64-10 with key ``(seed, b)`` and counter ``(0, 0, attempt, 0)``
as ``numpy.random.Philox`` counts; raw word i gives the index ``floor(raw_i * n_units / 2**64)``. So any range of
bootstraps can be computed anywhere, in blocks of any size and by any number of threads, and a long run begins with
the bootstraps of a short one.

If the statistic is undefined on a draw (in the bag or out of it), the next attempt of the *same* bootstrap's stream
replaces it, which changes no other bootstrap.

Stratified draws take as many units from each stratum as it has. Stratum s has its own stream, with counter
``(0, 0, attempt + 2**32 s, 0)``, so that neither the size nor the redraws of a stratum change the draws of another.

Kernels are single-threaded and release the GIL; each thread takes one block of bootstraps after another
(``map_blocks``). A kernel sums each bootstrap separately in a fixed order, so neither the number of threads nor the
size of the blocks can change a bit of a result.
"""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from heldout._types import Booleans, Counts, Indices
from heldout.kernels.dispatch import draw_units
from heldout.kernels.reference import high_word_of_product

BlockKind: TypeAlias = Literal["moving", "stationary"]
BLOCK_KINDS: tuple[BlockKind, ...] = ("moving", "stationary")


@dataclass(frozen=True)
class RowBlocks:
    """Blocks of a length (in rows) and a kind.

    Attributes
    ----------
    length : int
        Of every block; of a block on average where the kind is "stationary".
    kind : "moving" or "stationary"

    Examples
    --------
    >>> RowBlocks(3, "moving").counts(1, np.arange(2, dtype=np.uint64), 0, 9)
    array([[0, 1, 2, 2, 1, 1, 1, 1, 0],
           [1, 1, 1, 0, 0, 0, 2, 2, 2]], dtype=uint8)
    """

    length: int
    kind: BlockKind

    def counts(self, seed: int, bootstraps: NDArray[np.uint64], attempt: int, n_rows: int) -> Counts:
        """How often each bootstrap draws each row: (len(bootstraps), n_rows); each row of it sums to ``n_rows``."""
        # A block that begins near the end of the rows continues in a second copy of them.
        # A block adds one at its start and takes it away behind its end: sums along the rows give the counts.
        changes = np.zeros((len(bootstraps), 2 * n_rows + 1), dtype=np.int32)
        for lane, b in enumerate(bootstraps):
            starts, lengths = self._blocks(seed, int(b), attempt, n_rows)
            np.add.at(changes[lane], starts, 1)
            np.subtract.at(changes[lane], starts + lengths, 1)
        drawn = np.cumsum(changes[:, :-1], axis=1, dtype=np.int32)
        counts = drawn[:, :n_rows] + drawn[:, n_rows:]
        if counts.max(initial=0) > 255:
            raise OverflowError(f"a row was drawn {counts.max()} times in one bootstrap; at most 255 fit")
        return counts.astype(np.uint8)

    def _blocks(self, seed: int, b: int, attempt: int, n_rows: int) -> tuple[Indices, Indices]:
        """The first row and the length of each block; the lengths sum to ``n_rows``."""
        if self.kind == "moving":
            lengths = np.full(-(-n_rows // self.length), self.length, dtype=np.intp)
        else:
            lengths = self._geometric(seed, b, attempt, n_rows)
        # Moving blocks stay within the rows; stationary ones go round, as their theory needs.
        n_starts = n_rows - self.length + 1 if self.kind == "moving" else n_rows
        # The last block is cut, so that a bootstrap has as many rows as the data.
        lengths[-1] -= lengths.sum() - n_rows
        return high_word_of_product(_words(seed, b, attempt, 0, len(lengths)), n_starts), lengths

    def _geometric(self, seed: int, b: int, attempt: int, n_rows: int) -> Indices:
        """As many lengths of mean ``length``, at most ``n_rows`` each, as hold all rows."""
        if self.length == 1:
            return np.ones(n_rows, dtype=np.intp)
        size = 2 * n_rows // self.length + 8
        while True:  # a longer part of the stream has the same beginning
            # Never 0, whose logarithm is infinite: from 2**-53 to 1.
            uniform = ((_words(seed, b, attempt, 1, size) >> np.uint64(11)).astype(np.float64) + 1) * 2.0**-53
            lengths = np.minimum(1 + np.floor(np.log(uniform) / math.log1p(-1 / self.length)), n_rows).astype(
                np.intp
            )
            ends = np.cumsum(lengths)
            if ends[-1] >= n_rows:
                return lengths[: int(np.searchsorted(ends, n_rows)) + 1]
            size *= 2


def _words(seed: int, b: int, attempt: int, purpose: int, size: int) -> NDArray[np.uint64]:
    key, counter = (np.array(words, dtype=np.uint64) for words in ([seed, b], [0, 0, attempt, purpose]))
    words: NDArray[np.uint64] = np.random.Philox(key=key, counter=counter).random_raw(size)
    return words


Result = TypeVar("Result")

MOST_ATTEMPTS = 1000

BLOCK = 256
"""Bootstraps per call of the compiled kernels; smaller blocks do not fill their vectors."""

Defined: TypeAlias = Callable[[Counts], Booleans]
"""From counts (L, n) to (L,): whether the statistic is defined on the rows with a positive count."""


class UndefinedDrawsError(ValueError):
    """The statistic was undefined on all ``MOST_ATTEMPTS`` draws of a bootstrap."""

    def __init__(self, bootstrap: int) -> None:
        super().__init__(f"bootstrap {bootstrap} was undefined in {MOST_ATTEMPTS} attempts")
        self.bootstrap = bootstrap


@dataclass(frozen=True, eq=False)
class Draws:
    """The bootstraps of one estimate."""

    seed: int  # 64 bits; the first word of every bootstrap's key
    n_bootstraps: int  # B
    # (n,): the unit (the row itself, or its group) that is drawn whole, as codes 0 .. n_units - 1
    unit_of_row: Indices
    # defined_in_bag, defined_out_of_bag: from counts (L, n) to (L,): whether the statistics of the rows in the bag,
    # and of the rows left out, are defined
    defined_in_bag: Defined
    defined_out_of_bag: Defined
    # (n_units,): codes 0 .. S - 1 of the strata within which units are drawn; by default all units are one stratum
    stratum_of_unit: Indices | None = None
    row_blocks: RowBlocks | None = None  # draw blocks of consecutive units, where they have an order

    @property
    def n_units(self) -> int:
        return int(self.unit_of_row.max()) + 1 if self.unit_of_row.size else 0

    def block(self, first: int, last: int) -> tuple[Counts, int]:
        """Counts (last - first, n) of bootstraps ``first .. last - 1``, and how many redraws they took."""
        bootstraps = np.arange(first, last, dtype=np.uint64)
        counts = self._rows(bootstraps, attempt=0)
        pending = np.flatnonzero(~self._usable(counts))
        redraws = 0
        # Only those that were refused are drawn again, each from a stream of its own attempt.
        for attempt in range(1, MOST_ATTEMPTS):
            if not pending.size:
                break
            redraws += pending.size
            counts[pending] = self._rows(bootstraps[pending], attempt)
            pending = pending[~self._usable(counts[pending])]
        if pending.size:
            raise UndefinedDrawsError(int(bootstraps[pending[0]]))
        return counts, redraws

    def _rows(self, bootstraps: NDArray[np.uint64], attempt: int) -> Counts:
        units = self._units(bootstraps, attempt)
        # Without groups a unit is a row, and no copy is needed.
        if self.n_units == self.unit_of_row.size:
            return units
        return units[:, self.unit_of_row]

    def _units(self, bootstraps: NDArray[np.uint64], attempt: int) -> Counts:
        if self.row_blocks is not None:
            return self.row_blocks.counts(self.seed, bootstraps, attempt, self.n_units)
        if self.stratum_of_unit is None:
            return draw_units(self.seed, bootstraps, attempt, self.n_units)
        counts = np.empty((len(bootstraps), self.n_units), dtype=np.uint8)
        for stratum in range(int(self.stratum_of_unit.max()) + 1):
            units = np.flatnonzero(self.stratum_of_unit == stratum)
            if units.size:
                # The stratum is in the upper half of the attempt, so that strata have different streams.
                counts[:, units] = draw_units(self.seed, bootstraps, attempt + (stratum << 32), units.size)
        return counts

    def _usable(self, counts: Counts) -> Booleans:
        return self.defined_in_bag(counts) & self.defined_out_of_bag(out_of_bag(counts))


def map_blocks(
    function: Callable[[int, int], Result], n_bootstraps: int, *, n_threads: int, block: int = BLOCK
) -> list[Result]:
    """``function(first, last)`` for each block of bootstraps ``first .. last - 1``, results in their order.

    Parameters
    ----------
    function : callable
        Called from several threads at once if ``n_threads`` is above one.
    n_bootstraps : int
        B.
    n_threads : int
        See ``heldout.data.limits.effective_threads``.
    block : int
        The most bootstraps per call.

    Raises
    ------
    Exception
        The exception of the first block, in their order, that raised one. Blocks that have not begun are then
        cancelled, and also on KeyboardInterrupt.

    Examples
    --------
    >>> map_blocks(lambda first, last: (first, last), 600, n_threads=2)
    [(0, 256), (256, 512), (512, 600)]
    """
    if block < 1:
        raise ValueError(f"block must be at least 1, got {block}")
    ranges = [(first, min(first + block, n_bootstraps)) for first in range(0, n_bootstraps, block)]
    if n_threads <= 1 or len(ranges) <= 1:
        return [function(first, last) for first, last in ranges]
    with ThreadPoolExecutor(min(n_threads, len(ranges)), thread_name_prefix="heldout-block") as pool:
        pending = [pool.submit(function, first, last) for first, last in ranges]
        try:
            return [future.result() for future in pending]
        # Ctrl-C and errors must not wait for thousands of bootstraps in the queue.
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def always(counts: Counts) -> Booleans:
    """(L,): every draw is accepted."""
    return np.ones(len(counts), dtype=bool)


def out_of_bag(counts: Counts) -> Counts:
    """Counts (L, n) of the rows left out: 1 for each row that was not drawn, 0 for the others."""
    return (counts == 0).view(np.uint8)


def inner_counts(
    counts: Counts,
    n_inner: int,
    seed: int,
    *,
    unit_of_row: Indices | None = None,
    in_bag: Defined = always,
    left_out: Defined = always,
) -> Counts:
    """Draw as many rows from a bootstrap sample as it holds, with replacement.

    Inner sample i does not depend on ``n_inner``.

    - ``counts`` (N,): how often the outer sample drew each row.
    - ``seed``: 64 bits, of the outer sample: ``stream(entropy, "inner draws", b)``.
    - ``unit_of_row`` (N,): groups as codes from 0: they are drawn whole, as the outer sample drew them.
    - ``in_bag``, ``left_out``: from (L, N) counts, of the drawn rows and of those in the outer sample that were not
      drawn, to the usable draws (L,); the others are drawn again.

    Returns (n_inner, N): how often each original row was drawn; never a row that the outer sample lacks.

    Raises UndefinedDrawsError when no draw is usable: the outer sample holds too little of something, and has no
    corrected score.

    Examples
    --------
    >>> drawn = inner_counts(np.array([3, 0, 1, 0], dtype=np.uint8), 2, seed=1)
    >>> drawn.sum(axis=1).tolist(), drawn[:, [1, 3]].sum().item()
    ([4, 4], 0)
    """
    units = np.arange(len(counts)) if unit_of_row is None else unit_of_row
    first = np.unique(units, return_index=True)[1]
    held = np.repeat(np.arange(len(first)), counts[first])  # a unit as often as the outer sample drew it
    starts = np.flatnonzero(np.r_[True, np.diff(held) > 0])

    def by_row(places: Counts) -> Counts:
        """Counts of places in the sample (L, n) as counts of original rows (L, N)."""
        of_unit = np.zeros((len(places), len(first)), dtype=np.uint8)
        of_unit[:, held[starts]] = np.add.reduceat(places, starts, axis=1, dtype=np.uint8)
        return of_unit[:, units]

    def usable(places: Counts) -> Booleans:
        drawn = by_row(places)
        if left_out is always:
            return in_bag(drawn)
        return in_bag(drawn) & left_out(np.where(drawn == 0, counts, 0).astype(np.uint8))

    draws = Draws(seed, n_inner, np.arange(len(held)), defined_in_bag=usable, defined_out_of_bag=always)
    return by_row(draws.block(0, n_inner)[0])
