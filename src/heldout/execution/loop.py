"""The loop: send cells to an executor, record the results, judge at barriers, notify listeners."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from heldout.dropping.base import Barrier
from heldout.execution.cells import CellKey, CellResult, CellState, CellTable
from heldout.execution.events import BarrierPassed, CellFinished, Event, Listener, WorkersLost
from heldout.execution.executors.base import Executor, WorkersLostError
from heldout.execution.fit import Work
from heldout.execution.fold_models import FittedModel
from heldout.execution.scheduler import MOST_LOSSES, Scheduler
from heldout.execution.store.base import Run
from heldout.execution.threads import single_threaded

COMMIT_AFTER_SECONDS = 0.05

Judge: TypeAlias = Callable[[int, tuple[Barrier, ...], Sequence[int]], Barrier]
"""From the number of a race, its barriers so far and its remaining configurations to the record of the barrier."""


def tell(listeners: Sequence[Listener], event: Event) -> None:
    """Call every listener."""
    for listener in listeners:
        listener(event)


@dataclass
class ResultKeeper:
    """Records results, and acknowledges them in groups: after each 50 ms of work, and all at the end."""

    run: Run
    listeners: Sequence[Listener]
    taken: Callable[[CellResult | CellTable], None]
    """A callback for every recorded result or block."""
    keep_model: Callable[[CellKey, FittedModel], None] = lambda *_: None
    """Receives the model of a result, which is not recorded."""
    given: Mapping[CellKey, CellResult] = field(default_factory=dict)
    """Results that need no fit."""
    _worth: float = 0.0
    _committed: float = field(default_factory=time.perf_counter)

    def keep(self, result: CellResult | CellTable) -> None:
        """Record a result, and notify the listeners; a block is acknowledged at once."""
        if isinstance(result, CellTable):
            self._worth = COMMIT_AFTER_SECONDS
        else:
            self._worth += result.fit_seconds + result.score_seconds
            if result.model is not None:
                self.keep_model(result.key, result.model)
                result = replace(result, model=None)
        self.run.record(result)
        if max(self._worth, time.perf_counter() - self._committed) >= COMMIT_AFTER_SECONDS:
            self.run.commit()
            self._worth, self._committed = 0.0, time.perf_counter()
        self.taken(result)
        tell(self.listeners, CellFinished(result))


def run_races(
    scheduler: Scheduler, work: Work, executor: Executor, keeping: ResultKeeper, judge: Judge | None = None
) -> list[tuple[Barrier, ...]]:
    """Do the open cells of the scheduler's plan; returns the barriers of each race.

    Results are acknowledged in groups, and all of them at the end, after an error or an interruption too.
    """
    barriers: list[list[Barrier]] = [[] for _ in scheduler.plan.races]
    try:
        # Each cell limits itself to one thread; when cells are threads of one process, one that ends must not lift
        # the limit of the others.
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
                    barrier = judge(race, tuple(barriers[race]), scheduler.remaining(race))
                    _pass(scheduler, race, barrier)
                    barriers[race].append(barrier)
                    splits = scheduler.plan.races[race].splits
                    keeping.run.note_barrier([split.place for split in splits], barrier)
                    n_remaining = len(scheduler.remaining(race))
                    tell(keeping.listeners, BarrierPassed(race, barrier, n_remaining, scheduler.n_saved))
    finally:
        keeping.run.commit()
    return [tuple(passed) for passed in barriers]


def _pass(scheduler: Scheduler, race: int, barrier: Barrier) -> None:
    if barrier.stopped:
        scheduler.stop(race)
    else:
        scheduler.drop(race, [left.configuration for left in barrier.dropped])


def _do(
    cells: Sequence[CellKey], scheduler: Scheduler, work: Work, executor: Executor, keeping: ResultKeeper
) -> None:
    """One round: the ready cells, until workers die."""
    n_done = 0
    if len(cells) == 1 and work.sharing is not None and scheduler.attempts(cells[0]) == MOST_LOSSES:
        work = replace(work, sharing=None)  # what it shares may be what kills workers

    def keep(result: CellResult) -> None:
        attempts = scheduler.attempts(result.key)
        keeping.keep(result if attempts == 1 else replace(result, attempts=attempts))
        scheduler.record(result.key)

    for cell in cells:
        if cell in keeping.given:
            keep(keeping.given[cell])
    to_fit = [cell for cell in cells if cell not in keeping.given]
    try:
        for result in executor.run(work, to_fit) if to_fit else ():
            keep(result)
            n_done += 1
    except WorkersLostError as lost:
        # If it is unknown what was running and no result came, each of the cells may be to blame.
        suspects = lost.running or (() if n_done else tuple(to_fit))
        tell(keeping.listeners, WorkersLost(suspects, lost.reason))
        for cell in scheduler.lose(suspects, lost.times):
            reason = f"its worker was lost {scheduler.attempts(cell)} times ({lost.reason})"
            if work.error_score == "raise":
                name = work.configurations[cell.configuration].name
                raise WorkersLostError([cell], f"{name}: {reason}", scheduler.attempts(cell)) from lost
            keep(CellResult(cell, CellState.FAILED, reason))
