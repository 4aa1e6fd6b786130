"""A search that was killed does only the rest, and ends with the same result to the last bit."""

import json
import os
import pickle
import signal
import time
from contextlib import suppress

import counted_search
import pytest
from counted_search import N_CELLS, Counted, count, data, outcome
from forked import Forked
from stored_cells import stored_seconds

from heldout.errors import StoreError
from heldout.execution.store.sqlite import SQLiteStore

PROGRAM = "from counted_search import main; main()"

# One configuration fails on purpose: that comes back from a store too.
pytestmark = [
    pytest.mark.processes,
    pytest.mark.filterwarnings("ignore::heldout.errors.HeldoutWarning"),
    pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite"),
]


class Program:
    """The search as a process of its own, over one store."""

    def __init__(self, folder):
        self.folder = folder
        self.store = folder / "run.db"
        self.runs = 0

    def start(self, **options):
        self.runs += 1
        self.log = self.folder / f"log {self.runs}"
        self.result = self.folder / f"result {self.runs}"
        return Forked(PROGRAM, self.store, self.log, self.result, json.dumps(options))

    def run(self, **options):
        process = self.start(**options)
        _, self.errors = process.communicate(timeout=120)
        return process.returncode

    def finish(self, **options):
        """Run the rest in this process, because nothing kills it."""
        self.runs += 1
        self.log = self.folder / f"log {self.runs}"
        self.result = self.folder / f"result {self.runs}"
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(counted_search.LOG, str(self.log))
            X, y = data()
            self.result.write_bytes(
                pickle.dumps(outcome(counted_search.search(self.store, **options).fit(X, y), X))
            )

    def fits(self):
        return count(self.log)

    def outcome(self):
        return pickle.loads(self.result.read_bytes())


def acknowledged(path):
    """Cells in the file, counted without this package."""
    return len(stored_seconds(path))


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """What a search in memory, in one go, comes to."""
    X, y = data()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(counted_search.LOG, str(tmp_path_factory.mktemp("uninterrupted") / "log"))
        return outcome(counted_search.search(None).fit(X, y), X)


@pytest.fixture
def counted(tmp_path, monkeypatch):
    """Fits of searches in this process."""
    log = tmp_path / "log of this process"
    monkeypatch.setenv(counted_search.LOG, str(log))
    return lambda: count(log)


def test_the_uninterrupted_search_is_one_worth_resuming(uninterrupted):
    assert uninterrupted["n_fits"] == N_CELLS
    assert list(uninterrupted["failed"]) == [3]
    assert set(uninterrupted["estimates"]) == {"auc", "brier"}
    assert uninterrupted["winner"] in (0, 1, 2)


@pytest.mark.parametrize(
    "die_at", [11, pytest.param(2, marks=pytest.mark.slow), pytest.param(N_CELLS, marks=pytest.mark.slow)]
)
def test_after_kill_9_only_the_rest_is_done_and_the_result_is_the_same(program, uninterrupted, die_at):
    # Each fit takes longer than a group of results waits, so all that came before the kill is acknowledged.
    assert program.run(die_at=[die_at, signal.SIGKILL], pause=0.06) == -signal.SIGKILL
    assert acknowledged(program.store) == die_at - 1
    program.finish(pause=0.06)
    assert program.fits() == N_CELLS - (die_at - 1) + 1  # and the refit
    assert program.outcome() == uninterrupted


def test_after_an_interrupt_nothing_that_was_done_is_done_again(program, uninterrupted):
    # Without a pause results wait for each other, and an interrupt must not lose those that wait.
    assert program.run(die_at=[11, signal.SIGINT]) != 0
    assert "KeyboardInterrupt" in program.errors
    assert acknowledged(program.store) == 10
    assert [found.name for found in program.folder.glob("run.db*")] == ["run.db"]
    program.finish()
    assert program.fits() == N_CELLS - 10 + 1
    assert program.outcome() == uninterrupted


def test_killed_with_two_workers(program, uninterrupted):
    process = program.start(n_jobs=2, pause=0.06)
    try:
        while count(program.log) < 10 and process.poll() is None:
            time.sleep(0.01)
        process.kill()
        process.wait(timeout=60)
        # Its workers live on for a while, but they neither hold the file nor write to it.
        done = acknowledged(program.store)
        assert 0 < done < N_CELLS
        program.finish(pause=0.06)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.close()
    assert program.fits() == N_CELLS - done + 1
    assert program.outcome() == uninterrupted


def test_killed_in_the_refit_no_cell_is_done_again(program, uninterrupted):
    assert program.run(die_at=[N_CELLS + 1, signal.SIGKILL]) == -signal.SIGKILL
    program.finish()
    assert program.fits() == 1
    assert program.outcome() == uninterrupted


# In one process: what a finished or another search makes of a file


def test_a_finished_search_is_only_refitted(tmp_path, counted, uninterrupted):
    X, y = data()
    path = tmp_path / "run.db"
    first = counted_search.search(path).fit(X, y)
    assert counted() == N_CELLS + 1
    again = counted_search.search(path).fit(X, y)
    assert counted() == N_CELLS + 1 + 1
    assert outcome(first, X) == outcome(again, X) == uninterrupted


def test_other_data_in_a_file_of_one_run_are_refused_naming_both(tmp_path, counted):
    store = SQLiteStore(tmp_path / "run.db", one_run=True)
    counted_search.search(store).fit(*data(0))
    done = counted()
    with pytest.raises(StoreError, match=r"other rows \(\d+ then and now, but not the same\)"):
        counted_search.search(store).fit(*data(1))
    with pytest.raises(StoreError, match=r"other settings \(predictions that are kept, scoring\)"):
        counted_search.search(store, scoring={"auc": "roc_auc", "brier": "accuracy"}).fit(*data(0))
    with pytest.raises(StoreError, match=r"random_state 7 then, 8 now"):
        counted_search.search(store, random_state=8).fit(*data(0))
    with pytest.raises(StoreError, match=r"other configurations \(4 then, \d+ now\)"):
        counted_search.search(store, leaves=[1, 2]).fit(*data(0))
    assert counted() == done


def test_configurations_in_another_order_are_the_same_run(tmp_path, counted):
    X, y = data()
    path = tmp_path / "run.db"
    first = counted_search.search(path).fit(X, y)
    turned = counted_search.search(path, leaves=(1000, 5, 2, 1)).fit(X, y)
    assert counted() == N_CELLS + 1 + 1
    assert turned.best_params_ == first.best_params_
    assert turned.best_score_ == first.best_score_
    for name in ("split0_test_auc", "split5_test_brier"):
        assert turned.cv_results_[name][::-1].tobytes() == first.cv_results_[name].tobytes()


def test_changed_code_of_an_estimator_is_refused_unless_accepted(tmp_path, counted, monkeypatch):
    X, y = data()
    path = tmp_path / "run.db"
    counted_search.search(path).fit(X, y)
    import inspect

    source = inspect.getsource
    monkeypatch.setattr(
        inspect, "getsource", lambda thing: source(thing) + ("# changed" if thing is Counted else "")
    )
    with pytest.raises(StoreError, match=r"started by other code \(source of counted_search\.Counted"):
        counted_search.search(path).fit(X, y)
    counted_search.search(SQLiteStore(path, accept_changed_code=True)).fit(X, y)
    assert counted() == N_CELLS + 1 + 1
