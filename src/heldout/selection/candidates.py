"""The selection among candidates: a rule sees a column for every configuration; only candidates have scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.reference import Floats
from heldout.selection.base import NONE_CHOSEN, ScoreTable, SelectionRule, tie_exactly


def chosen_columns(
    rule: SelectionRule,
    values: Floats,
    columns: NDArray[np.intp],
    params: Sequence[Mapping[str, Any]],
    metric_names: Sequence[str],
    folds: Floats | None = None,
    repeats: Floats | None = None,
) -> NDArray[np.intp]:
    """(L,): the candidate column that a rule selects in each resample, ``NONE_CHOSEN`` where none can be.

    A search, an estimate and a bootstrap all select here, so that all of them break ties alike.

    Parameters
    ----------
    values : ndarray of shape (L, candidates, M)
        Greater = better, the refit metric first. The noise of their last bits is cut off, so that equal scores tie.
    columns : ndarray of int
        The configuration behind each candidate column.
    params : sequence of mapping
        Of all C configurations.
    metric_names : sequence of str
        Of the M metrics.
    folds : ndarray of shape (L, splits, candidates, M), optional
    repeats : ndarray of shape (L, repeats, candidates, M), optional

    Examples
    --------
    >>> from heldout.selection.best import Best
    >>> scores = np.array([[[0.3], [0.1 + 0.2]], [[0.3], [0.4]]])
    >>> chosen_columns(Best(), scores, np.array([0, 2]), [{}, {}, {}], ["accuracy"]).tolist()
    [0, 1]
    """
    n = len(params)
    table = ScoreTable(
        over_all_configurations(tie_exactly(values), columns, n, axis=1),
        metric_names,
        params,
        None if folds is None else over_all_configurations(folds, columns, n, axis=2),
        None if repeats is None else over_all_configurations(repeats, columns, n, axis=2),
    )
    return candidate_columns(rule(table), columns, n)


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
