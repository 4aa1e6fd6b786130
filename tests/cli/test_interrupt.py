"""Ctrl-C in a real process group: code 130, no traceback of any worker, and everything acknowledged is kept."""

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from forked import Forked
from stored_cells import stored_seconds

pytestmark = pytest.mark.processes

# A space of few fits. Where they wait it can be interrupted in the middle, however slow this test is.
SCRIPT = """
import os
import sys

import heldout.spaces
from heldout.spaces.presets import _on_unscaled
from waiting_forest import SECONDS, WaitingForest


def slow(name, X, kind):
    return [("forest", _on_unscaled(WaitingForest(10))(X), {"fit__min_samples_leaf": [1, 2, 3, 4]})]


os.chdir(sys.argv[1])
os.environ[SECONDS] = sys.argv[2]
heldout.spaces.preset = slow
from heldout.cli import main

main(sys.argv[3:])
"""
TUNE = ["tune", "example:breast_cancer", "--target", "target", "--cv", "3", "--n-bootstraps", "50"]
CELLS = 12


def start(folder: Path, *options: str, seconds: float = 0) -> Forked:
    return Forked(SCRIPT, folder, seconds, *TUNE, *options)


def acknowledged(run_file: Path) -> dict[tuple[int, int, int], tuple[float, float]]:
    """The time that the fit of each acknowledged cell took: a cell that is fitted again takes another time."""
    return stored_seconds(run_file)


def wait_for_cells(process: Forked, run_file: Path, least: int) -> None:
    deadline = time.monotonic() + 120
    while len(acknowledged(run_file)) < least:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "no cell was acknowledged in two minutes"
        time.sleep(0.02)


def estimate_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "estimate.json").read_text())
    return found


@pytest.mark.skipif(os.name != "posix", reason="signals to process groups are POSIX")
def test_interrupted_runs_end_cleanly_and_resume_to_the_same_bits(tmp_path: Path) -> None:
    whole = start(tmp_path, "--out", "whole", "--n-jobs", "1", "--quiet")
    _, err = whole.communicate(timeout=300)
    assert whole.returncode == 0, err

    run_file = tmp_path / "cut" / "run.db"
    process = start(tmp_path, "--out", "cut", "--n-jobs", "2", seconds=1)
    wait_for_cells(process, run_file, least=2)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)

    assert process.returncode == 130, err
    assert "Traceback" not in err
    how_to_go_on = err.rstrip().splitlines()[-1].strip()
    assert how_to_go_on == f"heldout {' '.join(TUNE)} --n-jobs 2 --out cut --resume"
    kept = acknowledged(run_file)
    assert 2 <= len(kept) < CELLS

    killed = start(tmp_path, "--out", "cut", "--n-jobs", "2", "--resume", seconds=1)
    wait_for_cells(killed, run_file, least=len(kept) + 2)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate(timeout=60)
    kept_after_kill = acknowledged(run_file)
    assert len(kept_after_kill) >= len(kept) + 2 and kept.items() <= kept_after_kill.items()

    resumed = start(tmp_path, "--out", "cut", "--n-jobs", "1", "--resume")
    _, err = resumed.communicate(timeout=300)
    assert resumed.returncode == 0, err
    assert f"of which {len(kept_after_kill)} are done already" in err
    done = acknowledged(run_file)
    assert len(done) == CELLS and kept_after_kill.items() <= done.items()
    assert estimate_of(tmp_path / "cut") == estimate_of(tmp_path / "whole")
    predictions = [(tmp_path / folder / "predictions.parquet").read_bytes() for folder in ("cut", "whole")]
    assert predictions[0] == predictions[1]
