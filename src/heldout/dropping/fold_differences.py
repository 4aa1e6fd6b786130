"""How far each configuration is behind the leader in each fold: what the tests on fold scores are made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.reference import Floats

_BITS = 44
"""Of a score's 53: differences are kept to a relative 6e-14 of the scores that they are between."""


def behind_leader(fold_scores: Floats, leader: int) -> NDArray[np.float64]:
    """The leader's score minus each configuration's, fold by fold.

    Rounding errors are cut off: .9 - .8 and .8 - .7 are different numbers, and neither the ranks of differences
    nor their variance must see that.

    Parameters
    ----------
    fold_scores : ndarray of shape (k, A)
        Greater = better.
    leader : int

    Returns
    -------
    ndarray of shape (k, A)
        Positive where the leader is better; NaN where either score is not a finite number.

    Examples
    --------
    >>> behind = behind_leader(np.array([[0.9, 0.8], [0.8, 0.7]]), 0)[:, 1]
    >>> bool(0.9 - 0.8 == 0.8 - 0.7), bool(behind[0] == behind[1])
    (False, True)
    """
    scores = np.where(np.isfinite(fold_scores), fold_scores, np.nan)
    size = np.fmax.reduce(np.abs(scores), axis=0, initial=0.0)
    _, exponent = np.frexp(np.maximum(size, size[leader]))
    with np.errstate(over="ignore"):  # of scores at both ends of float64
        behind = scores[:, leader, None] - scores
        rounded: NDArray[np.float64] = np.ldexp(np.rint(np.ldexp(behind, _BITS - exponent)), exponent - _BITS)
    return np.where(np.isfinite(rounded), rounded, np.nan)
