"""How a search stands, as a small table that is drawn over itself on a terminal.

An event only changes the tally. The table is drawn by a thread of its own, twice a second, so that the time goes on
while fits are slow, and that many quick fits cost nothing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self, TextIO

from heldout._text import printable
from heldout.errors import MissingExtraError
from heldout.execution.events import BarrierPassed, Event, SearchFinished, SearchStarted, StageStarted, WorkersLost
from heldout.execution.listeners.tally import RunTally
from heldout.execution.listeners.words import (
    STAGES,
    alive_words,
    barrier_line,
    best_words,
    computed_line,
    duration,
    fits_words,
    left_words,
    lost_line,
    plan_line,
)

DRAWN_PER_SECOND = 2
ROOM_FOR_A_BAR = 64
"""Columns from which a bar stands before the numbers."""


class LiveTable:
    """Fits, configurations still in the race, the best so far and the time left, drawn by rich.

    What is printed meanwhile, on standard output or standard error, appears above the table.

    Parameters
    ----------
    stream : text file
        A terminal.
    clock : callable
        Seconds, from any origin.
    console : rich.console.Console, optional
        What to draw on, for tests; one of the stream's own by default.
    is_ticking : bool
        Whether a thread draws; otherwise ``draw`` does.

    Raises
    ------
    MissingExtraError
        Without rich.
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
        self._standings = RunTally()
        self._started = 0.0
        self._console: Any = console or Console(file=_Unfailing(stream))  # type: ignore[arg-type]
        self._live: Any = Live(
            console=self._console,
            get_renderable=self._table,
            auto_refresh=is_ticking,
            refresh_per_second=DRAWN_PER_SECOND,
            # What goes to a file or a pipe is no business of the terminal's.
            redirect_stdout=sys.stdout.isatty(),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Without this an interrupt leaves the terminal without its cursor.
        self._stop()

    def __call__(self, event: Event) -> None:
        match event:
            case SearchStarted():
                self._started = self._clock()
                self._say(plan_line(event))
                self._standings.see(event)
                self._live.start()
                return
            case BarrierPassed():
                if line := barrier_line(event, self._standings):
                    self._say(line)
            case WorkersLost():
                self._say(lost_line(event))
            case StageStarted(stage):
                self._stop()
                self._say(STAGES.get(stage, stage))
            case SearchFinished(seconds):
                self._stop()
                self._say(computed_line(seconds))
        self._standings.see(event)

    def draw(self) -> None:
        """Draw the table anew."""
        self._live.refresh()

    def _stop(self) -> None:
        try:
            self._live.stop()
        except BaseException:  # a second Ctrl-C, while the first is being answered
            self._console.show_cursor(True)
            raise

    def _say(self, line: str) -> None:
        self._console.print(printable(line), highlight=False, markup=False, soft_wrap=True)

    def _table(self) -> Any:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        standings, seconds = self._standings, self._clock() - self._started
        table = Table.grid(padding=(0, 2, 0, 0), expand=True)
        table.add_column(no_wrap=True, style="dim", min_width=len("best so far"))
        table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
        fits: Any = Text(fits_words(standings))
        if self._console.width >= ROOM_FOR_A_BAR:
            bar = ProgressBar(max(standings.total, 1), standings.total - standings.left, width=20)
            fits = Table.grid(padding=(0, 2, 0, 0))
            fits.add_row(bar, Text(fits_words(standings)))
        table.add_row("fits", fits)
        if standings.may_drop and standings.n_races == 1:
            table.add_row("alive", Text(alive_words(standings)))
        if best := best_words(standings):
            table.add_row("best so far", Text(printable(best)))
        if standings.n_lost:
            reason = printable(standings.lost_reason)
            table.add_row("lost", Text(f"workers {_times(standings.n_lost)}: {reason}", style="red"))
        left = left_words(standings, seconds)
        label, told = (
            ("time left", left) if standings.left else ("time", f"{duration(seconds)} since the first fit began")
        )
        table.add_row(label, Text(told or "not known before the first fit is done"))
        return table


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n} times"


class _Unfailing:
    """A terminal that may go away: losing the table is no reason to stop fitting."""

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
