"""Make and check the tables of a run file, and the exact encoding of a cell's result.

Numbers that a resumed run computes with must be restored exactly. Predictions are raw little-endian bytes with
their type and shape; scores are JSON text, because SQLite keeps neither the sign of -0.0 (the score of a perfect
regression, negated) nor NaN. Nothing is ever unpickled.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
import zlib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout.data.declared import from_json, of_type
from heldout.errors import StoreError
from heldout.execution.cells import CellKey, CellResult, CellState, Saving
from heldout.metrics.base import Response

SCHEMA_VERSION = 7
APPLICATION_ID = 0x68656C64
"""'held' in ASCII: distinguishes our files from those of other programs."""

TABLES = (
    # versions: a JSON list, one mapping for each change that was accepted; the last is the present one.
    # owner_*: the process that writes the file, or died writing it; NULL once closed.
    # opened, cells_then: when a process last took the run up, and how many cells were acknowledged by then;
    # acknowledged: when a cell last was. These three are for people and decide nothing. checksum: of what decides,
    # see store.identity_rows; never NULL.
    """CREATE TABLE run (
        number INTEGER PRIMARY KEY,
        rows TEXT NOT NULL, folds TEXT NOT NULL, configurations TEXT NOT NULL, settings TEXT NOT NULL,
        entropy TEXT NOT NULL,
        versions TEXT NOT NULL,
        created TEXT NOT NULL,
        owner_host TEXT, owner_pid INTEGER, owner_since TEXT,
        opened TEXT, cells_then INTEGER, acknowledged TEXT, checksum INTEGER
    )""",
    # id: sha256 of the configuration; position, name: in the search that wrote last, no part of identity.
    # note: JSON of what an adaptive search must know to propose it again.
    """CREATE TABLE configuration (
        number INTEGER PRIMARY KEY,
        run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
        id TEXT NOT NULL, position INTEGER NOT NULL, json TEXT NOT NULL, name TEXT, note TEXT,
        checksum INTEGER,
        UNIQUE (run, id)
    )""",
    # scores: {"test": {scorer: score}, "train": {...}}, as repr() writes a float64; with "shared" where the fit was
    # not made alone: {what: [seconds, bytes]}, "complexity" where it was counted: {unit: number}. checksum: of the
    # cell and its predictions, see ``checksum``; never NULL.
    """CREATE TABLE cell (
        number INTEGER PRIMARY KEY,
        configuration INTEGER NOT NULL REFERENCES configuration ON DELETE CASCADE,
        repeat INTEGER NOT NULL, fold INTEGER NOT NULL,
        state TEXT NOT NULL, attempts INTEGER NOT NULL, message TEXT NOT NULL,
        fit_seconds REAL NOT NULL, score_seconds REAL NOT NULL, scores TEXT NOT NULL, checksum INTEGER,
        UNIQUE (configuration, repeat, fold)
    )""",
    # dtype as NumPy writes it ('<f8'), shape a JSON list, blob the C-ordered array.
    """CREATE TABLE prediction (
        cell INTEGER NOT NULL REFERENCES cell ON DELETE CASCADE,
        response TEXT NOT NULL, dtype TEXT NOT NULL, shape TEXT NOT NULL, blob BLOB NOT NULL,
        PRIMARY KEY (cell, response)
    )""",
    # What the run was started with, as the user wrote it: an option and its value. For the sentence on how two runs
    # differ.
    """CREATE TABLE terms (
        run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
        name TEXT NOT NULL, value TEXT NOT NULL,
        PRIMARY KEY (run, name)
    )""",
    # Configurations that were tested on the same splits; their cells have no rows of their own. cells: JSON, the
    # keys of the configurations, [repeat, fold] and test rows of each split, and what each configuration shared.
    """CREATE TABLE block (
        number INTEGER PRIMARY KEY,
        run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
        n_cells INTEGER NOT NULL, cells TEXT NOT NULL, checksum INTEGER NOT NULL
    )""",
    # kind: "prediction" (name: the response), "score" (name: the scorer), or "seconds" (name: "fit" or "score").
    """CREATE TABLE block_array (
        block INTEGER NOT NULL REFERENCES block ON DELETE CASCADE,
        kind TEXT NOT NULL, name TEXT NOT NULL, dtype TEXT NOT NULL, shape TEXT NOT NULL, blob BLOB NOT NULL,
        PRIMARY KEY (block, kind, name)
    )""",
    # What the estimate reads besides the cells; note: JSON, see store.search_note. No row for a protocol's run.
    """CREATE TABLE search (
        run INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE,
        note TEXT NOT NULL, checksum INTEGER NOT NULL
    )""",
    # name: "target", "event", "groups", "weights", "test" or "train".
    """CREATE TABLE search_array (
        run INTEGER NOT NULL REFERENCES search ON DELETE CASCADE,
        name TEXT NOT NULL, dtype TEXT NOT NULL, shape TEXT NOT NULL, blob BLOB NOT NULL,
        PRIMARY KEY (run, name)
    )""",
    # The plan of a run and its dropped configurations, for inspection: a resumed run decides again from its cells.
    """CREATE TABLE plan (
        run INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE,
        n_configurations INTEGER NOT NULL, n_splits INTEGER NOT NULL, n_cells INTEGER NOT NULL,
        n_rows INTEGER, metric TEXT NOT NULL, title TEXT NOT NULL
    )""",
    # race: the repeat of the race's first split, which no other race has; splits: JSON, [repeat, fold] of each as
    # they are met. after: how many of these all remaining configurations had done. risk: NULL for NaN.
    """CREATE TABLE barrier (
        run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
        race INTEGER NOT NULL, after INTEGER NOT NULL, splits TEXT NOT NULL,
        n_rows INTEGER NOT NULL, n_before INTEGER NOT NULL,
        leader INTEGER NOT NULL REFERENCES configuration ON DELETE CASCADE,
        risk REAL, stopped INTEGER NOT NULL,
        PRIMARY KEY (run, race, after)
    )""",
    # Which configurations left at which barrier, and on what evidence. statistic: as repr() writes a float64.
    """CREATE TABLE "drop" (
        configuration INTEGER NOT NULL REFERENCES configuration ON DELETE CASCADE,
        race INTEGER NOT NULL, barrier INTEGER NOT NULL,
        statistic TEXT NOT NULL, reason TEXT NOT NULL,
        PRIMARY KEY (configuration, race)
    )""",
)


def create_tables(connection: sqlite3.Connection) -> None:
    """Make an empty file a run file, inside the transaction that is open."""
    for statement in TABLES:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def unlike_ours(connection: sqlite3.Connection) -> str | None:
    """How the tables of a file differ from ours, in words; None if they do not.

    A view in place of a table could compute for ever, and a trigger could write anything.
    """
    expected = _columns_of_tables()
    found = connection.execute("SELECT type, name, sql, rootpage FROM sqlite_master").fetchall()
    for kind, name, sql, page in found:
        if str(name).startswith(("sqlite_autoindex_", "sqlite_stat")):
            continue
        if kind != "table" or name not in expected or not page:
            return f"it holds the {kind} {name!r}, which no run file has"
        if not isinstance(sql, str) or re.search(r"\bCHECK\b", sql, re.IGNORECASE):
            return f"its table {name!r} is not as heldout makes it"
    lacking = sorted(expected.keys() - {name for _, name, _, _ in found})
    if lacking:
        return f"it lacks the table {lacking[0]!r}"
    others = (name for name, columns in expected.items() if _columns(connection, name) != columns)
    return next((f"its table {name!r} has other columns than heldout makes" for name in others), None)


@cache
def _columns_of_tables() -> dict[str, tuple[Any, ...]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        create_tables(connection)
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {name: _columns(connection, name) for (name,) in names}


def _columns(connection: sqlite3.Connection, table: str) -> tuple[Any, ...]:
    """Name, type, NOT NULL, default, place in the key and whether it is computed, of each column."""
    return tuple(row[1:] for row in connection.execute(f'PRAGMA table_xinfo("{table}")'))


class StoredArray(NamedTuple):
    """An array as columns of a row: its type, its shape and its bytes."""

    dtype: str
    shape: str
    blob: bytes


class PredictionRow(NamedTuple):
    """A row of ``prediction``, without its cell."""

    response: str
    dtype: str
    shape: str
    blob: bytes


class CellRow(NamedTuple):
    """A row of ``cell``, without its number and configuration."""

    repeat: int
    fold: int
    state: str
    attempts: int
    message: str
    fit_seconds: float
    score_seconds: float
    scores: str


class ResultRows(NamedTuple):
    """The rows of a result."""

    cell: CellRow
    predictions: list[PredictionRow]


def encoded(result: CellResult) -> ResultRows:
    """A result as the tables hold it.

    Raises StoreError when a prediction is not an array of numbers.
    """
    cell = CellRow(
        repeat=int(result.key.repeat),
        fold=int(result.key.fold),
        state=str(result.state),
        attempts=int(result.attempts),
        # A file name that is no UTF-8 puts lone surrogates into a message; SQLite cannot hold them.
        message=result.message.encode("utf-8", "backslashreplace").decode(),
        fit_seconds=float(result.fit_seconds) + 0.0,  # SQLite would lose the sign of -0.0
        score_seconds=float(result.score_seconds) + 0.0,
        scores=scores_text(result),
    )
    arrays = result.predictions.items()
    return ResultRows(cell, [PredictionRow(str(name), *stored_array(array, name)) for name, array in arrays])


def checksum(configuration: int, rows: ResultRows) -> int:
    """The checksum of a cell: SQLite itself would not notice a changed bit.

    ``configuration`` is its key in the file.
    """
    found = zlib.crc32(repr((configuration, *rows.cell)).encode())
    for stored in rows.predictions:
        found = zlib.crc32(repr(stored[:3]).encode(), found)
        found = zlib.crc32(stored.blob, found)
    return found


def read_rows(connection: sqlite3.Connection, number: int) -> ResultRows:
    """The rows of a cell.

    Raises ValueError when they are not as they were written.
    """
    configuration, expected, rows = _cell_of(connection, number)
    if expected != checksum(configuration, rows):
        raise ValueError(f"cell {number} is not as it was written")
    return rows


def _cell_of(connection: sqlite3.Connection, number: int) -> tuple[int, int | None, ResultRows]:
    """The configuration's key, the checksum, and what is stored, each value of its type."""
    configuration, expected, *cell = connection.execute(
        "SELECT configuration, checksum, repeat, fold, state, attempts, message, fit_seconds, score_seconds, "
        "scores FROM cell WHERE number = ?",
        (number,),
    ).fetchone()
    predictions = connection.execute(
        "SELECT response, dtype, shape, blob FROM prediction WHERE cell = ? ORDER BY rowid", (number,)
    )
    place = f"cell {number}"
    rows = [of_type(PredictionRow, row, f"{place}, prediction {n}") for n, row in enumerate(predictions)]
    return configuration, expected, ResultRows(of_type(CellRow, cell, place), rows)


@dataclass(frozen=True)
class _Scores:
    """The column ``scores``."""

    test: Mapping[str, float | str]
    train: Mapping[str, float | str]
    shared: Mapping[str, Saving] = field(default_factory=dict)
    complexity: Mapping[str, float] = field(default_factory=dict)


def decoded(rows: ResultRows, configuration: int) -> CellResult:
    """The result that was encoded, for the configuration's present position.

    Raises ValueError when the row is damaged.
    """
    row = rows.cell
    scores = from_json(_Scores, row.scores)
    return CellResult(
        key=CellKey(configuration, row.repeat, row.fold),
        state=CellState(row.state),
        message=row.message,
        fit_seconds=row.fit_seconds,
        score_seconds=row.score_seconds,
        test_scores=_floats(scores.test),
        train_scores=_floats(scores.train),
        predictions={Response(each.response): array_of(StoredArray(*each[1:])) for each in rows.predictions},
        attempts=row.attempts,
        shared=scores.shared,
        complexity=scores.complexity,
    )


def scores_text(result: CellResult) -> str:
    """The column ``scores``."""
    more = {"shared": result.shared, "complexity": result.complexity}
    scores = {"test": _texts(result.test_scores), "train": _texts(result.train_scores)}
    return json.dumps(scores | {name: value for name, value in more.items() if value})


def scores_on_test(text: str) -> dict[str, float]:
    """Of the column ``scores`` the scores on test rows."""
    return _floats(from_json(_Scores, text).test)


def shared_of(text: str) -> Mapping[str, Saving]:
    """Of the column ``scores`` what the cell shared."""
    shared: Mapping[str, Saving] = from_json(_Scores, text).shared
    return shared


def _texts(scores: Mapping[str, float]) -> dict[str, float | str]:
    """Finite numbers as JSON has them (repr is exact), the others as words."""
    values = {name: float(score) for name, score in scores.items()}
    return {name: score if math.isfinite(score) else repr(score) for name, score in values.items()}


def _floats(texts: Mapping[str, float | str]) -> dict[str, float]:
    return {name: float(text) for name, text in texts.items()}


def stored_array(array: NDArray[Any], name: str) -> StoredArray:
    """An array as the tables hold it.

    Raises StoreError when it is not of numbers.
    """
    array = np.asarray(array)
    if array.dtype.kind not in "biuf":
        raise StoreError(
            f"predictions of a stored run must be numbers or class codes, got {name} of type {array.dtype}."
        )
    little = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
    return StoredArray(little.dtype.str, json.dumps(array.shape), little.tobytes())


def array_of(row: StoredArray) -> NDArray[Any]:
    """The array that was stored; raises ValueError when the row is damaged."""
    shape = from_json(tuple[int, ...], row.shape)
    if not re.fullmatch(r"[<|][biuf]\d{1,2}", row.dtype):
        raise ValueError(f"predictions of type {row.dtype[:20]!r}")
    dtype = np.dtype(row.dtype)
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(row.blob):
        raise ValueError(f"predictions of {len(row.blob)} bytes cannot have the shape {row.shape[:40]}")
    # astype copies: an array over the blob itself would be read-only.
    return np.frombuffer(row.blob, dtype).reshape(shape).astype(dtype.newbyteorder("="))
