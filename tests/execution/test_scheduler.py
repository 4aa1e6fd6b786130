"""The scheduler as pure state: whatever the plan, order and losses, everybody meets what is due, and once."""

import random
from collections import Counter
from typing import TypeAlias

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.execution.cells import CellKey
from heldout.execution.plan import Race
from heldout.execution.scheduler import MOST_LOSSES, Scheduler
from heldout.folds.splits import Split

ROWS = np.arange(4)


Plan: TypeAlias = tuple[int, list[Race]]


def plan_of(n_configurations: int, *races: tuple[int, bool]) -> Plan:
    """Races of (splits, barriers), each with a repeat number of its own, for so many configurations."""
    return n_configurations, [
        Race(tuple(Split(number, fold, ROWS[:2], ROWS[2:]) for fold in range(n_splits)), barriers)
        for number, (n_splits, barriers) in enumerate(races)
    ]


plans = st.builds(
    lambda n, races: plan_of(n, *races),
    st.integers(1, 5),
    st.lists(st.tuples(st.integers(1, 4), st.booleans()), min_size=1, max_size=3),
)


class Played:
    """A run of a plan with a player who decides by chance (seeded) what comes back when, dies, and leaves."""

    def __init__(self, plan: Plan, seed: int, killers: dict[CellKey, int], done: set[CellKey]) -> None:
        self.chance = random.Random(seed)
        self.n_configurations, self.races = plan
        self.scheduler = Scheduler(*plan, done)
        self.passed = Counter[int]()
        self.done: list[CellKey] = []
        self.given_up: list[CellKey] = []
        self.gone: dict[tuple[int, int], int] = {}  # (race, configuration) -> splits met
        killers = dict(killers)
        while True:
            cells = self.scheduler.next_cells()
            if not cells:
                if not self._pass_barriers():
                    return
                continue
            # Some of what may be done is in flight, in any order; some of it comes back before a worker dies.
            in_flight = self.chance.sample(cells, self.chance.randint(1, len(cells)))
            for place, cell in enumerate(in_flight):
                if killers.get(cell, 0):
                    killers[cell] -= 1
                    for lost in self.scheduler.lose(in_flight[place : place + 3]):
                        self.given_up.append(lost)
                        self.scheduler.record(lost)
                    break
                self.done.append(cell)
                self.scheduler.record(cell)

    def _pass_barriers(self) -> bool:
        waiting = self.scheduler.waiting()
        for race in waiting:
            alive = self.scheduler.remaining(race)
            self.passed[race] += 1
            # Decided by who is where alone, as every rule's decision is.
            fate = random.Random(f"{race} {self.passed[race]} {alive}")
            if fate.random() < 0.1:
                for configuration in alive:
                    self.gone[race, configuration] = self.passed[race]
                self.scheduler.stop(race)
                continue
            leaving = [configuration for configuration in alive[1:] if fate.random() < 0.3]
            for configuration in leaving:
                self.gone[race, configuration] = self.passed[race]
            self.scheduler.drop(race, leaving)
        return bool(waiting)

    def due(self) -> set[CellKey]:
        """What everybody should have met, seen from who left when."""
        return {
            CellKey(configuration, split.repeat, split.fold)
            for race, progress in enumerate(self.races)
            for configuration in range(self.n_configurations)
            for split in progress.splits[: self.gone.get((race, configuration))]
        }


@settings(max_examples=120)
@given(plan=plans, seed=st.integers(0, 2**20), data=st.data())
def test_everybody_meets_what_is_due_once_and_nothing_after_leaving(
    plan: Plan, seed: int, data: st.DataObject
) -> None:
    every = [
        CellKey(configuration, split.repeat, split.fold)
        for race in plan[1]
        for split in race.splits
        for configuration in range(plan[0])
    ]
    killers = data.draw(st.dictionaries(st.sampled_from(every), st.integers(1, 5), max_size=3))
    before = data.draw(st.sets(st.sampled_from(every), max_size=len(every)))
    played = Played(plan, seed, killers, before)

    met = played.done + played.given_up
    assert len(met) == len(set(met)), "no cell is done twice"
    assert set(met) == played.due() - before
    # What had been done before and nobody meets any more was saved too late, and is not counted as saved work.
    assert played.scheduler.n_saved == len(every) - len(played.due())
    assert all(killers.get(cell, 0) >= 1 for cell in played.given_up if killers), "killers are to blame"

    # Another order, other deaths: the same cells are met and the same configurations leave.
    other = Played(plan, seed + 1, {}, set())
    assert other.gone == played.gone
    assert set(other.done) == other.due() == played.due()


def test_suspects_come_back_one_at_a_time_and_the_innocent_lose_nothing() -> None:
    scheduler = Scheduler(*plan_of(3, (2, False)))
    cells = scheduler.next_cells()
    assert len(cells) == 6
    bad, good, other = cells[:3]
    assert scheduler.lose([bad, good]) == []
    assert scheduler.next_cells() == [bad]
    assert scheduler.lose([bad]) == []
    assert scheduler.next_cells() == [bad]
    assert scheduler.lose([bad]) == [bad]
    assert scheduler.attempts(bad) == MOST_LOSSES
    scheduler.record(bad)
    assert scheduler.next_cells() == [good]
    assert scheduler.attempts(good) == 2
    scheduler.record(good)
    assert scheduler.next_cells() == [cell for cell in cells if cell not in (bad, good)]
    assert scheduler.attempts(other) == 1


def test_a_cluster_that_lost_several_workers_on_a_cell_needs_no_more_of_them() -> None:
    scheduler = Scheduler(*plan_of(2, (1, False)))
    bad, good = scheduler.next_cells()
    assert scheduler.lose([bad], times=4) == [bad]
    assert scheduler.attempts(bad) == 4
    scheduler.record(bad)
    assert scheduler.next_cells() == [good]


def test_what_was_done_already_is_nobodys_fault() -> None:
    scheduler = Scheduler(*plan_of(2, (1, False)))
    first, second = scheduler.next_cells()
    scheduler.record(first)
    assert scheduler.lose([first]) == []
    assert scheduler.next_cells() == [second]


def test_races_wait_for_their_own_barriers_only() -> None:
    scheduler = Scheduler(*plan_of(2, (2, True), (2, True)))
    for cell in scheduler.next_cells():
        if cell.repeat == 0:
            scheduler.record(cell)
    assert scheduler.waiting() == [0]
    scheduler.drop(0, [1])
    assert scheduler.n_saved == 1
    assert scheduler.next_cells() == [CellKey(0, 0, 1), CellKey(0, 1, 0), CellKey(1, 1, 0)]
    assert (scheduler.remaining(0), scheduler.remaining(1)) == ([0], [0, 1])
