"""The progress of a search: a live table on a terminal, a few lines in a log, and the lines of ``verbose``.

The first two are listeners and context managers, so that a table restores the terminal however the search ends:

    with progress() as listener:
        evaluate(..., listeners=[listener])
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from numbers import Integral
from typing import Any, Protocol, Self, TextIO

from heldout._text import printable
from heldout.errors import InputError, MissingExtraError
from heldout.execution.events import (
    BarrierPassed,
    BlockFinished,
    CellFinished,
    Event,
    FitsAdded,
    Listener,
    SearchFinished,
    SearchStarted,
    StageStarted,
    WorkersLost,
)
from heldout.execution.listeners.tally import RunTally
from heldout.execution.listeners.words import (
    STAGES,
    added_line,
    barrier_line,
    block_line,
    cell_line,
    computed_line,
    fits_words,
    left_words,
    lost_line,
    plan_line,
)


class Progress(Protocol):
    """A listener that is also a context manager."""

    def __call__(self, event: Event) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...


def progress(stream: TextIO | None = None, *, quiet: bool = False, verbose: bool = False) -> Progress:
    """A listener for the stream: a table on a terminal, lines elsewhere or without rich, nothing if quiet.

    If verbose, a line for every fit. The stream is standard error by default.
    """
    stream = stream or sys.stderr
    if quiet:
        return Silent()
    if verbose:
        return VerboseListener(2, stream)
    if stream.isatty() and os.environ.get("TERM", "").lower() not in ("dumb", "unknown"):
        from heldout.execution.listeners.live_table import LiveTable

        with suppress(MissingExtraError):
            return LiveTable(stream)
    return ProgressLines(stream)


class Silent:
    """Prints nothing."""

    def __call__(self, event: Event) -> None:
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return None


class ProgressLines(Silent):
    """A line for each tenth of the fits or each half minute, at most one in two seconds.

    Also a line for each barrier at which configurations were dropped, and for each loss of workers.

    The clock gives seconds from any origin.
    """

    least_seconds = 2.0
    most_seconds = 30.0

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._tally = RunTally()
        self._started = 0.0
        self._last_line_at = 0.0
        self._last_line_done = 0

    def __call__(self, event: Event) -> None:
        match event:
            case CellFinished() | BlockFinished():
                self._tally.add(event)
                # The time that has passed is that of all results that arrive together.
                waits = isinstance(event, CellFinished) and event.result.n_following
                if not waits and self._worth_a_line():
                    self._say(self._where())
                return
            case SearchStarted():
                self._started = self._clock()
                self._last_line_done = event.n_resumed
                self._say(plan_line(event))
            case BarrierPassed():
                if line := barrier_line(event, self._tally):
                    self._say(line)
            case WorkersLost():
                self._say(lost_line(event))
            case FitsAdded():
                self._say(added_line(event))
            case StageStarted(stage):
                self._say(STAGES.get(stage, stage))
            case SearchFinished(seconds, fits):
                self._say(computed_line(seconds, fits))
        self._tally.add(event)

    def _worth_a_line(self) -> bool:
        tally, silence = self._tally, self._clock() - self._last_line_at
        if not tally.left:
            return True
        tenth = tally.done - self._last_line_done >= (tally.total - tally.saved) / 10
        return silence >= self.least_seconds and (tenth or silence >= self.most_seconds)

    def _where(self) -> str:
        self._last_line_done = self._tally.done
        left = left_words(self._tally, self._clock() - self._started)
        return fits_words(self._tally) + (f", {left} left" if left else "")

    def _say(self, line: str) -> None:
        self._last_line_at = self._clock()
        with suppress(OSError):  # a full disk or a closed pipe must not stop the search
            print(printable(line), file=self._stream, flush=True)


def verbose_listeners(verbose: Any) -> list[Listener]:
    """The listener for a value of ``verbose``; none for 0."""
    if not isinstance(verbose, Integral) or verbose < 0:
        raise InputError(f"verbose must be 0, 1 or more, got {verbose!r}.", argument="verbose")
    return [VerboseListener(int(verbose))] if verbose else []


class VerboseListener(ProgressLines):
    """The lines of ``verbose``: of 1 those of a log, of 2 or more a line for every fit in place of the tenths.

    The stream is standard output by default.
    """

    def __init__(
        self, verbose: int, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(stream or sys.stdout, clock)
        self.verbose = verbose

    def __call__(self, event: Event) -> None:
        match event:
            case CellFinished(result) if self.verbose > 1:
                self._tally.add(event)
                self._say(cell_line(result, self._tally))
            case BlockFinished(block) if self.verbose > 1:
                self._tally.add(event)
                self._say(block_line(block, self._tally))
            case _:
                super().__call__(event)
