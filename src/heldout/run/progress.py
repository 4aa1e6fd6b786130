"""How far a search has come, for people: a bar on a terminal, a few lines in a log.

Each is a listener of ``run.events`` and a context manager, so that a bar gives the terminal back however the
search ends:

    with progress() as listener:
        evaluate(..., listeners=[listener])
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self, TextIO

from heldout.cells import CellResult, CellState
from heldout.columns import counted
from heldout.errors import MissingExtraError
from heldout.run.events import CellFinished, Event, SearchFinished, SearchStarted, StageStarted

STAGES = {
    "estimate": "estimating what the winner is worth",
    "refit": "fitting the winner on all rows",
}


class Progress(Protocol):
    """A listener that has something to tidy up."""

    def __call__(self, event: Event) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def progress(stream: TextIO | None = None, *, quiet: bool = False) -> Progress:
    """What suits the stream: a bar on a terminal, lines elsewhere or without rich, nothing when quiet.

    Parameters
    ----------
    stream : text file, optional
        Standard error unless told.
    quiet : bool
    """
    stream = stream or sys.stderr
    if quiet:
        return Silent()
    if stream.isatty():
        try:
            return ProgressBar(stream)
        except MissingExtraError:
            pass
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


@dataclass
class _Count:
    """Cells so far, and what is left to do.

    Time left is guessed from the cells of this process: those of an earlier one took none of its time.
    """

    total: int = 0
    done: int = 0
    resumed: int = 0
    failed: int = 0
    started: float = 0.0

    @classmethod
    def of(cls, event: SearchStarted, now: float) -> _Count:
        return cls(event.n_cells, event.n_resumed, event.n_resumed, 0, now)

    def add(self, result: CellResult) -> None:
        self.done += 1
        self.failed += result.state is CellState.FAILED

    def seconds_left(self, now: float) -> float | None:
        here = self.done - self.resumed
        return (now - self.started) / here * (self.total - self.done) if here else None

    def __str__(self) -> str:
        share = f"{self.done} of {counted(self.total, 'fit')} ({self.done / max(self.total, 1):.0%})"
        return f"{share}, {self.failed} failed" if self.failed else share


class ProgressLines(Silent):
    """A line each tenth of the fits or half minute, but never more often than every two seconds.

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
        self._count = _Count()
        self._said_at = 0.0
        self._said_done = 0

    def __call__(self, event: Event) -> None:
        match event:
            case SearchStarted():
                self._count = _Count.of(event, self._clock())
                self._said_done = self._count.done
                self._say(plan(event))
            case CellFinished(result):
                self._count.add(result)
                if self._worth_a_line():
                    self._say(self._where())
            case StageStarted(stage):
                self._say(STAGES.get(stage, stage))
            case SearchFinished(seconds):
                self._say(f"finished after {duration(seconds)}")

    def _worth_a_line(self) -> bool:
        count, silence = self._count, self._clock() - self._said_at
        if count.done == count.total:
            return True
        tenth = count.done - self._said_done >= count.total / 10
        return silence >= self.least_seconds and (tenth or silence >= self.most_seconds)

    def _where(self) -> str:
        self._said_done = self._count.done
        left = self._count.seconds_left(self._clock())
        return str(self._count) + (f", about {duration(max(round(left), 1))} left" if left else "")

    def _say(self, line: str) -> None:
        self._said_at = self._clock()
        with suppress(OSError):  # a full disk or a reader who left is no reason to stop fitting
            print(line, file=self._stream, flush=True)


class ProgressBar(Silent):
    """A bar with the time left, drawn by rich.

    Parameters
    ----------
    stream : text file

    Raises
    ------
    MissingExtraError
        Without rich.
    """

    def __init__(self, stream: TextIO) -> None:
        try:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
        except ImportError:
            raise MissingExtraError("the progress bar", "app") from None
        self._bar: Any = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[failures]}", style="red"),
            TimeRemainingColumn(elapsed_when_finished=True),
            TextColumn("{task.fields[time]}"),
            console=Console(file=stream),
        )
        self._count = _Count()
        self._task: Any = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Without this an interrupt leaves the terminal without its cursor.
        self._bar.stop()

    def __call__(self, event: Event) -> None:
        match event:
            case SearchStarted():
                self._count = _Count.of(event, 0.0)
                self._bar.start()
                self._bar.console.print(plan(event), highlight=False)
                self._task = self._bar.add_task(
                    "fitting", total=event.n_cells, completed=event.n_resumed, failures="", time="left"
                )
            case CellFinished(result):
                self._count.add(result)
                failures = f"{self._count.failed} failed" if self._count.failed else ""
                time = "in all" if self._count.done == self._count.total else "left"
                self._bar.update(self._task, completed=self._count.done, failures=failures, time=time)
            case StageStarted(stage):
                self._bar.console.print(STAGES.get(stage, stage), highlight=False)
            case SearchFinished(seconds):
                self._bar.stop()
                self._bar.console.print(f"finished after {duration(seconds)}", highlight=False)


def plan(event: SearchStarted) -> str:
    """What the search is going to do."""
    configurations, fits = counted(event.n_configurations, "configuration"), counted(event.n_cells, "fit")
    words = f"{configurations} x {counted(event.n_splits, 'split')} = {fits}"
    are = "is" if event.n_resumed == 1 else "are"
    return f"{words}, of which {event.n_resumed} {are} done already" if event.n_resumed else words


def duration(seconds: float) -> str:
    """Seconds as people say them, in one or two units.

    >>> duration(0.042), duration(75), duration(7260)
    ('0.042 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 10:
        return f"{seconds:.2g} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
