"""The progress of a search as lines: for a log, or one for every fit."""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

from heldout._text import printable, wrapped
from heldout.execution.cells import CellResult
from heldout.execution.events import CellFinished, Event, SearchStarted
from heldout.execution.listeners.tally import RunTally
from heldout.execution.listeners.words import cell_line, event_line, fits_words, left_words


class ProgressLines:
    """A line for each tenth of the fits or each half minute, at most one in two seconds.

    Also a line for each barrier at which configurations were dropped, and for each loss of workers.

    - ``stream``: standard output by default.
    - ``clock``: seconds, from any origin.
    - ``every_fit``: whether there is a line for every fit in place of the tenths.
    """

    least_seconds = 2.0
    most_seconds = 30.0

    def __init__(
        self, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic, *, every_fit: bool = False
    ) -> None:
        self._stream = stream or sys.stdout
        self._clock = clock
        self._every_fit = every_fit
        self._tally = RunTally()
        self._started = 0.0
        self._last_line_at = 0.0
        self._last_line_done = 0

    def __call__(self, event: Event) -> None:
        line = event_line(event, self._tally)
        self._tally.add(event)
        match event:
            case SearchStarted():
                self._started = self._clock()
                self._last_line_done = event.n_resumed
            case CellFinished(result) if self._every_fit:
                line = cell_line(result, self._tally)
            # The time that has passed is that of all results that arrive together.
            case CellFinished(CellResult(n_following=n)) if n:
                return
            case CellFinished():
                line = self._where() if self._is_due() else ""
        if line:
            self._last_line_at = self._clock()
            self._say(printable(line))

    def _is_due(self) -> bool:
        tally, silence = self._tally, self._clock() - self._last_line_at
        if not tally.left:
            return True
        tenth = tally.done - self._last_line_done >= (tally.total - tally.saved) / 10
        return silence >= self.least_seconds and (tenth or silence >= self.most_seconds)

    def _where(self) -> str:
        self._last_line_done = self._tally.done
        left = self._left()
        return fits_words(self._tally) + (f", {left}" if left else "")

    def _left(self) -> str:
        return left_words(self._tally, self._clock() - self._started)

    def _say(self, line: str) -> None:
        with suppress(OSError):  # a full disk or a closed pipe must not stop the search
            print(wrapped(line, self._stream), file=self._stream, flush=True)
