"""The pages of a run: of a search while it runs, after an interruption, and at its end."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import KFold

import heldout as ho
from heldout.cli.server.run_site import RunSite
from heldout.errors import InputError, StoreError
from heldout.execution.store import SQLiteStore
from heldout.report import report_content

pytestmark = pytest.mark.processes
N = 120
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = np.where(X[:, 1] > 0, "yes", "no")
SKILLS = [0.2, 1.1, 1.2, 0.1]


class Watched(ClassifierMixin, BaseEstimator):
    """Scores that depend on the row and the skill; something happens before some of the fits."""

    def __init__(self, skill: float = 1.0) -> None:
        self.skill = skill

    n_fits = 0
    at: dict[int, Callable[[], Any]] = {}  # noqa: RUF012 - of the class, as the search clones its estimator

    def fit(self, X: Any, y: Any) -> Watched:
        Watched.n_fits += 1
        Watched.at.get(Watched.n_fits, lambda: None)()
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X: Any) -> Any:
        return np.where(X[:, 1] > 0, self.skill, -self.skill) + X[:, 0]

    def predict(self, X: Any) -> Any:
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


@pytest.fixture(autouse=True)
def nothing_happens() -> Iterator[None]:
    Watched.n_fits, Watched.at = 0, {}
    yield
    Watched.n_fits, Watched.at = 0, {}


def search(folder: Path, **settings: Any) -> Any:
    """Six folds of four configurations: 24 fits, fold by fold."""
    known = {"scoring": "roc_auc", "cv": KFold(6), "n_bootstraps": 60, "random_state": 5, "share": False}
    folder.mkdir(exist_ok=True)
    return ho.HeldOutSearchCV(Watched(), {"skill": SKILLS}, store=folder / "run.db", **(known | settings))


def interrupt() -> None:
    raise KeyboardInterrupt


def stopped(folder: Path, at: int, **settings: Any) -> None:
    Watched.n_fits, Watched.at = 0, {at: interrupt}
    with pytest.raises(KeyboardInterrupt):
        search(folder, **settings).fit(X, Y)
    Watched.at = {}


def test_live_while_the_run_file_grows(serve: Callable[..., Any], tmp_path: Path) -> None:
    """The pages are asked for in the middle of a search, whose run file is open and locked."""
    folder = tmp_path / "out"
    stopped(folder, 3)
    client = serve(RunSite(folder))
    seen: dict[int, tuple[str, dict[str, Any], dict[str, Any]]] = {}

    def look() -> None:
        progress, estimate = (json.loads(client.get(name).text) for name in ("progress", "estimate"))
        seen[Watched.n_fits] = client.get("").text, progress, estimate

    # Fits are acknowledged in groups, a few times a second: here those before the one that takes so long.
    Watched.n_fits, Watched.at = 2, {3: look, 15: lambda: time.sleep(0.2), 16: look}
    listed = sorted(path.name for path in folder.iterdir())
    whole = search(folder).fit(X, Y)
    (page, early, nothing), (_, later, estimate) = seen.values()

    assert early["state"] == later["state"] == "Running"
    assert early["title"] == "8% out" and "2 of 24 done (8%), 22 left" in early["parts"]["progress"]
    assert "does not have a fold that is complete" in nothing["parts"]["estimate"]
    assert '<h1 id="state" aria-live="polite">Running</h1>' in page and '<script src="live.js">' in page
    done = int(later["title"].split("%")[0])
    assert 8 < done < 100 and later["wait"] >= 2
    assert "The search is unfinished. The estimate rests on " in estimate["parts"]["estimate"]
    assert "95 % confidence interval" in estimate["parts"]["estimate"]
    # The reader took nothing from the writer, and left nothing behind.
    assert sorted(path.name for path in folder.iterdir()) == listed == ["run.db"]
    assert whole.estimate_.to_dict() == search(tmp_path / "alone").fit(X, Y).estimate_.to_dict()


def test_an_interrupted_run_says_so_and_has_an_estimate(serve: Callable[..., Any], tmp_path: Path) -> None:
    stopped(tmp_path / "a <b>", 15)
    before = (tmp_path / "a <b>" / "run.db").read_bytes()
    client = serve(RunSite(tmp_path / "a <b>" / "run.db"))
    progress = json.loads(client.get("progress").text)
    assert progress["state"] == "Interrupted" and not progress["ended"]
    assert "<p>10 fits left; the same command with --resume continues.</p>" in progress["parts"]["progress"]
    still = client.get("still").text
    expected = ho.estimate(SQLiteStore(tmp_path / "a <b>" / "run.db"))
    assert f"{expected.value:.3f}" in still and "The estimate rests on 3 of 6 folds" in still
    assert 'http-equiv="refresh" content="15; url=still"' in still and "<script" not in still
    assert "a &lt;b&gt;" in still and "<b>" not in still
    report = client.get("report")
    assert "script-src &#39;" not in report.text and "The estimate rests on 3 of 6 folds" in report.text
    assert "script-src 'unsafe-inline'" in report.headers["content-security-policy"]
    assert client.get("live.js").headers["content-type"].startswith("text/javascript")
    assert (tmp_path / "a <b>" / "run.db").read_bytes() == before
    assert [path.name for path in (tmp_path / "a <b>").iterdir()] == ["run.db"]


def test_at_its_end_the_report_is_shown(serve: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "out"
    whole = search(folder).fit(X, Y)
    client = serve(RunSite(folder))
    finished = json.loads(client.get("progress").text)
    assert (finished["state"], finished["ended"]) == ("All fits are done", False), "the report may follow"
    os.utime(folder / "run.db", (time.time() - 100,) * 2)
    assert json.loads(client.get("progress").text) == {"ended": True}, "no report follows"
    assert f"{whole.estimate_.value:.3f}" in client.get().text

    content = report_content(whole.evaluation_, title="of the command")
    (folder / "report.json").write_text(json.dumps(content.to_dict()))
    os.utime(folder / "run.db")
    assert json.loads(client.get("progress").text) == {"ended": True}
    assert "of the command" in client.get().text
    # A resumed run is newer than its report.
    long_ago = time.time() - 1000
    os.utime(folder / "report.json", (long_ago,) * 2)
    assert json.loads(client.get("progress").text)["state"] == "All fits are done"

    alone = tmp_path / "report alone"
    alone.mkdir()
    shutil.copy(folder / "report.json", alone)
    assert "of the command" in serve(RunSite(alone)).get().text


def test_a_run_that_goes_away_or_has_no_estimate(serve: Callable[..., Any], tmp_path: Path) -> None:
    folder = tmp_path / "out"
    stopped(folder, 3)
    client = serve(RunSite(folder))
    assert "does not have a fold that is complete" in client.get("estimate").text
    assert client.get("report").status == 400
    (folder / "run.db").rename(folder / "away")
    progress = json.loads(client.get("progress").text)
    assert progress["state"] == "The run cannot be read"
    assert "holds no run file (run.db)" in progress["parts"]["progress"]
    assert client.get().status == 200 and json.loads(client.get("estimate").text)["parts"] == {}


@pytest.mark.parametrize("name", ["nowhere", "empty", "text.csv", "other.db"])
def test_what_is_no_run_is_refused_at_once(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.csv").write_text("a,b\n1,2\n")
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE a (b)").connection.close()
    with pytest.raises((InputError, StoreError), match=r"run file|another program"):
        RunSite(tmp_path / name)
