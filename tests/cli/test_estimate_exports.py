"""``heldout estimate`` on exports of caret and tidymodels: one command, no options."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--target", "Species"], "--target Species contradicts what was recognised, fit$pred of caret"),
        (["--format", "mlr3"], "caret.csv has no column 'row_ids' to use as one of the format"),
        (["--format", "R"], "--format must be auto or one of"),
        (["--method", "tt", "--exclude", "Resample"], "compares scores fold by fold"),
        (["--prediction", "pred"], "--prediction pred contradicts what was recognised"),
        (["--metric", "r2"], "r2"),
        (["--exclude", "nothing"], "no column 'nothing' to use as one to leave out"),
    ],
)
def test_what_does_not_fit_an_export_is_refused(
    command: Command, caret: Path, options: list[str], said: str
) -> None:
    ended = command("estimate", "caret.csv", *options)
    assert ended.code == 2 and said in ended.last and "Traceback" not in ended.err, ended.err


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
