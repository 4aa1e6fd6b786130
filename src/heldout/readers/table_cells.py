"""Where in a long table each cell stands: the line of each combination of keys, such as a row and a repeat.

Every combination must be in exactly one line, so that the order of the lines means nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError


@dataclass(frozen=True, eq=False)
class Axis:
    """One key of a cell.

    Attributes
    ----------
    noun : str
        What its values are, such as "row".
    codes : ndarray of int, shape (n_lines,)
        Of each line the number of its value.
    labels : sequence of n values
        The values behind the codes.
    """

    noun: str
    codes: NDArray[np.intp]
    labels: Sequence[Any]

    def named(self, code: int) -> str:
        """A value for a sentence."""
        return f"{self.noun} {self.labels[code]!s}"


def axis_of(noun: str, column: Any) -> Axis:
    """The axis of a column's values, sorted where they have an order, so that no order of lines changes it.

    Parameters
    ----------
    column : pandas.Series
        Without missing values.
    """
    codes, labels = column.factorize(sort=True)
    return Axis(noun, codes, labels)


def lines_of_cells(axes: Sequence[Axis], remedies: tuple[str, str]) -> NDArray[np.intp]:
    """The line of each cell.

    Parameters
    ----------
    axes : sequence of Axis
    remedies : (str, str)
        What to do about a cell in two lines, and about one in none.

    Returns
    -------
    ndarray of int, with an axis for each of ``axes``

    Raises
    ------
    InputError
        When a cell is in two lines or in none.

    Examples
    --------
    >>> row = Axis("row", np.array([1, 0, 0, 1]), ["a", "b"])
    >>> lines_of_cells([row, Axis("repeat", np.array([0, 1, 0, 1]), [1, 2])], ("mend it", "fill it in")).tolist()
    [[2, 1], [0, 3]]
    """
    shape = tuple(len(axis.labels) for axis in axes)
    if math.prod(shape) > np.iinfo(np.int64).max:
        raise InputError(
            f"{' x '.join(f'{n} {axis.noun}s' for n, axis in zip(shape, axes, strict=True))} are too many cells."
        )
    keys = np.ravel_multi_index([axis.codes for axis in axes], shape)
    order = np.argsort(keys, kind="stable")
    placed = keys[order]
    again = np.flatnonzero(placed[1:] == placed[:-1])
    if again.size:
        first, second = sorted(int(order[again[0] + i]) + 1 for i in (0, 1))
        raise InputError(
            f"{_cell(axes, shape, int(placed[again[0]]))} stands in two lines, {first} and {second}; {remedies[0]}."
        )
    if len(placed) < math.prod(shape):
        gaps = np.flatnonzero(placed != np.arange(len(placed)))
        gap = int(gaps[0]) if gaps.size else len(placed)
        lacking = math.prod(shape) - len(placed)
        more = f" (one of {lacking} that are lacking)" if lacking > 1 else ""
        raise InputError(f"{_cell(axes, shape, gap)} is in no line{more}; {remedies[1]}.")
    return order.reshape(shape)


def _cell(axes: Sequence[Axis], shape: tuple[int, ...], key: int) -> str:
    codes = [int(code) for code in np.unravel_index(key, shape)]
    named = [axis.named(code) for axis, code in zip(axes, codes, strict=True) if len(axis.labels) > 1]
    return " of ".join(named or [axes[0].named(0)])
