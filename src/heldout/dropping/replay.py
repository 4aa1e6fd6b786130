"""The dropping, replayed: configurations that leave early are chosen against, and a bootstrap can choose so again.

BBC on those who survived a race scores choices among them on rows that decided who survived, and so is a little
optimistic. Dropping followed by selection is itself a selection. ``RacedSelection`` makes it on the drawn rows, and
BBC scores what it chose on the others, as of any rule (Tsamardinos et al. 2018, sections 4 and 5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from heldout.dropping.base import DropRule
from heldout.dropping.loss_course import LossCourse, SplitLosses, centred
from heldout.dropping.simulated import SimulatedRace
from heldout.errors import InputError
from heldout.kernels.reference import Floats, Weightings
from heldout.selection.choice import Choice
from heldout.selection.replay import SelectionReplay


@dataclass(frozen=True, eq=False)
class DroppingHistory:
    """A race that was run, as far as repeating it takes.

    Attributes
    ----------
    rule : DropRule
    splits : tuple of (int, int)
        The column of the fold labels (a repeat) and the fold of each split, in the order in which they were met.
    left_after : mapping of int to int
        How many splits each of those met who left early.
    """

    rule: DropRule
    splits: tuple[tuple[int, int], ...]
    left_after: Mapping[int, int] = field(default_factory=dict)

    @property
    def is_replayed(self) -> bool:
        """Whether the estimate is to repeat the dropping."""
        return bool(getattr(self.rule, "replay", False))


@dataclass(frozen=True, eq=False)
class RacedSelection(SelectionReplay):
    """A selection among those who survive a race on the same drawn rows.

    Attributes
    ----------
    race : SimulatedRace
        Of A configurations, with those who left it for good among them.
    place : ndarray of int
        Which of the A each candidate column is.
    """

    race: SimulatedRace = field(kw_only=True)
    place: NDArray[np.intp] = field(kw_only=True)

    @property
    def is_plain_best(self) -> bool:
        """Never: who can be chosen differs from weighting to weighting."""
        return False

    def choice(self, counts: Weightings) -> Choice:
        return Choice(self.choose(counts))

    def choose(self, counts: Weightings, among: NDArray[np.bool_] | None = None) -> NDArray[np.intp]:
        assert counts.dtype == np.uint8, "rows are drawn; what they weigh is in the scores"
        met = self.race.run(counts)
        survive = met[:, self.place] == self.race.n_splits
        return super().choose(counts, survive if among is None else survive & among)


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
    ``heldout.dropping.shares``: nothing is drawn, and a race of 1000 configurations over 500 rows takes
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

    Raises
    ------
    InputError
        When the shapes do not go together, or a loss is NaN.

    Examples
    --------
    >>> losses = np.array([[0, 0, 1]] * 60, dtype=bool)  # the third is always wrong
    >>> race_on_matrix(losses, np.repeat([0, 1, 2], 20), min_predictions=30).tolist()
    [3, 3, 2]
    """
    if losses.ndim != 2 or folds.shape != losses.shape[:1] or not losses.size:
        raise InputError(
            f"losses must be (N, C) and folds (N,), got {losses.shape} and {folds.shape}; give one fold a row."
        )
    if np.isnan(losses).any():
        raise InputError("losses hold NaN; race_on_matrix takes a complete matrix of held-out losses.")
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
