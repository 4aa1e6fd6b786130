"""The NumPy kernels: slow, obvious, and the specification of the compiled ones.

Every kernel is *prepared* once from a matrix with a column a configuration and then asked, for a block of
L weightings of the rows, either for every column (``all``) or for one named column a weighting
(``selected``). The weightings are ``counts`` of shape (L, n): uint8 for bootstrap counts, for which the sums
are exact integers, or float64 for counts times sample weights.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Weightings: TypeAlias = NDArray[Any]
Floats: TypeAlias = NDArray[np.float64]


def draw_units(seed: int, bootstraps: NDArray[np.uint64], attempt: int, n_units: int) -> NDArray[np.uint8]:
    """How often each unit is drawn: uint8 (len(bootstraps), n_units), every row summing to ``n_units``."""
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


def _refuse_nan(values: NDArray[Any]) -> None:
    if np.isnan(values).any():
        raise ValueError("kernels take no NaN: leave rows or configurations that were not predicted out")


def _accumulator(counts: Weightings) -> Any:
    return np.int64 if counts.dtype == np.uint8 else np.float64


class RankSums:
    """Twice the Mann-Whitney U of every column: the numerator of the ROC AUC.

    2U = sum over positive rows i and negative rows j of w_i w_j (2 [s_i > s_j] + [s_i = s_j]), so that
    AUC = 2U / (2 P N) with P and N the total weights of positive and negative rows.

    Parameters
    ----------
    scores : ndarray of shape (n, C)
        Finite scores, greater = more positive.
    positive, negative : ndarray of bool, shape (n,)
        Rows in neither are left out (multi-class pairs).
    """

    def __init__(self, scores: Floats, positive: NDArray[np.bool_], negative: NDArray[np.bool_]) -> None:
        _refuse_nan(scores)
        self._scores, self._positive, self._negative = scores, positive, negative

    @property
    def n_columns(self) -> int:
        return self._scores.shape[1]

    def all(self, counts: Weightings) -> NDArray[Any]:
        """(L, C): int64 for uint8 counts, float64 otherwise."""
        sums = np.empty((len(counts), self.n_columns), dtype=_accumulator(counts))
        for j in range(self.n_columns):
            sums[:, j] = self._column(counts, j)
        return sums

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> NDArray[Any]:
        """(L,): of column ``columns[l]`` under weighting l."""
        return _each_selected(self._column, counts, columns)

    def _column(self, counts: Weightings, j: int) -> NDArray[Any]:
        kind = _accumulator(counts)
        above = self._scores[self._positive, j][:, None] - self._scores[self._negative, j][None, :]
        wins = 2 * (above > 0).astype(kind) + (above == 0)
        positive, negative = counts[:, self._positive].astype(kind), counts[:, self._negative].astype(kind)
        return np.einsum("lp,pq,lq->l", positive, wins, negative, optimize=True)


class CellSums:
    """Total weight of the rows in each cell of every column: confusion matrices, error counts.

    Parameters
    ----------
    cells : ndarray of int, shape (n, C)
        The cell 0 .. n_cells - 1 of a row, or -1 for a row that is not counted.
    n_cells : int
    """

    def __init__(self, cells: NDArray[np.int32], n_cells: int) -> None:
        self._cells, self.n_cells = cells, n_cells

    @property
    def n_columns(self) -> int:
        return self._cells.shape[1]

    def all(self, counts: Weightings) -> NDArray[Any]:
        """(L, C, n_cells): int64 for uint8 counts, float64 otherwise."""
        sums = np.empty((len(counts), self.n_columns, self.n_cells), dtype=_accumulator(counts))
        for j in range(self.n_columns):
            sums[:, j] = self._column(counts, j)
        return sums

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> NDArray[Any]:
        """(L, n_cells)."""
        return _each_selected(self._column, counts, columns)

    def _column(self, counts: Weightings, j: int) -> NDArray[Any]:
        inside = self._cells[:, j][:, None] == np.arange(self.n_cells)
        weights = counts.astype(_accumulator(counts))
        return np.stack([weights[:, rows].sum(axis=1) for rows in inside.T], axis=1)


class LossSums:
    """Weighted sum of the losses of every column, exact so that no blocking can change a bit.

    The losses are rounded to multiples of a power of two that is small enough (relative error about 1e-13)
    and large enough that every partial sum with integer counts is a float64 without rounding.

    Parameters
    ----------
    losses : ndarray of shape (n, C)
        Finite.
    most : int
        The largest total count that will be asked for (rows drawn in a bootstrap).
    """

    def __init__(self, losses: Floats, most: int) -> None:
        _refuse_nan(losses)
        if not np.isfinite(losses).all():
            raise ValueError("losses must be finite: clip infinite ones first, and say so")
        self._losses = on_exact_grid(losses, most)

    @property
    def n_columns(self) -> int:
        return self._losses.shape[1]

    def all(self, counts: Weightings) -> Floats:
        """(L, C)."""
        if counts.dtype != np.uint8:  # weighted sums round, so their order is fixed: no BLAS
            return np.stack([self._column(counts, j) for j in range(self.n_columns)], axis=1)
        product: Floats = counts.astype(np.float64) @ self._losses
        return product

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        """(L,)."""
        return _each_selected(self._column, counts, columns)

    def _column(self, counts: Weightings, j: int) -> Floats:
        sums: Floats = np.cumsum(counts * self._losses[:, j], axis=1)[:, -1]
        return sums


def on_exact_grid(losses: Floats, most: int) -> Floats:
    """``losses`` rounded, by column, to multiples of 2**-e such that sums of ``most`` of them are exact."""
    largest = np.abs(losses).max(axis=0, initial=0.0)
    _, exponent = np.frexp(largest * max(most, 1))
    step = np.ldexp(1.0, exponent - 52)
    step[largest == 0] = 1.0
    grid: Floats = np.rint(losses / step) * step
    return grid


class PrecisionSums:
    """Average precision of every column: the sum over thresholds of (change in recall) x precision.

    Thresholds are the distinct scores, descending; rows with equal scores enter together.
    """

    def __init__(self, scores: Floats, positive: NDArray[np.bool_]) -> None:
        _refuse_nan(scores)
        self._scores, self._positive = scores, positive

    @property
    def n_columns(self) -> int:
        return self._scores.shape[1]

    def all(self, counts: Weightings) -> Floats:
        """(L, C); NaN where no positive row has weight."""
        return np.stack([self._column(counts, j) for j in range(self.n_columns)], axis=1)

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        """(L,)."""
        return _each_selected(self._column, counts, columns)

    def _column(self, counts: Weightings, j: int) -> Floats:
        order = np.argsort(-self._scores[:, j], kind="stable")
        ranked = self._scores[order, j]
        last_of_tie = np.append(ranked[1:] != ranked[:-1], True)
        weights = counts[:, order].astype(np.float64)
        all_rows = np.cumsum(weights, axis=1)[:, last_of_tie]
        positives = np.cumsum(weights * self._positive[order], axis=1)[:, last_of_tie]
        with np.errstate(invalid="ignore", divide="ignore"):
            precision = np.where(all_rows > 0, positives / all_rows, 0.0)
            gained = np.diff(positives, axis=1, prepend=0.0)
            average: Floats = np.cumsum(gained * precision, axis=1)[:, -1] / positives[:, -1]
        return average


class Medians:
    """Weighted median of every column: the middle of the repeated values, the mean of the middle two if even.

    With real weights it is the least value at which the cumulated weight passes half of the total, averaged
    with the next value where it meets the half exactly.
    """

    def __init__(self, values: Floats) -> None:
        _refuse_nan(values)
        self._values = values

    @property
    def n_columns(self) -> int:
        return self._values.shape[1]

    def all(self, counts: Weightings) -> Floats:
        """(L, C); NaN where no row has weight."""
        return np.stack([self._column(counts, j) for j in range(self.n_columns)], axis=1)

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        """(L,)."""
        return _each_selected(self._column, counts, columns)

    def _column(self, counts: Weightings, j: int) -> Floats:
        order = np.argsort(self._values[:, j], kind="stable")
        ranked = self._values[order, j]
        medians = np.full(len(counts), np.nan)
        for lane, weights in enumerate(counts[:, order].astype(np.float64)):
            present = weights > 0
            if present.any():
                medians[lane] = _median_of_sorted(ranked[present], np.cumsum(weights[present]))
        return medians


def _median_of_sorted(values: Floats, cumulated: Floats) -> float:
    half = cumulated[-1] / 2
    at = min(int(np.searchsorted(cumulated, half, side="left")), len(values) - 1)
    if cumulated[at] == half and at + 1 < len(values):
        return float((values[at] + values[at + 1]) / 2)
    return float(values[at])


def _each_selected(column: Any, counts: Weightings, columns: NDArray[np.intp]) -> NDArray[Any]:
    """Ask ``column(counts, j)`` for each lane's own j."""
    parts = [column(counts[lane : lane + 1], int(j)) for lane, j in enumerate(columns)]
    return np.concatenate(parts)


def best_out_of_bag(sums: Any, counts: NDArray[np.uint8], *, greatest: bool) -> tuple[NDArray[np.intp], Any]:
    """Select in the bag, score out of it: for kernels whose denominator is common to all columns.

    For each lane the first column with the greatest (or least) sum over the drawn rows, and that column's
    sum over the rows that were not drawn, each counted once.
    """
    in_bag = sums.all(counts)
    if in_bag.ndim == 3:
        in_bag = in_bag[:, :, 0]
    columns = in_bag.argmax(axis=1) if greatest else in_bag.argmin(axis=1)
    left_out = (counts == 0).astype(np.uint8)
    return columns, sums.selected(left_out, columns)
