"""What does cells: anywhere, in any order, and honest about what it lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from heldout.configurations import Configuration, Configurations
from heldout.execution.cells import CellKey, CellResult
from heldout.execution.fit import CellContext, fit_cell
from heldout.folds.splits import Folds, Place, Split


class DoCell(Protocol):
    """What is done in a cell; a function, or a frozen dataclass that is called."""

    def __call__(self, context: CellContext, configuration: Configuration, split: Split) -> CellResult: ...


@dataclass(frozen=True, eq=False)
class Work:
    """What cells are made of, the same for all cells of a run.

    Attributes
    ----------
    context : CellContext
    configurations : Configurations
    folds : Folds
        With every split that a cell may name.
    do : callable
        Fits and scores a cell; a protocol may do something else in its cells, and then says by ``identity`` what (a
        run that is gone on with must have the same).
    """

    context: CellContext
    configurations: Configurations
    folds: Folds
    do: DoCell = fit_cell

    @cached_property
    def split_of(self) -> Mapping[Place, Split]:
        """The splits by (repeat, fold)."""
        return {split.place: split for split in self.folds.splits}


class WorkersLostError(RuntimeError):
    """Workers died; what they had finished before has been handed out.

    Attributes
    ----------
    running : tuple of CellKey
        What they were doing, or may have been doing: the cells to suspect. Empty where nobody can say.
    reason : str
        How they died, as half a sentence ("its worker was killed by signal 9").
    times : int
        How many workers each of these cells has cost; a cluster tries again by itself.
    """

    def __init__(self, running: Sequence[CellKey], reason: str, times: int = 1) -> None:
        super().__init__(reason)
        self.running = tuple(running)
        self.reason = reason
        self.times = times


class Executor(Protocol):
    """Fits cells somewhere.

    An executor is a context manager for the time of a run: it may start workers and send them the work once.
    """

    def run(self, work: Work, cells: Sequence[CellKey]) -> Iterator[CellResult]:
        """The results of the cells as they come, in any order.

        A single cell is done in a worker of its own where there are workers.

        Raises
        ------
        WorkersLostError
            When workers died. What was not handed out until then was not done.
        """

    def __enter__(self) -> Executor: ...

    def __exit__(self, *error: object) -> None: ...
