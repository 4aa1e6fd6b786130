"""A search with Optuna that was stopped anywhere ends as it would have without."""

import multiprocessing
import os
import pickle
import random
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import optuna
import pytest
import stored_optuna
from optuna.storages.journal import JournalFileBackend
from stored_optuna import CountedTree, fitted, outcome

import heldout as ho
from heldout.execution.store import SQLiteStore
from heldout.search.optuna.sampler import quiet


class OwnSampler(optuna.samplers.RandomSampler):
    """A sampler of a user, which heldout does not know how to seed."""


@pytest.fixture(autouse=True)
def _no_fits_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CountedTree, "n_fits", 0)
    monkeypatch.setattr(CountedTree, "last", None)


def journal(folder: Path) -> Any:
    """A file that keeps studies."""
    return optuna.storages.JournalStorage(JournalFileBackend(str(folder / "studies.log")))


def interrupted(n_fits: int, *args: Any, **more: Any) -> None:
    """A search that is stopped after a number of fits of its own."""
    CountedTree.n_fits, CountedTree.last = 0, n_fits
    with pytest.raises(KeyboardInterrupt):
        fitted(*args, **more)
    CountedTree.n_fits, CountedTree.last = 0, None


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"batch_size": 4},
        {"drop": "bootstrap", "cv": 5, "n_trials": 8},
        {"sampler": optuna.samplers.NSGAIISampler(population_size=3), "n_trials": 8},
    ],
    ids=["one by one", "batches", "drop", "nsga"],
)
def test_an_interrupted_search_ends_as_it_would_have(tmp_path: Path, more: dict[str, Any]) -> None:
    more = {"n_trials": 12} | more
    whole = outcome(fitted(None, **more))
    n_fits, store = CountedTree.n_fits, tmp_path / "run.db"
    done = 0
    for stop in (0, 7, 1, 11):
        interrupted(stop, store, **more)
        done += stop
    assert outcome(fitted(store, **more)) == whole
    # Fits that were begun together are committed together: few are done again.
    assert n_fits - done <= CountedTree.n_fits <= n_fits - done + 4 * 5
    assert CountedTree.n_fits < n_fits


def test_a_finished_search_is_read_and_continues_with_more_trials(tmp_path: Path) -> None:
    store = tmp_path / "run.db"
    first = outcome(fitted(store, n_trials=8))
    CountedTree.n_fits = 0
    assert outcome(fitted(store, n_trials=8)) == first
    assert CountedTree.n_fits == 1  # the refit
    more = outcome(fitted(store, n_trials=12))
    assert more == outcome(fitted(None, n_trials=12))
    assert more["trials"][:8] == first["trials"]


def test_without_a_seed_the_store_knows_it(tmp_path: Path) -> None:
    store = tmp_path / "run.db"
    first, again = (outcome(fitted(store, n_trials=8, random_state=None)) for _ in range(2))
    del first["model"], again["model"]  # then the trees have no seed
    assert again == first


def test_a_sampler_of_a_user_repeats_what_is_stored(tmp_path: Path) -> None:
    store = tmp_path / "run.db"
    first = outcome(fitted(store, n_trials=5, sampler=OwnSampler()))
    CountedTree.n_fits = 0
    again = outcome(fitted(store, n_trials=8, sampler=OwnSampler(seed=99)))
    assert [trial[2] for trial in again["trials"][:5]] == [trial[2] for trial in first["trials"]]
    assert CountedTree.n_fits == 3 * 3 + 1
    assert len(again["trials"]) == 8


@pytest.mark.parametrize(
    ("other", "sentence"),
    [
        ({"space": {"depth": [1, 2]}}, r"other configurations \(adaptive then and now, but not the same\)"),
        ({"sampler": optuna.samplers.RandomSampler()}, "other configurations"),
        ({"batch_size": 2}, "other configurations"),
        ({"random_state": 6}, "other settings: random_state 5 then, 6 now"),
        ({"cv": 4}, "other folds"),
    ],
)
def test_the_store_of_another_search_is_another_run_or_refused(
    tmp_path: Path, other: dict[str, Any], sentence: str
) -> None:
    path = tmp_path / "run.db"
    fitted(path, n_trials=2)
    with pytest.raises(ho.InputError, match=sentence):
        fitted(SQLiteStore(path, one_run=True), n_trials=2, **other)
    assert outcome(fitted(path, n_trials=2, **other)) == outcome(fitted(None, n_trials=2, **other))


def test_a_timeout_ends_a_search_that_continues(tmp_path: Path) -> None:
    store = tmp_path / "run.db"
    found = fitted(store, n_trials=10**6, pause=0.1, timeout=1.0)
    n_trials = len(found.study_.trials)
    assert 1 <= n_trials < 10**6
    whole = fitted(store, n_trials=n_trials + 2, pause=0.1)
    assert [one.params for one in whole.study_.trials[:n_trials]] == [one.params for one in found.study_.trials]


def test_a_study_of_a_user_in_a_file_keeps_no_running_trial(tmp_path: Path) -> None:
    with quiet():
        study = optuna.create_study(direction="maximize", storage=journal(tmp_path))
    interrupted(4, None, n_trials=5, study=study)
    assert [trial.state.name for trial in study.trials] == ["COMPLETE", "FAIL"]


def test_a_study_of_a_user_in_a_file_continues_with_the_store(tmp_path: Path) -> None:
    store = tmp_path / "run.db"
    with quiet():
        study = optuna.create_study(direction="maximize", storage=journal(tmp_path), study_name="s")
    interrupted(5 * 3 + 1, store, n_trials=9, study=study)
    with quiet():
        again = optuna.load_study(study_name="s", storage=journal(tmp_path))
    found = fitted(store, n_trials=9, study=again)
    states = [trial.state.name for trial in again.trials]
    assert states == ["COMPLETE"] * 5 + ["FAIL"] + ["COMPLETE"] * 4
    assert len(found.cv_results_["params"]) == 9
    complete = [trial for trial in again.trials if trial.state.name == "COMPLETE"]
    assert [trial.params for trial in complete] == found.cv_results_["params"]
    assert CountedTree.n_fits <= 4 * 3 + 1 + 1


def killed_again_and_again(
    folder: Path, *, n_kills: int, n_trials: int, pause: float
) -> tuple[dict[str, Any], int]:
    """The outcome after kills at random moments, and how many of these hit the search."""
    moments, context = random.Random(n_trials), multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["stored_optuna"])
    store, result = str(folder / "run.db"), folder / "result"

    def started() -> Any:
        process = context.Process(target=stored_optuna.run, args=(store, str(result), n_trials, pause))
        process.start()
        return process

    hits = 0
    for _ in range(n_kills):
        before, process = n_cells(store), started()
        most = moments.randint(0, 2 * 3 * n_trials // n_kills)
        while process.is_alive() and n_cells(store) < before + most:
            time.sleep(0.01)
        time.sleep(moments.uniform(0, 3 * pause))
        hits += process.is_alive()
        process.kill()
        process.join()
        assert n_cells(store) >= before
    if not result.exists():
        process = started()
        process.join()
        assert process.exitcode == 0
    return pickle.loads(result.read_bytes()), hits


def n_cells(store: str) -> int:
    """Of a run file, without this package."""
    if not Path(store).exists():
        return 0
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=10)) as connection:
        try:
            return int(connection.execute("SELECT coalesce(sum(n_cells), 0) FROM block").fetchone()[0])
        except sqlite3.OperationalError:  # no tables yet
            return 0


@pytest.mark.processes
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.parametrize(
    ("n_kills", "n_trials"), [(3, 12), pytest.param(20, 60, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_a_killed_search_ends_as_it_would_have(tmp_path: Path, n_kills: int, n_trials: int) -> None:
    found, hits = killed_again_and_again(tmp_path, n_kills=n_kills, n_trials=n_trials, pause=0.03)
    assert hits >= 1
    assert found == outcome(fitted(None, n_trials=n_trials, pause=0.03))
