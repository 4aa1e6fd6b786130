"""Repeats in a long table: which lines are the same row.

A repeat is a cross-validation on all rows, so every repeat must hold each row once, with one true value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError


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
        Rows and repeats in the order in which they first appear.

    Raises
    ------
    InputError
        When the repeats are not of the same rows.
    """
    if repeat is None:
        if row is not None:
            _check_once(row)
        return np.arange(n_lines, dtype=np.intp)[:, None]
    codes, labels = repeat.factorize()
    counts = np.bincount(codes, minlength=len(labels))
    places = _by_order(codes, labels, counts) if row is None else _by_row(codes, labels, counts, row)
    for what, column in shared.items():
        _check_agree(what, column, places, labels, row)
    return places


def _by_order(codes: NDArray[np.intp], labels: Any, counts: NDArray[np.intp]) -> NDArray[np.intp]:
    odd = np.flatnonzero(counts != counts[0])
    if odd.size:
        raise InputError(
            f"repeat {labels[0]!s} has {counts[0]} rows and repeat {labels[odd[0]]!s} {counts[odd[0]]}; each "
            "repeat must hold the same rows: leave out what some lack, or say which rows are the same by --row COL."
        )
    return np.argsort(codes, kind="stable").astype(np.intp).reshape(len(labels), -1).T


def _by_row(codes: NDArray[np.intp], labels: Any, counts: NDArray[np.intp], row: Any) -> NDArray[np.intp]:
    rows, names = row.factorize()
    lines = np.full((len(names), len(labels)), -1, dtype=np.intp)
    lines[rows, codes] = np.arange(len(rows))
    if len(rows) > (lines >= 0).sum():
        again = np.flatnonzero(lines[rows, codes] != np.arange(len(rows)))[0]
        raise InputError(
            f"row {names[rows[again]]!s} stands twice in repeat {labels[codes[again]]!s}; a repeat holds each row "
            "once, so mend the file, or name other columns with --row and --repeat."
        )
    lacking = np.argwhere(lines < 0)
    if lacking.size:
        who, where = lacking[0]
        raise InputError(
            f"row {names[who]!s} is in no line of repeat {labels[where]!s}; each repeat must hold the same rows: "
            "leave out the rows that some repeat lacks."
        )
    return lines


def _check_once(row: Any) -> None:
    again = row.duplicated().to_numpy()
    if again.any():
        first = int(again.argmax())
        raise InputError(
            f"row {row.iloc[first]!s} stands in more than one line ({first + 1} is the second); if the lines are "
            "of several repeats, name the column that numbers them with --repeat COL."
        )


def _check_agree(what: str, column: Any, places: NDArray[np.intp], labels: Any, row: Any) -> None:
    values = column.to_numpy()[places]
    differs = np.argwhere(values != values[:, :1])
    if not differs.size:
        return
    who, where = differs[0]
    first, other = int(places[who, 0]), int(places[who, where])
    if row is None:
        raise InputError(
            f"repeats {labels[0]!s} and {labels[where]!s} are not of the same rows in the same order: {what} "
            f"(column {column.name!r}) is {column.iloc[first]!s} in row {first + 1} of the file and "
            f"{column.iloc[other]!s} in row {other + 1}; say which rows are the same by --row COL."
        )
    raise InputError(
        f"row {row.iloc[first]!s} has two values of {what} (column {column.name!r}): {column.iloc[first]!s} in "
        f"repeat {labels[0]!s} and {column.iloc[other]!s} in repeat {labels[where]!s}; mend the file."
    )
