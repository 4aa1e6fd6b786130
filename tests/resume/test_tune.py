"""``heldout tune``: stopped by Ctrl-C or kill -9, then to the end: the same files as in one go."""

import json
import platform
import shlex
import signal

import numpy as np
import pytest
from forked import Forked
from stopped_command import HELDOUT, begun, cells, stopped_at, written_table

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("short_page")]

N_CELLS = 126


@pytest.fixture
def table(tmp_path):
    return written_table(tmp_path / "small.csv")


LITTLE_ROOM = """
import resource

resource.setrlimit(resource.RLIMIT_FSIZE, (330_000, resource.RLIM_INFINITY))
"""


def arguments(table, out, *more):
    options = "--target y --cv 2 --n-bootstraps 50 --n-jobs 1 --out"
    return ["tune", str(table), *shlex.split(options), str(out), *more]


def results(out):
    """What must not depend on interruptions: everything but the time of day and the time taken."""
    estimate = json.loads((out / "estimate.json").read_text())
    estimate.pop("provenance")
    return estimate, (out / "predictions.parquet").read_bytes()


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
        code, said = stopped_at(
            len(before) + 10, how, arguments(table, out, *(["--resume"] if number else [])), out
        )
        assert code == (130 if how == signal.SIGINT else -how)
        assert how != signal.SIGINT or "--resume" in said
        after = cells(out)
        assert len(before) + 10 <= len(after) < N_CELLS
        # A cell that was fitted again would have taken another time.
        assert before.items() <= after.items()
        before = after

    last = command(*arguments(table, out, "--resume"))
    assert last.code == 0 and f"of which {len(before)} are done already" in last.err
    assert len(cells(out)) == N_CELLS
    assert before.items() <= cells(out).items()
    assert results(out) == results(tmp_path / "in one go")


def test_resuming_over_another_table_is_refused_naming_both(table, tmp_path, command):
    out = tmp_path / "out"
    stopped_at(3, signal.SIGKILL, arguments(table, out), out)
    before = cells(out)
    other = np.random.default_rng(0).permutation(table.read_text().splitlines()[1:])
    table.write_text("\n".join(["a,b,c,d,y", *other]))
    refused = command(*arguments(table, out, "--resume"))
    assert refused.code == 2
    assert "was started with other settings: other rows (" in " ".join(refused.err.split())
    assert " then and now, but not the same)" in refused.err
    assert "Traceback" not in refused.err
    assert cells(out) == before
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
    first = cells(out)
    assert 0 < len(first) < N_CELLS
    assert f"Cells that are safe: {len(first)};" in said
    whole = command(*arguments(table, out, "--resume"))
    assert whole.code == 0 and f"of which {len(first)} are done already" in whole.err
    assert first.items() <= cells(out).items()


def test_a_run_that_goes_on_is_not_taken_over(table, tmp_path, command):
    out = tmp_path / "out"
    first = begun(arguments(table, out), out, 3)
    try:
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
