"""The bar of a search, drawn by rich on a terminal and in a notebook."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, TextIO

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TextColumn
from rich.text import Text

from heldout._text import printable
from heldout.execution.events import Event, RunClosed, SearchStarted
from heldout.execution.listeners.lines import ProgressLines
from heldout.execution.listeners.tally import RunTally
from heldout.execution.listeners.words import best_words, fits_words, remaining_words

DRAWN_PER_SECOND = 2


def bar_on(stream: TextIO) -> BarOfFits | None:
    """A bar on a terminal, or in the notebook that the program runs in; None elsewhere."""
    console = Console(file=_Unfailing(stream))  # type: ignore[arg-type]
    # Not what the console takes for a terminal: FORCE_COLOR must not send a bar into a log.
    is_terminal = stream.isatty() and not console.is_dumb_terminal
    return BarOfFits(console) if console.is_jupyter or is_terminal else None


class BarOfFits(ProgressLines):
    """Fits, the time left, remaining configurations and the best so far.

    Lines, and text that is printed meanwhile, appear above the bar.

    - ``console``: of a terminal or a notebook.
    - ``clock``: seconds, from any origin.
    """

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock=clock)
        self._console = console
        self._bar: Progress | None = None
        self._handle: Any = None
        """Of the bar in a notebook."""
        self._drawn_at = 0.0

    def __call__(self, event: Event) -> None:
        super().__call__(event)
        # A run of unknown length has no bar: it stays open as long as its user likes.
        if isinstance(event, SearchStarted) and event.n_cells:
            self._start()
        elif isinstance(event, RunClosed):
            self._stop()
        elif self._handle is not None and self._clock() - self._drawn_at >= 1 / DRAWN_PER_SECOND:
            self.draw()

    def draw(self) -> None:
        """Redraw the bar."""
        self._drawn_at = self._clock()
        if self._handle is not None:
            self._handle.update(self._bar)
        elif self._bar is not None:
            self._bar.refresh()

    def _start(self) -> None:
        self._bar = _Bar(self._tally, self._lines, self._console)
        if self._console.is_jupyter:  # there rich would need ipywidgets to redraw
            from IPython.display import display

            self._handle = display(self._bar, display_id=True)
        else:
            self._bar.start()

    def _stop(self) -> None:
        if self._handle is not None:
            self.draw()
        elif self._bar is not None:
            try:
                self._bar.stop()
            except BaseException:  # a second Ctrl-C while the first is handled
                self._console.show_cursor(True)
                raise
        self._bar = self._handle = None

    def _is_due(self) -> bool:
        return self._bar is None and super()._is_due()

    def _say(self, line: str) -> None:
        self._console.print(line, highlight=False, markup=False)

    def _lines(self) -> Iterator[str]:
        """What the bar says below its first line."""
        tally = self._tally
        remaining = remaining_words(tally) if tally.plan.may_drop and tally.n_races == 1 else ""
        yield ", ".join(filter(None, (self._left(), remaining)))
        title = tally.plan.title or tally.plan.refit_metric
        if best := best_words(tally.best, title, is_resumed=tally.resumed > 0):
            yield f"best so far: {best}"


class _Bar(Progress):
    """A line with the bar and the fits done, and the lines of its listener below."""

    def __init__(self, tally: RunTally, lines: Callable[[], Iterable[str]], console: Console) -> None:
        self._tally, self._lines = tally, lines
        super().__init__(
            BarColumn(bar_width=None),
            TextColumn("{task.description}", markup=False),
            console=console,
            refresh_per_second=DRAWN_PER_SECOND,
            # Output to a file or a pipe must not be redirected to the terminal.
            redirect_stdout=sys.stdout.isatty(),
            redirect_stderr=sys.stderr.isatty(),
        )
        self.add_task("")

    def get_renderables(self) -> Iterator[RenderableType]:
        tally = self._tally
        for task in self.task_ids:
            done = tally.total - tally.left
            self.update(task, total=tally.total, completed=done, description=fits_words(tally))
        yield self.make_tasks_table(self.tasks)
        for line in filter(None, self._lines()):
            yield Text(printable(line))


class _Unfailing:
    """A terminal that may disappear: the search must go on without the bar."""

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
