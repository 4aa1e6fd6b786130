"""An executor that follows a script, to see what a run does when things go wrong.

Cells are done in this process, in an order that is chosen. The script says which of them fail, which kill their
workers, and when somebody presses Ctrl-C; nothing is killed in truth.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from heldout.execution.cells import CellKey, CellResult, CellState
from heldout.execution.executors import WorkersLostError
from heldout.execution.fit import Work
from heldout.execution.split_fits import task_results
from heldout.folds.splits import Folds

Order: TypeAlias = Literal["given", "reversed"] | int


def all_cells(n_configurations: int, folds: Folds) -> list[CellKey]:
    """Every cell, configuration by configuration and split by split."""
    return [
        CellKey(configuration, *split.place) for configuration in range(n_configurations) for split in folds.splits
    ]


def fit_alone(work: Work, cell: CellKey) -> CellResult:
    """The result of a cell that is a task by itself."""
    (result,) = task_results(work, [cell])
    return result


@dataclass
class ScriptedExecutor:
    """Does cells as a script says.

    Parameters
    ----------
    order : "given", "reversed" or int
        In which the cells of a round are done; a number seeds a random one.
    failures : mapping of CellKey to str or exception
        Cells that come back as failed, with that message; an exception is raised.
    losses : mapping of CellKey to int
        How many workers a cell kills before it lets itself be done.
    beside : int
        How many cells are done at once: those that come next in the order are running too when a worker dies.
    interrupt_after : int, optional
        Cells after which the run is interrupted, once.

    Attributes
    ----------
    done : list of CellKey
        What was handed out, in order.
    rounds : list of tuple of CellKey
        What it was asked for, call by call.
    """

    order: Order = "given"
    failures: Mapping[CellKey, str | BaseException] = field(default_factory=dict)
    losses: Mapping[CellKey, int] = field(default_factory=dict)
    beside: int = 1
    interrupt_after: int | None = None
    done: list[CellKey] = field(default_factory=list, init=False)
    rounds: list[tuple[CellKey, ...]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._losses_left = dict(self.losses)
        self._interrupt_after = self.interrupt_after

    def run(self, work: Work, cells: Sequence[CellKey]) -> Iterator[CellResult]:
        """See ``Executor.run``."""
        self.rounds.append(tuple(cells))
        ordered = self._ordered(cells)
        for place, cell in enumerate(ordered):
            if self._interrupt_after is not None and len(self.done) >= self._interrupt_after:
                self._interrupt_after = None
                raise KeyboardInterrupt
            if self._losses_left.get(cell, 0):
                self._losses_left[cell] -= 1
                raise WorkersLostError(ordered[place : place + self.beside], "the script killed its worker")
            result = self._result(work, cell)
            self.done.append(cell)
            yield result

    def _ordered(self, cells: Sequence[CellKey]) -> list[CellKey]:
        if self.order == "given":
            return list(cells)
        if self.order == "reversed":
            return list(reversed(cells))
        shuffled = list(cells)
        random.Random(self.order + len(self.rounds)).shuffle(shuffled)
        return shuffled

    def _result(self, work: Work, cell: CellKey) -> CellResult:
        failure = self.failures.get(cell)
        if isinstance(failure, BaseException):
            raise failure
        return fit_alone(work, cell) if failure is None else CellResult(cell, CellState.FAILED, failure)

    def __enter__(self) -> ScriptedExecutor:
        return self

    def __exit__(self, *error: object) -> None: ...
