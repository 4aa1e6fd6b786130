"""The loop: what is done, recorded, acknowledged and told, and what an interruption leaves."""

from __future__ import annotations

import itertools
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import get_scorer

from heldout.cells import CellKey, CellResult
from heldout.configurations import Configurations, make_configurations
from heldout.fitting import CellContext, Routed, make_scoring
from heldout.folds import Folds, make_folds
from heldout.run import loop
from heldout.run.events import CellFinished
from heldout.run.loop import run_cells
from heldout.run.plan import all_cells
from heldout.store.memory import MemoryRun
from heldout.task import Task, truth_of

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


def prepared(grid: dict[str, list[Any]]) -> tuple[CellContext, Configurations, Folds]:
    task = Task(X, truth_of(Y))
    scoring = make_scoring(task.truth, get_scorer("neg_mean_squared_error"))
    context = CellContext.of_task(task, scoring, Routed(), np.nan, False, None)
    return context, make_configurations(Constant(), grid), make_folds(task, 3)


def test_cells_are_done_fold_by_fold_and_told_after_they_are_recorded() -> None:
    context, configurations, folds = prepared({"value": [0.0, 1.0]})
    run = Diary()

    def told(event: Any) -> None:
        assert isinstance(event, CellFinished)
        run.lines.append(f"told {event.result.key.configuration}{event.result.key.repeat}{event.result.key.fold}")

    run_cells(context, configurations, folds, run, listeners=[told])
    lines = [line for line in run.lines if line != "commit"]
    order = ["000", "100", "001", "101", "002", "102"]
    assert lines == list(itertools.chain.from_iterable((f"record {cell}", f"told {cell}") for cell in order))
    assert run.lines[-1] == "commit"
    assert run.acknowledged() == set(all_cells(2, folds))


def test_quick_cells_are_acknowledged_together_and_slow_ones_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    context, configurations, folds = prepared({"value": [0.0, 1.0]})
    together, alone = Diary(), Diary()
    monkeypatch.setattr(loop, "COMMIT_AFTER_SECONDS", 1e9)
    run_cells(context, configurations, folds, together)
    assert together.lines.count("commit") == 1
    monkeypatch.setattr(loop, "COMMIT_AFTER_SECONDS", 0.0)
    run_cells(context, configurations, folds, alone)
    assert alone.lines[1::2][:6] == ["commit"] * 6


def test_only_what_is_left_is_done() -> None:
    context, configurations, folds = prepared({"value": [0.0, 1.0]})
    run = Diary()
    run_cells(context, configurations, folds, run)
    done = {result.key: result for result in run.results()}
    resumed = Diary()
    for key in list(done)[:4]:
        MemoryRun.record(resumed, done[key])
    run_cells(context, configurations, folds, resumed)
    assert [line for line in resumed.lines if line.startswith("record")] == ["record 002", "record 102"]


def test_an_interruption_acknowledges_what_is_there() -> None:
    context, configurations, folds = prepared({"interrupts": [False, True]})
    run = Diary()
    with pytest.raises(KeyboardInterrupt):
        run_cells(context, configurations, folds, run)
    assert run.lines == ["record 000", "commit"]


def test_a_listener_that_raises_acknowledges_too() -> None:
    context, configurations, folds = prepared({"value": [0.0]})
    run = Diary()

    def broken(event: Any) -> None:
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        run_cells(context, configurations, folds, run, listeners=[broken])
    assert run.lines[0] == "record 000" and run.lines[-1] == "commit"


def test_threads_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    context, configurations, folds = prepared({"value": [0.0, 1.0, 2.0]})
    one, many = Diary(), Diary()
    run_cells(context, configurations, folds, one)
    with joblib.parallel_config("threading"):
        run_cells(context, configurations, folds, many, n_jobs=3)
    by_key = [{result.key: result for result in run.results()} for run in (one, many)]
    assert by_key[0].keys() == by_key[1].keys()
    for key in by_key[0]:
        assert by_key[0][key].test_scores == by_key[1][key].test_scores


def test_backends_without_generators_serve_too(monkeypatch: pytest.MonkeyPatch) -> None:
    context, configurations, folds = prepared({"value": [0.0, 1.0]})
    run = Diary()
    monkeypatch.setattr(joblib._parallel_backends.SequentialBackend, "supports_return_generator", False)
    monkeypatch.setattr(joblib._parallel_backends.LokyBackend, "supports_return_generator", False)
    assert loop._return_as() == "list"
    run_cells(context, configurations, folds, run)
    assert run.acknowledged() == {CellKey(*cell) for cell in all_cells(2, folds)}
