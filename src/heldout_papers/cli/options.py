"""The options of every study, the folder that it leaves its files in, and what was typed as a list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from heldout.cli.files import OutputFolder, folder_for
from heldout.cli.options import Command, WorkOptions, with_options, work_options
from heldout.errors import InputError, StoreError

OUT = "heldout-study"


@dataclass(frozen=True, kw_only=True)
class StudyOptions(WorkOptions):
    """What the user asked for with them."""

    quick: bool


def study_options(command: Command) -> Command:
    """A command with the options of every study, after its own."""
    quick = click.option("--quick", is_flag=True, help="Fewer settings and repetitions: half a minute.")
    return with_options(command, [quick, *work_options("study", OUT)])


def table_options(usual_of_quick: str) -> Callable[[Command], Command]:
    """The options of a study of tables, before its own: their folder, which of them, and their target.

    Parameters
    ----------
    usual_of_quick : str
        How many ``--quick`` takes, in words.
    """

    def added(command: Command) -> Command:
        folder = click.argument("folder", metavar="FOLDER")
        tables = click.option(
            "--tables",
            metavar="NAME,NAME",
            help=f"Only these; all that fit unless told, of --quick {usual_of_quick}.",
        )
        target = click.option(
            "--target", metavar="COL", default="target", show_default=True, help="The column of the classes."
        )
        return with_options(command, [folder, tables, target])

    return added


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


def names_typed(text: str | None) -> list[str] | None:
    """``adult,credit-g`` as names; None where nothing was typed.

    Examples
    --------
    >>> names_typed("adult, credit-g")
    ['adult', 'credit-g']
    """
    return None if text is None else [name.strip() for name in text.split(",")]


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


def numbers(option: str, text: str | None) -> tuple[float, ...] | None:
    """``0.1,0.5`` as numbers; None where nothing was typed.

    Raises
    ------
    InputError
    """
    if text is None:
        return None
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"{option} must be numbers with commas between, such as 0.1,0.5, got {text!r}.") from None


def pair_of_numbers(option: str, text: str) -> tuple[float, float]:
    """``9,6`` as two numbers above 0.

    Raises
    ------
    InputError
    """
    try:
        a, b = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"{option} must be two numbers with a comma between, such as 9,6, got {text!r}.") from None
    if not (0 < a < float("inf") and 0 < b < float("inf")):
        raise InputError(f"{option} must be two numbers above 0, such as 9,6, got {text!r}.")
    return a, b
