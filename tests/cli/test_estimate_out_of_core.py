"""``heldout estimate --out-of-core`` says what ``estimate_from_parquet`` says; what it does not use is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import heldout as ho

pytestmark = pytest.mark.usefixtures("options_of_estimate")

Command = Callable[..., Any]
ASKED = ("estimate", "p.parquet", "--target", "truth", "--out-of-core")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 120)
    frame = pd.DataFrame({"truth": np.array(["ill", "well"])[y], "site": np.arange(120) // 8})
    for name in ("one", "two", "three"):
        frame[name] = 1 / (1 + np.exp(-(y + rng.normal(size=120))))
    path = tmp_path / "p.parquet"
    frame.to_parquet(path, row_group_size=50)
    return path


def test_the_command_says_what_the_function_says(command: Command, table: Path) -> None:
    more = ["--n-bootstraps", "60", "--confidence-level", "0.9", "--alternative", "greater", "--seed", "4"]
    more += ["--n-jobs", "2", "--adaptive", "--json"]
    ended = command(*ASKED, "--metric", "roc_auc", "--exclude", "site", "--positive", "ill", *more)
    expected = ho.estimates.estimate_from_parquet(
        table,
        target="truth",
        metric="roc_auc",
        configurations=["one", "two", "three"],
        pos_label="ill",
        n_bootstraps=60,
        confidence_level=0.9,
        alternative="greater",
        adaptive=True,
        random_state=4,
    )

    assert ended.code == 0
    assert json.loads(ended.out) == expected.to_dict()


def test_the_command_names_the_method_and_its_control(command: Command, table: Path) -> None:
    ended = command(
        *ASKED, "--metric", "log_loss", "--exclude", "site", "--n-bootstraps", "60",
        "--method", "bbc", "--control", "on", "--json",
    )  # fmt: skip
    expected = ho.estimates.estimate_from_parquet(
        table,
        target="truth",
        metric="log_loss",
        method=ho.estimates.BBC(control=True),
        configurations=["one", "two", "three"],
        n_bootstraps=60,
        random_state=0,
    )

    assert ended.code == 0
    assert expected.method == "bbc" and expected.provenance["control"] is True
    assert json.loads(ended.out) == expected.to_dict()


def test_what_was_read_is_said(command: Command, table: Path) -> None:
    ended = command(*ASKED, "--metric", "accuracy", "--exclude", "site", "--n-bootstraps", "40")
    assert ended.code == 0
    assert "p.parquet: 120 rows, 3 configurations, read in blocks." in ended.out + ended.err
    assert "winner" in ended.out and "by shrinkage" in ended.out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--metric", "accuracy", "--group", "site"], "--group has no meaning with --out-of-core"),
        (["--metric", "accuracy", "--method", "tt"], "--method has no meaning with --out-of-core"),
        (["--metric", "accuracy", "--method", "all"], "with --out-of-core, which is shrinkage or bbc on all rows"),
        (
            ["--metric", "accuracy", "--method", "nothing"],
            "with --out-of-core, which is shrinkage or bbc on all rows",
        ),
        (["--metric", "accuracy", "--control", "on"], "--control is not a setting of --method shrinkage"),
        (["--metric", "accuracy", "--selection", "within"], "--selection has no meaning with --out-of-core"),
        (["--metric", "accuracy", "--aggregate", "folds"], "--aggregate has no meaning with --out-of-core"),
        (["--metric", "accuracy", "--evaluation-share", "0.5"], "--evaluation-share has no meaning"),
        ([], "--out-of-core needs --metric"),
        (["--metric", "accuracy", "--exclude", "nothing"], "has no column 'nothing'"),
        (["--metric", "f1"], "cannot be summed over blocks"),
    ],
)
def test_options_of_a_table_in_memory_are_refused(
    command: Command, table: Path, options: list[str], sentence: str
) -> None:
    ended = command(*ASKED, *options)
    assert ended.code == 2
    assert sentence in ended.err


def test_a_number_of_workers_alone_is_refused(command: Command, table: Path) -> None:
    ended = command("estimate", "p.parquet", "--target", "truth", "--n-jobs", "2")
    assert ended.code == 2
    assert "--n-jobs is for --out-of-core" in ended.err
