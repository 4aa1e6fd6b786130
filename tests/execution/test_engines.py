"""Where cells are done changes nothing but how long it takes; who dies there is found, and no one waits."""

from __future__ import annotations

import asyncio
import mmap
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from by_value import send_by_value
from joblib.externals.loky.process_executor import ShutdownExecutorError
from joblib.parallel import ThreadingBackend
from scripted import all_cells
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import BaggingRegressor
from threadpoolctl import threadpool_info
from whole_runs import check_same, run, work_of

from heldout.errors import InputError
from heldout.execution.cells import CellKey, CellResult, CellState
from heldout.execution.executors import local
from heldout.execution.executors.local import MOST_UNEXPLAINED, Processes, joblib_executor
from heldout.execution.executors.payload import (
    SHARED_FROM_BYTES,
    ArrayPayload,
    FilePayload,
    UnpackedWorks,
    payload_array,
    write_payload,
)
from heldout.execution.executors.worker import (
    Terms,
    TimeIsUp,
    abandon_round,
    deadline,
    do_sent_tasks,
    mark_of,
    take_marks,
    timeout_result,
)
from heldout.execution.fit import Work
from heldout.execution.threads import single_threaded
from heldout.metrics.base import Response

pytestmark = pytest.mark.processes

send_by_value(__name__)


class Doing(RegressorMixin, BaseEstimator):
    """Does something in ``fit``, and predicts what it saw there."""

    def __init__(self, does: str = "mean", value: float = 0.0) -> None:
        self.does = does
        self.value = value

    def fit(self, X: Any, y: Any) -> Doing:
        self.seen_ = getattr(self, f"_{self.does}")(np.asarray(X), np.asarray(y))
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.value + self.seen_)

    def _mean(self, X: Any, y: Any) -> float:
        return float(y.mean())

    def _process(self, X: Any, y: Any) -> float:
        time.sleep(0.02)
        return float(os.getpid())

    def _unpacked(self, X: Any, y: Any) -> float:
        """How often this process has unpacked something, and whether it shares what it has now."""
        from heldout.execution.executors.payload import UNPACKED  # this process's own

        time.sleep(0.02)
        shared = next(reversed(UNPACKED._works.values())).task.X
        base = shared
        while getattr(base, "base", None) is not None:
            base = base.base
        is_mapped = isinstance(getattr(base, "obj", base), mmap.mmap)
        return UNPACKED.n_unpacked + (0.5 if is_mapped and not shared.flags.writeable else 0.0)

    def _threads(self, X: Any, y: Any) -> float:
        """How many threads a bag of models with ``n_jobs=-1`` is fitted in."""
        bag = BaggingRegressor(Doing("thread"), n_estimators=6, n_jobs=-1, random_state=0).fit(X, y)
        return float(len({member.seen_ for member in bag.estimators_}))

    def _thread(self, X: Any, y: Any) -> float:
        time.sleep(0.01)
        return float(threading.get_ident())

    def _forever(self, X: Any, y: Any) -> float:
        while True:
            try:
                time.sleep(0.01)
            except Exception:
                continue

    def _deaf(self, X: Any, y: Any) -> float:
        return float(sum(range(10**12)))

    def _two_parts(self, X: Any, y: Any) -> float:
        raise TwoPartsError("one", "other")

    def _generator(self, X: Any, y: Any) -> float:
        raise ValueError(number for number in range(3))

    def _sleeps(self, X: Any, y: Any) -> float:
        time.sleep(60)
        return 0.0


def make_work(grid: Any, n_rows: int = 20, n_folds: int = 2, error_score: Any = np.nan) -> Work:
    return work_of(Doing(), grid, n_rows, n_folds, error_score)


def cells_of(work: Work) -> list[CellKey]:
    return all_cells(len(work.configurations), work.folds)


def seen(result: CellResult) -> float:
    assert result.state is CellState.DONE, result.message
    return float(result.predictions[Response.VALUES][0])


class Foreign(ThreadingBackend):
    """A backend of which nothing is known, as those of other packages."""

    uses_threads = False
    supports_return_generator = False


joblib.register_parallel_backend("foreign", Foreign)


@pytest.mark.parametrize("backend", ["loky", "threading", "foreign"])
def test_every_engine_gives_the_same(backend: str) -> None:
    work = make_work({"value": list(np.arange(7.0) / 3)}, n_folds=5)
    expected = run(work, joblib_executor(n_jobs=1))
    assert len(expected) == 35
    with joblib.parallel_config(backend):
        check_same(run(work, joblib_executor(n_jobs=2)), expected)


def test_processes_are_sent_the_work_once_and_share_its_large_arrays() -> None:
    rows = SHARED_FROM_BYTES // 16 + 1
    work = make_work({"does": ["unpacked", "process"], "value": list(range(4))}, n_rows=rows)
    told: dict[int, set[float]] = {}
    with joblib_executor(n_jobs=2) as executor:
        for _ in range(2):
            results = {result.key: result for result in executor.run(work, cells_of(work))}
            for cell, result in results.items():
                value = work.configurations[cell.configuration].params["value"]
                if work.configurations[cell.configuration].params["does"] == "unpacked":
                    told.setdefault(0, set()).add(seen(result) - value)
    # 1.5 in a worker that has just begun; whatever it has been before in one that other tests have used: the same
    # number in both rounds, from either worker, with the half that says that X is mapped and read-only.
    assert len(told[0]) <= 2
    assert {number % 1 for number in told[0]} == {0.5}


@pytest.mark.parametrize("as_file", [True, False], ids=["file", "array"])
def test_packed_work_is_unpacked_as_it_was(tmp_path: Path, as_file: bool) -> None:
    work = make_work({"value": [0.0, np.arange(5.0)]}, n_rows=SHARED_FROM_BYTES // 16 + 1)
    if as_file:
        write_payload(work, tmp_path / "work")
        payload = FilePayload("a", str(tmp_path / "work"))
    else:
        payload = ArrayPayload("a", payload_array(work))
    unpacked = UnpackedWorks()
    copy = unpacked.get(payload)
    np.testing.assert_array_equal(copy.task.X, work.task.X, strict=True)
    np.testing.assert_array_equal(copy.configurations[1].params["value"], np.arange(5.0), strict=True)
    assert not copy.task.X.flags.writeable, "large: shared"
    assert copy.configurations[1].params["value"].flags.writeable, "small: its own"
    assert copy.folds.fingerprint() == work.folds.fingerprint()
    assert unpacked.get(payload) is copy
    assert unpacked.n_unpacked == 1
    for other in ("b", "c"):
        unpacked.get(FilePayload(other, payload.path) if as_file else ArrayPayload(other, payload.packed))
    assert unpacked.get(payload) is not copy, "only the latest two are kept"


@pytest.mark.parametrize(("backend", "n_jobs"), [("loky", 1), ("loky", 2), ("threading", 2)])
def test_an_estimator_in_a_cell_has_one_thread(backend: str, n_jobs: int) -> None:
    work = make_work({"does": ["threads"]})
    with joblib.parallel_config(backend):
        found = run(work, joblib_executor(n_jobs=n_jobs))
    assert {seen(result) for result in found.values()} == {1.0}


def test_who_leaves_first_does_not_free_the_others() -> None:
    def limits() -> set[int]:
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

    before, left, may_leave = limits(), threading.Event(), threading.Event()

    def other() -> None:
        with single_threaded():
            may_leave.wait(10)
        left.set()

    thread = threading.Thread(target=other)
    with single_threaded():
        thread.start()
        may_leave.set()
        left.wait(10)
        assert limits() <= {1}
    thread.join()
    assert limits() == before


def test_closing_ends_the_workers_and_leaving_does_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    work = make_work([{"does": ["process"]}, {"does": ["sleeps"]}])

    def interrupted(result: CellResult) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), joblib_executor(n_jobs=2) as executor:
        results = executor.run(work, cells_of(work))
        first = int(seen(next(results)))
        assert list(tmp_path.glob("heldout-*/*.work"))
        results.close()
        with pytest.raises(ProcessLookupError):
            os.kill(first, 0)
        for result in executor.run(work, cells_of(work)):
            second = int(seen(result))
            assert second != first
            interrupted(result)
    with pytest.raises(ProcessLookupError):
        os.kill(second, 0)
    assert not list(tmp_path.glob("heldout-*"))


@pytest.mark.parametrize(("n_jobs", "does"), [(1, "forever"), (2, "deaf")], ids=["listens", "deaf"])
def test_a_fit_has_a_time_limit_whether_it_listens_or_not(n_jobs: int, does: str) -> None:
    work = make_work({"does": ["process", does]})
    with joblib_executor(n_jobs, fit_timeout=2.0) as executor:
        cells = [CellKey(0, 0, 0), CellKey(1, 0, 0), CellKey(0, 0, 1)]
        found = {result.key: result for result in executor.run(work, cells)}
    for fold in (0, 1):
        assert seen(found[CellKey(0, 0, fold)]) != os.getpid(), "the process that may be ended is not this one"
    stopped = found[CellKey(1, 0, 0)]
    assert (stopped.state, stopped.attempts) == (CellState.FAILED, 1)
    assert stopped.message == "it was stopped after fit_timeout=2 s"
    assert stopped.fit_seconds >= 2


def test_with_error_score_raise_a_timeout_is_an_error() -> None:
    work = make_work({"does": ["mean"]}, error_score="raise")
    with pytest.raises(TimeoutError, match=r"Doing \(does=mean\): it was stopped after fit_timeout=3 s"):
        timeout_result(work, CellKey(0, 0, 0), 3.0, 3.1)


def test_a_deadline_is_raised_once_and_not_later() -> None:
    def forever() -> None:
        while True:
            pass

    with pytest.raises(TimeIsUp), deadline(0.05, ends_process=False):
        forever()
    for _ in range(200):  # it may come in the very moment of leaving, but no later
        try:
            with deadline(0.0005, ends_process=False):
                time.sleep(0.0005)
        except TimeIsUp:
            continue
        sum(range(100))


def test_marks_say_what_was_running(tmp_path: Path) -> None:
    with mark_of(str(tmp_path), CellKey(3, 1, 2)):
        pass
    assert take_marks(tmp_path) == {}
    other = tmp_path / "other"
    other.mkdir()
    with mark_of(str(other), CellKey(3, 1, 2)):
        time.sleep(0.01)
        found = take_marks(other)
    assert list(found) == [CellKey(3, 1, 2)]
    assert 0.01 <= found[CellKey(3, 1, 2)] < 60
    assert take_marks(other) == {}


class EndsItsReader:
    """Takes the process with it that unpickles it."""

    def __reduce__(self) -> Any:
        return os._exit, (9,)


@pytest.mark.slow
def test_a_task_that_comes_after_the_request_to_stop_its_round_does_nothing() -> None:
    work = make_work({"does": ["forever"]})
    cells = list(all_cells(1, work.folds))
    asyncio.run(abandon_round("the first"))
    assert do_sent_tasks("token", payload_array(work), [[cell] for cell in cells], Terms(), "the first") == []

    work = make_work({"value": [1.0]})
    results = do_sent_tasks("another", payload_array(work), [[cell] for cell in cells], Terms(), "the second")
    assert [result.state for result in results] == [CellState.DONE] * len(cells)


@pytest.mark.parametrize(
    ("timeout", "said"),
    [
        (0, "must be a number of seconds above 0"),
        (float("nan"), "must be a number of seconds above 0"),
        ("3", "must be a number of seconds above 0"),
        (1e10, r"at most 1e\+09 seconds, got .*; leave it out for no limit"),
        (5, r"`fit_timeout=5` needs worker processes .* ThreadingBackend"),
    ],
)
def test_a_timeout_is_a_number_of_seconds_for_processes(timeout: Any, said: str) -> None:
    joblib_executor(fit_timeout=1e9)
    with (
        joblib.parallel_config("threading"),
        pytest.raises(InputError, match=said),
        joblib_executor(n_jobs=2, fit_timeout=timeout),
    ):
        pass


def test_work_that_ends_its_readers_is_not_sent_for_ever() -> None:
    work = make_work({"value": [EndsItsReader()]}, n_folds=5)
    with (
        pytest.raises(InputError, match=r"worker processes died 3 times before they did anything \(.*EXIT\(9\)"),
        joblib_executor(n_jobs=2) as executor,
    ):
        list(executor.run(work, cells_of(work)))


def shut_down() -> None:
    """As joblib tells that another thread's search has ended the pool that they share."""
    try:
        raise ShutdownExecutorError
    except ShutdownExecutorError:
        raise RuntimeError("The executor underlying Parallel has been shutdown.")  # noqa: B904 - as joblib does


def killed_while_idle() -> None:
    raise BrokenProcessPool("killed while idle")


def test_workers_that_die_of_nothing_are_not_replaced_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    deaths = []

    def dead(self: Processes, calls: Any) -> Any:
        deaths.append(len(list(calls)))
        killed_while_idle()

    monkeypatch.setattr(Processes, "_results", dead)
    work = make_work({"value": [0.5, 1.5]})
    with (
        pytest.raises(
            InputError, match=r"worker processes died 3 times before they did anything .*too little memory"
        ),
        joblib_executor(n_jobs=2) as executor,
    ):
        list(executor.run(work, cells_of(work)))
    assert deaths == [4] * MOST_UNEXPLAINED


@pytest.mark.parametrize("end", [killed_while_idle, shut_down], ids=lambda end: end.__name__)
def test_a_pool_that_ends_of_no_cell_makes_nobody_suspect(
    end: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    work = make_work({"value": [0.5, 1.5]})
    expected = run(work, joblib_executor(n_jobs=1))
    inner, ends = Processes._results, [end]

    def ends_once(self: Processes, calls: Any) -> Any:
        if ends:
            ends.pop()()
        yield from inner(self, calls)

    monkeypatch.setattr(Processes, "_results", ends_once)
    found = run(work, joblib_executor(n_jobs=2))
    check_same(found, expected)
    assert not ends
    assert {result.attempts for result in found.values()} == {1}


class TwoPartsError(Exception):
    """Can be pickled, and not be unpickled."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} and {other}")


@pytest.mark.parametrize(("backend", "does"), [("loky", "two_parts"), ("multiprocessing", "generator")])
def test_an_error_that_cannot_be_sent_is_told_all_the_same(backend: str, does: str) -> None:
    work = make_work({"does": ["mean", does]}, error_score="raise")
    with (
        joblib.parallel_config(backend),
        pytest.raises(RuntimeError, match=rf"Doing \(does={does}\): .*(one and other|generator object)"),
        joblib_executor(n_jobs=2) as executor,
    ):
        list(executor.run(work, cells_of(work)))


def test_what_cannot_be_sent_is_one_sentence() -> None:
    work = make_work({"value": [threading.Lock()]})
    with (
        pytest.raises(InputError, match=r"cannot be sent to other processes \(.*lock.*\); use `n_jobs=1`, threads"),
        joblib_executor(n_jobs=2) as executor,
    ):
        list(executor.run(work, cells_of(work)))


def test_workers_find_the_work_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", ".")
    work = make_work({"value": [0.5]})
    with joblib_executor(n_jobs=2) as executor:
        monkeypatch.chdir(tmp_path / "elsewhere")
        assert len(list(executor.run(work, cells_of(work)))) == 2
    assert not list(tmp_path.glob("**/heldout-*"))


def test_a_full_disk_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(work: Work, path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(local, "write_payload", full)
    work = make_work({"does": ["mean"]})
    with (
        pytest.raises(InputError, match=r"could not be written to .*No space left on device.*JOBLIB_TEMP_FOLDER"),
        joblib_executor(n_jobs=2) as executor,
    ):
        list(executor.run(work, cells_of(work)))
