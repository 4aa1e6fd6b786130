"""kill -9 at any moment of a search: what was acknowledged is not done again, and the result is the same."""

import json
import os
import pickle
import random
import signal
import time
from contextlib import suppress
from pathlib import Path

import killed_search
import pytest
from counted_search import outcome
from forked import Forked
from sklearn.model_selection import KFold
from stored_cells import positions_of, stored_cells

HERE = Path(__file__).parent
RUN = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
os.environ["PYTHONPATH"] = os.pathsep.join([sys.argv[1], os.environ.get("PYTHONPATH", "")])
from killed_search import run  # under its own name, so that the class is the same for workers and tests

run(json.loads(sys.argv[2]))
"""
PAUSE = 0.02  # a few fits are worth a commit

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="forks"),
]


class Search:
    """A search over one store, run again and again."""

    def __init__(self, folder, **settings):
        self.folder, self.settings = folder, settings
        self.store = folder / "run.db"
        self.runs = 0

    def start(self):
        self.runs += 1
        self.log, self.result = self.folder / f"log {self.runs}", self.folder / f"result {self.runs}"
        options = {"store": self.store, "log": self.log, "result": self.result, "pause": PAUSE} | self.settings
        self.process = Forked(RUN, HERE, json.dumps(options, default=str))

    def ended(self):
        code = self.process.wait()
        self.process.close()
        return code

    def killed_after(self, n_fits, delay):
        """Kill it some time after a number of fits have begun; False where it was done before."""
        self.start()
        while len(self.fits()) < n_fits and not self.result.exists() and self.process.poll() is None:
            time.sleep(0.001)
        time.sleep(delay)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)  # with its workers
        return self.ended() != 0

    def fits(self):
        """(configuration, training rows) of the fits of the last run, in order."""
        if not self.log.exists():
            return []
        lines = self.log.read_text().split("\n")[:-1]
        return [tuple(map(int, line.split())) for line in lines]

    def acknowledged(self):
        """(configuration, training rows) -> number of the row, of cells in the file; without this package."""
        if not self.store.exists():
            return {}
        X, _ = killed_search.data()
        splits = KFold(self.settings["n_splits"]).split(X)
        words = [killed_search.rows_word(X[train]) for train, _ in splits]
        found = list(stored_cells(self.store))
        positions = positions_of(self.store) if found else {}
        return {(positions[key], words[fold]): cell["block"] for (key, _, fold), cell in found}


def killed_again_and_again(search, n_kills, most_fits, seed):
    """How many kills hit; checks after each that nothing was lost or done again."""
    moments = random.Random(seed)
    before, hits = {}, 0
    for _ in range(n_kills):
        hits += search.killed_after(moments.randint(0, most_fits), moments.uniform(0, 2 * PAUSE))
        after = search.acknowledged()
        assert before.items() <= after.items(), "an acknowledged cell was lost, or written again"
        done_again = before.keys() & set(search.fits())
        assert not done_again, f"acknowledged cells were done again: {done_again}"
        before = after
    return hits


def finished(search):
    """The result of the last run, which did only what was left."""
    before = search.acknowledged()
    search.start()
    assert search.ended() == 0
    found = pickle.loads(search.result.read_bytes())
    fits = search.fits()
    assert not before.keys() & set(fits)
    assert len(fits) == found["n_fits"] - len(before) + 1  # and the refit
    assert len(search.acknowledged()) == found["n_fits"]
    assert before.items() <= search.acknowledged().items()
    return found, len(before)


def uninterrupted(tmp_path, monkeypatch, **settings):
    monkeypatch.setenv(killed_search.LOG, str(tmp_path / "log of the uninterrupted one"))
    X, _ = killed_search.data()
    return outcome(killed_search.fitted(None, **(settings | {"n_jobs": None})), X)


def check(tmp_path, monkeypatch, *, n_kills, most_fits, seed, **settings):
    search = Search(tmp_path, **settings)
    hits = killed_again_and_again(search, n_kills, most_fits, seed)
    found, n_before = finished(search)
    assert found == uninterrupted(tmp_path, monkeypatch, **settings)
    assert hits >= 0.8 * n_kills
    assert n_before > 0
    return found, n_before


def test_five_kills_over_sixty_cells(tmp_path, monkeypatch):
    size = {"n_configurations": 12, "n_splits": 5}
    found, n_before = check(tmp_path, monkeypatch, n_kills=5, most_fits=9, seed=0, **size)
    assert found["n_fits"] == 60 >= n_before  # the last kill may come during the refit


def test_kills_where_configurations_are_dropped(tmp_path, monkeypatch):
    size = {"n_configurations": 10, "n_splits": 5, "drop": "bootstrap"}
    found, n_before = check(tmp_path, monkeypatch, n_kills=4, most_fits=9, seed=1, **size)
    assert n_before <= found["n_fits"] < 50


@pytest.mark.slow
def test_a_hundred_kills_over_five_hundred_cells(tmp_path, monkeypatch):
    size = {"n_configurations": 50, "n_splits": 10}
    found, _ = check(tmp_path, monkeypatch, n_kills=100, most_fits=9, seed=2, **size)
    assert found["n_fits"] == 500


@pytest.mark.slow
def test_a_hundred_kills_where_configurations_are_dropped(tmp_path, monkeypatch):
    size = {"n_configurations": 50, "n_splits": 10, "drop": "bootstrap"}
    found, _ = check(tmp_path, monkeypatch, n_kills=50, most_fits=9, seed=3, **size)
    assert found["n_fits"] < 500


@pytest.mark.slow
@pytest.mark.parametrize("drop", [None, "bootstrap"])
def test_kills_with_two_workers(tmp_path, monkeypatch, drop):
    size = {"n_configurations": 40, "n_splits": 5, "n_jobs": 2, "drop": drop}
    check(tmp_path, monkeypatch, n_kills=10, most_fits=12, seed=4, **size)
