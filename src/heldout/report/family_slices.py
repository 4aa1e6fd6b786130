"""Slices: the score of every configuration of a family over the values of one of its parameters.

Plain data without any drawing. A slice shows what a search saw, not the effect of a parameter: the other parameters
differ between its points. So it marks the best configuration in each step of the parameter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heldout.report.configuration_parts import ParameterValue
from heldout.report.parameter_steps import eighths_of, is_logarithmic
from heldout.report.ranking import RankedConfiguration, by_family


@dataclass(frozen=True)
class FamilySlice:
    """One parameter of one family: a point for each of its configurations, the best first."""

    family: str
    parameter: str
    values: tuple[ParameterValue, ...]
    """Of the parameter, one for each configuration."""
    configurations: tuple[RankedConfiguration, ...]
    is_number: bool
    is_log: bool
    """Whether the values are positive and span so much that a logarithmic axis suits them."""
    leaders: tuple[int, ...]
    """Places of the best configuration of each step, in the order of the values."""

    @property
    def scores(self) -> tuple[float, ...]:
        """The score by which the configurations are ranked, in the metric's own units."""
        return tuple(score for row in self.configurations if (score := row.score) is not None)

    @property
    def reach(self) -> float:
        """How far the best scores of the steps are apart."""
        best = [self.scores[place] for place in self.leaders]
        return max(best) - min(best)


def slices_of(rows: Sequence[RankedConfiguration]) -> tuple[FamilySlice, ...]:
    """The slices of all parameters with several values; families by their best, parameters by their reach.

    Parameters
    ----------
    rows : sequence of RankedConfiguration
        The best first; those without a score are left out.
    """
    found = []
    for family, members in by_family(row for row in rows if row.score is not None).items():
        names = dict.fromkeys(name for row in members for name in row.parameters)
        mine = [made for name in names if (made := _slice(family, name, members)) is not None]
        found += sorted(mine, key=lambda each: -each.reach)
    return tuple(found)


def _slice(family: str, name: str, members: Sequence[RankedConfiguration]) -> FamilySlice | None:
    """None for a parameter with a single value."""
    with_it = [row for row in members if name in row.parameters]
    values = [row.parameters[name] for row in with_it]
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(dict.fromkeys(map(_key, values))) < 2:
        return None
    is_number = len(numbers) == len(values)
    is_log = is_number and is_logarithmic(np.array(numbers, dtype=np.float64))
    leaders = _leaders(values, is_number)
    return FamilySlice(family, name, tuple(values), tuple(with_it), is_number, is_log, leaders)


def _key(value: ParameterValue) -> tuple[str, ParameterValue]:
    """Distinguishes True from 1."""
    return type(value).__name__ if isinstance(value, bool) else "", value


def _leaders(values: Sequence[ParameterValue], is_number: bool) -> tuple[int, ...]:
    """The first place in each step: the rows are sorted, so it is that of the best."""
    steps: Sequence[Any] = [_key(value) for value in values]
    numbers = np.array(values, dtype=np.float64) if is_number else None
    if numbers is not None and (eighths := eighths_of(numbers)) is not None:
        steps = eighths.tolist()
    first = list({step: place for place, step in reversed(list(enumerate(steps)))}.values())
    return tuple(sorted(first) if numbers is None else sorted(first, key=lambda place: numbers[place]))
