"""Where a command's words go: what it does and its result to stdout, notes and progress to stderr.

With ``--json`` stdout holds one JSON document and nothing else; with ``--quiet`` only the result is printed.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import click

from heldout.errors import HeldoutWarning


@dataclass
class Console:
    """Prints for one command.

    Attributes
    ----------
    as_json, quiet : bool
        As the user asked.
    """

    as_json: bool = False
    quiet: bool = False
    _noted: set[str] = field(default_factory=set)

    def say(self, text: str) -> None:
        """What is being done."""
        if not self.quiet:
            click.echo(text, err=self.as_json)

    def note(self, text: str) -> None:
        """What a reader of the result should know; once, however often it comes up."""
        if not self.quiet and text not in self._noted:
            self._noted.add(text)
            click.echo(f"Note: {text}", err=True)

    def table(self, rows: Sequence[tuple[str, str]]) -> None:
        """The result for people: labels and what they say, aligned."""
        if self.as_json:
            return
        width = max(len(label) for label, _ in rows)
        for label, text in rows:
            first, *others = text.split("\n")
            click.echo(click.style(f"{label:<{width}}", bold=True) + f"  {first}")
            for line in others:
                click.echo(" " * (width + 2) + line)

    def document(self, document: Mapping[str, Any]) -> None:
        """The result for machines."""
        if self.as_json:
            click.echo(json.dumps(document, indent=2, allow_nan=False))

    @contextmanager
    def noting_warnings(self) -> Iterator[None]:
        """Print heldout's warnings as notes; other packages' go by.

        A preset tries settings that do not suit every table (a solver that stops early, for instance); how each
        fares shows in its score. The filters reach the workers through scikit-learn's ``Parallel``.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", HeldoutWarning)
            warnings.showwarning = self._show
            yield

    def _show(self, message: Warning | str, *where: Any, **more: Any) -> None:
        self.note(str(message))
