"""``heldout study corrections``: what it leaves, what it refuses, and the step from tables to kept searches."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from real_tables import few_configurations, write_tables
from study_options import typed_options

from heldout_papers import corrections
from heldout_papers.cli.corrections import OPTIONS, corrections_arguments, methods_typed

Command = Callable[..., Any]
SMALL = [
    "study", "corrections", "--rows", "40", "--configurations", "10", "--beta", "9,6", "--repetitions", "12",
    "--bootstraps", "40", "--n-jobs", "1",
]  # fmt: skip


def test_it_leaves_the_numbers_of_the_library(command: Command) -> None:
    ended = command(*SMALL, "--seed", "3", "--methods", "cv,bbc(interval='calibrated'),bbc", "--reference", "cv")
    expected = corrections(
        rows=40, configurations=10, beta=[(9, 6)], repetitions=12, n_bootstraps=40, random_state=3,
        methods=["cv", "bbc(interval='calibrated')", "bbc"], reference="cv",
    )  # fmt: skip
    document = json.loads(Path("heldout-study/study.json").read_text())

    assert ended.code == 0, ended.err
    each = pd.read_parquet("heldout-study/corrections.parquet").drop(columns="seconds")
    pd.testing.assert_frame_equal(each, expected.to_frame(each=True).drop(columns="seconds"))
    cells = pd.read_parquet("heldout-study/cells.parquet")
    assert cells["method"].tolist() == ["cv", "bbc(interval='calibrated')", "bbc"]
    assert cells["rmse_ratio"].tolist()[0] == 1.0
    assert document["reference"] == "cv"
    assert (
        "Plan: 1 setting x 12 repetitions, by cv, bbc(interval='calibrated'), bbc, 40 bootstraps, seed 3."
        in ended.out
    )


def test_tables_are_searched_kept_and_scored(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tables(Path("tables"))
    few_configurations(monkeypatch)
    asked = [
        "study", "corrections", "--part", "tables", "--designs", "r40,r300", "--half", "choosing",
        "--metrics", "r2", "--searches", "kept", "--repetitions", 2, "--bootstraps", 30, "--n-jobs", 1,
    ]  # fmt: skip

    ended = command(*asked, "--tables", "tables")
    kept = Path("kept/r40/choosing_0000.npz").stat()
    again = command(*asked, "--tables", "tables", "--resume")
    scored = command(*asked, "--out", "again")

    assert ended.code == 0, ended.err
    assert "Plan: 2 draws of r40, by shrinkage, bbc, 30 bootstraps, seed 0." in ended.out
    assert "r300 is left out: its choosing half has no kept search, and no table with enough rows." in ended.err
    assert Path("kept/r40/choosing_0000.npz").stat().st_mtime_ns == kept.st_mtime_ns
    each = pd.read_parquet("heldout-study/corrections.parquet")
    assert each["table"].tolist() == ["c_numbers"] * 12
    cells = pd.read_parquet("heldout-study/cells.parquet")
    assert cells["method"].tolist() == ["shrinkage", "bbc", "oracle"] * 3
    assert pd.read_parquet("heldout-study/checks.parquet")["is_equal"].tolist() == [True]
    document = json.loads(Path("heldout-study/study.json").read_text())
    assert (document["designs"], document["searched_again"]) == (["r40"], 1)
    assert again.code == 0
    assert scored.code == 0, scored.err
    assert not Path("again/checks.parquet").exists()
    pd.testing.assert_frame_equal(
        pd.read_parquet("again/corrections.parquet").drop(columns="seconds"), each.drop(columns="seconds")
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--methods nope", "--methods must be some of cv, tt, bbc"),
        ("--rows 10", "--rows must be whole numbers from 20 on, got 10."),
        ("--part tables", '--part "tables" needs --searches, the folder in which searches are kept, got none;'),
        ("--searches kept", "--searches is for part \"tables\", got part 'independent'; leave it out."),
        ("--part tables --searches a --designs b1", "--designs must be some of b40, b100, b300,"),
        (
            "--part tables --searches none --designs b40",
            "--designs must have searches in none or tables, got b40: its judging half",
        ),
        ("--part tables --searches none --tables none", "--tables must be a folder with MANIFEST.csv"),
        ("--metrics f1", '--metrics of part "independent" must be some of accuracy, roc_auc'),
        ("--levels 2", "--levels must be different numbers between 0 and 1, got (2.0,); .9 and .95 are usual."),
        ("--aggregate some", "--aggregate must be one of auto, folds, pooled, within, got 'some'."),
        ("--reference tt", "--reference must be some of cv, bbc, shrinkage, oracle, got 'tt'."),
    ],
)
def test_bad_input_is_one_sentence(command: Command, options: str, sentence: str) -> None:
    ended = command("study", "corrections", *options.split())

    assert ended.code == 2
    assert ended.err.strip().startswith(f"Error: {sentence}")
    assert ended.err.count("\n") == 1
    assert not Path("heldout-study").exists()


def test_quick_sets_what_the_part_has() -> None:
    def arguments(**typed: Any) -> dict[str, Any]:
        return corrections_arguments(typed_options(OPTIONS, **typed))

    always = {"random_state": 0, "repetitions": 20, "n_bootstraps": 100}
    assert arguments() == always | {
        "part": "independent", "rows": (40, 100), "configurations": (10, 50), "beta": ((9.0, 6.0),),
    }  # fmt: skip
    assert arguments(part="correlated", rows="20") == always | {
        "part": "correlated", "rows": (20,), "configurations": (10, 50),
    }  # fmt: skip
    assert arguments(part="tables", searches="kept") == always | {"part": "tables", "searches": "kept"}


def test_methods_are_typed_with_their_settings() -> None:
    assert methods_typed("--methods", "cv,bbc(interval='calibrated', control=False), tt") == [
        "cv", "bbc(interval='calibrated', control=False)", "tt",
    ]  # fmt: skip
