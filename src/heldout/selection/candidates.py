"""The choice among candidates: a rule sees a column for every configuration, and the candidates alone have scores.

``Candidates.choose`` is the only place where a search, an estimate or a bootstrap asks a rule for its choice, so
that all of them break ties alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.reference import Floats
from heldout.selection.base import NONE_CHOSEN, ScoreTable, SelectionRule
from heldout.selection.ties import tie_exactly


@dataclass(frozen=True, eq=False)
class Candidates:
    """The configurations that a rule may choose.

    Attributes
    ----------
    columns : ndarray of int
        The configuration behind each candidate column.
    params : sequence of mapping
        Of all C configurations.
    metric_names : sequence of str
        Of the M metrics that the rule reads, the refit metric first.

    Examples
    --------
    >>> from heldout.selection.best import Best
    >>> candidates = Candidates(np.array([0, 2]), [{}, {}, {}], ["accuracy"])
    >>> candidates.choose(Best(), np.array([[[0.3], [0.1 + 0.2]], [[0.3], [0.4]]])).tolist()
    [0, 1]
    """

    columns: NDArray[np.intp]
    params: Sequence[Mapping[str, Any]]
    metric_names: Sequence[str]

    def choose(
        self, rule: SelectionRule, values: Floats, folds: Floats | None = None, repeats: Floats | None = None
    ) -> NDArray[np.intp]:
        """(L,): the candidate column chosen in each resample, ``NONE_CHOSEN`` where none can be.

        Parameters
        ----------
        values : ndarray of shape (L, candidates, M)
            Greater = better. The noise of their last bits is cut off, so that equal scores tie.
        folds : ndarray of shape (L, splits, candidates, M), optional
        repeats : ndarray of shape (L, repeats, candidates, M), optional
        """
        table = ScoreTable(
            self._of_all(tie_exactly(values), axis=1),
            self.metric_names,
            self.params,
            None if folds is None else self._of_all(folds, axis=2),
            None if repeats is None else self._of_all(repeats, axis=2),
        )
        return candidate_columns(rule(table), self.columns, len(self.params))

    def _of_all(self, values: Floats, axis: int) -> Floats:
        return over_all_configurations(values, self.columns, len(self.params), axis)


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
