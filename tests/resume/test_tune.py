"""``heldout tune``: stopped by Ctrl-C or kill -9, then to the end: the same files as in one go."""

import json
import platform
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import numpy as np
import pytest
from sklearn.datasets import make_classification

pytestmark = pytest.mark.processes

for needed in ("click", "rich", "pandas", "pyarrow", "skops", "altair"):
    pytest.importorskip(needed)

N_CELLS = 80


@pytest.fixture
def table(tmp_path):
    X, y = make_classification(60, 4, random_state=0)
    rows = [",".join(map(repr, [*map(float, row), int(label)])) for row, label in zip(X, y, strict=True)]
    path = tmp_path / "small.csv"
    path.write_text("\n".join(["a,b,c,d,y", *rows]))
    return path


def command(table, out, *more):
    options = "--target y --cv 2 --n-bootstraps 50 --n-jobs 1 --out"
    return [sys.executable, "-m", "heldout", "tune", str(table), *shlex.split(options), str(out), *more]


def acknowledged(out):
    """Cells in the run file, counted while the search goes on."""
    try:
        with closing(sqlite3.connect(f"file:{out / 'run.db'}?mode=ro", uri=True)) as connection:
            return connection.execute("SELECT count(*) FROM cell").fetchone()[0]
    except sqlite3.OperationalError:  # not there yet
        return 0


def stopped_at(n_cells, how, table, out, *more):
    """Start the search and stop it once so many cells are acknowledged; its exit code and what it said."""
    process = subprocess.Popen(
        command(table, out, *more),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # As a terminal starts it: what runs the tests in the background may ignore interrupts, and hand that down.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        while acknowledged(out) < n_cells and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(how)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    return process.returncode, said


def results(out):
    """What must not depend on interruptions: everything but the time of day and the time taken."""
    estimate = json.loads((out / "estimate.json").read_text())
    estimate.pop("provenance")
    return estimate, (out / "predictions.parquet").read_bytes()


def fits(out):
    with closing(sqlite3.connect(out / "run.db")) as connection:
        return dict(connection.execute("SELECT number, fit_seconds FROM cell"))


# tests/cli/test_interrupt.py is the short version, with few cells.
@pytest.mark.slow
@pytest.mark.parametrize(
    "stops",
    [
        pytest.param([signal.SIGKILL], id="killed"),
        pytest.param([signal.SIGINT, signal.SIGKILL], id="interrupted-and-killed"),
    ],
)
def test_stopped_and_resumed_is_the_same_as_in_one_go(table, tmp_path, stops):
    subprocess.run(command(table, tmp_path / "in one go"), check=True, capture_output=True)
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

    last = subprocess.run(command(table, out, "--resume"), check=True, capture_output=True, text=True)
    assert f"of which {len(before)} are done already" in last.stderr
    assert len(fits(out)) == N_CELLS
    assert before.items() <= fits(out).items()
    assert results(out) == results(tmp_path / "in one go")


def test_resuming_over_another_table_is_refused_naming_both(table, tmp_path):
    out = tmp_path / "out"
    stopped_at(3, signal.SIGKILL, table, out)
    before = acknowledged(out)
    other = np.random.default_rng(0).permutation(table.read_text().splitlines()[1:])
    table.write_text("\n".join(["a,b,c,d,y", *other]))
    refused = subprocess.run(command(table, out, "--resume"), capture_output=True, text=True)
    assert refused.returncode == 2
    assert "was started with other settings: other rows (" in " ".join(refused.stderr.split())
    assert " then and now, but not the same)" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert acknowledged(out) == before
    assert not (out / "report.html").exists()


def test_a_full_disk_is_reported_and_the_run_resumes_once_there_is_room(table, tmp_path):
    resource = pytest.importorskip("resource")
    out = tmp_path / "out"

    def little_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (330_000, resource.RLIM_INFINITY))

    ended = subprocess.run(command(table, out), capture_output=True, text=True, preexec_fn=little_room)
    assert ended.returncode == 2, ended.stderr
    assert "Traceback" not in ended.stderr
    said = " ".join(ended.stderr.split())
    assert "the disk is full or failing; what was acknowledged before is safe" in said
    first = fits(out)
    assert 0 < len(first) < N_CELLS
    assert f"Cells that are safe: {len(first)};" in said
    whole = subprocess.run(command(table, out, "--resume"), check=True, capture_output=True, text=True)
    assert f"of which {len(first)} are done already" in whole.stderr
    assert first.items() <= fits(out).items()


def test_a_run_that_goes_on_is_not_taken_over(table, tmp_path):
    out = tmp_path / "out"
    first = subprocess.Popen(command(table, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while acknowledged(out) < 3 and first.poll() is None:
            time.sleep(0.005)
        first.send_signal(signal.SIGSTOP)  # so that it cannot be done meanwhile
        second = subprocess.run(command(table, out, "--resume"), capture_output=True, text=True)
        asked = subprocess.run(
            [sys.executable, "-m", "heldout", "status", str(out)], capture_output=True, text=True, check=True
        )
    finally:
        first.kill()
        first.wait()
    assert second.returncode == 2
    assert "Traceback" not in second.stderr
    assert f"is in use by process {first.pid} on {platform.node()} since" in " ".join(second.stderr.split())
    assert f"running: process {first.pid} on {platform.node()} since" in asked.stdout
