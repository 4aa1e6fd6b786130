"""``heldout tune`` from a file to its files, in this process with a space of two configurations."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from stored_cells import stored_seconds

from heldout.execution.listeners.words import work_words
from heldout.readers.saved_model import load_model
from heldout.report.render import write_report

Run = Callable[..., Any]
Write = Callable[..., Path]
TUNE = "tune data.csv --target outcome --n-jobs 1 --n-bootstraps 50 --cv 2"
FILES = {"run.db", "model.skops", "model.trusted.json", "predictions.parquet", "estimate.json", "report.html",
         "methods.md", "card.md"}  # fmt: skip
SAME = ("value", "interval", "uncorrected", "distribution", "selection_frequency", "selected_name")

pytestmark = pytest.mark.usefixtures("tiny_space")


@pytest.fixture(autouse=True)
def data(command: Any, table: Write) -> None:
    table()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    """A folder for the finished run, and how its command ended, once it has."""
    return tmp_path_factory.mktemp("kept") / "out", []


@pytest.fixture
def finished(run: Run, data: None, tiny_space: None, tmp_path: Path, kept: tuple[Path, list[Any]]) -> Any:
    """``out`` after ``heldout tune data.csv --json``, which runs once and is copied for each test."""
    folder, ended = kept
    if not ended:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("heldout.report.write_report", write_report)
            ended.append(run(f"{TUNE} --out out --json"))
        shutil.copytree(tmp_path / "out", folder)
    else:
        shutil.copytree(folder, tmp_path / "out")
    return ended[0]


def read(name: str) -> Any:
    return json.loads(Path(name).read_text(encoding="utf-8"))


def test_a_table_becomes_a_model_an_estimate_and_a_report(finished: Any, frame: pd.DataFrame) -> None:
    written = {path.name for path in Path("out").iterdir()}
    assert written >= FILES and not [name for name in written if name.startswith(".")]  # nothing half-written
    document, estimate = json.loads(finished.out), read("out/estimate.json")
    assert {name: document[name] for name in estimate} == estimate
    assert document["winner"]["params"]["model"] == "logistic" and document["set_aside"] == {"constant": "constant"}
    assert document["n_fits"] == 4 and document["task"] == "binary"
    assert all(Path(path).exists() for path in document["files"].values())
    assert "60 rows" in finished.err
    assert estimate["interval"]["low"] <= estimate["value"] <= estimate["interval"]["high"]
    assert estimate["optimism"] == pytest.approx(estimate["uncorrected"] - estimate["value"])
    assert (estimate["metric"], estimate["method"], len(estimate["distribution"])) == ("roc_auc", "shrinkage", 50)
    columns = estimate["provenance"]["columns"]
    assert columns["excluded"] == {"constant": "constant"} and not columns["decimal_comma"]
    assert set(load_model(Path("out/model.skops")).predict(frame[["a", "text", "site"]])) <= {"yes", "no"}


def test_importance_and_training_scores_are_in_the_report_and_change_nothing_else(
    document: Run, finished: Any, refused: Run
) -> None:
    plain, plain_report = json.loads(finished.out), read("out/report.json")
    again = document(f"{TUNE} --out out --importance --resume")
    found = read("out/report.json")
    assert again["value"] == plain["value"] and again["n_fits"] == plain["n_fits"]
    assert plain_report["importance"] is None and found["importance"]["splits"] == 2
    columns = {column["name"] for column in found["columns"]["listed"]}
    assert {each["column"] for each in found["importance"]["columns"]} == columns
    assert found["coefficients"]["splits"] == 2 and plain_report["coefficients"]["splits"] == 0
    assert found["ranking"] == plain_report["ranking"]
    document(f"{TUNE} --out trained --return-train-score --seed 3")
    report = read("trained/report.json")
    assert report["ranking"]["shown"] and all(0 <= row["train"] <= 1 for row in report["ranking"]["shown"])
    assert report["command"] == (
        "heldout tune data.csv --target outcome --cv 2 --return-train-score --n-bootstraps 50 --n-jobs 1 --seed 3 "
        "--out trained --json"
    )
    sentence = refused(f"{TUNE} --seed 3 --out trained --resume")
    assert "return-train-score" in sentence


def test_every_time_says_which_time_it_is(run: Run, finished: Any) -> None:
    """The clock on the wall for the command; the sum over cells, which is the same in report and status."""
    seconds = json.loads(finished.out)["seconds"]
    assert seconds["command"] >= sum(seconds[stage] for stage in ("search", "estimate", "refit"))
    assert "\nfits, estimate and refit took " in finished.err
    in_words = work_words(sum(map(sum, stored_seconds(Path("out/run.db")).values())))
    assert f"all fits     {in_words}\n" in run("status out").out
    assert read("out/report.json")["facts"]["Time of all fits"] == in_words


def test_a_calibrated_interval_is_that_of_the_estimate_from_the_file(document: Run) -> None:
    tuned = document(f"{TUNE} --out out --method bbc --interval calibrated")
    usual = document("estimate out/predictions.parquet --method bbc --interval percentile")
    assert tuned["provenance"]["interval"] == "calibrated" and usual["provenance"]["interval"] == "percentile"
    assert tuned["value"] == usual["value"] and tuned["interval"] != usual["interval"]
    assert document("estimate out/predictions.parquet")["interval"] == tuned["interval"]


def test_the_same_seed_gives_the_same_estimate_and_another_seed_another(
    document: Run, finished: Any, table: Write
) -> None:
    table("data.parquet")
    first = json.loads(finished.out)
    again, other = (document(TUNE.replace("csv", "parquet"), "--seed", n, "--out", n) for n in (0, 8))
    assert first["distribution"] == again["distribution"] != other["distribution"]


@pytest.mark.parametrize(
    ("target", "metric", "options"),
    [
        (np.arange(60) / 7, "r2", ""),
        (["a", "b", "c"] * 20, "neg_log_loss", "--metric log_loss"),
        (["no", "yes"] * 30, "average_precision", "--metric average_precision --repeats 2"),
        (["no", "yes"] * 30, "accuracy", "--metric accuracy --repeats 2 --groups site"),
        (np.arange(60) / 7, "neg_mean_absolute_error", "--groups site --metric mean_absolute_error"),
    ],
)
def test_the_saved_predictions_of_every_kind_of_task_give_the_same_estimate(
    document: Run, table: Write, target: Any, metric: str, options: str
) -> None:
    table(y=target, drop=["outcome"])
    found = document(f"{TUNE} --out out --target y {options}")
    assert found["metric"] == metric
    assert found["interval"]["low"] <= found["value"] <= found["interval"]["high"]
    again = document("estimate out/predictions.parquet")
    assert {name: again[name] for name in SAME} == {name: found[name] for name in SAME}


def test_f1_counts_the_class_that_was_named(document: Run) -> None:
    of_yes, of_no = (document(f"{TUNE} --metric f1 --positive {label} --out {label}") for label in ("yes", "no"))
    assert of_yes["provenance"]["pos_label"] == "yes" and of_no["provenance"]["pos_label"] == "no"
    assert of_yes["uncorrected"] != of_no["uncorrected"]


def test_models_without_probabilities_are_left_out_aloud(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    from heldout.spaces.presets import _on_scaled

    def two(name: str, X: Any, kind: Any) -> list[Any]:
        return [("svm", _on_scaled(LinearSVC())(X), {}), ("logistic", _on_scaled(LogisticRegression())(X), {})]

    monkeypatch.setattr("heldout.spaces.preset", two)
    ended = run(f"{TUNE} --metric neg_log_loss")
    assert "Left out svm: these models give no probabilities, which neg_log_loss needs." in ended.err
    assert "1 configuration" in ended.out


def test_resume_of_a_finished_run_fits_nothing_again(
    document: Run, finished: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("a cell was fitted again")

    monkeypatch.setattr("heldout.execution.executors.local.do_task", never)
    first, again = json.loads(finished.out), document(f"{TUNE} --out out --resume")
    assert again["distribution"] == first["distribution"] and again["value"] == first["value"]
    assert (first["n_fits_resumed"], again["n_fits_resumed"]) == (0, 4)


@pytest.mark.draws_report
def test_report_is_drawn_again_from_what_the_folder_holds(run: Run, finished: Any) -> None:
    drawn = Path("out/report.html").read_text(encoding="utf-8")
    Path("out/report.html").unlink()
    run("report out")
    assert Path("out/report.html").read_text(encoding="utf-8") == drawn
