"""The tables of a run file: make them, check them, and read their rows by name.

Nothing in a row is trusted: a person or a failing disk may have changed it. Nothing is ever unpickled.
"""

from __future__ import annotations

import re
import sqlite3
import zlib
from contextlib import closing
from functools import cache
from typing import Any

from heldout.data.declared import of_type

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
    # What the estimate reads besides the cells; note: JSON, see store.search_note. No row for a protocol's run.
    # arrays: JSON, type and shape by name; data: their bytes.
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
