"""Whether the scores of different folds' models are on one scale: asked of the winner's held-out predictions.

Folds are drawn at random, so that among rows of one outcome the scores of one fold should look like those of any
other. Scores are ranked within each stratum of outcomes, and two tests of Kruskal and Wallis on these ranks ask
whether scores lie higher in some folds, and whether they spread more.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc
from scipy.stats import rankdata

from heldout.data.task import TaskKind, Truth
from heldout.kernels.reference import Floats

LEAST_DIFFERENCE = 0.01
"""Of the metric's range: a difference between pooled and within-fold values that changes what one would report."""
FALSE_ALARMS = 0.01
"""How often folds of comparable scores are called different by the rank tests, at most."""


def strata_of(truth: Truth) -> NDArray[np.intp]:
    """(n,): rows of one code have outcomes alike: a class, or whether the event was seen."""
    values = truth.values["event"] if truth.kind is TaskKind.SURVIVAL else truth.values
    return np.asarray(values).astype(np.intp)


def chance_of_such_folds(
    scores: Floats, strata: NDArray[np.intp], folds: NDArray[np.intp], units: NDArray[np.intp]
) -> float:
    """The p-value of folds that differ so much in where scores lie and how they spread.

    Parameters
    ----------
    scores : ndarray of shape (n, columns)
        Of one configuration: one column, or one a class. The least p-value counts, times their number.
    strata, folds : ndarray of int, shape (n,)
    units : ndarray of int, shape (n,)
        Rows of one unit (a group) are no independent witnesses, and are averaged within a stratum.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> scores, folds = rng.normal(size=(60, 1)), np.arange(60) % 6
    >>> strata = np.repeat([0, 1], 30)
    >>> bool(chance_of_such_folds(scores, strata, folds, np.arange(60)) > 0.05)
    True
    >>> bool(chance_of_such_folds(scores + folds[:, None], strata, folds, np.arange(60)) < 0.001)
    True
    """
    keys, where = np.unique(np.stack([strata, folds, units]), axis=1, return_inverse=True)
    where = where.ravel()
    chances = []
    for column in scores.T:
        aligned = _aligned(np.bincount(where, column) / np.bincount(where), keys[0])
        for measure in (aligned, _aligned(aligned**2, keys[0])):
            chances.append(_chance(measure, keys[1], len(np.unique(keys[0]))))
    return min(1.0, min(chances) * len(chances))


def _aligned(values: Floats, strata: NDArray[np.intp]) -> Floats:
    """Ranks within each stratum, from -1/2 to 1/2."""
    aligned = np.zeros(len(values))
    for stratum in np.unique(strata):
        mine = strata == stratum
        aligned[mine] = rankdata(values[mine]) / (mine.sum() + 1) - 0.5
    return aligned


def _chance(values: Floats, folds: NDArray[np.intp], n_strata: int) -> float:
    """The p-value of folds whose means differ so much; 1 where there is nothing to compare."""
    codes, place = np.unique(folds, return_inverse=True)
    total, freedom = float(values @ values), len(codes) - 1
    if freedom < 1 or len(codes) == len(values) or total == 0:
        return 1.0
    between = float((np.bincount(place, values) ** 2 / np.bincount(place)).sum())
    return float(chdtrc(freedom, (len(values) - n_strata) * between / total))
