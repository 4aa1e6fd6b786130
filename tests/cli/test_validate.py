"""``heldout validate`` from a file to its files, in this process with a handful of bootstraps."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from heldout.data.task import TaskKind
from heldout.imputation.settings import Imputation
from heldout.protocols.validation.arguments import bootstrap_validate
from heldout.readers.saved_model import load_model
from heldout.spaces.regressions import regression

Command = Callable[..., Any]
Write = Callable[..., Path]

QUICK = ["--n-jobs", "1", "--n-bootstraps", "4"]
LINEAR = [*QUICK, "--metric", "roc_auc", "--metric", "brier_score"]
FILES = {"run.db", "model.skops", "model.trusted.json", "validation.json", "coefficients.csv", "report.json",
         "report.html", "methods.md", "card.md"}  # fmt: skip


def validate(command: Command, path: Path, *options: object, target: str = "outcome", out: str = "out") -> Any:
    ended = command("validate", path, "--target", target, "--out", out, *options)
    assert ended.code == 0, ended
    return ended


@pytest.fixture
def survival(table: Write, frame: pd.DataFrame) -> Path:
    rng = np.random.default_rng(1)
    risk = frame["a"].fillna(0.0).to_numpy()
    times = rng.exponential(np.exp(-risk)).round(3) + 0.001
    return table("survival.csv", drop=["outcome"], days=times, died=rng.random(len(frame)) < 0.7)


@pytest.mark.draws_report
def test_a_table_becomes_a_validation_a_model_and_a_report(command: Command, table: Write, tmp_path: Path) -> None:
    ended = validate(command, table(), *QUICK)

    assert {path.name for path in (tmp_path / "out").iterdir()} >= FILES
    assert not list((tmp_path / "out").glob(".*"))  # nothing half-written
    for said in (
        "data.csv: 60 rows, 3 columns to predict from.",
        "binary classification (positive class 'yes')",
        "Plan: logistic by auto, 4 bootstraps: 6 fits, seed 0. Metrics: roc_auc,",
        "\nlogistic by optimism, 4 bootstraps\n",
        "\ncalibration_slope ",
        "\nfits   6\n",
    ):
        assert said in ended.out
    assert "5 fits of 1 model on all rows and on bootstrap samples" in ended.err
    assert "heldout's own models fill them in by the median, or as a category; --imputations 5" in ended.err


def test_the_numbers_are_those_of_the_library(command: Command, table: Write, frame: pd.DataFrame) -> None:
    ended = validate(command, table(), *LINEAR, "--json", "--method", "632", "--seed", "3")

    document = json.loads(ended.out)
    X = frame[["a", "text", "site"]]
    truth = (frame["outcome"] == "yes").to_numpy()
    model = regression("logistic", X, TaskKind.BINARY)
    metrics = ["roc_auc", "brier_score"]
    found = bootstrap_validate(model, X, truth, metric=metrics, method="632", n_bootstraps=4, random_state=3)
    for name, row in found.rows.items():
        assert document["rows"][name]["corrected"] == pytest.approx(row.corrected, abs=1e-12)
        assert document["rows"][name]["apparent"] == pytest.approx(row.apparent, abs=1e-12)


@pytest.mark.parametrize("method", ["632", "632+", "oob"])
def test_the_printed_table_reconciles(command: Command, table: Write, method: str) -> None:
    metrics = [each for name in ("roc_auc", "brier_score", "accuracy", "log_loss") for each in ("--metric", name)]
    ended = validate(command, table(), *QUICK, *metrics, "--method", method, "--interval", "none")

    lines = ended.out.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("metric "))
    headings = re.split(r"  +", lines[start])
    rows = [dict(zip(headings, re.split(r"  +", line), strict=True)) for line in lines[start + 1 : start + 5]]
    for row in rows:
        weight = {"632": 0.632, "oob": 1.0}.get(method) or float(row["weight"])
        left_out = float(row["out of bag"])
        if method == "632+":
            worst = max if row["metric"] in ("brier_score", "log_loss") else min
            nothing = float(row["no information"])
            left_out = nothing if worst(left_out, nothing) == left_out else left_out
        made = (1 - weight) * float(row["apparent"]) + weight * left_out
        assert float(row["corrected"]) == pytest.approx(made, abs=1.6e-4), row  # each is rounded to four decimals


def test_json_is_one_document_and_the_file_holds_the_same(command: Command, table: Write, tmp_path: Path) -> None:
    document = json.loads(validate(command, table(), *LINEAR, "--json").out)

    written = json.loads((tmp_path / "out" / "validation.json").read_text())
    assert {name: document[name] for name in written} == written
    assert document["task"] == "binary" and document["n_rows"] == 60
    assert document["columns"] == ["a", "text", "site"] and list(document["set_aside"]) == ["constant"]
    columns = written["estimates"]["brier_score"]["provenance"]["columns"]
    assert "text" in columns["categories"] and list(columns["excluded"]) == ["constant"]
    kinds = {"run", "model", "validation", "coefficients", "methods", "card", "report"}
    assert set(document["files"]) == kinds
    coefficients = pd.read_csv(tmp_path / "out" / "coefficients.csv")
    assert coefficients["value"].tolist() == pytest.approx(written["coefficients"]["values"], rel=1e-15)
    row = written["rows"]["brier_score"]
    assert row["optimism"] == pytest.approx(row["corrected"] - row["apparent"]) and row["n_successful"] == 4


def test_quiet_prints_the_result_only(command: Command, table: Write) -> None:
    ended = validate(command, table(), *LINEAR, "--quiet")

    assert ended.err == ""
    assert ended.out.startswith("logistic by optimism, 4 bootstraps\nmetric ")


def test_a_flag_of_several_metrics_is_said_once_in_the_words_of_options(command: Command, table: Write) -> None:
    ended = validate(command, table(), *QUICK, "--metric", "calibration_slope", "--metric", "calibration_intercept")

    notes = [line for line in ended.out.splitlines() if line.startswith("No interval")]
    assert len(notes) == 1
    assert "--interval double" in notes[0] and notes[0].endswith("So too: calibration_intercept.")


def test_predictors_are_the_only_columns(command: Command, table: Write, frame: pd.DataFrame) -> None:
    ended = validate(
        command, table(row=range(len(frame))), *LINEAR, "--predictor", "row", "--predictor", "a", "--json"
    )  # a number of the row is used where it is asked for

    assert json.loads(ended.out)["columns"] == ["a", "row"]


def test_nothing_is_said_of_columns_that_are_no_predictors(
    command: Command, table: Write, frame: pd.DataFrame
) -> None:
    text = frame["text"].where(np.arange(len(frame)) % 9 != 0, "lost")
    share = [f"{number} %" for number in range(len(frame))]
    path = table(text=text, share=share)
    every, one = (
        validate(command, path, *LINEAR, "--missing", "lost", *more, out=f"out-{len(more)}")
        for more in ([], ["--predictor", "a"])
    )

    assert (
        "'lost' was read as a missing value (7 cells of 'text')" in every.err
        and "'share' are percentages" in every.err
    )
    assert one.code == 0 and "'lost'" not in one.err and "'share'" not in one.err


def test_survival_with_a_time(command: Command, survival: Path, tmp_path: Path) -> None:
    ended = validate(command, survival, *QUICK, "--event", "died", "--time", "0.5", "--json", target="days")

    document = json.loads(ended.out)
    assert document["task"] == "survival" and document["selected_name"] == "cox"
    assert list(document["rows"])[-1] == "brier_score_at(time=0.5)"
    assert document["rows"]["concordance_index"]["corrected"] > 0.5
    with_area = validate(
        command, survival, *QUICK, "--event", "died", "--time", "0.5", "--metric", "roc_auc_at", "--json",
        target="days", out="area",
    )  # fmt: skip
    assert list(json.loads(with_area.out)["rows"]) == ["roc_auc_at(time=0.5)"]


def test_imputing_pools_coefficients_and_models(
    command: Command, table: Write, frame: pd.DataFrame, tmp_path: Path
) -> None:
    text = frame["text"].where(np.arange(len(frame)) % 9 != 0)
    ended = validate(
        command, table(text=text), *LINEAR, "--imputations", "2", "--imputation-order", "mi_boot", "--json"
    )

    document = json.loads(ended.out)
    assert "4 bootstraps: 6 fits, each of 2 imputations" in ended.err
    assert document["coefficients"]["names"] == ["intercept", "a", "site", "text_v"]
    loaded = load_model(tmp_path / "out" / "model.skops")
    X = frame[["a", "text", "site"]].dropna()
    assert loaded.predict_proba(X).shape == (len(X), 2) and type(loaded).__name__ == "PooledModel"


@pytest.mark.draws_report
def test_stages_of_their_own_sizes_and_an_adjusted_optimism(command: Command, table: Write, tmp_path: Path) -> None:
    (tmp_path / "prior.py").write_text(
        "from sklearn.dummy import DummyClassifier\nmodel = DummyClassifier(strategy='prior')\n"
    )
    ended = validate(
        command, table(), *LINEAR, "--model", "logistic", "--model", tmp_path / "prior.py", "--method", "two_stage",
        "--n-second-bootstraps", "3", "--adjust-optimism", "--n-inner-bootstraps", "2", "--imputations", "2",
    )  # fmt: skip
    plan = "logistic, prior by two_stage, 4 bootstraps to choose and 3 to estimate of 2 bootstraps each: 20 fits"
    assert plan in ended.out and "\nfits   20\n" in ended.out  # 2 (1 + 4) + 3 + 3 · 2 + 1
    heading, line = (re.split(r"  +", text) for text in ended.out.split("\nmetric ")[1].splitlines()[:2])
    row = dict(zip(["metric", *heading[1:]], line, strict=True))
    doubled = 2 * (float(row["in bootstrap"]) - float(row["on original"])) - float(row["inner optimism"])
    assert float(row["optimism"]) == pytest.approx(doubled, abs=3e-4)
    assert float(row["corrected"]) == pytest.approx(float(row["apparent"]) - float(row["optimism"]), abs=2e-4)
    document = json.loads((tmp_path / "out" / "validation.json").read_text())
    assert document["n_bootstraps"] == 4 and document["n_second_bootstraps"] == 3
    page = (tmp_path / "out" / "report.html").read_text()
    assert "4 to choose the model; 3 to estimate it" in page and "double bootstrap" in page
    assert ">Inner optimism</th>" in page


def test_rows_are_evaluated_with_their_outcome_on_request(
    command: Command, table: Write, frame: pd.DataFrame
) -> None:
    options = [*LINEAR, "--predictor", "a", "--predictor", "site", "--imputations", "2", "--json"]
    ended = validate(command, table(), *options, "--outcome-in-evaluation")

    document = json.loads(ended.out)
    assert document["settings"]["imputation"]["outcome_in_evaluation"] is True
    assert any(entry["flag"] == "outcome_in_evaluation" for entry in document["flags"])
    X, truth = frame[["a", "site"]], (frame["outcome"] == "yes").to_numpy()
    model = regression("logistic", X, TaskKind.BINARY, fill=False)
    found = bootstrap_validate(
        model, X, truth, metric=["roc_auc", "brier_score"], n_bootstraps=4, random_state=0,
        imputation=Imputation(2, outcome_in_evaluation=True),
    )  # fmt: skip
    for name, row in found.rows.items():
        assert document["rows"][name]["corrected"] == pytest.approx(row.corrected, abs=1e-12)
    plain = json.loads(validate(command, table(), *options, out="plain").out)
    assert plain["rows"]["roc_auc"]["corrected"] != document["rows"]["roc_auc"]["corrected"]
    assert plain["rows"]["roc_auc"]["apparent"] == document["rows"]["roc_auc"]["apparent"]


@pytest.mark.draws_report
def test_columns_are_selected_by_pooled_p_values(command: Command, table: Write, tmp_path: Path) -> None:
    ended = validate(command, table(), *LINEAR, "--imputations", "2", "--backward", "0.2")

    document = json.loads((tmp_path / "out" / "validation.json").read_text())
    kept, removed = document["selection"]["kept"], document["selection"]["removed"]
    assert {*kept, *(each["name"] for each in removed)} == {"a", "text", "site"} and removed
    assert all(each["p_value"] > 0.2 for each in removed)
    assert f"\nBackward selection kept {', '.join(kept)}; removed {removed[0]['name']} (p = " in ended.out
    assert document["coefficients"]["names"][0] == "intercept"
    shares = document["selection_frequency"]
    assert shares.keys() == {"a", "text", "site"} and all(4 * share in range(5) for share in shares.values())
    assert "\nKept in the bootstraps: " in ended.out
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Backward selection kept" in page and "Every bootstrap selected anew" in page
    loaded = load_model(tmp_path / "out" / "model.skops")
    assert loaded.selection_.kept == tuple(kept)


def test_pooled_coefficients_are_printed(command: Command, table: Write) -> None:
    ended = validate(
        command, table(), *LINEAR, "--predictor", "a", "--imputations", "2", "--confidence-level", "0.9"
    )

    lines = ended.out.splitlines()
    at = lines.index("Coefficients of the model of all rows, pooled over 2 imputations")
    assert "interval (90%)" in lines[at + 1]
    assert lines[at + 1].endswith(" variance from missing")  # not the share of values that are missing
    assert [line.split()[0] for line in lines[at + 2 : at + 4]] == ["intercept", "a"]
    pooled = json.loads(Path("out/validation.json").read_text())["coefficients"]
    assert float(lines[at + 3].split()[1]) == pytest.approx(pooled["values"][1], abs=5e-5)
    assert lines[at + 3].endswith(f"{pooled['variance_from_missing'][1]:.0%}")


def test_saved_models_load_and_predict_as_the_readme_says(command: Command, survival: Path, tmp_path: Path) -> None:
    validate(command, survival, *QUICK, "--event", "died", "--imputations", "2", target="days", out="pooled")
    validate(command, survival, *QUICK, "--event", "died", target="days", out="single")

    X = pd.read_csv(survival)[["a", "text", "site"]].dropna()
    for folder in ("pooled", "single"):
        model = load_model(tmp_path / folder / "model.skops")
        assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize(
    ("method", "interval"),
    [("optimism", "double"), ("oob", "percentile"), ("632+", "none")],
    ids=lambda word: word,
)
def test_every_method_and_interval(command: Command, table: Write, method: str, interval: str) -> None:
    inner = ["--n-inner-bootstraps", "3"] if interval == "double" else []
    ended = validate(command, table(), *LINEAR, "--method", method, "--interval", interval, *inner, "--json")

    document = json.loads(ended.out)
    assert document["method"] == method
    assert document["n_fits"] == (5 + 4 * 3 + 1 if inner else 5 + 1)
    assert (document["rows"]["roc_auc"]["interval"] is None) == (interval == "none")


def test_groups_are_drawn_whole(command: Command, table: Write, frame: pd.DataFrame) -> None:
    ended = validate(command, table(), *LINEAR, "--groups", "site", "--json")

    document = json.loads(ended.out)
    assert document["columns"] == ["a", "text"]
    found = bootstrap_validate(
        regression("logistic", frame[["a", "text"]], TaskKind.BINARY), frame[["a", "text"]], frame["outcome"],
        groups=frame["site"], metric="roc_auc", n_bootstraps=4, random_state=0,
    )  # fmt: skip
    assert document["rows"]["roc_auc"]["corrected"] == pytest.approx(found.value, abs=1e-12)


def test_classes_that_are_told_apart_are_said_to_be(command: Command, table: Write, frame: pd.DataFrame) -> None:
    separable = frame["a"].fillna(frame["a"].median()) > 0
    ended = validate(command, table(outcome=np.where(separable, "yes", "no")), *LINEAR)

    assert "tells the classes of its own rows apart without an error" in ended.out
    assert "tells the classes" not in validate(command, table("b.csv"), *LINEAR, out="b").out


def test_several_models_are_chosen_among_in_two_stages(command: Command, table: Write, tmp_path: Path) -> None:
    (tmp_path / "rivals.py").write_text(
        "from sklearn.dummy import DummyClassifier\nmodel = [('dummy', DummyClassifier())]\n"
    )
    ended = validate(command, table(), *LINEAR, "--model", "logistic", "--model", "rivals.py")

    assert "Plan: logistic, dummy by auto, 4 bootstraps to choose and 4 to estimate: 15 fits" in ended.out
    assert "\nlogistic by two_stage, 4 bootstraps\n" in ended.out
    assert "\ndummy     0.5000 " in ended.out
    assert "14 of 14 fits (100%)" in ended.err


@pytest.mark.draws_report
def test_status_and_report_know_a_validation(command: Command, table: Write, tmp_path: Path) -> None:
    validate(command, table(), *LINEAR)

    status = command("status", "out")
    assert status.code == 0 and "finished" in status.out
    assert "60 rows, 1 model on all rows and on bootstrap samples" in status.out
    assert "5 of 5 done (100%), 0 left" in status.out
    assert "best so far" not in status.out and "split" not in status.out
    drawn = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    again = command("report", "out", "--to", "again.html")
    assert again.code == 0 and (tmp_path / "again.html").read_text(encoding="utf-8") == drawn


def test_a_model_that_skops_cannot_write_costs_the_model_only(
    command: Command, table: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cannot(*given: object, **named: object) -> None:
        raise TypeError("no such\n type")

    monkeypatch.setattr("skops.io.dumps", cannot)
    ended = validate(command, table(), *LINEAR, "--json")

    assert "The model could not be saved as model.skops (TypeError: no such type)." in ended.err
    assert set(json.loads(ended.out)["files"]) == {"run", "validation", "coefficients", "methods", "card", "report"}
    assert (tmp_path / "out" / "report.html").exists()
