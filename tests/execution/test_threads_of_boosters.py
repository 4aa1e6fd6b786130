"""Every fit of a search runs on one thread, also that of a booster that starts threads of its own."""

from __future__ import annotations

import importlib
import threading
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from by_value import send_by_value
from sklearn.base import clone
from sklearn.ensemble import BaggingRegressor, RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from heldout.errors import HeldoutWarning

send_by_value(__name__)

TASKS = Path("/proc/self/task")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 20))
Y = X[:, 0] + RNG.normal(size=3000)

BOOSTERS = {
    "lightgbm": ("LGBMRegressor", "n_jobs", {"n_estimators": 30, "verbose": -1}),
    "xgboost": ("XGBRegressor", "n_jobs", {"n_estimators": 30}),
    "catboost": (
        "CatBoostRegressor",
        "thread_count",
        {"n_estimators": 30, "verbose": 0, "allow_writing_files": False},
    ),
}
FAST = {"cv": 2, "scoring": "neg_mean_squared_error", "n_bootstraps": 50, "random_state": 0, "share": False}
pytestmark = pytest.mark.filterwarnings("ignore:A worker stopped while some jobs")


def booster(package: str, threads: int | None) -> Any:
    kind, name, params = BOOSTERS[package]
    made = getattr(pytest.importorskip(package), kind)
    return made(**params) if threads is None else made(**params, **{name: threads})


def name_of_threads(package: str) -> str:
    return BOOSTERS[package][1]


def nanoseconds() -> dict[int, int]:
    """The time on a processor of each thread of this process."""
    spent = {}
    for task in TASKS.iterdir():
        with suppress(OSError):  # it has ended
            spent[int(task.name)] = int((task / "schedstat").read_text().split()[0])
    return spent


class Counted(BaggingRegressor):
    """A model around a booster; it predicts how many further threads worked in its fit.

    Not how many there were: CatBoost starts some that wait or end at once, and whether they are seen is chance.
    """

    def fit(self, X: Any, y: Any) -> Counted:
        before, after, done = nanoseconds(), {}, threading.Event()
        params = self.estimator.get_params()
        asked = params.get("n_jobs", params.get("thread_count"))

        def look() -> None:
            while not done.is_set():
                after.update(nanoseconds())
                time.sleep(0.0005)

        watch = threading.Thread(target=look)
        watch.start()
        clone(self.estimator).fit(X, y)
        after.update(nanoseconds())
        done.set()
        watch.join()
        own = threading.get_native_id()
        worked = {
            thread: spent - before.get(thread, 0) for thread, spent in after.items() if thread != watch.native_id
        }
        n_others = sum(spent > 0.1 * worked[own] for thread, spent in worked.items() if thread != own)
        self.most_ = max(asked - 1, n_others)  # of few cores, not all that it was asked for may work
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), float(self.most_))


@pytest.mark.skipif(not Path("/proc/self/schedstat").is_file(), reason="Linux counts the time")
@pytest.mark.parametrize("package", BOOSTERS)
def test_a_booster_has_one_thread_in_a_worker(package: str) -> None:
    model = Pipeline([("scale", StandardScaler()), ("fit", Counted(booster(package, 4)))])
    assert clone(model).fit(X, Y).predict(X[:1])[0] == 3
    search = ho.HeldOutSearchCV(model, {"fit__max_samples": [0.5, 1.0]}, n_jobs=2, refit=False, method=None, **FAST)
    search.fit(X, Y)
    assert search.predictions_.responses["values"].max() == 0


@pytest.mark.parametrize("package", BOOSTERS)
def test_predictions_do_not_depend_on_jobs_or_the_threads_of_the_model(package: str) -> None:
    searches = [
        ho.HeldOutSearchCV(booster(package, threads), {"max_depth": [2, 3]}, n_jobs=jobs, **FAST).fit(X, Y)
        for jobs, threads in ((1, 4), (2, 1))
    ]
    first, other = (search.predictions_.responses["values"].tobytes() for search in searches)
    assert other == first
    best = searches[0].best_estimator_.get_params()
    assert best[name_of_threads(package)] == 4 and name_of_threads(package) not in searches[0].best_params_
    assert searches[0].cv_results_["params"] == [{"max_depth": 2}, {"max_depth": 3}]


def test_where_the_number_of_threads_is_searched_it_is_kept_and_flagged() -> None:
    model, grid = Pipeline([("fit", booster("lightgbm", None).set_params(n_estimators=2))]), {"fit__n_jobs": [1, 2]}
    with pytest.warns(HeldoutWarning, match="The search varies fit__n_jobs"):
        search = ho.HeldOutSearchCV(model, grid, n_jobs=1, keep_models="all", **FAST).fit(X[:200], Y[:200])
    assert "not held to one thread" in search.estimate_.flags["threads_searched"]
    assert [search.fold_models_.of(j)[0, 0].get_params()["fit__n_jobs"] for j in (0, 1)] == [1, 2]


def test_kept_models_have_the_threads_of_the_user() -> None:
    search = ho.HeldOutSearchCV(booster("lightgbm", 3), {"max_depth": [2, 3]}, n_jobs=1, keep_models="all", **FAST)
    search.fit(X[:200], Y[:200])
    assert {model.n_jobs for model in search.fold_models_.values()} == {3}


def test_aliases_are_set_too() -> None:
    threads = importlib.import_module("heldout.execution.threads")
    model = pytest.importorskip("lightgbm").LGBMRegressor(num_threads=4)
    assert threads.threads_of_boosters(threads.with_one_thread(model)) == {"n_jobs": 1, "num_threads": 1}
    model = pytest.importorskip("xgboost").XGBRegressor(nthread=4)
    assert threads.threads_of_boosters(threads.with_one_thread(model)) == {"n_jobs": 1, "nthread": 1}


@pytest.mark.parametrize("cores", [1, 8])
def test_a_search_of_one_job_says_that_jobs_would_use_the_cores(
    monkeypatch: pytest.MonkeyPatch, cores: int
) -> None:
    monkeypatch.setattr("heldout.execution.search.cpu_count", lambda: cores)

    def said(model: Any, **settings: Any) -> list[str]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ho.HeldOutSearchCV(model, {}, **{**FAST, **settings}).fit(X[:100], Y[:100])
        return [str(each.message) for each in caught if "n_jobs=" in str(each.message)]

    forest = RandomForestRegressor(n_estimators=2, n_jobs=-1)
    expected = 0 if cores == 1 else 1
    assert len(said(booster("lightgbm", None))) == len(said(forest)) == expected
    assert said(Ridge()) == said(forest, n_jobs=1) == said(booster("lightgbm", 1)) == []
