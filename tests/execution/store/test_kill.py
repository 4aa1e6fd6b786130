"""kill -9 in the middle of recording loses nothing that was acknowledged, and leaves no half of a cell."""

import random
import signal
import time

import numpy as np
import pytest
from forked import Forked

from heldout.execution.cells import CellKey, CellState, each_cell
from heldout.execution.store import RunIdentity
from heldout.execution.store.sqlite import SQLiteStore
from heldout.metrics.base import Response

pytestmark = pytest.mark.processes

IDENTITY = RunIdentity("1" * 64, "2" * 64, "3" * 64, "{}", 7)
CONFIGURATIONS = [(f"id {i}", "{}") for i in range(1000)]

# Records cells in groups of five as fast as it can, and says how many were acknowledged after each commit. It waits
# after 900 cells: five of them leave some of the 5000, however late they are killed.
RECORD = """
import sys, time
import numpy as np
from heldout.execution.cells import CellKey, CellResult, CellState, each_cell
from heldout.metrics.base import Response
from heldout.execution.store import RunIdentity
from heldout.execution.store.sqlite import SQLiteStore

identity = RunIdentity("1" * 64, "2" * 64, "3" * 64, "{}", 7)
with SQLiteStore(sys.argv[1]).open(identity, [(f"id {i}", "{}") for i in range(1000)], resume=True) as run:
    done = len(run.acknowledged())
    print(done, flush=True)
    for cell in range(done, done + 900):
        key = CellKey(cell // 5, 0, cell % 5)
        run.record(
            CellResult(
                key,
                CellState.DONE,
                test_scores={"score": cell / 7},
                predictions={
                    Response.DECISION: np.random.default_rng(cell).normal(size=200),
                    Response.LABELS: np.full(200, cell, dtype=np.int32),
                },
            )
        )
        if cell % 5 == 4:
            run.commit()
            print(cell + 1, flush=True)
    time.sleep(60)
"""


def kill_after(path, seconds, how=signal.SIGKILL):
    """Let it record for a while after a first group, end it, and give the number last said to be acknowledged."""
    process = Forked(RECORD, path)
    said = process.stdout.readline() + process.stdout.readline()
    time.sleep(seconds)
    process.send_signal(how)
    rest, _ = process.communicate(timeout=60)
    # The last line may be cut off by the kill: it counts only with its end.
    complete = (said + rest).rsplit("\n", 1)[0]
    return int(complete.split("\n")[-1])


def check(path, said):
    with SQLiteStore(path).open(IDENTITY, CONFIGURATIONS, resume=True) as run:
        acknowledged = run.acknowledged()
        assert acknowledged >= {CellKey(cell // 5, 0, cell % 5) for cell in range(said)}
        assert len(acknowledged) % 5 == 0  # a group is acknowledged as a whole
        for found in each_cell(run.results()):
            cell = found.key.configuration * 5 + found.key.fold
            assert found.state is CellState.DONE
            assert found.test_scores == {"score": cell / 7}
            assert set(found.predictions) == {Response.DECISION, Response.LABELS}
            expected = np.random.default_rng(cell).normal(size=200)
            assert found.predictions[Response.DECISION].tobytes() == expected.tobytes()
            assert (found.predictions[Response.LABELS] == cell).all()
    return len(acknowledged)


def killed_again_and_again(path, times, seed):
    waits = random.Random(seed)
    before = 0
    for _ in range(times):
        said = kill_after(path, waits.uniform(0, 0.06))
        now = check(path, said)
        assert now >= max(before, said)
        before = now
    # The file was killed in the middle of recording, each time.
    assert 0 < before < 5000


def test_five_kills_lose_nothing(tmp_path):
    killed_again_and_again(tmp_path / "run.db", 5, seed=0)


@pytest.mark.slow
def test_fifty_kills_lose_nothing(tmp_path):
    for seed in range(1, 11):
        killed_again_and_again(tmp_path / f"run {seed}.db", 5, seed)


def test_an_interrupt_keeps_everything_recorded(tmp_path):
    said = kill_after(tmp_path / "run.db", 0.05, signal.SIGINT)
    with SQLiteStore(tmp_path / "run.db").open(IDENTITY, CONFIGURATIONS, resume=True) as run:
        cells = {found.key for found in each_cell(run.results())}
        assert len(cells) >= said > 0
        # Without a gap: no cell was lost between one that was kept and the interrupt.
        assert cells == {CellKey(cell // 5, 0, cell % 5) for cell in range(len(cells))}
        assert all(len(found.predictions) == 2 for found in each_cell(run.results()))
