"""Compare fits that shared something with separate fits of the same configurations."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from heldout._random import stream
from heldout._text import argument
from heldout.errors import HeldoutWarning
from heldout.execution.cell_table import CellTable
from heldout.execution.cells import CellResult, CellState
from heldout.execution.collect import RaceResults
from heldout.execution.executors.base import Work
from heldout.execution.split_fits import fit_cell

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
    alone = {cell: _alone(work, cell) for cell in _sample(found.cells, entropy)}
    differences = {cell: _difference(work, found, cell, separate) for cell, separate in alone.items()}
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
    return fit_cell(work.context, work.configurations[cell.key.configuration], work.split_of[cell.key.place])


def _difference(work: Work, found: RaceResults, cell: CellResult, alone: CellResult) -> float:
    split = work.split_of[cell.key.place]
    if alone.state is not cell.state:
        return float("inf")
    differences = [0.0]
    for response, theirs in alone.predictions.items():
        ours = found.predictions.responses[response][
            split.test, cell.key.configuration, found.folds.columns[split.repeat]
        ]
        largest = np.abs(theirs).max(initial=0.0)
        difference = np.abs(ours.astype(np.float64) - theirs).max(initial=0.0)
        differences.append(float(difference / largest) if largest else float(difference))
    return max(differences)
