"""The pages on which a file of predictions is dropped, and answered as ``heldout estimate FILE`` answers it.

A file is kept in the server's temporary folder, so that a form can ask for what the file does not say.
"""

from __future__ import annotations

import os
import shlex
import shutil
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from heldout.cli.console import Console
from heldout.cli.estimate import command as estimate_command
from heldout.cli.estimate_input import EstimateOptions
from heldout.cli.file_estimate import estimate_file
from heldout.cli.files import is_run
from heldout.cli.options import options_in_sentences
from heldout.cli.report import content_so_far
from heldout.cli.server.fields import FileColumns, arguments_of
from heldout.cli.server.reply import REPORT_POLICY, Reply, moved, page, script
from heldout.cli.server.upload import Upload
from heldout.errors import HeldoutError
from heldout.report.dropped import answer_band, drop_html, drop_script, options_html

if TYPE_CHECKING:
    from heldout.report import ReportContent

MOST_BYTES = 512 * 2**20
"""Of a file that is read here; ``heldout estimate --out-of-core`` reads larger ones."""
_ALONE = "-report.html"
"""The end of the name of a report without the band above it."""
MOST_FILES = 3
"""Files that are kept; older ones are removed when another one comes."""


@dataclass(eq=False)
class _HeldFile:
    """A file that was sent, and the last answer to it."""

    path: Path
    columns: FileColumns
    values: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Of the fields of the form."""
    lines: list[str] = field(default_factory=list)
    """What was recognised, as the command prints it."""
    content: ReportContent | None = None
    why_not: str = ""


@dataclass(eq=False)
class FileSite:
    """The page for a file, and a page for each file that was sent."""

    most_bytes: int = MOST_BYTES
    _files: dict[str, _HeldFile] = field(default_factory=dict)
    _n_sent: int = 0
    _reading: threading.Lock = field(default_factory=threading.Lock)

    def get(self, name: str) -> Reply | None:
        """The page of this name; None if there is none."""
        if name == "":
            return page(drop_html(self.most_bytes))
        if name == "drop.js":
            return script(drop_script())
        held = self._files.get(name.removesuffix(_ALONE))
        if held is None:
            return None
        with self._reading:
            return _page_of(held, name)

    def post(self, name: str, upload: Upload) -> Reply | None:
        """Read a file, or one that is here with other options."""
        if name == "":
            if upload.file is None:
                return moved("./")
            return moved(self._take(upload.file))
        held = self._files.get(name)
        if held is None:
            return None
        self._answer(held, dict(upload.fields))
        return moved(name)

    def _take(self, path: Path) -> str:
        """Keep a file and answer it; returns the name of its page."""
        held = _HeldFile(path, FileColumns.of(path))
        self._answer(held, {})
        with self._reading:
            self._n_sent += 1
            name = f"file-{self._n_sent}"
            self._files[name] = held
            while len(self._files) > MOST_FILES:
                oldest = self._files.pop(next(iter(self._files)))
                shutil.rmtree(oldest.path.parent, ignore_errors=True)
        return name

    def _answer(self, held: _HeldFile, values: dict[str, tuple[str, ...]]) -> None:
        with self._reading:  # one after another: an estimate uses all memory and processors that it may
            held.values, held.lines, held.content, held.why_not = values, [], None, ""
            try:
                held.content = _content_of(held)
            except (HeldoutError, click.UsageError) as error:
                text = error.format_message() if isinstance(error, click.UsageError) else str(error)
                held.why_not = _without_folder(text, held.path)


def _page_of(held: _HeldFile, name: str) -> Reply:
    """The report on a file, alone or below what was recognised; or the form, and why there is no report."""
    from heldout.report import render_html

    if name.endswith(_ALONE) and held.content is not None:
        return page(render_html(held.content), policy=REPORT_POLICY)

    fields = held.columns.fields(held.values, held.why_not)
    shown: dict[str, Any] = {"name": held.path.name, "lines": held.lines, "fields": fields}
    if held.content is None:
        return page(options_html(why_not=held.why_not, **shown))
    return page(render_html(held.content, above=answer_band(alone=name + _ALONE, **shown)), policy=REPORT_POLICY)


def _content_of(held: _HeldFile) -> ReportContent:
    """The report on a file: of predictions, or of a run."""

    def record(text: str, *, err: bool = False) -> None:
        held.lines.append(_without_folder(text, held.path))

    console = Console(printer=record)
    if is_run(held.path):
        return content_so_far(held.path, console, f"heldout estimate {shlex.quote(held.path.name)}")
    typed = arguments_of(held.values)
    ctx = estimate_command.make_context("estimate", [str(held.path), *typed])
    with ctx, console.noting_warnings(), options_in_sentences(ctx):
        answer = estimate_file(EstimateOptions(**ctx.params), console)
        command = shlex.join(["heldout", "estimate", held.path.name, *typed])
        return answer.content(command, title=held.path.name)


def _without_folder(text: str, path: Path) -> str:
    """A sentence that names the file as its owner does: its folder is ours, and temporary."""
    return text.replace(f"{path.parent}{os.sep}", "")
