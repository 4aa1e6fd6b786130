"""How much of a run's work is left, for the time left.

Configurations that one fit serves arrive together, a hundred cells in the time of one. So work is counted by units:
the configurations that are computed together on a split. A unit takes as long on a further split as on those that
it has done, and one that has done none takes as long as the mean of the others. After the first split every unit is
known; before, the estimate is wrong by at most the ratio of the slowest unit to the mean of those that are done.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from heldout.execution.blocks import CellBlock
from heldout.execution.cells import CellResult
from heldout.folds.splits import Place


def _none() -> NDArray[np.float64]:
    return np.zeros(2)


@dataclass
class _Unit:
    """The seconds of configurations that are computed together: their own, and those spent ahead for others."""

    n_members: int
    """Those that were not dropped."""
    n_splits: float
    """In all; without those of an earlier run."""
    before: NDArray[np.float64] = field(default_factory=_none)
    """Seconds on the splits before the present one."""
    n_before: int = 0
    place: Place | None = None
    """The present split."""
    now: NDArray[np.float64] = field(default_factory=_none)
    n_now: int = 0
    """Members that have arrived from it; the others are on their way."""

    def add(self, result: CellResult) -> None:
        """Count a cell."""
        if result.key.place != self.place:
            self.before, self.n_before = self.done, self.n_done
            self.place, self.now, self.n_now = result.key.place, _none(), 0
        self.now = self.now + np.array((result.fit_seconds + result.score_seconds, result.ahead_seconds))
        self.n_now += 1

    @property
    def done(self) -> NDArray[np.float64]:
        """Seconds, with those of members that are on their way."""
        return self.before + self.now * max(self.n_members / max(self.n_now, 1), 1.0)

    @property
    def n_done(self) -> int:
        """Splits."""
        return self.n_before + (self.place is not None)


class WorkPace:
    """The work of a run, done and left.

    Parameters
    ----------
    units : sequence of sequences of int
        Positions of configurations that are computed together; all others are units by themselves.
    n_configurations : int
    n_splits : float
        Of each configuration, on average.
    resumed : mapping of int to int
        How many splits of a configuration an earlier run has done.

    Examples
    --------
    >>> from heldout.execution.cells import CellKey, CellState
    >>> pace = WorkPace([(0, 1, 2)], 4, n_splits=2, resumed={})
    >>> for configuration, seconds in enumerate((1.0, 1.0, 1.0, 6.0)):
    ...     pace.add(CellResult(CellKey(configuration, 0, 0), CellState.DONE, fit_seconds=seconds))
    >>> pace.part_left
    1.0
    """

    def __init__(
        self, units: Sequence[Sequence[int]], n_configurations: int, n_splits: float, resumed: Mapping[int, int]
    ) -> None:
        self._in_blocks = 0.0
        self._units: list[_Unit] = []
        self._unit_of: dict[int, _Unit] = {}
        for members in (*units, *((position,) for position in range(n_configurations))):
            if not self._unit_of.keys() & set(members):
                before = min(resumed.get(position, 0) for position in members)
                self._units.append(_Unit(len(members), n_splits - before))
                self._unit_of.update(dict.fromkeys(members, self._units[-1]))

    def add(self, result: CellResult) -> None:
        """Count a cell."""
        unit = self._unit_of.get(result.key.configuration)
        if unit is not None:
            unit.add(result)

    def add_block(self, block: CellBlock) -> None:
        """Count a block, which holds all splits of its configurations."""
        self._in_blocks += float(block.fit_seconds.sum() + block.score_seconds.sum())
        self.drop(block.configurations)

    def drop(self, configurations: Iterable[int]) -> None:
        """Leave configurations out from here on."""
        for position in configurations:
            if position in self._unit_of:
                self._unit_of.pop(position).n_members -= 1

    @property
    def part_left(self) -> float | None:
        """The work that is left, as a part of what was spent; None where no cell says how long it took."""
        known = [(unit, *unit.done) for unit in self._units if unit.n_done]
        ahead = sum(ahead for _, _, ahead in known)
        spent = sum(seconds for _, seconds, _ in known) + ahead
        if not spent:
            return None
        spent += self._in_blocks
        a_split = {id(unit): seconds / unit.n_done for unit, seconds, _ in known}
        mean = sum(a_split.values()) / len(known)
        left = sum(
            max(unit.n_splits - unit.n_done, 0.0) * a_split.get(id(unit), mean)
            for unit in self._units
            if unit.n_members
        )
        return float(max(left - ahead, 0.0) / spent)
