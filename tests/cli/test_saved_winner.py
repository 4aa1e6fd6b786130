"""``heldout estimate`` on the predictions of a run names the configuration of the run's model."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import heldout as ho
from heldout.cli.estimate_job import SavedWinner

Run = Callable[..., Any]

TUNE = (
    "tune data.csv --target outcome --n-jobs 1 --cv 4 --space own_space.py:near_or_far --n-bootstraps 40 --out out"
)
ESTIMATE = "estimate out/predictions.parquet --n-bootstraps 40"
MODEL = Path("out/model.skops")


@pytest.fixture
def tuned(run: Run, files: None, table: Callable[..., Path]) -> None:
    """A finished run. 45 neighbours are all training rows: no ranking, but a fair Brier score."""
    rng = np.random.default_rng(1)
    a = rng.normal(size=60)
    table(a=a, text="u", outcome=np.where(a + rng.normal(size=60) > 0, "yes", "no"))
    run(TUNE)


def flags_of(document: dict[str, Any]) -> dict[str, str]:
    return {each["flag"]: each["message"] for each in document["flags"]}


@pytest.mark.usefixtures("tuned")
def test_the_model_of_the_run_is_named_and_another_configuration_flagged(document: Run, run: Run) -> None:
    n = ho.load_model(MODEL).get_params()["kneighborsclassifier__n_neighbors"]
    assert f"saved model     the same ({MODEL})" in run(ESTIMATE).out
    found = document(ESTIMATE)
    same = {"configuration": f"near (n_neighbors={n})", "is_selected": True, "file": str(MODEL)}
    assert found["saved_model"] == same and "other_model" not in flags_of(found)

    ended = run(f"{ESTIMATE} --metric brier_score")
    other = document(f"{ESTIMATE} --metric brier_score")
    model, selected = other["saved_model"]["configuration"], other["selected_name"]
    assert model != selected and not other["saved_model"]["is_selected"]
    reason = "the run selected by roc_auc, and the estimate by brier_score."
    said = f"The saved model is {model}, and this estimate is of {selected}: {reason}"
    assert flags_of(other)["other_model"] == said
    assert f"saved model     {model} (" in ended.out and "the run selected by roc_auc" in ended.out

    MODEL.unlink()
    every = json.loads(run(f"{ESTIMATE} --method all --metric brier_score --json").out)
    for each in every["estimates"].values():
        assert ("other_model" in flags_of(each)) == (each["selected_name"] != model)
    assert every["saved_model"] == {"configuration": model, "is_selected": False, "file": None}


@pytest.mark.parametrize(
    ("metric", "aggregate", "selection", "reason"),
    [
        ("roc_auc", "pooled", "best", "aggregate folds, and the estimate by aggregate pooled"),
        ("roc_auc", "folds", "within", "rule best, and the estimate by rule within"),
        ("f1", "pooled", "best", "roc_auc, aggregate folds, and the estimate by f1, aggregate pooled"),
        ("roc_auc", "folds", "best", "other scores than those of these predictions"),
    ],
)
def test_the_reason_names_all_that_differs(metric: str, aggregate: str, selection: str, reason: str) -> None:
    y = np.arange(40) % 2
    found = ho.estimate(y, np.stack([y, 1 - y], axis=1) * 1.0, metric="accuracy", method="cv")
    of_aggregate = replace(found, provenance={**found.provenance, "aggregate": aggregate})
    saved = SavedWinner("other", "roc_auc", "folds", "best", "")
    flagged = saved.flagged(of_aggregate, metric, selection)
    assert flagged.flags[ho.Flag.OTHER_MODEL].endswith(f": the run selected by {reason}.")
    assert saved.row(flagged) == ("saved model", "other")
    same = replace(saved, name=found.selected_name).flagged(of_aggregate, metric, selection)
    assert same is of_aggregate
