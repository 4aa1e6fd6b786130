"""Replay the dropping inside bootstraps: which configurations would have been dropped with other rows.

BBC on the configurations that survived a race scores choices among them on rows that were used to drop others, and
so is a little optimistic. Dropping followed by selection is itself a selection. ``RacedSelection`` makes it on the
drawn rows, and BBC scores its choice on the other rows, as for any rule (Tsamardinos et al. 2018, sections 4 and
5).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from heldout._streams import stream
from heldout._types import Booleans, Counts, Floats, Indices, Weightings
from heldout.dropping.base import DropRule
from heldout.dropping.bootstrap import Bootstrap
from heldout.metrics.base import oriented
from heldout.selection.base import NONE_CHOSEN, Choice
from heldout.selection.best import tie_exactly
from heldout.selection.bootstrap_draws import UndefinedDrawsError, inner_counts
from heldout.selection.replay import SelectionReplay

Remaining = Booleans
"""(L, A): which of the A configurations of a race remain under each of L weightings."""


class SimulatedStandings(Protocol):
    """The standings of a race under L weightings of the rows, split by split."""

    def add_split(self, split: int, wanted: Booleans) -> None:
        """Add a split; from now on only the columns ``wanted`` (A,) are needed."""

    def leaders(self, remaining: Remaining) -> Indices:
        """(L,): the best of the remaining ones, ``NONE_CHOSEN`` if unknown."""

    def worse(self, leaders: Indices, remaining: Remaining) -> Floats:
        """(L, A): the share of bootstraps in which each is worse than its leader; arbitrary for dropped ones."""


class SimulatedCourse(Protocol):
    """The data of a simulated race."""

    def start(self, counts: Counts) -> SimulatedStandings:
        """Before the first split, under weightings (L, n)."""


@dataclass(frozen=True, eq=False)
class DroppingHistory:
    """The parts of a race that are needed to repeat it."""

    rule: DropRule
    splits: tuple[tuple[int, int], ...]
    """The column of the fold labels (a repeat) and the fold of each split, in the order in which they ran."""
    left_after: Mapping[int, int] = field(default_factory=dict)
    """The number of splits of each dropped configuration."""

    @property
    def is_replayed(self) -> bool:
        """Whether the estimate repeats the dropping."""
        return isinstance(self.rule, Bootstrap) and self.rule.replay


@dataclass(frozen=True, eq=False)
class SimulatedRace:
    """A race of A configurations with the bootstrap rule, under any weighting of the rows.

    At each barrier a configuration is dropped if it is worse than the leader in more than the threshold share of
    bootstraps, as in the real race. Fits that were not made are unknown: a configuration that the real race dropped
    is dropped at the same barrier at the latest, and at least one of those that the real race kept is kept in
    every simulated one.
    """

    course: SimulatedCourse
    judged: Booleans
    """(K - 1,): the barriers with enough predicted rows: rows of the table, not draws of them."""
    left_after: Indices
    """(A,): the number of splits of each in the real race, K if it survived."""
    n_splits: int
    """K."""
    threshold: float
    resolve_ties_after: int | None = None
    """As in ``heldout.dropping.base.Racing``."""

    def run(self, counts: Counts) -> Indices:
        """(L, A): the number of splits of each configuration under weightings (L, n), K if it is kept."""
        stays = self.left_after == self.n_splits
        remaining = np.ones((len(counts), len(self.left_after)), dtype=bool)
        n_done = np.full(remaining.shape, self.n_splits, dtype=np.intp)
        if not self.judged.any():
            return np.minimum(n_done, self.left_after)
        alone = np.zeros(len(counts), dtype=np.intp)
        last = int(np.flatnonzero(self.judged)[-1]) + 1
        standings = self.course.start(counts)
        for after in range(1, self.n_splits):
            if after > last or remaining.sum(axis=1).max(initial=0) == 1:
                n_done = np.where(remaining, np.minimum(n_done, self.left_after), n_done)
                break
            standings.add_split(after - 1, np.asarray(remaining.any(axis=0)))
            leaves = np.zeros_like(remaining)
            if self.judged[after - 1]:
                leaves = self._dropped(standings, remaining, alone)
            # What the real race dropped has no fits after that, so no bootstrap can keep it longer.
            going = remaining & ~leaves & (self.left_after > after)
            # Where all real survivors would leave, the best of them stays.
            ended = ~(going & stays).any(axis=1)
            if ended.any():
                spared = standings.leaders(remaining & stays)
                first = (remaining & stays).argmax(axis=1)
                going[ended, np.where(spared == NONE_CHOSEN, first, spared)[ended]] = True
            n_done[remaining & ~going] = after
            # How often in a row two were left, as the real race counts it.
            alone = np.where(going.sum(axis=1) == 2, alone + 1, 0)
            remaining = going
        return n_done

    def _dropped(self, standings: SimulatedStandings, remaining: Remaining, alone: Indices) -> Remaining:
        """Those that the rule drops; never the leader."""
        leaders = standings.leaders(remaining)
        leaves = remaining & (standings.worse(leaders, remaining) > self.threshold)
        if self.resolve_ties_after is not None:
            behind = (remaining.sum(axis=1) == 2) & (alone >= self.resolve_ties_after)
            leaves[behind] = remaining[behind]
        # The index is -1 where there is no leader; the next line clears the whole row there.
        leaves[np.arange(len(leaves)), leaders] = False
        leaves[leaders == NONE_CHOSEN] = False
        return leaves


@dataclass(frozen=True, eq=False)
class RacedSelection(SelectionReplay):
    """A selection among the configurations that a race on the same drawn rows keeps."""

    race: SimulatedRace = field(kw_only=True)
    """Of A configurations, the dropped ones included."""
    place: Indices = field(kw_only=True)
    """Which of the A each candidate column is."""

    @property
    def is_plain_best(self) -> bool:
        """Never: the candidates differ between weightings."""
        return False

    @property
    def reads_rows(self) -> bool:
        """Always: the race is on the drawn rows."""
        return True

    def choice(self, counts: Weightings) -> Choice:
        return Choice(self.choose(counts))

    def candidates_of(self, counts: Weightings) -> Booleans:
        assert counts.dtype == np.uint8, "rows are drawn; their weights are in the scores"
        return np.asarray(self.race.run(counts)[:, self.place] == self.race.n_splits)


@dataclass(frozen=True, eq=False)
class BarrierRows:
    """The rows predicted before a barrier, and the selection rule on the predictions of them."""

    rows: Indices
    """Among the rows that are weighted."""
    columns: Indices
    """Which of the A configurations the columns of ``replay`` are."""
    replay: SelectionReplay | None
    """None where the rule does not apply."""
    units: Indices
    """The unit of each of the rows, as codes 0 ..: a bootstrap draws units whole."""

    def leaders(self, counts: Counts, remaining: Remaining) -> Indices:
        """(L,): the best of the remaining ones, if the drawn rows meet the needs of the metrics."""
        found = np.full(len(counts), NONE_CHOSEN, dtype=np.intp)
        if self.replay is None:
            return found
        mine = np.take(counts, self.rows, axis=1)
        defined = np.flatnonzero(self.replay.defined(mine))
        if defined.size:
            chosen = self.replay.choose(mine[defined], among=remaining[defined][:, self.columns])
            found[defined] = np.where(chosen == NONE_CHOSEN, NONE_CHOSEN, self.columns[chosen])
        return found


@dataclass(frozen=True, eq=False)
class CountedCourse:
    """For any metric: at each barrier the drawn rows are drawn again."""

    predicted_rows: tuple[BarrierRows, ...]
    """One a barrier."""
    n_draws: int
    """Bootstraps within each bootstrap; there is time for a few hundred."""
    entropy: int

    def start(self, counts: Counts) -> CountedStandings:
        """Before the first split."""
        return CountedStandings(self, counts)


class CountedStandings:
    """``SimulatedStandings`` by drawing again from the drawn rows."""

    def __init__(self, course: CountedCourse, counts: Counts) -> None:
        self._course = course
        self._counts = counts
        self._predicted = course.predicted_rows[0]

    def add_split(self, split: int, wanted: Booleans) -> None:
        self._predicted = self._course.predicted_rows[split]

    def leaders(self, remaining: Remaining) -> Indices:
        return self._predicted.leaders(self._counts, remaining)

    def worse(self, leaders: Indices, remaining: Remaining) -> Floats:
        share = np.zeros(remaining.shape)
        predicted = self._predicted
        # One that is left alone is compared with nobody.
        contested = np.flatnonzero((leaders != NONE_CHOSEN) & (remaining.sum(axis=1) > 1))
        for lane in contested:
            counts = np.take(self._counts[lane], predicted.rows)
            inner = draws_within(counts, predicted, self._course.n_draws, self._course.entropy)
            if inner is not None:
                leader = int(np.flatnonzero(predicted.columns == leaders[lane])[0])
                share[lane, predicted.columns] = share_worse(predicted, inner, leader)
        return share


def draws_within(counts: Counts, predicted: BarrierRows, n_draws: int, entropy: int) -> Counts | None:
    """Counts (n_draws, n) of bootstraps of the rows drawn ``counts`` (n,) times; None where there are none.

    The name of the stream is a hash of the drawn rows, so that it does not depend on the block of the bootstrap.
    """
    assert predicted.replay is not None, "only where the rule applies"
    name = hashlib.sha256(counts.tobytes()).hexdigest()
    seed, defined = stream(entropy, "dropping again", name), predicted.replay.defined
    try:
        return inner_counts(counts, n_draws, seed, unit_of_row=predicted.units, in_bag=defined)
    except UndefinedDrawsError:
        return None


def share_worse(predicted: BarrierRows, counts: Counts, leader: int) -> Floats:
    """(columns,): the share of bootstraps in which each column scores worse than the leader; NaN is not worse."""
    assert predicted.replay is not None, "only where the rule applies"
    score = predicted.replay.scores[0]
    values = oriented(score.metric, score.all(counts))
    if not score.has_fused_path:  # as in the real race: rounding errors decide nothing
        values = tie_exactly(values)
    return np.count_nonzero(values < values[:, leader, None], axis=0) / len(counts)
