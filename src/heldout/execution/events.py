"""The events of a run, for listeners: progress bars, logs, tests.

Listeners are called in the coordinating process, after a result is recorded; they cannot change the run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from heldout.dropping.base import Barrier
from heldout.execution.cells import CellKey, CellResult, CellTable


@dataclass(frozen=True)
class SearchStarted:
    """The plan is complete."""

    n_cells: int
    """Fits that the search consists of."""
    n_resumed: int
    """Those of them that an earlier run had done."""
    n_configurations: int
    n_splits: int
    names: Sequence[str] = ()
    """Of the configurations."""
    refit_metric: str = "score"
    """The scorer that decides; greater = better."""
    title: str = ""
    """Its name where that is another."""
    n_races: int = 1
    """How many races run side by side; a search has one."""
    may_drop: bool = False
    """Whether configurations may be dropped, so that ``n_cells`` is an upper bound."""
    is_validation: bool = False
    """Whether models are fitted on bootstrap samples and scored when all are done, so that there is no best before.
    """
    resumed: Mapping[int, int] = field(default_factory=dict)
    """How many fits of a configuration an earlier run had done."""
    units: Sequence[tuple[int, ...]] = ()
    """Positions of configurations that are computed together; all others are computed by themselves."""
    n_in_halves: int = 0
    """Fits of the winner in halves of the rows, among ``n_cells``."""


@dataclass(frozen=True)
class ConfigurationsAdded:
    """An adaptive search has proposed configurations; they follow those before them."""

    names: Sequence[str]
    resumed: Mapping[int, int] = field(default_factory=dict)
    """How many fits of each position an earlier run had done."""


@dataclass(frozen=True)
class FitsAdded:
    """After its splits a search fits some configurations without two folds at a time."""

    n_configurations: int
    n_splits: int
    n_cells: int
    n_resumed: int
    """Those of these fits that an earlier run had done."""


@dataclass(frozen=True, eq=False)
class CellFinished:
    """A cell, or a block of cells that one formula served, is recorded."""

    result: CellResult | CellTable


@dataclass(frozen=True)
class BarrierPassed:
    """A race has passed a barrier, where configurations may have been dropped."""

    race: int
    """The number of the race."""
    barrier: Barrier
    n_remaining: int
    """Configurations that remain in this race."""
    n_saved: int
    """Planned fits that will not be made, in all races so far."""


@dataclass(frozen=True)
class WorkersLost:
    """Workers died; the cells that they were doing run again."""

    running: tuple[CellKey, ...]
    reason: str


@dataclass(frozen=True)
class RunClosed:
    """The run makes no more fits: all are done, or an error or Ctrl-C ended it."""


@dataclass(frozen=True)
class StageStarted:
    """The search begins to 'estimate', to 'refit', to keep 'fold models', or what else its words say."""

    stage: str


@dataclass(frozen=True)
class SearchFinished:
    """Every stage is done."""

    seconds: float
    fits: str = ""
    """How many fits were for the corrected estimate; empty if it took none."""


Event: TypeAlias = (
    SearchStarted
    | ConfigurationsAdded
    | FitsAdded
    | CellFinished
    | BarrierPassed
    | WorkersLost
    | RunClosed
    | StageStarted
    | SearchFinished
)
Listener: TypeAlias = Callable[[Event], None]
