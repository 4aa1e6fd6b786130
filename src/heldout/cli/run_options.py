"""The options that commands share: of all that work for a while, and of those that fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])
Option = Callable[[Any], Any]


_NO_TERMS = {
    "n_jobs", "out", "resume", "as_json", "quiet", "engine", "fit_timeout", "accept_changed_code", "trust",
    "confidence_level", "alternative", "interval",
}  # fmt: skip
"""Options that change no fit."""


@dataclass(frozen=True, kw_only=True)
class WorkOptions:
    """What the user asked for with the options of every command that works for a while."""

    n_jobs: int
    seed: int
    out: str
    resume: bool
    as_json: bool
    quiet: bool

    def check(self) -> None:
        """Refuse what can be refused before anything is read.

        Raises
        ------
        InputError
        """
        from heldout.errors import InputError

        if self.n_jobs == 0:
            raise InputError("--n-jobs must not be 0; use a number of processes, or -1 for every core.")
        if not 0 <= self.seed < 2**64:
            raise InputError(f"--seed must be from 0 to 2**64 - 1, got {self.seed}.")


@dataclass(frozen=True, kw_only=True)
class RunOptions(WorkOptions):
    """... of every command that fits."""

    @property
    def terms(self) -> dict[str, str]:
        """The options that can make two runs different, as they were typed."""
        given = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in _NO_TERMS}
        return {
            "DATA" if name == "data" else "--" + name.replace("_", "-"): " ".join(map(str, value))
            if isinstance(value, tuple)
            else str(value)
            for name, value in given.items()
            if value is not None and value != ()
        }

    confidence_level: float
    alternative: str
    engine: str
    fit_timeout: float | None
    accept_changed_code: bool

    def check(self) -> None:
        """Refuse what can be refused before anything is read.

        Raises
        ------
        InputError
        """
        from heldout.cli.engines import check_engine

        super().check()
        check_engine(self.engine, self.fit_timeout)


def work_options(what: str, out: str) -> list[Option]:
    """The options of every command that works for a while.

    Parameters
    ----------
    what : str
        What lies in the folder when it is gone on with.
    out : str
        The folder unless told.
    """
    return [
        click.option("--n-jobs", type=int, default=-1, show_default=True, help="Processes; -1 uses every core."),
        click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same result."),
        click.option("--out", default=out, show_default=True, metavar="DIR", help="Where to leave the files."),
        click.option("--resume", is_flag=True, help=f"Go on with the {what} in DIR, doing only what is left."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else to stdout."),
        click.option("--quiet", is_flag=True, help="Print only the result."),
    ]


_OF_FITS: list[Option] = [
    click.option("--confidence-level", type=float, default=0.95, show_default=True, help="Of the interval."),
    click.option(
        "--alternative",
        default="two-sided",
        show_default=True,
        help="two-sided, greater (a lower bound) or less.",
    ),
    click.option(
        "--engine",
        default="local",
        show_default=True,
        help="Where to fit: local (processes), threads, or a Dask cluster, tcp://HOST:PORT of its scheduler.",
    ),
    click.option(
        "--fit-timeout", type=float, metavar="SECONDS", help="Stop fits that take longer; they count as failed."
    ),
    click.option("--accept-changed-code", is_flag=True, help="Resume although a version has changed since."),
]


def run_options(command: Command) -> Command:
    """A command with the options of every command that fits, after its own."""
    return with_options(command, [*_OF_FITS, *work_options("run", "heldout-out")])


def with_options(command: Command, options: Sequence[Option]) -> Command:
    """A command with options after its own."""
    for option in reversed(options):
        command = option(command)
    return command
