"""The output of a command: progress of the work and the result on stdout, notes on stderr.

With ``--json`` stdout holds one JSON document and nothing else; with ``--quiet`` only the result is printed.

A run is worth more than its output: when the reader of stdout has closed it (``| head``), or the disk is full, the
work continues without printing. A full disk makes the command end with an error.

The output holds text of tables and runs, so control characters are escaped here, for all commands.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from heldout._text import printable, width_of, wrapped
from heldout.cli.options import (
    OptionText,
    SectionedCommand,
    all_in_options,
    command_line,
    in_options,
    options_by_argument,
    parameters,
)
from heldout.errors import HeldoutWarning, InputError

if TYPE_CHECKING:
    from heldout._record import TextTable

Row: TypeAlias = tuple[str, str | Sequence[str]]
"""A label and its text, of one line or several."""


@dataclass
class Console:
    """Prints for one command."""

    as_json: bool = False
    quiet: bool = False
    """``as_json``, ``quiet``: the options --json and --quiet."""
    options: Mapping[str, OptionText] = field(default_factory=dict)
    """The options of the command, which texts name in place of arguments."""
    has_reader: bool = True
    """Whether what is printed to stdout arrives there."""
    _noted: set[str] = field(default_factory=set)
    _lost: OSError | None = None
    _began: float = field(default_factory=time.perf_counter)

    def seconds(self) -> float:
        """Wall time of the whole command so far: a command creates its console first."""
        return time.perf_counter() - self._began

    def say(self, text: str) -> None:
        """Print what the command does."""
        if not self.quiet:
            self._print(wrapped(self._shown(text), sys.stderr if self.as_json else sys.stdout), err=self.as_json)

    def note(self, text: str) -> None:
        """Print a note for the reader of the result, each text once."""
        if not self.quiet and text not in self._noted:
            self._noted.add(text)
            self._print(wrapped(f"Note: {self._shown(text)}", sys.stderr), err=True)

    def table(self, rows: Sequence[Row]) -> None:
        """Print the result for people: labels and texts, aligned."""
        if self.as_json:
            return
        width = max(len(printable(label)) for label, _ in rows)
        for label, text in rows:
            first, *others = map(self._shown, [text] if isinstance(text, str) else text)
            line = wrapped(f"{printable(label):<{width}}  {first}", sys.stdout, width + 2)
            self._print(click.style(line[:width], bold=True) + line[width:])
            for other in others:
                self._print(wrapped(" " * (width + 2) + other, sys.stdout))

    def show(self, tables: Sequence[TextTable]) -> None:
        """Print the result for people: the tables of a record."""
        for place, part in enumerate([] if self.as_json else tables):
            notes = tuple(in_options(note, self.options) for note in part.notes)
            shown = replace(part, title=in_options(part.title, self.options), notes=notes)
            self._print("\n".join([*([""] if place else []), *shown.lines(width_of(sys.stdout))]))

    def lines(self, lines: Sequence[str]) -> None:
        """Print the result for people, as lines."""
        if not self.as_json:
            for line in lines:
                self._print(wrapped(self._shown(line), sys.stdout))

    def document(self, document: Mapping[str, Any]) -> None:
        """Print the result for machines."""
        if self.as_json:
            self._print(json.dumps(all_in_options(document, self.options), indent=2, allow_nan=False))

    def check_all_was_printed(self, instead: str = "nothing else was kept") -> None:
        """Fail at the end of a command whose output was lost, and say where the result is ``instead``."""
        if self._lost is not None:
            why = (self._lost.strerror or str(self._lost)).lower()
            raise InputError(f"the output could not be written to standard output ({why}); {instead}.")

    def _shown(self, text: str) -> str:
        return printable(in_options(text, self.options))

    def _print(self, text: str, *, err: bool = False) -> None:
        try:
            echo(text, err=err)
        except OSError as error:
            discard(err)
            self.has_reader = self.has_reader and err
            if not err and not isinstance(error, BrokenPipeError):
                self._lost = error

    @contextmanager
    def noting_warnings(self) -> Iterator[None]:
        """Print heldout's warnings as notes, and ignore those of other packages.

        A preset tries settings that do not suit every table (a solver that stops early, for instance); their scores
        show it. The filters reach the workers through scikit-learn's ``Parallel``.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", HeldoutWarning)
            warnings.showwarning = self._show
            yield

    def _show(self, message: Warning | str, *where: Any, **more: Any) -> None:
        self.note(str(message))


def echo(text: str, *, err: bool = False) -> None:
    """Print a text; characters that the encoding of the stream lacks are escaped."""
    try:
        click.echo(text, err=err)
    except UnicodeEncodeError as error:
        click.echo(text.encode(error.encoding, "backslashreplace").decode(error.encoding), err=err)


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Send what this process and its workers print to stderr; compiled code writes to the number of the stream."""
    with redirect_stdout(sys.stderr), ExitStack() as stack:
        with suppress(OSError):  # a stream that is closed
            kept = os.dup(1)
            stack.callback(os.close, kept)
            os.dup2(2, 1)
            stack.callback(os.dup2, kept, 1)
        yield


def discard(err: bool = False) -> None:
    """Send the rest of stdout (or stderr) nowhere, so that its buffer does not fail once more at exit."""
    stream = sys.stderr if err else sys.stdout
    with suppress(OSError, ValueError, AttributeError):  # a stream of Python's own has no number
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def command_of(
    table: type[Any], name: str, short_help: str, titles: Mapping[str, str] | None = None
) -> Callable[[Callable[[Any, Console, str], None]], click.Command]:
    """A command whose options are the fields of a dataclass, from what is done with them.

    That is a function of the options, the console, and the command as the user typed it; its docstring is the help,
    in which ``titles`` are those of the sections of the options.
    """

    def made(do: Callable[[Any, Console, str], None]) -> click.Command:
        @click.pass_context
        def call(ctx: click.Context, /, **values: Any) -> None:
            console = Console(values["as_json"], values["quiet"], options_by_argument(ctx.command))
            do(table(**values), console, command_line(ctx))

        command = click.Command if titles is None else partial(SectionedCommand, titles=titles)
        help = inspect.getdoc(do)
        return command(name, callback=call, params=parameters(table), help=help, short_help=short_help)

    return made
