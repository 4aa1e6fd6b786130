"""How the values of one parameter are laid out: on which axis, and in which steps the best is looked for."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats

MOST_VALUES = 12
"""Of more distinct numbers, the best is looked for in each eighth of them."""
_DECADES, _DECADES_OF_HALF = 1.5, 0.6
"""Decades that all values, and the middle half of them, span at least on a logarithmic axis."""


def is_logarithmic(values: Floats) -> bool:
    """Whether numbers are positive and spread over so many orders of magnitude that a logarithmic axis suits them.

    Examples
    --------
    >>> is_logarithmic(np.array([0.01, 0.1, 1.0, 10.0])), is_logarithmic(np.array([0.001, 0.5, 0.6, 0.7, 1.0]))
    (True, False)
    """
    distinct = np.unique(values)
    if distinct[0] <= 0:
        return False
    first, third = distinct[len(distinct) // 4], distinct[(3 * len(distinct) - 1) // 4]
    is_wide = math.log10(distinct[-1] / distinct[0]) >= _DECADES
    return is_wide and math.log10(third / first) >= _DECADES_OF_HALF


def eighths_of(values: Floats) -> NDArray[np.intp] | None:
    """The eighth of each number, of equally many each, so that the best of one is not better by their count alone.

    None of at most ``MOST_VALUES`` distinct numbers: each is a step of its own.
    """
    return equal_groups(values, 8) if len(np.unique(values)) > MOST_VALUES else None


def equal_groups(values: Floats, n: int) -> NDArray[np.intp]:
    """Numbers in n groups of about equal size, equal ones together."""
    ranks = np.searchsorted(np.sort(values), values)
    return np.asarray(ranks * n // len(values), dtype=np.intp)
