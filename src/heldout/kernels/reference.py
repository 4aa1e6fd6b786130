"""The NumPy kernels: slow, obvious, and the specification of the compiled ones.

A kernel is *prepared* once from a matrix with one column per configuration. It then takes a block of L weightings
of the rows, and returns the result of every column (``all``) or of one column per weighting (``selected``). The
weightings are ``counts`` of shape (L, n): uint8 for bootstrap counts, whose sums are exact integers, or float64 for
counts times sample weights.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import ddot

from heldout._types import Array, Booleans, Codes, Counts, Floats, Indices, Weightings


def draw_units(seed: int, bootstraps: NDArray[np.uint64], attempt: int, n_units: int) -> Counts:
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


def high_word_of_product(raw: NDArray[np.uint64], n: int) -> Indices:
    """``floor(raw * n / 2**64)`` in exact 64-bit arithmetic, for n below 2**32."""
    size = np.uint64(n)
    low, high = raw & np.uint64(0xFFFFFFFF), raw >> np.uint64(32)
    return ((high * size + (low * size >> np.uint64(32))) >> np.uint64(32)).astype(np.intp)


def refuse_nan(values: Array) -> None:
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


def check_columns(columns: Indices, lanes: int, n_columns: int) -> None:
    """Raise unless there is one existing column per weighting."""
    if columns.shape != (lanes,):
        raise ValueError(f"columns must have shape ({lanes},), one per weighting, got {columns.shape}")
    if lanes and not 0 <= columns.min() <= columns.max() < n_columns:
        raise IndexError(f"columns must be from 0 to {n_columns - 1}")


def accumulator(counts: Weightings) -> Any:
    """Sums of counts are exact integers, sums of weights are doubles."""
    return np.int64 if counts.dtype == np.uint8 else np.float64


def sum_in_order(values: Array) -> Array:
    """Sums of rows, one value after another: ``np.sum`` adds in pairs, which rounds differently."""
    if not values.shape[1]:
        return np.zeros(len(values), dtype=values.dtype)
    sums: Array = np.cumsum(values, axis=1)[:, -1]
    return sums


class Columns:
    """``all`` and ``selected`` of every kernel, from the single column that its class computes."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.n_rows, self.n_columns = shape

    def all(self, counts: Weightings) -> Array:
        """(L, C), or (L, C, n_cells) if a column has one value per cell."""
        check_weightings(counts, self.n_rows)
        return np.stack([self._column(counts, j) for j in range(self.n_columns)], axis=1)

    def selected(self, counts: Weightings, columns: Indices) -> Array:
        """(L,), or (L, n_cells): column ``columns[l]`` under weighting l."""
        check_weightings(counts, self.n_rows)
        check_columns(columns, len(counts), self.n_columns)
        out = self._column(counts, 0)
        for j in np.unique(columns):
            lanes = np.flatnonzero(columns == j)
            out[lanes] = self._column(counts[lanes], int(j))
        return out

    def _column(self, counts: Weightings, j: int) -> Array:
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
        self, scores: Floats, positive: Booleans, negative: Booleans, folds: NDArray[np.integer] | None = None
    ) -> None:
        super().__init__(scores.shape)
        refuse_nan(scores)
        refuse_overlap(positive, negative)
        self._scores, self._positive, self._negative = scores, positive, negative
        self._folds = np.zeros(self.n_rows, dtype=np.intp) if folds is None else fold_codes(folds, self.n_rows)

    def _column(self, counts: Weightings, j: int) -> Array:
        paired = self._positive | self._negative
        folds = [np.flatnonzero(paired & (self._folds == fold)) for fold in np.unique(self._folds)]
        pairs = [self._pairs(counts, j, rows) for rows in folds]
        return sum_in_order(np.concatenate([np.zeros((len(counts), 0), dtype=accumulator(counts)), *pairs], axis=1))

    def _pairs(self, counts: Weightings, j: int, rows: Indices) -> Array:
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


def refuse_overlap(positive: Booleans, negative: Booleans) -> None:
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

    def __init__(self, cells: Codes, n_cells: int) -> None:
        super().__init__(cells.shape)
        if n_cells < 1 or (cells.size and not -1 <= cells.min() <= cells.max() < n_cells):
            raise ValueError(f"a cell must be from -1 to n_cells - 1 = {n_cells - 1}, and n_cells at least 1")
        self._cells, self.n_cells = cells, n_cells

    def _column(self, counts: Weightings, j: int) -> Array:
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

    def selected(self, counts: Weightings, columns: Indices) -> Floats:
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


def exact_product(counts: Counts, values: Floats) -> Floats:
    """``counts`` (L, n) times ``values`` (n,) or (n, C), for values whose partial sums are all exact in float64.

    Piece by piece of the rows, because counts as float64 take eight times the memory.
    """
    product: Floats = counts[:, :PIECE].astype(np.float64) @ values[:PIECE]
    for first in range(PIECE, len(values), PIECE):
        rows = slice(first, first + PIECE)
        product += counts[:, rows].astype(np.float64) @ values[rows]
    return product


def cut_rows(counts: Weightings, rows: Indices) -> Weightings:
    """(L, n): the weights of some rows, weighting by weighting in memory, which an index would not keep."""
    return np.take(counts, rows, axis=1)


def total_weight(counts: Weightings) -> Floats:
    """(L,): the weight of all rows."""
    if counts.dtype == np.uint8:
        return counts.sum(axis=1, dtype=np.int64).astype(np.float64)
    # One row after another, as losses are summed: so that a mean of equal losses is that loss.
    sums: Floats = sum_in_order(counts)
    return sums


def weight_of(counts: Weightings, rows: Booleans) -> Floats:
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

    def __init__(self, scores: Floats, positive: Booleans) -> None:
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
        # Stable, so that equal values keep the order of rows, as in C++.
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


def best_out_of_bag(sums: Any, counts: Counts, *, greatest: bool) -> tuple[Indices, Any]:
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


EVENTS_AT_ONCE = 512


def places_in_time(event: Booleans, time: Floats) -> NDArray[np.uint32]:
    """(n,): places in time; row j lasted longer than the event of row i if j has the greater place.

    Events have odd places and censored rows even ones; all rows that are censored between two events have the same.

    Examples
    --------
    >>> event, time = np.array([True, False, False, True, True]), np.array([2.0, 2.0, 1.0, 2.0, 5.0])
    >>> places_in_time(event, time).tolist()
    [1, 2, 0, 1, 3]
    """
    of_events = np.unique(time[event])
    before = np.searchsorted(of_events, time, side="left")
    until = np.searchsorted(of_events, time, side="right")
    # A censored row comes after the events at its time: it lasted longer than they did.
    return np.where(event, 2 * before + 1, 2 * until).astype(np.uint32)


class ConcordanceSums(Columns):
    """Twice the concordant pairs of every column, and pairs tied in risk once.

    The sum over events i and rows j that lasted longer of w_i w_j (2 [r_i > r_j] + [r_i = r_j]). For a column of
    equal risks it is the weight of all pairs.

    Parameters
    ----------
    risks : ndarray of shape (n, C)
        Greater = an earlier event; no NaN.
    event : ndarray of bool, shape (n,)
        Whether the event happened at ``time``; if not, the row was censored then.
    time : ndarray of float64, shape (n,)
        Finite.
    factors : ndarray of float64, shape (n,), optional
        The weight of a pair is multiplied by the factor of its event; the sums are doubles then.
    folds : ndarray of int, shape (n,), optional
        A code of at least 0; only rows of one fold are pairs. All rows are by default.
    """

    def __init__(
        self,
        risks: Floats,
        event: Booleans,
        time: Floats,
        factors: Floats | None = None,
        folds: NDArray[np.integer] | None = None,
    ) -> None:
        super().__init__(risks.shape)
        refuse_nan(risks)
        refuse_other_lengths(len(risks), event, time, factors)
        self._risks, self._events = risks, np.flatnonzero(event)
        self._places = places_in_time(event, time)
        self._factors = factors
        self._folds = np.zeros(self.n_rows, dtype=np.intp) if folds is None else fold_codes(folds, self.n_rows)

    def _column(self, counts: Weightings, j: int) -> Array:
        exact = counts.dtype == np.uint8 and self._factors is None
        sums = np.zeros(len(counts), dtype=np.int64 if exact else np.float64)
        weights = counts.astype(np.float64)
        risks = self._risks[:, j]
        # Some events at a time: a table of all pairs would be n² numbers.
        for first in range(0, len(self._events), EVENTS_AT_ONCE):
            events = self._events[first : first + EVENTS_AT_ONCE]
            paired = (self._places[events, None] < self._places) & (self._folds[events, None] == self._folds)
            risk = risks[events, None]
            won = paired * (2.0 * (risk > risks) + (risk == risks))
            of_event = weights[:, events] if self._factors is None else weights[:, events] * self._factors[events]
            if exact:  # whole numbers below 2**53 are summed exactly in any order
                sums += (of_event * (weights @ won.T)).sum(axis=1).astype(np.int64)
            else:  # lane by lane and without BLAS, so that no lane depends on the others
                sums += [(w * (won * lane).sum(axis=1)).sum() for w, lane in zip(of_event, weights, strict=True)]
        return sums


def refuse_other_lengths(n_rows: int, *arrays: Array | None) -> None:
    for array in arrays:
        if array is not None and array.shape != (n_rows,):
            raise ValueError(f"arrays must have shape ({n_rows},), one value per row, got {array.shape}")


class _Places(NamedTuple):
    """The ranks of rows under L weightings.

    ``place`` (L, n) is the weight of the rows below a row plus the weight of the rows up to it, ties included:
    twice the midrank of its copies, minus one. ``total`` (L,) is the mean of the places, and ``spread`` (L,) their
    weighted sum of squares about it.
    """

    place: Floats
    spread: Floats
    total: Floats


class RankCorrelations(Columns):
    """Spearman's correlation of every column with a target: Pearson's weighted correlation of the midranks.

    With counts it is the correlation on the repeated rows, whose copies are tied. All sums are sums of whole
    numbers, and exact up to about 200 000 rows. NaN if the column or the target is constant on the rows with
    weight.

    Parameters
    ----------
    values : ndarray of shape (n, C)
    target : ndarray of shape (n,)
    """

    def __init__(self, values: Floats, target: Floats) -> None:
        super().__init__(values.shape)
        refuse_nan(values)
        check_target(target, len(values))
        self._values, self._target = values, target

    def _column(self, counts: Weightings, j: int) -> Floats:
        weights = counts.astype(np.float64)
        places, target = _places(weights, self._values[:, j]), _places(weights, self._target)
        # One of two centred factors is enough for a covariance, and saves the rounding of the other.
        carried = weights * (target.place - target.total[:, None])  # sums to 0
        order = np.argsort(self._values[:, j], kind="stable")
        together = sum_in_order((places.place * carried)[:, order])
        with np.errstate(invalid="ignore", divide="ignore"):
            correlation = np.clip(together / np.sqrt(places.spread * target.spread), -1.0, 1.0)
        return np.where((places.spread > 0) & (target.spread > 0), correlation, np.nan)


def check_target(target: Floats, n_rows: int) -> None:
    refuse_nan(target)
    if target.shape != (n_rows,):
        raise ValueError(f"the target must have shape ({n_rows},), one value per row, got {target.shape}")


def _places(weights: Floats, values: Floats) -> _Places:
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    # Rows that tie share a place, so sums are taken at the last of each tie.
    last_of_tie = np.append(ranked[1:] != ranked[:-1], True)
    down_to = np.cumsum(weights[:, order], axis=1)[:, last_of_tie]
    below = np.concatenate([np.zeros((len(weights), 1)), down_to[:, :-1]], axis=1)
    total, tied = down_to[:, -1], down_to - below
    spread = (total * total * total - sum_in_order(tied * tied * tied)) / 3.0
    group = np.empty(len(order), dtype=np.intp)
    group[order] = np.cumsum(np.append(False, last_of_tie[:-1]))
    return _Places((below + down_to)[:, group], spread, total)


def inner_products(left: Floats, right: Floats) -> Floats:
    """The inner product of each row of the first with each of the second, (n, m)."""
    refuse_other_columns(left, right)
    return np.array([[ddot(x, y) for y in right] for x in left], dtype=np.float64).reshape(len(left), len(right))


def squared_distances(left: Floats, right: Floats) -> Floats:
    """The inner product of the difference of two rows with itself, (n, m)."""
    refuse_other_columns(left, right)
    products = [[ddot(difference, difference) for difference in x - right] for x in left]
    return np.array(products, dtype=np.float64).reshape(len(left), len(right))


def exponentials(values: Floats, factor: float, symmetric: bool = False) -> Floats:
    """exp(factor · value), of a matrix; ``symmetric`` promises that it is."""
    return _each(_exponential, factor * values)


def hyperbolic_tangents(values: Floats, factor: float, offset: float) -> Floats:
    """tanh(factor · value + offset), of a matrix."""
    return _each(math.tanh, factor * values + offset)


def refuse_other_columns(left: Floats, right: Floats) -> None:
    if left.ndim != 2 or left.shape[1:] != right.shape[1:] or not left.shape[1]:
        raise ValueError(
            f"rows must have the same columns, at least one, got shapes {left.shape} and {right.shape}"
        )


def _exponential(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _each(function: Callable[[float], float], values: Floats) -> Floats:
    return np.array([function(value) for value in values.ravel().tolist()]).reshape(values.shape)
