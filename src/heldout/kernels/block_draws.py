"""Bootstrap draws from a table that is read in blocks of rows.

Blocks have ``block_rows`` rows each, the last one fewer, independent of the parts of the file and of how much is
read at once. The draws of a bootstrap are first divided among the blocks (exactly multinomial) and then drawn
within each block from the block's own stream; ``reference_blocks`` is the specification. So any block of any
bootstrap can be drawn anywhere, in any order, and a table of one block has the same draws as a table in memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.dispatch import draw_block, split_draws

BLOCK_ROWS = 65_536


@dataclass(frozen=True)
class BlockDraws:
    """The bootstraps of one table.

    Examples
    --------
    >>> draws, b = BlockDraws(seed=1, n_rows=10, block_rows=4), np.arange(2, dtype=np.uint64)
    >>> totals = draws.totals(b, attempt=0)
    >>> totals.sum(axis=1)
    array([10, 10])
    >>> [draws.counts(k, b, 0, totals[:, k]).shape for k in range(draws.n_blocks)]
    [(2, 4), (2, 4), (2, 2)]
    """

    seed: int  # 64 bits; the first word of every bootstrap's key
    n_rows: int  # the rows of the table, and the draws of each bootstrap
    block_rows: int = BLOCK_ROWS

    @property
    def n_blocks(self) -> int:
        return -(-self.n_rows // self.block_rows)

    def rows_of(self, block: int) -> int:
        """How many rows a block has."""
        return min(self.block_rows, self.n_rows - block * self.block_rows)

    def totals(self, bootstraps: NDArray[np.uint64], attempt: int) -> NDArray[np.int64]:
        """How many of its draws each bootstrap takes from each block: (L, n_blocks); rows sum to ``n_rows``."""
        return split_draws(self.seed, bootstraps, attempt, self.n_rows, self.block_rows)

    def counts(
        self, block: int, bootstraps: NDArray[np.uint64], attempt: int, totals: NDArray[np.int64]
    ) -> NDArray[np.uint8]:
        """How often each row of a block is drawn, (L, n), by bootstraps that take ``totals`` (L,) draws from it."""
        return draw_block(self.seed, bootstraps, attempt, block, totals, self.rows_of(block))
