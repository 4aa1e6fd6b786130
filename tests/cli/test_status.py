"""``heldout status``: what it prints, and how it refuses."""

import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from heldout.dropping.base import Barrier, Dropped
from heldout.execution.cells import CellKey, CellResult, CellState, Saving
from heldout.execution.store import PlanNote, RunIdentity
from heldout.execution.store.sqlite import SQLiteStore

IDENTITY = RunIdentity("1" * 64, "2" * 64, "3" * 64, "{}", 7)
N = 8
RACE = [(0, fold) for fold in range(5)]


def open_(folder: Path, rows: str = "1") -> Any:
    folder.mkdir(exist_ok=True)
    identity = RunIdentity(rows * 64, "2" * 64, "3" * 64, "{}", 7)
    return SQLiteStore(folder / "run.db").open(identity, [(f"id {i}", "{}") for i in range(N)], resume=True)


def planned(run: Any) -> None:
    run.note_plan(
        PlanNote(N, 5, 40, "score", title="neg_log_loss", n_rows=150, names=[f"model (C={i})" for i in range(N)])
    )


def done(configuration: int, fold: int = 0) -> CellResult:
    scores = {"score": -0.5 + configuration / 100}
    return CellResult(CellKey(configuration, 0, fold), CellState.DONE, test_scores=scores, fit_seconds=30.0)


def half_done(folder: Path) -> None:
    with open_(folder) as run:
        planned(run)
        for configuration in range(7):
            run.record(done(configuration))
        run.record(CellResult(CellKey(7, 0, 0), CellState.FAILED, message="ValueError: no\nroom"))
        left = [Dropped(j, 1, 0.995, "p is 0.995") for j in range(6)]
        run.note_barrier(RACE, Barrier(1, 30, N, 6, (Dropped(7, 1, float("nan"), "it failed"), *left), 0.02))


def rows_of(out: str) -> dict[str, str]:
    """Labels and the first line of what they say."""
    return {line[:13].strip(): line[13:].strip() for line in out.splitlines() if line[:1].strip()}


def test_a_run_with_everything_that_can_be_said(command: Callable[..., Any], tmp_path: Path) -> None:
    half_done(tmp_path / "out")
    ended = command("status", "out")
    assert (ended.code, ended.err) == (0, "")
    top, bottom = ended.out.split("\n\n")
    assert top.startswith("file   out/run.db (")
    assert "state  interrupted: 4 fits left; the same command with --resume continues" in top
    rows = rows_of(bottom)
    assert rows["data"] == "150 rows, 8 configurations x 5 splits"
    assert rows["fits"] == "8 of 40 done (20%), 1 failed, 28 saved, 4 left"
    assert rows["best so far"] == "log loss 0.4400 (1 split, uncorrected): model (C=6)"
    assert rows["dropped"] == (
        "after 1 of 5 splits (30 rows): 7 of 8; the best was among them with probability 0.02"
    )
    assert "  model (C=0): p is 0.995\n" in bottom
    assert "  and 2 more (--json lists all)" in bottom
    assert rows["errors"] == "1 x ValueError: no room"
    assert rows["all fits"] == "3 min 30 s of fitting and scoring, summed over parallel processes"
    assert rows["last kept"].startswith("2")
    assert rows["rate"].endswith(" for the rest")
    assert "; at most about " in rows["rate"]


def test_the_document(command: Callable[..., Any], tmp_path: Path) -> None:
    half_done(tmp_path / "out")
    ended = command("status", "out", "--json")
    document = json.loads(ended.out)
    assert document["state"] == "interrupted"
    assert document["owner"] is None
    (run,) = document["runs"]
    assert (run["n_done"], run["n_saved"], run["n_left"], run["n_failed"]) == (8, 28, 4, 1)
    assert run["best"] == {"name": "model (C=6)", "score": -0.44, "n_splits": 1}
    (barrier,) = run["barriers"]
    assert [left["name"] for left in barrier["left"]] == [f"model (C={i})" for i in [*range(6), 7]]
    assert barrier["left"][-1] == {"name": "model (C=7)", "statistic": None, "reason": "it failed"}
    assert run["messages"] == {"ValueError: no\nroom": 1}


def test_shared_fits(command: Callable[..., Any], tmp_path: Path) -> None:
    with open_(tmp_path / "out") as run:
        planned(run)
        run.record(done(0))
        run.record(replace(done(1), shared={"steps": Saving(75.0, 2.0**21)}))
    out = command("status", "out").out
    assert rows_of(out)["shared"] == (
        "1 of 2 fits, whose common work was done once: about 1 min 15 s and 2.0 MB less than alone"
    )
    (document,) = json.loads(command("status", "out", "--json").out)["runs"]
    assert document["n_shared"] == 1
    assert document["shared_fits"] == {"steps": {"n_fits": 1, "seconds": 75.0, "n_bytes": 2**21}}


def test_a_run_of_this_moment_and_one_that_is_finished(command: Callable[..., Any], tmp_path: Path) -> None:
    with open_(tmp_path / "out") as run:
        planned(run)
        assert "\nstate  running: process " in command("status", "out").out
        for configuration in range(N):
            for fold in range(5):
                run.record(done(configuration, fold))
        run.note_barrier(RACE, Barrier(1, 30, N, 7))
    out = command("status", "out").out
    assert "\nstate  finished\n" in out
    assert rows_of(out)["fits"] == "40 of 40 done (100%), 0 left"
    assert rows_of(out)["dropped"] == "none at 1 barrier"
    assert "rate" not in rows_of(out)


def test_a_run_file_and_several_runs(command: Callable[..., Any], tmp_path: Path) -> None:
    half_done(tmp_path / "out")
    with open_(tmp_path / "out", rows="4") as run:
        run.note_plan(PlanNote(N, 1, N, "score"))
        run.record(done(1))
    out = command("status", "out/run.db").out
    assert "state  interrupted: 11 fits left" in out
    assert out.count("\n\n") == 2
    assert "run          1, begun 2" in out
    assert "run          2, begun 2" in out
    assert "best so far  -0.4900 (1 split, uncorrected): configuration 1" in out


def test_a_dead_run(command: Callable[..., Any], tmp_path: Path) -> None:
    half_done(tmp_path / "out")
    with closing(sqlite3.connect(tmp_path / "out" / "run.db")) as connection:
        connection.execute("UPDATE run SET owner_host = 'there', owner_pid = 7, owner_since = '2026-01-01'")
        connection.commit()
    said = "dead: process 7 on there since 2026-01-01 ended without closing it; what was acknowledged is safe"
    assert said in command("status", "out").out


def test_a_file_that_was_only_made(command: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "run.db").write_bytes(b"")
    assert "state  nothing was started yet" in command("status", ".").out


def watched(command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, *acts: Callable[[], Any]) -> Any:
    """``status out --watch``, with something done in each pause between two looks."""
    steps = iter(acts)
    clock = SimpleNamespace(perf_counter=time.perf_counter, sleep=lambda seconds: next(steps)())
    monkeypatch.setattr("heldout.cli.status.time", clock)
    return command("status", "out", "--watch")


def test_a_watched_run_is_followed_to_its_end(
    command: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = open_(tmp_path / "out")
    planned(run)

    def record(*configurations: int) -> None:
        for configuration in configurations:
            for fold in range(5):
                run.record(done(configuration, fold))
        run.commit()

    def close() -> None:
        record(*range(1, N))
        run.close()

    ended = watched(command, monkeypatch, lambda: record(0), lambda: None, close)
    assert (ended.code, ended.err) == (0, "")
    fits = [line.split("  ", 1)[1].strip() for line in ended.out.splitlines() if line.startswith("fits")]
    assert fits == ["0 of 40 done (0%), 40 left", "5 of 40 done (12%), 35 left", "40 of 40 done (100%), 0 left"]
    assert ended.out.count("state  finished") == 1


def test_a_watched_run_that_is_over_is_shown_once(
    command: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    half_done(tmp_path / "out")
    ended = watched(command, monkeypatch)
    assert (ended.code, ended.out) == (0, command("status", "out").out)


def test_ctrl_c_ends_the_watching_alone(
    command: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with open_(tmp_path / "out") as run:
        planned(run)
        ended = watched(command, monkeypatch, interrupt)
        assert ended.code == 130 and "state  running" in ended.out
        assert ended.err == "\nNo longer watched; the run goes on.\n"
        run.record(done(0))


def test_a_watched_run_that_goes_away(
    command: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "run.db").write_bytes(b"")
    ended = watched(command, monkeypatch, (tmp_path / "out" / "run.db").unlink)
    assert ended.code == 2 and "state  nothing was started yet" in ended.out
    assert ended.err.startswith("Error: there is no run file out/run.db")


def test_a_run_of_tune(command: Callable[..., Any], table: Callable[..., Path], tiny_space: None) -> None:
    told = ["--target", "outcome", "--cv", 2, "--n-bootstraps", 20, "--n-jobs", 1, "--out", "out", "--quiet"]
    assert command("tune", table(), *told).code == 0
    rows = rows_of(command("status", "out").out)
    assert rows["data"] == "60 rows, 2 configurations x 2 splits"
    assert rows["fits"] == "4 of 4 done (100%), 0 left"
    assert rows["best so far"].startswith("ROC AUC 0.")
    assert "mean of 2 splits" in rows["best so far"]
