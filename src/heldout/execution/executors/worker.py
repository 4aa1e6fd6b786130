"""What runs in a worker: one cell, the mark that says which cell it is, and the watch on the parent process.

Every process keeps a few bytes in a file that it has mapped into memory: which cell it is doing, and since when.
The system writes these bytes to the file even if the process is killed. So the coordinator can separate the
cells that were running when workers died from those that only waited in the same batch.

Workers end when the process that they work for is killed. A worker of joblib waits up to five minutes for more work
and does not notice that its parent is gone, because workers hold both ends of the pipes between them. The system
gives an orphan another parent; a thread watches for that from the start of the worker, before any task. (The signal
that Linux sends on a parent's death is no use: it also comes when only the thread that started the worker ends, and
other threads go on with the same pool.)
"""

import ctypes
import faulthandler
import functools
import mmap
import os
import struct
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from heldout._loky import set_first_call
from heldout._types import Counts
from heldout.errors import Ending
from heldout.execution.cells import CellKey, CellResult, CellState
from heldout.execution.executors.payload import UNPACKED, ArrayPayload, Payload, survives_sending
from heldout.execution.fit import Work, error_line
from heldout.execution.split_fits import arriving_together, task_results

GRACE_SECONDS = 2.0
"""From the exception to the end of the process."""


class TimeIsUp(Ending):
    """The time of a thread is up."""


@contextmanager
def deadline(seconds: float | None, *, ends_process: bool) -> Iterator[None]:
    """Raise ``TimeIsUp`` in this thread when the time is up.

    - ``seconds``: None for no deadline.
    - ``ends_process``: whether to end the process if the exception has no effect within some seconds.
    """
    if seconds is None:
        yield
        return
    alarm = _Alarm(threading.get_ident())
    # Daemons do not keep the process alive at its end.
    timer = threading.Timer(seconds, alarm.ring)
    timer.daemon = True
    end = None
    try:
        # Code in C does not see the exception until it returns; then the process ends from a thread in C.
        if ends_process:
            end = WATCHDOG.expect(time.monotonic() + seconds + GRACE_SECONDS)
        timer.start()  # last, because the exception may arrive from here on
        yield
    finally:
        # The exception may still arrive here, so what follows must run whatever happens.
        try:
            alarm.cancel()
        finally:
            timer.cancel()
            if end is not None:
                WATCHDOG.forget(end)


class _Alarm:
    """Raises once in one thread, unless cancelled before."""

    def __init__(self, thread: int) -> None:
        self._thread = thread
        self._lock = threading.Lock()
        self._is_over = False

    def ring(self) -> None:
        with self._lock:
            if not self._is_over:
                raise_in(self._thread, TimeIsUp)

    def cancel(self) -> None:
        with self._lock:
            self._is_over = True
            raise_in(self._thread, None)  # an exception that has not arrived yet must not arrive in later code


def raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Raise an exception in a thread when it next runs Python; None cancels one that has not arrived."""
    raised = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), raised)


class _Watchdog:
    """Ends the process at the earliest of several times; a process has one."""

    def __init__(self) -> None:
        self._ends: dict[object, float] = {}
        self._lock = threading.Lock()
        self._nowhere: IO[bytes] | None = None

    def expect(self, end: float) -> object:
        """End the process at this time of the monotonic clock, unless ``forget`` is called before."""
        key = object()
        with self._lock:
            self._ends[key] = end
            self._set()
        return key

    def forget(self, key: object) -> None:
        with self._lock:
            self._ends.pop(key, None)
            self._set()

    def _set(self) -> None:
        if not self._ends:
            faulthandler.cancel_dump_traceback_later()
            return
        if self._nowhere is None:
            self._nowhere = open(os.devnull, "wb")  # noqa: SIM115, PTH123 - for as long as the process lives
        # 0 would be refused, and the time may be up already.
        wait = max(min(self._ends.values()) - time.monotonic(), 0.001)
        # Its thread is in C and needs no lock of the interpreter, which the code of a fit may hold.
        faulthandler.dump_traceback_later(wait, exit=True, file=self._nowhere)


WATCHDOG = _Watchdog()


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


def do_sent_task(
    payload: Payload, cells: Sequence[CellKey], terms: Terms, addition: Mapping[str, Any]
) -> list[CellResult]:
    """The results of a task, within its time, in a process that received the work."""
    if terms.parent is not None:
        end_with(terms.parent)
    work = UNPACKED.get(payload)  # before the mark: if this kills the process, no cell is to blame
    if addition:
        work = replace(work, **addition)
    watch = nullcontext if terms.marks is None else functools.partial(mark_of, terms.marks)
    began = time.perf_counter()
    try:
        # In the user's own process the exception must do; that process is never ended.
        with deadline(terms.fit_timeout, ends_process=terms.coordinator != THIS_PROCESS):
            return task_results(work, cells, watch)
    except TimeIsUp:
        assert terms.fit_timeout is not None
        return [timeout_result(work, cells[0], terms.fit_timeout, time.perf_counter() - began)]
    except Exception as error:
        if survives_sending(error):
            raise
        # A pool takes an error that it cannot send for the death of a worker, or waits for it for ever.
        name = f"{work.configurations[cells[0].configuration].name}: " if len(cells) == 1 else ""
        line = f"{name}{error_line(error)}"
    # Raised out here it has no context, which Dask would pickle too.
    raise RuntimeError(line)


def do_sent_tasks(
    token: str,
    packed: Counts,
    tasks: Sequence[Sequence[CellKey]],
    terms: Terms,
    round_: str,
    addition: Mapping[str, Any],
) -> list[CellResult]:
    """The results of some tasks, one after another in a thread of a cluster; none of an abandoned round."""
    thread = threading.get_ident()
    _running[thread] = round_
    try:
        if round_ in _abandoned:
            return []
        payload = ArrayPayload(token, packed)
        done = (do_sent_task(payload, [CellKey(*cell) for cell in cells], terms, addition) for cells in tasks)
        return arriving_together([result for results in done for result in results])
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
    if work.error_score == "raise":
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

    Call it when no worker is running.
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


def end_workers_with_this_process(parallel: Any) -> None:
    """Let the processes of joblib's entered pool end with this one, also if it dies before their first task."""
    set_first_call(parallel, _start_with, os.getpid())


def _start_with(parent: int) -> None:
    """What a worker does first."""
    if os.name == "posix" and parent != os.getppid():
        os._exit(1)  # it died while this process started
    end_with(parent)


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
