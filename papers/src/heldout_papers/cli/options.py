"""The options of studies, lists as users type them, and the folder of a study's files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import click

from heldout.cli.console import Console
from heldout.cli.files import OutputFolder, folder_for
from heldout.cli.options import RUNNING, Option, WorkOptions
from heldout.cli.options import option as cli_option
from heldout.errors import InputError, StoreError

OUT = "heldout-study"


Reader = Callable[[str, Any], Any]
"""From an option and its value to the argument of the study; None where nothing was typed."""


@dataclass(frozen=True, kw_only=True)
class StudyOptions(WorkOptions):
    """The options that all studies share, and those of one study."""

    quick: bool = cli_option("Fewer settings and repetitions: half a minute.", False)
    out: str = cli_option("The folder for the files.", OUT, metavar="DIR", section=RUNNING)
    resume: bool = cli_option("Continue the study in DIR: only what is missing is done.", False, section=RUNNING)
    own: Sequence[StudyOption]
    typed: Mapping[str, Any]  # Their values
    folder: str = ""  # Of the tables; empty for a study without tables

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the study: what was typed, and otherwise what ``--quick`` sets."""
        usual = {one.argument: one.quick for one in self.own if self.quick and one.quick is not None}
        typed = {one.argument: one.value(self.typed) for one in self.own}
        given = {name: value for name, value in typed.items() if value is not None}
        return usual | given | {"random_state": self.seed}

    @property
    def chooses_tables(self) -> bool:
        """Whether ``--quick`` takes the smallest tables, because none were named."""
        return self.quick and "names" not in self.arguments


@dataclass(frozen=True)
class StudyOption:
    """An option of one study, which sets an argument of its function."""

    flag: str  # "--bootstraps"
    argument: str  # "n_bootstraps"
    help: str
    read: Reader | None = None  # From the typed value to the argument
    quick: Any = None  # The value for ``--quick``; None where that changes nothing
    settings: Mapping[str, Any] = field(default_factory=dict)  # Other settings of the click option

    @property
    def name(self) -> str:
        return self.flag.removeprefix("--").replace("-", "_")

    def parameter(self) -> click.Parameter:
        return Option([self.flag], help=self.help, argument=self.argument, **self.settings)

    def value(self, values: Mapping[str, Any]) -> Any:
        typed = values[self.name]
        return typed if self.read is None or typed is None else self.read(self.flag, typed)


def option(
    flag: str, help: str, *, argument: str = "", read: Reader | None = None, quick: Any = None, **settings: Any
) -> StudyOption:
    """An option whose argument has its name, unless another is given."""
    return StudyOption(flag, argument or flag.removeprefix("--").replace("-", "_"), help, read, quick, settings)


def table_options(n_quick: str) -> tuple[StudyOption, ...]:
    """The options of a study of tables besides their folder.

    ``n_quick``: how many ``--quick`` takes, in words.
    """
    return (
        option(
            "--tables", f"Only these tables; all that fit by default, {n_quick} with --quick.", argument="names",
            read=names_typed, metavar="NAME,NAME",
        ),
        option("--target", "The column of the classes.", metavar="COL", default="target", show_default=True),
    )  # fmt: skip


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
        """The sentence after an interruption: how to resume the study."""
        if not self.n_kept:
            return "Interrupted before anything was finished; nothing was kept."
        return (
            f"Interrupted. What was finished is kept in {self.batches}; to go on:\n  "
            f"{again}{'' if resuming else ' --resume'}"
        )


def study_folder(out: str, resume: bool, console: Console) -> StudyFolder:
    """The folder, which holds no study yet unless that is to be resumed."""
    folder = StudyFolder(folder_for(out, False, console))
    if folder.n_kept and not resume:
        raise StoreError(
            f"{folder.out.path} holds a study already; go on with it (--resume), or choose another folder "
            "with --out."
        )
    folder.out.check_writable()
    return folder


def names_typed(option: str, text: str) -> list[str]:
    """``adult,credit-g`` as names.

    Examples
    --------
    >>> names_typed("--tables", "adult, credit-g")
    ['adult', 'credit-g']
    """
    return [name.strip() for name in text.split(",")]


def whole_numbers(option: str, text: str) -> tuple[int, ...]:
    """``20,40`` as numbers."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise InputError(
            f"{option} must be whole numbers with commas between, such as 20,40, got {text!r}."
        ) from None


def numbers(option: str, text: str) -> tuple[float, ...]:
    """``0.1,0.5`` as numbers."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"{option} must be numbers with commas between, such as 0.1,0.5, got {text!r}.") from None


def pairs_of_numbers(option: str, texts: Sequence[str]) -> list[tuple[float, float]] | None:
    """``9,6`` as two numbers above 0, for each time that the option was typed; None where it was not."""
    return [_pair(option, text) for text in texts] or None


def _pair(option: str, text: str) -> tuple[float, float]:
    try:
        a, b = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"{option} must be two numbers with a comma between, such as 9,6, got {text!r}.") from None
    if not (0 < a < float("inf") and 0 < b < float("inf")):
        raise InputError(f"{option} must be two numbers above 0, such as 9,6, got {text!r}.")
    return a, b
