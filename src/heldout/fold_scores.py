"""Fold scores: the metric of each configuration in each split, all that some searches leave behind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SLACK = 1e-12
"""How far apart, relative to themselves, scores may lie that differ by rounding errors only."""


@dataclass(frozen=True, eq=False)
class FoldScores:
    """A matrix of splits x configurations, in the metric's own direction and units.

    Attributes
    ----------
    values : ndarray of shape (splits, C)
        NaN where a configuration was not fitted or the metric is undefined.
    greater_is_better : bool
    repeat : ndarray of int, shape (splits,)
        The repeat that a split belongs to.
    test_rows : ndarray of int, shape (splits,), or None
        How many rows each split tests.
    """

    values: NDArray[np.float64]
    greater_is_better: bool
    repeat: NDArray[np.intp]
    test_rows: NDArray[np.intp] | None = None

    @property
    def n_splits(self) -> int:
        return self.values.shape[0]

    @property
    def n_configurations(self) -> int:
        return self.values.shape[1]

    def last(self, n_splits: int) -> FoldScores:
        """Those of the last splits, whose repeats are numbered from 0 again."""
        repeat = np.unique(self.repeat[-n_splits:], return_inverse=True)[1].astype(np.intp)
        tested = None if self.test_rows is None else self.test_rows[-n_splits:]
        return FoldScores(self.values[-n_splits:], self.greater_is_better, repeat, tested)

    def oriented(self) -> NDArray[np.float64]:
        """Scores with greater = better."""
        return self.values.copy() if self.greater_is_better else -self.values


def ranks(scores: NDArray[np.float64]) -> NDArray[np.int32]:
    """1 for the greatest; ties share the least rank, NaN comes last: as ``rank_test_*`` has it.

    Scores that differ by rounding errors only are ties, as they are where the winner is chosen.

    Examples
    --------
    >>> ranks(np.array([0.7, np.nan, 0.9, 0.7])).tolist()
    [2, 4, 1, 2]
    >>> ranks(np.array([0.1 + 0.2, 0.3])).tolist()
    [1, 1]
    """
    filled = np.where(np.isnan(scores), -np.inf, scores)
    room = np.where(np.isfinite(filled), SLACK * np.abs(filled), 0.0)
    greater = len(filled) - np.searchsorted(np.sort(filled), filled + room, side="right")
    return np.asarray(greater + 1, dtype=np.int32)
