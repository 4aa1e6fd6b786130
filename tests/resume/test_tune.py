"""``heldout tune``: stopped by Ctrl-C or kill -9, then to the end: the same files as in one go."""

import json
import platform
import shlex
import signal
import time

import numpy as np
import pytest
from forked import Forked
from sklearn.datasets import make_classification
from stored_cells import stored_seconds

pytestmark = pytest.mark.processes

for needed in ("click", "rich", "pandas", "pyarrow", "skops", "matplotlib"):
    pytest.importorskip(needed)

N_CELLS = 126


@pytest.fixture
def table(tmp_path):
    X, y = make_classification(60, 4, random_state=0)
    rows = [",".join(map(repr, [*map(float, row), int(label)])) for row, label in zip(X, y, strict=True)]
    path = tmp_path / "small.csv"
    path.write_text("\n".join(["a,b,c,d,y", *rows]))
    return path


LITTLE_ROOM = """
import resource

resource.setrlimit(resource.RLIMIT_FSIZE, (330_000, resource.RLIM_INFINITY))
"""
HELDOUT = """
import sys
from heldout.cli import main

main(sys.argv[1:])
"""


def arguments(table, out, *more):
    options = "--target y --cv 2 --n-bootstraps 50 --n-jobs 1 --out"
    return ["tune", str(table), *shlex.split(options), str(out), *more]


def acknowledged(out):
    """Cells in the run file, counted while the search goes on."""
    return len(fits(out))


def stopped_at(n_cells, how, table, out, *more):
    """Start the search and stop it once so many cells are acknowledged; its exit code and what it said."""
    process = Forked(HELDOUT, *arguments(table, out, *more))
    try:
        while acknowledged(out) < n_cells and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(how)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
        process.close()
    return process.returncode, said


def results(out):
    """What must not depend on interruptions: everything but the time of day and the time taken."""
    estimate = json.loads((out / "estimate.json").read_text())
    estimate.pop("provenance")
    return estimate, (out / "predictions.parquet").read_bytes()


def fits(out):
    return stored_seconds(out / "run.db")


# tests/cli/test_interrupt.py is the short version, with few cells.
@pytest.mark.slow
@pytest.mark.parametrize(
    "stops",
    [
        pytest.param([signal.SIGKILL], id="killed"),
        pytest.param([signal.SIGINT, signal.SIGKILL], id="interrupted-and-killed"),
    ],
)
def test_stopped_and_resumed_is_the_same_as_in_one_go(table, tmp_path, stops, command):
    assert command(*arguments(table, tmp_path / "in one go")).code == 0
    out = tmp_path / "in pieces"
    before = {}
    for number, how in enumerate(stops):
        code, said = stopped_at(len(before) + 10, how, table, out, *(["--resume"] if number else []))
        assert code == (130 if how == signal.SIGINT else -how)
        assert how != signal.SIGINT or "--resume" in said
        after = fits(out)
        assert len(before) + 10 <= len(after) < N_CELLS
        # A cell that was fitted again would have taken another time.
        assert before.items() <= after.items()
        before = after

    last = command(*arguments(table, out, "--resume"))
    assert last.code == 0 and f"of which {len(before)} are done already" in last.err
    assert len(fits(out)) == N_CELLS
    assert before.items() <= fits(out).items()
    assert results(out) == results(tmp_path / "in one go")


def test_resuming_over_another_table_is_refused_naming_both(table, tmp_path, command):
    out = tmp_path / "out"
    stopped_at(3, signal.SIGKILL, table, out)
    before = acknowledged(out)
    other = np.random.default_rng(0).permutation(table.read_text().splitlines()[1:])
    table.write_text("\n".join(["a,b,c,d,y", *other]))
    refused = command(*arguments(table, out, "--resume"))
    assert refused.code == 2
    assert "was started with other settings: other rows (" in " ".join(refused.err.split())
    assert " then and now, but not the same)" in refused.err
    assert "Traceback" not in refused.err
    assert acknowledged(out) == before
    assert not (out / "report.html").exists()


def test_a_full_disk_is_reported_and_the_run_resumes_once_there_is_room(table, tmp_path, command):
    pytest.importorskip("resource")
    out = tmp_path / "out"
    ended = Forked(LITTLE_ROOM + HELDOUT, *arguments(table, out))
    _, err = ended.communicate(timeout=120)
    assert ended.returncode == 2, err
    assert "Traceback" not in err
    said = " ".join(err.split())
    assert "the disk is full or failing; what was acknowledged before is safe" in said
    first = fits(out)
    assert 0 < len(first) < N_CELLS
    assert f"Cells that are safe: {len(first)};" in said
    whole = command(*arguments(table, out, "--resume"))
    assert whole.code == 0 and f"of which {len(first)} are done already" in whole.err
    assert first.items() <= fits(out).items()


def test_a_run_that_goes_on_is_not_taken_over(table, tmp_path, command):
    out = tmp_path / "out"
    first = Forked(HELDOUT, *arguments(table, out))
    try:
        while acknowledged(out) < 3 and first.poll() is None:
            time.sleep(0.005)
        first.send_signal(signal.SIGSTOP)  # so that it cannot be done meanwhile
        second = command(*arguments(table, out, "--resume"))
        status = command("status", out)
    finally:
        first.kill()
        first.wait()
        first.close()
    assert second.code == 2
    assert "Traceback" not in second.err
    assert f"is in use by process {first.pid} on {platform.node()} since" in " ".join(second.err.split())
    assert status.code == 0 and f"running: process {first.pid} on {platform.node()} since" in status.out
