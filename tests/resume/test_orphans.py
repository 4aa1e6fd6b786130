"""``kill -9`` of a search: its workers end by themselves, and none of its temporary files stays."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest
from forked import Forked

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(os.name != "posix", reason="signals to process groups are POSIX"),
]

SEARCH = """
import os, sys, tempfile, time
from pathlib import Path
import numpy as np
import heldout as ho
from sklearn.dummy import DummyClassifier

class Slow(DummyClassifier):
    def fit(self, X, y):
        Path(f"{os.getpid()}.worker").touch()
        time.sleep(120)
        return super().fit(X, y)

os.chdir(sys.argv[1])
os.environ["JOBLIB_TEMP_FOLDER"] = os.environ["TMPDIR"] = tempfile.tempdir = sys.argv[1]
X, y = np.zeros((40, 1)), np.arange(40) % 2
ho.HeldOutSearchCV(Slow(), {"constant": list(range(20))}, n_jobs=2, cv=2, random_state=0).fit(X, y)
"""


def wait_until(happened):
    deadline = time.monotonic() + 120
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in two minutes"
        time.sleep(0.05)


def killed(where, kill):
    """Start a search, kill it in its fits, and give the workers that were at it."""
    process = Forked(SEARCH, where)
    try:
        wait_until(lambda: len(list(where.glob("*.worker"))) == 2 or process.poll() is not None)
        assert process.poll() is None
        kill(process.pid)
    finally:
        process.kill()
        process.wait()
        process.close()
    return [int(path.stem) for path in where.glob("*.worker")]


def is_dead(process):
    """Whether a process has ended, be it that nobody has taken note of it."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return Path("/proc/self").exists() and not command_of(process)


def end(workers):
    for worker in workers:
        if not is_dead(worker):
            os.kill(worker, signal.SIGKILL)


def test_workers_end_with_a_search_that_is_killed_and_leave_nothing(tmp_path):
    workers = killed(tmp_path, lambda process: os.kill(process, signal.SIGKILL))
    try:
        assert len(workers) == 2
        wait_until(lambda: all(map(is_dead, workers)))  # their fits take longer
        wait_until(lambda: not list(tmp_path.glob("heldout-*")))
    finally:
        end(workers)


def test_a_folder_that_nobody_could_remove_is_removed_at_the_next_start(tmp_path, monkeypatch):
    from heldout.execution.executors.local import shared_folder

    workers = killed(tmp_path, lambda process: os.killpg(process, signal.SIGKILL))  # and what cleans up after it
    wait_until(lambda: all(map(is_dead, workers)))
    (left,) = tmp_path.glob("heldout-*")
    assert list(left.glob("*.work"))

    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    with shared_folder() as folder:
        assert list(tmp_path.glob("heldout-*")) == [folder]


def children_of(process):
    """The worker processes of joblib among the children of a process."""
    found = []
    for task in Path(f"/proc/{process}/task").iterdir():
        with suppress(OSError):
            found += [int(child) for child in (task / "children").read_text().split()]
    return [child for child in found if b"popen_loky" in command_of(child)]


def command_of(process):
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:  # it has ended
        return b""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="children are listed in /proc")
@pytest.mark.parametrize(
    "seconds", [0.0, 1.0, *(pytest.param(seconds, marks=pytest.mark.slow) for seconds in (0.2, 0.5, 1.5, 2.0, 3.0))]
)
def test_workers_end_with_a_search_that_is_killed_while_it_starts(tmp_path, seconds):
    """Before they have a task; the seconds are counted from the first worker."""
    process, workers = Forked(SEARCH, tmp_path), []
    try:
        wait_until(lambda: children_of(process.pid) or process.poll() is not None)
        time.sleep(seconds)
        workers = children_of(process.pid)
        assert workers and process.poll() is None
    finally:
        process.kill()
        process.wait()
        process.close()
    try:
        wait_until(lambda: not any(b"popen_loky" in command_of(worker) for worker in workers))
    finally:
        for worker in workers:
            if b"popen_loky" in command_of(worker):
                os.kill(worker, signal.SIGKILL)
