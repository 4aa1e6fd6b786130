"""What to do next: a plan, what was done of it, and who left. Pure state and decisions; the loop acts on them.

A cell is *ready* when its configuration is still in the race and, where the race has barriers, everybody in it has
passed those before. Cells that were running when a worker died are suspects: they are handed out again one at a
time, so that the guilty one is found and the innocent lose nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from heldout.execution.cells import CellKey
from heldout.execution.plan import Race, RunPlan

MOST_LOSSES = 3
"""A cell of which so many workers died is given up."""


class Scheduler:
    """The state of a run.

    Parameters
    ----------
    plan : RunPlan
    done : iterable of CellKey
        Cells that need no work any more, whether the plan knows them or not.

    Examples
    --------
    >>> import numpy as np
    >>> from heldout.folds.splits import Split
    >>> rows = np.arange(4)
    >>> splits = (Split(0, 0, rows[:2], rows[2:]), Split(0, 1, rows[2:], rows[:2]))
    >>> scheduler = Scheduler(RunPlan(2, (Race(splits, barriers=True),)), done=[CellKey(0, 0, 0)])
    >>> scheduler
    Scheduler(1 of 4 cells done; 2 of 2 configurations before split 1 of 2)
    >>> scheduler.record(*scheduler.next_cells())
    >>> scheduler.waiting()
    [0]
    >>> scheduler.drop(0, leaving=[1])
    >>> scheduler
    Scheduler(2 of 4 cells done, 1 saved; 1 of 2 configurations before split 2 of 2)
    """

    def __init__(self, plan: RunPlan, done: Iterable[CellKey] = ()) -> None:
        self.plan = plan
        self.n_saved = 0
        self._done = set(done)
        self._losses: Counter[CellKey] = Counter()
        self._suspects: list[CellKey] = []
        self._races = [_Progress(race, list(plan.starting(race))) for race in plan.races]
        self._race_of_split = {split.place: progress for progress in self._races for split in progress.race.splits}
        for progress in self._races:
            progress.open(self._done)

    def next_cells(self) -> list[CellKey]:
        """What may be done now: a suspect alone, or else all that is ready, split by split; none at barriers."""
        if self._suspects:
            return self._suspects[:1]
        return [cell for progress in self._races for cell in progress.pending]

    def record(self, cell: CellKey) -> None:
        """A cell was done, well or badly."""
        self._done.add(cell)
        if cell in self._suspects:
            self._suspects.remove(cell)
        progress = self._race_of_split[cell.place]
        progress.pending.pop(cell, None)
        progress.end_if_done()

    def lose(self, running: Iterable[CellKey], times: int = 1) -> list[CellKey]:
        """Workers died while these cells were running; those to be given up, for having lost three of them."""
        given_up = []
        for cell in running:
            if cell in self._done:
                continue
            self._losses[cell] += times
            if self._losses[cell] >= MOST_LOSSES:
                given_up.append(cell)
            elif cell not in self._suspects:
                self._suspects.append(cell)
        return given_up

    def attempts(self, cell: CellKey) -> int:
        """How often a cell was tried that is being recorded, as far as workers died of it."""
        return max(self._losses[cell], 1) if self._losses[cell] >= MOST_LOSSES else self._losses[cell] + 1

    def waiting(self) -> list[int]:
        """Races that stand at a barrier: all in it have met the split, and there are more to meet."""
        return [number for number, progress in enumerate(self._races) if progress.is_at_barrier]

    def drop(self, race: int, leaving: Collection[int]) -> None:
        """Let a race pass the barrier at which it stands, without those who leave."""
        progress = self._races[race]
        before = len(progress.alive)
        progress.alive = [configuration for configuration in progress.alive if configuration not in leaving]
        progress.passed += 1
        self.n_saved += (before - len(progress.alive)) * progress.n_ahead
        progress.open(self._done)

    def stop(self, race: int) -> None:
        """End a race at the barrier at which it stands: what it has not met it will not meet."""
        progress = self._races[race]
        progress.passed += 1
        self.n_saved += len(progress.alive) * progress.n_ahead
        progress.is_over = True

    def alive(self, race: int = 0) -> list[int]:
        """The configurations still in a race, in order."""
        return list(self._races[race].alive)

    def met(self, race: int = 0) -> int:
        """How many splits all those still in a race have met."""
        progress = self._races[race]
        return progress.passed + (progress.race.barriers and progress.is_at_barrier)

    def __repr__(self) -> str:
        planned = self.plan.n_cells
        done = sum(cell.place in self._race_of_split for cell in self._done)
        saved = f", {self.n_saved} saved" if self.n_saved else ""
        races = "; ".join(map(str, self._races))
        return f"Scheduler({done} of {planned} cells done{saved}; {races})"


class _Progress:
    """How far a race has come."""

    def __init__(self, race: Race, alive: list[int]) -> None:
        self.race = race
        self.n_started = len(alive)
        self.alive = alive
        self.passed = 0
        self.is_over = False
        self.pending: dict[CellKey, None] = {}  # an ordered set

    @property
    def n_ahead(self) -> int:
        return len(self.race.splits) - self.passed

    @property
    def is_at_barrier(self) -> bool:
        return not self.pending and not self.is_over

    def open(self, done: Collection[CellKey]) -> None:
        """Make ready what comes before the next barrier."""
        ahead = self.race.splits[self.passed :]
        met = ahead[:1] if self.race.barriers else ahead
        cells = (CellKey(configuration, *split.place) for split in met for configuration in self.alive)
        self.pending = {cell: None for cell in cells if cell not in done}
        self.end_if_done()

    def end_if_done(self) -> None:
        """After the last split there is no barrier."""
        if not self.pending and (not self.race.barriers or self.n_ahead == 1):
            self.passed, self.is_over = len(self.race.splits), True

    def __str__(self) -> str:
        of_all = f"{len(self.alive)} of {self.n_started} configurations"
        if self.is_over:
            return f"{of_all} at the end"
        where = f"split {self.passed + 1} of {len(self.race.splits)}"
        if not self.race.barriers:
            return f"{of_all} without barriers"
        return f"{of_all} {'at the barrier after' if self.is_at_barrier else 'before'} {where}"
