"""What a user has of a tool, and what the user says about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from heldout.errors import InputError
from heldout.readers.tables import Table, read_table, table_of_frame


@dataclass(frozen=True, eq=False)
class Export:
    """What a user has of a tool: a file or folder, a table in memory, or another object."""

    name: str
    """As the user wrote it, or a noun for an object; for sentences."""
    path: Path | None = None
    value: Any = None
    """The object where there is no path."""

    @classmethod
    def of(cls, source: Any) -> Export:
        """The export at a path, or of an object."""
        if isinstance(source, str | Path):
            return cls(str(source), Path(source))
        if is_frame(source):
            return cls("the table", value=source)
        return cls(f"the {type(source).__name__}", value=source)

    @cached_property
    def table(self) -> Table | None:
        """The table in a file or in memory; None of a folder and of other objects."""
        if self.path is not None:
            return None if self.path.is_dir() else read_table(self.name)
        frame = self.value.as_data_frame() if hasattr(self.value, "as_data_frame") else self.value  # of H2O
        return table_of_frame(frame, self.name) if is_frame(frame) else None

    @cached_property
    def columns(self) -> frozenset[str]:
        """The names of the columns of the table; none where there is no table."""
        if hasattr(self.value, "as_data_frame"):  # which takes time
            return frozenset(self.value.columns)
        return frozenset(() if self.table is None else self.table.frame.columns)

    def table_with(self, *columns: str) -> Table:
        """The table; refused where there is none, or a column is missing."""
        if self.table is None:
            raise InputError(f"{self.name} is no table; give a CSV or Parquet file, or a data frame.")
        for name in columns:
            self.table.column(name, "one of the format")
        return self.table


PURPOSES = {
    "target": "the target", "event": "the event", "fold": "the folds", "repeat": "the repeats", "row": "the rows",
    "group": "the groups", "weight": "the weights", "configuration": "the configurations",
    "predictions": "the predictions", "exclude": "one to leave out",
}  # fmt: skip
"""What the columns are for that a user names."""


@dataclass(frozen=True, eq=False)
class ColumnUses:
    """What the user says about an export: names of columns, or for some of them arrays with a value a row."""

    target: Any = None
    """A column, or an array of true values where the export has none."""
    event: str | None = None
    fold: Any = None
    """A column, or an array of the folds."""
    repeat: str | None = None
    row: str | None = None
    group: Any = None
    weight: Any = None
    """``group``, ``weight``: a column, or an array."""
    configuration: tuple[str, ...] = ()
    """Columns that together identify the configuration of a line."""
    predictions: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    tasks: str | None = None
    """Of evaluations with several tasks: whether the tasks are drawn ("whole"), or items in each ("stratified")."""

    def purposes_in(self, table: Table) -> dict[str, str]:
        """What each column is for that the user names; refused where one is missing, or has two uses."""
        purposes: dict[str, str] = {}
        for use, purpose in PURPOSES.items():
            names = getattr(self, use)
            for name in (names,) if isinstance(names, str) else names or ():
                table.column(name, purpose)
                if name in purposes:
                    raise InputError(f"column {name!r} was named for two uses; a column has one.")
                purposes[name] = purpose
        return purposes

    @property
    def described(self) -> bool:
        """Whether the user describes a table with a line for each row and configuration."""
        return bool(self.configuration) and self.row is not None

    def check_agree(self, title: str, columns: Mapping[str, str | None], free: Sequence[str] = ()) -> None:
        """Refuse a use that contradicts the column that a format has for it.

        Formats of tools have no column of events, and none of repeats, configurations and predictions but those
        that they find, unless these uses are ``free``.
        """
        for name in dict.fromkeys((*columns, "event", "repeat", "configuration", "predictions")):
            said, column = getattr(self, name), columns.get(name)
            is_text = isinstance(said, str | tuple)
            if name in free or said is None or (is_text and said in ((), column)):
                continue
            shown = repr(said if isinstance(said, str) else said[0]) if is_text else "..."
            own = "there is none" if column is None else f"this is {column!r}"
            raise InputError(
                f"`{'prediction' if name == 'predictions' else name}={shown}` contradicts what was recognised, "
                f"{title}, in which {own}; leave it out, or describe all columns yourself with `configuration=` "
                "and `row=`.",
                argument=name,
            )


def without_row_names(table: Table) -> Table:
    """The table without the names of its lines, which R's ``write.csv`` writes as a first column without a name."""
    name = "Unnamed: 0"
    if name not in table.frame or table.frame[name].duplicated().any():
        return table
    remark = "The column without a name holds the names of the lines and was excluded."
    return replace(table, frame=table.frame.drop(columns=name), remarks=(*table.remarks, remark))


def is_frame(value: Any) -> bool:
    """Whether an object is a data frame, of pandas, polars and so on."""
    return hasattr(value, "columns") and hasattr(value, "to_numpy")
