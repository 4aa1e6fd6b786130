"""What runs in a worker: one cell, the mark that says which cell it is, and the watch on the parent process.

Every process keeps a few bytes in a file that it has mapped into memory: which cell it is doing, and since when.
The system writes these bytes to the file even if the process is killed. So the coordinator can separate the
cells that were running when workers died from those that only waited in the same batch.

Workers end when the process that they work for is killed. A worker of joblib waits up to five minutes for more work
and does not notice that its parent is gone, because workers hold both ends of the pipes between them. The system
gives an orphan another parent; a thread watches for that. (The signal that Linux sends on a parent's death is no
use: it also comes when only the thread that started the worker ends.)
"""

from __future__ import annotations

import functools
import mmap
import os
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from heldout.errors import Ending
from heldout.execution.cells import CellKey, CellResult, CellState
from heldout.execution.executors.base import Work
from heldout.execution.executors.deadline import TimeIsUp, deadline, raise_in
from heldout.execution.executors.payload import UNPACKED, ArrayPayload, Payload, survives_sending
from heldout.execution.fit import error_line

THIS_PROCESS = uuid4().hex

_running: dict[int, str] = {}
"""The round whose cells a thread does."""
_abandoned: set[str] = set()
"""Rounds that were stopped: a task of theirs may still reach its thread afterwards."""


@dataclass(frozen=True)
class Terms:
    """The conditions under which another process does cells."""

    fit_timeout: float | None = None
    """Seconds that a cell may take."""
    marks: str | None = None
    """The folder in which processes leave their marks."""
    coordinator: str = THIS_PROCESS
    """The process that must not be ended."""
    parent: int | None = None
    """The number of the process with which its workers end."""


def do_cell(work: Work, cell: CellKey) -> CellResult:
    """Fit and score one cell."""
    split = work.split_of[cell.place]
    return work.do(work.context, work.configurations[cell.configuration], split)


def do_sent_cell(payload: Payload, cell: CellKey, terms: Terms) -> CellResult:
    """Fit and score one cell within its time, in a process that received the work."""
    if terms.parent is not None:
        end_with(terms.parent)
    work = UNPACKED.get(payload)  # before the mark: if this kills the process, no cell is to blame
    with nullcontext() if terms.marks is None else mark_of(terms.marks, cell):
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
            # A pool takes an error that it cannot send for the death of a worker, or waits for it for ever.
            line = f"{work.configurations[cell.configuration].name}: {error_line(error)}"
        # Raised out here it has no context, which Dask would pickle too.
        raise RuntimeError(line)


def do_sent_cells(
    token: str, packed: NDArray[np.uint8], cells: Sequence[CellKey], terms: Terms, round_: str
) -> list[CellResult]:
    """Fit and score some cells one after another in a thread of a cluster; none of an abandoned round."""
    thread = threading.get_ident()
    _running[thread] = round_
    try:
        if round_ in _abandoned:
            return []
        return [do_sent_cell(ArrayPayload(token, packed), CellKey(*cell), terms) for cell in cells]
    finally:
        del _running[thread]


async def abandon_round(round_: str) -> None:
    """Stop the threads of this process that do cells of this round, when they next run Python; start no more.

    A coroutine, because Dask needs one for a call without a result.
    """
    _abandoned.add(round_)  # first: a thread names its round, and then looks here
    for thread, theirs in list(_running.items()):
        if theirs == round_:
            raise_in(thread, FitAbandoned)


class FitAbandoned(Ending):
    """The coordinator no longer waits for the cell."""


def timeout_result(work: Work, cell: CellKey, fit_timeout: float, seconds: float) -> CellResult:
    """The result of a cell that took too long.

    Raises TimeoutError with ``error_score="raise"``.
    """
    message = f"it was stopped after fit_timeout={fit_timeout:g} s"
    if work.context.error_score == "raise":
        raise TimeoutError(f"{work.configurations[cell.configuration].name}: {message}")
    return CellResult(cell, CellState.FAILED, message, seconds)


_MARK = struct.Struct("=?qqqd")


@contextmanager
def mark_of(folder: str, cell: CellKey) -> Iterator[None]:
    """A mark in the folder while a cell runs."""
    mark = _mark(folder, os.getpid())
    # The first byte, "it runs", is written last: a mark that counts is complete.
    _MARK.pack_into(mark, 0, False, *cell, time.monotonic())
    mark[0] = 1
    try:
        yield
    finally:
        mark[0] = 0


def take_marks(folder: Path) -> dict[CellKey, float]:
    """Cells that were running when their processes ended, and the seconds since they began; erases the marks.

    Call it when no worker is alive.
    """
    now, found = time.monotonic(), {}
    for path in folder.glob("*.mark"):
        is_running, configuration, repeat, fold, began = _MARK.unpack(path.read_bytes())
        path.unlink()
        if is_running:
            found[CellKey(configuration, repeat, fold)] = now - began
    return found


@functools.lru_cache(maxsize=1)
def _mark(folder: str, process: int) -> mmap.mmap:
    with (Path(folder) / f"{process}.mark").open("w+b") as file:
        file.write(bytes(_MARK.size))
        file.flush()
        return mmap.mmap(file.fileno(), _MARK.size)


SECONDS_BETWEEN_LOOKS = 1.0


def end_with(parent: int) -> None:
    """From now on, end this process soon after its parent; do nothing if the number is not that of its parent.

    ``parent``: the number of the process that sent the work. On Windows the death of a parent cannot be seen.
    """
    if os.name == "posix" and parent == os.getppid():
        _watch(os.getpid(), parent)


@lru_cache(maxsize=1)
def _watch(process: int, parent: int) -> threading.Thread:
    """One thread a process; a forked process does not inherit it."""
    watch = threading.Thread(target=_end_as_orphan, args=(parent,), name="heldout-orphan", daemon=True)
    watch.start()
    return watch


def _end_as_orphan(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    os._exit(1)
