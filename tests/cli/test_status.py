"""``heldout status``: what it prints, and how it refuses."""

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
OUT = Path("out")
Run = Callable[..., Any]
RACE = [(0, fold) for fold in range(5)]


def open_(rows: str = "1") -> Any:
    OUT.mkdir(exist_ok=True)
    identity = RunIdentity(rows * 64, "2" * 64, "3" * 64, "{}", 7)
    return SQLiteStore(OUT / "run.db").open(identity, [(f"id {i}", "{}") for i in range(N)], resume=True)


def planned(run: Any) -> None:
    run.note_plan(
        PlanNote(N, 5, 40, "score", title="neg_log_loss", n_rows=150, names=[f"model (C={i})" for i in range(N)])
    )


def done(configuration: int, fold: int = 0) -> CellResult:
    scores = {"score": -0.5 + configuration / 100}
    return CellResult(CellKey(configuration, 0, fold), CellState.DONE, test_scores=scores, fit_seconds=30.0)


def half_done() -> None:
    with open_() as run:
        planned(run)
        for configuration in range(7):
            run.record(done(configuration))
        run.record(CellResult(CellKey(7, 0, 0), CellState.FAILED, message="ValueError: no\nroom"))
        left = [Dropped(j, 1, 0.995, "p is 0.995") for j in range(6)]
        run.note_barrier(RACE, Barrier(1, 30, N, 6, (Dropped(7, 1, float("nan"), "it failed"), *left), 0.02))


def rows_of(out: str) -> dict[str, str]:
    """Labels and the first line of what they say."""
    return {line[:13].strip(): line[13:].strip() for line in out.splitlines() if line[:1].strip()}


def test_a_run_with_everything_that_can_be_said(run: Run, document: Run) -> None:
    half_done()
    ended = run("status out")
    assert ended.err == ""
    top, bottom = ended.out.split("\n\n")
    assert top.startswith("file   out/run.db (")
    assert "state  interrupted: 4 fits left; the same command with --resume continues" in top
    rows = rows_of(bottom)
    assert rows["last kept"].startswith("2") and rows["rate"].endswith(" for the rest")
    assert "; at most about " in rows["rate"]
    assert {name: said for name, said in rows.items() if name not in ("run", "last kept", "rate")} == {
        "data": "150 rows, 8 configurations x 5 splits",
        "fits": "8 of 40 done (20%), 1 failed, 28 saved, 4 left",
        "best so far": "log loss 0.4400 (1 split, uncorrected): model (C=6)",
        "dropped": "after 1 of 5 splits (30 rows): 7 of 8; the best was among them with probability 0.02",
        "errors": "1 x ValueError: no room",
        "all fits": "3 min 30 s of fitting and scoring, summed over parallel processes",
    }
    assert "  model (C=0): p is 0.995\n" in bottom and "  and 2 more (--json lists all)" in bottom

    found = document("status out")
    assert found["state"] == "interrupted" and found["owner"] is None
    (run_,) = found["runs"]
    assert (run_["n_done"], run_["n_saved"], run_["n_left"], run_["n_failed"]) == (8, 28, 4, 1)
    assert run_["best"] == {"name": "model (C=6)", "score": -0.44, "n_splits": 1}
    (barrier,) = run_["barriers"]
    assert [left["name"] for left in barrier["left"]] == [f"model (C={i})" for i in [*range(6), 7]]
    assert barrier["left"][-1] == {"name": "model (C=7)", "statistic": None, "reason": "it failed"}
    assert run_["messages"] == {"ValueError: no\nroom": 1}


def test_shared_fits(document: Run, run: Run) -> None:
    with open_() as kept:
        planned(kept)
        kept.record(done(0))
        kept.record(replace(done(1), shared={"steps": Saving(75.0, 2.0**21)}))
    assert rows_of(run("status out").out)["shared"] == (
        "1 of 2 fits, whose common work was done once: about 1 min 15 s and 2.0 MB less than alone"
    )
    (found,) = document("status out")["runs"]
    assert found["n_shared"] == 1
    assert found["shared_fits"] == {"steps": {"n_fits": 1, "seconds": 75.0, "n_bytes": 2**21}}


def test_a_run_of_this_moment_and_one_that_is_finished(run: Run) -> None:
    with open_() as kept:
        planned(kept)
        assert "\nstate  running: process " in run("status out").out
        for configuration in range(N):
            for fold in range(5):
                kept.record(done(configuration, fold))
        kept.note_barrier(RACE, Barrier(1, 30, N, 7))
    out = run("status out").out
    assert "\nstate  finished\n" in out
    assert rows_of(out)["fits"] == "40 of 40 done (100%), 0 left"
    assert rows_of(out)["dropped"] == "none at 1 barrier" and "rate" not in rows_of(out)


def test_a_run_file_several_runs_and_a_dead_one(run: Run) -> None:
    half_done()
    with open_(rows="4") as kept:
        kept.note_plan(PlanNote(N, 1, N, "score"))
        kept.record(done(1))
    out = run("status out/run.db").out
    assert "state  interrupted: 11 fits left" in out and out.count("\n\n") == 2
    assert "run          1, begun 2" in out and "run          2, begun 2" in out
    assert "best so far  -0.4900 (1 split, uncorrected): configuration 1" in out
    with closing(sqlite3.connect(OUT / "run.db")) as connection:
        connection.execute("UPDATE run SET owner_host = 'there', owner_pid = 7, owner_since = '2026-01-01'")
        connection.commit()
    said = "dead: process 7 on there since 2026-01-01 ended without closing it; what was acknowledged is safe"
    assert said in run("status out").out


def watched(command: Run, monkeypatch: pytest.MonkeyPatch, *acts: Callable[[], Any]) -> Any:
    """``status out --watch``, with something done in each pause between two looks."""
    steps = iter(acts)
    clock = SimpleNamespace(perf_counter=time.perf_counter, sleep=lambda seconds: next(steps)())
    monkeypatch.setattr("heldout.cli.status.time", clock)
    return command("status", "out", "--watch")


def test_a_watched_run_is_followed_to_its_end_and_shown_once_when_it_is_over(
    command: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = open_()
    planned(kept)

    def record(*configurations: int) -> None:
        for configuration in configurations:
            for fold in range(5):
                kept.record(done(configuration, fold))
        kept.commit()

    def close() -> None:
        record(*range(1, N))
        kept.close()

    ended = watched(command, monkeypatch, lambda: record(0), lambda: None, close)
    assert (ended.code, ended.err) == (0, "")
    fits = [line.split("  ", 1)[1].strip() for line in ended.out.splitlines() if line.startswith("fits")]
    assert fits == ["0 of 40 done (0%), 40 left", "5 of 40 done (12%), 35 left", "40 of 40 done (100%), 0 left"]
    assert ended.out.count("state  finished") == 1
    assert watched(command, monkeypatch).out == command("status", "out").out


def test_ctrl_c_ends_the_watching_alone(command: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with open_() as kept:
        planned(kept)
        ended = watched(command, monkeypatch, interrupt)
        assert ended.code == 130 and "state  running" in ended.out
        assert ended.err == "\nNo longer watched; the run goes on.\n"
        kept.record(done(0))


def test_a_watched_run_that_goes_away(command: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    OUT.mkdir()
    (OUT / "run.db").write_bytes(b"")  # a file that was only made
    ended = watched(command, monkeypatch, (OUT / "run.db").unlink)
    assert ended.code == 2 and "state  nothing was started yet" in ended.out
    assert ended.err.startswith("Error: there is no run file out/run.db")
