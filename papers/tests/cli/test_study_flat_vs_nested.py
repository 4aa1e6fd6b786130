"""``heldout study flat-vs-nested``: what it leaves, prints and refuses."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from heldout_papers import flat_vs_nested
from heldout_papers.flat_vs_nested.result import SECONDS

Command = Callable[..., Any]
QUICKER = [
    "study", "flat-vs-nested", "tables", "--scenario", "top3", "--folds", "2", "--quick", "--n-jobs", "1",
    "--seed", "3",
]  # fmt: skip


MODELS = """
from scipy.stats import randint
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

own = [("knn", KNeighborsClassifier(), {"n_neighbors": [1, 5]}), ("bayes", GaussianNB(), {})]
drawn = [("knn", KNeighborsClassifier(), {"n_neighbors": randint(1, 9)})]

def of_sample(X, y):
    return [("knn", KNeighborsClassifier(), {"n_neighbors": [1, len(y) // 4]}), ("bayes", GaussianNB(), {})]

def trial(one):
    return KNeighborsClassifier(one.suggest_int("k", 1, 9))
"""

pytestmark = pytest.mark.usefixtures("small_top3")


@pytest.fixture(autouse=True)
def tables(command: Command) -> None:
    """Four tables in the folder in which commands run."""
    Path("tables").mkdir()
    cancer = load_breast_cancer(as_frame=True).frame.iloc[:, [0, 1, 4, 30]].rename(columns={"target": "ill"})
    for name, n in [("a", 44), ("b", 80), ("c", 48), ("d", 42)]:
        cancer.iloc[n : 2 * n].rename(columns={"ill": "target"}).to_csv(f"tables/{name}.csv", index=False)
    Path("tables/notes.csv").write_text("text\nnothing\n")
    Path("models.py").write_text(MODELS)


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
    assert "--scenario must be one of top3, full, ard, got 'none'." in ended.err
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
        (["--algorithms", "rf,svm"], "--algorithms must be some of bst, gbm, "),
        (["--space", "models.py:own", "--algorithms", "knn,svm"], "--algorithms must be some of knn, bayes, got"),
        (["--space", "models.py:drawn"], "--space models.py:drawn: the study needs grids, got a distribution of"),
        (["--space", "models.py:trial"], "--space models.py:trial: the study needs estimators with grids, got a"),
        (["--metric", "r2"], "--metric 'r2' is for regression, but the study compares classifiers"),
        (["--metric", "calibration_slope"], "calibration_slope is best at 1, and neither direction is better"),
        (["--max-rows", "3"], "--max-rows must be a whole number from 20 on, got 3."),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_what_cannot_be_studied_is_refused(command: Command, options: list[str], said: str) -> None:
    ended = command(*QUICKER[:3], *options)
    assert ended.code == 2
    assert said in ended.err
    assert not Path("heldout-study").exists()


def test_own_algorithms_some_of_them_another_metric_and_three_classes(command: Command) -> None:
    load_iris(as_frame=True).frame.to_csv("tables/iris.csv", index=False)
    how = ["--folds", "2", "--repetitions", "2", "--max-rows", "60", "--n-jobs", "1", "--quiet", "--seed", "3"]
    options = ["--metric", "log_loss", "--multiclass", "--independent-folds", "--tables", "a,iris", "--json"]
    ended = command(*QUICKER[:3], "--space", "models.py:of_sample", *how, *options)
    assert ended.code == 0, ended.err
    document = json.loads(ended.out)
    found = pd.read_parquet("heldout-study/flat-vs-nested.parquet")
    expected = flat_vs_nested(
        "tables", names=["a", "iris"], algorithms=of_sample, folds=2, repetitions=2, max_rows=60, metric="log_loss",
        multiclass=True, independent_folds=True, random_state=3,
    )  # fmt: skip
    same = [name for name in found.columns if name not in SECONDS]
    pd.testing.assert_frame_equal(found[same], expected.to_frame(each=True)[same], check_dtype=False)
    assert (document["metric"], document["independent_folds"], document["claims"]) == ("log_loss", True, [])
    # Of a loss the lower is chosen, and is the gain.
    each = found.set_index(["table", "repetition", "algorithm"])
    gains = []
    for place in [(table, r) for table in ("a", "iris") for r in (0, 1)]:
        nested, flat = (each.loc[place][what].astype(float).round(7).idxmin() for what in ("nested", "flat"))
        gains.append(each.loc[(*place, flat), "future"] - each.loc[(*place, nested), "future"])
    main = next(row for row in document["rows"] if row["analysis"] == "main")
    assert main["mean_gain"] == pytest.approx(sum(gains) / 4)

    ended = command(
        *QUICKER[:3], "--space", "models.py:own", "--algorithms", "bayes", *how, "--tables", "a", "--out", "other"
    )
    assert ended.code == 0, ended.err
    assert pd.read_parquet("other/flat-vs-nested.parquet").algorithm.unique().tolist() == ["bayes"]


def of_sample(X: Any, y: Any) -> list[Any]:
    return [("knn", KNeighborsClassifier(), {"n_neighbors": [1, len(y) // 4]}), ("bayes", GaussianNB(), {})]
