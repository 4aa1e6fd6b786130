"""What happens in a search, for those who watch: progress bars, logs, tests.

Listeners are called in the coordinating process, after a result was recorded; they cannot change the run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from heldout.dropping.base import Barrier
from heldout.execution.cells import CellKey, CellResult


@dataclass(frozen=True)
class SearchStarted:
    """The plan is made.

    Attributes
    ----------
    n_cells : int
        Fits that the search consists of.
    n_resumed : int
        Of these, already done in an earlier run.
    names : sequence of str
        Of the configurations.
    refit_metric : str
        The scorer that decides; what it gives is greater = better.
    n_races : int
        How many races are run side by side; one of a search.
    may_drop : bool
        Whether configurations may leave, so that the plan is the most that will be done.
    is_validation : bool
        Whether models are fitted on bootstrap samples and scored when all is done, so that nobody leads before.
    """

    n_cells: int
    n_resumed: int
    n_configurations: int
    n_splits: int
    names: Sequence[str] = ()
    refit_metric: str = "score"
    n_races: int = 1
    may_drop: bool = False
    is_validation: bool = False


@dataclass(frozen=True, eq=False)
class CellFinished:
    """One more cell is recorded."""

    result: CellResult


@dataclass(frozen=True)
class BarrierPassed:
    """Configurations waited for each other, and some may have left.

    Attributes
    ----------
    race : int
        Which of the races that run side by side.
    barrier : Barrier
    n_alive : int
        Configurations still in this race.
    n_saved : int
        Planned fits that nobody will do, in all races so far.
    """

    race: int
    barrier: Barrier
    n_alive: int
    n_saved: int


@dataclass(frozen=True)
class WorkersLost:
    """Workers died; what they were doing is done again.

    Attributes
    ----------
    running : tuple of CellKey
    reason : str
    """

    running: tuple[CellKey, ...]
    reason: str


@dataclass(frozen=True)
class StageStarted:
    """The search goes on to 'estimate' or 'refit'."""

    stage: str


@dataclass(frozen=True)
class SearchFinished:
    """Every stage is done."""

    seconds: float


Event: TypeAlias = SearchStarted | CellFinished | BarrierPassed | WorkersLost | StageStarted | SearchFinished
Listener: TypeAlias = Callable[[Event], None]
