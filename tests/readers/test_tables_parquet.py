"""Parquet files: cells with parts, damaged metadata and too many rows are refused, every plain type is read."""

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import heldout as ho
from heldout.data.limits import Memory
from heldout.errors import InputError
from heldout.readers.tables import read_table


def written(path: Path, column: pa.Array, metadata: dict[bytes, bytes] | None = None) -> Path:
    table = pa.table({"y": np.arange(len(column)) % 2, "m": column})
    pq.write_table(table if metadata is None else table.replace_schema_metadata(metadata), path)
    return path


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[1.0, 2.0], [3.0]]),
        pa.array([{"a": 1}, {"a": 2}]),
        pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64())),
        pa.array([b"a", b"b"]),
        pa.array([b"a", b"b"], pa.binary(1)),
        pa.array([[b"a"], [b"b"]]),
    ],
    ids=["list", "struct", "map", "binary", "fixed", "list of binary"],
)
def test_cells_with_parts_are_refused(tmp_path: Path, column: pa.Array) -> None:
    path = written(tmp_path / "p.parquet", column)

    with pytest.raises(
        InputError, match=r"column 'm' holds cells of type .*; the cells of a column must be all numbers"
    ):
        read_table(path)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pa.array([Decimal("0.5"), None]), "f"),
        (pa.array([Decimal(10) ** 70, Decimal(1)], pa.decimal256(76)), "f"),
        (pa.array(np.array([0.5, 1.5], dtype=np.float16)), "f"),
        (pa.array([1, None]), "f"),
        (pa.nulls(2), "O"),
        (pa.array(["a", "b"]).dictionary_encode(), "O"),
        (pa.array(["a", "b"], pa.string_view()), "O"),
        (pa.array([1, 2], pa.duration("s")), "m"),
        (pa.array([1, 2], pa.timestamp("s")), "M"),
        (pa.array([datetime.date(2020, 1, 1), None]), "O"),
    ],
)
def test_plain_cells_are_read(tmp_path: Path, column: pa.Array, kind: str) -> None:
    dtype = read_table(written(tmp_path / "p.parquet", column)).frame["m"].dtype

    assert dtype.kind == kind and dtype != np.float16


@pytest.mark.parametrize(
    "metadata",
    [
        b"[]", b"{}", b"{", b"\xff", b"[" * 100_000,
        b'{"index_columns": ["z"], "columns": [], "column_indexes": []}',
        b'{"index_columns": [{"kind": "range", "start": "x"}], "columns": [], "column_indexes": []}',
    ],
)  # fmt: skip
def test_damaged_metadata_of_pandas_is_refused(tmp_path: Path, metadata: bytes) -> None:
    path = written(tmp_path / "p.parquet", pa.array([0.5, 1.5]), {b"pandas": metadata})

    with pytest.raises(InputError, match=r"cannot be read as Parquet: .* If it is, save it as CSV") as refused:
        read_table(path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("names", [["y", "m", "m"], ["y", "y", "m"]])
def test_columns_of_one_name_are_refused(tmp_path: Path, names: list[str]) -> None:
    arrays: list[Any] = [pa.array([0, 1]), pa.array([0.5, 1.5]), pa.array([0.1, 0.2])]
    pq.write_table(pa.Table.from_arrays(arrays, names), tmp_path / "p.parquet")

    with pytest.raises(InputError, match="more than one column called"):
        read_table(tmp_path / "p.parquet")


def test_more_rows_than_fit_in_memory_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "p.parquet", pa.array(np.zeros(1000, dtype=np.float32)))
    needed = 2 * 1000 * (8 + 4)  # the bytes of a whole number and a float32, as they are read and in pandas
    monkeypatch.setattr("heldout.data.limits.memory_there", lambda: Memory(needed, "this machine's few bytes"))

    assert ho.read_predictions(path, target="y").predictions.frame["m"].dtype == np.float32
    monkeypatch.setattr("heldout.data.limits.memory_there", lambda: Memory(needed - 1, "this machine's few bytes"))
    with pytest.raises(InputError, match=r"the 1,000 rows of 2 columns in .*p\.parquet need") as refused:
        ho.read_predictions(path, target="y")
    assert str(refused.value).endswith(
        "GiB, more than this machine's few bytes; use a sample of the rows, or fewer columns: with millions of "
        "rows there is nothing to correct."
    )
