"""The progress of a search as a small table that is redrawn in place on a terminal.

An event only changes the tally. A separate thread draws the table twice a second, so that the time advances while
fits are slow, and many quick fits cost nothing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self, TextIO

from heldout._text import printable
from heldout.errors import MissingExtraError
from heldout.execution.events import (
    BarrierPassed,
    Event,
    FitsAdded,
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
    best_words,
    computed_line,
    duration,
    fits_words,
    left_words,
    lost_line,
    plan_line,
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
        match event:
            case SearchStarted():
                self._started = self._clock()
                self._say(plan_line(event))
                self._tally.add(event)
                self._live.start()
                return
            case BarrierPassed():
                if line := barrier_line(event, self._tally):
                    self._say(line)
            case WorkersLost():
                self._say(lost_line(event))
            case FitsAdded():
                self._say(added_line(event))
            case StageStarted(stage):
                self._stop()
                self._say(STAGES.get(stage, stage))
            case SearchFinished(seconds, fits):
                self._stop()
                self._say(computed_line(seconds, fits))
        self._tally.add(event)

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
