"""How a run stands: a running tally of its events. Pure; those who draw or print ask it.

What is said of the best is said of the run so far: who has the best mean of the deciding scorer over the splits
that at least half of those in the race have met. The first to have met one more has met nobody there yet, and would
lead for that alone. It is uncorrected, and it may change.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from heldout.execution.cells import CellResult, CellState
from heldout.execution.events import BarrierPassed, CellFinished, Event, SearchStarted, WorkersLost


class CurrentBest(NamedTuple):
    """The configuration that leads, as the scorer scores it (greater = better)."""

    configuration: int
    name: str
    score: float
    n_splits: int


class RunTally:
    """A tally that is told every event.

    Attributes
    ----------
    total, resumed : int
        Planned fits, and those of them that an earlier run had done.
    done : int
        Fits that are done, by whichever run.
    failed, saved : int
        Of those done here, and planned ones that nobody will do.
    n_configurations, n_splits, n_races : int
    may_drop : bool
    metric : str
        The scorer that decides.
    met : int
        Splits that everybody in the race has met, as of its last barrier.
    alive : int
        Configurations that are still in the race.
    n_lost : int
        How often workers were lost.
    lost_reason : str
        Why, the last time.

    Examples
    --------
    >>> from heldout.execution.cells import CellKey
    >>> standings = RunTally()
    >>> standings.see(SearchStarted(4, 0, 2, 2, names=("a", "b")))
    >>> for configuration, score in enumerate((0.5, 0.75)):
    ...     scores = {"score": score}
    ...     cell = CellResult(CellKey(configuration, 0, 0), CellState.DONE, test_scores=scores)
    ...     standings.see(CellFinished(cell))
    >>> standings.done, standings.best
    (2, CurrentBest(configuration=1, name='b', score=0.75, n_splits=1))
    >>> standings.seconds_left(10.0)
    10.0
    """

    def __init__(self) -> None:
        self._begin(SearchStarted(0, 0, 0, 0))

    def _begin(self, event: SearchStarted) -> None:
        self.total, self.resumed, self.done = event.n_cells, event.n_resumed, event.n_resumed
        self.n_configurations, self.n_splits, self.n_races = event.n_configurations, event.n_splits, event.n_races
        self.may_drop, self.metric = event.may_drop, event.refit_metric
        self.failed = self.saved = self.met = self.n_lost = 0
        self.lost_reason = ""
        self.alive = event.n_configurations
        self._names = event.names
        self._scores: list[list[float]] = [[] for _ in range(event.n_configurations)]
        self._failed: set[int] = set()
        self._out: set[int] = set()

    def see(self, event: Event) -> None:
        """Take note of an event."""
        if isinstance(event, CellFinished):
            self._count(event.result)
        elif isinstance(event, BarrierPassed):
            self.saved = event.n_saved
            if self.n_races == 1:
                self.alive, self.met = event.n_alive, event.barrier.after
                self._out.update(left.configuration for left in event.barrier.dropped)
        elif isinstance(event, WorkersLost):
            self.n_lost += 1
            self.lost_reason = event.reason
        elif isinstance(event, SearchStarted):
            self._begin(event)

    @property
    def left(self) -> int:
        """Fits that are still to be done, should nobody leave any more."""
        return max(self.total - self.done - self.saved, 0)

    def seconds_left(self, seconds: float) -> float | None:
        """Time for what is left, at the pace of this process; None before its first fit.

        Parameters
        ----------
        seconds : float
            Since the run began here. Cells of an earlier run took none of them.
        """
        here = self.done - self.resumed
        return seconds / here * self.left if here else None

    @property
    def best(self) -> CurrentBest | None:
        """Who leads; None before there is a score, and where several races mean several leaders.

        It is looked for when it is asked for, which is rarer than events are.
        """
        if self.n_races > 1:
            return None
        running = [(j, scores) for j, scores in enumerate(self._scores) if j not in self._out]
        level = _met_by_half([len(scores) for _, scores in running])
        means = [(sum(scores[:level]) / level, -j) for j, scores in running if len(scores) >= level]
        if not means:
            return None
        score, negative = max(means)  # of equals the first
        name = self._names[-negative] if -negative < len(self._names) else f"configuration {-negative}"
        return CurrentBest(-negative, name, score, level)

    def failed_among(self, configurations: Iterable[int]) -> int:
        """How many of these have failed here."""
        return len(self._failed.intersection(configurations))

    def _count(self, result: CellResult) -> None:
        self.done += 1
        configuration = result.key.configuration
        if result.state is CellState.FAILED:
            self.failed += 1
            self._failed.add(configuration)
            self._out.add(configuration)
            return
        scores = result.test_scores
        # The names of a callable scoring are only known when it was called; the first then decides.
        score = scores.get(self.metric, next(iter(scores.values()), math.nan))
        if not math.isnan(score):
            self._scores[configuration].append(score)


def _met_by_half(counts: Sequence[int]) -> int:
    """How many splits at least half of these have met, or one where they have met none.

    Examples
    --------
    >>> _met_by_half([2, 2, 1]), _met_by_half([2, 1, 1]), _met_by_half([1, 0, 0]), _met_by_half([])
    (2, 1, 1, 1)
    """
    ordered = sorted(counts, reverse=True)
    return max(ordered[(len(ordered) - 1) // 2], 1) if ordered else 1
