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

Run = Callable[..., Any]
Write = Callable[..., Path]
VALIDATE = "validate data.csv --target outcome --n-jobs 1 --n-bootstraps 4 --out out"
LINEAR = f"{VALIDATE} --metric roc_auc,brier_score"
FILES = {"run.db", "model.skops", "model.trusted.json", "validation.json", "coefficients.csv", "report.json",
         "report.html", "methods.md", "card.md"}  # fmt: skip
APART = "tells the classes of its own rows apart without an error"


@pytest.fixture(autouse=True)
def data(command: Any, table: Write) -> None:
    table()


@pytest.fixture
def survival(table: Write, frame: pd.DataFrame) -> str:
    rng = np.random.default_rng(1)
    risk = frame["a"].fillna(0.0).to_numpy()
    times = rng.exponential(np.exp(-risk)).round(3) + 0.001
    table("survival.csv", drop=["outcome"], days=times, died=rng.random(len(frame)) < 0.7)
    return VALIDATE.replace("data.csv --target outcome", "survival.csv --target days --event died")


def written(folder: str = "out") -> Any:
    return json.loads((Path(folder) / "validation.json").read_text())


def check_corrected(
    document: dict[str, Any], X: pd.DataFrame, truth: Any, *, fill: bool = True, **settings: Any
) -> None:
    """The document has the numbers of the library."""
    model = regression("logistic", X, TaskKind.BINARY, fill=fill)
    found = bootstrap_validate(model, X, truth, metric=["roc_auc", "brier_score"], n_bootstraps=4, **settings)
    for name, row in found.rows.items():
        assert document["rows"][name]["corrected"] == pytest.approx(row.corrected, abs=1e-12)
        assert document["rows"][name]["apparent"] == pytest.approx(row.apparent, abs=1e-12)


@pytest.mark.draws_report
def test_a_table_becomes_a_validation_a_model_and_a_report(document: Run, run: Run) -> None:
    found, files = document(LINEAR), {path.name for path in Path("out").iterdir()}
    assert files >= FILES and not [name for name in files if name.startswith(".")]  # nothing half-written
    assert {name: found[name] for name in written()} == written()
    assert found["task"] == "binary" and found["n_rows"] == 60
    assert found["columns"] == ["a", "text", "site"] and list(found["set_aside"]) == ["constant"]
    columns = found["estimates"]["brier_score"]["provenance"]["columns"]
    assert "text" in columns["categories"] and list(columns["excluded"]) == ["constant"]
    assert set(found["files"]) == {"run", "model", "validation", "coefficients", "methods", "card", "report"}
    coefficients = pd.read_csv("out/coefficients.csv")
    assert coefficients["value"].tolist() == pytest.approx(found["coefficients"]["values"], rel=1e-15)
    row = found["rows"]["brier_score"]
    assert row["optimism"] == pytest.approx(row["corrected"] - row["apparent"]) and row["n_successful"] == 4
    drawn = Path("out/report.html").read_text(encoding="utf-8")
    run("report out --to again.html")
    assert Path("again.html").read_text(encoding="utf-8") == drawn


def test_the_numbers_are_those_of_the_library(document: Run, frame: pd.DataFrame) -> None:
    truth = (frame["outcome"] == "yes").to_numpy()
    found = document(f"{LINEAR} --method 632 --seed 3")
    check_corrected(found, frame[["a", "text", "site"]], truth, method="632", random_state=3)
    whole = document(f"{LINEAR} --groups site --out whole")  # groups are drawn whole
    assert whole["columns"] == ["a", "text"]
    check_corrected(whole, frame[["a", "text"]], truth, groups=frame["site"], random_state=0)


def test_the_printed_table_reconciles(run: Run) -> None:
    metrics = "roc_auc,brier_score,accuracy,log_loss"
    printed = run(f"{VALIDATE} --metric {metrics} --method 632+ --interval none").out
    assert APART not in printed
    lines = printed.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("metric "))
    headings = re.split(r"  +", lines[start])
    rows = [dict(zip(headings, re.split(r"  +", line), strict=True)) for line in lines[start + 1 : start + 5]]
    for row in rows:
        weight, left_out, nothing = (float(row[name]) for name in ("weight", "out of bag", "no information"))
        worst = max if row["metric"] in ("brier_score", "log_loss") else min
        left_out = nothing if worst(left_out, nothing) == left_out else left_out
        made = (1 - weight) * float(row["apparent"]) + weight * left_out
        assert float(row["corrected"]) == pytest.approx(made, abs=1.6e-4), row  # each is rounded to four decimals


def test_predictors_are_the_only_columns(document: Run, table: Write) -> None:
    table(row=range(60))  # a number of the row is used where it is asked for
    assert document(f"{LINEAR} --predictor row --predictor a")["columns"] == ["a", "row"]


def test_classes_that_are_told_apart_are_said_to_be(run: Run, table: Write, frame: pd.DataFrame) -> None:
    table(outcome=np.where(frame["a"].fillna(frame["a"].median()) > 0, "yes", "no"))
    assert APART in run(LINEAR).out


def test_survival_with_a_time(document: Run, survival: str) -> None:
    found = document(f"{survival} --time 0.5")
    assert found["task"] == "survival" and found["selected_name"] == "cox"
    assert list(found["rows"])[-1] == "brier_score_at(time=0.5)"
    assert found["rows"]["concordance_index"]["corrected"] > 0.5
    with_area = document(f"{survival} --time 0.5 --metric roc_auc_at --imputations 2 --out area")
    assert list(with_area["rows"]) == ["roc_auc_at(time=0.5)"]
    X = pd.read_csv("survival.csv")[["a", "text", "site"]].dropna()
    for folder in ("out", "area"):
        assert np.isfinite(load_model(Path(folder) / "model.skops").predict(X)).all()


def test_imputing_pools_coefficients_and_models(document: Run, table: Write, frame: pd.DataFrame) -> None:
    table(text=frame["text"].where(np.arange(len(frame)) % 9 != 0))
    found = document(f"{LINEAR} --imputations 2 --imputation-order mi_boot")
    assert found["coefficients"]["names"] == ["intercept", "a", "site", "text_v"]
    loaded = load_model(Path("out/model.skops"))
    X = frame[["a", "text", "site"]].dropna()
    assert loaded.predict_proba(X).shape == (len(X), 2) and type(loaded).__name__ == "PooledModel"


@pytest.mark.usefixtures("page_of_words")
def test_stages_of_their_own_sizes_and_an_adjusted_optimism(run: Run) -> None:
    Path("prior.py").write_text(
        "from sklearn.dummy import DummyClassifier\nmodel = DummyClassifier(strategy='prior')\n"
    )
    stages = "--method two_stage --n-second-bootstraps 3 --adjust-optimism --n-inner-bootstraps 2"
    ended = run(f"{LINEAR} --model logistic --model prior.py {stages} --imputations 2")
    plan = "logistic, prior by two_stage, 4 bootstraps to choose and 3 to estimate of 2 bootstraps each: 20 fits"
    assert plan in ended.out and "\nfits   20\n" in ended.out  # 2 (1 + 4) + 3 + 3 · 2 + 1
    heading, line = (re.split(r"  +", text) for text in ended.out.split("\nmetric ")[1].splitlines()[:2])
    row = dict(zip(["metric", *heading[1:]], line, strict=True))
    doubled = 2 * (float(row["in bootstrap"]) - float(row["on original"])) - float(row["inner optimism"])
    assert float(row["optimism"]) == pytest.approx(doubled, abs=3e-4)
    assert float(row["corrected"]) == pytest.approx(float(row["apparent"]) - float(row["optimism"]), abs=2e-4)
    assert written()["n_bootstraps"] == 4 and written()["n_second_bootstraps"] == 3
    page = Path("out/report.html").read_text()
    assert "4 to choose the model; 3 to estimate it" in page and "double bootstrap" in page
    assert ">Inner optimism</th>" in page


def test_rows_are_evaluated_with_their_outcome_on_request(document: Run, frame: pd.DataFrame) -> None:
    asked = f"{LINEAR} --predictor a --predictor site --imputations 2"
    found = document(f"{asked} --outcome-in-evaluation")
    assert found["settings"]["imputation"]["outcome_in_evaluation"] is True
    assert any(entry["flag"] == "outcome_in_evaluation" for entry in found["flags"])
    imputation = Imputation(2, outcome_in_evaluation=True)
    truth = (frame["outcome"] == "yes").to_numpy()
    check_corrected(found, frame[["a", "site"]], truth, fill=False, imputation=imputation, random_state=0)
    plain = document(f"{asked} --out plain")
    assert plain["rows"]["roc_auc"]["corrected"] != found["rows"]["roc_auc"]["corrected"]
    assert plain["rows"]["roc_auc"]["apparent"] == found["rows"]["roc_auc"]["apparent"]


@pytest.mark.usefixtures("page_of_words")
def test_columns_are_selected_by_pooled_p_values(run: Run) -> None:
    ended, found = run(f"{LINEAR} --imputations 2 --backward 0.2"), written()
    kept, removed = found["selection"]["kept"], found["selection"]["removed"]
    assert {*kept, *(each["name"] for each in removed)} == {"a", "text", "site"} and removed
    assert all(each["p_value"] > 0.2 for each in removed)
    assert f"\nBackward selection kept {', '.join(kept)}; removed {removed[0]['name']} (p = " in ended.out
    shares = found["selection_frequency"]
    assert shares.keys() == {"a", "text", "site"} and all(4 * share in range(5) for share in shares.values())
    page = Path("out/report.html").read_text()
    assert "Backward selection kept" in page and "Every bootstrap selected anew" in page
    assert load_model(Path("out/model.skops")).selection_.kept == tuple(kept)


def test_pooled_coefficients_are_printed(run: Run) -> None:
    lines = run(f"{LINEAR} --predictor a --imputations 2 --confidence-level 0.9").out.splitlines()
    at = lines.index("Coefficients of the model of all rows, pooled over 2 imputations")
    assert lines[at + 1].endswith(" variance from missing")  # not the share of values that are missing
    pooled = written()["coefficients"]
    assert lines[at + 3].split()[0] == "a"
    assert float(lines[at + 3].split()[1]) == pytest.approx(pooled["values"][1], abs=5e-5)
    assert lines[at + 3].endswith(f"{pooled['variance_from_missing'][1]:.0%}")


@pytest.mark.parametrize(
    ("options", "fits"),
    [
        ("--method optimism --interval double --n-inner-bootstraps 3", 5 + 4 * 3 + 1),
        ("--method oob --interval percentile", 5 + 1),
    ],
)
def test_every_method_and_interval(document: Run, options: str, fits: int) -> None:
    found = document(f"{LINEAR} {options}")
    assert found["method"] == options.split()[1] and found["n_fits"] == fits
    assert found["rows"]["roc_auc"]["interval"] is not None


def test_a_model_that_skops_cannot_write_costs_the_model_only(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def cannot(*given: object, **named: object) -> None:
        raise TypeError("no such\n type")

    monkeypatch.setattr("skops.io.dumps", cannot)
    ended = run(f"{LINEAR} --json")
    assert "The model could not be saved as model.skops (TypeError: no such type)." in ended.err
    assert set(json.loads(ended.out)["files"]) == {"run", "validation", "coefficients", "methods", "card", "report"}
    assert Path("out/report.html").exists()


def test_a_model_that_cannot_be_fitted_ends_before_the_bootstraps(
    refused: Run, run: Run, table: Write, frame: pd.DataFrame
) -> None:
    """``half`` is a multiple of ``site``."""
    table(days=np.arange(len(frame)) + 1.0, seen=1, half=frame["site"] / 2, drop=["outcome", "text"])
    said = refused("validate data.csv --target days --event seen --n-bootstraps 40 --n-jobs 1")
    assert said.startswith("Error: no model could be fitted on all rows: cox: CoxRegression finds")
    assert "single best coefficient of half:" in said and ".." not in said
    assert "1 of 41 done (2%), 1 failed, 40 left" in run("status heldout-out").out


def test_a_folder_that_holds_a_run(refused: Run, run: Run, table: Write) -> None:
    table()
    asked = "validate data.csv --target outcome --n-jobs 1 --n-bootstraps 2 --metric roc_auc"
    run(asked)
    assert "already holds a run; continue it with --resume" in refused(asked)
    assert "--seed 0 then, 7 now" in refused(f"{asked} --resume --seed 7")
