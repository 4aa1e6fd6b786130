"""NumPy kernel of Spearman's rank correlation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from heldout._types import Floats, Weightings
from heldout.kernels.reference import Columns, refuse_nan, sum_in_order


class _Places(NamedTuple):
    """The ranks of rows under L weightings.

    ``place`` (L, n) is the weight of the rows below a row plus the weight of the rows up to it, ties included:
    twice the midrank of its copies, minus one. ``total`` (L,) is the mean of the places, and ``spread`` (L,) their
    weighted sum of squares about it.
    """

    place: Floats
    spread: Floats
    total: Floats


class RankCorrelations(Columns):
    """Spearman's correlation of every column with a target: Pearson's weighted correlation of the midranks.

    With counts it is the correlation on the repeated rows, whose copies are tied. All sums are sums of whole
    numbers, and exact up to about 200 000 rows. NaN if the column or the target is constant on the rows with
    weight.

    Parameters
    ----------
    values : ndarray of shape (n, C)
    target : ndarray of shape (n,)
    """

    def __init__(self, values: Floats, target: Floats) -> None:
        super().__init__(values.shape)
        refuse_nan(values)
        check_target(target, len(values))
        self._values, self._target = values, target

    def _column(self, counts: Weightings, j: int) -> Floats:
        weights = counts.astype(np.float64)
        mine, target = _places(weights, self._values[:, j]), _places(weights, self._target)
        carried = weights * (target.place - target.total[:, None])  # sums to 0
        order = np.argsort(self._values[:, j], kind="stable")
        together = sum_in_order((mine.place * carried)[:, order])
        with np.errstate(invalid="ignore", divide="ignore"):
            correlation = np.clip(together / np.sqrt(mine.spread * target.spread), -1.0, 1.0)
        return np.where((mine.spread > 0) & (target.spread > 0), correlation, np.nan)


def check_target(target: Floats, n_rows: int) -> None:
    refuse_nan(target)
    if target.shape != (n_rows,):
        raise ValueError(f"the target must have shape ({n_rows},), one value per row, got {target.shape}")


def _places(weights: Floats, values: Floats) -> _Places:
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    last_of_tie = np.append(ranked[1:] != ranked[:-1], True)
    down_to = np.cumsum(weights[:, order], axis=1)[:, last_of_tie]
    below = np.concatenate([np.zeros((len(weights), 1)), down_to[:, :-1]], axis=1)
    total, tied = down_to[:, -1], down_to - below
    spread = (total * total * total - sum_in_order(tied * tied * tied)) / 3.0
    group = np.empty(len(order), dtype=np.intp)
    group[order] = np.cumsum(np.append(False, last_of_tie[:-1]))
    return _Places((below + down_to)[:, group], spread, total)
