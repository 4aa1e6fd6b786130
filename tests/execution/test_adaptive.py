"""Adaptive searches: the numbers of a fixed search, whatever the batches, the workers and the interruptions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import get_scorer
from sklearn.neighbors import KNeighborsClassifier

from heldout.configurations import Configuration, Configurations
from heldout.data.task import Task, truth_of
from heldout.errors import InputError
from heldout.evaluate import evaluate_adaptive
from heldout.execution.adaptive import ProposalScore
from heldout.execution.events import BarrierPassed, ConfigurationsAdded
from heldout.execution.executors import local
from heldout.execution.fit import make_scoring
from heldout.execution.listeners.tally import RunTally
from heldout.execution.run import RunSettings
from heldout.execution.search import Search
from heldout.execution.store.file_status import file_status
from heldout.execution.store.sqlite import SQLiteStore
from heldout.folds.splits import make_folds
from heldout.result import Evaluation
from heldout.selection.simplest import OneStandardError

RNG = np.random.default_rng(0)
Y = np.tile([0, 1], 60)
X = np.column_stack([Y + RNG.normal(size=120), RNG.normal(size=120)])
NEIGHBORS = [1, 3, 25, 9, 59, 15, 1, 41, 7, 59]


class Listed:
    """Proposes a list of numbers of neighbours, and stops where a test wants it."""

    identity = "listed"

    def __init__(self, batch: int, numbers: Sequence[int] = NEIGHBORS, stop: int | None = None) -> None:
        self.batch, self.numbers, self.stop = batch, numbers, stop
        self.n_asked = 0
        self.notes: list[str] = []
        self.scores: list[ProposalScore] = []

    def resume(self, notes: Sequence[str]) -> None:
        self.notes = list(notes)

    def next_batch(self) -> list[Configuration]:
        assert self.n_asked == len(self.scores), "the scores of a batch come before the next one"
        if self.stop is not None and self.n_asked >= self.stop:
            raise KeyboardInterrupt
        numbers = self.numbers[self.n_asked : self.n_asked + self.batch]
        self.n_asked += len(numbers)
        return [Configuration(0, {"n_neighbors": n}, KNeighborsClassifier(), note=f"[{n}]") for n in numbers]

    def take(self, scores: Sequence[ProposalScore]) -> None:
        self.scores += scores

    @property
    def told(self) -> list[tuple[Any, ...]]:
        return [(s.position, repr(s.value), s.fold_scores, s.failure, s.dropped) for s in self.scores]


def search(drop: str | None = None, configurations: Configurations = Configurations(()), **settings: Any) -> Search:  # noqa: B008
    task = Task(X, truth_of(Y))
    scoring = make_scoring(task.truth, get_scorer("accuracy"))
    folds = make_folds(task, 4)
    return Search(task, configurations, folds, scoring, drop=drop, entropy=1, **{"n_bootstraps": 20, **settings})


def run(proposals: Any, drop: str | None = None, settings: RunSettings = RunSettings(), **more: Any) -> Evaluation:  # noqa: B008
    return evaluate_adaptive(search(drop, **more), proposals, settings, n_planned=len(NEIGHBORS))


@pytest.mark.parametrize("drop", [None, "bootstrap"])
def test_workers_receive_the_rows_once_and_change_nothing(
    drop: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []
    write = local.write_payload
    monkeypatch.setattr(local, "write_payload", lambda work, path: (written.append(path), write(work, path)))
    one, two = Listed(5), Listed(5)
    alone, beside = run(one, drop), run(two, drop, RunSettings(n_jobs=2))
    assert one.told == two.told
    assert alone.estimate is not None and beside.estimate is not None
    assert alone.estimate.value == beside.estimate.value
    assert len(written) == 1


@pytest.mark.parametrize("drop", [None, "bootstrap"])
def test_a_search_that_ends_before_its_plan_is_finished(drop: str | None, tmp_path: Path) -> None:
    """As by a timeout; the run then has no fits left."""
    running = RunSettings(store=SQLiteStore(tmp_path / "run.db"), resume=True)
    found = evaluate_adaptive(search(drop), Listed(2), running, n_planned=50)
    status = file_status(tmp_path / "run.db")
    (run_status,) = status.runs
    assert status.state.value == "finished" and run_status.n_left == 0
    assert run_status.n_cells == found.n_fits + found.n_fits_saved


def test_of_a_proposal_that_is_dropped_the_listeners_are_told_once() -> None:
    proposals, events = Listed(1), list[Any]()
    found = run(proposals, "bootstrap", RunSettings(listeners=[events.append]))
    dropped = {score.position: score for score in proposals.scores if score.dropped}
    assert dropped and 0 not in dropped and found.dropped.keys() == dropped.keys()
    assert found.n_fits_saved == sum(4 - len(score.fold_scores) for score in dropped.values())
    passed = [event for event in events if isinstance(event, BarrierPassed)]
    assert sum(len(event.barrier.dropped) for event in passed) == len(dropped)
    assert passed[-1].n_saved == found.n_fits_saved
    tally = RunTally()
    for event in events:
        tally.add(event)
    assert (tally.left, tally.saved) == (0, found.n_fits_saved)


def test_proposals_of_a_batch_share_their_fits_and_equal_ones_their_cells() -> None:
    together, alone = run(Listed(4)).shared_fits, run(Listed(1)).shared_fits
    assert "KNeighborsClassifier" in together and "KNeighborsClassifier" not in alone
    assert together["equal configurations"].n_fits == alone["equal configurations"].n_fits == 8


def test_proposals_in_another_order_find_their_cells(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "run.db")
    first, second = Listed(2, [3, 9, 5, 7]), Listed(1, [7, 11, 9])
    run(first, settings=RunSettings(store=store, resume=True))
    events: list[Any] = []
    found = run(second, settings=RunSettings(store=store, resume=True, listeners=[events.append]))
    assert [sum(e.resumed.values()) for e in events if isinstance(e, ConfigurationsAdded)] == [4, 0, 4]
    assert second.told[0][2] == first.told[3][2] and second.told[2][2] == first.told[1][2]
    assert found.n_fits == 12


def test_what_does_not_go_with_proposals_is_refused() -> None:
    with pytest.raises(InputError, match=r"sequential.* races all configurations from the start"):
        run(Listed(1), "sequential")
    with pytest.raises(InputError, match="over before it tried a configuration"):
        run(Listed(1, []))
    with pytest.raises(InputError, match="max_depth"):
        run(Listed(1), selection=OneStandardError("max_depth"))
