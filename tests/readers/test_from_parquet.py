"""Blocks of a Parquet file are those of its rows, whatever its layout; what cannot be read is refused."""

from __future__ import annotations

from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import heldout as ho
from heldout.estimates.out_of_core import estimate_from_blocks
from heldout.metrics import metric_named
from heldout.readers.parquet_blocks import MOST_BLOCKS, ParquetBlocks, open_blocks

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def columns(n: int = 300, c: int = 3) -> dict[str, Any]:
    rng = np.random.default_rng(n)
    y = rng.integers(0, 2, n)
    scores = np.clip(0.5 + 0.2 * (y[:, None] - 0.5) + 0.25 * rng.normal(size=(n, c)), 0, 1)
    return {"y": y} | {f"c{j}": scores[:, j] for j in range(c)}


def written(folder: Path, table: dict[str, Any], **layout: Any) -> Path:
    path = folder / "table.parquet"
    pq.write_table(pa.table(table), path, **layout)
    return path


def blocks_of(path: Path, metric: str = "roc_auc", **settings: Any) -> ParquetBlocks:
    return open_blocks(path, "y", metric_named(metric), **settings)


def asked(path: Path, metric: str = "roc_auc", **settings: Any) -> ho.Estimate:
    settings = {"target": "y", "n_bootstraps": 30, "random_state": 1} | settings
    return ho.estimates.estimate_from_parquet(path, metric=metric, **settings)


@pytest.mark.parametrize("row_group_size", [1, 7, 64, 1000])
@pytest.mark.parametrize("batch_rows", [1, 50, 10_000])
def test_blocks_do_not_depend_on_the_layout(tmp_path: Path, row_group_size: int, batch_rows: int) -> None:
    table = columns(130)
    path = written(tmp_path, table, row_group_size=row_group_size)
    source = blocks_of(path, block_rows=32, batch_rows=batch_rows)
    for first, last in ((0, 5), (1, 2), (3, 5), (4, 5)):
        read = list(source.blocks(first, last))
        for k, block in enumerate(read, first):
            rows = slice(32 * k, min(32 * (k + 1), 130))
            assert block.truth.values.tolist() == table["y"][rows].tolist()
            assert block.predictions.tolist() == np.column_stack([table[f"c{j}"][rows] for j in range(3)]).tolist()
        assert len(read) == last - first


@pytest.mark.parametrize("row_group_size", [3, 40, 500, 100_000])
def test_ranges_cover_every_block_once(tmp_path: Path, row_group_size: int) -> None:
    path = written(tmp_path, columns(1003, 1), row_group_size=row_group_size)
    ranges = blocks_of(path, block_rows=5).ranges()
    assert [k for first, last in ranges for k in range(first, last)] == list(range(201))
    assert max(last - first for first, last in ranges) <= MOST_BLOCKS
    assert len(ranges) > 1


@pytest.mark.parametrize("metric", ["accuracy", "brier_score", "roc_auc"])
def test_neither_layout_nor_backend_changes_a_bit(tmp_path: Path, metric: str) -> None:
    from joblib import parallel_config

    table = columns(500)
    found = []
    for layout in ({"row_group_size": 500}, {"row_group_size": 33, "compression": "none"}):
        for batch_rows, n_jobs in ((7, 1), (1000, 2)):
            path = written(tmp_path, table, **layout)
            source = blocks_of(path, metric, block_rows=8, batch_rows=batch_rows)
            with parallel_config("threading" if n_jobs == 2 else "sequential"):
                result = estimate_from_blocks(
                    source, metric_named(metric), n_bootstraps=70, random_state=4, n_jobs=n_jobs, n_bins=8
                )
            found.append(result.to_dict())
    assert all(each == found[0] for each in found)


def test_the_file_gives_what_the_table_in_memory_gives(tmp_path: Path) -> None:
    table = columns(400)
    path = written(tmp_path, table)
    predictions = np.column_stack([table[f"c{j}"] for j in range(3)])
    for metric, method in product(("roc_auc", "neg_log_loss"), ("shrinkage", "bbc")):
        found = asked(path, metric, method=method)
        whole = ho.estimate(table["y"], predictions, metric=metric, method=method, n_bootstraps=30, random_state=1)
        np.testing.assert_allclose(found.distribution, whole.distribution, rtol=1e-11)
        assert found.selected_name == f"c{whole.selected}"


def test_columns_are_read_by_name_and_others_not_at_all(tmp_path: Path) -> None:
    table = columns(60)
    dates = pa.array([0] * 60, pa.timestamp("s"))
    path = written(tmp_path, {"c1": table["c1"], "when": dates, "y": table["y"], "c0": table["c0"]})
    found = asked(path, configurations=["c0", "c1"])
    assert found.provenance["n_configurations"] == 2
    assert found.to_dict() == asked(written(tmp_path, {k: table[k] for k in ("y", "c0", "c1")})).to_dict()


@pytest.mark.parametrize("kind", ["text", "categories", "bool", "int8"])
def test_labels_of_any_type_are_labels(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 100)
    predicted = [np.where(rng.random(100) < 0.7, y, 1 - y) for _ in range(3)]

    def column(codes: Any) -> Any:
        if kind in ("bool", "int8"):
            return pa.array(codes.astype(kind))
        words = pa.array(np.array(["no", "yes"])[codes])
        return words.dictionary_encode() if kind == "categories" else words

    path = written(tmp_path, {"y": column(y)} | {f"c{j}": column(p) for j, p in enumerate(predicted)})
    found = asked(path, "accuracy")
    assert found.provenance["response"] == "labels"
    assert found.uncorrected == max((p == y).mean() for p in predicted)


def test_scores_of_a_target_of_text_point_to_pos_label(tmp_path: Path) -> None:
    table = columns(200)
    path = written(tmp_path, table | {"y": np.array(["a", "b"])[table["y"]]})
    found, reversed_ = asked(path, pos_label="b"), asked(path, pos_label="a")
    assert found.provenance["pos_label"] == "b"
    assert found.uncorrected > 0.6
    assert reversed_.uncorrected < 0.5


def test_numbers_of_any_type_are_numbers(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    y = rng.integers(0, 50, 80)
    path = written(
        tmp_path,
        {
            "y": pa.array(y.astype("int16")),
            "c0": pa.array((y + rng.normal(size=80)).astype("float32")),
            "c1": pa.array(y + 3),
            "c2": pa.array([Decimal(int(value) + 4) for value in y]),
        },
    )
    found = asked(path, "mean_squared_error")
    assert found.selected_name == "c0"
    assert asked(path, "mean_squared_error", configurations=["c1", "c2"]).uncorrected == 9


def test_a_file_is_never_in_memory_whole(tmp_path: Path) -> None:
    rows = 200_000
    y = np.arange(rows) % 2
    scores = np.random.default_rng(0).random((8, rows))
    path = written(
        tmp_path, {"y": y} | {f"c{j}": column for j, column in enumerate(scores)}, row_group_size=rows,
        compression="none", use_dictionary=False,
    )  # fmt: skip
    source = blocks_of(path, block_rows=4096, batch_rows=4096)
    before = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(before)
    pa.set_memory_pool(pool)
    try:
        assert sum(block.truth.n_rows for block in source.blocks(0, 49)) == rows
        assert 0 < pool.max_memory() < path.stat().st_size / 2
    finally:
        pa.set_memory_pool(before)


HOLED = pa.array([0.5, None, 0.25, 0.75])
REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "no target": ({"y": [0, 1], "c": [0.1, 0.2]}, {"target": "x"}, "has no column 'x'; its columns are 'y', 'c'"),
    "no configuration": ({"y": [0, 1]}, {}, "configurations must be columns"),
    "the target twice": ({"y": [0, 1], "c": [0.1, 0.2]}, {"configurations": ["y"]}, "other than the target 'y'"),
    "one name": ({"y": [0, 1], "c": [0.1, 0.2]}, {"configurations": "c"}, r"a list of columns.*write \['c'\]"),
    "folds": ({"y": [0, 1], "fold": [1, 2], "c": [0.1, 0.2]}, {}, "column 'fold' does not look like"),
    "classes": ({"y": [0, 1], "c[0]": [0.1, 0.2]}, {}, "the probability of one class"),
    "dates": ({"y": [0, 1], "c": pa.array([0, 1], pa.timestamp("s"))}, {}, "neither numbers nor labels"),
    "text and numbers": ({"y": [0, 1], "c": ["a", "b"], "d": [0.1, 0.2]}, {}, "'c' holds text and 'd' numbers"),
    "a hole": ({"y": [0, 1, 0, 1], "c": HOLED}, {}, r"column 'c' has a missing value in row 1 \(counted from 0\)"),
    "no true value": ({"y": HOLED, "c": [0.1] * 4}, {"metric": "mean_squared_error"}, "'y' has a missing value"),
    "an infinite target": ({"y": [0.5, np.inf], "c": [0.1] * 2}, {"metric": "mean_squared_error"}, "row 1 is inf"),
    "fractions": ({"y": [0.5, 1.5], "c": [0.1, 0.2]}, {}, r"is for labels, but column 'y' .*such as 0.5"),
    "one class": ({"y": [1, 1], "c": [0.1, 0.2]}, {}, "at least 2 classes, got 1"),
    "a strange label": ({"y": ["a", "b"] * 4, "c": ["a", "x"] * 4}, {"metric": "accuracy"}, "target lacks: 'x'"),
    "pos_label of numbers": (
        {"y": [0.5, 1.5], "c": [0.1, 0.2]},
        {"metric": "mean_squared_error", "pos_label": 1},
        "pos_label=1 is for labels",
    ),
    "another metric": ({"y": [0, 1], "c": [0.1, 0.2]}, {"metric": "f1"}, "cannot be summed over blocks"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_read_is_refused_in_a_sentence(tmp_path: Path, what: str) -> None:
    table, settings, sentence = REFUSED[what]
    with pytest.raises(ho.InputError, match=sentence):
        asked(written(tmp_path, table), **settings)


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ho.InputError, match="there is no file"):
        asked(tmp_path / "nothing.parquet")
    (tmp_path / "text.parquet").write_text("y,c\n1,2\n")
    with pytest.raises(ho.InputError, match="cannot be read as Parquet"):
        asked(tmp_path / "text.parquet")


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "twice.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array([0, 1])] * 3, names=["y", "c", "c"]), path)
    with pytest.raises(ho.InputError, match="has several columns 'c'"):
        asked(path)
