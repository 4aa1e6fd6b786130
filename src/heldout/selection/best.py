"""The best score: the greatest, the first of equal ones, or all of them; NaN never wins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from heldout._types import Booleans, Floats, Indices
from heldout.data.checks import check_choice
from heldout.predictions import SLACK
from heldout.selection.base import NONE_CHOSEN, Choice, ScoreTable, SelectionRule


def first_greatest(scores: Floats) -> Indices:
    """(B,): the column of the greatest of scores (B, C), the first of equal ones; NaN never wins.

    Scores are equal where they differ by rounding errors only (``SLACK``): the mean of .8 and .9 may differ from
    that of .9 and .8 in its last bit.

    Examples
    --------
    >>> first_greatest(np.array([[0.5, 0.7, 0.7], [np.nan, -np.inf, np.nan], [np.nan, np.nan, np.nan]])).tolist()
    [1, 1, -1]
    >>> first_greatest(np.array([[0.3, 0.1 + 0.2]])).tolist()
    [0]
    """
    greatest = not_below(scores, best_score(scores))
    return np.where(greatest.any(axis=1), greatest.argmax(axis=1), NONE_CHOSEN)


def best_score(scores: Floats) -> Floats:
    """(B, 1): the greatest of scores (B, C), NaN where there is none."""
    # Two steps, as ``nanmax`` warns of rows without any number.
    best = np.where(np.isnan(scores), -np.inf, scores).max(axis=1, keepdims=True)
    return np.where(np.isnan(scores).all(axis=1, keepdims=True), np.nan, best)


def not_below(scores: Floats, bounds: Floats) -> Booleans:
    """(B, C): which scores reach the bounds (B, 1), but for rounding errors; NaN never does."""
    with np.errstate(invalid="ignore"):
        # Relative to the bound, as scores may be of any size; of an infinite bound there is no neighbourhood.
        room = np.where(np.isfinite(bounds), SLACK * np.maximum(np.abs(bounds), 1e-300), 0.0)
        return np.asarray(scores >= bounds - room)


def tie_exactly(values: Floats) -> Floats:
    """Scores with the noise of their last bits cut off, so that equal means of folds tie as they should.

    The mean of (.8, .9) and of (.9, .8) can differ by a rounding error, and a rule that breaks ties by position
    must not see that. 44 of 53 bits are kept: a relative 6e-14.

    Examples
    --------
    >>> bool(0.1 + 0.2 == 0.3), np.unique(tie_exactly(np.array([0.1 + 0.2, 0.3]))).size
    (False, 1)
    """
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.rint(np.ldexp(mantissa, 44)), exponent - 44)


NEAR = 1e-9
"""A relative distance from the greatest score that no rounding of last bits bridges."""


def first_greatest_of_tied(scores: Floats) -> Indices:
    """(B,): ``first_greatest(tie_exactly(scores))``, with bits cut off only in rows where that can matter.

    Examples
    --------
    >>> first_greatest_of_tied(np.array([[0.3, 0.1 + 0.2, 0.2], [0.1, 0.2, 0.3], [np.nan] * 3])).tolist()
    [0, 2, -1]
    """
    greatest = scores.max(axis=1, keepdims=True)  # NaN where any score is
    room = NEAR * np.maximum(np.abs(greatest), 1e-300)
    with np.errstate(invalid="ignore"):
        near = scores >= greatest - room
    columns = near.argmax(axis=1)
    # One clear winner is the usual case, which needs no rounding of all scores.
    unclear = (np.count_nonzero(near, axis=1) != 1) | ~np.isfinite(greatest[:, 0])
    if unclear.any():
        columns[unclear] = first_greatest(tie_exactly(scores[unclear]))
    return columns


OVER_REPEATS = ("mean", "median")


@dataclass(frozen=True)
class Best(SelectionRule):
    """Choose the greatest score (Tsamardinos et al. 2018, section 4: css).

    NaN never wins. Ties go to the lowest index: on small samples 15 to 39 % of bootstraps of a 0-1 loss tie.

    Attributes
    ----------
    over_repeats : "mean" or "median"
        How the scores of several repeats become one for the choice. The estimate is of the mean over repeats in
        both cases.

    Examples
    --------
    >>> Best()(ScoreTable(np.array([[[0.5], [0.7], [0.7]], [[np.nan], [0.1], [0.2]]]), ["accuracy"])).tolist()
    [1, 2]
    """

    over_repeats: Literal["mean", "median"] = "mean"
    name: ClassVar[str] = "best"
    words: ClassVar[str] = "the best score wins"

    def __post_init__(self) -> None:
        check_choice("over_repeats", self.over_repeats, OVER_REPEATS)

    @property
    def reads_repeats(self) -> bool:
        """Whether the table must hold the scores of each repeat."""
        return self.over_repeats == "median"

    def __call__(self, table: ScoreTable) -> Indices:
        if not self.reads_repeats or table.repeat_scores is None:
            return first_greatest(table.values[:, :, 0])
        return first_greatest(_median_over_repeats(table))


def is_best_score(rule: Any) -> bool:
    """Whether a rule chooses the best score of one metric."""
    return isinstance(rule, Best) and not rule.reads_repeats


def _median_over_repeats(table: ScoreTable) -> Floats:
    """(B, C): the median of the defined repeats; NaN for what is no candidate."""
    assert table.repeat_scores is not None
    scores = table.repeat_scores[:, :, :, 0]
    unscored = np.asarray(np.isnan(scores).all(axis=1, keepdims=True))
    with np.errstate(invalid="ignore"):
        # ``nanmedian`` warns of what is NaN throughout, so these are filled and taken out again below.
        medians = np.nanmedian(np.where(unscored, 0.0, scores), axis=1)
    absent = np.isnan(table.values[:, :, 0]) | unscored[:, 0]
    return np.where(absent, np.nan, tie_exactly(medians))


def of_all_tied(scores: Floats) -> Choice:
    """All columns of the greatest score (L, columns), which share the choice; NaN never wins.

    Examples
    --------
    >>> of_all_tied(np.array([[0.7, np.nan, 0.7], [0.1, 0.2, 0.3]])).tied.tolist()
    [[0.5, 0.0, 0.5], [0.0, 0.0, 1.0]]
    """
    exact = tie_exactly(scores)
    tied = not_below(exact, best_score(exact))
    columns = np.where(tied.any(axis=1), tied.argmax(axis=1), NONE_CHOSEN)
    return Choice(columns, tied=tied / np.maximum(tied.sum(axis=1, keepdims=True), 1))
