"""What is called in a worker, once a cell."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import dataclass

from heldout.cells import CellKey, CellResult, CellState
from heldout.fitting import fit_cell
from heldout.run.engines.deadline import TimeIsUp, deadline
from heldout.run.engines.marks import marked
from heldout.run.engines.payload import UNPACKED, Payload
from heldout.run.executor import Work


@dataclass(frozen=True)
class Terms:
    """On what terms cells are done in another process.

    Attributes
    ----------
    fit_timeout : float or None
        Seconds that a cell may take.
    marks : str or None
        The folder in which processes leave their marks.
    """

    fit_timeout: float | None = None
    marks: str | None = None


def do_cell(work: Work, cell: CellKey, fit_timeout: float | None = None) -> CellResult:
    """Fit and score one cell, in time."""
    began = time.perf_counter()
    try:
        with deadline(fit_timeout, ends_process=True):
            split = work.split_of[cell.repeat, cell.fold]
            return fit_cell(work.context, work.configurations[cell.configuration], split)
    except TimeIsUp:
        return stopped(work, cell, fit_timeout, time.perf_counter() - began)


def do_sent_cell(payload: Payload, cell: CellKey, terms: Terms) -> CellResult:
    """Fit and score one cell in a process that was sent its work."""
    with nullcontext() if terms.marks is None else marked(terms.marks, cell):
        return do_cell(UNPACKED.get(payload), cell, terms.fit_timeout)


def stopped(work: Work, cell: CellKey, fit_timeout: float | None, seconds: float) -> CellResult:
    """The result of a cell that took too long."""
    message = f"it was stopped after fit_timeout={fit_timeout:g} s"
    if work.context.error_score == "raise":
        raise TimeoutError(f"{work.configurations[cell.configuration].name}: {message}")
    return CellResult(cell, CellState.FAILED, message, seconds)
