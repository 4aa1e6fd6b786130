"""Ctrl-C in a real process group: code 130, no traceback of any worker, and everything acknowledged is kept.

tests/resume/test_commands.py has kill -9 of commands.
"""

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from forked import Forked
from stored_cells import stored_seconds
from waiting_forest import tune_it

import heldout.spaces

pytestmark = pytest.mark.processes

SCRIPT = """
import os
import sys

import heldout.spaces
from waiting_forest import SECONDS, tune_it

os.chdir(sys.argv[1])
os.environ[SECONDS] = "1"  # so that it can be interrupted in the middle, however slow this test is
heldout.spaces.preset = tune_it
from heldout.cli import main

main(sys.argv[2:])
"""
TUNE = ["tune", "example:breast_cancer", "--target", "target", "--cv", "3", "--n-bootstraps", "50"]
CELLS = 12


def wait_for_cells(process: Forked, run_file: Path, least: int) -> None:
    deadline = time.monotonic() + 120
    while len(stored_seconds(run_file)) < least:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "no cell was acknowledged in two minutes"
        time.sleep(0.02)


def estimate_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "estimate.json").read_text())
    return found


@pytest.mark.skipif(os.name != "posix", reason="signals to process groups are POSIX")
def test_an_interrupted_run_ends_cleanly_and_resumes_to_the_same_bits(
    tmp_path: Path, command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heldout.spaces, "preset", tune_it)
    assert command(*TUNE, "--out", "whole", "--n-jobs", "1", "--quiet").code == 0

    run_file = tmp_path / "cut" / "run.db"
    process = Forked(SCRIPT, tmp_path, *TUNE, "--out", "cut", "--n-jobs", "2")
    wait_for_cells(process, run_file, least=2)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)

    assert process.returncode == 130, err
    assert "Traceback" not in err
    how_to_go_on = err.rstrip().splitlines()[-1].strip()
    assert how_to_go_on == f"heldout {' '.join(TUNE)} --n-jobs 2 --out cut --resume"
    kept = stored_seconds(run_file)  # a cell that is fitted again takes another time
    assert 2 <= len(kept) < CELLS

    resumed = command(*TUNE, "--out", "cut", "--n-jobs", "1", "--resume")
    assert resumed.code == 0, resumed.err
    assert f"of which {len(kept)} are done already" in resumed.err
    done = stored_seconds(run_file)
    assert len(done) == CELLS and kept.items() <= done.items()
    assert estimate_of(tmp_path / "cut") == estimate_of(tmp_path / "whole")
    predictions = [(tmp_path / folder / "predictions.parquet").read_bytes() for folder in ("cut", "whole")]
    assert predictions[0] == predictions[1]
