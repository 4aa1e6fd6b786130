"""The outcome as columns that inform the imputation of others.

Left out, the outcome would look unrelated to what is imputed, and every association with it would be weakened
(White and Royston 2009; ``docs/imputation.md``).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heldout.data.task import TaskKind, Truth


def outcome_columns(truth: Truth) -> NDArray[np.float64]:
    """The target as numbers.

    Parameters
    ----------
    truth : Truth of N rows

    Returns
    -------
    ndarray of shape (N, k)
        Binary: 1 for the second class. Several classes: a column of 0 and 1 for each but the first. Regression: the
        numbers. Survival: whether the event was seen, and the Nelson-Aalen cumulative hazard at the row's time.

    References
    ----------
    White and Royston (2009), Imputing missing covariate values for the Cox model, section 3.3: the cumulative
    hazard at the time carries what the time says of a covariate, to first order.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> outcome_columns(truth_of(["a", "b", "c"])).tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    """
    if truth.kind is TaskKind.REGRESSION:
        return truth.values.astype(np.float64)[:, None]
    if truth.kind is TaskKind.SURVIVAL:
        event, time = truth.values["event"], truth.values["time"]
        return np.column_stack([event.astype(np.float64), nelson_aalen(event, time)])
    # All classes together would add up to 1 in every row, which the intercept says already.
    return (truth.values[:, None] == np.arange(1, truth.n_classes)).astype(np.float64)


def nelson_aalen(event: NDArray[np.bool_], time: NDArray[np.float64]) -> NDArray[np.float64]:
    """(N,): the cumulative hazard at each row's own time, the sum of d/n over event times up to it.

    Examples
    --------
    >>> event, time = np.array([True, True, False]), np.array([1.0, 2.0, 3.0])
    >>> [round(value, 3) for value in nelson_aalen(event, time).tolist()]
    [0.333, 0.833, 0.833]
    """
    times, place = np.unique(time, return_inverse=True)
    events = np.bincount(place, weights=event, minlength=len(times))
    leaving = np.bincount(place, minlength=len(times))
    at_risk = len(time) - np.concatenate([[0], np.cumsum(leaving)[:-1]])
    return np.cumsum(events / at_risk)[place]
