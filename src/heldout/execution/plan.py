"""The plan of a run: which configurations run on which splits, in which order, and whether it fits in memory.

The ``Scheduler`` is its state: a cell is *ready* when its configuration remains in the race and, where the race has
barriers, all remaining ones have passed the earlier barriers. Cells that were running when a worker died are
suspects: they run again one at a time, so that the cell that kills workers is found and the others lose nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from heldout._streams import numpy_seed
from heldout.data.checks import check_fits, refuse_beyond_memory
from heldout.data.row_part import RowPart
from heldout.data.task import Truth
from heldout.dropping.base import DropRule
from heldout.execution.cells import CellKey, outputs_of
from heldout.execution.fit import Scoring
from heldout.folds.splits import Folds, Split
from heldout.metrics.base import Response


@dataclass(frozen=True)
class Race:
    """Configurations on splits, one split after another."""

    splits: tuple[Split, ...]
    """In the order in which they run."""
    barriers: bool = False
    """Whether the configurations wait for each other after every split, where some may be dropped."""
    configurations: tuple[int, ...] | None = None
    """Those that take part; all by default."""

    @property
    def n_folds(self) -> int:
        """The greatest number of splits in one repeat."""
        return max(Counter(split.repeat for split in self.splits).values())

    def entrants(self, n_configurations: int) -> tuple[int, ...]:
        """The configurations that it begins with, of a run of so many."""
        return tuple(range(n_configurations)) if self.configurations is None else self.configurations

    def without(self, configurations: Collection[int], n_configurations: int) -> Race:
        """The race of the others, of a run of so many."""
        others = tuple(j for j in self.entrants(n_configurations) if j not in configurations)
        return replace(self, configurations=others)


def race_of_search(folds: Folds, rule: DropRule | None = None, entropy: int = 0, *, stops: bool = False) -> Race:
    """All splits in their order; with a drop rule, with barriers, and shuffled if the rule shuffles.

    ``stops``: whether the search may end at a barrier, so that it has them without a drop rule too.

    Examples
    --------
    >>> rows = np.arange(4)
    >>> folds = Folds((Split(0, 0, rows[:2], rows[2:]), Split(0, 1, rows[2:], rows[:2])), 4)
    >>> [split.place for split in race_of_search(folds).splits]
    [(0, 0), (0, 1)]
    """
    if rule is None:
        return Race(folds.splits, barriers=stops)
    return Race(in_racing_order(folds, rule, entropy), barriers=True)


def in_racing_order(folds: Folds, rule: DropRule, entropy: int) -> tuple[Split, ...]:
    """The splits in the order in which they run: repeat by repeat, within one in order or shuffled."""
    if not rule.shuffle_folds:
        return folds.splits
    ordered: list[Split] = []
    for repeat in dict.fromkeys(split.repeat for split in folds.splits):
        mine = [split for split in folds.splits if split.repeat == repeat]
        order = np.random.default_rng(numpy_seed(entropy, "fold order", repeat)).permutation(len(mine))
        ordered += [mine[number] for number in order]
    return tuple(ordered)


BYTES_A_CELL = 1000
"""Bytes of a result and its place in the plan, without its predictions."""


def bytes_needed(
    truth: Truth, n_configurations: int, folds: Folds, scoring: Scoring, part: RowPart | None = None
) -> int:
    """Bytes of the held-out predictions, once as results and once as arrays; of a part as arrays alone."""
    tested = sum(len(split.test) for split in folds.splits)
    gathered = (truth.n_rows if part is None else len(part.with_first)) * folds.n_repeats
    return (gathered + (tested if part is None else 0)) * n_configurations * bytes_a_row(truth, scoring)


def bytes_a_row(truth: Truth, scoring: Scoring) -> int:
    """Bytes of the responses of one model for one row."""
    recorded = dict.fromkeys(group[0] for group in scoring.wanted)
    shapes = {response: outputs_of(response, truth, len(scoring.times)) for response in recorded}
    return sum((4 if response is Response.LABELS else 8) * math.prod(shape) for response, shape in shapes.items())


def check_memory(
    truth: Truth,
    n_configurations: int,
    folds: Folds,
    scoring: Scoring,
    *,
    keeps_predictions: bool = True,
    part: RowPart | None = None,
) -> None:
    """Refuse a search that is too large: in fits, or for half of the memory.

    - ``keeps_predictions``: whether predictions stay in memory, as without a store.
    - ``part``: the rows whose predictions are kept, where these are not all.
    """
    check_fits(n_configurations, folds.n_splits)
    n_cells = n_configurations * folds.n_splits
    kept = bytes_needed(truth, n_configurations, folds, scoring, part) if keeps_predictions else 0
    of_what = f"the held-out predictions and the {n_cells:,} results" if kept else f"the {n_cells:,} results"
    store = "a store (store='run.db'), " if kept else ""
    refuse_beyond_memory(
        kept + BYTES_A_CELL * n_cells,
        f"{of_what} of {n_configurations} configurations on {truth.n_rows} rows",
        f"{store}fewer configurations or repeats, or fewer metrics",
    )


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
