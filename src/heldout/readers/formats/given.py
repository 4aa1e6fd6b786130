"""Values that a user gives for a table that lacks them: true values, folds, groups and weights.

They are a column of the table, a column of another file (``FILE:COL``), or an array with a value for each line.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from heldout.data.task import column_of, in_order_of, row_labels
from heldout.errors import InputError
from heldout.readers.columns import free_name
from heldout.readers.formats.base import PURPOSES, ColumnUses
from heldout.readers.tables import Table, read_table

INDEX = "Unnamed: 0"
"""The name that a column without a name gets, such as an index that pandas wrote."""
_COLUMNS = {"target": "true values", "fold": "folds", "group": "groups", "weight": "weights"}
"""The names of the columns that hold given values."""


def with_values(table: Table, uses: ColumnUses, *, by_label: bool = False) -> tuple[Table, ColumnUses]:
    """The table with what the user gives as values in columns of its own, and the uses with the names of these.

    A Series is matched with the labels of the rows, as ``in_order_of`` says; all else is in the order of the lines.
    ``by_label``: the tool keeps the labels of the rows of the data, of which a Series may have more.
    """
    named: dict[str, Any] = {}
    frame, labels = table.frame, table.labels
    for use, name in _COLUMNS.items():
        given = getattr(uses, use)
        if given is None or (isinstance(given, str) and given in frame):
            continue
        values = values_of(given, use, table)
        index = row_labels(values)
        if by_label and labels is not None and index is not None and index.is_unique and {*labels} <= {*index}:
            values = values.loc[labels]
        array = column_of(in_order_of(labels, "source", values, use), use)
        if array.ndim != 1 or len(array) != len(frame):
            raise InputError(
                f"{use} must be a column, or one value for each of the {len(frame)} lines of {table.name}, got "
                f"shape {array.shape}.",
                argument=use,
            )
        named[use] = free_name(name, frame.columns)
        frame = frame.assign(**{named[use]: array})
    return replace(table, frame=frame), replace(uses, **named)


def check_target(uses: ColumnUses, name: str) -> None:
    """Refuse an export without true values where the user gives none."""
    if uses.target is None:
        raise InputError(
            f"target is needed: name the column of true values of {name} with `target='COL'`, or give "
            "`target='FILE:COL'`, a column of another file with rows in the same order (in Python also an array).",
            argument="target",
        )


def values_of(given: Any, use: str, table: Table) -> Any:
    """The column of a file, with the labels in a column without a name, or an array or Series as it is.

    A name that is neither a file's column nor ``FILE:COL`` is refused with the nearest names of the table.
    """
    if isinstance(given, str):
        file, _, column = given.rpartition(":")
        if not (file and Path(file).is_file()):
            table.column(given, PURPOSES[use])
        other = read_table(file)
        values = other.column(column, PURPOSES[use])
        return values.set_axis(other.frame[INDEX]) if INDEX in other.frame else values
    if hasattr(given, "as_data_frame"):  # a frame of H2O
        given = given.as_data_frame()
    if getattr(given, "ndim", 1) == 2 and given.shape[1] == 1 and hasattr(given, "iloc"):
        return given.iloc[:, 0]
    return given
