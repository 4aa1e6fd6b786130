"""Slices: the score of every configuration of a family over the values of one of its parameters.

Plain data without any drawing. A slice shows what a search saw, not the effect of a parameter: the other parameters
differ between its points. So it marks the best configuration in each step of the parameter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heldout.report.parameter_steps import eighths_of
from heldout.report.parameters import ParameterAxis, axis_of
from heldout.report.ranking import RankedConfiguration, by_family


@dataclass(frozen=True, eq=False)
class FamilySlice:
    """One parameter of one family: a point for each of its configurations, the best first."""

    family: str
    axis: ParameterAxis
    configurations: tuple[RankedConfiguration, ...]
    leaders: tuple[int, ...]
    """Places of the best configuration of each step, in the order of the values."""

    @property
    def reach(self) -> float:
        """How far the best scores of the steps are apart."""
        best = [score for place in self.leaders if (score := self.configurations[place].score) is not None]
        return max(best) - min(best)


def slices_of(rows: Sequence[RankedConfiguration]) -> tuple[FamilySlice, ...]:
    """The slices of all parameters with several values; families by their best, parameters by their reach.

    Parameters
    ----------
    rows : sequence of RankedConfiguration
        The best first; those without a score are left out.
    """
    slices: list[FamilySlice] = []
    for family, members in by_family(row for row in rows if row.score is not None).items():
        names = dict.fromkeys(name for row in members for name in row.parameters)
        of_family = [made for name in names if (made := _slice(family, name, members)) is not None]
        slices += sorted(of_family, key=lambda made: -made.reach)
    return tuple(slices)


def _slice(family: str, name: str, members: Sequence[RankedConfiguration]) -> FamilySlice | None:
    """None for a parameter with a single value."""
    rows = [row for row in members if name in row.parameters]
    axis = axis_of(name, name, [row.index for row in rows], [row.parameters[name] for row in rows])
    steps = axis.values if not axis.is_numeric or (eighths := eighths_of(axis.values)) is None else eighths
    # The rows are sorted, so the first place in each step is that of the best.
    leaders = sorted(np.unique(steps, return_index=True)[1].tolist(), key=lambda place: axis.values[place])
    several = len(np.unique(axis.values)) > 1
    return FamilySlice(family, axis, tuple(rows), tuple(leaders)) if several else None
