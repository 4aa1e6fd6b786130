"""Executors do cells, anywhere and in any order, and report the cells that they lost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self

from heldout.configurations import Configurations
from heldout.execution.cells import CellKey, CellResult
from heldout.execution.fit import CellContext
from heldout.execution.sharing.groups import Sharing
from heldout.execution.split_fits import SplitFits
from heldout.folds.splits import Folds, Place, Split

TASKS_A_WORKER = 3
"""So many parts at least, so that no worker waits long for another at the end."""


class FitsOfSplit(Protocol):
    """The fits of some configurations on one split; ``SplitFits`` is this."""

    @property
    def units(self) -> list[tuple[int, ...]]:
        """The positions that are computed together, one unit after another."""

    def results(self, unit: Sequence[int]) -> list[CellResult]:
        """The results of a unit."""

    def scored(self, results: Sequence[CellResult]) -> list[CellResult]:
        """The same results, with all their scores."""


class DoSplit(Protocol):
    """Makes the fits of some configurations on a split; ``fits_of_search``, or a frozen dataclass."""

    def __call__(self, work: Work, split: Split, positions: tuple[int, ...]) -> FitsOfSplit: ...


def fits_of_search(work: Work, split: Split, positions: tuple[int, ...]) -> FitsOfSplit:
    """The fits of a search: train on the split, predict and score its test rows."""
    return SplitFits(work.context, work.configurations, split, positions, work.sharing, work.share_memory)


@dataclass(frozen=True, eq=False)
class Addition:
    """What a worker needs beside the work that it has: configurations that came later."""

    configurations: Configurations
    sharing: Sharing | None
    share_memory: int | None

    def to(self, work: Work) -> Work:
        """The work with these configurations in place of its own."""
        return replace(
            work, configurations=self.configurations, sharing=self.sharing, share_memory=self.share_memory
        )


@dataclass(frozen=True, eq=False)
class Work:
    """The parts that all cells of a run share."""

    context: CellContext
    configurations: Configurations
    folds: Folds
    """With every split that a cell may name."""
    do: DoSplit = fits_of_search
    """Makes the fits on a split. A protocol may do something else in its cells."""
    identity: Any = None
    """Names what ``do`` does if that is not ``fits_of_search``; a resumed run must have the same."""
    sharing: Sharing | None = None
    """What its configurations share; None where each is fitted by itself."""
    share_memory: int | None = None
    """Bytes for the output of shared steps, in all workers together."""
    base: Work | None = None
    """The same work before it had these configurations, which other processes receive once for all batches of an
    adaptive search."""

    @property
    def to_send(self) -> Work:
        """What other processes receive once."""
        return self.base or self

    @property
    def addition(self) -> Addition | None:
        """What goes with each task."""
        return None if self.base is None else Addition(self.configurations, self.sharing, self.share_memory)

    def tasks(self, cells: Sequence[CellKey], n_workers: int) -> list[tuple[CellKey, ...]]:
        """The cells in parts that a worker does as a whole: each of one split, and of what is shared there.

        With ``n_workers=0`` each cell by itself, as a time limit needs it.
        """
        if not n_workers or (self.sharing is None and n_workers > 1):
            return [(cell,) for cell in cells]
        at: dict[Place, list[int]] = {}
        for cell in cells:
            at.setdefault(cell.place, []).append(cell.configuration)
        n_parts = 1 if n_workers == 1 else math.ceil(TASKS_A_WORKER * n_workers / len(at))
        return [
            tuple(CellKey(position, *place) for position in part)
            for place, positions in at.items()
            for part in (self.sharing.tasks(positions, n_parts) if self.sharing else [positions])
        ]

    @cached_property
    def split_of(self) -> Mapping[Place, Split]:
        """The splits by (repeat, fold)."""
        folds = self.folds
        return {split.place: split for split in (*folds.splits, *folds.halves, *folds.without_two)}


class WorkersLostError(RuntimeError):
    """Workers died; the results that they had finished were returned before.

    - ``running``: the cells that they were doing, or may have been doing; empty if unknown.
    - ``reason``: how they died, as half a sentence ("its worker was killed by signal 9").
    - ``times``: how many workers each of these cells has cost; a cluster tries again itself.
    """

    def __init__(self, running: Sequence[CellKey], reason: str, times: int = 1) -> None:
        super().__init__(reason)
        self.running = tuple(running)
        self.reason = reason
        self.times = times


class Executor(Protocol):
    """Fits cells somewhere.

    An executor is a context manager for the time of a run: it may start workers, and send them the work once.
    """

    def run(self, work: Work, cells: Sequence[CellKey]) -> Iterator[CellResult]:
        """The results of the cells as they come, in any order.

        A single cell runs in a worker of its own where there are workers.

        Raises WorkersLostError when workers died. Cells without a result by then were not done.
        """

    def __enter__(self) -> Executor: ...

    def __exit__(self, *error: object) -> None: ...


@dataclass(eq=False)
class ExecutorAround:
    """What executors that use another one have in common."""

    inner: Executor

    def __enter__(self) -> Self:
        self.inner.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.inner.__exit__(*error)
