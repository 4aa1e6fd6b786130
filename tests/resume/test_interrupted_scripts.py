"""Ctrl-C in a program that searches: a second one while the workers are being ended makes nothing wait for ever."""

import os
import signal
import time
from contextlib import suppress

import pytest
from forked import Forked

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(os.name != "posix", reason="signals to process groups are POSIX"),
]

SCRIPT = """
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
    process = Forked(SCRIPT, tmp_path)

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
    assert told == "interrupted True True\n", said
    assert process.returncode == 0
