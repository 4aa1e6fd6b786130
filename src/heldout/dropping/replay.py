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
from heldout.dropping.simulated import SimulatedRace
from heldout.kernels.reference import Weightings
from heldout.selection.base import Choice
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
