"""How far a study has come, on stderr: one line that changes on a terminal, some lines in a log."""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO


class StudyProgress:
    """Receives every batch.

    On a terminal it says so at most five times a second; elsewhere after each tenth or half minute, and at most
    every two seconds.

    ``stream``: standard error by default; ``clock``: seconds, from any origin.
    """

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._kept: int | None = None
        self._said_at = clock()
        self._said_done = 0
        self._is_live = self._stream.isatty()

    def __call__(self, done: int, total: int, seconds: float) -> None:
        from heldout.execution.listeners.words import duration

        if self._kept is None:
            self._kept = self._said_done = done - 1
            if self._kept:
                self._say(f"{self._kept:,} of {total:,} batches are done already\n")
        if done < total and not self._is_time(done, total):
            return
        left = seconds / (done - self._kept) * (total - done)
        words = f"{done:,} of {total:,} batches" + (f", {duration(left)} left" if done < total else "")
        self._said_at, self._said_done = self._clock(), done
        self._say(f"\r\033[K{words}{'' if done < total else chr(10)}" if self._is_live else f"{words}\n")

    def _is_time(self, done: int, total: int) -> bool:
        silence = self._clock() - self._said_at
        if self._is_live:
            return silence >= 0.2
        return silence >= 2 and (done - self._said_done >= total / 10 or silence >= 30)

    def _say(self, text: str) -> None:
        with suppress(OSError):  # a full disk or a closed pipe is no reason to stop
            self._stream.write(text)
            self._stream.flush()
