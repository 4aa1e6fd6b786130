"""What a rule chose: a column, an ensemble of columns, or columns that tie; one for each weighting of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats
from heldout.selection.base import NONE_CHOSEN, best_score, not_below, tie_exactly


@dataclass(frozen=True, eq=False)
class Choice:
    """Of L weightings.

    Attributes
    ----------
    columns : ndarray of int, shape (L,)
        The chosen column, that of the greatest weight in an ensemble; ``NONE_CHOSEN`` where nothing was chosen.
    weights : ndarray of shape (L, columns) or None
        Of an ensemble: not negative, of sum 1.
    tied : ndarray of shape (L, columns) or None
        Where columns that tie share the choice: 1/T for each of T, whose scores are averaged.
    """

    columns: NDArray[np.intp]
    weights: Floats | None = None
    tied: Floats | None = None

    def __len__(self) -> int:
        return len(self.columns)

    def repeated(self, times: int) -> Choice:
        """The only choice, so many times."""
        return self.of(np.zeros(times, dtype=np.intp))

    def of(self, lanes: Sequence[int] | NDArray[np.intp]) -> Choice:
        """The choices under some of the weightings."""
        lanes = np.asarray(lanes, dtype=np.intp)
        weights, tied = (None if each is None else each[lanes] for each in (self.weights, self.tied))
        return Choice(self.columns[lanes], weights, tied)

    def distinct(self) -> Choice:
        """What was chosen at all, each column or ensemble once, in a fixed order.

        Examples
        --------
        >>> Choice(np.array([4, NONE_CHOSEN, 2, 4])).distinct().columns.tolist()
        [2, 4]
        """
        if self.tied is not None:
            return Choice(np.flatnonzero(self.tied.any(axis=0)))
        columns = self.columns[self.columns != NONE_CHOSEN]
        if self.weights is None:
            return Choice(np.unique(columns))
        weights = np.unique(self.weights[self.columns != NONE_CHOSEN], axis=0)[::-1]  # column 0 before column 1
        return Choice(weights.argmax(axis=1), weights)

    def shares(self, n_columns: int) -> Floats:
        """(columns,): how often each was chosen, as a mean over the weightings; of an ensemble the mean weight."""
        shared = self.weights if self.tied is None else self.tied
        if shared is not None:
            mean: Floats = shared.sum(axis=0) / len(self)
            return mean
        chosen = self.columns[self.columns != NONE_CHOSEN]
        return np.bincount(chosen, minlength=n_columns) / len(self)


def of_weights(weights: Floats) -> Choice:
    """The choice of ensembles with the given weights (L, columns); none where all are 0.

    Examples
    --------
    >>> of_weights(np.array([[0.25, 0.5, 0.25], [0.0, 0.0, 0.0]])).columns.tolist()
    [1, -1]
    """
    return Choice(np.where(weights.any(axis=1), weights.argmax(axis=1), NONE_CHOSEN), weights)


def of_all_tied(scores: Floats) -> Choice:
    """All columns of the greatest score (L, columns), which share the choice; NaN never wins.

    Examples
    --------
    >>> of_all_tied(np.array([[0.7, np.nan, 0.7], [0.1, 0.2, 0.3]])).tied.tolist()
    [[0.5, 0.0, 0.5], [0.0, 0.0, 1.0]]
    """
    exact = tie_exactly(scores)
    tied = not_below(exact, best_score(exact))
    columns = np.where(tied.any(axis=1), tied.argmax(axis=1), NONE_CHOSEN)
    return Choice(columns, tied=tied / np.maximum(tied.sum(axis=1, keepdims=True), 1))


def together(columns: NDArray[np.intp], n_columns: int) -> Choice:
    """One choice that some of the columns share.

    Examples
    --------
    >>> together(np.array([0, 2]), 3).tied.tolist()
    [[0.5, 0.0, 0.5]]
    """
    shares = np.zeros((1, n_columns))
    shares[0, columns] = 1 / len(columns)
    return Choice(columns[:1], tied=shares)


def joined(choices: list[Choice]) -> Choice:
    """Choices of consecutive weightings as one."""
    # All blocks have the same kind of choice, as they have the same rule.
    weights = [choice.weights for choice in choices if choice.weights is not None]
    tied = [choice.tied for choice in choices if choice.tied is not None]
    return Choice(
        np.concatenate([choice.columns for choice in choices]),
        np.concatenate(weights) if weights else None,
        np.concatenate(tied) if tied else None,
    )
