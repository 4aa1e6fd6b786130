"""What happens in a search, for those who watch: progress bars, logs, tests.

Listeners are called in the coordinating process, after a result was recorded; they cannot change the run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from heldout.cells import CellResult


@dataclass(frozen=True)
class SearchStarted:
    """The plan is made.

    Attributes
    ----------
    n_cells : int
        Fits that the search consists of.
    n_resumed : int
        Of these, already done in an earlier run.
    """

    n_cells: int
    n_resumed: int
    n_configurations: int
    n_splits: int


@dataclass(frozen=True, eq=False)
class CellFinished:
    """One more cell is recorded."""

    result: CellResult


@dataclass(frozen=True)
class StageStarted:
    """The search goes on to 'estimate' or 'refit'."""

    stage: str


@dataclass(frozen=True)
class SearchFinished:
    """Every stage is done."""

    seconds: float


Event: TypeAlias = SearchStarted | CellFinished | StageStarted | SearchFinished
Listener: TypeAlias = Callable[[Event], None]
