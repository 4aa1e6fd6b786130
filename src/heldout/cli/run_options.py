"""The options of every command that fits: the interval, where and how long to fit, where to leave the files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--confidence-level", type=float, default=0.95, show_default=True, help="Of the interval."),
    click.option(
        "--alternative",
        default="two-sided",
        show_default=True,
        help="two-sided, greater (a lower bound) or less.",
    ),
    click.option("--n-jobs", type=int, default=-1, show_default=True, help="Processes; -1 uses every core."),
    click.option(
        "--engine",
        default="local",
        show_default=True,
        help="Where to fit: local (processes), threads, or a Dask cluster, tcp://HOST:PORT of its scheduler.",
    ),
    click.option(
        "--fit-timeout", type=float, metavar="SECONDS", help="Stop fits that take longer; they count as failed."
    ),
    click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same result."),
    click.option(
        "--out", default="heldout-out", show_default=True, metavar="DIR", help="Where to leave the files."
    ),
    click.option("--resume", is_flag=True, help="Go on with the run in DIR, doing only what is left."),
    click.option("--accept-changed-code", is_flag=True, help="Resume although a version has changed since."),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else to stdout."),
    click.option("--quiet", is_flag=True, help="Print only the result."),
)


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What the user asked for with them."""

    confidence_level: float
    alternative: str
    n_jobs: int
    engine: str
    fit_timeout: float | None
    seed: int
    out: str
    resume: bool
    accept_changed_code: bool
    as_json: bool
    quiet: bool

    def check(self) -> None:
        """Refuse what can be refused before anything is read.

        Raises
        ------
        InputError
        """
        from heldout.cli.engines import check_engine
        from heldout.errors import InputError

        check_engine(self.engine, self.fit_timeout)
        if self.n_jobs == 0:
            raise InputError("--n-jobs must not be 0; use a number of processes, or -1 for every core.")
        if not 0 <= self.seed < 2**64:
            raise InputError(f"--seed must be from 0 to 2**64 - 1, got {self.seed}.")


def run_options(command: Command) -> Command:
    """A command with these options, after its own."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
