"""Stop a fit that takes too long: first by an exception, then by ending its process.

At the deadline an exception is raised in the fitting thread. It arrives when the thread next runs Python. Code that
does not return from C never sees it, and may hold the interpreter's lock, so that nothing else in the process runs.
Therefore a watchdog outside Python ends the process a little later.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from heldout.errors import Ending

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
    timer = threading.Timer(seconds, alarm.ring)
    timer.daemon = True
    end = None
    try:
        if ends_process:
            end = WATCHDOG.expect(time.monotonic() + seconds + GRACE_SECONDS)
        timer.start()  # last, because the exception may arrive from here on
        yield
    finally:
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
        wait = max(min(self._ends.values()) - time.monotonic(), 0.001)
        faulthandler.dump_traceback_later(wait, exit=True, file=self._nowhere)


WATCHDOG = _Watchdog()
