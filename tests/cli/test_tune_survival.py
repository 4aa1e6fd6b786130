"""``heldout tune`` on times to an event, with the Cox regressions of its preset."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from heldout.readers.tables import read_table

Command = Callable[..., Any]
QUICK = ["--n-jobs", "1", "--n-bootstraps", "50", "--cv", "3"]
BRIER = "integrated_brier_score(times=[0.2, 0.6])"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """80 patients; the marker shortens life, and some of its values are missing."""
    rng = np.random.default_rng(0)
    marker, site = rng.normal(size=80), rng.choice(["north", "south", "west"], 80)
    life, end = rng.exponential(np.exp(-marker)), rng.uniform(0.1, 3, 80)
    columns = {"marker": marker, "site": site, "years": np.minimum(life, end), "died": (life <= end).astype(int)}
    frame = pd.DataFrame(columns)
    frame.loc[[3, 9, 20], "marker"] = np.nan
    frame.to_csv(tmp_path / "study.csv", index=False)
    return tmp_path / "study.csv"


def tune(command: Command, study: Path, *options: object) -> Any:
    ended = command("tune", study, "--target", "years", "--event", "died", "--out", "out", *QUICK, *options)
    assert ended.code == 0, ended
    return ended


@pytest.mark.draws_report
def test_a_study_becomes_a_model_an_estimate_and_a_report(command: Command, study: Path, tmp_path: Path) -> None:
    ended = tune(command, study)
    for said in (
        "study.csv: 80 rows, 2 columns to predict from. 1 of them hold",
        "Target 'years' holds times and 'died' marks the events among them",
        "so this is survival.",
        "Metric: concordance_index.",
        "7 configurations (cox) x 3 folds = 21 fits",
    ):
        assert said in ended.out
    estimate = json.loads((tmp_path / "out" / "estimate.json").read_text())
    assert estimate["metric"] == "concordance_index" and 0.6 < estimate["value"] < 0.95
    assert "with the event" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "not reviewed" not in ended.err  # of the types in model.skops
    frame = read_table(str(tmp_path / "out" / "predictions.parquet")).frame
    assert list(frame.columns[:5]) == ["row", "repeat", "fold", "years", "died"]

    again = command("estimate", tmp_path / "out" / "predictions.parquet", "--json")
    assert json.loads(again.out)["value"] == estimate["value"]
    done = command("tune", study, "--target", "years", "--event", "died", "--out", "out", *QUICK, "--resume")
    assert "21 done (21 of them before)" in done.out


def test_survival_probabilities_are_kept_at_the_times_of_the_metric(command: Command, study: Path) -> None:
    ended = tune(command, study, "--metric", BRIER)
    predictions = study.parent / "out" / "predictions.parquet"
    assert "metric          neg_integrated_brier_score" in ended.out
    assert "cox (alpha=1) = until 0.6" in read_table(str(predictions)).frame.columns
    again = command("estimate", predictions, "--json")
    saved = json.loads((study.parent / "out" / "estimate.json").read_text())
    assert json.loads(again.out)["value"] == saved["value"]
    at = command("estimate", predictions, "--metric", "brier_score_at(time=0.6)", "--json", "--n-bootstraps", "20")
    assert 0 < json.loads(at.out)["value"] < 0.5
    other = command("estimate", predictions, "--metric", "brier_score_at(time=0.5)")
    assert other.code == 2 and "predictions are of times 0.2, 0.6" in other.last


def test_the_search_is_repeated_by_nested(command: Command, study: Path) -> None:
    ended = tune(command, study, "--method", "nested", "--interval", "none")
    assert "by nested_cv" in ended.out and "(3 outer" not in ended.err
