"""The parts of shared fits add up to the time spent, and the savings to what separate fits spend beyond it.

Time is a counter that only the estimators of this file advance.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.metrics import get_scorer
from sklearn.pipeline import Pipeline

from heldout.configurations import make_configurations
from heldout.data.task import Task, truth_of
from heldout.evaluate import evaluate
from heldout.execution.cells import CellKey
from heldout.execution.events import CellFinished, Event
from heldout.execution.fit import make_scoring
from heldout.execution.listeners.tally import RunTally
from heldout.execution.run import RunSettings
from heldout.execution.search import Search
from heldout.execution.split_fits import do_task, task_results
from heldout.folds.splits import make_folds
from heldout.search import HeldOutSearchCV
from heldout.spaces.submodels import registry
from heldout.spaces.submodels.registry import register_submodels

N, N_SPLITS = 24, 2
X = np.random.default_rng(0).normal(size=(N, 3))
Y = np.arange(N) % 2


class Clock:
    """Seconds that pass only when somebody says so."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


CLOCK = Clock()


class Step(TransformerMixin, BaseEstimator):
    """A step that takes some seconds to fit, and one for each transformation."""

    def __init__(self, seconds: float = 5.0, fails: bool = False) -> None:
        self.seconds = seconds
        self.fails = fails

    def fit(self, X: Any, y: Any = None) -> Step:
        CLOCK.now += self.seconds
        if self.fails:
            raise ValueError("it takes no rows")
        self.fitted_ = True
        return self

    def transform(self, X: Any) -> Any:
        CLOCK.now += 1.0
        return np.array(X) + self.seconds


class Pick(Step):
    """A step of which one fit serves all sizes."""

    def __init__(self, size: int = 1) -> None:
        self.size = size

    def fit(self, X: Any, y: Any = None) -> Pick:
        CLOCK.now += 40.0
        self.fitted_ = True
        return self

    def transform(self, X: Any) -> Any:
        CLOCK.now += 1.0
        return X[:, : self.size]


class Picks:
    """What one fit gives for all sizes."""

    def __init__(self, X: Any, values: Sequence[Mapping[str, Any]]) -> None:
        self.X, self.values = X, values

    def fit_transform_many(self) -> list[Any]:
        picks = [Pick(**value) for value in self.values]
        return [(pick.transform(self.X), pick) for pick in picks]


class Model(ClassifierMixin, BaseEstimator):
    """A model whose fit takes a second a round, and whose predictions take one."""

    def __init__(self, rounds: int = 1, seed: int = 0) -> None:
        self.rounds = rounds
        self.seed = seed

    def fit(self, X: Any, y: Any) -> Model:
        CLOCK.now += self.rounds
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        CLOCK.now += 1.0
        return np.arange(len(X)) % 2


class Rounds:
    """What one fit gives for all numbers of rounds; those above 100 are refused."""

    def __init__(self, values: Sequence[Mapping[str, Any]]) -> None:
        self.values = values

    def predict_many(self, X: Any, response: str) -> list[Any]:
        served = [value["rounds"] <= 100 for value in self.values]
        CLOCK.now += sum(served)
        return [np.arange(len(X)) % 2 if serves else None for serves in served]


def fit_rounds(estimator: Any, values: Sequence[Mapping[str, Any]], X: Any, y: Any) -> Rounds:
    CLOCK.now += max(value["rounds"] for value in values)
    return Rounds(values)


def fit_picks(estimator: Any, values: Sequence[Mapping[str, Any]], X: Any, y: Any) -> Picks:
    CLOCK.now += 40.0
    return Picks(X, values)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patches:
        patches.setattr(registry, "_REGISTERED", {})
        register_submodels(Model, ("rounds",), fit_rounds, exact="bitwise", cost="proportional")
        register_submodels(Pick, ("size",), fit_picks, exact="bitwise", cost="equal")
        patches.setattr(time, "perf_counter", CLOCK)
        yield


def searched(estimator: Any, grid: Any, share: Any, **settings: Any) -> HeldOutSearchCV:
    search = HeldOutSearchCV(
        estimator,
        grid,
        share=share,
        scoring="accuracy",
        cv=N_SPLITS,
        refit=False,
        method=None,
        n_jobs=1,
        **settings,
    )
    return search.fit(X, Y)


def steps(**parts: Any) -> Pipeline:
    return Pipeline(list(parts.items()))


def beside(other: float) -> ColumnTransformer:
    return ColumnTransformer([("a", Step(7.0), [0]), ("b", Step(other), [1, 2])])


PLAIN = Model(seed=1)
CASES: dict[str, tuple[Any, Any]] = {
    "equal steps": (steps(a=Step(), b=Step(3.0), model=PLAIN), {"model__seed": [1, 2, 3]}),
    "steps that differ behind equal ones": (
        steps(a=Step(), b=Step(), model=PLAIN),
        {"b__seconds": [2.0, 3.0], "model__seed": [1, 2, 3]},
    ),
    "branches of two transformers": (
        steps(both=beside(2.0), model=PLAIN),
        {"both": [beside(2.0), beside(3.0)], "model__seed": [1, 2, 3]},
    ),
    "pipelines in pipelines": (
        steps(inner=steps(a=Step(), b=Step(2.0)), model=PLAIN),
        {"inner__b__seconds": [2.0, 4.0], "model__seed": [1, 2]},
    ),
    "steps that one fit serves": (
        steps(pick=Pick(), model=PLAIN),
        {"pick__size": [1, 2, 3], "model__seed": [1, 2]},
    ),
    "models that one fit serves": (Model(), {"rounds": [10, 20, 40], "seed": [0, 1]}),
    "both": (steps(a=Step(), pick=Pick(), model=Model()), {"pick__size": [1, 2], "model__rounds": [10, 20, 40]}),
    "models that are refused": (steps(a=Step(), model=Model()), {"model__rounds": [10, 50, 200]}),
}  # fmt: skip


def spent(search: HeldOutSearchCV) -> float:
    return sum(cell.fit_seconds + cell.score_seconds for cell in search.evaluation_.cells)


@pytest.mark.parametrize("share_memory", [None, 1], ids=["kept", "forgotten"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_parts_and_savings_add_up(case: tuple[Any, Any], share_memory: int | None) -> None:
    started = CLOCK.now
    alone = searched(*case, share=False)
    took_alone, started = CLOCK.now - started, CLOCK.now
    shared = searched(*case, share="exact", share_memory=share_memory)
    took = CLOCK.now - started
    assert spent(alone) == pytest.approx(took_alone)
    assert spent(shared) == pytest.approx(took)
    assert alone.evaluation_.shared_fits == {}
    saved = [each.seconds for each in shared.evaluation_.shared_fits.values() if each.seconds is not None]
    assert len(saved) == len(shared.evaluation_.shared_fits) > 0
    if share_memory and case is CASES["both"]:  # what is not kept, one fit of several models still makes only once
        assert sum(saved) < took_alone - took
    else:
        assert sum(saved) == pytest.approx(took_alone - took)


def test_each_thing_shared_has_its_own_part() -> None:
    found = searched(*CASES["both"], share="exact").evaluation_.shared_fits
    n_fits, rounds = 6 * N_SPLITS, [10, 20, 40]
    # The fit of the step and its two outputs; the selection, and what its two fits make of the test rows.
    assert found["steps"].seconds == pytest.approx(N_SPLITS * (6 - 1) * (5 + 1 + 1))
    assert found["Pick"].seconds == pytest.approx(N_SPLITS * ((6 - 1) * 40 + (6 - 2) * (1 + 1)))
    assert found["Model"].seconds == pytest.approx(N_SPLITS * 2 * (sum(rounds) - max(rounds)))
    assert [each.n_fits for each in found.values()] == [n_fits] * 3
    rows = X.nbytes
    assert found["steps"].n_bytes == N_SPLITS * (6 - 1) * rows
    assert found["Model"].n_bytes == 0


def test_what_a_provider_does_not_tell_is_not_estimated() -> None:
    register_submodels(Model, ("rounds",), fit_rounds, exact="bitwise")
    found = searched(*CASES["both"], share="exact").evaluation_.shared_fits
    assert found["Model"].seconds is None
    assert found["steps"].seconds == pytest.approx(N_SPLITS * (6 - 1) * 7)


@pytest.mark.filterwarnings("ignore:3 of 6 configurations failed", "ignore:One or more of the test scores")
def test_time_of_what_fails_is_counted_once() -> None:
    started = CLOCK.now
    failing = [Step(5.0), Step(30.0, fails=True)]
    shared = searched(steps(a=Step(), model=PLAIN), {"a": failing, "model__seed": [1, 2, 3]}, share="exact")
    assert spent(shared) == pytest.approx(CLOCK.now - started)
    assert sum(cell.fit_seconds for cell in shared.evaluation_.cells[-3 * N_SPLITS :]) == pytest.approx(60.0)


def test_costs_follow_the_one_number_among_the_parameters() -> None:
    family = registry.family_of(Model())
    assert family is not None
    assert family.costs([{"rounds": 10, "trees": None}, {"rounds": None, "trees": np.int64(40)}]) == [0.25, 1.0]
    assert family.costs([{"rounds": None}, {"rounds": 0}, {"rounds": 8}]) == [None, None, 1.0]
    assert replace(family, cost="equal").costs([{"rounds": 1}, {"rounds": 8}]) == [1.0, 1.0]
    assert replace(family, cost=None).costs([{"rounds": 1}]) == [None]


def search_of(case: tuple[Any, Any]) -> Search:
    task = Task(X, truth_of(Y))
    scoring = make_scoring(task.truth, get_scorer("accuracy"))
    return Search(task, make_configurations(*case), make_folds(task), scoring, method=None, refit=False)


@pytest.mark.parametrize("case", [CASES["both"], CASES["branches of two transformers"]], ids=["both", "branches"])
def test_time_left_is_exact_once_all_is_known(case: tuple[Any, Any]) -> None:
    tally, started, found = RunTally(), CLOCK.now, list[tuple[float, float | None]]()

    def listen(event: Event) -> None:
        tally.add(event)
        # After the first of the splits, and when all that arrives together is counted.
        if isinstance(event, CellFinished) and tally.done > 6 and not event.result.n_following:
            found.append((CLOCK.now, tally.seconds_left(CLOCK.now - started)))

    evaluate(search_of(case), RunSettings(listeners=[listen], n_jobs=1))
    assert len(found) >= 2 * 4
    for now, left in found:
        assert left == pytest.approx(CLOCK.now - now)


def test_results_say_how_many_arrive_behind_them() -> None:
    work = search_of(CASES["both"]).work
    cells = [CellKey(position, 0, 0) for position in range(6)]
    assert [result.n_following for result in do_task(work, cells)] == [2, 1, 0, 2, 1, 0]  # two groups in turn
    assert [result.n_following for result in task_results(work, cells)] == [5, 4, 3, 2, 1, 0]
