"""Values that a user gives for an export that lacks them: true values, folds, groups and weights.

They are a column of the export, a column of another file (``FILE:COL``), or an array with a value for each row.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from heldout.data.task import column_of, in_order_of, row_labels
from heldout.errors import InputError
from heldout.readers.columns import free_name
from heldout.readers.formats.base import ColumnUses
from heldout.readers.tables import Table, read_table

INDEX = "Unnamed: 0"
"""The name that a column without a name gets, such as an index that pandas wrote."""
_WORDS = {
    "target": "the true values",
    "fold": "the folds",
    "group": "the groups",
    "weight": "the weights",
    "row": "the rows",
}


def needed_truth(uses: ColumnUses, tool: str) -> Any:
    """What the user gave as the true values of an export that has none; refused where nothing was given."""
    if uses.target is None:
        raise InputError(
            f"{tool} does not hold the true values; give them with `target='FILE:COL'`, a column of another file "
            "with the rows in the same order (in Python also an array), or with `target='COL'` if you added them "
            "to the export.",
            argument="target",
        )
    return uses.target


def with_uses(
    frames: Mapping[str, Any], uses: ColumnUses, *, by_label: bool = False
) -> tuple[dict[str, Any], dict[str, str]]:
    """The tables of all models with what the user gave, and the columns of it by their uses.

    Excluded columns are dropped. The column ``row`` is the one that the user named, or else the number of the line.
    """
    tables: dict[str, Any] = {}
    names: dict[str, str] = {}
    for model, frame in frames.items():
        for use in _WORDS:
            value = getattr(uses, use)
            if value is not None:
                frame, names[use] = with_given(frame, value, use, model, by_label=by_label)
        if uses.row is None:
            names["row"] = free_name("row", frame.columns)
            frame = frame.assign(**{names["row"]: np.arange(1, len(frame) + 1)})
        twice = next((name for name in names.values() if name in uses.exclude), None)
        if twice is not None:
            raise InputError(f"column {twice!r} was named for two uses; a column has one.")
        for name in uses.exclude:
            Table(model, frame).column(name, "one to leave out")
        tables[model] = frame.drop(columns=list(uses.exclude))
    return tables, names


def with_given(frame: Any, given: Any, use: str, name: str, *, by_label: bool = False) -> tuple[Any, str]:
    """The frame, and the name of its column for what the user gave; the column is added unless it is there.

    Parameters
    ----------
    frame : pandas.DataFrame
        A line for each row.
    given : str, array-like or pandas.Series
        A Series is matched by its index, as ``in_order_of`` says; all else is in the order of the lines.
    use : str
        Such as "target".
    name : str
        Of the export.
    by_label : bool
        Whether the tool keeps the labels of the rows of the data, of which a Series may have more.
    """
    if isinstance(given, str) and given in frame.columns:
        return frame, given
    words = _WORDS[use]
    values = values_of(given, words, Table(name, frame))
    labels = row_labels(values)
    if by_label and labels is not None and labels.is_unique and {*frame.index} <= {*labels}:
        values = values.loc[frame.index]
    values = column_of(in_order_of(frame.index, "source", values, use), words)
    if len(values) != len(frame):
        raise InputError(f"{words} are {len(values)} for the {len(frame)} rows of {name}; give one for each row.")
    added = free_name(words.removeprefix("the "), frame.columns)
    return frame.assign(**{added: values}), added


def values_of(given: Any, use: str, table: Table) -> Any:
    """The column of a file, with the labels in a column without a name, or an array or Series as it is.

    A name that is neither a file's column nor ``FILE:COL`` is refused with the nearest names of the table.
    """
    if isinstance(given, str):
        file, _, column = given.rpartition(":")
        if not (file and Path(file).is_file()):
            table.column(given, use)
        other = read_table(file)
        values = other.column(column, use)
        return values.set_axis(other.frame[INDEX]) if INDEX in other.frame else values
    if hasattr(given, "as_data_frame"):  # a frame of H2O
        given = given.as_data_frame()
    if getattr(given, "ndim", 1) == 2 and given.shape[1] == 1 and hasattr(given, "iloc"):
        return given.iloc[:, 0]
    return given
