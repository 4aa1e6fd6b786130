"""Workers that are killed: the run goes on, and what it comes to is what it would have come to."""

import os
import pickle

import killed_search
import numpy as np
import pytest
from counted_search import outcome
from killed_search import Greedy, Mortal, rows_word
from sklearn.model_selection import KFold
from stored_cells import positions_of, stored_cells

SIZE = {"n_configurations": 4, "n_splits": 3}

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(os.name != "posix", reason="SIGKILL"),
    pytest.mark.filterwarnings("ignore::heldout.errors.HeldoutWarning"),
    pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite"),
    pytest.mark.filterwarnings("ignore:.*worker.*:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*:ResourceWarning"),
]


@pytest.fixture
def log(tmp_path):
    return tmp_path / "log"


@pytest.fixture
def dies(tmp_path):
    folder = tmp_path / "dies"
    folder.mkdir()
    return folder


def mortal(log, dies):
    return Mortal(log=str(log), dies=str(dies), coordinator=os.getpid())


def training_word(fold):
    X, _ = killed_search.data()
    train, _ = list(KFold(SIZE["n_splits"]).split(X))[fold]
    return rows_word(X[train])


def cells(path):
    """(position, fold) -> (state, attempts, message), without this package."""
    positions = positions_of(path)
    return {
        (positions[key], fold): (cell["state"], cell["attempts"], cell["message"])
        for (key, _, fold), cell in stored_cells(path)
    }


def result(fitted):
    """Everything but the words of the parameters, one of which names this process."""
    X, _ = killed_search.data()
    found = outcome(fitted, X)
    found["columns"] = {name: column for name, column in found["columns"].items() if "param" not in name}
    return pickle.dumps(found)


@pytest.mark.parametrize("drop", [None, pytest.param("bootstrap", marks=pytest.mark.slow)])
def test_a_worker_that_is_killed_once_leaves_no_trace(tmp_path, log, dies, drop):
    (dies / f"2 {training_word(1)}").touch()
    store = tmp_path / "run.db"
    found = killed_search.fitted(store, estimator=mortal(log, dies), n_jobs=2, drop=drop, **SIZE)
    assert not list(dies.iterdir())
    whole = killed_search.fitted(None, estimator=mortal(log, dies), drop=drop, **SIZE)
    assert result(found) == result(whole)
    written = cells(store)
    assert len(written) == found.n_fits_
    assert {state for state, _, _ in written.values()} == {"done"}
    assert written[2, 1][1] == 2  # its second attempt


def test_a_cell_that_kills_three_workers_fails_and_the_rest_goes_on(tmp_path, log, dies):
    (dies / f"1 {training_word(0)} always").touch()
    store = tmp_path / "run.db"
    found = killed_search.fitted(store, estimator=mortal(log, dies), n_jobs=2, **SIZE)
    written = cells(store)
    assert len(written) == 12
    state, attempts, message = written.pop((1, 0))
    assert (state, attempts) == ("failed", 3)
    assert "its worker was lost 3 times" in message
    assert "SIGKILL" in message
    assert {state for state, _, _ in written.values()} == {"done"}
    assert list(found.predictions_.failed) == [1]
    # Acknowledged as any other: a run over the same file does nothing again, and says the same.
    before = log.read_text().count("\n")
    again = killed_search.fitted(store, estimator=mortal(log, dies), n_jobs=2, **SIZE)
    assert log.read_text().count("\n") == before + 1  # the refit
    assert result(again) == result(found)


def test_a_worker_that_may_have_no_more_memory_is_a_failed_fit(tmp_path, log):
    pytest.importorskip("resource")
    store = tmp_path / "run.db"
    found = killed_search.fitted(store, estimator=Greedy(log=str(log)), n_jobs=2, **SIZE)
    written = cells(store)
    assert {written[0, fold][0] for fold in range(3)} == {"failed"}
    assert all("Memory" in written[0, fold][2] for fold in range(3))
    assert {state for (position, _), (state, _, _) in written.items() if position} == {"done"}
    assert np.isfinite(found.best_score_)
