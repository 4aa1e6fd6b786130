"""The tables of a run file, and the rows of a run in them, read by name and checked.

Nothing in a row is trusted: a person or a failing disk may have changed it. Nothing is ever unpickled. The plan and
the barriers are notes for inspection (``store.file_status``): a resumed run does not read them.
"""

import math
import re
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from heldout._types import Array
from heldout.data.declared import from_json, of_type
from heldout.dropping.base import Barrier, Dropped
from heldout.execution.cells import COLUMNS, CellResult, CellState, CellTable, Saving, given_scores
from heldout.execution.store import PlanNote, SearchNote
from heldout.folds.splits import Place
from heldout.metrics.base import Response


class ArrayHead(NamedTuple):
    """The type of an array as NumPy writes it ('<f8'), and its shape."""

    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class _Cells:
    """The column ``cells`` of a block.

    Columns that are one value a cell are lists by configuration and split; one of values that are the same on all
    splits holds each once.
    """

    configurations: tuple[int, ...]
    """Their keys in the file."""
    places: tuple[Place, ...]
    sizes: tuple[int, ...]
    state: tuple[tuple[CellState, ...], ...]
    message: tuple[tuple[str, ...], ...]
    fit_seconds: tuple[tuple[float, ...], ...]
    score_seconds: tuple[tuple[float, ...], ...]
    attempts: tuple[tuple[int, ...], ...]
    shared: tuple[tuple[Mapping[str, Saving], ...], ...]
    complexity: tuple[tuple[Mapping[str, float], ...], ...]
    test: Mapping[str, Any]
    train: Mapping[str, Any]
    """Scores by scorer, which need not be finite."""
    predictions: Mapping[Response, ArrayHead]
    data: int
    """The checksum of their bytes."""


def block_numbers(connection: sqlite3.Connection, run: int) -> list[int]:
    """The keys of the blocks of a run, in the order in which they were written."""
    rows = rows_of(connection, "block", "run = ? ORDER BY number", run, columns="number")
    return [row["number"] for row in rows]


def read_block(connection: sqlite3.Connection, number: int, *, with_predictions: bool = True) -> CellTable:
    """A block of the file, its configurations by their keys there.

    Raises ValueError when it is not as it was written.
    """
    columns = "number, run, n_cells, cells, checksum" + (", data" if with_predictions else "")
    (row,) = rows_of(connection, "block", "number = ?", number, columns=columns)
    if row["checksum"] != checksum(*row[:4]):
        raise ValueError(f"block {number} is not as it was written")
    cells = from_json(_Cells, row["cells"])
    shape = len(cells.configurations), len(cells.places)
    if row["n_cells"] != math.prod(shape) or len(cells.sizes) != shape[1]:
        raise ValueError(f"a block of {row['n_cells']} cells cannot have the shape {shape}")
    predictions: dict[Response, Array] = {}
    if with_predictions:
        if zlib.crc32(row["data"]) != cells.data:
            raise ValueError(f"block {number} is not as it was written")
        predictions = unpacked(cells.predictions, row["data"])
    table = CellTable.empty(cells.configurations, cells.places, predictions=predictions, sizes=cells.sizes)
    for of_scorers, scores in ((table.test_scores, cells.test), (table.train_scores, cells.train)):
        for name, values in scores.items():
            of_scorers[name] = given_scores(_column(values, np.float64, shape))
    for name, dtype in COLUMNS.items():
        table.columns[name] = _column(getattr(cells, name), dtype, shape)
    return table


def _column(values: Any, dtype: Any, shape: tuple[int, int]) -> Array:
    column = np.array(values, dtype=dtype)
    if column.shape not in (shape, (shape[0], 1)):
        raise ValueError(f"a block of the shape {shape} cannot have a column of the shape {column.shape}")
    return column


def unpacked(heads: Mapping[Any, ArrayHead], data: bytes) -> dict[Any, Array]:
    """The arrays that were packed; raises ValueError when they are damaged."""
    arrays, start = {}, 0
    for name, (kind, shape) in heads.items():
        if not re.fullmatch(r"[<|][biuf]\d{1,2}", kind) or min(shape, default=0) < 0:
            raise ValueError(f"predictions of type {kind[:20]!r} and shape {str(shape)[:40]}")
        # A copy, because an array over the bytes themselves would be read-only.
        arrays[name] = np.ndarray(shape, kind, data, start).astype(np.dtype(kind).newbyteorder("="))
        start += arrays[name].nbytes
    return arrays


def read_search(connection: sqlite3.Connection, run: int) -> SearchNote | None:
    """The note of a run; None where it has none.

    Raises ValueError when it is not as it was written.
    """
    for row in rows_of(connection, "search", "run = ?", run):
        if row["checksum"] != checksum(*row[:3], row["data"]):
            raise ValueError("the note on the search is not as it was written")
        return SearchNote(row["note"], unpacked(from_json(Mapping[str, ArrayHead], row["arrays"]), row["data"]))
    return None


class Member(NamedTuple):
    """A configuration of a run, by its key in the file."""

    number: int
    id: str
    position: int
    json: str
    name: str | None = None
    note: str | None = None


class StoredRun:
    """A run of a file, whose rows are read when they are asked for.

    Attributes
    ----------
    number : int
        Its key in the file.
    row : sqlite3.Row
    members : list of Member
        Its configurations, by position.
    """

    def __init__(self, connection: sqlite3.Connection, row: sqlite3.Row) -> None:
        self._connection = connection
        self.row = row
        self.number: int = row["number"]
        columns = ", ".join(Member._fields)
        found = rows_of(
            connection, "configuration", "run = ? ORDER BY position, number", self.number, columns=columns
        )
        self.members = [Member(*row) for row in found]

    @cached_property
    def entropy(self) -> int:
        if not re.fullmatch("[0-9a-f]{16}", self.row["entropy"]):
            raise ValueError(f"the entropy {self.row['entropy'][:20]!r} is not 16 hexadecimal digits")
        return int(self.row["entropy"], 16)

    @cached_property
    def terms(self) -> Mapping[str, str]:
        """The options that it was started with."""
        terms: Mapping[str, str] = from_json(Mapping[str, str], self.row["terms"])
        return terms

    @cached_property
    def versions(self) -> tuple[Mapping[str, str], ...]:
        """Of the code that worked on it, in order of time; more than one if a change was accepted."""
        versions: tuple[Mapping[str, str], ...] = from_json(tuple[Mapping[str, str], ...], self.row["versions"])
        if not versions:
            raise ValueError("a run has no versions")
        return versions

    @cached_property
    def plan(self) -> PlanNote | None:
        """None before it is noted."""
        text = self.row["plan"]
        return None if text is None else from_json(PlanNote, text)

    @property
    def names(self) -> list[str]:
        return [member.name or f"configuration {member.position}" for member in self.members]

    @cached_property
    def positions(self) -> dict[int, int]:
        """Of its configurations, by their keys."""
        return {member.number: position for position, member in enumerate(self.members)}

    @property
    def n_cells(self) -> int:
        """Acknowledged cells."""
        return sum(
            row["n_cells"] for row in rows_of(self._connection, "block", "run = ?", self.number, columns="n_cells")
        )

    @cached_property
    def barriers(self) -> dict[tuple[Place, ...], list[Barrier]]:
        """The barriers of each race, by its splits in their order."""
        races = dict[tuple[Place, ...], list[Barrier]]()
        for row in rows_of(self._connection, "barrier", "run = ? ORDER BY race, after", self.number):
            places, after = from_json(tuple[Place, ...], row["splits"]), row["after"]
            dropped = [
                # Barriers count splits from 1: the first is after the first split.
                Dropped(self.positions[key], after, float(statistic), reason, places[after - 1])
                for key, statistic, reason in from_json(tuple[tuple[int, str, str], ...], row["dropped"])
            ]
            dropped.sort(key=lambda drop: drop.configuration)
            barrier = Barrier(
                after, row["n_rows"], row["n_before"], self.positions[row["leader"]], tuple(dropped),
                float("nan") if row["risk"] is None else row["risk"], stopped=bool(row["stopped"]),
            )  # fmt: skip
            races.setdefault(places, []).append(barrier)
        return races

    @cached_property
    def blocks(self) -> dict[int, CellTable]:
        """Its results without predictions, in the order in which they were written, by their keys."""
        return {
            number: read_block(self._connection, number, with_predictions=False).at(self.positions)
            for number in block_numbers(self._connection, self.number)
        }

    def results(self, local: Mapping[int, int]) -> Iterator[CellResult]:
        """The results of some configurations, under other positions."""
        for number, block in self.blocks.items():
            if not local.keys().isdisjoint(block.configurations):
                for cell in read_block(self._connection, number).at(self.positions):
                    if cell.key.configuration in local:
                        yield cell.at(local[cell.key.configuration])


def stored_runs(connection: sqlite3.Connection) -> list[StoredRun]:
    """Every run of the file, the oldest first.

    Raises an error of ``UNREADABLE`` when they cannot be read.
    """
    return [StoredRun(connection, row) for row in rows_of(connection, "run", "TRUE ORDER BY number")]


IDENTITY = "number", "rows", "folds", "configurations", "settings", "entropy", "versions", "created"
"""The columns of a run under its checksum."""


def now(unit: str = "seconds") -> str:
    """The time of day with its zone, to the second or to another unit of ``datetime.isoformat``."""
    return datetime.now().astimezone().isoformat(timespec=unit)


def changed_row(connection: sqlite3.Connection) -> str | None:
    """A row of a run or a configuration that is not as it was written, in words; None if all are."""
    for table, names in (("run", IDENTITY), ("configuration", ("run", *Member._fields))):
        for row in rows_of(connection, table):
            if row["checksum"] != checksum(*(row[name] for name in names)):
                return f"the row of {table} {row['number']} is not as it was written"
    return None


SCHEMA_VERSION = 10
APPLICATION_ID = 0x68656C64
"""'held' in ASCII: distinguishes our files from those of other programs."""

TABLES = (
    # versions: a JSON list, one mapping for each change that was accepted; the last is the present one.
    # terms: JSON, what the run was started with, as the user wrote it: an option and its value.
    # owner_*: the process that writes the file, or died writing it; NULL once closed.
    # plan: JSON, a ``PlanNote`` without names; NULL before it is noted.
    # opened, cells_then: when a process last took the run up, and how many cells were acknowledged by then;
    # acknowledged: when a cell last was. Plan and times are for people and decide nothing.
    """CREATE TABLE run (
        number INTEGER PRIMARY KEY,
        rows TEXT NOT NULL, folds TEXT NOT NULL, configurations TEXT NOT NULL, settings TEXT NOT NULL,
        entropy TEXT NOT NULL,
        versions TEXT NOT NULL,
        created TEXT NOT NULL,
        checksum INTEGER,
        terms TEXT NOT NULL,
        owner_host TEXT, owner_pid INTEGER, owner_since TEXT,
        plan TEXT, opened TEXT, cells_then INTEGER, acknowledged TEXT
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
    # The results of some configurations on some splits, of most cells alone: see ``store.runs``. cells: JSON;
    # checksum: of the columns before it; data: predictions, whose checksum is in ``cells``.
    """CREATE TABLE block (
        number INTEGER PRIMARY KEY,
        run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
        n_cells INTEGER NOT NULL, cells TEXT NOT NULL, checksum INTEGER NOT NULL, data BLOB NOT NULL
    )""",
    # What the estimate reads besides the cells; note: JSON, see store.unfinished_search; arrays: JSON, type and
    # shape by name; data: their bytes. No row for a protocol's run.
    """CREATE TABLE search (
        run INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE,
        note TEXT NOT NULL, arrays TEXT NOT NULL, checksum INTEGER NOT NULL, data BLOB NOT NULL
    )""",
    # For inspection, as a resumed run decides again from its cells. race: the repeat of the race's first split,
    # which no other race has; splits: JSON, [repeat, fold] of each as they are met. after: how many of these all
    # remaining configurations had done. risk: NULL for NaN. dropped: JSON, [configuration, statistic, reason] of
    # each.
    """CREATE TABLE barrier (
        run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
        race INTEGER NOT NULL, after INTEGER NOT NULL, splits TEXT NOT NULL,
        n_rows INTEGER NOT NULL, n_before INTEGER NOT NULL,
        leader INTEGER NOT NULL REFERENCES configuration ON DELETE CASCADE,
        risk REAL, stopped INTEGER NOT NULL, dropped TEXT NOT NULL,
        PRIMARY KEY (run, race, after)
    )""",
)
_KINDS = {"INTEGER": int, "TEXT": str, "REAL": float, "BLOB": bytes}


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


@cache
def _types_of_columns(table: str) -> dict[str, Any]:
    return {
        name: _KINDS[kind] if not_null else _KINDS[kind] | None
        for name, kind, not_null, *_ in _columns_of_tables()[table]
    }


def rows_of(
    connection: sqlite3.Connection, table: str, condition: str = "TRUE", *values: Any, columns: str = "*"
) -> list[sqlite3.Row]:
    """The rows of a table under a condition, by the names of their columns.

    Raises ValueError where a value has another type than its column declares.
    """
    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    rows = cursor.execute(f"SELECT {columns} FROM {table} WHERE {condition}", values).fetchall()
    types = _types_of_columns(table)
    for row in rows:
        for name in row.keys():  # noqa: SIM118 - a row iterates over its values
            of_type(types[name], row[name], f"{table}.{name}")
    return rows


def checksum(*values: Any) -> int:
    """Of the values of a row: SQLite itself would not notice a changed bit."""
    found = 0
    for value in values:
        text = value if isinstance(value, bytes) else repr(value).encode("utf-8", "backslashreplace")
        found = zlib.crc32(text, found)
    return found


def text_for_file(text: str) -> str:
    """The text as SQLite can hold it: without lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode()
