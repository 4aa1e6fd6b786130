"""Values that a user gives for an export that lacks them: true values, folds, groups and weights.

They are a column of the export, a column of another file (``FILE:COL``), or an array with a value for each row.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from heldout._text import argument, in_python
from heldout.data.arrays import column_of
from heldout.errors import InputError
from heldout.readers.columns import free_name, quoted
from heldout.readers.formats.base import ColumnUses
from heldout.readers.tables import Table, read_table

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
            f"{tool} does not hold the true values; give them with {argument('target', 'FILE:COL')}, a column of "
            "another file with the rows in the same order, or with "
            f"{argument('target', 'COL')} if you added them to the export"
            f"{in_python(', or as an array, target=y')}.",
            argument="target",
        )
    return uses.target


def with_uses(frames: Mapping[str, Any], uses: ColumnUses) -> tuple[dict[str, Any], dict[str, str]]:
    """The tables of all models with what the user gave, and the columns of it by their uses.

    Excluded columns are dropped. The column ``row`` is the one that the user named, or else the number of the line.
    """
    tables: dict[str, Any] = {}
    names: dict[str, str] = {}
    for model, frame in frames.items():
        for use, words in _WORDS.items():
            value = getattr(uses, use)
            if value is not None:
                frame, names[use] = with_given(frame, value, words, model)
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


def with_given(frame: Any, given: Any, use: str, name: str) -> tuple[Any, str]:
    """The frame, and the name of its column for what the user gave; the column is added unless it is there.

    Parameters
    ----------
    frame : pandas.DataFrame
        A line for each row.
    given : str, array-like or pandas.Series
        A Series is matched by its index where the frame has labels of its own; all else is in the order of the
        lines.
    use : str
        Such as "the true values", for sentences.
    name : str
        Of the export.
    """
    if isinstance(given, str) and given in frame.columns:
        return frame, given
    values = _aligned(frame, values_of(given, use, Table(name, frame)), use, name)
    if len(values) != len(frame):
        raise InputError(f"{use} are {len(values)} for the {len(frame)} rows of {name}; give one for each row.")
    added = free_name(use.removeprefix("the "), frame.columns)
    return frame.assign(**{added: values}), added


def values_of(given: Any, use: str, table: Table) -> Any:
    """The column of a file, as an array, or an array or Series as it is.

    A name that is neither a file's column nor ``FILE:COL`` is refused with the nearest names of the table.
    """
    if isinstance(given, str):
        file, _, column = given.rpartition(":")
        if not (file and Path(file).is_file()):
            table.column(given, use)
        return read_table(file).column(column, use).to_numpy()
    if hasattr(given, "as_data_frame"):  # a frame of H2O
        given = given.as_data_frame()
    if getattr(given, "ndim", 1) == 2 and given.shape[1] == 1 and hasattr(given, "iloc"):
        return given.iloc[:, 0]
    return given


def _aligned(frame: Any, values: Any, use: str, name: str) -> Any:
    import pandas as pd

    if not isinstance(values, pd.Series) or frame.index.equals(values.index):
        return column_of(values, use)
    if values.index.is_unique and frame.index.isin(values.index).all():
        return values.loc[frame.index].to_numpy()
    if isinstance(frame.index, pd.RangeIndex) or isinstance(values.index, pd.RangeIndex):
        return values.to_numpy()
    raise InputError(
        f"{use} and the predictions of {name} have different row labels (index): {quoted(list(values.index[:3]))} "
        f"and {quoted(list(frame.index[:3]))}; give them with the same index, or as an array in the same order."
    )
