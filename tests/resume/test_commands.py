"""``heldout tune`` and ``heldout validate``: stopped by Ctrl-C and kill -9, then to the end: as in one go."""

import json
import platform
import shlex
import signal
import sys

import numpy as np
import pytest
from forked import Forked
from stopped_command import HELDOUT, begun, cells, stopped_at, written_table

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("short_page")]
pytest.importorskip("optuna")

N_TRIALS = 12
N_CELLS = 2 * N_TRIALS
SPACE = """
import time

from scipy.stats import loguniform
from sklearn.linear_model import LogisticRegression


class Sleeping(LogisticRegression):
    def fit(self, X, y):
        time.sleep(0.02)
        return super().fit(X, y)


space = [("sleeping", Sleeping(), {"C": loguniform(0.001, 100)})]
grid = [("sleeping", Sleeping(), {"C": [10.0 ** (number / 3 - 3) for number in range(12)]})]
"""
TABLE = "a,y\n" + "\n".join(f"{(7 * row) % 23 + row / 3},{'yes' if row % 3 else 'no'}" for row in range(40))


@pytest.fixture
def arguments(tmp_path, monkeypatch):
    """The words of a command, with its output folder."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "rows.csv").write_text(TABLE)
    (tmp_path / "models_that_sleep.py").write_text(SPACE)
    usual = ["--target", "y", "--cv", "2", "--n-bootstraps", "40", "--n-jobs", "1", "--metric", "accuracy,roc_auc"]

    def words(out, *more, search=()):
        space = ["--space", f"{tmp_path / 'models_that_sleep.py'}:{'space' if search else 'grid'}", *search]
        return ["tune", str(tmp_path / "rows.csv"), *usual, *space, "--out", str(out), *more]

    yield words
    sys.modules.pop("models_that_sleep", None)


def results(out):
    """What must not depend on interruptions: everything but the time of day and the time taken."""
    estimate = json.loads((out / "estimate.json").read_text())
    estimate.pop("provenance")
    for each in estimate["estimates"].values():
        each.pop("provenance")
    return estimate, (out / "predictions.parquet").read_bytes()


SEARCHES = {
    "grid": (),
    "random": ("--search", "random", "--n-iter", str(N_TRIALS)),
    "optuna": ("--search", "optuna", "--n-trials", str(N_TRIALS)),
}


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_stopped_and_resumed_is_the_same_as_in_one_go(arguments, tmp_path, search, command):
    assert command(*arguments(tmp_path / "whole", search=search)).code == 0
    out = tmp_path / "pieces"
    code, said = stopped_at(5, signal.SIGINT, arguments(out, search=search), out)
    assert code == 130 and "--resume" in said
    first = cells(out)
    resumed = arguments(out, "--resume", search=search)
    assert stopped_at(len(first) + 5, signal.SIGKILL, resumed, out)[0] == -signal.SIGKILL
    before = cells(out)
    # A cell that was fitted again would have taken another time.
    assert 10 <= len(before) < N_CELLS and first.items() <= before.items()

    last = command(*arguments(out, "--resume", "--json", search=search))
    assert last.code == 0 and json.loads(last.out)["n_fits_resumed"] == len(before)
    assert len(cells(out)) == N_CELLS and before.items() <= cells(out).items()
    assert results(out) == results(tmp_path / "whole")


def test_resuming_over_another_table_is_refused_naming_both(arguments, tmp_path, command):
    out = tmp_path / "out"
    stopped_at(3, signal.SIGKILL, arguments(out), out)
    before = cells(out)
    other = np.random.default_rng(0).permutation(TABLE.splitlines()[1:])
    (tmp_path / "rows.csv").write_text("\n".join(["a,y", *other]))
    refused = command(*arguments(out, "--resume"))
    assert refused.code == 2
    assert "was started with other settings: other rows (" in " ".join(refused.err.split())
    assert " then and now, but not the same)" in refused.err
    assert "Traceback" not in refused.err
    assert cells(out) == before
    assert not (out / "report.html").exists()


LITTLE_ROOM = """
import resource

resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
"""


def test_a_full_disk_is_reported_and_the_run_resumes_once_there_is_room(arguments, tmp_path, command):
    pytest.importorskip("resource")
    out = tmp_path / "out"
    ended = Forked(LITTLE_ROOM + HELDOUT, *arguments(out))
    _, err = ended.communicate(timeout=120)
    assert ended.returncode == 2, err
    assert "Traceback" not in err
    said = " ".join(err.split())
    assert "the disk is full or failing; what was acknowledged before is safe" in said
    first = cells(out)
    assert 0 < len(first) < N_CELLS
    assert f"Cells that are safe: {len(first)};" in said
    whole = command(*arguments(out, "--resume"))
    assert whole.code == 0 and f"of which {len(first)} are done already" in whole.err
    assert first.items() <= cells(out).items()


def test_a_run_that_goes_on_is_not_taken_over(arguments, tmp_path, command):
    out = tmp_path / "out"
    first = begun(arguments(out), out, 3)  # it cannot be done meanwhile: one of its next fits does not end
    try:
        second = command(*arguments(out, "--resume"))
        status = command("status", out)
    finally:
        first.kill()
        first.wait()
        first.close()
    assert second.code == 2
    assert "Traceback" not in second.err
    assert f"is in use by process {first.pid} on {platform.node()} since" in " ".join(second.err.split())
    assert status.code == 0 and f"running: process {first.pid} on {platform.node()} since" in status.out


# ``heldout validate``: stopped by Ctrl-C or kill -9, then to the end: the same document as in one go.


N_FITS = 41


@pytest.fixture
def table(tmp_path):
    return written_table(tmp_path / "small.csv")


def validation(table, out, *more):
    options = f"--target y --metric roc_auc --metric log_loss --n-bootstraps {N_FITS - 1} --n-jobs 1 --out"
    return ["validate", str(table), *shlex.split(options), str(out), *more]


def test_a_stopped_validation_goes_on_to_the_same_document(tmp_path, table, command):
    assert command(*validation(table, tmp_path / "one_go")).code == 0
    out = tmp_path / "out"

    code, said = stopped_at(10, signal.SIGINT, validation(table, out), out)
    assert code == 130
    again = shlex.join(["heldout", *validation(table, out, "--resume")])
    assert said.strip().endswith(again)
    kept = cells(out)
    assert 10 <= len(kept) < N_FITS

    code, _ = stopped_at(len(kept) + 10, signal.SIGKILL, validation(table, out, "--resume"), out)
    assert code == -signal.SIGKILL
    kept |= cells(out)

    ended = command(*validation(table, out, "--resume"))
    assert ended.code == 0 and f"of which {len(kept)} are done already" in ended.err
    done = cells(out)
    assert len(done) == N_FITS and {number: done[number] for number in kept} == kept  # none was done again
    document, in_one_go = (
        json.loads((folder / "validation.json").read_text()) for folder in (out, tmp_path / "one_go")
    )
    assert document == in_one_go
