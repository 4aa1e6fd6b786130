"""Whole runs by script: the order of work, and what failures, dead workers and Ctrl-C in any order leave behind."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import ScriptedExecutor, all_cells
from sklearn.dummy import DummyRegressor
from sklearn.metrics import get_scorer

from heldout.configurations import make_configurations
from heldout.data.task import Task, truth_of
from heldout.dropping.base import Barrier, Dropped
from heldout.execution import run as run_module
from heldout.execution.cells import CellKey, CellResult, CellState
from heldout.execution.events import BarrierPassed, CellFinished, WorkersLost
from heldout.execution.executors import WorkersLostError
from heldout.execution.fit import Work, make_scoring
from heldout.execution.plan import Race
from heldout.execution.run import OpenRun, RunSettings
from heldout.execution.scheduler import MOST_LOSSES, Scheduler
from heldout.execution.sharing.groups import Sharing
from heldout.execution.sharing.steps import StepChain
from heldout.execution.store import MemoryRun
from heldout.folds.splits import Split, make_folds

TASK = Task(np.arange(24.0).reshape(12, 2), truth_of(np.linspace(0.1, 1.3, 12)))
N_FOLDS = 3


def make_work(n_configurations: int) -> Work:
    scoring = make_scoring(TASK.truth, get_scorer("neg_mean_squared_error"))
    grid = {"strategy": ["quantile"], "quantile": [0.1 * number for number in range(n_configurations)]}
    return Work(TASK, scoring, make_configurations(DummyRegressor(), grid), make_folds(TASK, N_FOLDS))


WORK, SMALL = make_work(4), make_work(2)
CELLS = all_cells(4, WORK.folds)


class Diary(MemoryRun):
    """A run that writes down in which order it was used."""

    def __init__(self) -> None:
        super().__init__(entropy=0)
        self.lines: list[str] = []

    def record(self, result: CellResult) -> None:
        super().record(result)
        self.lines.append(f"record {result.key.configuration}{result.key.repeat}{result.key.fold}")

    def commit(self) -> None:
        self.lines.append("commit")


Judge = Callable[[int, Any, Sequence[int]], Barrier]


def finished(
    work: Work, kept: MemoryRun, executor: Any = None, listeners: Sequence[Any] = (), judge: Judge | None = None
) -> Scheduler:
    """One race over all splits, with barriers where there is a judge."""
    races = [Race(work.folds.splits, barriers=judge is not None)]
    scheduler = Scheduler(len(work.configurations), races, kept.acknowledged())
    with executor or ScriptedExecutor() as opened:
        OpenRun(work, kept, opened, RunSettings(listeners=listeners)).finish(scheduler, judge)
    return scheduler


def run(executor: ScriptedExecutor, into: MemoryRun | None = None) -> dict[CellKey, CellResult]:
    """What a run holds at the end."""
    kept = MemoryRun(entropy=0) if into is None else into
    finished(WORK, kept, executor)
    return {result.key: result for result in kept.results()}


UNDISTURBED = run(ScriptedExecutor())


def same(one: CellResult, other: CellResult) -> bool:
    return (one.state, one.message, one.test_scores) == (other.state, other.message, other.test_scores) and all(
        np.array_equal(one.predictions[response], values) for response, values in other.predictions.items()
    )


@settings(max_examples=60)
@given(
    order=st.one_of(st.sampled_from(["given", "reversed"]), st.integers(0, 1000)),
    losses=st.dictionaries(st.sampled_from(CELLS), st.integers(1, MOST_LOSSES + 1), max_size=4),
    failures=st.dictionaries(st.sampled_from(CELLS), st.sampled_from(["no luck", "bad luck"]), max_size=3),
    beside=st.integers(1, 3),
    interrupt_after=st.one_of(st.none(), st.integers(0, len(CELLS) - 1)),
)
def test_the_result_depends_on_neither_order_nor_accidents(
    order, losses, failures, beside, interrupt_after
) -> None:
    executor = ScriptedExecutor(order, failures, losses, beside, interrupt_after)
    kept = MemoryRun(entropy=0)
    try:
        found = run(executor, kept)
    except KeyboardInterrupt:
        assert len(executor.done) == interrupt_after
        found = run(executor, kept)
    assert found.keys() == set(CELLS)
    assert len(executor.done) == len(set(executor.done)), "nothing is done twice"
    for cell, result in found.items():
        if cell not in executor.done:
            assert losses[cell] >= MOST_LOSSES - 1  # one of the three may be its neighbour's
            assert result.state is CellState.FAILED
            assert result.attempts == MOST_LOSSES
            assert "its worker was lost 3 times (the script killed its worker)" in result.message
        elif cell in failures:
            assert (result.state, result.message) == (CellState.FAILED, failures[cell])
        else:
            assert same(result, UNDISTURBED[cell])


def test_those_that_ran_beside_a_killer_are_tried_alone() -> None:
    killer, kept, told = CELLS[0], MemoryRun(entropy=0), list[Any]()
    executor = ScriptedExecutor(losses={killer: MOST_LOSSES}, beside=2)
    finished(WORK, kept, executor, [told.append])
    found = {result.key: result for result in kept.results()}
    first, neighbour = executor.rounds[0][:2]
    assert first == killer
    assert executor.rounds[1:4] == [(killer,), (killer,), (neighbour,)]
    assert [event.running for event in told if isinstance(event, WorkersLost)] == [
        (killer, neighbour),
        (killer,),
        (killer,),
    ]
    assert (found[killer].state, found[killer].attempts) == (CellState.FAILED, MOST_LOSSES)
    assert (found[neighbour].state, found[neighbour].attempts) == (CellState.DONE, 2)


def test_where_it_is_unknown_what_ran_cells_are_suspects_only_if_no_result_came() -> None:
    late, at_once = (run(ScriptedExecutor(losses={cell: 1}, beside=0)) for cell in (CELLS[2], CELLS[0]))
    assert {result.attempts for result in late.values()} == {1}
    assert {result.attempts for result in at_once.values()} == {2}


def test_an_exception_of_the_script_is_raised_and_what_came_before_is_kept() -> None:
    executor = ScriptedExecutor(failures={CELLS[-1]: RuntimeError("no more")})
    kept = MemoryRun(entropy=0)
    with pytest.raises(RuntimeError, match="no more"):
        run(executor, kept)
    assert kept.acknowledged() == set(executor.done)


def test_cells_are_done_fold_by_fold_and_told_after_they_are_recorded() -> None:
    kept = Diary()

    def told(event: Any) -> None:
        assert isinstance(event, CellFinished)
        kept.lines.append(f"told {event.result.key.configuration}{event.result.key.repeat}{event.result.key.fold}")

    finished(SMALL, kept, listeners=[told])
    order = ["000", "100", "001", "101", "002", "102"]
    expected = [f"{act} {cell}" for cell in order for act in ("record", "told")]
    assert [line for line in kept.lines if line != "commit"] == expected
    assert kept.lines[-1] == "commit"


def test_quick_cells_are_acknowledged_together_and_slow_ones_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    together, alone = Diary(), Diary()
    monkeypatch.setattr(run_module, "COMMIT_AFTER_SECONDS", 1e9)
    finished(SMALL, together)
    assert together.lines.count("commit") == 1
    monkeypatch.setattr(run_module, "COMMIT_AFTER_SECONDS", 0.0)
    finished(SMALL, alone)
    assert alone.lines[1::2][:6] == ["commit"] * 6


def test_an_interruption_and_a_listener_that_raises_acknowledge_what_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run_module, "COMMIT_AFTER_SECONDS", 60.0)  # a slow machine commits in between
    interrupted = Diary()
    with pytest.raises(KeyboardInterrupt):
        finished(SMALL, interrupted, ScriptedExecutor(interrupt_after=1))

    def broken(event: Any) -> None:
        raise RuntimeError("no more")

    unheard = Diary()
    with pytest.raises(RuntimeError, match="no more"):
        finished(SMALL, unheard, listeners=[broken])
    assert interrupted.lines == unheard.lines == ["record 000", "commit"]


def test_at_a_barrier_everybody_waits_and_some_leave() -> None:
    seen: list[tuple[int, list[int]]] = []
    told: list[Any] = []

    def judge(race: int, so_far: Any, alive: Sequence[int]) -> Barrier:
        seen.append((1 + len(so_far), list(alive)))
        left = None if so_far else Dropped(2, 1, 0.99, "it was worse")
        return Barrier(1 + len(so_far), 4, len(alive), alive[0], () if left is None else (left,))

    executor = ScriptedExecutor()
    scheduler = finished(make_work(3), Diary(), executor, [told.append], judge)
    assert [[tuple(cell) for cell in cells] for cells in executor.rounds] == [
        [(0, 0, 0), (1, 0, 0), (2, 0, 0)],
        [(0, 0, 1), (1, 0, 1)],
        [(0, 0, 2), (1, 0, 2)],
    ]
    assert seen == [(1, [0, 1, 2]), (2, [0, 1])]
    assert scheduler.n_saved == 2
    passed = [event for event in told if isinstance(event, BarrierPassed)]
    assert [(event.n_remaining, event.n_saved) for event in passed] == [(2, 2), (2, 2)]


def test_a_race_that_is_stopped_ends_for_everybody() -> None:
    def judge(race: int, so_far: Any, alive: Sequence[int]) -> Barrier:
        return Barrier(1, 4, len(alive), 0, stopped=True)

    assert finished(make_work(3), Diary(), judge=judge).n_saved == 6


def test_a_cell_that_lost_two_workers_is_tried_a_third_time_without_sharing() -> None:
    works: list[Work] = []

    class Watched(ScriptedExecutor):
        def run(self, work: Work, cells: Sequence[CellKey]) -> Any:
            works.append(work)
            return super().run(work, cells)

    shared = replace(SMALL, sharing=Sharing((StepChain((), "", ()),) * 2, {}, {}))
    finished(shared, Diary(), Watched(losses={CellKey(1, 0, 1): 2}))
    assert [work.sharing is None for work in works] == [False, False, True, False]


def test_with_error_score_raise_a_cell_that_loses_three_workers_is_an_error() -> None:
    kept = Diary()
    with pytest.raises(WorkersLostError, match=r"quantile=0.1.*\): its worker was lost 3 times \(the script"):
        finished(replace(SMALL, error_score="raise"), kept, ScriptedExecutor(losses={CellKey(1, 0, 1): 9}))
    assert CellKey(1, 0, 1) not in kept.acknowledged(), "it may be tried again"


# The scheduler as pure state: whatever the plan, order and losses, everybody meets what is due, and once.


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
