"""Executors do tasks, the cells of a split, anywhere and in any order, and report the cells that they lost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Protocol, TypeAlias

from heldout.execution.cells import CellKey, CellResult
from heldout.execution.fit import FitsOfSplit, Work
from heldout.execution.split_fits import SplitFits


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


Watch: TypeAlias = Callable[[CellKey], AbstractContextManager[object]]
SECONDS_BETWEEN_SCORES = 0.1


def do_task(work: Work, cells: Sequence[CellKey], watch: Watch = nullcontext) -> Iterator[CellResult]:
    """Fit and score cells of one split, one after another; those that share a fit come together.

    ``watch`` is entered with a cell before its fit, and left after it.
    """
    split = work.split_of[cells[0].place]
    positions = tuple(cell.configuration for cell in cells)
    fits: FitsOfSplit = (work.do or SplitFits)(work, split, positions)
    unscored: list[CellResult] = []
    began = time.perf_counter()
    try:
        for unit in fits.units:
            with watch(CellKey(unit[0], *split.place)):
                unscored += fits.results(unit)
            # Scores of several cells at once are cheaper, but results should not wait long to be stored.
            if time.perf_counter() - began >= SECONDS_BETWEEN_SCORES:
                done, unscored = fits.scored(unscored), []
                yield from arriving_together(done)
                began = time.perf_counter()
    except (Exception, KeyboardInterrupt):
        yield from arriving_together(fits.scored(unscored))  # nothing that is done is lost
        raise
    yield from arriving_together(fits.scored(unscored))


def task_results(work: Work, cells: Sequence[CellKey]) -> list[CellResult]:
    return arriving_together(list(do_task(work, cells)))


def arriving_together(results: Sequence[CellResult]) -> list[CellResult]:
    """The results, each with the number of those behind it."""
    return [replace(result, n_following=len(results) - n) for n, result in enumerate(results, start=1)]
