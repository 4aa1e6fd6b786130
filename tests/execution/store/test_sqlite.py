"""Runs in a file: recognised, resumed, refused."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from heldout.errors import StoreError
from heldout.execution.cells import CellKey, CellResult, CellState, each_cell
from heldout.execution.store import RunIdentity
from heldout.execution.store.runs import APPLICATION_ID, SCHEMA_VERSION
from heldout.execution.store.sqlite import SQLiteStore
from heldout.metrics.base import Response

IDENTITY = RunIdentity(
    rows="1" * 64,
    folds="2" * 64,
    configurations="3" * 64,
    settings='{"error_score":"nan","scoring":"roc_auc"}',
    entropy=0xFEDCBA9876543210,
    versions={"heldout": "0.1.0", "sklearn": "1.9.1"},
)
CONFIGURATIONS = [("id of a", '{"C":1}'), ("id of b", '{"C":2}'), ("id of c", '{"C":3}')]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.db"


def result(configuration, value=0.5, fold=0):
    return CellResult(
        CellKey(configuration, 0, fold),
        CellState.DONE,
        test_scores={"roc_auc": value},
        predictions={Response.DECISION: np.full(3, value)},
    )


def fill(store, identity=IDENTITY, configurations=CONFIGURATIONS, cells=(0, 1), *, resume=False):
    with store.open(identity, configurations, resume=resume) as run:
        for cell in cells:
            run.record(result(cell, value=cell + 0.25))
        run.commit()


def rows(path, query):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


# What is kept


def test_the_working_folder_may_change_meanwhile(tmp_path, monkeypatch):
    monkeypatch.setattr("heldout.execution.store.sqlite._CHECKPOINT_BYTES", 0)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with SQLiteStore("run.db").open(IDENTITY, CONFIGURATIONS, resume=False) as run:
        monkeypatch.chdir(tmp_path / "elsewhere")
        for cell in range(3):
            run.record(result(cell))
            run.commit()
    assert not list((tmp_path / "elsewhere").iterdir())
    assert rows(tmp_path / "run.db", "SELECT count(*) FROM block") == [(3,)]


def test_recorded_is_not_acknowledged_until_commit(path):
    with SQLiteStore(path).open(IDENTITY, CONFIGURATIONS, resume=False) as run:
        run.record(result(0))
        assert run.acknowledged() == frozenset()
        assert rows(path, "SELECT count(*) FROM block") == [(0,)]
        run.commit()
        assert run.acknowledged() == {CellKey(0, 0, 0)}
        assert rows(path, "SELECT count(*) FROM block") == [(1,)]


def test_big_endian_numbers_come_back_as_the_machines_own(path):
    with SQLiteStore(path).open(IDENTITY, CONFIGURATIONS, resume=False) as run:
        run.record(
            CellResult(CellKey(0, 0, 0), CellState.DONE, predictions={Response.VALUES: np.array([1.5, -2], ">f8")})
        )
        run.commit()
        (got,) = each_cell(run.results())
    assert got.predictions[Response.VALUES].dtype == np.dtype("=f8")
    assert got.predictions[Response.VALUES].tolist() == [1.5, -2.0]


@pytest.mark.parametrize("array", [np.array(["a", "b"]), np.array([{}], dtype=object), np.array([1j])])
def test_what_cannot_be_kept_exactly_is_refused_when_recorded(path, array):
    with SQLiteStore(path).open(IDENTITY, CONFIGURATIONS, resume=False) as run:
        with pytest.raises(StoreError, match="must be numbers or class codes"):
            run.record(CellResult(CellKey(0, 0, 0), CellState.DONE, predictions={Response.LABELS: array}))
        assert list(each_cell(run.results())) == []


def test_a_message_that_is_no_text_is_kept_readably(path):
    with SQLiteStore(path).open(IDENTITY, CONFIGURATIONS, resume=False) as run:
        run.record(CellResult(CellKey(0, 0, 0), CellState.FAILED, message="no file \udcff.csv"))
        run.commit()
        assert next(each_cell(run.results())).message == r"no file \udcff.csv"


def test_closing_commits_once_and_gives_the_file_free(path):
    run = SQLiteStore(path).open(IDENTITY, CONFIGURATIONS, resume=False)
    run.record(result(0))
    run.close()
    run.close()
    assert rows(path, "SELECT count(*) FROM block") == [(1,)]
    assert rows(path, "SELECT owner_host, owner_pid, owner_since FROM run") == [(None, None, None)]


def test_the_file_is_marked_and_safe(path):
    with SQLiteStore(path).open(IDENTITY, CONFIGURATIONS, resume=False) as run:
        assert run._connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
        assert run._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert rows(path, "PRAGMA application_id") == [(APPLICATION_ID,)]
    assert rows(path, "PRAGMA user_version") == [(SCHEMA_VERSION,)]


def test_the_tables_hold_what_a_person_would_look_for(path):
    fill(SQLiteStore(path), cells=[2])
    assert rows(path, "SELECT id, position, json FROM configuration WHERE position = 2") == [
        ("id of c", 2, '{"C":3}')
    ]
    keys = "state", "attempts", "test", "predictions"
    paths = ", ".join(f"json_extract(cells, '$.{key}')" for key in keys)
    assert rows(path, f"SELECT {paths}, length(data) FROM block") == [
        ('[["done"]]', "[[1]]", '{"roc_auc":[[2.25]]}', '{"decision":["<f8",[3,1]]}', 24)
    ]


def test_the_log_is_moved_into_the_file_while_the_run_goes_on(path, monkeypatch):
    monkeypatch.setattr("heldout.execution.store.sqlite._CHECKPOINT_BYTES", 10**6)
    log = path.with_name("run.db-wal")
    with SQLiteStore(path).open(IDENTITY, [(f"id {i}", "{}") for i in range(300)], resume=False) as run:
        for configuration in range(300):
            run.record(
                CellResult(
                    CellKey(configuration, 0, 0),
                    CellState.DONE,
                    predictions={Response.VALUES: np.full(500, configuration * 1.0)},
                )
            )
            run.commit()
        # Without checkpoints all of it is in the log, 7.5 MB.
        assert path.stat().st_size > 10**6
        assert log.stat().st_size < 2 * 10**6
        assert [found.predictions[Response.VALUES][0] for found in each_cell(run.results())] == list(range(300))


# Which run


NINES, SEVENS = "9" * 64, "7" * 64
ACCURACY = '{"error_score":"nan","scoring":"accuracy"}'


@pytest.mark.parametrize(
    "other", [{"rows": NINES}, {"folds": NINES}, {"entropy": 5}, {"settings": ACCURACY}], ids=list
)
def test_another_run_is_added_to_a_file_of_many(path, other):
    store = SQLiteStore(path)
    fill(store)
    other = replace(IDENTITY, **other)
    with store.open(other, CONFIGURATIONS, resume=True) as run:
        assert run.acknowledged() == frozenset()
        run.record(result(2))
    with store.open(IDENTITY, CONFIGURATIONS, resume=True) as run:
        assert run.acknowledged() == {CellKey(0, 0, 0), CellKey(1, 0, 0)}
    with store.open(other, CONFIGURATIONS, resume=True) as run:
        assert run.acknowledged() == {CellKey(2, 0, 0)}


@pytest.mark.parametrize(
    ("stored", "asked", "said"),
    [
        ([{}], {"rows": NINES}, "started with other settings: other rows. Resume"),
        ([{}], {"folds": NINES}, "started with other settings: other folds. Resume"),
        ([{}], {"entropy": 5}, f"random_state {IDENTITY.entropy} then, 5 now"),
        ([{}], {"settings": ACCURACY}, "other settings (scoring roc_auc then, accuracy now). "),
        ([{}], {"configurations": NINES}, "other configurations. Resume"),
        ([{}], {"rows": NINES, "folds": SEVENS}, "started with other settings: other rows; other folds. Resume"),
        ([{"settings": "free text"}], {}, "other settings. Resume"),
        # Of several runs the message speaks of the closest.
        ([{}, {"rows": SEVENS, "folds": SEVENS}], {"folds": NINES}, "with other settings: other folds. Resume"),
    ],
)
def test_another_run_is_refused_by_a_file_of_one_naming_both_sides(path, stored, asked, said):
    for each in stored:
        fill(SQLiteStore(path), replace(IDENTITY, **each))
    configurations = [*CONFIGURATIONS, ("id of d", "{}")] if "configurations" in asked else CONFIGURATIONS
    with pytest.raises(StoreError) as refusal:
        SQLiteStore(path, one_run=True).open(replace(IDENTITY, **asked), configurations, resume=True)
    assert said in str(refusal.value)
    assert str(path) in str(refusal.value)
    assert rows(path, "SELECT count(*) FROM run") == [(len(stored),)]


@pytest.mark.parametrize(("one_run", "other"), [(False, {}), (True, {}), (True, {"rows": NINES})])
def test_without_resume_the_same_run_and_a_second_one_in_a_file_of_one_are_refused(path, one_run, other):
    store = SQLiteStore(path, one_run=one_run)
    fill(store)
    with pytest.raises(StoreError, match="already holds a run with 2 finished cells; resume it"):
        store.open(replace(IDENTITY, **other), CONFIGURATIONS, resume=False)


def test_what_differs_is_said_in_words_where_the_run_has_any(path):
    told = {"rows": "150", "configurations": "3"}
    fill(SQLiteStore(path, one_run=True, terms={"--preset": "quick", "--cv": "5"}), replace(IDENTITY, terms=told))
    other = SQLiteStore(path, one_run=True, terms={"--preset": "standard", "--drop": "bootstrap", "--cv": "5"})
    with pytest.raises(StoreError) as refusal:
        other.open(replace(IDENTITY, rows="9" * 64, terms=told | {"rows": "160"}), CONFIGURATIONS, resume=True)
    assert str(refusal.value) == (
        f"the run file {path} holds a run that was started with other settings: --preset quick then, standard "
        f"now; --drop "
        "not given then, bootstrap now; other rows (150 then, 160 now). Resume it with the same settings, "
        "or use another folder for a new run."
    )
    settings = '{"error_score":"nan","scoring":{}}', '{"error_score":"raise","scoring":{}}'
    fill(SQLiteStore(path), replace(IDENTITY, settings=settings[0], entropy=9), resume=True)
    with pytest.raises(StoreError, match=r": other settings \(error_score nan then, raise now\)\."):
        SQLiteStore(path, one_run=True).open(
            replace(IDENTITY, settings=settings[1], entropy=9), CONFIGURATIONS, resume=True
        )


# Changed code


def test_other_versions_are_refused_naming_both(path):
    fill(SQLiteStore(path))
    changed = replace(IDENTITY, versions={"heldout": "0.1.0", "sklearn": "1.10.0", "source of mine.Model": "ab12"})
    with pytest.raises(StoreError) as refusal:
        SQLiteStore(path).open(changed, CONFIGURATIONS, resume=True)
    assert "sklearn 1.9.1 then, 1.10.0 now; source of mine.Model absent then, ab12 now" in str(refusal.value)
    assert "--accept-changed-code" in str(refusal.value)


def test_accepted_versions_are_recorded_and_are_the_present_ones_from_then_on(path):
    fill(SQLiteStore(path))
    changed = replace(IDENTITY, versions={"heldout": "0.1.0", "sklearn": "1.10.0"})
    fill(SQLiteStore(path, accept_changed_code=True), changed, cells=[2], resume=True)
    assert rows(
        path, "SELECT json_extract(versions, '$[0].sklearn'), json_extract(versions, '$[1].sklearn') FROM run"
    ) == [("1.9.1", "1.10.0")]
    fill(SQLiteStore(path), changed, cells=[], resume=True)
    with pytest.raises(StoreError, match=r"sklearn 1\.10\.0 then, 1\.9\.1 now"):
        SQLiteStore(path).open(IDENTITY, CONFIGURATIONS, resume=True)


# Entropy


def test_the_entropy_that_would_be_resumed(path):
    store = SQLiteStore(path)
    fill(store)
    fill(store, replace(IDENTITY, entropy=5, rows="9" * 64))
    assert store.stored_entropy() == 5  # the latest


def test_asking_for_the_entropy_makes_no_file(path):
    assert SQLiteStore(path).stored_entropy() is None
    assert not path.exists()
