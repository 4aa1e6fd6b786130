"""Between all configurations, of which a rule sees a column each, and the candidates, which alone have scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.reference import Floats
from heldout.selection.base import NONE_CHOSEN


def over_all_configurations(
    values: Floats, candidates: NDArray[np.intp], n_configurations: int, axis: int
) -> Floats:
    """Values with a place for every configuration along ``axis``, NaN for those that are no candidates.

    Examples
    --------
    >>> over_all_configurations(np.array([[0.5, 0.7]]), np.array([0, 2]), 3, axis=1).tolist()
    [[0.5, nan, 0.7]]
    """
    if len(candidates) == n_configurations:
        return values
    shape = list(values.shape)
    shape[axis] = n_configurations
    spread = np.full(shape, np.nan)
    place: list[Any] = [slice(None)] * values.ndim
    place[axis] = candidates
    spread[tuple(place)] = values
    return spread


def candidate_columns(
    chosen: NDArray[np.intp], candidates: NDArray[np.intp], n_configurations: int
) -> NDArray[np.intp]:
    """The candidate column of each chosen configuration; ``NONE_CHOSEN`` where none was, or one that is none.

    Examples
    --------
    >>> candidate_columns(np.array([2, 1, NONE_CHOSEN]), np.array([0, 2]), 3).tolist()
    [1, -1, -1]
    """
    column = np.full(n_configurations + 1, NONE_CHOSEN)  # the last entry serves NONE_CHOSEN itself
    column[candidates] = np.arange(len(candidates))
    return column[chosen]
