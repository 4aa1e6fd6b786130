"""``--block-length``: rows in the order of the file are drawn in blocks, by tune and by estimate alike."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import heldout as ho

Command = Callable[..., Any]
N = 80


@pytest.fixture
def series(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """Two predictions of a series whose errors depend on the ones before, as ``p.csv``."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    errors = rng.normal(size=(N, 2))
    for t in range(1, N):
        errors[t] += 0.7 * errors[t - 1]
    y = rng.normal(size=N)
    frame = pd.DataFrame({"y": y, "m1": y + errors[:, 0], "m2": y + errors[:, 1]})
    frame.to_csv("p.csv", index=False)
    return frame


ASKED = ["estimate", "p.csv", "--target", "y", "--metric", "mean_absolute_error", "--n-bootstraps", "100"]


@pytest.mark.parametrize("length", ["auto", "6", "stationary:6"])
def test_it_is_the_estimate_of_the_library(command: Command, series: pd.DataFrame, length: str) -> None:
    ended = command(*ASKED, "--block-length", length, "--json")
    found = json.loads(ended.out)
    known = ho.estimate(
        series["y"], series[["m1", "m2"]], metric="mean_absolute_error", n_bootstraps=100, random_state=0,
        block_length=length,
    )  # fmt: skip

    assert found["interval"] == known.to_dict()["interval"]
    assert found["provenance"]["block_length"] == known.provenance["block_length"] > 1
    assert "row_blocks" in [each["flag"] for each in found["flags"]]
    assert "bootstraps draw" in command(*ASKED, "--block-length", length).out


@pytest.mark.usefixtures("tiny_space")
def test_tune_draws_blocks_and_its_file_remembers_them(command: Command, series: pd.DataFrame) -> None:
    tuned = command(
        "tune", "p.csv", "--target", "y", "--n-jobs", "1", "--n-bootstraps", "60", "--block-length", "stationary:5",
        "--out", "out", "--json",
    )  # fmt: skip
    assert tuned.code == 0
    again = json.loads(command("estimate", "out/predictions.parquet", "--json").out)

    assert again["provenance"]["block_length"] == 5
    assert again["provenance"]["block_kind"] == "stationary"
    saved = json.loads(Path("out/estimate.json").read_text(encoding="utf-8"))
    assert saved["interval"] == again["interval"]
    assert saved["provenance"]["block_length"] == 5
    assert command("estimate", "out/predictions.parquet", "--method", "cv").code == 0
