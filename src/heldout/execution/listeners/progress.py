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
    BlockFinished,
    CellFinished,
    Event,
    Listener,
    SearchFinished,
    SearchStarted,
    StageStarted,
)
from heldout.execution.listeners.tally import RunTally
from heldout.execution.listeners.words import (
    best_words,
    block_line,
    cell_line,
    duration,
    event_line,
    fits_words,
    left_words,
    remaining_words,
)

DRAWN_PER_SECOND = 2
ROOM_FOR_A_BAR = 64
"""The width, in columns, from which a bar is shown before the numbers."""


class LiveTable:
    """Fits, remaining configurations, the best so far and the time left, drawn by rich.

    Text printed meanwhile, on standard output or standard error, appears above the table.

    - ``stream``: a terminal.
    - ``clock``: seconds, from any origin.
    - ``console``: for tests; by default a new one on the stream.
    - ``is_ticking``: whether a thread draws; otherwise call ``draw``.

    Raises MissingExtraError without rich.
    """

    def __init__(
        self,
        stream: TextIO,
        clock: Callable[[], float] = time.monotonic,
        *,
        console: Any = None,
        is_ticking: bool = True,
    ) -> None:
        try:
            from rich.console import Console
            from rich.live import Live
        except ImportError:
            raise MissingExtraError("the live table", "app") from None
        self._clock = clock
        self._tally = RunTally()
        self._started = 0.0
        self._console: Any = console or Console(file=_Unfailing(stream))  # type: ignore[arg-type]
        self._live: Any = Live(
            console=self._console,
            get_renderable=self._table,
            auto_refresh=is_ticking,
            refresh_per_second=DRAWN_PER_SECOND,
            # Output to a file or a pipe must not be redirected to the terminal.
            redirect_stdout=sys.stdout.isatty(),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        # Without this an interrupt would leave the terminal without its cursor.
        self._stop()

    def __call__(self, event: Event) -> None:
        if isinstance(event, SearchStarted):
            self._started = self._clock()
        elif isinstance(event, StageStarted | SearchFinished):
            self._stop()
        if line := event_line(event, self._tally):
            self._say(line)
        self._tally.add(event)
        if isinstance(event, SearchStarted):
            self._live.start()

    def draw(self) -> None:
        """Redraw the table."""
        self._live.refresh()

    def _stop(self) -> None:
        try:
            self._live.stop()
        except BaseException:  # a second Ctrl-C while the first is handled
            self._console.show_cursor(True)
            raise

    def _say(self, line: str) -> None:
        self._console.print(printable(line), highlight=False, markup=False, soft_wrap=True)

    def _table(self) -> Any:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        tally, seconds = self._tally, self._clock() - self._started
        table = Table.grid(padding=(0, 2, 0, 0), expand=True)
        table.add_column(no_wrap=True, style="dim", min_width=len("best so far"))
        table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
        fits: Any = Text(fits_words(tally))
        if self._console.width >= ROOM_FOR_A_BAR:
            bar = ProgressBar(max(tally.total, 1), tally.total - tally.left, width=20)
            fits = Table.grid(padding=(0, 2, 0, 0))
            fits.add_row(bar, Text(fits_words(tally)))
        table.add_row("fits", fits)
        if tally.may_drop and tally.n_races == 1:
            table.add_row("remaining", Text(remaining_words(tally)))
        if best := best_words(tally):
            table.add_row("best so far", Text(printable(best)))
        if tally.n_lost:
            reason = printable(tally.lost_reason)
            times = "once" if tally.n_lost == 1 else f"{tally.n_lost} times"
            table.add_row("lost", Text(f"workers {times}: {reason}", style="red"))
        left = left_words(tally, seconds)
        label, shown = (
            ("time left", left) if tally.left else ("time", f"{duration(seconds)} since the first fit began")
        )
        table.add_row(label, Text(shown or "not known before the first fit is done"))
        return table


class _Unfailing:
    """A terminal that may disappear: the search must go on without the table."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):  # a closed stream raises the second
            return self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


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
        if isinstance(event, CellFinished | BlockFinished):
            self._tally.add(event)
            # The time that has passed is that of all results that arrive together.
            waits = isinstance(event, CellFinished) and event.result.n_following
            if not waits and self._worth_a_line():
                self._say(self._where())
            return
        if isinstance(event, SearchStarted):
            self._started = self._clock()
            self._last_line_done = event.n_resumed
        if line := event_line(event, self._tally):
            self._say(line)
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
