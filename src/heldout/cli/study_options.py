"""The options of every study, the folder that it leaves its files in, and what was typed as a list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from heldout.cli.folder import OutputFolder, folder_for
from heldout.errors import InputError, StoreError

Command = TypeVar("Command", bound=Callable[..., Any])
OUT = "heldout-study"

_OPTIONS = (
    click.option("--quick", is_flag=True, help="Fewer settings and repetitions: half a minute on two cores."),
    click.option("--n-jobs", type=int, default=-1, show_default=True, help="Processes; -1 uses every core."),
    click.option("--seed", type=int, default=0, show_default=True, help="The same seed gives the same result."),
    click.option("--out", default=OUT, show_default=True, metavar="DIR", help="Where to leave the files."),
    click.option("--resume", is_flag=True, help="Go on with the study in DIR, doing only what is left."),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else to stdout."),
    click.option("--quiet", is_flag=True, help="Print only the result."),
)


@dataclass(frozen=True, kw_only=True)
class StudyOptions:
    """What the user asked for with them."""

    quick: bool
    n_jobs: int
    seed: int
    out: str
    resume: bool
    as_json: bool
    quiet: bool

    def check(self) -> None:
        """Refuse what can be refused at once.

        Raises
        ------
        InputError
        """
        if self.n_jobs == 0:
            raise InputError("--n-jobs must not be 0; use a number of processes, or -1 for every core.")
        if not 0 <= self.seed < 2**64:
            raise InputError(f"--seed must be from 0 to 2**64 - 1, got {self.seed}.")


def study_options(command: Command) -> Command:
    """A command with these options, after its own."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True)
class StudyFolder:
    """The output folder of a study and, within it, the one of its finished batches."""

    out: OutputFolder

    @property
    def batches(self) -> Path:
        return self.out.path / "batches"

    @property
    def n_kept(self) -> int:
        """How many finished batches are there."""
        return sum(1 for _ in self.batches.glob("*.npz"))

    def how_to_go_on(self, again: str, resuming: bool) -> str:
        """What is said of a study that was interrupted."""
        if not self.n_kept:
            return "Interrupted before anything was finished; nothing was kept."
        return (
            f"Interrupted. What was finished is kept in {self.batches}; to go on:\n  "
            f"{again}{'' if resuming else ' --resume'}"
        )


def study_folder(out: str, resume: bool) -> StudyFolder:
    """The folder, which holds no study yet unless that is to be gone on with.

    Raises
    ------
    StoreError
    """
    folder = StudyFolder(folder_for(out, resume=False))
    if folder.n_kept and not resume:
        raise StoreError(
            f"{folder.out.path} holds a study already; go on with it (--resume), or choose another folder "
            "with --out."
        )
    folder.out.check_writable()
    return folder


def whole_numbers(option: str, text: str | None) -> tuple[int, ...] | None:
    """``20,40`` as numbers; None where nothing was typed.

    Raises
    ------
    InputError
    """
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise InputError(
            f"{option} must be whole numbers with commas between, such as 20,40, got {text!r}."
        ) from None
