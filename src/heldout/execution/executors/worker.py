"""What is called in a worker, once a cell."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from heldout.errors import Ending
from heldout.execution.cells import CellKey, CellResult, CellState
from heldout.execution.executors.base import Work
from heldout.execution.executors.deadline import TimeIsUp, deadline, raise_in
from heldout.execution.executors.marks import marked
from heldout.execution.executors.orphans import end_with
from heldout.execution.executors.payload import UNPACKED, ArrayPayload, Payload, survives_sending
from heldout.execution.fit import error_line

THIS_PROCESS = uuid4().hex

_running: dict[int, str] = {}


@dataclass(frozen=True)
class Terms:
    """On what terms cells are done in another process.

    Attributes
    ----------
    fit_timeout : float or None
        Seconds that a cell may take.
    marks : str or None
        The folder in which processes leave their marks.
    coordinator : str
        The process that must not be ended, whatever is done in it.
    parent : int or None
        The number of the process with which its workers end.
    """

    fit_timeout: float | None = None
    marks: str | None = None
    coordinator: str = THIS_PROCESS
    parent: int | None = None


def do_cell(work: Work, cell: CellKey) -> CellResult:
    """Fit and score one cell."""
    split = work.split_of[cell.place]
    return work.do(work.context, work.configurations[cell.configuration], split)


def do_sent_cell(payload: Payload, cell: CellKey, terms: Terms) -> CellResult:
    """Fit and score one cell, in time, in a process that was sent its work."""
    if terms.parent is not None:
        end_with(terms.parent)
    work = UNPACKED.get(payload)  # before the mark: a process that dies of this, dies of no cell
    with nullcontext() if terms.marks is None else marked(terms.marks, cell):
        began = time.perf_counter()
        try:
            with deadline(terms.fit_timeout, ends_process=terms.coordinator != THIS_PROCESS):
                return do_cell(work, cell)
        except TimeIsUp:
            assert terms.fit_timeout is not None
            return timeout_result(work, cell, terms.fit_timeout, time.perf_counter() - began)
        except Exception as error:
            if survives_sending(error):
                raise
            # Pools take an error that they cannot send for the death of a worker, or wait for it for ever.
            told = f"{work.configurations[cell.configuration].name}: {error_line(error)}"
        # Out here it has no context, which Dask's way of pickling errors would send along.
        raise RuntimeError(told)


def do_sent_cells(
    token: str, packed: NDArray[np.uint8], cells: Sequence[CellKey], terms: Terms
) -> list[CellResult]:
    """Fit and score some cells one after another in a thread of a cluster."""
    thread = threading.get_ident()
    _running[thread] = token
    try:
        return [do_sent_cell(ArrayPayload(token, packed), CellKey(*cell), terms) for cell in cells]
    finally:
        del _running[thread]


async def interrupt_cells(token: str) -> None:
    """Stop, as far as they are in Python, the threads of this process that do cells of this work.

    A coroutine, as Dask wants what nobody waits for.
    """
    for thread, theirs in list(_running.items()):
        if theirs == token:
            raise_in(thread, FitAbandoned)


class FitAbandoned(Ending):
    """Nobody waits any more for what is being done."""


def timeout_result(work: Work, cell: CellKey, fit_timeout: float, seconds: float) -> CellResult:
    """The result of a cell that took too long.

    Raises
    ------
    TimeoutError
        With ``error_score="raise"``.
    """
    message = f"it was stopped after fit_timeout={fit_timeout:g} s"
    if work.context.error_score == "raise":
        raise TimeoutError(f"{work.configurations[cell.configuration].name}: {message}")
    return CellResult(cell, CellState.FAILED, message, seconds)
