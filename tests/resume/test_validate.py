"""``heldout validate``: stopped by Ctrl-C or kill -9, then to the end: the same document as in one go."""

import json
import shlex
import signal
import time

import pytest
from forked import Forked
from sklearn.datasets import make_classification
from stored_cells import stored_seconds

pytestmark = pytest.mark.processes

for needed in ("click", "rich", "pandas", "pyarrow", "skops", "matplotlib"):
    pytest.importorskip(needed)

N_FITS = 61


@pytest.fixture
def table(tmp_path):
    X, y = make_classification(60, 4, flip_y=0.3, random_state=0)
    rows = [",".join(map(repr, [*map(float, row), int(label)])) for row, label in zip(X, y, strict=True)]
    path = tmp_path / "small.csv"
    path.write_text("\n".join(["a,b,c,d,y", *rows]))
    return path


HELDOUT = """
import sys
from heldout.cli import main

main(sys.argv[1:])
"""


def arguments(table, out, *more):
    options = f"--target y --metric roc_auc --metric log_loss --bootstraps {N_FITS - 1} --n-jobs 1 --out"
    return ["validate", str(table), *shlex.split(options), str(out), *more]


def cells(out):
    """The time that each fit took, in the run file; none while there is none."""
    return stored_seconds(out / "run.db")


def stopped_at(n_cells, how, table, out, *more):
    """Start the validation and stop it once so many fits are acknowledged; its exit code and what it said."""
    process = Forked(HELDOUT, *arguments(table, out, *more))
    try:
        while len(cells(out)) < n_cells and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(how)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
        process.close()
    return process.returncode, said


def test_a_stopped_validation_goes_on_to_the_same_document(tmp_path, table, command):
    assert command(*arguments(table, tmp_path / "one_go")).code == 0
    out = tmp_path / "out"

    code, said = stopped_at(10, signal.SIGINT, table, out)
    assert code == 130
    again = shlex.join(["heldout", *arguments(table, out, "--resume")])
    assert said.strip().endswith(again)
    kept = cells(out)
    assert 10 <= len(kept) < N_FITS

    code, _ = stopped_at(len(kept) + 10, signal.SIGKILL, table, out, "--resume")
    assert code == -signal.SIGKILL
    kept |= cells(out)

    ended = command(*arguments(table, out, "--resume"))
    assert ended.code == 0 and f"of which {len(kept)} are done already" in ended.err
    done = cells(out)
    assert len(done) == N_FITS and {number: done[number] for number in kept} == kept  # none was done again
    document, in_one_go = (
        json.loads((folder / "validation.json").read_text()) for folder in (out, tmp_path / "one_go")
    )
    assert document == in_one_go
