"""The simplest configuration within a tolerance of the best score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.selection.base import ScoreTable, SelectionRule, best_score, not_below, scalar
from heldout.selection.complexity import complexities, frozen_complexity, simplest_of


@dataclass(frozen=True)
class Within(SelectionRule):
    """Choose the simplest configuration whose score is at most ``tolerance`` worse than the best.

    Of equally simple ones the best, then the first.

    Attributes
    ----------
    tolerance : float
        In the units of the metric that chooses; with ``relative`` a share of the best score.
    relative : bool
    complexity : str, callable, sequence of float or None
        The name of a parameter, a function of the parameters, or a number for each configuration, greater = more
        complex; None for the order given, the first the simplest.

    Examples
    --------
    >>> table = ScoreTable(np.array([[[0.79], [0.82], [0.83]]]), ["accuracy"])
    >>> Within(0.01)(table).tolist(), Within(0.05, relative=True)(table).tolist()
    ([1], [0])
    """

    tolerance: float
    relative: bool = False
    complexity: Any = None
    name: ClassVar[str] = "within"
    words: ClassVar[str] = "the simplest configuration within a tolerance of the best score"

    def __post_init__(self) -> None:
        if not scalar(self.tolerance) or not 0 <= self.tolerance < np.inf:
            raise InputError(
                f"tolerance must be a finite number of at least 0, got {self.tolerance!r}.", argument="tolerance"
            )
        object.__setattr__(self, "complexity", frozen_complexity(self.complexity))

    def check(self, n_configurations: int, params: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> None:
        """Refuse a complexity that these configurations do not have."""
        complexities(self.complexity, n_configurations, params)

    def __call__(self, table: ScoreTable) -> NDArray[np.intp]:
        scores = table.values[:, :, 0]
        best = best_score(scores)
        # Nothing is near an infinite score but another one.
        room = self.tolerance * (np.abs(best) if self.relative else 1.0)
        bound = np.where(np.isfinite(best), best - np.where(np.isfinite(best), room, 0.0), best)
        order = complexities(self.complexity, table.n_configurations, table.params)
        return simplest_of(not_below(scores, bound), scores, order)
