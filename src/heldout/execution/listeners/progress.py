"""How far a search has come, for people: a live table on a terminal, a few lines in a log.

Each is a listener of ``run.events`` and a context manager, so that a table gives the terminal back however the
search ends:

    with progress() as listener:
        evaluate(..., listeners=[listener])
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Protocol, Self, TextIO

from heldout._text import printable
from heldout.errors import MissingExtraError
from heldout.execution.events import (
    BarrierPassed,
    CellFinished,
    Event,
    SearchFinished,
    SearchStarted,
    StageStarted,
    WorkersLost,
)
from heldout.execution.listeners.tally import RunTally
from heldout.execution.listeners.words import (
    STAGES,
    barrier_line,
    computed_line,
    fits_words,
    left_words,
    lost_line,
    plan_line,
)


class Progress(Protocol):
    """A listener that has something to tidy up."""

    def __call__(self, event: Event) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def progress(stream: TextIO | None = None, *, quiet: bool = False) -> Progress:
    """What suits the stream: a table on a terminal, lines elsewhere or without rich, nothing when quiet.

    Parameters
    ----------
    stream : text file, optional
        Standard error unless told.
    quiet : bool
    """
    stream = stream or sys.stderr
    if quiet:
        return Silent()
    if stream.isatty() and os.environ.get("TERM", "").lower() not in ("dumb", "unknown"):
        from heldout.execution.listeners.live_table import LiveTable

        with suppress(MissingExtraError):
            return LiveTable(stream)
    return ProgressLines(stream)


class Silent:
    """Says nothing."""

    def __call__(self, event: Event) -> None:
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


class ProgressLines(Silent):
    """A line each tenth of the fits or half minute, but never more often than every two seconds.

    Beside these, a line for every barrier at which somebody left, and for every loss of workers.

    Parameters
    ----------
    stream : text file
    clock : callable
        Seconds, from any origin.
    """

    least_seconds = 2.0
    most_seconds = 30.0

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._standings = RunTally()
        self._started = 0.0
        self._said_at = 0.0
        self._said_done = 0

    def __call__(self, event: Event) -> None:
        match event:
            case CellFinished():
                self._standings.see(event)
                if self._worth_a_line():
                    self._say(self._where())
                return
            case SearchStarted():
                self._started = self._clock()
                self._said_done = event.n_resumed
                self._say(plan_line(event))
            case BarrierPassed():
                if line := barrier_line(event, self._standings):
                    self._say(line)
            case WorkersLost():
                self._say(lost_line(event))
            case StageStarted(stage):
                self._say(STAGES.get(stage, stage))
            case SearchFinished(seconds):
                self._say(computed_line(seconds))
        self._standings.see(event)

    def _worth_a_line(self) -> bool:
        standings, silence = self._standings, self._clock() - self._said_at
        if not standings.left:
            return True
        tenth = standings.done - self._said_done >= (standings.total - standings.saved) / 10
        return silence >= self.least_seconds and (tenth or silence >= self.most_seconds)

    def _where(self) -> str:
        self._said_done = self._standings.done
        left = left_words(self._standings, self._clock() - self._started)
        return fits_words(self._standings) + (f", {left} left" if left else "")

    def _say(self, line: str) -> None:
        self._said_at = self._clock()
        with suppress(OSError):  # a full disk or a reader who left is no reason to stop fitting
            print(printable(line), file=self._stream, flush=True)
