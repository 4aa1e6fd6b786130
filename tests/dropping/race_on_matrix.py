"""The bootstrap rule on a complete matrix of losses: what tests and simulations compare races with."""

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats
from heldout.dropping.loss_course import LossCourse, SplitLosses, centred
from heldout.dropping.replay import SimulatedRace


def race_on_matrix(
    losses: NDArray[np.bool_] | Floats,
    folds: NDArray[np.integer],
    *,
    threshold: float = 0.99,
    min_predictions: int = 50,
    resolve_ties_after: int | None = None,
) -> NDArray[np.intp]:
    """Race on a complete matrix of held-out losses with the bootstrap rule: (C,) splits that each met.

    Where p̂ is a share of B bootstraps there, it is its limit for many bootstraps here, by the approximations of
    ``heldout.dropping.loss_course``: nothing is drawn, and a race of 1000 configurations over 500 rows takes
    milliseconds. For studies of what dropping does, on predictions that are there already.

    Parameters
    ----------
    losses : ndarray of shape (N, C)
        Lower is better; booleans where they are 0 or 1.
    folds : ndarray of int, shape (N,)
        The fold of each row; folds are met in the order of their numbers.
    threshold, min_predictions, resolve_ties_after
        As of ``heldout.dropping.Bootstrap``.

    Returns
    -------
    ndarray of int, shape (C,)
        K, the number of folds, for those who stayed to the end. The sum is the number of fits, and C·K less it is
        what was saved.

    Examples
    --------
    >>> losses = np.array([[0, 0, 1]] * 60, dtype=bool)  # the third is always wrong
    >>> race_on_matrix(losses, np.repeat([0, 1, 2], 20), min_predictions=30).tolist()
    [3, 3, 2]
    """
    codes, fold_of_row = np.unique(folds, return_inverse=True)
    everybody = np.ones(losses.shape[1], dtype=bool)
    splits = []
    for code in range(len(codes)):
        rows = np.flatnonzero(fold_of_row == code)
        mine = losses[rows] if losses.dtype == bool else centred(losses[rows].astype(np.float64), everybody)
        splits.append(SplitLosses(0, rows, mine))
    seen = np.cumsum(np.bincount(fold_of_row))[:-1]
    race = SimulatedRace(
        LossCourse(tuple(splits), np.arange(len(losses)), threshold=threshold),
        judged=seen >= min_predictions,
        left_after=np.full(losses.shape[1], len(codes)),
        n_splits=len(codes),
        threshold=threshold,
        resolve_ties_after=resolve_ties_after,
    )
    return race.run(np.ones((1, len(losses)), dtype=np.uint8))[0]
