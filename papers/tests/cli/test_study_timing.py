"""``heldout study timing``: what it leaves, prints and refuses."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from study_options import typed_options

from heldout_papers import timing
from heldout_papers.cli.timing import OPTIONS

Command = Callable[..., Any]
SMALL = [
    "study", "timing", "--rows", "30,60", "--configurations", "3", "--folds", "3", "--centre", "30,3,3",
    "--repetitions", "2", "--bootstraps", "20",
]  # fmt: skip


def test_it_leaves_the_bounds_of_the_library(command: Command) -> None:
    ended = command(*SMALL, "--seed", "3")
    expected = timing([30, 60], 3, 3, centre=(30, 3, 3), repetitions=2, n_bootstraps=20, random_state=3)
    document = json.loads(Path("heldout-study/study.json").read_text())

    assert ended.code == 0, ended.err
    frame = pd.read_parquet("heldout-study/timing.parquet")
    assert frame["bound"].tolist() == expected.to_frame(each=True)["bound"].tolist()
    assert (document["study"], document["centre"]) == ("timing", {"rows": 30, "configurations": 3, "folds": 3})
    assert "Plan: 2 settings x 2 repetitions, timed by bbc, bbc_f, plain_bbc, plain_bbc_f, seed 3." in ended.out
    assert "How long BBC and BBC-F take" in Path("heldout-study/report.html").read_text(encoding="utf-8")


def test_finished_batches_keep_their_times(command: Command) -> None:
    command(*SMALL)
    first = json.loads(Path("heldout-study/study.json").read_text())
    resumed = command(*SMALL, "--resume")

    assert resumed.code == 0
    assert json.loads(Path("heldout-study/study.json").read_text())["rows"] == first["rows"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--n-jobs 2", "times are taken in one process, so --n-jobs can only be 1, got 2; leave it out."),
        ("--n-jobs -1", "times are taken in one process, so --n-jobs can only be 1, got -1; leave it out."),
        ("--rows a", "--rows must be whole numbers with commas between, such as 20,40, got 'a'."),
        ("--centre 500,5", "--centre must be three numbers: rows, configurations and folds, got (500, 5)."),
        ("--ways ncv", "--ways must be some of bbc, bbc_f, plain_bbc, plain_bbc_f, got ['ncv']."),
        ("--bootstraps 0", "--bootstraps must be a whole number from 1 on, got 0."),
        (
            "--folds 300",
            "every fold needs rows of both classes, so folds must be at most half of rows, got --folds 300 and "
            "--rows 500.",
        ),
    ],
    ids=["two processes", "all cores", "rows", "centre", "ways", "bootstraps", "folds"],
)
def test_bad_input_is_one_sentence(command: Command, options: str, sentence: str) -> None:
    ended = command("study", "timing", *options.split())

    assert (ended.code, ended.err.strip()) == (2, f"Error: {sentence}")
    assert not Path("heldout-study").exists()


def test_quick_sets_smaller_values_and_typed_options_override_them() -> None:
    quick = {"rows": (50, 500, 5000), "configurations": (5, 50), "folds": (3, 10, 50), "repetitions": 10}
    mine = typed_options(OPTIONS, rows="20,30", repetitions=7)

    assert typed_options(OPTIONS).arguments == quick | {"random_state": 0}
    assert mine.arguments == quick | {"rows": (20, 30), "repetitions": 7, "random_state": 0}
    assert typed_options(OPTIONS, quick=False).arguments == {"random_state": 0}
