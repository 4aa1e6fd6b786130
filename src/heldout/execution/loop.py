"""The loop: hand cells to an executor, keep what comes back, ask at barriers who goes on, tell who listens."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from heldout.dropping.base import Barrier
from heldout.execution.cells import CellKey, CellResult, CellState
from heldout.execution.collect import RaceOutcome
from heldout.execution.events import BarrierPassed, CellFinished, Event, Listener, WorkersLost
from heldout.execution.executors.base import Executor, Work, WorkersLostError
from heldout.execution.fit import single_threaded
from heldout.execution.scheduler import Scheduler
from heldout.execution.store.base import Run
from heldout.folds.splits import Split

COMMIT_AFTER_SECONDS = 0.05

Judge: TypeAlias = Callable[[int, RaceOutcome, Sequence[int]], Barrier]
"""From the number of a race, how it went so far (its last barrier is the one to come) and who is in it to the
barrier's record."""


def tell(listeners: Sequence[Listener], event: Event) -> None:
    """Call every listener."""
    for listener in listeners:
        listener(event)


@dataclass
class ResultKeeper:
    """Records results, and acknowledges them in groups: once they are worth 50 ms of work, and all at the end.

    Attributes
    ----------
    run : Run
    listeners : sequence of Listener
    taken : callable
        Is given every result that is recorded.
    """

    run: Run
    listeners: Sequence[Listener]
    taken: Callable[[CellResult], None]
    _worth: float = 0.0
    _committed: float = field(default_factory=time.perf_counter)

    def keep(self, result: CellResult) -> None:
        """Record a result, and tell of it."""
        self.run.record(result)
        self._worth += result.fit_seconds + result.score_seconds
        if max(self._worth, time.perf_counter() - self._committed) >= COMMIT_AFTER_SECONDS:
            self.run.commit()
            self._worth, self._committed = 0.0, time.perf_counter()
        self.taken(result)
        tell(self.listeners, CellFinished(result))


def run_races(
    scheduler: Scheduler, work: Work, executor: Executor, keeping: ResultKeeper, judge: Judge | None = None
) -> list[RaceOutcome]:
    """Do what the scheduler's plan has left, race by race as each went.

    Results are acknowledged together once they are worth 50 ms of work, and all of them at the end, on an error
    and on an interruption too.
    """
    barriers: list[list[Barrier]] = [[] for _ in scheduler.plan.races]
    try:
        # Cells limit themselves; where they are threads of one process, one that ends must not free the others.
        with single_threaded():
            while True:
                cells = scheduler.next_cells()
                if cells:
                    _do(cells, scheduler, work, executor, keeping)
                    continue
                waiting = scheduler.waiting()
                if not waiting:
                    break
                for race in waiting:
                    assert judge is not None, "only races with barriers wait"
                    so_far = RaceOutcome(_met(scheduler, race), tuple(barriers[race]))
                    barrier = judge(race, so_far, scheduler.alive(race))
                    _pass(scheduler, race, barrier)
                    barriers[race].append(barrier)
                    splits = scheduler.plan.races[race].splits
                    keeping.run.note_barrier([split.place for split in splits], barrier)
                    alive = len(scheduler.alive(race))
                    tell(keeping.listeners, BarrierPassed(race, barrier, alive, scheduler.n_saved))
    finally:
        keeping.run.commit()
    return [RaceOutcome(_met(scheduler, race), tuple(passed)) for race, passed in enumerate(barriers)]


def _met(scheduler: Scheduler, race: int) -> tuple[Split, ...]:
    return scheduler.plan.races[race].splits[: scheduler.met(race)]


def _pass(scheduler: Scheduler, race: int, barrier: Barrier) -> None:
    if barrier.stopped:
        scheduler.stop(race)
    else:
        scheduler.drop(race, [left.configuration for left in barrier.dropped])


def _do(
    cells: Sequence[CellKey], scheduler: Scheduler, work: Work, executor: Executor, keeping: ResultKeeper
) -> None:
    """One round: the cells that are ready, as far as the workers live."""
    n_done = 0

    def keep(result: CellResult) -> None:
        attempts = scheduler.attempts(result.key)
        keeping.keep(result if attempts == 1 else replace(result, attempts=attempts))
        scheduler.record(result.key)

    try:
        for result in executor.run(work, cells):
            keep(result)
            n_done += 1
    except WorkersLostError as lost:
        # Where nobody can say what was running, and nothing came back, any of them may be guilty.
        suspects = lost.running or (() if n_done else tuple(cells))
        tell(keeping.listeners, WorkersLost(suspects, lost.reason))
        for cell in scheduler.lose(suspects, lost.times):
            reason = f"its worker was lost {scheduler.attempts(cell)} times ({lost.reason})"
            if work.context.error_score == "raise":
                name = work.configurations[cell.configuration].name
                raise WorkersLostError([cell], f"{name}: {reason}", scheduler.attempts(cell)) from lost
            keep(CellResult(cell, CellState.FAILED, reason))
