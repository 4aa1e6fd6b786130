"""Repeats in a long table: which lines are the same row.

A repeat is a cross-validation on all rows, so every repeat must hold each row once, with one true value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.readers.table_cells import Axis, axis_of, lines_of_cells
from heldout.readers.table_words import plain


def places_of_repeats(repeat: Any, row: Any, shared: Mapping[str, Any], n_lines: int) -> NDArray[np.intp]:
    """The line of each row in each repeat.

    Parameters
    ----------
    repeat, row : pandas.Series of n_lines values or None
        Of which repeat a line is, and of which row.
    shared : mapping of str to pandas.Series
        What a row has once, whatever the repeat: the target, its group and weight.

    Returns
    -------
    ndarray of int, shape (N, R)
        Sorted by the names of rows and repeats where rows have names, else in the order of the file.

    Raises
    ------
    InputError
        When the repeats are not of the same rows.
    """
    if repeat is None:
        if row is not None:
            _check_once(row)
        return np.arange(n_lines, dtype=np.intp)[:, None]
    repeats = axis_of("repeat", repeat)
    places = _by_order(repeats) if row is None else _by_row(repeats, row)
    for what, column in shared.items():
        check_agree(what, column, places, repeats.labels, row)
    return places


def _by_order(repeats: Axis) -> NDArray[np.intp]:
    labels, counts = repeats.labels, np.bincount(repeats.codes, minlength=len(repeats.labels))
    odd = np.flatnonzero(counts != counts[0])
    if odd.size:
        raise InputError(
            f"repeat {labels[0]!s} has {counts[0]} rows and repeat {labels[odd[0]]!s} {counts[odd[0]]}; each "
            "repeat must hold the same rows: leave out what some lack, or say which rows are the same by --row COL."
        )
    return np.argsort(repeats.codes, kind="stable").astype(np.intp).reshape(len(labels), -1).T


def _by_row(repeats: Axis, row: Any) -> NDArray[np.intp]:
    return lines_of_cells(
        [axis_of("row", row), repeats],
        (
            "a repeat holds each row once: fix the file, name other columns with --row and --repeat, or, if the "
            "lines are of several configurations, name the column that tells them apart with --configuration COL",
            "each repeat must hold the same rows: leave out the rows that some repeat lacks",
        ),
    )


def _check_once(row: Any) -> None:
    again = row.duplicated().to_numpy()
    if again.any():
        first = int(again.argmax())
        raise InputError(
            f"row {row.iloc[first]!s} stands in more than one line ({first + 1} is the second); if the lines are "
            "of several repeats, name the column that numbers them with --repeat COL; if they are of several "
            "configurations, the column that tells them apart with --configuration COL."
        )


def check_agree(what: str, column: Any, places: NDArray[np.intp], labels: Any, row: Any) -> None:
    """Refuse rows (N, R) of which a column says one thing in one repeat and another in the next.

    Raises
    ------
    InputError
    """
    values = column.to_numpy()[places]
    differs = np.argwhere(values != values[:, :1])
    if not differs.size:
        return
    who, where = differs[0]
    first, other = int(places[who, 0]), int(places[who, where])
    if row is None:
        raise InputError(
            f"repeats {labels[0]!s} and {labels[where]!s} are not of the same rows in the same order: {what} "
            f"(column {column.name!r}) is {plain(column.iloc[first])} in row {first + 1} of the file and "
            f"{plain(column.iloc[other])} in row {other + 1}; say which rows are the same by --row COL."
        )
    raise InputError(
        f"row {row.iloc[first]!s} has two values of {what} (column {column.name!r}): {column.iloc[first]!s} in "
        f"repeat {labels[0]!s} and {column.iloc[other]!s} in repeat {labels[where]!s}; fix the file."
    )
