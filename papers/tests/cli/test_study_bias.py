"""``heldout study bias``: what it leaves, prints and refuses, and that it is gone on with after an interruption."""

import json
import os
import signal
import time
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from forked import Forked
from study_options import typed_options

from heldout_papers import bias
from heldout_papers.cli import STUDIES
from heldout_papers.cli.bias import OPTIONS
from heldout_papers.cli.progress import StudyProgress

Command = Callable[..., Any]
SMALL = [
    "study", "bias", "--rows", "20,40", "--configurations", "50", "--beta", "9,6", "--repetitions", "30",
    "--bootstraps", "50", "--n-jobs", "1",
]  # fmt: skip


def test_it_leaves_the_numbers_of_the_library(command: Command) -> None:
    ended = command(*SMALL, "--seed", "3")
    expected = bias([20, 40], 50, [(9, 6)], repetitions=30, n_bootstraps=50, random_state=3)
    document = json.loads(Path("heldout-study/study.json").read_text())

    assert ended.code == 0, ended.err
    assert pd.read_parquet("heldout-study/bias.parquet").equals(expected.to_frame(each=True))
    assert pd.read_parquet("heldout-study/moments.parquet").equals(expected.moments().to_frame())
    table = pd.read_csv("heldout-study/bias.csv")
    pd.testing.assert_frame_equal(table, expected.to_frame(), check_dtype=False)
    assert document["rows"] == expected.rows()
    assert document["command"] == f"heldout {' '.join(SMALL)} --seed 3"
    page = Path("heldout-study/report.html").read_text(encoding="utf-8")
    assert document["command"] in page
    assert "Be(9, 6), mean accuracy 0.6" in page
    assert (
        "Plan: 2 settings x 30 repetitions = 60 matrices of predictions, by cv, tt, nested_cv, bbc, bced, "
        "of accuracy" in ended.out
    )
    assert ended.err.splitlines()[-1] == "4 of 4 batches"


def test_json_is_one_document(command: Command) -> None:
    ended = command(*SMALL, "--json", "--quiet", "--protocols", "cv,bbc")
    document = json.loads(ended.out)

    assert ended.err == ""
    assert [row["protocol"] for row in document["rows"]] == ["cv", "bbc"] * 2
    assert document["claims"] == []
    assert all(Path(path).exists() for path in document["files"].values())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        pytest.param(
            ["--metric", "roc_auc", "--prevalence", "0.7"],
            [
                "ROC AUC, 0.7 of the rows positive",
                "true areas",
                "mean area 0.6",
                "estimate less truth",
                "Paraschakis",
            ],
            id="areas",
        ),
        pytest.param(
            ["--metric", "mean_squared_error"],
            ["mean squared error", "true shares of variance explained", "mean R² 0.6", "truth less estimate"],
            id="errors",
        ),
    ],
)
def test_of_another_metric(command: Command, options: list[str], said: list[str]) -> None:
    ended = command(*SMALL, "--rows", "40", "--repetitions", 2, *options)
    document = json.loads(Path("heldout-study/study.json").read_text())
    page = Path("heldout-study/report.html").read_text(encoding="utf-8")

    assert ended.code == 0, ended.err
    assert document["metric"] == options[1]
    assert document.get("prevalence") == (0.7 if "--prevalence" in options else None)
    assert all(words in page for words in said)


def test_finished_batches_are_not_repeated(command: Command) -> None:
    command(*SMALL)
    kept = sorted(Path("heldout-study/batches").iterdir())
    first = Path("heldout-study/study.json").read_text()
    kept[0].unlink()

    refused = command(*SMALL)
    resumed = command(*SMALL, "--resume")

    assert refused.code == 2
    assert refused.last == (
        "Error: heldout-study holds a study already; go on with it (--resume), or choose another folder with --out."
    )
    assert resumed.code == 0
    assert resumed.err.splitlines() == ["3 of 4 batches are done already", "4 of 4 batches"]
    again = json.loads(Path("heldout-study/study.json").read_text())
    assert again["rows"] == json.loads(first)["rows"]


def test_a_folder_with_a_run_of_another_command_is_left_alone(command: Command) -> None:
    Path("heldout-study").mkdir()
    Path("heldout-study/run.db").write_text("")

    assert command(*SMALL, "--resume").code == 2
    assert not Path("heldout-study/report.html").exists()


def test_resuming_nothing_begins_and_says_so(command: Command) -> None:
    ended = command(*SMALL, "--resume")

    assert ended.code == 0
    assert "Note: heldout-study holds no study yet, so there is nothing to resume; a new one begins." in ended.err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--rows a", "--rows must be whole numbers with commas between, such as 20,40, got 'a'."),
        ("--rows 5", "--folds must be at most the number of rows, got --folds 10 and --rows 5."),
        ("--rows 1", "--rows must be whole numbers from 2 on, got 1."),
        ("--configurations 1", "--configurations must be whole numbers from 2 on, got 1."),
        ("--beta 9", "--beta must be two numbers with a comma between, such as 9,6, got '9'."),
        ("--beta 9,0", "--beta must be two numbers above 0, such as 9,6, got '9,0'."),
        ("--beta nan,1", "--beta must be two numbers above 0, such as 9,6, got 'nan,1'."),
        ("--folds 1", "--folds must be a whole number from 2 on, got 1."),
        ("--repetitions 0", "--repetitions must be a whole number from 1 on, got 0."),
        ("--bootstraps 0", "--bootstraps must be a whole number from 1 on, got 0."),
        ("--protocols cv,ncv", "--protocols must be some of cv, tt, nested_cv, bbc, bced, got ['cv', 'ncv']."),
        ("--metric auc", "--metric must be one of accuracy, roc_auc, mean_squared_error, got 'auc'."),
        ("--prevalence 0.2", "--prevalence 0.2 is for --metric roc_auc, whose rows have classes; leave it out."),
        (
            "--metric roc_auc --prevalence 1.5",
            "--prevalence must be a number between 0 and 1, got 1.5.",
        ),
        (
            "--metric roc_auc --rows 30 --prevalence 0.2",
            "every fold must hold both classes, and of --rows 30 with --prevalence 0.2 only 6 are of the rarer "
            "one, fewer than --folds 10; ask for more rows, or for fewer folds.",
        ),
        ("--n-jobs 0", "--n-jobs must be a number of processes, -1 for every core, or None, got 0."),
        ("--seed -1", "--seed must be from 0 to 2**64 - 1, got -1."),
    ],
    ids=lambda value: value.split()[0] if value.count(" ") == 1 else "",
)
def test_bad_input_is_one_sentence(command: Command, options: str, sentence: str) -> None:
    ended = command("study", "bias", *options.split())

    assert (ended.code, ended.err.strip()) == (2, f"Error: {sentence}")
    assert not Path("heldout-study").exists()


def test_an_unknown_study(command: Command) -> None:
    ended = command("study", "bais")

    assert ended.code == 2
    assert ended.last == (
        f"Error: there is no study 'bais'; the studies are {', '.join(STUDIES)}. Did you mean bias?"
    )


def test_quick_sets_smaller_values_and_typed_options_override_them() -> None:
    always = {"metric": "accuracy", "folds": 10, "random_state": 0}
    quick = {"beta": ((9.0, 6.0),), "repetitions": 30, "n_bootstraps": 200}
    mine = typed_options(OPTIONS, repetitions=7, beta=("2,3", "4,5"), rows="20,30")

    assert typed_options(OPTIONS).arguments == always | quick
    assert mine.arguments == always | quick | {
        "repetitions": 7,
        "beta": [(2.0, 3.0), (4.0, 5.0)],
        "rows": (20, 30),
    }
    assert typed_options(OPTIONS, quick=False).arguments == always


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_says_what_is_left_now_and_then() -> None:
    now, log = [0.0], StringIO()
    progress = StudyProgress(log, lambda: now[0])

    for done in range(21, 41):  # a second each
        now[0] += 1.0
        progress(done, 40, now[0])

    assert log.getvalue().splitlines() == [
        "20 of 40 batches are done already",
        "24 of 40 batches, 16 s left",
        "28 of 40 batches, 12 s left",
        "32 of 40 batches, 8 s left",
        "36 of 40 batches, 4 s left",
        "40 of 40 batches",
    ]


def test_progress_on_a_terminal_is_one_line() -> None:
    now, terminal = [0.0], Terminal()
    progress = StudyProgress(terminal, lambda: now[0])

    for done in (1, 2):
        now[0] += 1.0
        progress(done, 2, now[0])

    assert terminal.getvalue() == "\r\033[K1 of 2 batches, 1 s left\r\033[K2 of 2 batches\n"


PROGRAM = """
import os, sys

os.chdir(sys.argv[1])
from heldout.cli import main

main(sys.argv[2:])
"""


@pytest.mark.processes
@pytest.mark.skipif(os.name != "posix", reason="signals to process groups are POSIX")
def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(tmp_path: Path, command: Command) -> None:
    long = ["study", "bias", "--rows", "200", "--configurations", "100", "--beta", "9,6"]
    process = Forked(
        PROGRAM, tmp_path, *long, "--repetitions", 100000, "--protocols", "cv", "--n-jobs", 2, "--out", "cut"
    )
    batches, deadline = tmp_path / "cut" / "batches", time.monotonic() + 120
    while len(list(batches.glob("*.npz"))) < 2:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, "no batch was finished in two minutes"
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=120)
    kept = len(list(batches.glob("*.npz")))

    assert process.returncode == 130, err
    assert "Traceback" not in err
    said = err.splitlines()  # joblib's tracker, which outlives a forked program, may write below it
    place = said.index(f"Interrupted. What was finished is kept in {Path('cut/batches')}; to go on:")
    assert said[place + 1].strip() == (
        f"heldout {' '.join(long)} --repetitions 100000 --protocols cv --n-jobs 2 --out cut --resume"
    )
    assert not list(batches.glob(".*"))

    shorter = command(*long, "--repetitions", 25, "--protocols", "cv", "--n-jobs", 1, "--out", "cut", "--resume")

    assert shorter.code == 0
    assert len(list(batches.glob("*.npz"))) - kept in (0, 1)  # 1 where its batch was at work when it was cut
