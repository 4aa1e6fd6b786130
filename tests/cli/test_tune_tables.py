"""``heldout tune`` on tables with gaps, categories and times to an event."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import heldout as ho
from heldout.readers.tables import read_table

Run = Callable[..., Any]
Write = Callable[..., Path]
QUICK = "--n-jobs 1 --n-bootstraps 50 --cv 3 --out out"
SURVIVAL = f"tune study.csv --target years --event died {QUICK}"
PREDICTIONS = "estimate out/predictions.parquet"


@pytest.mark.usefixtures("tiny_space")
def test_every_fit_imputes(document: Run, table: Write, frame: pd.DataFrame) -> None:
    gaps = {"text": frame["text"].where(np.arange(len(frame)) % 7 != 0)}
    table(**gaps)
    asked = f"tune data.csv --target outcome {QUICK}"
    imputed = document(f"{asked} --imputations 2")
    model = ho.load_model(Path("out/model.skops"))
    assert type(model).__name__ == "ImputedModel" and len(model.pooled_.members) == 2
    rows = frame.assign(**gaps)[["a", "text", "site"]]
    assert rows.isna().to_numpy().any() and np.isfinite(model.predict_proba(rows)).all()
    assert str(imputed["selected_name"]).startswith("logistic (")
    assert document(f"{asked} --out plain")["value"] != imputed["value"]
    nested = document(f"{asked} --imputations 2 --method nested --cv holdout --inner holdout --out nested")
    assert len(nested["outer_folds"]) == 1
    assert type(ho.load_model(Path("nested/model.skops"))).__name__ == "ImputedModel"


def test_boosted_models_of_a_table_with_text(run: Run, table: Write, frame: pd.DataFrame) -> None:
    table()
    boosted = "--preset boosted --models 'hist boosting' --search random --n-iter 2"
    ended = run(f"tune data.csv --target outcome --cv 2 --n-bootstraps 20 --out out {boosted}")
    assert "2 configurations drawn at random (hist boosting)" in ended.out
    trust = ["functools.partial", "sklearn.utils.validation.check_array"]  # of scikit-learn's own categories
    model = ho.load_model(Path("out/model.skops"), trust=trust)
    new = frame.drop(columns=["outcome"]).assign(text="never seen")
    assert set(np.unique(model.predict(new[list(model.feature_names_in_)]))) <= {"yes", "no"}


@pytest.fixture
def study(command: Run) -> None:
    """80 patients; the marker shortens life, and some of its values are missing."""
    rng = np.random.default_rng(0)
    marker, site = rng.normal(size=80), rng.choice(["north", "south", "west"], 80)
    life, end = rng.exponential(np.exp(-marker)), rng.uniform(0.1, 3, 80)
    columns = {"marker": marker, "site": site, "years": np.minimum(life, end), "died": (life <= end).astype(int)}
    frame = pd.DataFrame(columns)
    frame.loc[[3, 9, 20], "marker"] = np.nan
    frame.to_csv("study.csv", index=False)


@pytest.mark.usefixtures("study", "page_of_words")
def test_a_study_becomes_a_model_an_estimate_and_a_report(document: Run, run: Run) -> None:
    ended = run(SURVIVAL)
    for said in (
        "study.csv: 80 rows, 2 columns to predict from. 1 of them hold",
        "Target 'years' holds times and 'died' marks the events among them",
        "Metric: concordance_index.",
        "7 configurations (cox) x 3 folds = 21 fits",
    ):
        assert said in ended.out
    estimate = json.loads(Path("out/estimate.json").read_text())
    assert estimate["metric"] == "concordance_index" and 0.6 < estimate["value"] < 0.95
    assert "with the event" in Path("out/report.html").read_text(encoding="utf-8")
    assert "not reviewed" not in ended.err  # of the types in model.skops
    columns = list(read_table("out/predictions.parquet").frame.columns)
    assert columns[:5] == ["row", "repeat", "fold", "years", "died"]
    assert document(PREDICTIONS)["value"] == estimate["value"]
    assert "21 done (21 of them before)" in run(f"{SURVIVAL} --resume").out


@pytest.mark.usefixtures("study")
def test_survival_probabilities_are_kept_at_the_times_of_the_metric(refused: Run, document: Run, run: Run) -> None:
    tuned = document(f"{SURVIVAL} --metric 'integrated_brier_score(times=[0.2, 0.6])'")
    assert tuned["metric"] == "neg_integrated_brier_score"
    assert "cox (alpha=1) = until 0.6" in read_table("out/predictions.parquet").frame.columns
    assert document(PREDICTIONS)["value"] == tuned["value"]
    at = document(f"{PREDICTIONS} --metric brier_score_at(time=0.6) --n-bootstraps 20")
    assert 0 < at["value"] < 0.5
    other = refused(f"{PREDICTIONS} --metric brier_score_at(time=0.5)")
    assert "predictions are of times 0.2, 0.6" in other
    nested = run(f"{SURVIVAL} --method nested --interval none --out nested")
    assert "by nested_cv" in nested.out and "(3 outer" not in nested.err
