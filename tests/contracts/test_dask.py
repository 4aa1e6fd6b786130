"""A real cluster of two worker processes gives what one process gives, and where workers die, nothing is lost."""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from multiprocessing import forkserver
from typing import Any

import joblib
import numpy as np
import pytest
import whole_runs
from scripted import all_cells
from sklearn.base import BaseEstimator, RegressorMixin
from whole_runs import run, work_of

from heldout.errors import InputError
from heldout.execution.cells import CellKey, CellResult, CellState
from heldout.execution.events import CellFinished, WorkersLost
from heldout.execution.executors.local import joblib_executor
from heldout.execution.fit import Work

pytestmark = pytest.mark.processes

distributed = pytest.importorskip("distributed")
cloudpickle = pytest.importorskip("cloudpickle")
dask = pytest.importorskip("dask")

cloudpickle.register_pickle_by_value(sys.modules[__name__])


class Doing(RegressorMixin, BaseEstimator):
    def __init__(self, does: str = "mean", value: float = 0.0) -> None:
        self.does = does
        self.value = value

    def fit(self, X: Any, y: Any) -> Doing:
        if self.does == "waits":
            time.sleep(0.1)
        if self.does == "kills" and np.asarray(X)[0, 0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        while self.does == "forever":
            time.sleep(0.01)
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X: Any) -> Any:
        return np.asarray(X)[:, 1] * self.value + self.mean_


def make_work(grid: Any, n_rows: int = 300, n_folds: int = 3) -> Work:
    return work_of(Doing(), grid, n_rows, n_folds)


def check_same(found: dict[CellKey, CellResult], expected: dict[CellKey, CellResult]) -> None:
    assert {result.state for result in found.values()} == {CellState.DONE}
    whole_runs.check_same(found, expected)


@pytest.fixture(scope="module")
def client():
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # it logs much about workers that we kill
    forkserver.ensure_running()  # with heldout imported, before Dask would start one without it
    settings = {
        # A local cluster closes the nanny of a worker that is away at one moment 15 s after it died.
        "distributed.deploy.lost-worker-timeout": "1 hour",
        "distributed.worker.multiprocessing-method": "forkserver",
    }
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster, timeout=60) as client,
    ):
        client.wait_for_workers(2, timeout=60)
        yield client


@pytest.fixture(autouse=True)
def on_the_cluster(client):
    client.wait_for_workers(2, timeout=60)
    with joblib.parallel_config("dask"):
        yield


def times_unpacked() -> int:
    from heldout.execution.executors.payload import UNPACKED

    return UNPACKED.n_unpacked


def test_the_cluster_gives_what_one_process_gives_and_is_sent_the_work_once(client) -> None:
    work = make_work({"value": list(np.arange(12.0) / 7)}, n_rows=100_000)
    with joblib.parallel_config("loky"):
        expected = run(work, joblib_executor(n_jobs=1))
    before = client.run(times_unpacked)
    executor = joblib_executor()
    check_same(run(work, executor), expected)
    after = client.run(times_unpacked)
    assert [after[worker] - before[worker] for worker in before] == [1, 1]


def test_a_worker_is_killed_in_the_middle_and_nothing_is_lost(client) -> None:
    work = make_work({"does": ["waits"], "value": [0.1, 0.2, 0.3, 0.4, 0.5]})
    victim = next(iter(client.run(os.getpid).values()))
    finished: list[CellKey] = []

    def kill(event: Any) -> None:
        if isinstance(event, CellFinished):
            finished.append(event.result.key)
            if len(finished) == 4:
                os.kill(victim, signal.SIGKILL)

    found = run(work, joblib_executor(), kill)
    assert len(finished) == len(set(finished)) == 15
    with joblib.parallel_config("loky"):
        check_same(found, run(work, joblib_executor(n_jobs=1)))


def test_a_cell_that_kills_its_workers_is_given_up_and_nothing_else_is_lost(
    client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heldout.execution.scheduler.MOST_LOSSES", 2)  # a new worker takes seconds
    work = make_work([{"does": ["mean"], "value": [0.5, 1.5]}, {"does": ["kills"]}], n_folds=2)
    killer = CellKey(2, 0, 1)  # it trains on row 0, and the other fold tests it
    losses: list[WorkersLost] = []
    found = run(
        work, joblib_executor(), lambda event: losses.append(event) if isinstance(event, WorkersLost) else 0
    )
    assert losses
    assert found[killer].state is CellState.FAILED
    assert found[killer].attempts >= 2
    assert "Dask workers" in found[killer].message and "died" in found[killer].message  # alone, or with all others
    del found[killer]
    assert len(found) == 5
    innocent = [cell for cell in all_cells(3, work.folds) if cell != killer]
    with joblib.parallel_config("loky"), joblib_executor(n_jobs=1) as executor:
        check_same(found, {result.key: result for result in executor.run(work, innocent)})


def test_a_fit_has_a_time_limit(client) -> None:
    work = make_work({"does": ["mean", "forever"]}, n_folds=2)
    found = run(work, joblib_executor(fit_timeout=2.0))
    for cell, result in found.items():
        if cell.configuration:
            assert (result.state, result.message) == (CellState.FAILED, "it was stopped after fit_timeout=2 s")
        else:
            assert result.state is CellState.DONE


def test_an_abandoned_run_is_stopped(client) -> None:
    forever = make_work({"does": ["mean", "forever"]}, n_folds=2)
    with joblib_executor() as executor:
        results = executor.run(forever, all_cells(2, forever.folds))
        next(results)
        results.close()
        work = make_work({"value": [1.0, 2.0]})  # the cluster would never come to it
        assert len(list(executor.run(work, all_cells(2, work.folds)))) == 6


def test_without_workers_an_error_ends_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heldout.execution.executors.dask.SECONDS_WITHOUT_WORKERS", 0.2)
    work = make_work({"value": [1.0]})
    with (
        distributed.LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address="127.0.0.1:0") as cluster,
        distributed.Client(cluster, set_as_default=False) as alone,
        joblib.parallel_config("dask", client=alone),
        pytest.raises(InputError, match=r"the Dask cluster at tcp://127\.0\.0\.1:\d+ is lost"),
        joblib_executor() as executor,
    ):
        list(executor.run(work, all_cells(1, work.folds)))


def test_without_a_scheduler_an_error_ends_the_wait() -> None:
    work = make_work({"does": ["waits"], "value": [1.0, 2.0, 3.0, 4.0]})
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address="127.0.0.1:0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        joblib.parallel_config("dask", client=client),
        pytest.raises(InputError, match="start it again and repeat this"),
        joblib_executor() as executor,
    ):
        for _ in executor.run(work, all_cells(4, work.folds)):
            client.close()
