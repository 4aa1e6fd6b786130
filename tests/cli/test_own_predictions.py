"""The ``predictions.parquet`` of heldout itself: the same in any order of lines, and refused if damaged."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from heldout.data.task import Task, truth_of
from heldout.metrics import metric_named
from heldout.metrics.base import Response
from heldout.predictions import HeldOutPredictions
from heldout.readers.formats.own import table_of_predictions

Command = Callable[..., Any]
N, R = 60, 3


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., str]:
    """Write predictions of three repeats as heldout does, changed or not."""
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    scores = y[:, None, None] + rng.normal(size=(N, 4, R))
    folds = np.stack([rng.permutation(N) % 5 for _ in range(R)], axis=1).astype(np.int32)
    truth = truth_of(y)
    held = HeldOutPredictions(
        {Response.DECISION: scores}, tuple("abcd"), folds, truth.classes, truth.positive, training_rows=48.0
    )
    frame, roles = table_of_predictions(Task(np.zeros((N, 1)), truth), held, metric_named("roc_auc"), "outcome")

    def write(change: Callable[[pd.DataFrame], pd.DataFrame] = lambda it: it, metadata: bytes | None = None) -> str:
        arrow = pa.Table.from_pandas(change(frame), preserve_index=False)
        said = json.dumps(roles).encode() if metadata is None else metadata
        pq.write_table(arrow.replace_schema_metadata({b"heldout": said}), tmp_path / "p.parquet")
        return "p.parquet"

    return write


def test_the_order_of_the_lines_changes_no_bit(command: Command, written: Callable[..., str]) -> None:
    asked = ["--n-bootstraps", "50", "--json"]
    expected = command("estimate", written(), *asked)
    by_row = command("estimate", written(lambda frame: frame.sort_values(["row", "repeat"])), *asked)
    shuffled = command("estimate", written(lambda frame: frame.sample(frac=1, random_state=1)), *asked)

    assert expected.code == 0, expected.err
    assert by_row.out == expected.out and shuffled.out == expected.out


def test_a_folder_of_such_a_file_is_refused_with_the_name_of_the_file(
    command: Command, written: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "found").mkdir()
    (tmp_path / written()).rename(tmp_path / "found" / "predictions.parquet")
    ended = command("estimate", "found")
    assert ended.code == 2
    assert ended.last == "Error: found is a folder; name the file of predictions in it, found/predictions.parquet."


def test_a_file_that_was_cut_is_refused(command: Command, written: Callable[..., str]) -> None:
    ended = command("estimate", written(lambda frame: frame[:-7]))

    assert ended.code == 2 and ended.last.startswith("Error: row 53 of repeat 2 is in no line"), ended


@pytest.mark.parametrize("metadata", [b"[]", b"null", b"{", b"\xff\xfe\xe9", b"[" * 10_000, b'{"target": 3}'])
def test_damaged_metadata_is_refused(command: Command, written: Callable[..., str], metadata: bytes) -> None:
    ended = command("estimate", written(metadata=metadata))
    assert ended.code == 2 and "metadata 'heldout'" in ended.last and "Traceback" not in ended.err, ended


def test_columns_that_are_named_are_read_as_named(command: Command, written: Callable[..., str]) -> None:
    asked = [
        "estimate",
        written(),
        "--target",
        "outcome",
        "--prediction",
        "a",
        "--prediction",
        "c",
        "--aggregate",
        "pooled",
    ]
    refused = command(*asked)
    ended = command(*asked, "--row", "row", "--repeat", "repeat", "--n-bootstraps", "20")

    assert refused.code == 2 and "add --row row --repeat repeat" in refused.last
    assert ended.code == 0 and "2 configurations ('a' to 'c'), 3 repeats" in ended.out


def test_repeats_are_no_rows_of_their_own(command: Command, written: Callable[..., str]) -> None:
    apart = ["--exclude", "row", "--exclude", "repeat", "--exclude", "fold", "--target", "outcome"]
    whole = command("estimate", written(), *apart)

    assert whole.code == 2 and "which would count as different rows; add --row row" in whole.last


@pytest.mark.usefixtures("tiny_space")
@pytest.mark.parametrize("metric", ["roc_auc", "accuracy"])
def test_many_rows_are_written_in_groups(
    metric: str, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    pd.DataFrame({"x": rng.normal(size=90), "y": np.where(np.arange(90) % 2, "yes", "no")}).to_csv(
        "t.csv", index=False
    )
    asked = ["--target", "y", "--positive", "yes", "--metric", metric, "--repeats", "2", "--n-jobs", "1"]
    monkeypatch.setattr("heldout.cli.files.ROWS_A_GROUP", 40)

    assert command("tune", "t.csv", *asked, "--n-bootstraps", "50", "--out", "out").code == 0

    path = tmp_path / "out" / "predictions.parquet"
    assert pq.ParquetFile(path).num_row_groups == 3
    again = json.loads(command("estimate", path, "--json").out)
    assert again["value"] == json.loads((tmp_path / "out" / "estimate.json").read_text())["value"]
