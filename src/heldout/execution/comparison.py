"""Compare fits that shared something with separate fits of the same configurations."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from heldout._streams import stream
from heldout._text import argument
from heldout.errors import HeldoutWarning
from heldout.execution.cell_table import CellTable
from heldout.execution.cells import CellResult, CellState
from heldout.execution.collect import RaceResults
from heldout.execution.executors.base import Work

N_COMPARED = 20
AGREEMENT = 1e-12


@dataclass(frozen=True)
class ShareComparison:
    """Fits that were repeated separately, and the largest difference between their predictions.

    Attributes
    ----------
    n_compared : int
    difference : float
        Relative to the largest prediction of the same fit.
    configuration : str
        Where the difference is largest.
    seconds_alone, seconds_shared : float
        Fitting and scoring of these fits, separately and in the search.
    """

    n_compared: int
    difference: float
    configuration: str
    seconds_alone: float = 0.0
    seconds_shared: float = 0.0


def compared_with_separate_fits(work: Work, found: RaceResults, entropy: int) -> ShareComparison:
    """Repeat a sample of the shared fits alone.

    Warns when predictions differ by more than 1e-12 of the largest.
    """
    return compared_cells(work, [with_predictions(work, found, cell) for cell in _sample(found.cells, entropy)])


def compared_cells(work: Work, shared: Iterable[CellResult]) -> ShareComparison:
    """Repeat shared fits, whose results hold their predictions, alone; warns like the comparison of a search."""
    alone = {cell: _alone(work, cell) for cell in shared}
    differences = {cell: difference_of(cell, separate) for cell, separate in alone.items()}
    worst = max(differences, key=lambda cell: differences[cell], default=None)
    name = "" if worst is None else work.configurations[worst.key.configuration].name
    largest = 0.0 if worst is None else differences[worst]
    if largest > AGREEMENT:
        warnings.warn(
            f"a shared fit of {name} gives other predictions than a separate one: they differ by {largest:.1e} of "
            f"the largest; use {argument('share', False)}, and report this.",
            HeldoutWarning,
            stacklevel=2,
        )
    return ShareComparison(len(differences), largest, name, _seconds(alone.values()), _seconds(alone))


def _seconds(cells: Iterable[CellResult]) -> float:
    return math.fsum(cell.fit_seconds + cell.score_seconds for cell in cells)


def _sample(cells: CellTable, entropy: int) -> list[CellResult]:
    shared = np.flatnonzero(cells.columns["shared"].astype(bool) & cells.is_in(CellState.DONE))
    order = np.random.default_rng(stream(entropy, "share comparison")).permutation(len(shared))
    return [cells[number] for number in shared[order[:N_COMPARED]].tolist()]


def _alone(work: Work, cell: CellResult) -> CellResult:
    position, split = cell.key.configuration, work.split_of[cell.key.place]
    fits = work.do(replace(work, sharing=None, share_memory=None), split, (position,))
    (result,) = fits.scored(fits.results((position,)))
    return result


def with_predictions(work: Work, found: RaceResults, cell: CellResult) -> CellResult:
    """The result of a cell with the predictions that the search keeps."""
    split = work.split_of[cell.key.place]
    at = (split.test, cell.key.configuration, found.folds.columns[split.repeat])
    return replace(cell, predictions={name: array[at] for name, array in found.predictions.responses.items()})


def difference_of(cell: CellResult, alone: CellResult) -> float:
    """The largest difference between predictions of two fits, relative to the largest of the second."""
    if alone.state is not cell.state:
        return float("inf")
    differences = [0.0]
    for response, theirs in alone.predictions.items():
        ours = cell.predictions[response]
        largest = np.abs(theirs).max(initial=0.0)
        difference = np.abs(ours.astype(np.float64) - theirs).max(initial=0.0)
        differences.append(float(difference / largest) if largest else float(difference))
    return max(differences)
