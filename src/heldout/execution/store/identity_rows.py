"""Checksums of the rows that say what a run and its configurations are.

Cells have checksums of their own, which hold the key of their configuration in the file. Without these, two
exchanged rows would give the scores of one configuration the name and the parameters of another.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable
from typing import Any

_ROWS = {
    "run": "number, rows, folds, configurations, settings, entropy, versions, created",
    "configuration": "number, run, id, position, json, name, note",
}
"""The columns under a checksum, by table."""


def write_checksums(connection: sqlite3.Connection, run: int, configurations: Iterable[int] | None = None) -> None:
    """Write the checksums of a run and of its configurations, of all or of some keys in the file."""
    found = _rows(connection, "run", "number", run)
    if configurations is None:
        members = _rows(connection, "configuration", "run", run)
    else:
        members = [row for key in configurations for row in _rows(connection, "configuration", "number", key)]
    for table, rows in (("run", found), ("configuration", members)):
        connection.executemany(
            f"UPDATE {table} SET checksum = ? WHERE number = ?", [(_checksum(row[1:]), row[1]) for row in rows]
        )


def changed_row(connection: sqlite3.Connection) -> str | None:
    """A row that is not as it was written, in words; None if all are."""
    for table, what in (("run", "run"), ("configuration", "configuration")):
        for written, *row in _rows(connection, table, "1", 1):
            if written != _checksum(row):
                return f"the row of {what} {row[0]} is not as it was written"
    return None


def _rows(connection: sqlite3.Connection, table: str, column: str, value: int) -> list[tuple[Any, ...]]:
    """The checksum and the columns under it of some rows."""
    return connection.execute(
        f"SELECT checksum, {_ROWS[table]} FROM {table} WHERE {column} = ?", (value,)
    ).fetchall()


def _checksum(row: Iterable[Any]) -> int:
    return zlib.crc32(repr(tuple(row)).encode("utf-8", "backslashreplace"))
