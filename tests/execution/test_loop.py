"""The loop: the order of work, what is recorded and told when, what interruptions and lost workers leave behind."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import joblib
import numpy as np
import pytest
from one_cell import fit_cell
from scripted import all_cells
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import get_scorer

from heldout.configurations import make_configurations
from heldout.data.task import Task, truth_of
from heldout.dropping.base import Barrier, Dropped
from heldout.execution import run as run_module
from heldout.execution.cells import CellKey, CellResult, CellState
from heldout.execution.events import BarrierPassed, CellFinished, WorkersLost
from heldout.execution.executors import WorkersLostError
from heldout.execution.executors.local import joblib_executor
from heldout.execution.fit import Work, make_scoring
from heldout.execution.plan import Race
from heldout.execution.run import OpenRun, RunSettings
from heldout.execution.scheduler import Scheduler
from heldout.execution.sharing.groups import Sharing
from heldout.execution.sharing.steps import StepChain
from heldout.execution.store import MemoryRun
from heldout.folds.splits import make_folds

X = np.arange(24.0).reshape(12, 2)
Y = np.linspace(0.1, 1.3, 12)


class Constant(RegressorMixin, BaseEstimator):
    def __init__(self, value: float = 0.0, interrupts: bool = False) -> None:
        self.value = value
        self.interrupts = interrupts

    def fit(self, X: Any, y: Any) -> Constant:
        if self.interrupts:
            raise KeyboardInterrupt
        self.fitted_ = True
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.value)


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


def prepared(grid: dict[str, list[Any]]) -> Work:
    task = Task(X, truth_of(Y))
    scoring = make_scoring(task.truth, get_scorer("neg_mean_squared_error"))
    return Work(task, scoring, make_configurations(Constant(), grid), make_folds(task, 3))


class InOrder:
    """Does cells in this process in the order in which they come, and loses its workers where it is told to."""

    def __init__(self, losses: dict[CellKey, int] | None = None, names_them: bool = True) -> None:
        self.losses = dict(losses or {})
        self.names_them = names_them
        self.rounds: list[list[CellKey]] = []
        self.works: list[Work] = []

    def __enter__(self) -> InOrder:
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def run(self, work: Work, cells: Sequence[CellKey]) -> Iterator[CellResult]:
        self.rounds.append(list(cells))
        self.works.append(work)
        split_of = {(split.repeat, split.fold): split for split in work.folds.splits}
        for cell in cells:
            if self.losses.get(cell, 0):
                self.losses[cell] -= 1
                raise WorkersLostError([cell] if self.names_them else [], "it was killed")
            yield fit_cell(work, work.configurations[cell.configuration], split_of[cell.repeat, cell.fold])


def run_search(
    work: Work, run: MemoryRun, executor: Any = None, listeners: Sequence[Any] = (), judge: Any = None
) -> Scheduler:
    """One race over all splits, with barriers where there is a judge."""
    races = [Race(work.folds.splits, barriers=judge is not None)]
    scheduler = Scheduler(len(work.configurations), races, run.acknowledged())
    with executor or InOrder() as opened:
        OpenRun(work, run, opened, RunSettings(listeners=listeners)).finish(scheduler, judge)
    return scheduler


def test_cells_are_done_fold_by_fold_and_told_after_they_are_recorded() -> None:
    work = prepared({"value": [0.0, 1.0]})
    run = Diary()

    def told(event: Any) -> None:
        assert isinstance(event, CellFinished)
        run.lines.append(f"told {event.result.key.configuration}{event.result.key.repeat}{event.result.key.fold}")

    run_search(work, run, listeners=[told])
    lines = [line for line in run.lines if line != "commit"]
    order = ["000", "100", "001", "101", "002", "102"]
    assert lines == list(itertools.chain.from_iterable((f"record {cell}", f"told {cell}") for cell in order))
    assert run.lines[-1] == "commit"
    assert run.acknowledged() == set(all_cells(2, work.folds))


def test_quick_cells_are_acknowledged_together_and_slow_ones_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    work = prepared({"value": [0.0, 1.0]})
    together, alone = Diary(), Diary()
    monkeypatch.setattr(run_module, "COMMIT_AFTER_SECONDS", 1e9)
    run_search(work, together)
    assert together.lines.count("commit") == 1
    monkeypatch.setattr(run_module, "COMMIT_AFTER_SECONDS", 0.0)
    run_search(work, alone)
    assert alone.lines[1::2][:6] == ["commit"] * 6


def test_only_what_is_left_is_done() -> None:
    work = prepared({"value": [0.0, 1.0]})
    run = Diary()
    run_search(work, run)
    done = {result.key: result for result in run.results()}
    resumed = Diary()
    for key in list(done)[:4]:
        MemoryRun.record(resumed, done[key])
    run_search(work, resumed)
    assert [line for line in resumed.lines if line.startswith("record")] == ["record 002", "record 102"]


def test_an_interruption_acknowledges_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heldout.execution.run.COMMIT_AFTER_SECONDS", 60.0)  # a slow machine commits in between
    work = prepared({"interrupts": [False, True]})
    run = Diary()
    with pytest.raises(KeyboardInterrupt):
        run_search(work, run)
    assert run.lines == ["record 000", "commit"]


def test_a_listener_that_raises_acknowledges_too() -> None:
    work = prepared({"value": [0.0]})
    run = Diary()

    def broken(event: Any) -> None:
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        run_search(work, run, listeners=[broken])
    assert run.lines[0] == "record 000" and run.lines[-1] == "commit"


def test_threads_give_the_same() -> None:
    work = prepared({"value": [0.0, 1.0, 2.0]})
    one, many = Diary(), Diary()
    run_search(work, one)
    with joblib.parallel_config("threading"):
        run_search(work, many, joblib_executor(n_jobs=3))
    by_key = [{result.key: result for result in run.results()} for run in (one, many)]
    assert by_key[0].keys() == by_key[1].keys()
    for key in by_key[0]:
        assert by_key[0][key].test_scores == by_key[1][key].test_scores


def test_at_a_barrier_everybody_waits_and_some_leave() -> None:
    work = prepared({"value": [0.0, 1.0, 2.0]})
    seen: list[tuple[int, list[int]]] = []
    told: list[Any] = []

    def judge(race: int, so_far: Any, alive: Sequence[int]) -> Barrier:
        seen.append((1 + len(so_far), list(alive)))
        left = None if so_far else Dropped(2, 1, 0.99, "it was worse")
        return Barrier(1 + len(so_far), 4, len(alive), alive[0], () if left is None else (left,))

    executor = InOrder()
    scheduler = run_search(work, Diary(), executor, [told.append], judge)
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
    work = prepared({"value": [0.0, 1.0, 2.0]})

    def judge(race: int, so_far: Any, alive: Sequence[int]) -> Barrier:
        return Barrier(1, 4, len(alive), 0, stopped=True)

    scheduler = run_search(work, Diary(), judge=judge)
    assert scheduler.n_saved == 6


def test_a_cell_that_loses_three_workers_fails_and_the_others_are_done() -> None:
    work = prepared({"value": [0.0, 1.0, 2.0]})
    guilty, run, executor = CellKey(1, 0, 1), Diary(), InOrder({CellKey(1, 0, 1): 9})
    told: list[Any] = []
    run_search(work, run, executor, [told.append])
    results = {result.key: result for result in run.results()}
    assert set(results) == set(all_cells(3, work.folds))
    assert {key for key, result in results.items() if result.state is CellState.FAILED} == {guilty}
    assert results[guilty].message == "its worker was lost 3 times (it was killed)"
    assert results[guilty].attempts == 3
    # The suspect was tried alone, so that nobody else could be lost with it.
    assert [cells for cells in executor.rounds if guilty in cells][1:] == [[guilty], [guilty]]
    assert [event.running for event in told if isinstance(event, WorkersLost)] == [(guilty,)] * 3


def test_a_cell_that_lost_two_workers_is_tried_a_third_time_without_sharing() -> None:
    work = prepared({"value": [0.0, 1.0]})
    work = replace(work, sharing=Sharing((StepChain((), "", ()),) * 2, {}, {}))
    executor = InOrder({CellKey(1, 0, 1): 2})
    run_search(work, Diary(), executor)
    assert [of_round.sharing is None for of_round in executor.works] == [False, False, True, False]


def test_with_error_score_raise_a_cell_that_loses_three_workers_is_an_error() -> None:
    work = prepared({"value": [0.0, 1.0]})
    work = replace(work, error_score="raise")
    run = Diary()
    with pytest.raises(WorkersLostError, match=r"value=1\): its worker was lost 3 times \(it was killed\)"):
        run_search(work, run, InOrder({CellKey(1, 0, 1): 9}))
    assert CellKey(1, 0, 1) not in run.acknowledged(), "it may be tried again"


def test_a_cell_that_was_innocent_loses_nothing() -> None:
    work = prepared({"value": [0.0, 1.0]})
    run = Diary()
    run_search(work, run, InOrder({CellKey(0, 0, 1): 1}))
    results = {result.key: result for result in run.results()}
    assert all(result.state is CellState.DONE for result in results.values())
    assert results[CellKey(0, 0, 1)].attempts == 2


def test_where_nobody_knows_who_was_running_all_are_suspected_once_nothing_comes_back() -> None:
    work = prepared({"value": [0.0, 1.0]})
    run, executor = Diary(), InOrder({CellKey(0, 0, 0): 9}, names_them=False)
    run_search(work, run, executor)
    failed = [result.key for result in run.results() if result.state is CellState.FAILED]
    assert failed == [CellKey(0, 0, 0)]
    assert run.acknowledged() == set(all_cells(2, work.folds))
