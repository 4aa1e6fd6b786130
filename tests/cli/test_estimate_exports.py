"""``heldout estimate`` on exports of caret and tidymodels: one command, no options."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import heldout as ho

Command = Callable[..., Any]
EXPORTS = Path(__file__).parents[1] / "readers" / "exports"
FEW = ["--n-bootstraps", "50"]


@pytest.fixture
def caret(tmp_path: Path) -> Path:
    return Path(shutil.copy(EXPORTS / "caret-cv.csv", tmp_path / "caret.csv"))


def test_an_export_needs_no_option(command: Command, caret: Path) -> None:
    ended = command("estimate", "caret.csv", *FEW)

    assert ended.code == 0, ended.err
    assert ended.err == ""
    said = ended.out.splitlines()
    assert said[0] == (
        "caret.csv is read as fit$pred of caret: truth obs, rows rowIndex, folds Resample, configurations k, "
        "labels pred, probabilities no, yes."
    )
    assert "(positive class 'yes', whose probability is read; --positive no for the other)" in said[2]
    found = json.loads(command("estimate", "caret.csv", *FEW, "--json").out)
    same = ho.estimate(ho.read_predictions(caret), metric="roc_auc", n_bootstraps=50, random_state=0)
    assert (found["value"], found["selected_name"]) == (same.value, same.selected_name)


def test_all_that_describes_the_estimate_applies_to_an_export(command: Command, caret: Path) -> None:
    options = ["--metric", "average_precision", "--positive", "no", "--target", "obs", "--method", "tt", "--json"]
    found = json.loads(command("estimate", "caret.csv", *options).out)
    table = ho.read_predictions(caret)
    same = ho.estimate(table, metric="average_precision", pos_label="no", method="tt")
    assert (found["value"], found["uncorrected"]) == (same.value, same.uncorrected)

    cut = json.loads(
        command("estimate", "caret.csv", "--metric", "accuracy", "--threshold", "0.3", *FEW, "--json").out
    )
    frame = pd.read_csv(caret)
    right = ((frame["yes"] > 0.3) == (frame["obs"] == "yes")).groupby(frame["k"]).mean()
    assert cut["uncorrected"] == pytest.approx(right.max(), abs=1e-12)


@pytest.mark.draws_report
def test_the_report_of_an_export(command: Command, caret: Path, tmp_path: Path) -> None:
    ended = command("estimate", "caret.csv", *FEW, "--out", "out")

    assert ended.code == 0, ended.err
    assert "k=3" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
