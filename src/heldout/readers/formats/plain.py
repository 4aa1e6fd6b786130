"""Tables that no tool is known by: a column, or a line, for each configuration, as the user describes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from heldout.errors import InputError
from heldout.readers.formats.base import ColumnUses, Export
from heldout.readers.long_table import LongColumns, predictions_from_long_table
from heldout.readers.prediction_table import PredictionTable, Source
from heldout.readers.predictions import predictions_from_table
from heldout.readers.tables import Table


@dataclass(frozen=True)
class LongFormat:
    """A ``PredictionFormat``: the user names the columns of configurations and rows."""

    name: ClassVar[str] = "long"
    title: ClassVar[str] = "a table with a line for each row and configuration"
    signs: ClassVar[str] = "configuration and row, which the user names"

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        return uses.described and export.table is not None and export.table.roles is None

    def read(self, export: Export, uses: ColumnUses) -> PredictionTable:
        if not uses.described:
            raise InputError(
                "a long table needs the column that identifies the configuration of a line and the one of its row; "
                "name them with `configuration=` and `row=`."
            )
        table, uses = uses.placed_in(export.table_with())
        columns = LongColumns(configuration=uses.configuration, target=_target(table, uses), **_columns(uses))
        wide, found = predictions_from_long_table(table, columns)
        source = Source(table.name, self.name, self.title)
        return replace(found, source=source, remarks=(*wide.remarks, *found.remarks))


@dataclass(frozen=True)
class WideFormat:
    """A ``PredictionFormat``: what every table is that no other format recognises."""

    name: ClassVar[str] = "wide"
    title: ClassVar[str] = "a table with a column for each configuration"
    signs: ClassVar[str] = "nothing else"

    def recognises(self, export: Export, uses: ColumnUses) -> bool:
        return False

    def read(self, export: Export, uses: ColumnUses) -> PredictionTable:
        return predictions_of_wide(export.table_with(), uses, Source(export.name, self.name, self.title))


def predictions_of_wide(table: Table, uses: ColumnUses, source: Source) -> PredictionTable:
    """The predictions of a table with a column, or one for each class, for each configuration."""
    if uses.configuration:
        raise InputError(
            f"`configuration={uses.configuration[0]!r}` needs `row=` too, the column that identifies the row of a "
            f"line; leave it out for {WideFormat.title}.",
            argument="configuration",
        )
    table, uses = uses.placed_in(table)
    found = predictions_from_table(table, _target(table, uses), **_columns(uses))
    return replace(found, source=source, remarks=(*table.remarks, *found.remarks))


def _target(table: Table, uses: ColumnUses) -> str:
    if uses.target is None:
        raise InputError(
            f"target is needed: which column of {table.name} holds the true values?",
            argument="target",
        )
    return str(uses.target)


def _columns(uses: ColumnUses) -> dict[str, Any]:
    names = ("event", "fold", "repeat", "row", "group", "weight", "exclude", "predictions")
    return {name: getattr(uses, name) for name in names}
