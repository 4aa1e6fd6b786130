"""The rows of a block of cells in the file: one row, and one for each of its arrays."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout.data.declared import from_json, of_type
from heldout.execution.cells import CellBlock, Saving
from heldout.execution.store.base import SearchNote
from heldout.execution.store.schema import StoredArray, array_of, stored_array
from heldout.metrics.base import Response

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


def write_search(connection: sqlite3.Connection, run: int, note: SearchNote | None) -> None:
    """Write the note of a run in place of an earlier one; None for a run without an estimate of its own."""
    connection.execute("DELETE FROM search_array WHERE run = ?", (run,))
    connection.execute("DELETE FROM search WHERE run = ?", (run,))
    if note is None:
        return
    arrays = [(name, stored_array(array, name)) for name, array in note.arrays.items()]
    connection.execute(
        "INSERT INTO search VALUES (?, ?, ?)", (run, note.text, _checksum_of_note(note.text, arrays))
    )
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
    if expected != _checksum_of_note(text, arrays):
        raise ValueError("the note on the search is not as it was written")
    return SearchNote(text, {name: array_of(array) for name, array in arrays})


def _checksum_of_note(text: str, arrays: Iterable[tuple[str, StoredArray]]) -> int:
    found = zlib.crc32(text.encode())
    for name, array in arrays:
        found = zlib.crc32(repr((name, *array[:2])).encode(), found)
        found = zlib.crc32(array.blob, found)
    return found


class ArrayRow(NamedTuple):
    """A row of ``block_array``, without its block."""

    kind: str
    name: str
    dtype: str
    shape: str
    blob: bytes


class BlockRow(NamedTuple):
    """A row of ``block``, without its number, run and checksum."""

    n_cells: int
    cells: str


class BlockRows(NamedTuple):
    """The rows of a block."""

    block: BlockRow
    arrays: list[ArrayRow]


@dataclass(frozen=True)
class _Cells:
    """The column ``cells``."""

    configurations: tuple[int, ...]
    places: tuple[tuple[int, int], ...]
    sizes: tuple[int, ...]
    shared: tuple[Mapping[str, Saving], ...]


def encoded_block(block: CellBlock, keys: Sequence[int]) -> BlockRows:
    """A block as the tables hold it; ``keys``: of all configurations in the file, by position."""
    cells = _Cells(tuple(keys[j] for j in block.configurations), block.places, block.sizes, block.shared)
    arrays = [
        *(("prediction", str(response), array) for response, array in block.predictions.items()),
        *(("score", name, array) for name, array in block.test_scores.items()),
        ("seconds", "fit", block.fit_seconds),
        ("seconds", "score", block.score_seconds),
    ]
    rows = [ArrayRow(kind, name, *stored_array(array, name)) for kind, name, array in arrays]
    return BlockRows(BlockRow(block.n_cells, json.dumps(asdict(cells))), rows)


def decoded_block(rows: BlockRows, positions: Mapping[int, int]) -> CellBlock:
    """The block that was encoded; ``positions``: of the configurations, by their keys in the file.

    Raises ValueError when the rows are damaged.
    """
    cells = from_json(_Cells, rows.block.cells)
    shape = len(cells.configurations), len(cells.places)
    if rows.block.n_cells != shape[0] * shape[1] or len(cells.shared) != shape[0] or len(cells.sizes) != shape[1]:
        raise ValueError(f"a block of {rows.block.n_cells} cells cannot have the shape {shape}")
    unknown = [key for key in cells.configurations if key not in positions]
    if unknown:
        raise ValueError(f"it has cells of a configuration {unknown[0]} unknown to it")
    arrays = {(row.kind, row.name): array_of(StoredArray(*row[2:])) for row in rows.arrays}
    return CellBlock(
        configurations=tuple(positions[key] for key in cells.configurations),
        places=cells.places,
        sizes=cells.sizes,
        predictions={Response(name): array for (kind, name), array in arrays.items() if kind == "prediction"},
        test_scores={name: _of_cells(array, shape) for (kind, name), array in arrays.items() if kind == "score"},
        fit_seconds=_of_cells(arrays["seconds", "fit"], shape),
        score_seconds=_of_cells(arrays["seconds", "score"], shape),
        shared=cells.shared,
    )


def _of_cells(array: NDArray[Any], shape: tuple[int, int]) -> NDArray[np.float64]:
    if array.shape != shape or array.dtype != np.float64:
        raise ValueError(f"a block of the shape {shape} cannot have scores or times of the shape {array.shape}")
    return array


def block_checksum(run: int, rows: BlockRows) -> int:
    found = zlib.crc32(repr((run, *rows.block)).encode())
    for row in rows.arrays:
        found = zlib.crc32(repr(row[:4]).encode(), found)
        found = zlib.crc32(row.blob, found)
    return found


def write_block(connection: sqlite3.Connection, run: int, rows: BlockRows) -> int:
    """Insert a block; returns its key."""
    number = connection.execute(
        "INSERT INTO block (run, n_cells, cells, checksum) VALUES (?, ?, ?, ?)",
        (run, *rows.block, block_checksum(run, rows)),
    ).lastrowid
    connection.executemany(
        "INSERT INTO block_array (block, kind, name, dtype, shape, blob) VALUES (?, ?, ?, ?, ?, ?)",
        [(number, *row) for row in rows.arrays],
    )
    assert number is not None  # it is None only before the first insertion
    return number


def block_numbers(connection: sqlite3.Connection, run: int) -> list[int]:
    """The keys of the blocks of a run, in the order in which they were written."""
    found = connection.execute("SELECT number FROM block WHERE run = ? ORDER BY number", (run,))
    return [of_type(int, number, "a block") for (number,) in found]


def block_configurations(connection: sqlite3.Connection, number: int) -> tuple[int, ...]:
    """The keys of the configurations of a block."""
    (cells,) = connection.execute("SELECT cells FROM block WHERE number = ?", (number,)).fetchone()
    keys: tuple[int, ...] = from_json(_Cells, of_type(str, cells, f"block {number}")).configurations
    return keys


def read_block(connection: sqlite3.Connection, number: int, positions: Mapping[int, int]) -> CellBlock:
    """A block of the file.

    Raises ValueError when its rows are not as they were written.
    """
    run, expected, *block = connection.execute(
        "SELECT run, checksum, n_cells, cells FROM block WHERE number = ?", (number,)
    ).fetchone()
    found = connection.execute(
        "SELECT kind, name, dtype, shape, blob FROM block_array WHERE block = ? ORDER BY rowid", (number,)
    )
    place = f"block {number}"
    arrays = [of_type(ArrayRow, row, f"{place}, array {n}") for n, row in enumerate(found)]
    rows = BlockRows(of_type(BlockRow, block, place), arrays)
    if expected != block_checksum(run, rows):
        raise ValueError(f"{place} is not as it was written")
    return decoded_block(rows, positions)
