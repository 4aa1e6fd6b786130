"""Blocks of consecutive rows: the draws of a bootstrap whose rows are ordered and depend on their neighbours.

Single rows lose the dependence between neighbours when they are drawn, so that a mean of them varies less than a
mean of a new stretch of time. Blocks keep it: in a moving-block bootstrap all have one length (Künsch 1989), in a
stationary one their lengths are geometric and the first row follows the last (Politis & Romano 1994). Blocks are
drawn until they hold n rows, and the last one is cut off there. A row that no block holds is out of the bag.

Raw word i of the stream with counter ``(0, 0, attempt, 0)`` is the start of block i, as it is unit i of ``Draws``;
its length is word i of the stream with counter ``(0, 0, attempt, 1)``. So blocks of one row are the draws of single
rows, bit for bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

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

    def counts(self, seed: int, bootstraps: NDArray[np.uint64], attempt: int, n_rows: int) -> NDArray[np.uint8]:
        """How often each bootstrap draws each row: (len(bootstraps), n_rows); each row of it sums to ``n_rows``."""
        # A block that begins near the end of the rows continues in a second copy of them.
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

    def _blocks(self, seed: int, b: int, attempt: int, n_rows: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The first row and the length of each block; the lengths sum to ``n_rows``."""
        if self.kind == "moving":
            lengths = np.full(-(-n_rows // self.length), self.length, dtype=np.intp)
        else:
            lengths = self._geometric(seed, b, attempt, n_rows)
        n_starts = n_rows - self.length + 1 if self.kind == "moving" else n_rows
        lengths[-1] -= lengths.sum() - n_rows
        return high_word_of_product(_words(seed, b, attempt, 0, len(lengths)), n_starts), lengths

    def _geometric(self, seed: int, b: int, attempt: int, n_rows: int) -> NDArray[np.intp]:
        """As many lengths of mean ``length``, at most ``n_rows`` each, as hold all rows."""
        if self.length == 1:
            return np.ones(n_rows, dtype=np.intp)
        size = 2 * n_rows // self.length + 8
        while True:  # a longer part of the stream has the same beginning
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
