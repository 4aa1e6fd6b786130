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

Command = Callable[..., Any]
Write = Callable[..., Path]

QUICK = ["--n-jobs", "1", "--n-bootstraps", "50", "--cv", "2"]
FILES = {"run.db", "model.skops", "model.trusted.json", "predictions.parquet", "estimate.json", "report.html",
         "methods.md", "card.md"}  # fmt: skip

pytestmark = pytest.mark.usefixtures("tiny_space")


def tune(command: Command, path: Path, *options: object, target: str = "outcome", out: str = "out") -> Any:
    ended = command("tune", path, "--target", target, "--out", out, *QUICK, *options)
    assert ended.code == 0, ended
    return ended


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    """A folder for the finished run, and how its command ended, once it has."""
    return tmp_path_factory.mktemp("kept") / "out", []


@pytest.fixture
def finished(command: Command, table: Write, tiny_space: None, tmp_path: Path, kept: tuple[Path, list[Any]]) -> Any:
    """``out`` after ``heldout tune data.csv --json``, which runs once and is copied for each test."""
    path = table()
    folder, ended = kept
    if not ended:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("heldout.report.write_report", write_report)
            ended.append(tune(command, path, "--json"))
        shutil.copytree(tmp_path / "out", folder)
    else:
        shutil.copytree(folder, tmp_path / "out")
    return ended[0]


@pytest.mark.draws_report
def test_a_table_becomes_a_model_an_estimate_and_a_report(command: Command, table: Write, tmp_path: Path) -> None:
    ended = tune(command, table())

    assert {path.name for path in (tmp_path / "out").iterdir()} >= FILES
    assert not list((tmp_path / "out").glob(".*"))  # nothing half-written
    for said in (
        "data.csv: 60 rows, 3 columns to predict from.",
        "binary classification (positive class 'yes')",
        "Metric: roc_auc. To choose another: --metric NAME.",
        "2 configurations (logistic) x 2 folds = 4 fits, seed 0",
    ):
        assert said in ended.out
    assert "Note: Excluded 'constant' (constant)." in ended.err
    for label in ("winner", "corrected", "interval", "uncorrected", "optimism", "fits", "time", "files"):
        assert f"\n{label}" in ended.out


def test_importance_is_in_the_report_and_changes_nothing_else(
    command: Command, finished: Any, tmp_path: Path
) -> None:
    plain = json.loads(finished.out)
    plain_report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    again = json.loads(tune(command, Path("data.csv"), "--json", "--importance", "--resume").out)
    found = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))

    assert again["value"] == plain["value"] and again["n_fits"] == plain["n_fits"]
    assert plain_report["importance"] is None and found["importance"]["splits"] == 2
    columns = {column["name"] for column in found["columns"]["listed"]}
    assert {each["column"] for each in found["importance"]["columns"]} == columns
    assert found["coefficients"]["splits"] == 2 and plain_report["coefficients"]["splits"] == 0
    assert found["ranking"] == plain_report["ranking"]


def test_scores_on_training_rows_are_in_the_report(command: Command, table: Write, tmp_path: Path) -> None:
    path = table()
    tune(command, path, "--return-train-score")
    rows = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))["ranking"]["shown"]
    assert rows and all(0 <= row["train"] <= 1 for row in rows)
    refused = command("tune", path, "--target", "outcome", "--out", "out", *QUICK, "--resume")
    assert refused.code == 2 and "return-train-score" in refused.err


def test_every_time_says_which_time_it_is(command: Command, finished: Any, tmp_path: Path) -> None:
    """The clock on the wall for the command; the sum over cells, which is the same in report and status."""
    seconds = json.loads(finished.out)["seconds"]
    assert seconds["command"] >= sum(seconds[stage] for stage in ("search", "estimate", "refit"))
    assert "\nfits, estimate and refit took " in finished.err

    spent = stored_seconds(tmp_path / "out" / "run.db").values()
    in_words = work_words(sum(map(sum, spent)))
    assert f"all fits     {in_words}\n" in command("status", "out").out
    labelled = json.loads((tmp_path / "out" / "report.json").read_text())["facts"]
    assert labelled["Time of all fits"] == in_words


def test_a_calibrated_interval_is_that_of_the_estimate_from_the_file(command: Command, table: Write) -> None:
    tuned = json.loads(tune(command, table(), "--method", "bbc", "--interval", "calibrated", "--json").out)
    asked = ["estimate", "out/predictions.parquet", "--json"]
    usual = json.loads(command(*asked, "--method", "bbc", "--interval", "percentile").out)
    assert tuned["provenance"]["interval"] == "calibrated" and usual["provenance"]["interval"] == "percentile"
    assert tuned["value"] == usual["value"] and tuned["interval"] != usual["interval"]
    again = json.loads(command(*asked).out)
    assert again["interval"] == tuned["interval"]


def test_a_search_without_an_estimate_of_its_winner_leaves_its_files(command: Command, tmp_path: Path) -> None:
    (tmp_path / "few.csv").write_text("a,y\n1.5,0.5\n4,1.5\n2,0.25\n")  # no bootstrap can be scored by r2
    ended = tune(command, Path("few.csv"), target="y")
    assert "No estimate: r2 needs two different target values" in ended.err
    assert {path.name for path in (tmp_path / "out").iterdir()} >= FILES


@pytest.mark.usefixtures("finished")
def test_the_estimate_file_is_the_estimate(tmp_path: Path) -> None:
    estimate = json.loads((tmp_path / "out" / "estimate.json").read_text())

    assert estimate["interval"]["low"] <= estimate["value"] <= estimate["interval"]["high"]
    assert estimate["optimism"] == pytest.approx(estimate["uncorrected"] - estimate["value"])
    assert estimate["metric"] == "roc_auc" and estimate["method"] == "shrinkage"
    assert len(estimate["distribution"]) == 50
    columns = estimate["provenance"]["columns"]
    assert columns["excluded"] == {"constant": "constant"} and not columns["decimal_comma"]


def test_with_json_stdout_is_one_document_and_stderr_the_rest(finished: Any, tmp_path: Path) -> None:
    document = json.loads(finished.out)
    estimate = json.loads((tmp_path / "out" / "estimate.json").read_text())

    assert {name: document[name] for name in estimate} == estimate
    assert document["winner"]["params"]["model"] == "logistic"
    assert document["set_aside"] == {"constant": "constant"}
    assert document["n_fits"] == 4 and document["task"] == "binary"
    assert all(Path(path).exists() for path in document["files"].values())
    assert "60 rows" in finished.err


def test_quiet_prints_the_result_alone(command: Command, table: Write) -> None:
    ended = tune(command, table(), "--quiet")

    assert ended.out.startswith("corrected") and ended.err == ""


def test_the_same_seed_gives_the_same_estimate_and_another_seed_another(
    command: Command, table: Write, finished: Any
) -> None:
    first, path = json.loads(finished.out), table("data.parquet")
    again, other = (json.loads(tune(command, path, "--json", "--seed", n, out=f"of {n}").out) for n in (0, 8))

    assert first["distribution"] == again["distribution"]
    assert first["distribution"] != other["distribution"]


@pytest.mark.usefixtures("finished")
def test_the_saved_predictions_give_the_same_estimate(command: Command, tmp_path: Path) -> None:
    grouped = ["--repeats", "2", "--groups", "site", "--metric", "accuracy"]
    tune(command, Path("data.csv"), *grouped, out="grouped")
    for out in ("out", "grouped"):
        stored = json.loads((tmp_path / out / "estimate.json").read_text())

        again = json.loads(command("estimate", f"{out}/predictions.parquet", "--json").out)

        for name in ("value", "interval", "uncorrected", "distribution", "selection_frequency", "selected_name"):
            assert again[name] == stored[name], (out, name)


@pytest.mark.usefixtures("finished")
def test_the_saved_model_loads_with_the_reviewed_types(frame: pd.DataFrame, tmp_path: Path) -> None:
    model = load_model(tmp_path / "out" / "model.skops")

    assert set(model.predict(frame[["a", "text", "site"]])) <= {"yes", "no"}


@pytest.mark.parametrize(
    ("target", "metric", "options"),
    [
        (np.arange(60) / 7, "r2", []),
        (["a", "b", "c"] * 20, "accuracy", []),
        (["a", "b", "c"] * 20, "neg_log_loss", ["--metric", "log_loss"]),
        (["no", "yes"] * 30, "average_precision", ["--metric", "average_precision", "--repeats", "2"]),
        (["no", "yes"] * 30, "roc_auc", ["--groups", "site"]),
        (np.arange(60) / 7, "neg_mean_absolute_error", ["--groups", "site", "--metric", "mean_absolute_error"]),
    ],
)
def test_every_kind_of_task(command: Command, table: Write, target: Any, metric: str, options: list[str]) -> None:
    document = json.loads(tune(command, table(y=target, drop=["outcome"]), *options, "--json", target="y").out)

    assert document["metric"] == metric
    assert document["interval"]["low"] <= document["value"] <= document["interval"]["high"]


def test_f1_counts_the_class_that_was_named(command: Command, table: Write) -> None:
    path = table()
    of_yes, of_no = (
        json.loads(tune(command, path, "--metric", "f1", "--positive", label, "--json", out=label).out)
        for label in ("yes", "no")
    )

    assert of_yes["provenance"]["pos_label"] == "yes" and of_no["provenance"]["pos_label"] == "no"
    assert of_yes["uncorrected"] != of_no["uncorrected"]


@pytest.mark.parametrize(("method", "label"), [("cv", "uncorrected"), ("tt", "corrected")])
def test_other_methods(command: Command, table: Write, method: str, label: str) -> None:
    ended = tune(command, table(), "--method", method)

    assert f"\n{label}" in ended.out
    assert f"\n{'corrected' if method == 'cv' else 'nothing'} " not in ended.out


def test_method_none_leaves_no_estimate_and_says_so(command: Command, table: Write, tmp_path: Path) -> None:
    ended = tune(command, table(), "--method", "none")

    assert "no estimate: --method none" in ended.out
    assert not (tmp_path / "out" / "estimate.json").exists()
    assert (tmp_path / "out" / "report.html").exists()


def test_models_without_probabilities_are_left_out_aloud(
    command: Command, table: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    from heldout.spaces.presets import _on_scaled

    def two(name: str, X: Any, kind: Any) -> list[Any]:
        return [("svm", _on_scaled(LinearSVC())(X), {}), ("logistic", _on_scaled(LogisticRegression())(X), {})]

    monkeypatch.setattr("heldout.spaces.preset", two)
    ended = tune(command, table(), "--metric", "neg_log_loss")

    assert "Left out svm: these models give no probabilities, which neg_log_loss needs." in ended.err
    assert "1 configurations" in ended.out or "1 configuration " in ended.out


def test_resume_of_a_finished_run_fits_nothing_again(
    command: Command, finished: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = json.loads(finished.out)

    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("a cell was fitted again")

    monkeypatch.setattr("heldout.execution.executors.local.do_task", never)
    again = json.loads(tune(command, Path("data.csv"), "--json", "--resume").out)

    assert again["distribution"] == first["distribution"] and again["value"] == first["value"]
    assert (first["n_fits_resumed"], again["n_fits_resumed"]) == (0, 4)


def test_resume_without_a_run_begins_one(command: Command, table: Write) -> None:
    assert "nothing to resume" in tune(command, table(), "--resume").err


@pytest.mark.usefixtures("finished")
def test_resume_on_other_data_says_what_differs(command: Command, table: Write, frame: pd.DataFrame) -> None:
    other = table("other.csv", a=frame["a"] + 1)
    ended = command("tune", other, "--target", "outcome", "--out", "out", *QUICK, "--resume")

    assert ended.code == 2
    said = (
        "was started with other settings: DATA data.csv then, other.csv now; other rows (60 then and now, but "
        "not the same)."
    )
    assert said in ended.last


@pytest.mark.usefixtures("finished")
@pytest.mark.parametrize(
    "options, said",
    [
        (["--cv", "3"], "--cv 2 then, 3 now; other folds (2 splits then, 3 splits now). Resume"),
        (["--seed", "1"], "--seed 0 then, 1 now; other folds (2 splits then and now, but not the same). Resume"),
        (
            ["--metric", "accuracy"],
            "--metric not given then, accuracy now; other settings (predictions that are kept, scoring)",
        ),
        (["--positive", "no"], "--positive not given then, no now; other "),
    ],
)
def test_resume_with_another_option_names_it_with_both_values(
    command: Command, options: list[str], said: str
) -> None:
    ended = command("tune", "data.csv", "--target", "outcome", "--out", "out", *QUICK, *options, "--resume")
    assert ended.code == 2 and f"was started with other settings: {said}" in ended.last, ended.last


@pytest.mark.usefixtures("finished")
def test_an_option_that_changes_no_fit_is_no_other_run(command: Command) -> None:
    assert (
        "4 of them before"
        in tune(command, Path("data.csv"), "--preset", "standard", "--method", "cv", "--resume").out
    )


@pytest.mark.usefixtures("finished")
def test_report_is_drawn_again_from_what_the_folder_holds(command: Command, tmp_path: Path) -> None:
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    (tmp_path / "out" / "report.html").unlink()

    assert command("report", "out").code == 0
    assert (tmp_path / "out" / "report.html").read_text(encoding="utf-8") == page
    assert command("report", "out", "--to", "copy.html").code == 0
    assert (tmp_path / "copy.html").read_text(encoding="utf-8") == page


def test_the_report_says_how_to_make_it_again(command: Command, table: Write, tmp_path: Path) -> None:
    tune(command, table(), "--seed", "3")

    content = json.loads((tmp_path / "out" / "report.json").read_text())

    assert content["command"] == (
        "heldout tune data.csv --target outcome --cv 2 --n-bootstraps 50 --n-jobs 1 --seed 3 --out out"
    )
