"""``heldout study intervals-on-tables``: what it leaves, prints and refuses."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from study_options import typed_options

from heldout_papers import intervals_on_tables
from heldout_papers.cli.intervals_on_tables import OPTIONS

Command = Callable[..., Any]
SMALL = ["--repetitions", "2", "--bootstraps", "40", "--configurations", "3", "--n-jobs", "1"]


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """Four small tables, and one with a single class."""
    place = tmp_path / "tables"
    place.mkdir()
    rng = np.random.default_rng(0)
    for number, n in enumerate((130, 120, 110, 100)):
        y = np.arange(n) % 2
        frame = pd.DataFrame(rng.normal(size=(n, 2)) + y[:, None], columns=["a", "b"]).assign(target=y)
        frame.to_csv(place / f"t{number}.csv", index=False)
    pd.DataFrame({"a": range(200), "target": [1] * 200}).to_csv(place / "one.csv", index=False)
    return place


def test_it_leaves_the_numbers_of_the_library(command: Command, tables: Path) -> None:
    ended = command("study", "intervals-on-tables", str(tables), "--tables", "t0", *SMALL, "--seed", "3")
    expected = intervals_on_tables(
        tables, names=["t0"], repetitions=2, n_bootstraps=40, configurations=3, random_state=3
    )

    assert ended.code == 0, ended.err
    frame = pd.read_parquet("heldout-study/intervals-on-tables.parquet")
    pd.testing.assert_frame_equal(frame, expected.to_frame(each=True))
    document = json.loads(Path("heldout-study/study.json").read_text())
    assert (document["study"], document["space"]) == ("intervals-on-tables", "light")
    assert "Plan: 1 table x 2 training sets, bounded by bbc, bbc_f, delong" in ended.out
    assert "How often each interval holds on real tables" in Path("heldout-study/report.html").read_text(
        encoding="utf-8"
    )


def test_quick_takes_three_tables_and_a_finished_study_is_not_done_again(command: Command, tables: Path) -> None:
    asked = [
        "study",
        "intervals-on-tables",
        str(tables),
        "--quick",
        *SMALL,
        "--repetitions",
        "1",
        "--methods",
        "bbc",
    ]
    ended = command(*asked)
    first = json.loads(Path("heldout-study/study.json").read_text())
    resumed = command(*asked, "--resume")

    assert ended.code == resumed.code == 0
    assert {row["table"] for row in first["rows"]} == {"t1", "t2", "t3"}
    assert json.loads(Path("heldout-study/study.json").read_text())["rows"] == first["rows"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--train-rows 3", "--train-rows must be a whole number from 4 on, got 3."),
        ("--tables t9", "holds no table 't9'; it holds one, t0, t1, t2, t3."),
        (
            "--tables t3 --train-rows 60",
            "table t3 cannot be used: it has 100 rows, and a training set of 60 would leave too few to score on; "
            "use other --train-rows, or leave it out.",
        ),
        ("--confidence-level 2", "--confidence-level must be above .5 and below 1, got 2.0."),
        ("--methods tt", "--methods of a binary task must be some of bbc, bbc_f, delong, hanley_mcneil"),
        ("--space x", "--space must be one of light, tsamardinos2018, quick, standard, got 'x'."),
        ("--configurations 1", "--configurations must be a whole number from 2 on, got 1; leave it out for all."),
        ("--repetitions 0", "--repetitions must be a whole number from 1 on, got 0."),
    ],
    ids=["train rows", "tables", "a table", "level", "methods", "space", "configurations", "repetitions"],
)
def test_bad_input_is_one_sentence(command: Command, tables: Path, options: str, sentence: str) -> None:
    ended = command("study", "intervals-on-tables", str(tables), *options.split())

    assert ended.code == 2
    assert sentence in ended.err and ended.err.startswith("Error: ") and len(ended.err.splitlines()) == 1
    assert not Path("heldout-study").exists()


def test_a_missing_folder(command: Command) -> None:
    ended = command("study", "intervals-on-tables", "nowhere")

    assert (ended.code, ended.last) == (
        2,
        "Error: nowhere is no folder; give one that holds tables, CSV or Parquet.",
    )


def test_quick_sets_smaller_values_and_typed_options_override_them() -> None:
    always = {"target": "target", "space": "light", "confidence_level": 0.95, "random_state": 0}
    quick = {"repetitions": 3, "configurations": 12, "n_bootstraps": 300}

    assert typed_options(OPTIONS, folder="tables").arguments == quick | always
    assert typed_options(OPTIONS, repetitions=7).arguments == quick | always | {"repetitions": 7}
    assert typed_options(OPTIONS, quick=False).arguments == always
