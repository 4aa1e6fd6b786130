"""Blocks of cells and the arrays of a search as rows of the file.

Numbers that a resumed run computes with are restored exactly. Arrays are raw little-endian bytes with their type
and shape; scores and times are JSON text, because SQLite keeps neither the sign of -0.0 (the score of a perfect
regression, negated) nor NaN.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout.data.declared import from_json
from heldout.errors import StoreError
from heldout.execution.cells import COLUMNS, CellState, CellTable, Saving, ScoreColumn
from heldout.execution.store.base import SearchNote
from heldout.execution.store.schema import checksum, rows_of
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


def block_statement(run: int, number: int, table: CellTable, keys: Sequence[int]) -> tuple[str, tuple[Any, ...]]:
    """The statement that writes a table; ``keys``: of all configurations in the file, by position.

    Raises StoreError when a prediction is not a number.
    """
    heads, data = packed({str(response): array for response, array in table.predictions.items()})
    cells = {
        "configurations": [keys[j] for j in table.configurations],
        "places": table.places,
        "sizes": table.sizes,
        **{name: _lists(table.columns[name]) for name in COLUMNS},
        "test": {name: column.values.tolist() for name, column in table.test_scores.items()},
        "train": {name: column.values.tolist() for name, column in table.train_scores.items()},
        "predictions": heads,
        "data": zlib.crc32(data),
    }
    row = number, run, len(table), json.dumps(cells)
    return "INSERT INTO block VALUES (?, ?, ?, ?, ?, ?)", (*row, checksum(*row), data)


def _lists(values: NDArray[Any]) -> Any:
    """A column as lists; the same value on all splits only once."""
    bits = values.view(np.int64) if values.dtype == np.float64 else values  # 0.0 is not -0.0
    return (values[:, :1] if (bits == bits[:, :1]).all() else values).tolist()


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
    predictions: dict[Response, NDArray[Any]] = {}
    if with_predictions:
        if zlib.crc32(row["data"]) != cells.data:
            raise ValueError(f"block {number} is not as it was written")
        predictions = unpacked(cells.predictions, row["data"])
    table = CellTable.empty(cells.configurations, cells.places, predictions=predictions, sizes=cells.sizes)
    for of_scorers, scores in ((table.test_scores, cells.test), (table.train_scores, cells.train)):
        for name, values in scores.items():
            of_scorers[name] = ScoreColumn.of(_column(values, np.float64, shape))
    for name, dtype in COLUMNS.items():
        table.columns[name] = _column(getattr(cells, name), dtype, shape)
    return table


def _column(values: Any, dtype: Any, shape: tuple[int, int]) -> NDArray[Any]:
    column = np.array(values, dtype=dtype)
    if column.shape not in (shape, (shape[0], 1)):
        raise ValueError(f"a block of the shape {shape} cannot have a column of the shape {column.shape}")
    return column


def packed(arrays: Mapping[str, NDArray[Any]]) -> tuple[dict[str, ArrayHead], bytes]:
    """The types and shapes of arrays, and their bytes.

    Raises StoreError when one is not of numbers.
    """
    heads, pieces = {}, []
    for name, array in arrays.items():
        little = numbers_of(array, name).astype(array.dtype.newbyteorder("<"), order="C", copy=False)
        heads[name] = ArrayHead(little.dtype.str, little.shape)
        pieces.append(little.tobytes())
    return heads, b"".join(pieces)


def numbers_of(array: NDArray[Any], name: str) -> NDArray[Any]:
    """The array; raises StoreError when it is not of numbers."""
    if array.dtype.kind not in "biuf":
        raise StoreError(
            f"predictions of a stored run must be numbers or class codes, got {name} of type {array.dtype}."
        )
    return array


def unpacked(heads: Mapping[Any, ArrayHead], data: bytes) -> dict[Any, NDArray[Any]]:
    """The arrays that were packed; raises ValueError when they are damaged."""
    arrays, start = {}, 0
    for name, (kind, shape) in heads.items():
        if not re.fullmatch(r"[<|][biuf]\d{1,2}", kind) or min(shape, default=0) < 0:
            raise ValueError(f"predictions of type {kind[:20]!r} and shape {str(shape)[:40]}")
        # A copy, because an array over the bytes themselves would be read-only.
        arrays[name] = np.ndarray(shape, kind, data, start).astype(np.dtype(kind).newbyteorder("="))
        start += arrays[name].nbytes
    return arrays


def search_statement(run: int, note: SearchNote) -> tuple[str, tuple[Any, ...]]:
    """Write the note of a run in place of an earlier one."""
    heads, data = packed(note.arrays)
    row = run, note.text, json.dumps(heads)
    return "INSERT OR REPLACE INTO search VALUES (?, ?, ?, ?, ?)", (*row, checksum(*row, data), data)


def read_search(connection: sqlite3.Connection, run: int) -> SearchNote | None:
    """The note of a run; None where it has none.

    Raises ValueError when it is not as it was written.
    """
    for row in rows_of(connection, "search", "run = ?", run):
        if row["checksum"] != checksum(*row[:3], row["data"]):
            raise ValueError("the note on the search is not as it was written")
        return SearchNote(row["note"], unpacked(from_json(Mapping[str, ArrayHead], row["arrays"]), row["data"]))
    return None
