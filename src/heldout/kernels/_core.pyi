from typing import Any

import numpy as np
from numpy.typing import NDArray

class _Sums:
    def all(self, counts: NDArray[Any], out: NDArray[Any]) -> None: ...
    def selected(self, counts: NDArray[Any], columns: NDArray[np.int64], out: NDArray[Any]) -> None: ...

class _BestOutOfBag(_Sums):
    def best_out_of_bag(
        self, counts: NDArray[np.uint8], greatest: bool, columns: NDArray[np.int64], out: NDArray[np.int64]
    ) -> None: ...

class RankSums(_BestOutOfBag):
    def __init__(
        self,
        scores: NDArray[np.float64],
        positive: NDArray[np.bool_],
        negative: NDArray[np.bool_],
        folds: NDArray[np.uint32] | None,
        most_steps: int,
    ) -> None: ...

class ConcordanceSums(_BestOutOfBag):
    def __init__(
        self,
        risks: NDArray[np.float64],
        places: NDArray[np.uint32],
        factors: NDArray[np.float64] | None,
        folds: NDArray[np.uint32] | None,
        most_steps: int,
    ) -> None: ...

class CellSums(_BestOutOfBag):
    def __init__(self, cells: NDArray[np.int32], n_cells: int) -> None: ...

class PrecisionSums(_Sums):
    def __init__(self, scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> None: ...

class Medians(_Sums):
    def __init__(self, values: NDArray[np.float64]) -> None: ...

class CurveStart(_Sums):
    def __init__(
        self, scores: NDArray[np.float64], positive: NDArray[np.bool_], share: float, area: bool
    ) -> None: ...

class RankCorrelations(_Sums):
    def __init__(self, values: NDArray[np.float64], target: NDArray[np.float64]) -> None: ...

class BinnedGaps(_Sums):
    def __init__(self, values: NDArray[np.float64], bins: NDArray[np.int32], n_bins: int) -> None: ...

class LogisticFits(_Sums):
    def __init__(self, values: NDArray[np.float64], positive: NDArray[np.bool_], given_slope: bool) -> None: ...

def draw_units(seed: int, bootstraps: NDArray[np.uint64], attempt: int, out: NDArray[np.uint8]) -> None: ...
def cut_rows(counts: NDArray[np.uint8], rows: NDArray[np.int64], out: NDArray[np.uint8]) -> None: ...
def total_counts(counts: NDArray[np.uint8], flags: NDArray[np.bool_] | None, out: NDArray[np.float64]) -> None: ...
def weighted_cell_sums(
    cells: NDArray[np.int32], n_cells: int, weights: NDArray[np.float64], out: NDArray[np.float64]
) -> None: ...
def weighted_loss_sums(
    losses: NDArray[np.float64], weights: NDArray[np.float64], out: NDArray[np.float64]
) -> None: ...
def chosen_loss_sums(
    losses: NDArray[np.float64], counts: NDArray[np.uint8], chosen: NDArray[np.int64], out: NDArray[np.float64]
) -> None: ...
def inner_products(
    dot: object, left: NDArray[np.float64], right: NDArray[np.float64], out: NDArray[np.float64]
) -> None: ...
def squared_distances(
    dot: object, left: NDArray[np.float64], right: NDArray[np.float64], out: NDArray[np.float64]
) -> None: ...
def exponentials(values: NDArray[np.float64], factor: float, symmetric: bool, out: NDArray[np.float64]) -> None: ...
def hyperbolic_tangents(
    values: NDArray[np.float64], factor: float, offset: float, out: NDArray[np.float64]
) -> None: ...
