"""What a rule chose under each of several weightings: one column, or weights over the columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.reference import Floats
from heldout.selection.base import NONE_CHOSEN


@dataclass(frozen=True, eq=False)
class Choice:
    """Of L weightings.

    Attributes
    ----------
    columns : ndarray of int, shape (L,)
        The chosen column, that of the greatest weight in an ensemble; ``NONE_CHOSEN`` where nothing was chosen.
    weights : ndarray of shape (L, columns) or None
        Of an ensemble: not negative, of sum 1.
    """

    columns: NDArray[np.intp]
    weights: Floats | None = None

    def __len__(self) -> int:
        return len(self.columns)

    def repeated(self, times: int) -> Choice:
        """The only choice, so many times."""
        weights = None if self.weights is None else np.repeat(self.weights, times, axis=0)
        return Choice(np.repeat(self.columns, times), weights)

    def of(self, lanes: Sequence[int] | NDArray[np.intp]) -> Choice:
        """The choices under some of the weightings."""
        lanes = np.asarray(lanes, dtype=np.intp)
        return Choice(self.columns[lanes], None if self.weights is None else self.weights[lanes])

    def distinct(self) -> Choice:
        """What was chosen at all, each column or ensemble once, in a fixed order.

        Examples
        --------
        >>> Choice(np.array([4, NONE_CHOSEN, 2, 4])).distinct().columns.tolist()
        [2, 4]
        """
        columns = self.columns[self.columns != NONE_CHOSEN]
        if self.weights is None:
            return Choice(np.unique(columns))
        weights = np.unique(self.weights[self.columns != NONE_CHOSEN], axis=0)[::-1]  # column 0 before column 1
        return Choice(weights.argmax(axis=1), weights)

    def shares(self, n_columns: int) -> Floats:
        """(columns,): how often each was chosen, as a mean over the weightings; of an ensemble the mean weight."""
        if self.weights is not None:
            mean: Floats = self.weights.sum(axis=0) / len(self)
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


def joined(choices: list[Choice]) -> Choice:
    """Choices of consecutive weightings as one."""
    weights = [choice.weights for choice in choices if choice.weights is not None]
    return Choice(
        np.concatenate([choice.columns for choice in choices]), np.concatenate(weights) if weights else None
    )
