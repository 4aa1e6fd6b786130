"""What a run says of itself, and files of an older schema."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from heldout.dropping.base import Barrier, Dropped
from heldout.errors import StoreError
from heldout.execution.store import PlanNote, RunIdentity
from heldout.execution.store.file_status import file_status
from heldout.execution.store.opening import APPLICATION_ID
from heldout.execution.store.sqlite import SQLiteStore

IDENTITY = RunIdentity("1" * 64, "2" * 64, "3" * 64, "{}", 7, {"heldout": "0.1.0"})
CONFIGURATIONS = [(f"id {i}", "{}") for i in range(3)]
RACE = [(0, 0), (0, 1), (0, 2)]
BARRIER = Barrier(1, 30, 3, 2, (Dropped(0, 1, 0.995, "p is .995"), Dropped(1, 1, float("nan"), "it failed")), 0.01)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.db"


def open_(path, configurations=CONFIGURATIONS):
    return SQLiteStore(path).open(IDENTITY, configurations, resume=True)


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


def plans(path):
    return [json.loads(plan) for (plan,) in rows(path, "SELECT plan FROM run")]


def test_a_plan_is_there_at_once(path):
    with open_(path) as run:
        run.note_plan(PlanNote(3, 5, 15, "auc", title="roc_auc", n_rows=60, names=("a", "b", "c")))
        assert list(plans(path)[0].values())[:6] == [3, 5, 15, "auc", "roc_auc", 60]
        assert rows(path, "SELECT id, name FROM configuration") == [("id 0", "a"), ("id 1", "b"), ("id 2", "c")]


def test_a_barrier_waits_for_the_next_commit(path):
    with open_(path) as run:
        run.note_plan(PlanNote(3, 3, 9, "score"))
        run.note_barrier(RACE, BARRIER)
        assert rows(path, "SELECT * FROM barrier") == drops(path) == []
        run.commit()
        assert rows(path, "SELECT race, after, splits, n_rows, n_before, leader, risk, stopped FROM barrier") == [
            (0, 1, "[[0, 0], [0, 1], [0, 2]]", 30, 3, 3, 0.01, 0)
        ]
        assert drops(path) == [("id 0", 0, 1, "0.995", "p is .995"), ("id 1", 0, 1, "nan", "it failed")]


def test_numbers_of_numpy_and_odd_texts_are_kept(path):
    left = Dropped(np.int64(1), np.int64(1), np.float64(0.1), "no file \udcff.csv")
    with open_(path) as run:
        run.note_barrier(np.array(RACE), Barrier(np.int64(1), np.int64(30), 3, np.int64(0), (left,), np.nan))
    assert drops(path) == [("id 1", 0, 1, "0.1", r"no file \udcff.csv")]
    assert rows(path, "SELECT risk FROM barrier") == [(None,)]


def test_closing_writes_what_was_noted(path):
    with open_(path) as run:
        run.note_barrier(RACE, BARRIER)
    assert len(drops(path)) == 2


def test_a_resumed_run_decides_again(path):
    """Another rule drops others: what the first one did is forgotten with the new plan."""
    with open_(path) as run:
        run.note_plan(PlanNote(3, 3, 9, "score"))
        run.note_barrier(RACE, BARRIER)
    turned = [CONFIGURATIONS[2], CONFIGURATIONS[0], CONFIGURATIONS[1]]
    with open_(path, turned) as run:
        run.note_plan(PlanNote(3, 3, 9, "score"))
        assert rows(path, "SELECT * FROM barrier") == drops(path) == []
        run.note_barrier(RACE, replace(BARRIER, dropped=(Dropped(0, 1, 0.5, "another rule"),)))
    assert drops(path) == [("id 2", 0, 1, "0.5", "another rule")]


def test_a_barrier_noted_twice_is_there_once(path):
    with open_(path) as run:
        for _ in range(2):
            run.note_barrier(RACE, BARRIER)
            run.commit()
    assert len(drops(path)) == 2


def test_the_plan_of_another_run_in_the_file_stays(path):
    with open_(path) as run:
        run.note_plan(PlanNote(3, 3, 9, "score"))
        run.note_barrier(RACE, BARRIER)
    with SQLiteStore(path).open(replace(IDENTITY, rows="4" * 64), CONFIGURATIONS, resume=True) as run:
        run.note_plan(PlanNote(3, 4, 12, "score"))
    assert [plan["n_cells"] for plan in plans(path)] == [9, 12]
    assert len(drops(path)) == 2


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
