"""``heldout study flat-vs-nested``: what it leaves, prints and refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from heldout_papers import flat_vs_nested
from heldout_papers.flat_vs_nested.result import SECONDS

Command = Callable[..., Any]
QUICKER = [
    "study", "flat-vs-nested", "tables", "--scenario", "top3", "--folds", "2", "--quick", "--n-jobs", "1",
    "--seed", "3",
]  # fmt: skip


pytestmark = pytest.mark.usefixtures("small_top3")


@pytest.fixture(autouse=True)
def tables(command: Command) -> None:
    """Four tables in the folder in which commands run."""
    Path("tables").mkdir()
    cancer = load_breast_cancer(as_frame=True).frame.iloc[:, [0, 1, 4, 30]].rename(columns={"target": "ill"})
    for name, n in [("a", 44), ("b", 80), ("c", 48), ("d", 42)]:
        cancer.iloc[n : 2 * n].rename(columns={"ill": "target"}).to_csv(f"tables/{name}.csv", index=False)
    Path("tables/notes.csv").write_text("text\nnothing\n")


def test_quick_leaves_the_numbers_of_the_library(command: Command) -> None:
    ended = command(*QUICKER)
    assert ended.code == 0, ended.err
    document = json.loads(Path("heldout-study/study.json").read_text())
    found = pd.read_parquet("heldout-study/flat-vs-nested.parquet")
    expected = flat_vs_nested(
        "tables", names=["a"], algorithms="top3", repetitions=1, max_rows=100, folds=2, small=True, random_state=3
    ).to_frame(each=True)
    same = [name for name in found.columns if name not in SECONDS]
    pd.testing.assert_frame_equal(found.loc[found.table == "a", same], expected[same], check_dtype=False)
    assert found.table.unique().tolist() == ["a", "c", "d"]
    assert document["command"] == f"heldout {' '.join(QUICKER)}"
    assert (
        "Plan: 3 tables x 1 half split, 2-fold flat and nested cross-validation of rf, svmRadial, gbm, seed 3."
        in ended.out
    )
    assert "Is nested cross-validation needed" in Path("heldout-study/report.html").read_text(encoding="utf-8")
    assert ended.err.splitlines()[-1] == "3 of 3 batches"


def test_the_document_names_scenario_and_rows(command: Command) -> None:
    ended = command(*QUICKER[:3], "--scenario", "none")
    assert ended.code == 2
    assert "--scenario must be 'top3' or 'full', got 'none'." in ended.err
    ended = command(
        *QUICKER[:3], "--scenario", "top3", "--small", "--folds", "2", "--repetitions", "1", "--max-rows", "40",
        "--n-jobs", "1", "--json", "--quiet", "--tables", "a",
    )  # fmt: skip
    document = json.loads(ended.out)
    assert ended.err == ""
    assert document["algorithms"] == ["rf", "svmRadial", "gbm"]
    assert document["max_rows"] == 40
    assert {row["scenario"] for row in document["rows"]} == {"top3"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--tables", "a,e"], "tables holds no table 'e'; it holds a, b, c, d, notes."),
        (["--target", "nothing"], "tables holds no table that fits: a column 'nothing' with two classes. Left out"),
        (["--repetitions", "0"], "--repetitions must be a whole number from 1 on, got 0."),
        (["--folds", "1"], "--folds must be a whole number from 2 on, got 1."),
        (["--max-rows", "3"], "--max-rows must be a whole number from 20 on, got 3."),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_what_cannot_be_studied_is_refused(command: Command, options: list[str], said: str) -> None:
    ended = command(*QUICKER[:3], *options)
    assert ended.code == 2
    assert said in ended.err
    assert not Path("heldout-study").exists()
