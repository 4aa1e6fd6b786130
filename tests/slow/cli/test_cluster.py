"""``heldout tune`` on a Dask cluster: interrupted and resumed there, it is the search that was made here."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytestmark = [pytest.mark.processes, pytest.mark.slow]


@contextmanager
def started(*command: str, until: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process of Dask's, once it has said something; with that line."""
    process = subprocess.Popen(
        [sys.executable, "-m", *command], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stderr is not None
        yield process, next(line for line in process.stderr if until in line)
    finally:
        process.terminate()
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


@pytest.fixture
def cluster() -> Iterator[str]:
    pytest.importorskip("distributed")
    scheduler = ["distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    with started(*scheduler, until="Scheduler at:") as (_, line):
        address = line.split()[-1]
        worker = ["distributed.cli.dask_worker", address, "--nworkers", "2", "--nthreads", "1", "--no-dashboard"]
        with started(*worker, until="Registered to:"):
            yield address


AS_FROM_A_TERMINAL = """
import signal
import sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever the test runner hands down
from heldout.cli import main

main(sys.argv[1:])
"""


def tune(folder: Path, *options: str) -> subprocess.Popen[str]:
    command = ["tune", "example:iris", "--target", "target", "--seed", "3", "--n-bootstraps", "100", "--quiet"]
    return subprocess.Popen(
        [sys.executable, "-c", AS_FROM_A_TERMINAL, *command, "--out", str(folder), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_search_on_a_cluster_is_the_one_that_was_made_here(cluster: str, tmp_path: Path) -> None:
    here = tune(tmp_path / "here", "--n-jobs", "1")
    there = tune(tmp_path / "there", "--engine", cluster)
    while not (tmp_path / "there" / "run.db").exists() and there.poll() is None:
        time.sleep(0.05)
    time.sleep(1)
    there.send_signal(signal.SIGINT)
    said = there.communicate(timeout=60)
    assert there.returncode in (0, 130), said
    if there.returncode == 130:
        assert "--resume" in said[1]
        there = tune(tmp_path / "there", "--engine", cluster, "--resume")
        said = there.communicate(timeout=120)
        assert there.returncode == 0, said
    assert here.communicate(timeout=120) and here.returncode == 0
    found = [(tmp_path / name / "estimate.json").read_text() for name in ("here", "there")]
    assert found[0] == found[1]
