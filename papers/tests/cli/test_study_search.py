"""``heldout study search``: what it leaves and prints, what is less of ``--quick``, and what it refuses."""

import json
import re
import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from study_options import typed_options

from heldout._record import json_safe
from heldout_papers import SearchStudy
from heldout_papers.cli.search import OPTIONS, search_arguments
from heldout_papers.spaces.tsamardinos2018 import tsamardinos2018

Command = Callable[..., Any]
PAGE = Path(__file__).parents[2] / "pages" / "study-search.md"
OF_TASK = {"regression": "numbers", "survival": "times"}
SMALL = [
    "--rows", "20", "--subsamples", "1", "--trees", "2", "--configurations", "3", "--folds", "4", "--repeats", "2",
    "--bootstraps", "30", "--quick", "--n-jobs", "1",
]  # fmt: skip


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """Three tables of two classes, narrow ones first, and one that is too small."""
    folder = tmp_path / "tables"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for name, n, p in (("narrow", 90, 2), ("middle", 90, 3), ("wide", 90, 6), ("tiny", 30, 2)):
        X = rng.normal(size=(n, p))
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(p)])
        frame.assign(target=(X[:, 0] + rng.normal(size=n) > 0).astype(int)).to_csv(
            folder / f"{name}.csv", index=False
        )
    return folder


def test_quick_leaves_its_files_and_goes_on_from_them(command: Command, tables: Path) -> None:
    ended = command("study", "search", "tables", *SMALL)
    document = json.loads(Path("heldout-study/study.json").read_text())
    again = SearchStudy.from_frame(pd.read_parquet("heldout-study/search.parquet"), folds=4, n_bootstraps=30)

    assert ended.code == 0, ended.err
    assert document["tables"] == ["middle", "narrow"]
    assert document["left_out"] == {}
    assert document["space"] == "tsamardinos2018(n_trees=2)"
    assert document["rows"] == json_safe(again.rows())
    assert document["command"] == " ".join(["heldout study search tables", *SMALL])
    assert document["command"] in Path("heldout-study/report.html").read_text(encoding="utf-8")
    pd.testing.assert_frame_equal(pd.read_csv("heldout-study/search.csv"), again.to_frame(), check_dtype=False)
    assert ended.out.splitlines()[0] == (
        "Plan: 2 tables, 2 sizes of sub-samples in all, 1 sub-sample of each; on each 14 fits a configuration "
        "(4 folds, 2 repeats, and without every two folds), seed 0."
    )
    assert "Mean bias over the tables, with its standard error" in ended.out

    refused = command("study", "search", "tables", *SMALL)
    longer = command("study", "search", "tables", *SMALL, "--resume", "--tables", "narrow,middle,wide")

    assert refused.code == 2
    assert longer.code == 0, longer.err
    assert longer.err.splitlines() == ["2 of 3 batches are done already", "3 of 3 batches"]


def test_a_note_names_what_is_left_out(command: Command, tables: Path) -> None:
    ended = command("study", "search", "tables", *SMALL, "--tables", "narrow,tiny")

    assert ended.code == 0, ended.err
    assert "Note: tiny with 20 rows is left out: its pool has 9 rows." in ended.err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--rows a", "--rows must be whole numbers with commas between, such as 20,40, got 'a'."),
        ("--rows 10", "--rows must be at least twice the folds, for stratified folds with rows of both classes, "
                      "got --rows 10 and --folds 10."),
        ("--folds 2", "--folds must be a whole number from 3 on, got 2."),
        ("--repeats 0", "--repeats must be a whole number from 1 on, got 0."),
        ("--subsamples 0", "--subsamples must be a whole number from 1 on, got 0."),
        ("--bootstraps 0", "--bootstraps must be a whole number from 1 on, got 0."),
        ("--configurations 1", "--configurations must be a whole number from 2 on, got 1; leave it out for all."),
        ("--trees 0", "--trees must be a whole number from 1 on, got 0."),
        ("--space small", "--space must be one of tsamardinos2018, quick, standard, got 'small'."),
        ("--space quick --trees 3", "--trees is of the space tsamardinos2018; leave it out, or --space."),
        ("--tables none", "tables holds no table 'none'; it holds middle, narrow, tiny, wide."),
    ],
    ids=lambda value: value.split()[0].strip("-") + str(value.count(" ")),
)  # fmt: skip
def test_bad_input_is_one_sentence(command: Command, tables: Path, options: str, sentence: str) -> None:
    ended = command("study", "search", "tables", *options.split())

    assert (ended.code, ended.err.strip()) == (2, f"Error: {sentence}")
    assert not Path("heldout-study").exists()


def test_quick_sets_smaller_values_and_typed_options_override_them() -> None:
    always = {"target": "target", "task": "binary", "folds": 10, "random_state": 0}
    quick = search_arguments(typed_options(OPTIONS))
    space = quick.pop("space")
    mine = typed_options(OPTIONS, repeats=4, space="quick", rows="30")

    assert isinstance(space, partial)
    assert (space.func, space.keywords) == (tsamardinos2018, {"n_trees": 10})
    assert quick == always | {
        "rows": (40, 80), "subsamples": 2, "configurations": 8, "repeats": 3, "n_bootstraps": 200,
    }  # fmt: skip
    assert search_arguments(mine)["repeats"] == 4
    assert search_arguments(typed_options(OPTIONS, quick=False)) == always | {"space": "tsamardinos2018"}


@pytest.mark.slow
@pytest.mark.pages
def test_the_commands_and_the_python_of_the_page(command: Command, tables: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    commands = [shlex.split(line) for line in re.findall(r"^    \$ heldout (.*)$", page, flags=re.MULTILINE)]
    first, second = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    (tables / "narrow.csv").rename(tables / "mine.csv")
    for name in ("madelon", "jasmine", "sylvine"):
        (tables / f"{name}.csv").write_bytes((tables / "middle.csv").read_bytes())
    rng, x = np.random.default_rng(1), np.arange(90) / 90
    numbers = pd.DataFrame({"a": x, "b": rng.normal(size=90), "target": x + rng.normal(size=90)})
    numbers.to_csv(tables / "numbers.csv", index=False)
    times = pd.DataFrame({"a": x, "time": rng.exponential(1 + x), "died": (rng.random(90) < 0.7).astype(int)})
    times.to_csv(tables / "times.csv", index=False)
    names: dict[str, Any] = {}

    smaller = [*(option for option in SMALL if option != "--quick"), "--repeats", "1", "--configurations", "2"]
    untreed = [option for n, option in enumerate(smaller) if "--trees" not in smaller[max(n - 1, 0) : n + 1]]
    for line in commands:  # of options that are named twice the last counts
        named = next((name for task, name in OF_TASK.items() if task in line), "mine")
        only = [] if "--tables" in line else ["--tables", named]
        ended = command(*line, *(untreed if "--space" in line else smaller), *only)
        assert ended.code == 0, (line, ended.err)
    few = first.replace("rows=60, subsamples=5", "rows=20, subsamples=1, folds=4, repeats=2, n_bootstraps=20")
    exec(compile(few.replace("n_jobs=-1", "n_jobs=1"), "page", "exec"), names)
    exec(compile(second, "page", "exec"), names)

    assert [line[-1] for line in commands] == ["quick", "mine", "part", "all", "numbers", "times"]
    assert len(names["table"]) == 9 and names["claims"] == ()
