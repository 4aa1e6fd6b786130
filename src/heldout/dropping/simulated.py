"""Repeat a race on weighted rows: which configurations would have been dropped with other rows."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from heldout._random import stream
from heldout.kernels.draws import Draws, UndefinedDrawsError, always
from heldout.kernels.reference import Floats
from heldout.metrics.base import oriented
from heldout.selection.base import NONE_CHOSEN, tie_exactly
from heldout.selection.replay import SelectionReplay

Alive = NDArray[np.bool_]
"""(L, A): which of the A configurations of a race remain under each of L weightings."""


class SimulatedStandings(Protocol):
    """The standings of a race under L weightings of the rows, split by split."""

    def meet(self, split: int, wanted: NDArray[np.bool_]) -> None:
        """Add a split; from now on only the columns ``wanted`` (A,) are needed."""

    def leaders(self, alive: Alive) -> NDArray[np.intp]:
        """(L,): the best of the remaining ones, ``NONE_CHOSEN`` if unknown."""

    def worse(self, leaders: NDArray[np.intp], alive: Alive) -> Floats:
        """(L, A): the share of bootstraps in which each is worse than its leader; arbitrary for dropped ones."""


class SimulatedCourse(Protocol):
    """The data of a simulated race."""

    def start(self, counts: NDArray[np.uint8]) -> SimulatedStandings:
        """Before the first split, under weightings (L, n)."""


@dataclass(frozen=True, eq=False)
class SimulatedRace:
    """A race of A configurations with the bootstrap rule, under any weighting of the rows.

    At each barrier a configuration is dropped if it is worse than the leader in more than the threshold share of
    bootstraps, as in the real race. Fits that were not made are unknown: a configuration that the real race dropped
    is dropped at the same barrier at the latest, and at least one of those that survived the real race survives
    every simulated one.
    """

    course: SimulatedCourse
    judged: NDArray[np.bool_]
    """(K - 1,): the barriers with enough predicted rows: rows of the table, not draws of them."""
    left_after: NDArray[np.intp]
    """(A,): the number of splits of each in the real race, K if it survived."""
    n_splits: int
    """K."""
    threshold: float
    resolve_ties_after: int | None = None
    """As in ``heldout.dropping.base.Racing``."""

    def run(self, counts: NDArray[np.uint8]) -> NDArray[np.intp]:
        """(L, A): the number of splits of each configuration under weightings (L, n), K if it survives."""
        stays = self.left_after == self.n_splits
        alive = np.ones((len(counts), len(self.left_after)), dtype=bool)
        met = np.full(alive.shape, self.n_splits, dtype=np.intp)
        if not self.judged.any():
            return np.minimum(met, self.left_after)
        alone = np.zeros(len(counts), dtype=np.intp)
        last = int(np.flatnonzero(self.judged)[-1]) + 1
        standings = self.course.start(counts)
        for after in range(1, self.n_splits):
            if after > last or alive.sum(axis=1).max(initial=0) == 1:
                met = np.where(alive, np.minimum(met, self.left_after), met)
                break
            standings.meet(after - 1, np.asarray(alive.any(axis=0)))
            leaves = np.zeros_like(alive)
            if self.judged[after - 1]:
                leaves = self._judged(standings, alive, alone)
            going = alive & ~leaves & (self.left_after > after)
            ended = ~(going & stays).any(axis=1)
            if ended.any():
                spared = standings.leaders(alive & stays)
                first = (alive & stays).argmax(axis=1)
                going[ended, np.where(spared == NONE_CHOSEN, first, spared)[ended]] = True
            met[alive & ~going] = after
            alone = np.where(going.sum(axis=1) == 2, alone + 1, 0)
            alive = going
        return met

    def _judged(self, standings: SimulatedStandings, alive: Alive, alone: NDArray[np.intp]) -> Alive:
        """Those that the rule drops; never the leader."""
        leaders = standings.leaders(alive)
        leaves = alive & (standings.worse(leaders, alive) > self.threshold)
        if self.resolve_ties_after is not None:
            behind = (alive.sum(axis=1) == 2) & (alone >= self.resolve_ties_after)
            leaves[behind] = alive[behind]
        leaves[np.arange(len(leaves)), leaders] = False
        leaves[leaders == NONE_CHOSEN] = False
        return leaves


@dataclass(frozen=True, eq=False)
class Stand:
    """The rows predicted before a barrier, and the selection rule on the predictions of them."""

    rows: NDArray[np.intp]
    """Among the rows that are weighted."""
    columns: NDArray[np.intp]
    """Which of the A configurations the columns of ``replay`` are."""
    replay: SelectionReplay | None
    """None where the rule does not apply."""
    units: NDArray[np.intp]
    """The unit of each of the rows, as codes 0 ..: a bootstrap draws units whole."""

    def leaders(self, counts: NDArray[np.uint8], alive: Alive) -> NDArray[np.intp]:
        """(L,): the best of the remaining ones, if the drawn rows meet the needs of the metrics."""
        found = np.full(len(counts), NONE_CHOSEN, dtype=np.intp)
        if self.replay is None:
            return found
        mine = np.take(counts, self.rows, axis=1)
        defined = np.flatnonzero(self.replay.defined(mine))
        if defined.size:
            chosen = self.replay.choose(mine[defined], among=alive[defined][:, self.columns])
            found[defined] = np.where(chosen == NONE_CHOSEN, NONE_CHOSEN, self.columns[chosen])
        return found


@dataclass(frozen=True, eq=False)
class CountedCourse:
    """For any metric: at each barrier the drawn rows are drawn again."""

    stands: tuple[Stand, ...]
    """One a barrier."""
    n_draws: int
    """Bootstraps within each bootstrap; there is time for a few hundred."""
    entropy: int

    def start(self, counts: NDArray[np.uint8]) -> CountedStandings:
        """Before the first split."""
        return CountedStandings(self, counts)


class CountedStandings:
    """``SimulatedStandings`` by drawing again from the drawn rows."""

    def __init__(self, course: CountedCourse, counts: NDArray[np.uint8]) -> None:
        self._course = course
        self._counts = counts
        self._stand = course.stands[0]

    def meet(self, split: int, wanted: NDArray[np.bool_]) -> None:
        self._stand = self._course.stands[split]

    def leaders(self, alive: Alive) -> NDArray[np.intp]:
        return self._stand.leaders(self._counts, alive)

    def worse(self, leaders: NDArray[np.intp], alive: Alive) -> Floats:
        share = np.zeros(alive.shape)
        stand = self._stand
        contested = np.flatnonzero((leaders != NONE_CHOSEN) & (alive.sum(axis=1) > 1))
        for lane in contested:
            counts = np.take(self._counts[lane], stand.rows)
            inner = draws_within(counts, stand, self._course.n_draws, self._course.entropy)
            if inner is not None:
                leader = int(np.flatnonzero(stand.columns == leaders[lane])[0])
                share[lane, stand.columns] = share_worse(stand, inner, leader)
        return share


def draws_within(counts: NDArray[np.uint8], stand: Stand, n_draws: int, entropy: int) -> NDArray[np.uint8] | None:
    """Counts (n_draws, n) of bootstraps of the rows drawn ``counts`` (n,) times; None where there are none.

    The name of the stream is a hash of the drawn rows, so that it does not depend on the block of the bootstrap.
    """
    assert stand.replay is not None, "only where the rule applies"
    defined = stand.replay.defined
    first = np.unique(stand.units, return_index=True)[1]
    drawn = np.repeat(np.arange(len(first)), counts[first])  # the unit in each place to draw
    starts = np.flatnonzero(np.diff(drawn, prepend=-1))

    def of_rows(places: NDArray[np.uint8]) -> NDArray[np.uint8]:
        units = np.zeros((len(places), len(first)), dtype=np.uint8)
        units[:, drawn[starts]] = np.add.reduceat(places, starts, axis=1)
        return units[:, stand.units]

    name = hashlib.sha256(counts.tobytes()).hexdigest()
    draws = Draws(
        seed=stream(entropy, "dropping again", name),
        n_bootstraps=n_draws,
        unit_of_row=np.arange(len(drawn)),
        defined_in_bag=lambda places: defined(of_rows(places)),
        defined_out_of_bag=always,
    )
    try:
        return of_rows(draws.block(0, n_draws)[0])
    except UndefinedDrawsError:
        return None


def share_worse(stand: Stand, counts: NDArray[np.uint8], leader: int) -> Floats:
    """(columns,): the share of bootstraps in which each column scores worse than the leader; NaN is not worse."""
    assert stand.replay is not None, "only where the rule applies"
    score = stand.replay.scores[0]
    values = oriented(score.metric, score.all(counts))
    if not score.has_fused_path:  # as in the real race: rounding errors decide nothing
        values = tie_exactly(values)
    return np.count_nonzero(values < values[:, leader, None], axis=0) / len(counts)
