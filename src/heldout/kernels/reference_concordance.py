"""The NumPy kernel of concordant pairs: slow, obvious, and the specification of the compiled one.

A pair is an event and a row that lasted longer. A row that is censored at the time of an event lasted longer. Two
events at the same time are not a pair, nor are two copies of a row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats, Weightings
from heldout.kernels.reference import Columns, fold_codes, refuse_nan

EVENTS_AT_ONCE = 512


def places_in_time(event: NDArray[np.bool_], time: Floats) -> NDArray[np.uint32]:
    """(n,): places in time; row j lasted longer than the event of row i if j has the greater place.

    Events have odd places and censored rows even ones; all rows that are censored between two events have the same.

    Examples
    --------
    >>> event, time = np.array([True, False, False, True, True]), np.array([2.0, 2.0, 1.0, 2.0, 5.0])
    >>> places_in_time(event, time).tolist()
    [1, 2, 0, 1, 3]
    """
    of_events = np.unique(time[event])
    before = np.searchsorted(of_events, time, side="left")
    until = np.searchsorted(of_events, time, side="right")
    return np.where(event, 2 * before + 1, 2 * until).astype(np.uint32)


class ConcordanceSums(Columns):
    """Twice the concordant pairs of every column, and pairs tied in risk once.

    The sum over events i and rows j that lasted longer of w_i w_j (2 [r_i > r_j] + [r_i = r_j]). For a column of
    equal risks it is the weight of all pairs.

    Parameters
    ----------
    risks : ndarray of shape (n, C)
        Greater = an earlier event; no NaN.
    event : ndarray of bool, shape (n,)
        Whether the event happened at ``time``; if not, the row was censored then.
    time : ndarray of float64, shape (n,)
        Finite.
    factors : ndarray of float64, shape (n,), optional
        The weight of a pair is multiplied by the factor of its event; the sums are doubles then.
    folds : ndarray of int, shape (n,), optional
        A code of at least 0; only rows of one fold are pairs. All rows are by default.
    """

    def __init__(
        self,
        risks: Floats,
        event: NDArray[np.bool_],
        time: Floats,
        factors: Floats | None = None,
        folds: NDArray[np.integer] | None = None,
    ) -> None:
        super().__init__(risks.shape)
        refuse_nan(risks)
        refuse_other_lengths(len(risks), event, time, factors)
        self._risks, self._events = risks, np.flatnonzero(event)
        self._places = places_in_time(event, time)
        self._factors = factors
        self._folds = np.zeros(self.n_rows, dtype=np.intp) if folds is None else fold_codes(folds, self.n_rows)

    def _column(self, counts: Weightings, j: int) -> NDArray[Any]:
        exact = counts.dtype == np.uint8 and self._factors is None
        sums = np.zeros(len(counts), dtype=np.int64 if exact else np.float64)
        weights = counts.astype(np.float64)
        risks = self._risks[:, j]
        for first in range(0, len(self._events), EVENTS_AT_ONCE):
            events = self._events[first : first + EVENTS_AT_ONCE]
            paired = (self._places[events, None] < self._places) & (self._folds[events, None] == self._folds)
            own = risks[events, None]
            won = paired * (2.0 * (own > risks) + (own == risks))
            of_event = weights[:, events] if self._factors is None else weights[:, events] * self._factors[events]
            if exact:  # whole numbers below 2**53 are summed exactly in any order
                sums += (of_event * (weights @ won.T)).sum(axis=1).astype(np.int64)
            else:  # lane by lane and without BLAS, so that no lane depends on the others
                sums += [(w * (won * lane).sum(axis=1)).sum() for w, lane in zip(of_event, weights, strict=True)]
        return sums


def refuse_other_lengths(n_rows: int, *arrays: NDArray[Any] | None) -> None:
    for array in arrays:
        if array is not None and array.shape != (n_rows,):
            raise ValueError(f"arrays must have shape ({n_rows},), one value per row, got {array.shape}")
