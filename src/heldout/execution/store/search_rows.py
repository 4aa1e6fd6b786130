"""The rows of what the estimate of a search reads besides its cells: one row, and one for each of its arrays."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable

from heldout.data.declared import of_type
from heldout.execution.store.base import SearchNote
from heldout.execution.store.schema import StoredArray, array_of, stored_array


def write_search(connection: sqlite3.Connection, run: int, note: SearchNote | None) -> None:
    """Write the note of a run in place of an earlier one; None for a run without an estimate of its own."""
    connection.execute("DELETE FROM search_array WHERE run = ?", (run,))
    connection.execute("DELETE FROM search WHERE run = ?", (run,))
    if note is None:
        return
    arrays = [(name, stored_array(array, name)) for name, array in note.arrays.items()]
    connection.execute("INSERT INTO search VALUES (?, ?, ?)", (run, note.text, _checksum(note.text, arrays)))
    connection.executemany(
        "INSERT INTO search_array VALUES (?, ?, ?, ?, ?)", [(run, name, *array) for name, array in arrays]
    )


def read_search(connection: sqlite3.Connection, run: int) -> SearchNote | None:
    """The note of a run; None where it has none.

    Raises ValueError when its rows are not as they were written.
    """
    found = connection.execute("SELECT note, checksum FROM search WHERE run = ?", (run,)).fetchone()
    if found is None:
        return None
    text, expected = of_type(tuple[str, int], found, "the note on the search")
    rows = connection.execute(
        "SELECT name, dtype, shape, blob FROM search_array WHERE run = ? ORDER BY rowid", (run,)
    ).fetchall()
    arrays = [
        (of_type(str, name, "an array"), of_type(StoredArray, array, f"the array {name}")) for name, *array in rows
    ]
    if expected != _checksum(text, arrays):
        raise ValueError("the note on the search is not as it was written")
    return SearchNote(text, {name: array_of(array) for name, array in arrays})


def _checksum(text: str, arrays: Iterable[tuple[str, StoredArray]]) -> int:
    found = zlib.crc32(text.encode())
    for name, array in arrays:
        found = zlib.crc32(repr((name, *array[:2])).encode(), found)
        found = zlib.crc32(array.blob, found)
    return found
