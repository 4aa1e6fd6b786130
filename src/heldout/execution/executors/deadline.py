"""Stopping a fit that takes too long: gently first, and by ending its process where it does not listen.

At the deadline an exception is raised in the fitting thread. It arrives when the thread next runs Python. Code that
does not come back from C never sees it, and may hold the interpreter's lock so that nothing else in the process can
run: so a watchdog without Python ends the process a little later.
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
    """Raised in a thread whose time is up."""


@contextmanager
def deadline(seconds: float | None, *, ends_process: bool) -> Iterator[None]:
    """Raise ``TimeIsUp`` in this thread when the time is up.

    Parameters
    ----------
    seconds : float or None
        None for no deadline.
    ends_process : bool
        Whether to end the process if that has not helped some seconds later.
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
        timer.start()  # last: the exception may arrive from here on
        yield
    finally:
        try:
            alarm.take_back()
        finally:
            timer.cancel()
            if end is not None:
                WATCHDOG.forget(end)


class _Alarm:
    """Raises once in one thread, unless taken back before."""

    def __init__(self, thread: int) -> None:
        self._thread = thread
        self._lock = threading.Lock()
        self._is_over = False

    def ring(self) -> None:
        with self._lock:
            if not self._is_over:
                raise_in(self._thread, TimeIsUp)

    def take_back(self) -> None:
        with self._lock:
            self._is_over = True
            raise_in(self._thread, None)  # what has not arrived yet shall not arrive later, in other code


def raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Raise an exception in a thread when it next runs Python; None takes back one that has not arrived."""
    raised = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), raised)


class _Watchdog:
    """Ends the process at the earliest of several times; a process has one."""

    def __init__(self) -> None:
        self._ends: dict[object, float] = {}
        self._lock = threading.Lock()
        self._nowhere: IO[bytes] | None = None

    def expect(self, end: float) -> object:
        """End the process at this time of the monotonic clock, unless forgotten before."""
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
