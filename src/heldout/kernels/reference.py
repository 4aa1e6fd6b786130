"""The NumPy kernels: slow, obvious, and the specification of the compiled ones.

A kernel is *prepared* once from a matrix with one column per configuration. It then takes a block of L weightings
of the rows, and returns the result of every column (``all``) or of one column per weighting (``selected``). The
weightings are ``counts`` of shape (L, n): uint8 for bootstrap counts, whose sums are exact integers, or float64 for
counts times sample weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats, Weightings


def draw_units(seed: int, bootstraps: NDArray[np.uint64], attempt: int, n_units: int) -> NDArray[np.uint8]:
    """How often each unit is drawn: uint8 (len(bootstraps), n_units); each row sums to ``n_units``."""
    counts = np.empty((len(bootstraps), n_units), dtype=np.uint8)
    for lane, b in enumerate(bootstraps):
        stream = np.random.Philox(
            key=np.array([seed, b], dtype=np.uint64), counter=np.array([0, 0, attempt, 0], dtype=np.uint64)
        )
        raw = stream.random_raw(n_units)
        drawn = np.bincount(high_word_of_product(raw, n_units), minlength=n_units)
        if drawn.max(initial=0) > 255:
            raise OverflowError(f"a unit was drawn {drawn.max()} times in one bootstrap; at most 255 fit")
        counts[lane] = drawn
    return counts


def high_word_of_product(raw: NDArray[np.uint64], n: int) -> NDArray[np.intp]:
    """``floor(raw * n / 2**64)`` in exact 64-bit arithmetic, for n below 2**32."""
    size = np.uint64(n)
    low, high = raw & np.uint64(0xFFFFFFFF), raw >> np.uint64(32)
    return ((high * size + (low * size >> np.uint64(32))) >> np.uint64(32)).astype(np.intp)


def refuse_nan(values: NDArray[Any]) -> None:
    if np.isnan(values).any():
        raise ValueError("kernels do not accept NaN: leave out rows or configurations without a prediction")


def check_weightings(counts: Weightings, n_rows: int) -> None:
    """Raise unless these are counts (uint8) or weights (float64, finite, not negative) of every row."""
    if counts.ndim != 2 or counts.shape[1] != n_rows:
        raise ValueError(f"weightings must have shape (L, {n_rows}), got {counts.shape}")
    if counts.dtype == np.uint8:
        return
    if counts.dtype != np.float64:
        raise TypeError(f"weightings must be uint8 counts or float64 weights, got {counts.dtype}")
    if not np.isfinite(counts).all() or (counts < 0).any():
        raise ValueError("weights must be finite and not negative")


def check_columns(columns: NDArray[np.intp], lanes: int, n_columns: int) -> None:
    """Raise unless there is one existing column per weighting."""
    if columns.shape != (lanes,):
        raise ValueError(f"columns must have shape ({lanes},), one per weighting, got {columns.shape}")
    if lanes and not 0 <= columns.min() <= columns.max() < n_columns:
        raise IndexError(f"columns must be from 0 to {n_columns - 1}")


def accumulator(counts: Weightings) -> Any:
    """Sums of counts are exact integers, sums of weights are doubles."""
    return np.int64 if counts.dtype == np.uint8 else np.float64


def sum_in_order(values: NDArray[Any]) -> NDArray[Any]:
    """Sums of rows, one value after another: ``np.sum`` adds in pairs, which rounds differently."""
    if not values.shape[1]:
        return np.zeros(len(values), dtype=values.dtype)
    sums: NDArray[Any] = np.cumsum(values, axis=1)[:, -1]
    return sums


class Columns:
    """``all`` and ``selected`` of every kernel, from the single column that its class computes."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.n_rows, self.n_columns = shape

    def all(self, counts: Weightings) -> NDArray[Any]:
        """(L, C), or (L, C, n_cells) if a column has one value per cell."""
        check_weightings(counts, self.n_rows)
        return np.stack([self._column(counts, j) for j in range(self.n_columns)], axis=1)

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> NDArray[Any]:
        """(L,), or (L, n_cells): column ``columns[l]`` under weighting l."""
        check_weightings(counts, self.n_rows)
        check_columns(columns, len(counts), self.n_columns)
        out = self._column(counts, 0)
        for j in np.unique(columns):
            lanes = np.flatnonzero(columns == j)
            out[lanes] = self._column(counts[lanes], int(j))
        return out

    def _column(self, counts: Weightings, j: int) -> NDArray[Any]:
        raise NotImplementedError


class RankSums(Columns):
    """Twice the Mann-Whitney U of every column: the numerator of the ROC AUC.

    2U = sum over positive rows i and negative rows j of w_i w_j (2 [s_i > s_j] + [s_i = s_j]), so that
    AUC = 2U / (2 P N) with P and N the total weights of positive and negative rows.

    Parameters
    ----------
    scores : ndarray of shape (n, C)
        Greater = more positive; no NaN.
    positive, negative : ndarray of bool, shape (n,)
        Rows in neither are left out (multi-class pairs).
    folds : ndarray of int, shape (n,), optional
        A code of at least 0; only rows of one fold are pairs. All rows are by default.
    """

    def __init__(
        self,
        scores: Floats,
        positive: NDArray[np.bool_],
        negative: NDArray[np.bool_],
        folds: NDArray[np.integer] | None = None,
    ) -> None:
        super().__init__(scores.shape)
        refuse_nan(scores)
        refuse_overlap(positive, negative)
        self._scores, self._positive, self._negative = scores, positive, negative
        self._folds = np.zeros(self.n_rows, dtype=np.intp) if folds is None else fold_codes(folds, self.n_rows)

    def _column(self, counts: Weightings, j: int) -> NDArray[Any]:
        paired = self._positive | self._negative
        folds = [np.flatnonzero(paired & (self._folds == fold)) for fold in np.unique(self._folds)]
        pairs = [self._pairs(counts, j, rows) for rows in folds]
        return sum_in_order(np.concatenate([np.zeros((len(counts), 0), dtype=accumulator(counts)), *pairs], axis=1))

    def _pairs(self, counts: Weightings, j: int, rows: NDArray[np.intp]) -> NDArray[Any]:
        """In ascending order of the scores, each positive row's weight times twice the negative weight below it.

        A negative row that is tied with positive ones counts once before them and once after them.
        """
        _, group = np.unique(self._scores[rows, j], return_inverse=True)
        positive = self._positive[rows]
        tied = np.isin(group, np.intersect1d(group[positive], group[~positive]))
        again = np.flatnonzero(tied & ~positive)
        entries = np.concatenate([np.arange(rows.size), again])
        phase = np.concatenate([positive.astype(int), np.full(again.size, 2)])
        entries = entries[np.lexsort((phase, group[entries]))]

        weights = counts[:, rows[entries]].astype(accumulator(counts))
        times = np.where(tied[entries], 1, 2).astype(weights.dtype)
        above = positive[entries]
        below = np.cumsum(np.where(above, 0, times * weights), axis=1)
        return np.where(above, weights * below, 0)


def fold_codes(folds: NDArray[np.integer], n_rows: int) -> NDArray[np.integer]:
    """The folds of rows, checked."""
    if folds.shape != (n_rows,):
        raise ValueError(f"folds must have shape ({n_rows},), one per row, got {folds.shape}")
    if n_rows and folds.min() < 0:
        raise ValueError(f"a fold must be a code of at least 0, got {folds.min()}")
    return folds


def refuse_overlap(positive: NDArray[np.bool_], negative: NDArray[np.bool_]) -> None:
    if (positive & negative).any():
        raise ValueError("a row cannot be both positive and negative")


class CellSums(Columns):
    """Total weight of the rows in each cell of every column: confusion matrices, error counts.

    Parameters
    ----------
    cells : ndarray of int, shape (n, C)
        The cell 0 .. n_cells - 1 of a row, or -1 for a row that is not counted.
    n_cells : int
    """

    def __init__(self, cells: NDArray[np.int32], n_cells: int) -> None:
        super().__init__(cells.shape)
        if n_cells < 1 or (cells.size and not -1 <= cells.min() <= cells.max() < n_cells):
            raise ValueError(f"a cell must be from -1 to n_cells - 1 = {n_cells - 1}, and n_cells at least 1")
        self._cells, self.n_cells = cells, n_cells

    def _column(self, counts: Weightings, j: int) -> NDArray[Any]:
        weights = counts.astype(accumulator(counts))
        sums = np.empty((len(counts), self.n_cells), dtype=weights.dtype)
        for cell in range(self.n_cells):
            sums[:, cell] = sum_in_order(weights[:, self._cells[:, j] == cell])
        return sums


class LossSums(Columns):
    """Weighted sum of the losses of every column, exact, so that the size of blocks cannot change a bit.

    The losses are rounded to multiples of a power of two. It is so small that the relative error is about 1e-13,
    and so large that every partial sum with integer counts is a float64 without rounding.

    Parameters
    ----------
    losses : ndarray of shape (n, C)
        Finite.
    most : int
        The largest total count (rows drawn in a bootstrap).
    """

    def __init__(self, losses: Floats, most: int) -> None:
        super().__init__(losses.shape)
        if not np.isfinite(losses).all():
            refuse_nan(losses)
            raise ValueError("losses must be finite: clip infinite ones first, and flag it")
        self._losses = on_exact_grid(losses, most)

    def all(self, counts: Weightings) -> Floats:
        """(L, C)."""
        if counts.dtype != np.uint8:  # weighted sums round, so they need a fixed order, which BLAS does not have
            return super().all(counts)
        check_weightings(counts, self.n_rows)
        return exact_product(counts, self._losses)

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        """(L,)."""
        check_weightings(counts, self.n_rows)
        check_columns(columns, len(counts), self.n_columns)
        sums = np.empty(len(counts))
        together = max(1, PIECE * 64 // max(1, self.n_rows))
        for first in range(0, len(counts), together):
            lanes = slice(first, first + together)
            sums[lanes] = sum_in_order(counts[lanes] * self._losses.T[columns[lanes]])
        return sums

    def _column(self, counts: Weightings, j: int) -> Floats:
        return sum_in_order(counts * self._losses[:, j])


PIECE = 4096
"""Rows that are converted or multiplied together, where the whole matrix would need too much memory."""


def exact_product(counts: NDArray[np.uint8], values: Floats) -> Floats:
    """``counts`` (L, n) times ``values`` (n,) or (n, C), for values whose partial sums are all exact in float64.

    Piece by piece of the rows, because counts as float64 take eight times the memory.
    """
    product: Floats = counts[:, :PIECE].astype(np.float64) @ values[:PIECE]
    for first in range(PIECE, len(values), PIECE):
        rows = slice(first, first + PIECE)
        product += counts[:, rows].astype(np.float64) @ values[rows]
    return product


def cut_rows(counts: Weightings, rows: NDArray[np.intp]) -> Weightings:
    """(L, n): the weights of some rows, weighting by weighting in memory, which an index would not keep."""
    return np.take(counts, rows, axis=1)


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
    """(L,): the weighted sum of one number per row, shape (n,), or one per row and weighting, (L, n)."""
    sums: Floats = (np.ascontiguousarray(counts) * values).sum(axis=1)
    return sums


def on_exact_grid(losses: Floats, most: int) -> Floats:
    """``losses`` rounded to multiples of a power of two per column, so that sums of ``most`` of them are exact."""
    with np.errstate(over="ignore"):
        ends = losses.max(axis=0, initial=0.0), -losses.min(axis=0, initial=0.0)
        largest = np.maximum(*ends) * max(most, 1)
    if not np.isfinite(largest).all():
        raise ValueError(f"the sum of {most} losses is not a finite number: rescale them")
    _, exponent = np.frexp(largest)
    step = np.ldexp(1.0, np.maximum(exponent - 52, -1074))  # the smallest double
    grid: Floats = losses / step
    np.rint(grid, out=grid)
    grid *= step
    return grid


class PrecisionSums(Columns):
    """Average precision of every column: the sum over thresholds of (change in recall) x precision.

    Thresholds are the distinct scores, descending; rows with equal scores are added together (in doubles, the
    negatives before the positives).
    """

    def __init__(self, scores: Floats, positive: NDArray[np.bool_]) -> None:
        super().__init__(scores.shape)
        refuse_nan(scores)
        self._scores, self._positive = scores, positive

    def _column(self, counts: Weightings, j: int) -> Floats:
        order = np.lexsort((self._positive, -self._scores[:, j]))
        ranked = self._scores[order, j]
        last_of_tie = np.append(ranked[1:] != ranked[:-1], True)
        weights = counts[:, order].astype(np.float64)
        all_rows = np.cumsum(weights, axis=1)[:, last_of_tie]
        positives = np.cumsum(weights * self._positive[order], axis=1)[:, last_of_tie]
        precision = positives / np.where(all_rows > 0, all_rows, 1.0)
        gained = np.diff(positives, axis=1, prepend=0.0)
        with np.errstate(invalid="ignore"):
            average: Floats = sum_in_order(gained * precision) / positives[:, -1]
        return average


class Medians(Columns):
    """Weighted median of every column: the middle of the repeated values, or the mean of the middle two.

    With real weights it is the least value at which the cumulated weight exceeds half of the total; if the
    cumulated weight equals the half exactly at a value, the mean of this and the next value.
    """

    def __init__(self, values: Floats) -> None:
        super().__init__(values.shape)
        refuse_nan(values)
        self._values = values

    def _column(self, counts: Weightings, j: int) -> Floats:
        order = np.argsort(self._values[:, j], kind="stable")
        ranked = self._values[order, j]
        medians = np.full(len(counts), np.nan)
        for lane, cumulated in enumerate(np.cumsum(counts[:, order], axis=1, dtype=np.float64)):
            if cumulated[-1] > 0:
                half = cumulated[-1] / 2
                # scaled weights may miss half of the total by rounding
                below = ranked[np.searchsorted(cumulated, half * (1 - 1e-11), side="left")]
                above = ranked[np.searchsorted(cumulated, half * (1 + 1e-11), side="right")]
                medians[lane] = below if below == above else (below + above) / 2
        return medians


def best_out_of_bag(sums: Any, counts: NDArray[np.uint8], *, greatest: bool) -> tuple[NDArray[np.intp], Any]:
    """Select in the bag, score out of it: for kernels whose denominator is common to all columns.

    Returns, for each bootstrap, the first column with the greatest (or least) sum over the drawn rows, and that
    column's sum over the rows that were not drawn, each counted once.
    """
    in_bag = sums.all(counts)
    if in_bag.ndim == 3:
        in_bag = in_bag[:, :, 0]
    columns = in_bag.argmax(axis=1) if greatest else in_bag.argmin(axis=1)
    left_out = (counts == 0).view(np.uint8)
    return columns, sums.selected(left_out, columns)
