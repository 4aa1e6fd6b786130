"""Which line of a table holds each cell, such as a row in a repeat.

Lines are placed by their keys, and every combination of keys must be in exactly one line, so the order of the lines
means nothing. A repeat is a cross-validation on all rows: every repeat holds each row once, with one true value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._text import counted
from heldout.errors import InputError
from heldout.flags import Flag
from heldout.readers.columns import plain, quoted

_REPEAT = re.compile(r".+\.Rep(\d{1,18})")
"""The names that caret gives to the folds of repeats: ``Fold1.Rep2``."""
_DIGITS = re.compile(r"(\d{1,18})")


def natural_order(labels: Sequence[Any]) -> list[int]:
    """The order in which people number: Fold2 before Fold10.

    Examples
    --------
    >>> natural_order(["Fold10", "Fold9", "Fold1"])
    [2, 1, 0]
    """

    def parts(label: Any) -> list[tuple[int, int, str]]:
        pieces = _DIGITS.split(str(label))
        # Numbers before text where both begin a name, so that all names can be compared.
        return [(0, int(piece), "") if piece.isdecimal() else (1, 0, piece) for piece in pieces if piece]

    return sorted(range(len(labels)), key=lambda place: parts(labels[place]))


def repeats_of_names(folds: Any) -> Any:
    """The number of the repeat in the name of each fold, as caret writes it; None if the names have none.

    Examples
    --------
    >>> import pandas as pd
    >>> repeats_of_names(pd.Series(["Fold1.Rep2", "Fold1.Rep1"])).tolist()
    [2, 1]
    """
    numbers = {label: match[1] for label in folds.unique() if (match := _REPEAT.fullmatch(str(label)))}
    return folds.map(numbers).astype(int) if len(numbers) == folds.nunique(dropna=False) else None


def repeats_of_resamples(rows: NDArray[np.intp], resamples: NDArray[np.intp], n_rows: int) -> NDArray[np.intp]:
    """The repeat of each resample.

    Parameters
    ----------
    rows, resamples : ndarray of int, shape (n,)
        Rows that were held out, each with the number of its resample, in the order in which they were drawn.
    n_rows : int

    Returns
    -------
    ndarray of int, shape (number of resamples,)
        Successive resamples are one repeat if each row is in exactly one of them, and this divides all resamples;
        otherwise each resample is a repeat of its own, unless no two overlap.

    Examples
    --------
    >>> rows, folds = np.array([0, 1, 2, 2, 0, 1]), np.array([0, 0, 1, 2, 3, 3])
    >>> repeats_of_resamples(rows, folds, 3).tolist()
    [0, 0, 1, 1]
    """
    # Once a row and resample: each configuration repeats them.
    pairs = np.unique(np.stack([resamples, rows]), axis=1)
    sizes = np.bincount(pairs[0])
    # No row recurs, so all resamples are folds of one repeat.
    if len(np.unique(pairs[1])) == len(pairs[1]):
        return np.zeros(len(sizes), dtype=np.intp)
    ends = np.cumsum(sizes)
    repeat = (ends - 1) // n_rows
    # Repeats of whole cross-validations end exactly at multiples of the number of rows; bootstraps and hold-outs do
    # not.
    whole = np.isin(np.arange(n_rows, ends[-1] + n_rows, n_rows), ends).all()
    once = np.unique(np.stack([repeat[pairs[0]], pairs[1]]), axis=1).shape == pairs.shape
    return repeat if whole and once else np.arange(len(sizes), dtype=np.intp)


@dataclass(frozen=True, eq=False)
class LineKey:
    """One key of a cell."""

    noun: str
    """What its values are, such as "row"."""
    codes: NDArray[np.intp]
    """(n_lines,): the number of each line's value."""
    labels: Sequence[Any]
    """The value of each code."""

    def text(self, code: int) -> str:
        """A value, for a sentence."""
        return f"{self.noun} {self.labels[code]!s}"


def line_key(noun: str, column: Any) -> LineKey:
    """The key with a column's values, none of them missing; sorted, so that the order of lines does not matter."""
    codes, labels = column.factorize(sort=True)
    return LineKey(noun, codes, labels)


def configuration_key(frame: Any, columns: Sequence[str], name: str) -> LineKey:
    """The configurations: combinations of the values of their columns, by the sorted values of each column.

    A missing value is the setting of another model: it is a value of its own, which the name leaves out. Columns of
    which most combinations are in one line, as those of identifiers are, are refused; ``name`` is the table's, for
    the sentence.
    """
    keys = [_setting_key(frame[column]) for column in columns]
    codes = np.zeros(len(frame), dtype=np.intp)
    for key in keys:  # one column after the other: all combinations of many settings would be too many to number
        codes = np.unique(codes * len(key.labels) + key.codes, return_inverse=True)[1].reshape(-1)
    first = np.unique(codes, return_index=True)[1]
    alone = len(keys) == 1 and isinstance(keys[0].labels[0], str)
    labels = [
        ", ".join(
            plain(value, 200) if alone else f"{column}={plain(value, 200)}"
            for column, value in zip(columns, (key.labels[key.codes[line]] for key in keys), strict=True)
            if value is not None
        )
        or "no settings"
        for line in first
    ]
    if 2 * len(labels) > len(codes):
        raise InputError(
            f"{quoted(columns)} of {name} would make {len(labels)} configurations of "
            f"{counted(len(codes), 'line')}, most of them with one row; name the columns of settings with "
            "`configuration=`, or leave out with `exclude=` a column that is none (to bound one configuration "
            "named beforehand: heldout estimate --fixed-configuration NAME)."
        )
    return LineKey("configuration", codes, labels)


def _setting_key(column: Any) -> LineKey:
    """The key with a column's values, sorted, and None last for missing ones."""
    codes, labels = column.factorize(sort=True)
    missing = codes < 0
    is_whole = labels.dtype.kind == "f" and np.isfinite(labels).all() and (labels == labels.round()).all()
    if missing.any() and is_whole:
        labels = labels.astype(np.int64)  # whole numbers, which missing values turned into floats
    return LineKey("configuration", np.where(missing, len(labels), codes), [*labels, None])


def lines_of_cells(
    keys: Sequence[LineKey], again: str, missing: str | None = None, *, shown: Sequence[LineKey] = ()
) -> NDArray[np.intp]:
    """The line of each cell, with an axis for each key, -1 where a cell is in no line.

    Parameters
    ----------
    again : str
        What to do about a cell in two lines, which is refused.
    missing : str, optional
        What to do about a cell in no line, which is then refused too.
    shown : sequence of LineKey
        The keys that name a line in the refusal, by default ``keys``.

    Examples
    --------
    >>> row = LineKey("row", np.array([1, 0, 0, 1]), ["a", "b"])
    >>> lines_of_cells([row, LineKey("repeat", np.array([0, 1, 0, 1]), [1, 2])], "fix it", "fill it in").tolist()
    [[2, 1], [0, 3]]
    """
    shape = tuple(len(key.labels) for key in keys)
    # Beyond this, numbers of cells would overflow and meet each other.
    if math.prod(shape) > np.iinfo(np.int64).max:
        raise InputError(
            f"{' x '.join(f'{n} {key.noun}s' for n, key in zip(shape, keys, strict=True))} are too many cells."
        )
    numbers = np.ravel_multi_index([key.codes for key in keys], shape)
    order = np.argsort(numbers, kind="stable")
    placed = numbers[order]
    twice = np.flatnonzero(placed[1:] == placed[:-1])
    if twice.size:
        first, second = (int(line) for line in order[twice[0] : twice[0] + 2])
        cell = _cell(shown or keys, [key.codes[first] for key in shown or keys])
        raise InputError(f"{cell} is in two lines, {first + 1} and {second + 1}; {again}.")
    absent = math.prod(shape) - len(placed)
    if missing is not None and absent:
        gaps = np.flatnonzero(placed != np.arange(len(placed)))
        gap = int(gaps[0]) if gaps.size else len(placed)
        more = f" (one of {absent} that are missing)" if absent > 1 else ""
        raise InputError(f"{_cell(keys, np.unravel_index(gap, shape))} is in no line{more}; {missing}.")
    lines = np.full(shape, -1, dtype=np.intp)
    lines.reshape(-1)[placed] = order
    return lines


def _cell(keys: Sequence[LineKey], codes: Sequence[Any]) -> str:
    named = [key.text(int(code)) for key, code in zip(keys, codes, strict=True) if len(key.labels) > 1]
    return " of ".join(named or [keys[0].text(0)])


def first_lines(lines: NDArray[np.intp]) -> NDArray[np.intp]:
    """(n,): the first of lines (n, k) that is there, -1 where there is none."""
    return np.asarray(lines[np.arange(len(lines)), (lines >= 0).argmax(axis=1)])


def check_same(what: str, column: Any, lines: NDArray[np.intp], rows: LineKey) -> None:
    """Refuse rows with two values of a column; ``lines`` (N, n) has lines of each row, -1 for none."""
    codes, first = column.factorize()[0], first_lines(lines)
    differs = np.argwhere((lines >= 0) & (codes[lines] != codes[first][:, None]))
    if not differs.size:
        return
    place, other = differs[0]
    one, two = sorted((int(first[place]), int(lines[place, other])))
    raise InputError(
        f"row {plain(rows.labels[rows.codes[one]])} has two values of {what} (column {column.name!r}): "
        f"{plain(column.iloc[one])} in line {one + 1} and {plain(column.iloc[two])} in line {two + 1}; fix the "
        "file, or name the column that numbers the rows with --row COL."
    )


def numbered_rows(labels: Sequence[Any], most: float = 2) -> int:
    """How many rows numbers from 0 or 1 count.

    Names, and numbers that count over ``most`` times as many rows as there are, are as many rows as there are.
    """
    numbers = np.asarray(labels)
    if numbers.dtype.kind not in "iu" or numbers.min() < 0:
        return len(numbers)
    last = int(numbers.max()) + int(numbers.min() == 0)
    return last if last <= most * len(numbers) else len(numbers)


def flag_of_rows(n_rows: int, n_predicted: int, source: str) -> dict[Flag, str]:
    """The flag of rows without a prediction, if there are some."""
    missing = n_rows - n_predicted
    return Flag.ROWS_NOT_HELD_OUT.of(source=source, missing=missing, total=n_rows) if missing > 0 else {}
