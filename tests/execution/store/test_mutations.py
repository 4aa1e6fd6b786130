"""A real run file with one value changed: its readers give the right answer, or say that the file is damaged."""

import json
import os
import shutil
import sqlite3
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

import heldout as ho
from heldout.cli.status import document_of, file_rows, run_rows
from heldout.errors import InputError, StoreError
from heldout.execution.cells import each_cell
from heldout.execution.store import RunIdentity, opening
from heldout.execution.store.file_status import file_status
from heldout.execution.store.runs import read_block, stored_runs
from heldout.execution.store.sqlite import SQLiteStore, block_statement

DEEP = "[" * 100_000
VALUES = (b"\xff\x00", float("inf"), DEEP, "9" * 5000)
MORE = (None, "x", -1, 2**62, "[]")
OF_JSON = ("{}", "null", '[{"a": 1}]', "[[1]]", "[-1]", '{"test": {"score": 1e999}, "train": {}}')
JSON = (
    *VALUES,
    "{}",
    "null",
    '[{"a": 1}]',
    "[[1]]",
    "[-1]",
    '{"test": ' * 50_000,
    '{"test": {"score": 1e999}, "train": {}}',
)
JSON = ("settings", "versions", "terms", "plan", "cells", "arrays", "splits", "dropped", "json", "note")
COLUMNS = {
    "run": "number rows folds configurations settings entropy versions created terms owner_host owner_pid "
    "owner_since plan opened cells_then acknowledged",
    "configuration": "number run id position json name",
    "block": "number run n_cells cells checksum data",
    "barrier": "run race after splits n_rows n_before leader risk stopped dropped",
    "search": "run note arrays checksum data",
}
FOR_PEOPLE = ("barrier", "search")  # no resumed run reads these
PLACES = [(table, column) for table, columns in COLUMNS.items() for column in columns.split()]


def search(path: Path) -> ho.HeldOutSearchCV:
    X, y = np.zeros((60, 1)), np.tile([0, 0, 0, 0, 1], 12)
    made = ho.HeldOutSearchCV(
        DummyClassifier(strategy="constant"), {"constant": [0, 1]}, cv=6, drop="bootstrap", n_bootstraps=20,
        store=SQLiteStore(path, one_run=True), random_state=0,
    )  # fmt: skip
    return made.fit(X, y)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run file, what it is asked for, and what it gives."""
    path = tmp_path_factory.mktemp("whole") / "run.db"
    search(path)
    with closing(sqlite3.connect(path)) as connection:
        (run,) = stored_runs(connection)
        ids = connection.execute("SELECT id, json FROM configuration ORDER BY position").fetchall()
        for table in COLUMNS:
            assert connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0], f"{table} holds nothing"
    parts = (run.row[part] for part in ("rows", "folds", "configurations", "settings"))
    identity = RunIdentity(*parts, run.entropy, run.versions[-1])
    return path, identity, ids, resumed(path, identity, ids)


@pytest.fixture
def copy(whole, tmp_path):
    def made(number: int = 0) -> Path:
        path = tmp_path / f"{number}.db"
        return Path(shutil.copyfile(whole[0], path))

    return made


def resumed(path, identity, ids):
    """What a run that is resumed reads, to the last bit."""
    with SQLiteStore(path, one_run=True).open(identity, ids, resume=True) as run:
        return [
            (repr(replace(cell, predictions={})), [array.tobytes() for array in cell.predictions.values()])
            for cell in each_cell(run.results())
        ]


def shown(path):
    """What heldout status prints."""
    status = file_status(path)
    for run in status.runs:
        assert run_rows(run, is_one_of_several=True)
    assert file_rows(status)
    return json.loads(json.dumps(document_of(status)))


def check_sentence(error: InputError, *, also: str = "damaged") -> None:
    sentence = str(error)
    assert "\n" not in sentence and len(sentence) < 600
    assert "damaged" in sentence or also in sentence, sentence


def change(path: Path, table: str, column: str, value: object) -> None:
    """Write a value, NULL where there must be none too: as a disk or a person may, who do not ask SQLite."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA journal_mode = MEMORY")
        (written,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        redefine(connection, table, written.replace("NOT NULL", ""))
        with suppress(sqlite3.Error):  # a key is a whole number whatever happens
            connection.execute(f'UPDATE "{table}" SET {column} = ? WHERE rowid = 1', (value,))
        redefine(connection, table, written)
        connection.execute("PRAGMA journal_mode = DELETE")


def redefine(connection: sqlite3.Connection, table: str, statement: str) -> None:
    (version,) = connection.execute("PRAGMA schema_version").fetchone()
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (statement, table))
    connection.execute(f"PRAGMA schema_version = {version + 1}")
    connection.execute("PRAGMA writable_schema = RESET")


@pytest.mark.parametrize("values", [VALUES, pytest.param(MORE, marks=pytest.mark.slow)], ids=["some", "more"])
@pytest.mark.parametrize(("table", "column"), PLACES)
def test_a_changed_value_is_found_or_harmless(table, column, values, whole, copy):
    _, identity, ids, before = whole
    for number, value in enumerate((*values, *OF_JSON) if column in JSON else values):
        mutated = copy(number)
        change(mutated, table, column, value)
        try:
            shown(mutated)
        except StoreError as error:
            check_sentence(error)
        try:
            assert SQLiteStore(mutated).estimate_so_far().metric == "accuracy"
        except StoreError as error:
            check_sentence(error, also="the run in ")
        try:
            assert table in FOR_PEOPLE or resumed(mutated, identity, ids) == before, value
        except StoreError as error:
            check_sentence(error, also="holds a run that was started with other settings: ")


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("run", "versions", "[]"),
        ("run", "versions", DEEP),
        ("run", "settings", DEEP),
        ("run", "entropy", "9" * 5000),
        ("block", "checksum", None),
        ("block", "cells", DEEP),
        ("block", "n_cells", float("inf")),
        ("block", "data", "text"),
    ],
)
def test_a_changed_value_ends_a_resumed_search_in_one_sentence(table, column, value, copy):
    path = copy()
    change(path, table, column, value)
    with pytest.raises(StoreError, match=r"is damaged|was started with other settings: other settings") as caught:
        search(path)
    check_sentence(caught.value, also="holds a run that was started with other settings: ")


FORGED = {
    "a row less": lambda values: values[1:],
    "one row for all": lambda values: values[:1],
    "an axis more": lambda values: values[:, None],
    "a code of no class": lambda values: values + 7,
    "numbers for labels": lambda values: values * 0.5,
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_predictions_of_another_shape_are_refused_though_their_checksum_is_right(forge, copy):
    path = copy()
    with closing(sqlite3.connect(path)) as connection:
        cells = read_block(connection, 1)
        predictions = {name: forge(array) for name, array in cells.predictions.items()}
        connection.execute("DELETE FROM block WHERE number = 1")
        connection.execute(*block_statement(1, 1, replace(cells, predictions=predictions), {1: 1, 2: 2}))
        connection.commit()
    with pytest.raises(
        StoreError, match=r"the run file is damaged .the block of 2 configurations on 1 split holds "
    ):
        search(path)


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
STRUCTURES = {
    "a view in a table's place": f"ALTER TABLE run RENAME TO r; CREATE VIEW run AS {ENDLESS}",
    "a view": f"CREATE VIEW more AS {ENDLESS}",
    "a trigger": "CREATE TRIGGER t AFTER UPDATE ON run BEGIN DELETE FROM block; END",
    "a table": "CREATE TABLE mine (a)",
    "an index": "CREATE INDEX i ON block (cells)",
    "a column": "ALTER TABLE block ADD COLUMN more TEXT",
    "a computed column": "ALTER TABLE block ADD COLUMN more AS (cells || cells)",
    "no table": "DROP TABLE barrier",
    "a check": "DROP TABLE barrier; CREATE TABLE barrier (run INTEGER PRIMARY KEY, CHECK (run > 0))",
}


@pytest.mark.parametrize("statements", STRUCTURES.values(), ids=STRUCTURES)
def test_other_tables_than_ours_are_refused_before_they_are_read(statements, whole, copy):
    _, identity, ids, _ = whole
    path = copy()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statements)
    before = path.read_bytes()
    for read in (shown, lambda path: resumed(path, identity, ids), lambda path: SQLiteStore(path).stored_entropy()):
        with pytest.raises(StoreError, match="is damaged") as caught:
            read(path)
        check_sentence(caught.value)
    assert path.read_bytes() == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize("beside", ["", "-wal", "-journal"])
def test_a_pipe_is_not_waited_for(beside, whole, copy):
    _, identity, ids, _ = whole
    path = copy()
    pipe = path.with_name(path.name + beside)
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    for read in (shown, lambda path: resumed(path, identity, ids), lambda path: SQLiteStore(path).stored_entropy()):
        with pytest.raises(StoreError, match="is a pipe, and must be a file"):
            read(path)


def test_reading_that_does_not_end_is_ended(copy, monkeypatch):
    monkeypatch.setattr(opening, "_STEPS_AT_LEAST", 0)
    monkeypatch.setattr(opening, "_STEP", 10)
    with pytest.raises(StoreError, match=r"is damaged .reading it does not end"):
        shown(copy())
