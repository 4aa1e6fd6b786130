"""The state of a run: which cells may run now.

A cell is *ready* when its configuration remains in the race and, where the race has barriers, all remaining ones
have passed the earlier barriers. Cells that were running when a worker died are suspects: they run again one at a
time, so that the cell that kills workers is found and the others lose nothing.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from heldout.execution.cells import CellKey
from heldout.execution.plan import Race

MOST_LOSSES = 3
"""A cell that has cost so many workers fails."""


class Scheduler:
    """The state of a run: which cells may run now, which configurations remain.

    - ``n_configurations``: of the run.
    - ``races``: run side by side. A search is one race; nested cross-validation is one for each outer fold, and one
      over all the rows.
    - ``done``: cells that need no work, in the plan or not.

    Examples
    --------
    >>> import numpy as np
    >>> from heldout.folds.splits import Split
    >>> rows = np.arange(4)
    >>> splits = (Split(0, 0, rows[:2], rows[2:]), Split(0, 1, rows[2:], rows[:2]))
    >>> scheduler = Scheduler(2, [Race(splits, barriers=True)], done=[CellKey(0, 0, 0)])
    >>> scheduler.record(*scheduler.next_cells())
    >>> scheduler.waiting()
    [0]
    >>> scheduler.drop(0, [1])
    >>> scheduler.remaining(), scheduler.n_saved
    ([0], 1)
    """

    def __init__(self, n_configurations: int, races: Sequence[Race], done: Iterable[CellKey] = ()) -> None:
        self.races = races
        self.n_saved = 0
        self._done = set(done)
        self._losses: Counter[CellKey] = Counter()
        self._suspects: list[CellKey] = []
        self._races = [_Progress(race, list(race.entrants(n_configurations))) for race in races]
        self._race_of_split = {split.place: progress for progress in self._races for split in progress.race.splits}
        for progress in self._races:
            progress.open(self._done)

    def next_cells(self) -> list[CellKey]:
        """The cells to do now: a suspect alone, or else all that are ready, split by split; none at barriers."""
        if self._suspects:
            return self._suspects[:1]
        return [cell for progress in self._races for cell in progress.pending]

    def record(self, cell: CellKey) -> None:
        """Note that a cell is done or has failed."""
        self._done.add(cell)
        if cell in self._suspects:
            self._suspects.remove(cell)
        progress = self._race_of_split[cell.place]
        progress.pending.pop(cell, None)
        progress.end_if_done()

    def lose(self, running: Iterable[CellKey], times: int = 1) -> list[CellKey]:
        """Note that workers died while these cells ran; returns the cells that have now cost three workers."""
        hopeless = []
        for cell in running:
            if cell in self._done:
                continue
            self._losses[cell] += times
            if self._losses[cell] >= MOST_LOSSES:
                hopeless.append(cell)
            elif cell not in self._suspects:
                self._suspects.append(cell)
        return hopeless

    def attempts(self, cell: CellKey) -> int:
        """How often a cell was tried, counted when it is recorded."""
        return max(self._losses[cell], 1) if self._losses[cell] >= MOST_LOSSES else self._losses[cell] + 1

    def waiting(self) -> list[int]:
        """Races at a barrier: all remaining configurations have done the split, and more splits follow."""
        return [number for number, progress in enumerate(self._races) if progress.is_at_barrier]

    def drop(self, race: int, dropped: Collection[int]) -> None:
        """Let a race pass its barrier without the dropped configurations."""
        progress = self._races[race]
        before = len(progress.remaining)
        progress.remaining = [configuration for configuration in progress.remaining if configuration not in dropped]
        progress.passed += 1
        self.n_saved += (before - len(progress.remaining)) * progress.n_ahead
        progress.open(self._done)

    def stop(self, race: int) -> None:
        """End a race at its barrier: its later splits are not run."""
        progress = self._races[race]
        progress.passed += 1
        self.n_saved += len(progress.remaining) * progress.n_ahead
        progress.is_over = True

    def remaining(self, race: int = 0) -> list[int]:
        """The configurations that remain in a race, in order."""
        return list(self._races[race].remaining)


class _Progress:
    def __init__(self, race: Race, remaining: list[int]) -> None:
        self.race = race
        self.remaining = remaining
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
        """Make the cells before the next barrier ready."""
        ahead = self.race.splits[self.passed :]
        splits = ahead[:1] if self.race.barriers else ahead
        cells = (CellKey(configuration, *split.place) for split in splits for configuration in self.remaining)
        self.pending = {cell: None for cell in cells if cell not in done}
        self.end_if_done()

    def end_if_done(self) -> None:
        """After the last split there is no barrier."""
        if not self.pending and (not self.race.barriers or self.n_ahead == 1):
            self.passed, self.is_over = len(self.race.splits), True
