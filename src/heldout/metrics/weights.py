"""How much weight rows and classes carry under a block of weightings.

Sums of bootstrap counts are exact integers; sums of real weights round, so they run over contiguous rows in
one fixed order and do not depend on how many weightings stand in the block.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.reference import Floats, Weightings, exact_product, sum_in_order


def total_weight(counts: Weightings) -> Floats:
    """(L,): the weight of all rows."""
    if counts.dtype == np.uint8:
        return counts.sum(axis=1, dtype=np.int64).astype(np.float64)
    # One row after another, as losses are summed: so that a mean of equal losses is that loss.
    sums: Floats = sum_in_order(counts)
    return sums


def weight_of(counts: Weightings, rows: NDArray[np.bool_]) -> Floats:
    """(L,): the weight of some rows."""
    if counts.dtype == np.uint8:  # whole numbers below 2**53: a matrix product rounds nothing
        return exact_product(counts, rows.astype(np.float64))
    sums: Floats = np.ascontiguousarray(np.compress(rows, counts, axis=1)).sum(axis=1)
    return sums


def class_weights(counts: Weightings, codes: NDArray[np.integer], n_classes: int) -> Floats:
    """(n_classes, L): the weight of the rows of each class."""
    if counts.dtype == np.uint8:
        member = (codes[:, None] == np.arange(n_classes)).astype(np.float64)
        return exact_product(counts, member).T
    return np.stack([weight_of(counts, codes == code) for code in range(n_classes)])


def weighted_sum(counts: Weightings, values: Floats) -> Floats:
    """(L,): the weighted sum of a number a row, shape (n,), or of a number a row and weighting, (L, n)."""
    sums: Floats = (np.ascontiguousarray(counts) * values).sum(axis=1)
    return sums
