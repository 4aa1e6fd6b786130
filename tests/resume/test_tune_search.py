"""``heldout tune --search random`` and ``--search optuna`` on own models: killed, then to the end as in one go."""

import json
import signal
import sys

import pytest
from stopped_command import cells, stopped_at

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
"""
TABLE = "a,y\n" + "\n".join(f"{(7 * row) % 23 + row / 3},{'yes' if row % 3 else 'no'}" for row in range(40))


@pytest.fixture
def arguments(tmp_path, monkeypatch):
    """The words of a command, with its output folder."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "rows.csv").write_text(TABLE)
    (tmp_path / "models_that_sleep.py").write_text(SPACE)
    usual = ["--target", "y", "--cv", "2", "--n-bootstraps", "40", "--n-jobs", "1", "--metric", "accuracy,roc_auc"]
    own = ["--space", f"{tmp_path / 'models_that_sleep.py'}:space"]
    yield lambda out, *more: ["tune", str(tmp_path / "rows.csv"), *usual, *own, "--out", str(out), *more]
    sys.modules.pop("models_that_sleep", None)


def results(out):
    estimate = json.loads((out / "estimate.json").read_text())
    estimate.pop("provenance")
    for each in estimate["estimates"].values():
        each.pop("provenance")
    return estimate, (out / "predictions.parquet").read_bytes()


@pytest.mark.parametrize("search", [["random", "--n-iter", str(N_TRIALS)], ["optuna", "--n-trials", str(N_TRIALS)]])
def test_stopped_and_resumed_is_the_same_as_in_one_go(arguments, tmp_path, search, command):
    assert command(*arguments(tmp_path / "whole", "--search", *search)).code == 0
    out = tmp_path / "pieces"
    assert stopped_at(5, signal.SIGINT, arguments(out, "--search", *search), out)[0] == 130
    first = cells(out)
    resumed = arguments(out, "--search", *search, "--resume")
    assert stopped_at(len(first) + 5, signal.SIGKILL, resumed, out)[0] == -signal.SIGKILL
    before = cells(out)
    assert 10 <= len(before) < N_CELLS and first.items() <= before.items()

    last = command(*arguments(out, "--search", *search, "--resume", "--json"))
    assert last.code == 0 and json.loads(last.out)["n_fits_resumed"] == len(before)
    assert len(cells(out)) == N_CELLS and before.items() <= cells(out).items()
    assert results(out) == results(tmp_path / "whole")
