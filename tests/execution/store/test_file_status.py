"""A run file is looked into without being changed, and without disturbing who writes it."""

import json
import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from forked import Forked

from heldout.dropping.base import Barrier, Dropped
from heldout.errors import StoreError
from heldout.execution.cells import CellKey, CellResult, CellState, Saving
from heldout.execution.store import PlanNote, RunIdentity
from heldout.execution.store.file_status import FileState, file_status
from heldout.execution.store.opening import APPLICATION_ID
from heldout.execution.store.sqlite import SQLiteStore

IDENTITY = RunIdentity("1" * 64, "2" * 64, "3" * 64, "{}", 7)
CONFIGURATIONS = [(f"id {i}", "{}") for i in range(4)]
RACE = [(0, 0), (0, 1), (0, 2)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.db"


def open_(path, identity=IDENTITY):
    return SQLiteStore(path).open(identity, CONFIGURATIONS, resume=True)


def cell(configuration, fold, score=0.5, **more):
    scores = {} if score is None else {"score": score}
    key = CellKey(configuration, 0, fold)
    return CellResult(key, CellState.DONE, test_scores=scores, fit_seconds=0.5, score_seconds=0.25, **more)


def failed(configuration, fold, message):
    return CellResult(CellKey(configuration, 0, fold), CellState.FAILED, message=message)


def planned(run, n_cells=12):
    run.note_plan(PlanNote(4, 3, n_cells, "score", title="roc_auc", n_rows=60, names=("a", "b", "c", "d")))


def filled(path, cells):
    with open_(path) as run:
        planned(run)
        for result in cells:
            run.record(result)


def everything_in(folder):
    return {found.name: found.read_bytes() for found in folder.iterdir() if not found.name.endswith("-shm")}


# What it says


def test_an_interrupted_run(path):
    filled(path, [cell(0, 0), failed(1, 0, "other"), failed(2, 0, "ValueError: x"), failed(3, 0, "ValueError: x")])
    status = file_status(path)
    assert status.state is FileState.INTERRUPTED
    (run,) = status.runs
    assert (run.n_done, run.n_failed, run.n_left) == (4, 3, 8)
    assert list(run.messages.items()) == [("ValueError: x", 2), ("other", 1)]


def test_what_a_dropped_configuration_is_spared_was_not_done_before(path):
    """Resumed with a rule: cells that were done without it are no savings."""
    with open_(path) as run:
        planned(run)
        for result in [*(cell(c, 0) for c in range(4)), cell(0, 1)]:
            run.record(result)
        run.note_barrier(RACE, Barrier(1, 20, 4, 3, (Dropped(0, 1, 0.99, "r"), Dropped(1, 1, 0.995, "r")), 0.01))
    (run,) = file_status(path).runs
    assert (run.n_done, run.n_saved, run.n_left) == (5, 3, 4)
    (barrier,) = run.barriers
    assert [barrier[key] for key in ("race", "after", "n_splits", "leader", "risk")] == [0, 1, 3, "d", 0.01]
    assert [tuple(left.values()) for left in barrier["left"]] == [("a", 0.99, "r"), ("b", 0.995, "r")]


def test_a_race_that_ended_for_everybody_saves_the_rest(path):
    with open_(path) as run:
        planned(run)
        for c in range(4):
            run.record(cell(c, 0))
        run.note_barrier(RACE, Barrier(1, 20, 4, 3, (Dropped(0, 1, float("nan"), "r"),), 0.0, stopped=True))
    status = file_status(path)
    (run,) = status.runs
    assert (run.n_saved, run.n_left, status.state) == (8, 0, FileState.FINISHED)
    assert run.barriers[0]["left"][0]["statistic"] is None


def test_races_side_by_side_save_their_own(path):
    second = [(7, 0), (7, 1)]
    with open_(path) as run:
        planned(run, n_cells=20)
        run.note_barrier(second, Barrier(1, 20, 4, 3, (Dropped(2, 1, 1.0, "r"),)))
        run.note_barrier(RACE, Barrier(1, 20, 4, 3, (Dropped(2, 1, 1.0, "r"),)))
        run.note_barrier(RACE, Barrier(2, 40, 3, 3, (Dropped(1, 2, 1.0, "r"),)))
    (run,) = file_status(path).runs
    assert run.n_saved == 1 + 2 + 1
    assert [(barrier["race"], barrier["after"]) for barrier in run.barriers] == [(0, 1), (0, 2), (1, 1)]


def test_the_best_is_compared_on_the_same_splits(path):
    """The first on a further, easier split does not lead for that; nor does a NaN, a failure or one dropped."""
    filled(
        path,
        [
            *(cell(c, 0, score) for c, score in enumerate([0.4, 0.6, 0.9, float("nan")])),
            cell(0, 1, 0.99),
            failed(2, 1, "broken"),
        ],
    )
    (run,) = file_status(path).runs
    # In play on the first split are 0 and 1; the second one only 0 has met, who is half of them.
    assert (run.best.name, run.best.n_splits) == ("a", 2)
    with open_(path) as more:
        more.record(cell(3, 2, 0.1))
    (run,) = file_status(path).runs
    # Now three are in play, and only the first split was met by half of them.
    assert tuple(run.best) == ("b", 0.6, 1)


def test_of_equals_the_first_leads_and_without_scores_nobody(path, tmp_path):
    filled(path, [cell(c, 0, 0.5) for c in (3, 2, 1)])
    assert file_status(path).runs[0].best.name == "b"
    filled(tmp_path / "none.db", [cell(0, 0, None)])
    assert file_status(tmp_path / "none.db").runs[0].best is None


def test_the_rate_is_of_the_cells_since_it_was_taken_up(path):
    filled(path, [cell(0, 0), cell(0, 1)])
    filled(path, [cell(1, 0), cell(2, 0), cell(3, 0)])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE run SET opened = '2026-01-01T00:00:00+00:00'")
        connection.execute("UPDATE run SET acknowledged = '2026-01-01T01:00:06+01:00'")
        connection.commit()
    (run,) = file_status(path).runs
    assert run.cells_per_second == 3 / 6
    assert run.seconds_left == 7 / 0.5


def opened_for(path, seconds):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE run SET opened = '2026-01-01T00:00:00+00:00'")
        connection.execute(f"UPDATE run SET acknowledged = '2026-01-01T00:00:{seconds:02d}+00:00'")
        connection.commit()
    (run,) = file_status(path).runs
    return run


def test_a_group_counts_as_one_in_the_time_left(path):
    """Three configurations of one fit, in one second, and one that takes ten."""
    group = {"shared": {"SVC": Saving(None)}}
    key = [CellKey(j, 0, 0) for j in range(4)]
    cells = [CellResult(key[j], CellState.DONE, fit_seconds=1 / 3, **group) for j in range(3)]
    filled(path, cells)
    assert opened_for(path, 1).seconds_left == pytest.approx(2 * 1 + 3 * 1)  # the other is taken for a second too
    filled(path, [])
    assert opened_for(path, 1).seconds_left is None  # nothing was done since
    path.unlink()
    filled(path, [*cells, CellResult(key[3], CellState.DONE, fit_seconds=10.0)])
    assert opened_for(path, 11).seconds_left == pytest.approx(2 * 11)


def test_of_a_run_that_ended_early_no_time_is_left(path):
    with open_(path) as run:
        planned(run)
        for j in range(4):
            run.record(cell(j, 0))
        run.note_barrier(RACE, Barrier(1, 20, 4, 0, stopped=True))
    run = opened_for(path, 11)
    assert (run.n_left, run.seconds_left) == (0, 0.0)


# What it leaves alone

WRITE = """
import sys, time
from heldout.execution.cells import *
from heldout.execution.store import *
from heldout.execution.store.sqlite import *
identity = RunIdentity("1" * 64, "2" * 64, "3" * 64, "{}", 7)
with SQLiteStore(sys.argv[1]).open(identity, [(f"id {i}", "{}") for i in range(4)], resume=True) as run:
    run.note_plan(PlanNote(4, 1000000, 4000000, "score"))
    for fold in range(1000000):
        run.record(CellResult(CellKey(0, 0, fold), CellState.DONE, test_scores={"score": 0.5}))
        run.commit()
        if not fold:
            print("open", flush=True)
"""


@pytest.fixture
def writer(path):
    """Another process that commits to the file all the time."""
    process = Forked(WRITE, path)
    assert process.stdout.readline() == "open\n"
    yield process
    process.kill()
    process.wait()
    process.close()


def test_a_running_run_goes_on(path, writer):
    counts = []
    while len(counts) < 5 or counts[-1] == counts[0]:
        status = file_status(path)
        assert status.state is FileState.RUNNING
        assert f"process {writer.pid} on " in status.owner
        counts.append(status.runs[0].n_done)
        assert writer.poll() is None
    assert counts == sorted(counts)


def test_a_dead_run_is_left_as_it_died(path, tmp_path, writer):
    file_status(path)
    writer.kill()
    writer.wait()
    before = everything_in(tmp_path)
    assert set(before) == {"run.db", "run.db-wal"}
    first, again = file_status(path), file_status(path)
    assert first == again
    assert first.state is FileState.DEAD
    assert f"process {writer.pid} on " in first.owner
    assert everything_in(tmp_path) == before
    with open_(path) as run:
        assert len(run.acknowledged()) == first.runs[0].n_done


def test_closing_while_somebody_reads_puts_everything_into_the_file(path, tmp_path):
    """So that a copy of the file alone has it all."""
    with open_(path) as run:
        planned(run)
        run.record(cell(0, 0))
        run.commit()
        reader = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
        reader.execute("SELECT * FROM block").fetchall()
    (tmp_path / "copy").mkdir()
    shutil.copy(path, tmp_path / "copy")
    reader.close()
    assert file_status(tmp_path / "copy" / "run.db").runs[0].n_done == 1


ASK = """
import os, sys
from pathlib import Path
from heldout.errors import StoreError
from heldout.execution.store.file_status import file_status
if os.geteuid() == 0:  # root may write everywhere
    try:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    except PermissionError:
        sys.exit("cannot become another user")
try:
    status = file_status(Path(sys.argv[1]))
    print(status.state, status.runs[0].n_done)
except StoreError as error:
    print("refused:", error)
"""


@pytest.fixture
def locked_folder():
    """A folder that nobody may write to; not below pytest's own, which others may not enter."""
    folder = Path(tempfile.mkdtemp(prefix="heldout-test-"))
    yield folder
    folder.chmod(0o700)
    shutil.rmtree(folder)


def asked_without_rights(path):
    """What a process says that may only read the folder."""
    path.parent.chmod(0o555)
    for found in path.parent.iterdir():
        found.chmod(0o444)
    process = Forked(ASK, path)
    printed, errors = process.communicate()
    if "cannot become another user" in errors:
        pytest.skip("cannot become another user")
    assert (process.returncode, errors) == (0, "")
    return printed.strip()


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_closed_run_in_a_read_only_folder(locked_folder):
    filled(locked_folder / "run.db", [cell(0, 0), cell(1, 0)])
    assert asked_without_rights(locked_folder / "run.db") == "interrupted 2"
    assert [found.name for found in locked_folder.iterdir()] == ["run.db"]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("with_index", [True, False])
def test_a_dead_run_in_a_read_only_folder(locked_folder, path, writer, with_index):
    writer.kill()
    writer.wait()
    for found in ["run.db", "run.db-wal", *(["run.db-shm"] if with_index else [])]:
        shutil.copy(path.with_name(found), locked_folder)
    n_done = file_status(path).runs[0].n_done
    said = asked_without_rights(locked_folder / "run.db")
    if with_index:
        assert said == f"unknown {n_done}"
    else:
        assert "has a log beside it (run.db-wal) that cannot be read in a folder that is read-only" in said


# What it refuses


def test_no_file(path):
    with pytest.raises(StoreError, match="there is no run file"):
        file_status(path)
    assert not path.exists()


# What a run says of itself, and files of an older schema.


BARRIER = Barrier(1, 30, 3, 2, (Dropped(0, 1, 0.995, "p is .995"), Dropped(1, 1, float("nan"), "it failed")), 0.01)


def rows(path, query):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def drops(path):
    """The id of each dropped configuration, its race, barrier, statistic and reason."""
    ids = dict(rows(path, "SELECT number, id FROM configuration"))
    return [
        (ids[key], race, after, statistic, reason)
        for race, after, dropped in rows(path, "SELECT race, after, dropped FROM barrier")
        for key, statistic, reason in json.loads(dropped)
    ]


def test_a_barrier_waits_for_the_next_commit(path):
    with open_(path) as run:
        run.note_plan(PlanNote(3, 3, 9, "score"))
        run.note_barrier(RACE, BARRIER)
        assert rows(path, "SELECT * FROM barrier") == drops(path) == []
        run.commit()
        assert rows(path, "SELECT race, after, splits, n_rows, n_before, leader, risk, stopped FROM barrier") == [
            (0, 1, "[[0, 0], [0, 1], [0, 2]]", 30, 3, 3, 0.01, 0)
        ]
        run.note_barrier(RACE, BARRIER)  # twice: it is there once
        run.commit()
        assert drops(path) == [("id 0", 0, 1, "0.995", "p is .995"), ("id 1", 0, 1, "nan", "it failed")]


def test_numbers_of_numpy_and_odd_texts_are_kept(path):
    left = Dropped(np.int64(1), np.int64(1), np.float64(0.1), "no file \udcff.csv")
    with open_(path) as run:
        run.note_barrier(np.array(RACE), Barrier(np.int64(1), np.int64(30), 3, np.int64(0), (left,), np.nan))
    assert drops(path) == [("id 1", 0, 1, "0.1", r"no file \udcff.csv")]
    assert rows(path, "SELECT risk FROM barrier") == [(None,)]


def test_a_resumed_run_decides_again(path):
    """Another rule drops others: what the first one did is forgotten with the new plan."""
    with open_(path) as run:
        run.note_plan(PlanNote(3, 3, 9, "score"))
        run.note_barrier(RACE, BARRIER)
    turned = [CONFIGURATIONS[2], *CONFIGURATIONS[:2], CONFIGURATIONS[3]]
    with SQLiteStore(path).open(IDENTITY, turned, resume=True) as run:
        run.note_plan(PlanNote(3, 3, 9, "score"))
        assert rows(path, "SELECT * FROM barrier") == drops(path) == []
        run.note_barrier(RACE, replace(BARRIER, dropped=(Dropped(0, 1, 0.5, "another rule"),)))
    assert drops(path) == [("id 2", 0, 1, "0.5", "another rule")]


def test_a_disk_that_is_full_for_a_plan_is_said(path):
    run = open_(path)
    (pages,) = run._connection.execute("PRAGMA page_count").fetchone()
    run._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match="database or disk is full"), run:
        run.note_plan(PlanNote(3, 3, 9, "score", names=("x" * 100_000,) * 3))


# A file of an older schema


@pytest.mark.parametrize(
    ("versions", "writer"),
    [
        ('[{"heldout": "0.0.9"}, {"heldout": "0.1.0"}]', "heldout 0.1.0;"),
        ('[{"numpy": "2.0"}]', "an older heldout;"),
        ('[{"heldout": "a\\nb"}]', "an older heldout;"),
        ("no JSON", "an older heldout;"),
    ],
)
def test_an_older_file_is_refused_unchanged(path, versions, writer):
    open_(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE run SET versions = ?", (versions,))
        connection.execute("DROP TABLE search")
        connection.execute("PRAGMA user_version = 7")
        connection.commit()
    before = path.read_bytes()
    store = SQLiteStore(path)
    for act in (open_, file_status, lambda _: store.stored_entropy(), lambda _: store.estimate_so_far()):
        with pytest.raises(StoreError, match="has schema 7, written by") as refused:
            act(path)
        assert writer in str(refused.value) and "\n" not in str(refused.value)
    assert path.read_bytes() == before


def test_a_file_of_no_schema_is_damaged(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("CREATE TABLE run (number)")
    with pytest.raises(StoreError, match=r"is damaged \(it has schema 0\)"):
        open_(path)
