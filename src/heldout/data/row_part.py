"""A part of very many rows, which stands for all of them where only their noise is measured.

The noise of a score falls with the root of the number of rows: that of N rows is √(n/N) times that of n of them.
So bootstraps of a random part show the noise of all rows, and take no longer however many there are. Classes are in
the part in their shares, but of each there are at least ``FEWEST``, or all: a rare class decides how noisy an area
is.
Groups come whole. Rows in the order of time come in stretches, in which blocks are drawn as they are in all rows.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._streams import stream
from heldout._types import Array, Floats, Indices
from heldout.data.task import TaskKind, Truth

FIRST = 5000
"""Rows at the beginning of a file of very many, by which an order of time shows."""
FEWEST = 2000
"""Rows of a class, and groups: with so many a standard error is right to within about 2 %."""
LARGEST = 0.01
"""The share of the rows that a group may have at most."""
STRETCH = 1000
"""Rows in the order of time that come together; at least ten times the length of the blocks that are drawn."""


@dataclass(frozen=True, eq=False)
class RowPart:
    """Some rows of very many.

    Attributes
    ----------
    rows : ndarray of shape (n,)
        Their numbers, ascending.
    n_rows : int
        How many rows they stand for.
    shares : float or ndarray of shape (n,)
        The share that is in the part: of all rows, or of those of each one's class where classes differ in it.
    """

    rows: Indices
    n_rows: int
    shares: float | Floats

    def stands_for_all(
        self, metrics: Collection[Any], sample_weight: Floats | None, folds: NDArray[np.integer] | None, at: Indices
    ) -> bool:
        """Whether the noise of scores of all rows shows in it: not where a few errors or rows decide a score.

        - ``folds`` (n, R): of all of them.
        - ``at``: where its rows are in ``folds``.
        """
        # A fold without a row of the part.
        if folds is not None and any(not np.isin(column, column[at]).all() for column in folds.T):
            return False
        if any(metric.squares_errors for metric in metrics):
            return False
        if sample_weight is not None and (sample_weight <= 0).any():
            return False
        return isinstance(self.shares, float) or all(metric.takes_weights for metric in metrics)

    @cached_property
    def with_first(self) -> Indices:
        """Its rows, and after them the first ones of the file that are none of these."""
        return np.concatenate([self.rows, np.setdiff1d(np.arange(min(FIRST, self.n_rows)), self.rows)])

    @cached_property
    def _place_of_row(self) -> Indices:
        places = np.full(self.n_rows, -1)
        places[self.with_first] = np.arange(len(self.with_first))
        return places

    def places(self, rows: Indices) -> tuple[Indices, Indices]:
        """Where rows are in ``with_first``, and which of these rows are there."""
        places = self._place_of_row[rows]
        there = np.flatnonzero(places >= 0)
        return places[there], there


def row_part(
    truth: Truth,
    rows: Indices,
    most: int | None,
    entropy: int,
    *,
    groups: Array | None = None,
    block_length: int | None = None,
) -> RowPart | None:
    """About ``most`` of some rows; None where these are no more, or no part would do.

    - ``rows``: the numbers of those that are predicted.
    - ``block_length``: of rows in the order of time, which come in stretches; None where rows are exchangeable.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> truth = truth_of(np.arange(100_000) % 100 == 0)  # 1000 rows of the rarer class
    >>> part = row_part(truth, np.arange(100_000), 50_000, 0)
    >>> len(part.rows), truth.rows(part.rows).class_counts().tolist()
    (50500, [49500, 1000])
    """
    if most is None or len(rows) <= most:
        return None
    rng = np.random.Generator(np.random.Philox(key=stream(entropy, "part of rows")))
    codes = _classes(truth)[rows]
    if groups is None and block_length is None:
        return _of_classes(codes, rows, most, rng)
    if groups is None:
        units = np.arange(len(rows)) // max(STRETCH, 10 * (block_length or 1))
        fewest = 10
    else:
        units, fewest = np.unique(groups[rows], return_inverse=True)[1].reshape(-1), FEWEST
    sizes = np.bincount(units)
    # The noise is then that of a few groups, which may not be in the part.
    if groups is not None and sizes.max() > LARGEST * len(rows):
        return None
    order = rng.permutation(len(sizes))
    n_units = max(int(np.searchsorted(np.cumsum(sizes[order]), most)) + 1, fewest)
    if n_units >= len(sizes):
        return None
    is_in = np.isin(units, order[:n_units])
    # A class of which whole units hold too few rows cannot be filled up without other rows of these units.
    if (np.bincount(codes[is_in], minlength=codes.max() + 1) < np.minimum(np.bincount(codes), FEWEST)).any():
        return None
    return RowPart(rows[is_in], len(rows), float(is_in.mean()))


def _of_classes(codes: Indices, rows: Indices, most: int, rng: np.random.Generator) -> RowPart | None:
    counts = np.bincount(codes)
    even = -(-counts * most // len(rows))
    sizes = np.maximum(even, np.minimum(counts, FEWEST))
    if sizes.sum() >= len(rows):
        return None
    members = [np.flatnonzero(codes == code) for code in range(len(counts))]
    places = np.sort(np.concatenate([rng.permutation(each)[:n] for each, n in zip(members, sizes, strict=True)]))
    shares = sizes / np.maximum(counts, 1)
    is_even = (sizes == even).all()
    return RowPart(rows[places], len(rows), len(places) / len(rows) if is_even else shares[codes[places]])


def _classes(truth: Truth) -> Indices:
    """(N,): the class of each row, or whether its event was seen; 0 where neither is known."""
    if truth.kind is TaskKind.SURVIVAL:
        return truth.values["event"].astype(np.intp)
    return np.asarray(truth.values) if truth.classes is not None else np.zeros(truth.n_rows, dtype=np.intp)
