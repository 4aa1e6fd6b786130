"""How far each configuration is behind the leader in each fold, for the tests on fold scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.reference import Floats

_BITS = 44
"""Bits kept of the 53 of a score: a relative difference below 6e-14 is a rounding error."""


def behind_leader(fold_scores: Floats, leader: int) -> NDArray[np.float64]:
    """The leader's score minus each configuration's, fold by fold, in whole multiples of the precision of scores.

    In floating point .9 - .8 and .8 - .7 differ, and neither ranks of differences nor their variance must depend on
    that. The unit of a configuration is 2⁻⁴⁴ of the power of two above its and the leader's scores; tests do not
    depend on it.

    ``fold_scores`` (k, A): greater = better.

    Returns (k, A): whole numbers, positive where the leader is better; NaN where either score is not a finite
    number.

    Examples
    --------
    >>> behind = behind_leader(np.array([[0.9, 0.8], [0.8, 0.7]]), 0)[:, 1]
    >>> bool(0.9 - 0.8 == 0.8 - 0.7), behind.tolist() == [round(0.1 * 2**44)] * 2
    (False, True)
    """
    scores = np.where(np.isfinite(fold_scores), fold_scores, np.nan)
    size = np.fmax.reduce(np.abs(scores), axis=0, initial=0.0)
    _, exponent = np.frexp(np.maximum(size, size[leader]))
    behind = np.ldexp(scores[:, leader, None], -exponent) - np.ldexp(scores, -exponent)
    return np.asarray(np.rint(np.ldexp(behind, _BITS)))
