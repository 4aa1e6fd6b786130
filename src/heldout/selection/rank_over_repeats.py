"""The best mean rank over repeats, in which easy and hard repeats count the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from heldout.errors import InputError
from heldout.kernels.reference import Floats
from heldout.selection.base import ScoreTable, SelectionRule, first_greatest, tie_exactly


@dataclass(frozen=True)
class RankOverRepeats(SelectionRule):
    """Choose the configuration with the least mean rank over repeats (Krueger, Panknin & Braun 2015).

    In each repeat 1 is the best, and equal scores share the mean of their ranks. A configuration without a score
    in a repeat in which another has one is no candidate and takes no rank. Of equal mean ranks the first wins.
    With one repeat it is the best score.

    Attributes
    ----------
    last : int, optional
        How many repeats count, from the last one back; all of them by default.

    Examples
    --------
    >>> scores = np.array([[0.9, 0.8, 0.1], [0.9, 0.8, 0.1], [0.2, 0.3, 0.1]])  # a row a repeat
    >>> table = ScoreTable(scores.mean(axis=0)[None, :, None], ["accuracy"], repeat_scores=scores[None, :, :, None])
    >>> RankOverRepeats()(table).tolist(), RankOverRepeats(last=1)(table).tolist()
    ([0], [1])
    """

    last: int | None = None
    name: ClassVar[str] = "rank_over_repeats"
    words: ClassVar[str] = "the best mean rank over repeats"
    sources: ClassVar[tuple[str, ...]] = ("krueger2015",)
    reads_repeats: ClassVar[bool] = True

    def __post_init__(self) -> None:
        whole = isinstance(self.last, int | np.integer) and not isinstance(self.last, bool)
        if self.last is not None and not (whole and self.last >= 1):
            raise InputError(
                f"last must be a whole number of at least 1, or None, got {self.last!r}.", argument="last"
            )

    def __call__(self, table: ScoreTable) -> NDArray[np.intp]:
        if table.repeat_scores is None:
            return first_greatest(table.values[:, :, 0])
        counted = table.repeat_scores[:, -(self.last or 0) :, :, 0]
        return first_greatest(-_mean_ranks(tie_exactly(counted), np.isnan(table.values[:, :, 0])))


def _mean_ranks(scores: Floats, out: NDArray[np.bool_]) -> Floats:
    """(B, C): over the repeats of scores (B, R, C) in which somebody has one; NaN for what is no candidate."""
    lacking = np.asarray(np.isnan(scores) | out[:, None, :])
    held = np.asarray(~lacking.all(axis=2))
    out = np.asarray((lacking & held[:, :, None]).any(axis=1) | out | ~held.any(axis=1, keepdims=True))
    # No candidates come last of all, so that they change no other rank.
    worst = np.where(scores == -np.inf, np.finfo(np.float64).max, -scores)
    ranks = rankdata(np.where(out[:, None, :], np.inf, worst), method="average", axis=2)
    n = np.maximum(held.sum(axis=1), 1)
    mean: Floats = np.where(held[:, :, None], ranks, 0.0).sum(axis=1) / n[:, None]
    return np.where(out, np.nan, tie_exactly(mean))
