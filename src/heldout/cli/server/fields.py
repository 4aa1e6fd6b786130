"""The form for a file of predictions: options of ``heldout estimate``, and the columns of the file.

Every option of that command is a field, except those about what the command prints and writes; so an option has one
meaning and one help text, and a new one is in the form without a change here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from heldout.cli.estimate import command as estimate_command
from heldout.errors import HeldoutError
from heldout.report.dropped import FormField

if TYPE_CHECKING:
    import pandas as pd

MOST_LABELS = 20
"""Classes that are offered; a target with more has them typed."""
_OF_THE_OUTPUT = ("out", "as_json", "quiet", "out_of_core", "n_jobs")
_ALWAYS_SHOWN = ("target", "metric", "positive")
_OF_COLUMNS = "COL"
"""What stands for the value of an option whose value is a column."""


@cache
def form_options() -> Mapping[str, click.Option]:
    """The options in the form, by name: first those that are always shown."""
    options = {str(each.name): each for each in estimate_command.params if isinstance(each, click.Option)}
    names = [*_ALWAYS_SHOWN, *(name for name in options if name not in (*_ALWAYS_SHOWN, *_OF_THE_OUTPUT))]
    return {name: options[name] for name in names}


def arguments_of(values: Mapping[str, Sequence[str]]) -> list[str]:
    """The fields as words of the command line; fields that the form does not have are left out."""
    words: list[str] = []
    for name, option in form_options().items():
        if option.is_flag:
            words += [option.opts[0]] if values.get(name) else []
            continue
        for value in values.get(name, ())[: None if option.multiple else 1]:
            # One word, so that a value that begins with a hyphen is no option.
            words.append(f"{option.opts[0]}={value}")
    return words


@dataclass(frozen=True)
class FileColumns:
    """The columns of a file, and the values of those with few, as a form offers them."""

    values: Mapping[str, tuple[str, ...]]
    """Of each column; empty for one with many."""

    @classmethod
    def of(cls, path: Path) -> FileColumns:
        """Those of a table; none for a file of another kind, whose columns are then typed."""
        from heldout.readers.tables import read_table

        try:
            frame = read_table(path).frame
        except HeldoutError:
            return cls({})
        return cls({str(name): _distinct(frame[name]) for name in frame.columns})

    def fields(self, values: Mapping[str, Sequence[str]], why_not: str) -> tuple[FormField, ...]:
        """The fields with their values, and what can be chosen; ``why_not`` is the sentence above the form."""
        return tuple(
            FormField(
                name=name,
                label=name.replace("_", " ").capitalize(),
                option=option.opts[0],
                help=option.help or "",
                values=tuple(values.get(name, ())),
                choices=self._offered(option, values),
                of_columns=option.metavar == _OF_COLUMNS,
                is_flag=option.is_flag,
                multiple=option.multiple,
                default=option.default if isinstance(option.default, str) else "",
                always_shown=name in _ALWAYS_SHOWN or bool(values.get(name)),
                is_asked=_names(why_not, option.opts[0]),
            )
            for name, option in form_options().items()
        )

    def _offered(self, option: click.Option, values: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        from heldout.estimates import METHODS
        from heldout.metrics import all_names

        if option.metavar == _OF_COLUMNS:
            return tuple(self.values)
        match option.name:
            case "metric":
                return all_names()
            case "method":
                return (*METHODS, "all")
            case "positive":
                return self.values.get(next(iter(values.get("target", ())), ""), ())
            case _:
                return ()


def _names(sentence: str, option: str) -> bool:
    """Whether a sentence names an option, and not only a longer one."""
    return option in sentence.replace("=", " ").replace(",", " ").replace(":", " ").split()


def _distinct(column: pd.Series) -> tuple[str, ...]:
    found = column.dropna().unique()
    return tuple(sorted(map(str, found))) if len(found) <= MOST_LABELS else ()
