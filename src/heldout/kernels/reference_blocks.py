"""The NumPy kernels of tables that are read in blocks of rows: the specification of the compiled ones.

Bootstrap b draws ``n_rows`` rows of the whole table. ``split_draws`` decides how many of them fall into each block,
then ``draw_block`` decides which rows of the block they are, so that any block can be drawn anywhere. Both use
Philox4x64-10 with key ``(seed, b)``. Block k has the counter ``(0, 0, attempt, k)`` and draws as ``draw_units``
does, so that a table of one block has the draws of a table in memory; the split has ``(0, 0, attempt, 2**63)``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.reference import Floats, high_word_of_product

SPLIT = 2**63
"""The last word of the split's counter; for the draws of a block it is the number of the block."""
MOST_TIMES = 255


def split_draws(
    seed: int, bootstraps: NDArray[np.uint64], attempt: int, n_rows: int, block_rows: int
) -> NDArray[np.int64]:
    """How many of its ``n_rows`` draws each bootstrap takes from each block: (len(bootstraps), n_blocks).

    The blocks are halved again and again. Each time an exact binomial with the share of rows in the first half
    (``binomial``) divides the draws between the halves.
    """
    ends = np.minimum(np.arange(-(-n_rows // block_rows) + 1) * block_rows, n_rows).tolist()
    totals = np.empty((len(bootstraps), len(ends) - 1), dtype=np.int64)

    def among(lane: int, first: int, last: int, draws: int, stream: np.random.Philox) -> None:
        if last - first == 1:
            totals[lane, first] = draws
            return
        middle = first + (last - first) // 2
        lower = binomial(draws, ends[middle] - ends[first], ends[last] - ends[first], stream)
        among(lane, first, middle, lower, stream)
        among(lane, middle, last, draws - lower, stream)

    for lane, b in enumerate(bootstraps):
        among(lane, 0, len(ends) - 1, n_rows, _philox(seed, int(b), attempt, SPLIT))
    return totals


def binomial(trials: int, part: int, whole: int, stream: np.random.Philox) -> int:
    """How many of ``trials`` succeed, each with probability ``part / whole`` exactly.

    A trial succeeds if its random digits, read as a binary fraction, are below part / whole. All trials take their
    next digit together, and those whose digit differs from that of part / whole are decided, so that a trial needs
    about two digits. A step takes whole words of the stream, lowest bits first.
    """
    successes = 0
    while trials and part:
        part *= 2
        digit = part >= whole
        part -= whole * digit
        words = stream.random_raw(-(-trials // 64))
        words[-1] &= np.uint64(2 ** ((trials - 1) % 64 + 1) - 1)
        ones = int(np.unpackbits(words.view(np.uint8)).sum())
        successes += (trials - ones) * digit
        trials = ones if digit else trials - ones
    return successes


def draw_block(
    seed: int,
    bootstraps: NDArray[np.uint64],
    attempt: int,
    block: int,
    totals: NDArray[np.int64],
    n_rows: int,
) -> NDArray[np.uint8]:
    """How often each row of a block is drawn, uint8 (len(bootstraps), n_rows); its rows sum to ``totals``."""
    counts = np.empty((len(bootstraps), n_rows), dtype=np.uint8)
    for lane, (b, total) in enumerate(zip(bootstraps.tolist(), totals.tolist(), strict=True)):
        raw = _philox(seed, b, attempt, block).random_raw(total)
        drawn = np.bincount(high_word_of_product(raw, n_rows), minlength=n_rows)
        if drawn.max(initial=0) > MOST_TIMES:
            raise OverflowError(f"a row was drawn more than {MOST_TIMES} times in one bootstrap; at most 255 fit")
        counts[lane] = drawn
    return counts


def _philox(seed: int, b: int, attempt: int, domain: int) -> np.random.Philox:
    return np.random.Philox(
        key=np.array([seed, b], dtype=np.uint64), counter=np.array([0, 0, attempt, domain], dtype=np.uint64)
    )


def find_bins(values: Floats, cuts: Floats) -> NDArray[np.uint16]:
    """(n, C): for each value (n, C), how many of the ascending cuts of its column (C, n_cuts) are not above it."""
    columns = [np.searchsorted(own, column, side="right") for own, column in zip(cuts, values.T, strict=True)]
    return np.stack(columns, axis=1).astype(np.uint16)


def add_bin_sums(
    counts: NDArray[np.uint8],
    cells: NDArray[np.uint16],
    in_bag: NDArray[np.uint32],
    out_of_bag: NDArray[np.uint32],
) -> None:
    """Add how often the rows of each cell were drawn, and how many of them were not drawn.

    Parameters
    ----------
    counts : ndarray of shape (L, n)
    cells : ndarray of shape (n, C)
    in_bag, out_of_bag : ndarray of shape (C, n_cells, L)
        Changed in place.
    """
    for j, column in enumerate(cells.T):
        np.add.at(in_bag[j], column, counts.T)
        np.add.at(out_of_bag[j], column, counts.T == 0)
