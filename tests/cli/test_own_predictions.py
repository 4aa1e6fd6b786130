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

Run = Callable[..., Any]
Write = Callable[..., str]
N, R = 60, 3


@pytest.fixture
def written(command: Run, tmp_path: Path) -> Callable[..., str]:
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


def test_the_order_of_the_lines_changes_no_bit_nor_does_what_the_file_knows(run: Run, written: Write) -> None:
    asked = "--n-bootstraps 50 --json"
    expected = run(f"estimate {written()} {asked}").out
    told = "--target outcome --row row --repeat repeat --fold fold --aggregate pooled"
    assert run(f"estimate {written()} {told} {asked}").code == 0
    for change in (
        lambda frame: frame.sort_values(["row", "repeat"]),
        lambda frame: frame.sample(frac=1, random_state=1),
    ):
        assert run(f"estimate {written(change)} {asked}").out == expected


def test_a_folder_of_such_a_file_is_refused_with_the_name_of_the_file(command: Run, written: Write) -> None:
    Path("found").mkdir()
    Path(written()).rename("found/predictions.parquet")
    ended = command("estimate", "found")
    assert ended.code == 2
    assert ended.last == "Error: found is a folder; name the file of predictions in it, found/predictions.parquet."


def test_a_file_that_was_cut_or_whose_metadata_is_damaged_is_refused(command: Run, written: Write) -> None:
    """In which ways metadata can be damaged is tested where they are read."""
    ended = command("estimate", written(lambda frame: frame[:-7]))
    assert ended.code == 2 and ended.last.startswith("Error: row 53 of repeat 2 is in no line"), ended
    ended = command("estimate", written(metadata=b"["))
    assert ended.code == 2 and "metadata 'heldout'" in ended.last and "Traceback" not in ended.err, ended


def test_columns_that_are_named_are_read_as_named(refused: Run, run: Run, written: Write) -> None:
    asked = f"estimate {written()} --target outcome --prediction a --prediction c --aggregate pooled"
    sentence = refused(asked)
    assert "add --row row --repeat repeat" in sentence
    ended = run(f"{asked} --row row --repeat repeat --n-bootstraps 20")
    assert "2 configurations ('a' to 'c'), 3 repeats" in ended.out
    apart = "--exclude row --exclude repeat --exclude fold --target outcome"
    sentence = refused(f"estimate {written()} {apart}")  # repeats are no rows of their own
    assert "which would count as different rows; add --row row" in sentence


@pytest.mark.usefixtures("tiny_space")
@pytest.mark.parametrize("metric", ["roc_auc", "accuracy"])
def test_many_rows_are_written_in_groups(metric: str, document: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    y = np.where(np.arange(90) % 2, "yes", "no")
    pd.DataFrame({"x": rng.normal(size=90), "y": y}).to_csv("t.csv", index=False)
    monkeypatch.setattr("heldout.cli.files.ROWS_A_GROUP", 40)
    asked = f"--target y --positive yes --metric {metric} --repeats 2 --n-jobs 1 --n-bootstraps 50 --out out"
    tuned = document(f"tune t.csv {asked}")
    assert pq.ParquetFile("out/predictions.parquet").num_row_groups == 3
    assert document("estimate out/predictions.parquet")["value"] == tuned["value"]
