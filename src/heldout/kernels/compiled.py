"""The compiled kernels: ``CompiledRankSums`` is ``RankSums`` in C++, with the same interface and documentation.

Arguments are checked and results allocated here; the functions of ``_core`` check nothing and run without the GIL.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cython_blas

from heldout._types import Array, Booleans, Codes, Counts, Floats, Indices, Weightings
from heldout.kernels import _core, reference, reference_curves
from heldout.kernels.reference import accumulator, check_columns, check_weightings, refuse_overlap

MOST_STEPS = 1 << 24
"""Steps of rank programs (32 bytes each) that one kernel keeps; further programs are compiled each time."""


def draw_units(seed: int, bootstraps: NDArray[np.uint64], attempt: int, n_units: int) -> Counts:
    counts = np.empty((len(bootstraps), n_units), dtype=np.uint8)
    _core.draw_units(seed, _whole(bootstraps, np.uint64), attempt, counts)
    return counts


def cut_rows(counts: Weightings, rows: Indices) -> Weightings:
    if counts.dtype != np.uint8:
        return reference.cut_rows(counts, rows)
    n_rows, rows = counts.shape[1], _whole(rows, np.int64)
    if rows.size and not 0 <= rows.min() <= rows.max() < n_rows:
        raise IndexError(f"rows must be from 0 to {n_rows - 1}")
    cut = np.empty((len(counts), rows.size), dtype=np.uint8)
    _core.cut_rows(_whole(counts), rows, cut)
    return cut


def total_weight(counts: Weightings) -> Floats:
    return reference.total_weight(counts) if counts.dtype != np.uint8 else _totals(counts, None)


def weight_of(counts: Weightings, rows: Booleans) -> Floats:
    if counts.dtype != np.uint8:
        return reference.weight_of(counts, rows)
    return _totals(counts, _flags(rows, counts.shape[1]))


def _totals(counts: Counts, flags: Booleans | None) -> Floats:
    totals = np.empty(len(counts))
    _core.total_counts(_whole(counts), flags, totals)
    return totals


class Compiled:
    """``all`` and ``selected`` of a kernel whose C++ twin is ``_core``, which gives a number for each column."""

    n_rows: int
    n_columns: int
    _core: Any
    _parts: tuple[int, ...] = ()  # the shape of what a column has, if it is more than a number

    def all(self, counts: Weightings) -> Array:
        counts = _checked(counts, self.n_rows)
        out = np.empty((len(counts), self.n_columns, *self._parts), dtype=self._type_of(counts))
        self._core.all(counts, out)
        return out

    def selected(self, counts: Weightings, columns: Indices) -> Array:
        counts, columns = _checked(counts, self.n_rows), _checked_columns(columns, len(counts), self.n_columns)
        out = np.empty((len(counts), *self._parts), dtype=self._type_of(counts))
        self._core.selected(counts, columns, out)
        return out

    def _type_of(self, counts: Weightings) -> Any:
        return np.float64


class CompiledRankSums(Compiled, reference.RankSums):
    def __init__(
        self, scores: Floats, positive: Booleans, negative: Booleans, folds: NDArray[np.integer] | None = None
    ) -> None:
        self.n_rows, self.n_columns = scores.shape
        positive, negative = _flags(positive, self.n_rows), _flags(negative, self.n_rows)
        refuse_overlap(positive, negative)
        codes = _codes(folds, self.n_rows)
        self._core = _core.RankSums(_aligned(scores), positive, negative, codes, MOST_STEPS)

    def _type_of(self, counts: Weightings) -> Any:
        return accumulator(counts)


class CompiledConcordanceSums(Compiled, reference.ConcordanceSums):
    def __init__(
        self,
        risks: Floats,
        event: Booleans,
        time: Floats,
        factors: Floats | None = None,
        folds: NDArray[np.integer] | None = None,
    ) -> None:
        self.n_rows, self.n_columns = risks.shape
        reference.refuse_other_lengths(self.n_rows, event, time, factors)
        self._factors = None if factors is None else _whole(factors, np.float64)
        places = reference.places_in_time(event, time)
        codes = _codes(folds, self.n_rows)
        self._core = _core.ConcordanceSums(_aligned(risks), places, self._factors, codes, MOST_STEPS)

    def all(self, counts: Weightings) -> Array:
        return super().all(self._weights(counts))

    def selected(self, counts: Weightings, columns: Indices) -> Array:
        return super().selected(self._weights(counts), columns)

    def _type_of(self, counts: Weightings) -> Any:
        return accumulator(counts)

    def _weights(self, counts: Weightings) -> Weightings:
        check_weightings(counts, self.n_rows)
        return counts if self._factors is None else counts.astype(np.float64, copy=False)


class CompiledCellSums(reference.CellSums):
    def __init__(self, cells: Codes, n_cells: int) -> None:
        self.n_rows, self.n_columns = cells.shape
        self.n_cells = n_cells
        self._cells = _whole(cells, np.int32)
        self._core = _core.CellSums(self._cells, n_cells)

    def all(self, counts: Weightings) -> Array:
        counts = _checked(counts, self.n_rows)
        sums = np.empty((len(counts), self.n_columns * self.n_cells), dtype=accumulator(counts))
        if counts.dtype == np.uint8:
            self._core.all(counts, sums)
        else:
            _core.weighted_cell_sums(self._cells, self.n_cells, counts, sums)
        return sums.reshape(len(counts), self.n_columns, self.n_cells)

    def selected(self, counts: Weightings, columns: Indices) -> Array:
        if counts.dtype != np.uint8:
            return super().selected(counts, columns)
        counts, columns = _checked(counts, self.n_rows), _checked_columns(columns, len(counts), self.n_columns)
        sums = np.empty((len(counts), self.n_cells), dtype=np.int64)
        self._core.selected(counts, columns, sums)
        return sums


class CompiledLossSums(reference.LossSums):
    """All sums of counts are the exact matrix product of the reference; only real weights need an order."""

    def all(self, counts: Weightings) -> Floats:
        if counts.dtype == np.uint8:
            return super().all(counts)
        counts = _checked(counts, self.n_rows)
        sums = np.empty((len(counts), self.n_columns))
        _core.weighted_loss_sums(_whole(self._losses), counts, sums)
        return sums

    def selected(self, counts: Weightings, columns: Indices) -> Floats:
        if counts.dtype != np.uint8:
            return super().selected(counts, columns)
        counts, columns = _checked(counts, self.n_rows), _checked_columns(columns, len(counts), self.n_columns)
        sums = np.empty(len(counts))
        _core.chosen_loss_sums(_aligned(self._losses), counts, columns, sums)
        return sums


class CompiledPrecisionSums(Compiled, reference.PrecisionSums):
    def __init__(self, scores: Floats, positive: Booleans) -> None:
        self.n_rows, self.n_columns = scores.shape
        self._core = _core.PrecisionSums(_aligned(scores), _flags(positive, self.n_rows))


class CompiledSensitivityWithin(Compiled, reference_curves.SensitivityWithin):
    def __init__(self, scores: Floats, positive: Booleans, share: float) -> None:
        self.n_rows, self.n_columns = scores.shape
        self._core = _core.CurveStart(*_curve(scores, positive, share), False)


class CompiledAreaWithin(Compiled, reference_curves.AreaWithin):
    def __init__(self, scores: Floats, positive: Booleans, share: float) -> None:
        self.n_rows, self.n_columns = scores.shape
        self._core = _core.CurveStart(*_curve(scores, positive, share), True)


def _curve(scores: Floats, positive: Booleans, share: float) -> tuple[Floats, Booleans, float]:
    reference_curves.check_share(share)
    return _aligned(scores), _flags(positive, len(scores)), float(share)


class CompiledRankCorrelations(Compiled, reference.RankCorrelations):
    def __init__(self, values: Floats, target: Floats) -> None:
        self.n_rows, self.n_columns = values.shape
        reference.check_target(target, self.n_rows)
        self._core = _core.RankCorrelations(_aligned(values), _whole(target, np.float64))


class CompiledBinnedGaps(Compiled, reference_curves.BinnedGaps):
    def __init__(self, values: Floats, bins: Codes, n_bins: int, most: int) -> None:
        super().__init__(values, bins, n_bins, most)
        self._core = _core.BinnedGaps(_whole(self._values), _whole(bins, np.int32), n_bins)
        del self._values, self._bins


class CompiledLogisticFits(Compiled, reference_curves.LogisticFits):
    _parts = (2,)

    def __init__(self, values: Floats, positive: Booleans, given_slope: bool) -> None:
        self.n_rows, self.n_columns = values.shape
        reference_curves.check_log_odds(values)
        self._core = _core.LogisticFits(_aligned(values), _flags(positive, self.n_rows), given_slope)


class CompiledMedians(Compiled, reference.Medians):
    def __init__(self, values: Floats) -> None:
        self.n_rows, self.n_columns = values.shape
        self._core = _core.Medians(_aligned(values))


def best_out_of_bag(sums: Any, counts: Counts, *, greatest: bool) -> tuple[Indices, Any]:
    has_factors = isinstance(sums, CompiledConcordanceSums) and sums._factors is not None
    of_integers = isinstance(sums, CompiledRankSums | CompiledCellSums | CompiledConcordanceSums)
    if not of_integers or has_factors or counts.dtype != np.uint8:
        return reference.best_out_of_bag(sums, counts, greatest=greatest)
    counts = _checked(counts, sums.n_rows)
    columns = np.empty(len(counts), dtype=np.int64)
    shape = (len(counts), sums.n_cells) if isinstance(sums, CompiledCellSums) else (len(counts),)
    left_out_sums = np.empty(shape, dtype=np.int64)
    sums._core.best_out_of_bag(counts, greatest, columns, left_out_sums)
    return columns.astype(np.intp, copy=False), left_out_sums


def inner_products(left: Floats, right: Floats) -> Floats:
    return _of_pairs(_core.inner_products, left, right)


def squared_distances(left: Floats, right: Floats) -> Floats:
    return _of_pairs(_core.squared_distances, left, right)


def exponentials(values: Floats, factor: float, symmetric: bool = False) -> Floats:
    n_rows, n_columns = values.shape
    out = np.empty((n_rows, n_columns))
    _core.exponentials(_whole(values, np.float64), factor, symmetric and n_rows == n_columns, out)
    return out


def hyperbolic_tangents(values: Floats, factor: float, offset: float) -> Floats:
    out = np.empty(values.shape)
    _core.hyperbolic_tangents(_whole(values, np.float64), factor, offset, out)
    return out


def _of_pairs(kernel: Callable[..., None], left: Floats, right: Floats) -> Floats:
    reference.refuse_other_columns(left, right)
    out = np.empty((len(left), len(right)))
    whole = _whole(left, np.float64)
    kernel(cython_blas.__pyx_capi__["ddot"], whole, whole if right is left else _whole(right, np.float64), out)
    return out


def _whole(values: Array, dtype: Any = None) -> Array:
    """In C order, aligned and in native byte order, as C++ needs it; not copied if it already is."""
    return np.require(values, values.dtype.newbyteorder("=") if dtype is None else dtype, ("C", "A", "E"))


def _aligned(values: Array) -> Floats:
    """Floats of any strides, aligned as C++ needs them."""
    return np.require(values, np.float64, ("A", "E"))


def _checked(counts: Weightings, n_rows: int) -> Weightings:
    check_weightings(counts, n_rows)
    return _whole(counts)


def _checked_columns(columns: Indices, lanes: int, n_columns: int) -> NDArray[np.int64]:
    check_columns(columns, lanes, n_columns)
    return _whole(columns, np.int64)


def _flags(flags: Booleans, n_rows: int) -> Booleans:
    if flags.shape != (n_rows,):
        raise ValueError(f"flags must have shape ({n_rows},), one per row, got {flags.shape}")
    return _whole(flags, np.bool_)


def _codes(folds: NDArray[np.integer] | None, n_rows: int) -> NDArray[np.uint32] | None:
    return None if folds is None else _whole(reference.fold_codes(folds, n_rows), np.uint32)
