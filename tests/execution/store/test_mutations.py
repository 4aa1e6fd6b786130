"""A real run file with one value changed: its readers give the right answer, or say that the file is damaged."""

import json
import os
import shutil
import sqlite3
import warnings
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

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
    with pytest.MonkeyPatch.context() as patch:  # fits of one split are one block, however long they take here
        patch.setattr("heldout.execution.run.COMMIT_AFTER_SECONDS", float("inf"))
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


FORGED = {
    "a row less": (lambda values: values[1:], "of shape"),
    "one row for all": (lambda values: values[:1], "of shape"),
    "an axis more": (lambda values: values[:, None], "of shape"),
    "a code of no class": (lambda values: values + 7, "coded 7 to 8 of 2 classes"),
    "numbers for labels": (lambda values: values * 0.5, "of type float64"),
}


@pytest.mark.parametrize(("forge", "said"), FORGED.values(), ids=FORGED)
def test_predictions_of_another_shape_are_refused_though_their_checksum_is_right(forge, said, copy):
    path = copy()
    with closing(sqlite3.connect(path)) as connection:
        cells = read_block(connection, 1)
        predictions = {name: forge(array) for name, array in cells.predictions.items()}
        connection.execute("DELETE FROM block WHERE number = 1")
        connection.execute(*block_statement(1, 1, replace(cells, predictions=predictions), {1: 1, 2: 2}))
        connection.commit()
    with pytest.raises(StoreError, match=r"is damaged .the block of 2 configurations on 1 split holds ") as caught:
        search(path)
    assert said in str(caught.value)


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


# A run file whose runs or configurations are changed is refused as damaged: cells would get another's name.


X, Y = load_iris(return_X_y=True)
MODELS = [("tree", DecisionTreeClassifier(max_depth=1), {}), ("logistic", LogisticRegression(max_iter=500), {})]


def searched(path: Path, **settings: Any) -> Any:
    given = {"cv": 3, "n_bootstraps": 50, "random_state": 0} | settings
    return ho.HeldOutSearchCV(MODELS, store=path, **given).fit(X, Y)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a finished search."""
    path = tmp_path_factory.mktemp("finished") / "run.db"
    searched(path)
    return path.read_bytes()


def changed(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        for statement in statements:
            connection.execute(statement)


def exchanged(*columns: str) -> list[str]:
    """Statements that exchange columns of the first two configurations."""
    names = ", ".join(columns)
    return [
        f"CREATE TEMP TABLE kept AS SELECT number AS old, {names} FROM configuration ORDER BY number LIMIT 2",
        "UPDATE configuration SET id = 'first' WHERE number = (SELECT min(old) FROM kept)" if "id" in columns else
        "SELECT 1",
        *(
            f"UPDATE configuration SET ({names}) = "
            f"(SELECT {names} FROM kept WHERE old = (SELECT {other}(old) FROM kept)) "
            f"WHERE number = (SELECT {one}(old) FROM kept)"
            for one, other in (("max", "min"), ("min", "max"))
        ),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "statements",
    [
        pytest.param(exchanged("id", "json", "name"), id="two configurations exchanged"),
        pytest.param(exchanged("id"), id="two identities exchanged"),
        pytest.param(exchanged("position"), id="positions exchanged"),
        pytest.param(["UPDATE configuration SET name = 'the best' WHERE position = 0"], id="a name"),
        pytest.param(["UPDATE configuration SET json = replace(json, '1', '2')"], id="parameters"),
        pytest.param(["UPDATE configuration SET note = '{}'"], id="a note"),
        pytest.param(["UPDATE configuration SET checksum = NULL"], id="no checksum"),
        pytest.param(["UPDATE run SET entropy = '00000000000000ff'"], id="the seed"),
        pytest.param(["UPDATE run SET folds = rows"], id="the folds"),
        pytest.param(["UPDATE run SET settings = settings || ' '"], id="the settings"),
        pytest.param(["UPDATE run SET versions = '[{\"heldout\": \"9\"}]'"], id="the versions"),
        pytest.param(["UPDATE run SET checksum = checksum + 1"], id="the checksum"),
    ],
)  # fmt: skip
def test_a_changed_row_is_damage(tmp_path: Path, finished: bytes, statements: list[str]) -> None:
    path = tmp_path / "run.db"
    path.write_bytes(finished)
    changed(path, *statements)
    for attempt in (lambda: searched(path), SQLiteStore(path).estimate_so_far):
        with pytest.raises(StoreError, match=r"is damaged \(the row of .* is not as it was written\)") as refused:
            attempt()
        assert "\n" not in str(refused.value)


def test_what_the_library_changes_itself_is_no_damage(tmp_path: Path) -> None:
    """Other orders, names, further configurations and runs, and a search that grows."""
    path = tmp_path / "run.db"
    first = searched(path)
    assert searched(path).n_fits_ == first.n_fits_ == 6
    backwards = ho.HeldOutSearchCV(MODELS[::-1], store=path, cv=3, n_bootstraps=50, random_state=0).fit(X, Y)
    assert backwards.best_score_ == first.best_score_
    searched(path, random_state=1)
    searched(path)
    with ho.open_search(X, Y, store=tmp_path / "grown.db", cv=3, n_bootstraps=50, random_state=0) as grown:
        for depth in (1, 2, 3):
            grown.evaluate(DecisionTreeClassifier(max_depth=depth, random_state=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert SQLiteStore(tmp_path / "grown.db").estimate_so_far() is not None
    changed(tmp_path / "grown.db", "UPDATE configuration SET name = 'another' WHERE position = 1")
    with pytest.raises(StoreError, match="damaged"):
        SQLiteStore(tmp_path / "grown.db").estimate_so_far()
