"""The repeats behind the resamples of a tool: which of them together hold every row out once.

A repeat of cross-validation divides the rows into folds. The test rows of bootstrap samples and random splits
overlap, so each such resample is a repeat of its own, of one fold, that leaves most rows without a prediction.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.readers.columns import free_name
from heldout.readers.tables import Table

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
        return [(0, int(piece), "") if piece.isdecimal() else (1, 0, piece) for piece in pieces if piece]

    return sorted(range(len(labels)), key=lambda place: parts(labels[place]))


def repeats_in_names(resamples: Any) -> Any:
    """The number of the repeat in each name of a column, or None if the names have none.

    Examples
    --------
    >>> import pandas as pd
    >>> repeats_in_names(pd.Series(["Fold1.Rep2", "Fold1.Rep1"])).tolist()
    [2, 1]
    """
    numbers = {}
    for label in resamples.unique():
        match = _REPEAT.fullmatch(str(label))
        if match is None:
            return None
        numbers[label] = int(match[1])
    return resamples.map(numbers)


def with_repeats_of_names(table: Table, fold: str) -> tuple[Table, str | None]:
    """The table with a column of the repeats in the names of folds, and its name; None if the names have none."""
    numbers = repeats_in_names(table.frame[fold])
    if numbers is None:
        return table, None
    name = free_name("repeat", table.frame.columns)
    return replace(table, frame=table.frame.assign(**{name: numbers})), name


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
    pairs = np.unique(np.stack([resamples, rows]), axis=1)
    sizes = np.bincount(pairs[0])
    if len(np.unique(pairs[1])) == len(pairs[1]):
        return np.zeros(len(sizes), dtype=np.intp)
    ends = np.cumsum(sizes)
    repeat = (ends - 1) // n_rows
    whole = np.isin(np.arange(n_rows, ends[-1] + n_rows, n_rows), ends).all()
    once = np.unique(np.stack([repeat[pairs[0]], pairs[1]]), axis=1).shape == pairs.shape
    return repeat if whole and once else np.arange(len(sizes), dtype=np.intp)
