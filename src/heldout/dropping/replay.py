"""Replay the dropping inside bootstraps.

BBC on the configurations that survived a race scores choices among them on rows that were used to drop others, and
so is a little optimistic. Dropping followed by selection is itself a selection. ``RacedSelection`` makes it on the
drawn rows, and BBC scores its choice on the other rows, as for any rule (Tsamardinos et al. 2018, sections 4 and
5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from heldout.dropping.base import DropRule
from heldout.dropping.bootstrap import Bootstrap
from heldout.dropping.simulated import SimulatedRace
from heldout.kernels.reference import Weightings
from heldout.selection.base import Choice
from heldout.selection.replay import SelectionReplay


@dataclass(frozen=True, eq=False)
class DroppingHistory:
    """The parts of a race that are needed to repeat it."""

    rule: DropRule
    splits: tuple[tuple[int, int], ...]
    """The column of the fold labels (a repeat) and the fold of each split, in the order in which they ran."""
    left_after: Mapping[int, int] = field(default_factory=dict)
    """The number of splits of each dropped configuration."""

    @property
    def is_replayed(self) -> bool:
        """Whether the estimate repeats the dropping."""
        return isinstance(self.rule, Bootstrap) and self.rule.replay


@dataclass(frozen=True, eq=False)
class RacedSelection(SelectionReplay):
    """A selection among the survivors of a race on the same drawn rows."""

    race: SimulatedRace = field(kw_only=True)
    """Of A configurations, the dropped ones included."""
    place: NDArray[np.intp] = field(kw_only=True)
    """Which of the A each candidate column is."""

    @property
    def is_plain_best(self) -> bool:
        """Never: the candidates differ between weightings."""
        return False

    def choice(self, counts: Weightings) -> Choice:
        return Choice(self.choose(counts))

    def choose(self, counts: Weightings, among: NDArray[np.bool_] | None = None) -> NDArray[np.intp]:
        assert counts.dtype == np.uint8, "rows are drawn; their weights are in the scores"
        n_splits = self.race.run(counts)
        survive = n_splits[:, self.place] == self.race.n_splits
        return super().choose(counts, survive if among is None else survive & among)
