"""The pages of a run: its progress and the estimate so far while it is unfinished, and then its report.

Everything is read anew from the folder, in the way of ``heldout status`` and ``heldout report``; nothing is written
to it. The page asks again by itself. A long answer is asked for less often, so that the reader takes at most a
fifth of the time of one processor from the run.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from heldout.cli.console import Console
from heldout.cli.report import content_so_far, page_of, read_content
from heldout.cli.server.reply import REPORT_POLICY, Reply, document, page, script
from heldout.cli.server.upload import Upload
from heldout.cli.status import file_rows, run_rows
from heldout.errors import HeldoutError, StoreError
from heldout.execution.store.file_status import FileState, FileStatus, file_status
from heldout.report.live import RunProgress, estimate_html, live_html, live_script, progress_parts

if TYPE_CHECKING:
    from heldout.report import ReportContent

SECONDS_BETWEEN = 2.0
"""At least so long after an answer the page asks again."""
_TIMES_AS_LONG = 4.0
_SECONDS_SETTLED = 60.0
"""After this time a finished run without a report.json, such as one of ``HeldOutSearchCV``, gets none."""
_FIRST = ("run", "fits", "rate")
"""Of the rows of ``heldout status``, those that stand below the bar."""
_OVER = (FileState.FINISHED, FileState.CLOSED)

Found = TypeVar("Found")


@dataclass(frozen=True)
class _Known:
    """The content from a run as it was at one moment, or why there is none, and the seconds that it took."""

    moment: object
    content: ReportContent | None
    why_not: str
    seconds: float


@dataclass(eq=False)
class RunSite:
    """The pages of a folder that a command writes to, or of a run file.

    Raises InputError or StoreError when it is neither, at once.
    """

    path: Path
    most_bytes: int = 0
    _known: _Known | None = None
    _reading: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        if self._status() is None:
            read_content(self._saved)

    @property
    def name(self) -> str:
        """What people call the run."""
        path = self.path.absolute()
        return path.name if path.is_dir() or path.name != "run.db" else path.parent.name

    def get(self, name: str) -> Reply | None:
        """The page of this name; None if there is none."""
        pages: dict[str, Callable[[], Reply]] = {
            "": self._first,
            "still": self._still,
            "report": self._report,
            "progress": self._progress,
            "estimate": self._estimate,
            "live.js": lambda: script(live_script()),
        }
        return pages[name]() if name in pages else None

    def post(self, name: str, upload: Upload) -> Reply | None:
        """No page of a run has a form."""
        return None

    @property
    def _run_file(self) -> Path:
        return self.path / "run.db" if self.path.is_dir() else self.path

    @property
    def _saved(self) -> Path:
        return self._run_file.with_name("report.json")

    def _status(self) -> FileStatus | None:
        """The status of the run file; None for a folder that holds a report and no run."""
        if self.path.is_dir() and not self._run_file.exists() and self._saved.exists():
            return None
        from heldout.cli.files import run_file_in

        return file_status(run_file_in(self.path))

    def _first(self) -> Reply:
        """The report of a run that is over; the live page of another one."""
        return self._live(still=False)

    def _still(self) -> Reply:
        """The live page for a browser without scripts, which loads it again and again."""
        return self._live(still=True)

    def _live(self, *, still: bool) -> Reply:
        status, why_not = _or_sentence(self._status)
        if not why_not and self._is_final(status):
            return self._report()
        progress = _progress_of(status, why_not)
        known = self._at(status) if still and status is not None else self._known
        estimate = {} if known is None else _estimate_part(known)
        return page(live_html(self.name, progress, progress_parts(progress) | estimate, still=still))

    def _progress(self) -> Reply:
        began = time.perf_counter()
        status, why_not = _or_sentence(self._status)
        if not why_not and self._is_final(status):
            return document({"ended": True})
        progress = _progress_of(status, why_not)
        title = f"{100 * progress.done // progress.planned}% {self.name}" if progress.planned else self.name
        return document(
            {"ended": False, "parts": progress_parts(progress), "state": progress.state, "title": title}
            | {"wait": _wait(time.perf_counter() - began)}
        )

    def _estimate(self) -> Reply:
        status, why_not = _or_sentence(self._status)
        if status is None or why_not:
            return document({"ended": False, "parts": {}, "wait": SECONDS_BETWEEN})
        known = self._at(status)
        return document({"ended": False, "parts": _estimate_part(known), "wait": _wait(known.seconds)})

    def _report(self) -> Reply:
        """The report that was saved; before that one from what is complete."""
        from heldout.report import render_html

        status = self._status()
        if self._is_saved(status):
            return page(page_of(self._saved, read_content(self._saved)), policy=REPORT_POLICY)
        assert status is not None, "a folder without a run holds a report"
        known = self._at(status)
        if known.content is None:
            raise StoreError(known.why_not)
        return page(render_html(known.content), policy=REPORT_POLICY)

    def _is_final(self, status: FileStatus | None) -> bool:
        """Whether nothing will change any more and there is a report."""
        if self._is_saved(status):
            return True
        assert status is not None, "a folder without a run holds a report"
        if status.state not in _OVER or time.time() - self._run_file.stat().st_mtime < _SECONDS_SETTLED:
            return False
        return self._at(status).content is not None

    def _is_saved(self, status: FileStatus | None) -> bool:
        """Whether report.json is of the run as it is now: a resumed run has an older one."""
        if status is None:
            return True
        if status.state is FileState.RUNNING or not self._saved.exists():
            return False
        kept = [datetime.fromisoformat(run.acknowledged).timestamp() for run in status.runs if run.acknowledged]
        return self._saved.stat().st_mtime >= max(kept, default=0.0)

    def _at(self, status: FileStatus) -> _Known:
        """What is known of the run at this moment; nothing is computed twice, or by two at a time."""
        moment = (status.state in _OVER, *((run.number, run.n_done, run.n_saved) for run in status.runs))
        with self._reading:
            if self._known is None or self._known.moment != moment:
                self._known = self._read(moment)
            return self._known

    def _read(self, moment: object) -> _Known:
        began = time.perf_counter()
        console = Console(printer=_unprinted)
        command = f"heldout report {self.path}"
        content, why_not = _or_sentence(partial(content_so_far, self._run_file, console, command))
        return _Known(moment, content, why_not, time.perf_counter() - began)


def _unprinted(text: str, *, err: bool = False) -> None:
    """The flags of an estimate are on its page."""


def _or_sentence(read: Callable[[], Found]) -> tuple[Found | None, str]:
    """What is read, or the sentence that says why it cannot be: a run may be moved while it is watched."""
    try:
        return read(), ""
    except HeldoutError as error:
        return None, str(error)


def _wait(seconds: float) -> float:
    return max(SECONDS_BETWEEN, _TIMES_AS_LONG * seconds)


def _progress_of(status: FileStatus | None, why_not: str) -> RunProgress:
    """The progress in the words of ``heldout status``."""
    if status is None:
        return RunProgress("The run cannot be read", why_not)
    words, several = dict(file_rows(status)), len(status.runs) > 1
    rows = [dict(run_rows(run, is_one_of_several=several)) for run in status.runs]
    planned = sum(run.n_cells or 0 for run in status.runs)
    sentence = str(words["state"]).removeprefix(status.state.value).removeprefix(": ")
    return RunProgress(
        state=_heading(status),
        sentence="" if status.state is FileState.RUNNING else sentence,
        done=min(sum(run.n_done + run.n_saved for run in status.runs), planned),
        planned=planned,
        lines=tuple(". ".join(str(of_run[label]) for label in _FIRST if label in of_run) for of_run in rows),
        rows=(
            tuple(words.items()),
            *(tuple(row for row in of_run.items() if row[0] not in _FIRST) for of_run in rows),
        ),
    )


def _heading(status: FileStatus) -> str:
    left = any(run.n_left for run in status.runs)
    match status.state:
        case FileState.RUNNING:
            return "Running" if left or not status.runs else "Running: all fits are done"
        case FileState.FINISHED | FileState.CLOSED:
            return "All fits are done"
        case FileState.INTERRUPTED:
            return "Interrupted"
        case FileState.DEAD:
            return "Its process ended"
        case FileState.EMPTY:
            return "Nothing was started yet"
        case _:
            return "Not closed"


def _estimate_part(known: _Known) -> dict[str, str]:
    return {"estimate": estimate_html(known.content, known.why_not)}
