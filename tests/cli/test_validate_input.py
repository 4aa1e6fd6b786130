"""What ``heldout validate`` refuses: one sentence in the words of its options, before anything is fitted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

Command = Callable[..., Any]
Write = Callable[..., Path]


REFUSED = {
    "--method best": "--method must be one of auto, optimism, 632, 632+, oob, two_stage, got 'best'.",
    "--method two_stage": "--method two_stage chooses among several models first, got one; give several,",
    "--interval wide": "--interval must be one of auto, location_shifted, double, percentile, none, got 'wide'.",
    "--interval percentile": "--interval percentile is for the scores of the rows left out, which --method oob",
    "--inner-bootstraps 9": "--inner-bootstraps is for --interval double or --adjust-optimism; use one of them,",
    "--second-bootstraps 9": "--second-bootstraps 9 is for --method two_stage, the one with a second stage;",
    "--method oob --second-bootstraps 9": "--second-bootstraps is for --method two_stage; use both, or leave it",
    "--method 632 --adjust-optimism": "--adjust-optimism is for --method optimism and --method two_stage; --method",
    "--adjust-optimism --interval double": "--interval double is made of scores whose optimism is not adjusted, so",
    "--adjust-optimism --inner-bootstraps 9000000": "--adjust-optimism would take 36,000,000 fits",
    "--interval double --inner-bootstraps 1": "--inner-bootstraps must be an integer of at least 2, got 1;",
    "--interval double --inner-bootstraps 9000000": "--interval double would take 36,000,000 fits",
    "--bootstraps 0": "--bootstraps must be an integer of at least 1, got 0;",
    "--imputations 1": "--imputations must be 0 for none, or from 2 to 1000, got 1; 5 is usual.",
    "--imputations -20": "--imputations must be 0 for none, or from 2 to 1000, got -20; 5 is usual.",
    "--imputation-order naive": "--imputation-order needs --imputations, the number of them; 5 is usual.",
    "--backward 0.1": "--backward needs --imputations, the number of them; 5 is usual.",
    "--imputations 2 --backward 1.5": "--backward must lie between 0 and 1, got 1.5; .05 and .157 are usual.",
    "--imputations 2 --imputation-order naive --backward 0.1": "--backward pools p-values, and --imputation-order",
    "--outcome-in-evaluation": "--outcome-in-evaluation needs --imputations, the number of them; 5 is usual.",
    "--imputations 2 --imputation-order first": "--imputation-order must be one of boot_mi, mi_boot, naive, got",
    "--time 3": "--time is for survival, which needs --event COL and times in --target; add --event COL.",
    "--metric luck": "--metric must be a known name, got 'luck'; docs/methods/metrics.md and",
    "--metric r2": "--metric 'r2' does not fit a binary target; metrics that do: accuracy, ",
    "--model ridge": "--model must be logistic, linear, cox, or a file (.py or .skops), got 'ridge'; there is",
    "--model linear": "--model linear does not fit a binary target; use logistic.",
    "--model logistic --model logistic": "--model names 'logistic' twice; give each model a name of its own.",
    "--positive maybe": "--positive must be one of the classes 'no', 'yes', got 'maybe'.",
    "--predictor outcome": "--predictor outcome: the column is the target; name another one.",
    "--predictor site --groups site": "--predictor site: the column is the groups; name another one.",
    "--predictor constant": "data.csv has no usable column left to predict 'outcome' from: 'constant'",
    "--n-jobs 0": "--n-jobs must be a number of processes,",
    "--seed -1": "--seed must be from 0 to 2**64 - 1, got -1.",
    "--confidence-level 1.5": "--confidence-level must lie between 0 and 1, got 1.5;",
    "--event text": "the target (times) column 'outcome' must hold numbers, got 'yes' in row 1",
    "--predictor years": "data.csv has no column 'years' to use as a predictor; its columns are 'a', ",
}
"""Options, and how the sentence that refuses them begins."""


def refused(command: Command, path: object, *options: object, target: str = "outcome") -> str:
    ended = command("validate", path, "--target", target, "--n-jobs", "1", "--bootstraps", "4", *options)
    assert ended.code == 2, ended
    assert not Path("heldout-out", "run.db").exists()
    return str(ended.last).removeprefix("Error: ")


@pytest.mark.parametrize("options", list(REFUSED), ids=lambda options: options.replace(" ", "_"))
def test_options(command: Command, table: Write, options: str) -> None:
    assert refused(command, table(), *options.split()).startswith(REFUSED[options])


def test_survival_that_cannot_be_validated(command: Command, table: Write, frame: pd.DataFrame) -> None:
    days, none = np.arange(len(frame)) + 1.5, np.zeros(len(frame), dtype=int)
    one, twice = none.copy(), none + 1
    one[3], twice[5] = 1, 2
    path = table(days=days, none=none, one=one, twice=twice, seen=none + 1)

    assert "no event: all are censored" in refused(command, path, "--event", "none", target="days")
    assert refused(command, path, "--event", "one", target="days").startswith("1 row had the event that")
    coding = refused(command, path, "--event", "twice", target="days")
    assert coding.endswith(
        "got 2 in row 6. It holds 1 and 2: in R's survival package 2 is the event and 1 is censored; if so here, "
        "write 1 for 2 and 0 for 1 (or tell heldout tune, compare or validate --event-value 2)."
    )
    absent = refused(command, path, "--event", "twice", "--event-value", "3", target="days")
    assert absent.startswith("--event-value 3 does not occur in the event column 'twice', which holds '1', '2';")
    lonely = refused(command, path, "--event-value", "2", target="days")
    assert lonely.startswith("--event-value 2 is a value of the column of events; name it with --event COL")
    late = refused(command, path, "--event", "seen", "--time", "1000", target="days")
    assert late.startswith("--time must lie within those of the target, from 1.5 to before 60.5, got 1000;")
    untimed = refused(command, path, "--event", "seen", "--metric", "roc_auc_at", target="days")
    assert untimed == "roc_auc_at needs the time at which it is measured; give it as 'roc_auc_at(time=5)'."


def test_a_class_of_one_row(command: Command, table: Write, frame: pd.DataFrame) -> None:
    rare = np.where(np.arange(len(frame)) == 7, "yes", "no ")
    assert "has 1 row, and a bootstrap needs at least 2" in refused(command, table(outcome=rare))


def test_more_categories_than_can_be_imputed(command: Command, table: Write, frame: pd.DataFrame) -> None:
    town = pd.Series([f"t{row % 40}" for row in range(len(frame))])
    said = refused(command, table(text=town), "--imputations", "2", "--keep", "text")
    assert said == (
        "column 'text' has 40 categories, more than 30: each is a predictor of every other column; join rare ones, "
        "or leave the column out (in Python, max_categories allows more)."
    )


def test_a_first_metric_that_cannot_choose(command: Command, table: Write, tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(
        "from sklearn.dummy import DummyClassifier\nmodel = [('dummy', DummyClassifier())]\n"
    )
    options = ["--model", "logistic", "--model", "other.py", "--metric", "calibration_slope"]
    assert refused(command, table(), *options).startswith("the first metric chooses among models, and")


def test_a_model_that_cannot_be_fitted_ends_before_the_bootstraps(
    command: Command, table: Write, frame: pd.DataFrame
) -> None:
    days = np.arange(len(frame)) + 1.0
    path = table(days=days, seen=1, half=frame["site"] / 2, drop=["outcome", "text"])
    ended = command(
        "validate", path, "--target", "days", "--event", "seen", "--bootstraps", "40", "--n-jobs", "1"
    )  # 'half' is a multiple of 'site'

    assert ended.code == 2
    assert ended.last.startswith("Error: no model could be fitted on all rows: cox: CoxRegression finds")
    assert "single best coefficient of half:" in ended.last and ".." not in ended.last
    status = command("status", "heldout-out").out
    assert "1 of 41 done (2%), 1 failed, 40 left" in status


def test_a_folder_that_holds_a_run(command: Command, table: Write) -> None:
    options = ["--target", "outcome", "--n-jobs", "1", "--bootstraps", "2", "--metric", "roc_auc"]
    assert command("validate", table(), *options).code == 0
    again = command("validate", table(), *options)
    assert again.code == 2 and "already holds a run; continue it with --resume" in again.last
    other = command("validate", table(), *options, "--resume", "--seed", "7")
    assert other.code == 2
