"""The form for a file of predictions: options of ``heldout estimate``, and the columns of the file."""

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


@dataclass(frozen=True)
class _Field:
    """An option that the form has."""

    name: str
    label: str
    of_columns: bool = False
    always_shown: bool = False
    is_open: bool = False
    """Whether other values than those offered may be typed."""


FIELDS = (
    _Field("target", "Target", of_columns=True, always_shown=True),
    _Field("metric", "Metric", always_shown=True, is_open=True),
    _Field("positive", "Positive class", always_shown=True, is_open=True),
    _Field("method", "Method", is_open=True),
    _Field("fold", "Fold", of_columns=True),
    _Field("row", "Row", of_columns=True),
    _Field("configuration", "Configuration", of_columns=True),
    _Field("repeat", "Repeat", of_columns=True),
    _Field("prediction", "Predictions", of_columns=True),
    _Field("event", "Event", of_columns=True),
    _Field("group", "Group", of_columns=True),
    _Field("weight", "Weight", of_columns=True),
    _Field("exclude", "Ignored columns", of_columns=True),
    _Field("adaptive", "Adaptive search"),
)


def arguments_of(values: Mapping[str, Sequence[str]]) -> list[str]:
    """The fields as words of the command line; fields that the form does not have are left out."""
    words: list[str] = []
    for each in FIELDS:
        option = _option(each.name)
        if option.is_flag:
            words += [option.opts[0]] if values.get(each.name) else []
            continue
        for value in values.get(each.name, ())[: None if option.multiple else 1]:
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
        return tuple(self._shown(each, tuple(values.get(each.name, ())), values, why_not) for each in FIELDS)

    def _shown(
        self, each: _Field, own: tuple[str, ...], values: Mapping[str, Sequence[str]], why_not: str
    ) -> FormField:
        option = _option(each.name)
        return FormField(
            name=each.name,
            label=each.label,
            option=option.opts[0],
            help=option.help or "",
            values=own,
            choices=tuple(self.values) if each.of_columns else self._offered(each.name, values),
            is_open=each.is_open,
            is_flag=option.is_flag,
            multiple=option.multiple,
            always_shown=each.always_shown or bool(own),
            is_asked=_names(why_not, option.opts[0]),
        )

    def _offered(self, name: str, values: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        from heldout.estimates import METHODS
        from heldout.metrics import all_names

        match name:
            case "metric":
                return all_names()
            case "method":
                return (*METHODS, "all")
            case "positive":
                target = next(iter(values.get("target", ())), "")
                return self.values.get(target, ())
            case _:
                return ()


def _option(name: str) -> click.Option:
    return _options()[name]


@cache
def _options() -> dict[str, click.Option]:
    return {str(each.name): each for each in estimate_command.params if isinstance(each, click.Option)}


def _names(sentence: str, option: str) -> bool:
    """Whether a sentence names an option, and not only a longer one."""
    return option in sentence.replace("=", " ").replace(",", " ").replace(":", " ").split()


def _distinct(column: pd.Series) -> tuple[str, ...]:
    found = column.dropna().unique()
    return tuple(sorted(map(str, found))) if len(found) <= MOST_LABELS else ()
