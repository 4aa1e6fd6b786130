"""``heldout study corrections``: what it leaves, what it refuses, and the step from tables to kept searches."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from kept_examples import some_searches
from sklearn.datasets import make_regression
from study_options import typed_options

from heldout_papers import corrections
from heldout_papers.cli.corrections import OPTIONS, corrections_arguments, methods_typed
from heldout_papers.corrections.kept import search_file, write_searches
from heldout_papers.corrections.space import regressors
from heldout_papers.corrections.table_search import search_on_sample

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


def test_kept_searches_are_scored_without_any_table(command: Command) -> None:
    write_searches(some_searches(), "kept.parquet")

    ended = command(
        "study", "corrections", "--part", "tables", "--searches", "kept.parquet", "--quick", "--n-jobs", 1
    )

    assert ended.code == 0, ended.err
    assert "Plan: 2 settings x 4 repetitions" in ended.out
    assert len(pd.read_parquet("heldout-study/cells.parquet")) == 15 * 4
    assert not Path("heldout-study/searches.parquet").exists()


def test_tables_are_searched_kept_and_scored(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_regression(420, 3, noise=20, random_state=0)
    Path("tables").mkdir()
    pd.DataFrame(X.round(3), columns=list("abc")).assign(target=y.round(2)).to_csv(
        "tables/numbers.csv", index=False
    )
    Path("tables/odd.csv").write_text("a,target\n1,x\n2,y\n")
    monkeypatch.setitem(search_on_sample.__globals__, "regressors", lambda X: regressors(X)[:1])
    asked = [
        "study", "corrections", "--part", "tables", "--tables", "tables", "--rows", "40", "--repetitions", 2,
        "--bootstraps", 30, "--methods", "cv,bbc", "--n-jobs", 1,
    ]  # fmt: skip

    ended = command(*asked)
    again = command(*asked, "--resume")

    assert ended.code == 0, ended.err
    assert (
        "Plan: 2 searches on 1 table, 2 of each kind and number of rows, and then every method on each" in ended.out
    )
    assert "odd is left out: it has 2 rows." in ended.err
    (group,) = search_file("heldout-study/searches.parquet").groups
    assert (group.kind, group.rows, group.repetitions) == ("regression", 40, 2)
    document = json.loads(Path("heldout-study/study.json").read_text())
    assert document["left_out"] == {"odd": "it has 2 rows"}
    assert again.code == 0
    assert again.err.count("are done already") == 0
    scored = command(
        "study", "corrections", "--part", "tables", "--searches", "heldout-study/searches.parquet", "--out", "again"
    )
    assert scored.code == 0, scored.err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--methods nope", "--methods must be some of cv, tt, bbc"),
        ("--rows 10", "--rows must be whole numbers from 20 on, got 10."),
        (
            "--part tables",
            '--part "tables" takes --searches, a file of kept searches, or --tables, a folder of tables',
        ),
        ("--searches kept", "--searches is for part \"tables\", got part 'independent'; leave it out."),
        ("--part tables --searches none", "--searches must be a file of kept searches, and none is none."),
        ("--part tables --tables none", "none is no folder; give one that holds tables, CSV or Parquet."),
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

    always = {"aggregate": "pooled", "random_state": 0, "repetitions": 20, "n_bootstraps": 100}
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
