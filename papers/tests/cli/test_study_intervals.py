"""``heldout study intervals``: what it leaves, prints and refuses."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from study_options import typed_options

from heldout_papers import IntervalStudy, intervals
from heldout_papers.cli.intervals import OPTIONS

Command = Callable[..., Any]
PAGE = Path(__file__).parents[2] / "pages" / "study-intervals.md"
EVIDENCE = Path(__file__).parents[2] / "evidence"
SMALL = [
    "study", "intervals", "--rows", "50", "--configurations", "20", "--prevalence", "0.1,0.4", "--beta", "24,6",
    "--repetitions", "4", "--bootstraps", "20", "--n-jobs", "1",
]  # fmt: skip


def test_it_leaves_the_numbers_of_the_library(command: Command) -> None:
    ended = command(*SMALL, "--seed", "3")
    expected = intervals(50, 20, [0.1, 0.4], [(24, 6)], repetitions=4, n_bootstraps=20, random_state=3)
    document = json.loads(Path("heldout-study/study.json").read_text())
    each = pd.read_parquet("heldout-study/intervals.parquet")

    assert ended.code == 0, ended.err
    pd.testing.assert_frame_equal(each, expected.to_frame(each=True), check_dtype=False, check_categorical=False)
    pd.testing.assert_frame_equal(
        IntervalStudy.from_frame(each).to_frame(), expected.to_frame(), rtol=1e-5, atol=1e-6
    )
    assert document["command"] == f"heldout {' '.join(SMALL)} --seed 3"
    assert [row["method"] for row in document["rows"][:10]] == list(expected.methods)
    assert document["rows"][2]["inclusion"] is None and "too few rows" in document["rows"][2]["failures"]
    assert "Plan: 2 settings x 4 repetitions = 8 matrices of predictions, by bbc, bbc_f, delong" in ended.out
    assert "Inclusion (tightness); * inclusion rejected" in ended.out
    assert ended.err.splitlines()[-1] == "2 of 2 batches"
    assert document["command"] in Path("heldout-study/report.html").read_text(encoding="utf-8")


def test_finished_batches_are_not_repeated(command: Command) -> None:
    small = [*SMALL, "--repetitions", "12", "--methods", "bbc_f,naive_bootstrap", "--seed", "1"]
    command(*small)
    first = Path("heldout-study/study.json").read_text()
    next(Path("heldout-study/batches").iterdir()).unlink()
    resumed = command(*small, "--resume")

    assert resumed.code == 0
    assert resumed.err.splitlines() == ["3 of 4 batches are done already", "4 of 4 batches"]
    assert json.loads(Path("heldout-study/study.json").read_text())["rows"] == json.loads(first)["rows"]


def test_quick_is_every_setting_with_less_of_everything(command: Command) -> None:
    """With two methods of few rows here; with all it is under half a minute on two cores."""
    always = {"task": "binary", "folds": 10, "confidence_level": 0.95, "random_state": 0}
    assert typed_options(OPTIONS).arguments == always | {"repetitions": 30, "n_bootstraps": 500}
    ended = command(
        "study", "intervals", "--quick", "--rows", "50", "--configurations", "30", "--methods", "bbc,bbc_f",
        "--repetitions", "15", "--bootstraps", "100", "--n-jobs", "1", "--seed", "0", "--json", "--quiet",
    )  # fmt: skip
    document = json.loads(ended.out)

    assert ended.code == 0 and ended.err == ""
    assert document["repetitions"] == 15 and document["n_bootstraps"] == 100
    assert len(document["rows"]) == 2 * 2 * 2
    assert document["claims"] == []
    assert document["true_performance"].keys() == {"all rows"}
    for row in document["rows"]:
        assert row["inclusion"] > 0.7 and row["tightness"] > 0


@pytest.mark.parametrize("task", ["multiclass", "regression"])
def test_other_tasks(command: Command, task: str) -> None:
    ended = command(
        "study", "intervals", "--task", task, "--rows", "60", "--configurations", "10", "--repetitions", "3",
        "--bootstraps", "20", "--confidence-level", "0.9", "--folds", "5", "--n-jobs", "1",
    )  # fmt: skip
    assert ended.code == 0, ended.err
    assert "by bbc, bbc_f, naive_bootstrap, seed" in ended.out
    assert set(pd.read_parquet("heldout-study/intervals.parquet")["confidence_level"]) == {0.9}


@pytest.mark.slow
@pytest.mark.pages
def test_the_commands_and_the_python_of_the_page(command: Command, tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    commands = re.findall(r"^    \$ heldout (.*)$", page, flags=re.MULTILINE)
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    for line in commands:  # of options that are named twice the last counts
        ended = command(
            *shlex.split(line), "--repetitions", 2, "--bootstraps", 5, "--rows", "50,60", "--configurations", 20,
            "--n-jobs", 1,
        )  # fmt: skip
        assert ended.code == 0, (line, ended.err)
    names: dict[str, Any] = {}
    for block in blocks:
        small = block.replace("repetitions=100", "repetitions=3")
        exec(compile(small.replace("papers/evidence", str(EVIDENCE)), "page", "exec"), names)

    assert (len(commands), len(blocks)) == (4, 2)
    for folder in ("quick", "mine", "numbers", "all"):
        found = {path.name for path in (tmp_path / folder).iterdir()}
        assert found == {"batches", "intervals.parquet", "intervals.csv", "study.json", "report.html"}
    assert len(names["table"]) == 10
    assert len(names["claims"]) == 23


REFUSED = {
    "rows": (["--rows", "50,x"], "--rows must be whole numbers with commas between, such as 20,40, got '50,x'"),
    "prevalence": (["--prevalence", "0.7"], "--prevalence must be above 0 and up to 0.5"),
    "no number": (["--prevalence", "half"], "--prevalence must be numbers with commas between, such as 0.1,0.5"),
    "beta": (["--beta", "9"], "--beta must be two numbers with a comma between, such as 9,6, got '9'"),
    "beta of 0": (["--beta", "0,6"], "--beta must be two numbers above 0"),
    "methods": (["--methods", "wilson"], "--methods of a binary task must be some of bbc, bbc_f"),
    "level": (["--confidence-level", "95"], "--confidence-level must be above .5 and below 1, got 95"),
    "bootstraps": (["--bootstraps", "0"], "--bootstraps must be a whole number"),
    "too few": (["--rows", "10", "--prevalence", "0.1"], "with --rows 10 and --prevalence 0.1 the rarest has 1"),
    "of numbers": (["--task", "regression", "--prevalence", "0.1"], "--prevalence is the share of a class"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused_in_words_of_the_options(command: Command, name: str) -> None:
    options, reason = REFUSED[name]
    ended = command("study", "intervals", *options)
    assert ended.code == 2
    assert reason in ended.last
    assert not Path("heldout-study").exists()
