"""The progress of a run as a tally of its events, which bars, logs and ``heldout status`` read."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from heldout._types import Floats
from heldout.execution import events
from heldout.execution.cells import CellResult, CellState, CellTable
from heldout.folds.splits import Place


@dataclass
class _Unit:
    """Configurations that are computed together."""

    n_members: int
    """Those that were not dropped."""
    n_splits: float
    """In all; without those of an earlier run."""
    seconds: float = 0.0
    places: set[Place] = field(default_factory=set)
    """Of the splits that are done."""


class WorkPace:
    """The work of a run, done and left.

    Parameters
    ----------
    units : sequence of sequences of int
        Positions of configurations that are computed together; all others are units by themselves.
    n_configurations : int
    n_splits : float
        Of each configuration, on average.
    resumed : mapping of int to int
        How many splits of a configuration an earlier run has done.

    Examples
    --------
    >>> from heldout.execution.cells import CellKey, CellState
    >>> pace = WorkPace([(0, 1, 2)], 4, n_splits=2, resumed={})
    >>> for configuration, seconds in enumerate((1.0, 1.0, 1.0, 6.0)):
    ...     pace.add(CellResult(CellKey(configuration, 0, 0), CellState.DONE, fit_seconds=seconds))
    >>> pace.part_left
    1.0
    """

    def __init__(
        self, units: Sequence[Sequence[int]], n_configurations: int, n_splits: float, resumed: Mapping[int, int]
    ) -> None:
        self._in_blocks = 0.0
        self._ahead = 0.0
        """Spent on steps that other cells will read."""
        self._units: list[_Unit] = []
        self._unit_of: dict[int, _Unit] = {}
        for members in (*units, *((position,) for position in range(n_configurations))):
            if not self._unit_of.keys() & set(members):
                before = min(resumed.get(position, 0) for position in members)
                self._units.append(_Unit(len(members), n_splits - before))
                self._unit_of.update(dict.fromkeys(members, self._units[-1]))

    def add(self, result: CellResult | CellTable) -> None:
        """Count a cell, or a block, which holds all splits of its configurations."""
        if isinstance(result, CellTable):
            self._in_blocks += float(result.columns["fit_seconds"].sum() + result.columns["score_seconds"].sum())
            self.drop(result.configurations)
            return
        unit = self._unit_of.get(result.key.configuration)
        if unit is not None:
            unit.seconds += result.fit_seconds + result.score_seconds
            unit.places.add(result.key.place)
            self._ahead += result.ahead_seconds

    def drop(self, configurations: Iterable[int]) -> None:
        """Leave configurations out from here on."""
        for position in configurations:
            if position in self._unit_of:
                self._unit_of.pop(position).n_members -= 1

    @property
    def part_left(self) -> float | None:
        """The work that is left, as a part of what was spent; None where no cell says how long it took."""
        a_split = {id(unit): unit.seconds / len(unit.places) for unit in self._units if unit.places}
        spent = sum(unit.seconds for unit in self._units) + self._ahead
        if not spent:
            return None
        mean = sum(a_split.values()) / len(a_split)
        left = sum(
            max(unit.n_splits - len(unit.places), 0.0) * a_split.get(id(unit), mean)
            for unit in self._units
            if unit.n_members
        )
        return float(max(left - self._ahead, 0.0) / (spent + self._in_blocks))


class CurrentBest(NamedTuple):
    """The best configuration so far, with the mean of its scores over so many splits (greater = better)."""

    name: str
    score: float
    n_splits: int


def best_so_far(scores: Floats, names: Sequence[str], out: Iterable[int]) -> CurrentBest | None:
    """The best mean over the splits that at least half of the configurations with scores have done.

    Only configurations with all these splits count: one with a further split has no competitor there. NaN never
    wins, and of equals the first does.

    - ``scores``: (configurations, splits); NaN where there is none.
    - ``out``: configurations that failed or were dropped.

    Examples
    --------
    >>> scores = np.array([[0.5, 0.75], [0.25, np.nan], [0.75, np.nan]])
    >>> best_so_far(scores, "abc", out=[2])
    CurrentBest(name='a', score=0.625, n_splits=2)
    >>> best_so_far(scores, "abc", out=[])
    CurrentBest(name='c', score=0.75, n_splits=1)
    """
    has = np.isfinite(scores)
    has[list(out)] = False
    together = has.any(axis=0) & (2 * has.sum(axis=0) >= has.any(axis=1).sum())
    complete = np.flatnonzero(has[:, together].all(axis=1) & together.any())
    if not len(complete):
        return None
    means = scores[complete][:, together].mean(axis=1)
    best = int(np.argmax(means))
    return CurrentBest(names[complete[best]], float(means[best]), int(together.sum()))


class RunTally:
    """Counts the events of a run.

    - ``total``, ``resumed``: planned fits, and those of them that an earlier run had done.
    - ``done``: fits that are done, here or in an earlier run.
    - ``failed``, ``saved``: fits of this run that failed, and planned fits that will not be made.
    - ``plan``: the event with which the run began.
    - ``n_splits_done``: splits that all remaining configurations have done, as of the last barrier.
    - ``n_remaining``: configurations that remain in the race.

    Examples
    --------
    >>> from heldout.execution.cells import CellKey
    >>> from heldout.execution.events import CellFinished, SearchStarted
    >>> tally = RunTally()
    >>> tally.add(SearchStarted(4, 0, 2, 2, names=("a", "b")))
    >>> for configuration, score in enumerate((0.5, 0.75)):
    ...     scores = {"score": score}
    ...     cell = CellResult(CellKey(configuration, 0, 0), CellState.DONE, test_scores=scores)
    ...     tally.add(CellFinished(cell))
    >>> tally.done, tally.best
    (2, CurrentBest(name='b', score=0.75, n_splits=1))
    >>> tally.seconds_left(10.0)
    10.0
    """

    def __init__(self) -> None:
        self._begin(events.SearchStarted(0, 0, 0, 0))

    def _begin(self, event: events.SearchStarted) -> None:
        self.plan = event
        self.total, self.resumed, self.done = event.n_cells, event.n_resumed, event.n_resumed
        self.n_configurations, self.n_races = event.n_configurations, event.n_races
        self.failed = self.saved = self.n_splits_done = 0
        self.n_remaining = event.n_configurations
        self._names = list(event.names)
        self._scores = np.full((event.n_configurations, event.n_splits), np.nan)
        self._columns: dict[Place, int] = {}
        self._failed: set[int] = set()
        self._out: set[int] = set()
        self._in_blocks = self._n_following = 0
        self._part_left: float | None = None
        n_splits = event.n_cells / max(event.n_configurations, 1)
        self._pace = WorkPace(event.units, event.n_configurations, n_splits, event.resumed)

    def add(self, event: events.Event) -> None:
        """Count an event."""
        if isinstance(event, events.CellFinished):
            self._pace.add(event.result)
            if isinstance(event.result, CellTable):
                self._count_block(event.result)
            else:
                self._count(event.result)
        elif isinstance(event, events.ConfigurationsAdded):
            self._add_configurations(event)
        elif isinstance(event, events.FitsAdded):
            self.total, self.done = self.total + event.n_cells, self.done + event.n_resumed
            self.resumed += event.n_resumed
            self.n_races += 1  # scores of other splits are not comparable
            self._pace = WorkPace((), 0, 0, {})
        elif isinstance(event, events.BarrierPassed):
            self.saved = event.n_saved
            if self.n_races == 1:
                self.n_remaining, self.n_splits_done = event.n_remaining, event.barrier.after
                dropped = [drop.configuration for drop in event.barrier.dropped]
                self._out.update(dropped)
                self._pace.drop(dropped)
        elif isinstance(event, events.SearchStarted):
            self._begin(event)

    def _add_configurations(self, event: events.ConfigurationsAdded) -> None:
        self._names += event.names
        n_resumed = sum(event.resumed.values())
        self.done += n_resumed
        self.resumed += n_resumed
        n_more = len(self._names) - self.n_configurations
        if n_more > 0:  # it was unknown how many there would be
            self.n_configurations += n_more
            self.n_remaining += n_more
            self.total += n_more * self.plan.n_splits
            self._scores = np.vstack([self._scores, np.full((n_more, self.plan.n_splits), np.nan)])

    @property
    def left(self) -> int:
        """Fits that are still to be done if no more configurations are dropped."""
        return max(self.total - self.done - self.saved, 0)

    def seconds_left(self, seconds: float) -> float | None:
        """Seconds for the remaining work at the pace of this process; None before its first fit.

        Work is counted as ``WorkPace`` does, and by fits where these do not say how long they took.
        ``seconds``: since the run began here; cells of an earlier run do not count.
        """
        here = self.done - self.resumed - self._in_blocks
        if not here:
            return None
        if not self._n_following:  # of results that arrive together some would stand for all
            self._part_left = self._pace.part_left
        part = self._part_left
        if part is None:
            part = self.left / here
        elif self.n_races > 1:  # it is not known which configurations were dropped where
            part *= self.left / max(self.left + self.saved, 1)
        return seconds * part if self.left else 0.0

    @property
    def best(self) -> CurrentBest | None:
        """The best so far; None before there is a score, and for several races."""
        names = [self.name_of(j) for j in range(len(self._scores))]
        return None if self.n_races > 1 else best_so_far(self._scores, names, self._out)

    def name_of(self, configuration: int) -> str:
        """The name of a configuration; its number where names are unknown."""
        names = self._names
        return names[configuration] if configuration < len(names) else f"configuration {configuration}"

    def failed_among(self, configurations: Iterable[int]) -> int:
        """How many of these configurations have failed here."""
        return len(self._failed.intersection(configurations))

    def _count(self, result: CellResult) -> None:
        self.done += 1
        self._n_following = result.n_following
        configuration = result.key.configuration
        if result.state is CellState.FAILED:
            self.failed += 1
            self._failed.add(configuration)
            self._out.add(configuration)
            return
        scores = result.test_scores
        # The score names of a callable are known only from its results; the first one then decides.
        score = scores.get(self.plan.refit_metric, next(iter(scores.values()), math.nan))
        column = self._columns.setdefault(result.key.place, len(self._columns))
        # Further splits are of fits that follow those of the plan.
        if column < self._scores.shape[1] and not math.isnan(score):
            self._scores[configuration, column] = score

    def _count_block(self, block: CellTable) -> None:
        self.done += len(block)
        self._in_blocks += len(block)
        scores = block.test_scores.get(self.plan.refit_metric, next(iter(block.test_scores.values())))
        columns = [self._columns.setdefault(place, len(self._columns)) for place in block.places]
        self._scores[np.ix_(block.configurations, columns)] = scores["value"]
