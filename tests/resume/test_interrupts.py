"""Ctrl-C twice, and a second signal at any moment of the first's handling: an ordinary end."""

import json
import os
import random
import signal
import time
from contextlib import suppress

import pytest
from forked import Forked
from stored_cells import stored_seconds

from heldout.execution.store.file_status import FileState, file_status

for needed in ("click", "rich", "pandas", "pyarrow", "skops", "matplotlib"):
    pytest.importorskip(needed)
pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(os.name != "posix", reason="signals to process groups are POSIX"),
]

# Cells that take a while, some of them in Python and some in compiled code.
SCRIPT = """
import os, sys
import heldout.spaces
from sklearn.ensemble import RandomForestClassifier
from heldout.spaces.presets import _on_unscaled


def slow(name, X, kind):
    return [("forest", _on_unscaled(RandomForestClassifier(40))(X), {"fit__min_samples_leaf": list(range(1, 21))})]


os.chdir(sys.argv[1])
heldout.spaces.preset = slow
from heldout.cli import main

main(sys.argv[2:])
"""
TUNE = ["tune", "example:breast_cancer", "--target", "target", "--n-bootstraps", "50", "--cv", "3"]
N_CELLS = 60


class Tuning:
    """``heldout tune`` in a process group of its own, as a terminal makes one."""

    def __init__(self, folder, *options):
        self.run_file = folder / "out" / "run.db"
        self.process = Forked(SCRIPT, folder, *TUNE, "--out", "out", *options)

    def acknowledged(self):
        """Cells with the seconds that they took, without this package; none where the tables are not made yet."""
        return stored_seconds(self.run_file)

    def wait_for(self, n_cells):
        deadline = time.monotonic() + 120
        while len(self.acknowledged()) < n_cells:
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.end()
                raise AssertionError(f"no {n_cells} cells were acknowledged: {self.process.communicate()[1]}")
            time.sleep(0.01)

    def end(self):
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def signalled(self, *signals):
        """Send signals to the group, each with the pause after it; the exit code and what was said."""
        for number, pause in signals:
            with suppress(ProcessLookupError):  # it may have ended
                os.killpg(self.process.pid, number)
                time.sleep(pause)
        try:
            _, said = self.process.communicate(timeout=60)
        except TimeoutError:
            self.end()
            raise
        return self.process.returncode, said

    def is_anybody_left(self):
        """Whether a process of the group outlives it; those that end by themselves are given a minute."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                os.killpg(self.process.pid, 0)
            except ProcessLookupError:
                return False
            time.sleep(0.02)
        self.end()
        return True


def interrupted(folder, *signals, n_jobs=2, n_cells=2, resume=False):
    """One interrupted run, and what must be true of any."""
    tuning = Tuning(folder, "--n-jobs", str(n_jobs), *(["--resume"] if resume else []))
    tuning.wait_for(n_cells)
    before = tuning.acknowledged()
    code, said = tuning.signalled(*signals)
    assert code == 130, said
    assert "Traceback" not in said
    assert "Interrupted. All finished fits are kept in out/run.db" in said
    assert not tuning.is_anybody_left()
    assert before.items() <= tuning.acknowledged().items()
    status = file_status(tuning.run_file)
    assert status.state is FileState.INTERRUPTED
    assert status.runs[0].n_done == len(tuning.acknowledged())
    return len(tuning.acknowledged())


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param("SIGINT", "SIGINT", id="ctrl-c-twice"),
        pytest.param("SIGTERM", "SIGINT", id="ended-and-ctrl-c", marks=pytest.mark.slow),
    ],
)
def test_two_signals(tmp_path, first, second):
    interrupted(tmp_path, (getattr(signal, first), 0.03), (getattr(signal, second), 0.0))


def test_a_shower_of_signals(tmp_path):
    moments = random.Random(5)
    interrupted(tmp_path, *((signal.SIGINT, moments.uniform(0, 0.02)) for _ in range(100)), n_jobs=1)


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_second_signal_at_any_moment_and_the_result_in_the_end(tmp_path, n_jobs):
    moments = random.Random(n_jobs)
    done = 0
    for number in range(12):
        second = (moments.choice([signal.SIGINT, signal.SIGTERM]), moments.uniform(0, 0.1))
        signals = [(signal.SIGINT, moments.uniform(0, 0.25)), second, (signal.SIGINT, 0)]
        done = interrupted(tmp_path, *signals, n_jobs=n_jobs, n_cells=done + 1, resume=number > 0)
        assert done < N_CELLS, "there must be something left to interrupt"
    finish(tmp_path, "--resume")
    whole = tmp_path / "whole"
    whole.mkdir()
    finish(whole)
    assert estimate_of(tmp_path) == estimate_of(whole)


def finish(folder, *options):
    tuning = Tuning(folder, "--n-jobs", "2", *options)
    _, said = tuning.process.communicate(timeout=300)
    assert tuning.process.returncode == 0, said


def estimate_of(folder):
    found = json.loads((folder / "out" / "estimate.json").read_text())
    found.pop("provenance", None)
    return found


# Ctrl-C in a program that searches: a second one while the workers are being ended makes nothing wait for ever.


SEARCHING = """
import os, signal, sys, time
from pathlib import Path
import numpy as np
import heldout as ho
from sklearn.dummy import DummyClassifier

class Slow(DummyClassifier):
    def fit(self, X, y):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a worker that must be ended from outside
        Path("begun").touch()
        time.sleep(0.2)
        return super().fit(X, y)

os.chdir(sys.argv[1])
os.environ["PATH"] = os.pathsep.join([f"{sys.argv[1]}/bin", os.environ["PATH"]])
X, y = np.zeros((40, 1)), np.arange(40) % 2
search = ho.HeldOutSearchCV(Slow(), {"constant": list(range(200))}, n_jobs=2, cv=2, random_state=0)
try:
    search.fit(X, y)
except KeyboardInterrupt:
    restored = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    print("interrupted", restored, signal.getsignal(signal.SIGALRM) is signal.SIG_DFL, flush=True)
"""

# What joblib looks for its workers' children with; here it takes its time, and dies of Ctrl-C as the true one does.
PGREP = """#!/bin/sh
touch called
sleep 1
exit 1
"""


def test_a_second_ctrl_c_while_the_workers_are_ended(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "pgrep").write_text(PGREP)
    (tmp_path / "bin" / "pgrep").chmod(0o755)
    process = Forked(SEARCHING, tmp_path)

    def press_ctrl_c_after(sign):
        deadline = time.monotonic() + 200
        while not (tmp_path / sign).exists():
            if process.poll() is not None or time.monotonic() > deadline:
                return  # with psutil joblib needs no other program
            time.sleep(0.01)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)

    try:
        press_ctrl_c_after("begun")
        press_ctrl_c_after("called")
        told, said = process.communicate(timeout=200)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    # A worker that has not come to its first fit dies of Ctrl-C itself, and loky prints where it was.
    assert told.splitlines()[-1:] == ["interrupted True True"], (told, said)
    assert process.returncode == 0
