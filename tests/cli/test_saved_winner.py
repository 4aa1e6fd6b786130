"""``heldout estimate`` on the predictions of a run names the configuration of the run's model."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import heldout as ho
from heldout.cli.estimate import SavedWinner

Command = Callable[..., Any]
Write = Callable[..., Path]

SPACE = """
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import heldout as ho


def space(X, y):
    prepare = ho.spaces.default_preprocessing(X)
    neighbours = {"kneighborsclassifier__n_neighbors": [1, 45]}
    return [("near", make_pipeline(prepare, KNeighborsClassifier()), neighbours)]
"""
TUNE = ["--target", "outcome", "--n-jobs", "1", "--cv", "4", "--space", "near.py:space", "--n-bootstraps", "40"]


@pytest.fixture(autouse=True)
def space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "near.py").write_text(SPACE)
    yield
    sys.modules.pop("near", None)


@pytest.fixture
def run(command: Command, table: Write, tmp_path: Path) -> Callable[..., Path]:
    """A finished run's predictions. 45 neighbours are all training rows: no ranking, but a fair Brier score."""

    def tuned(*options: str) -> Path:
        rng = np.random.default_rng(1)
        a = rng.normal(size=60)
        ended = command(
            "tune",
            table(a=a, text="u", outcome=np.where(a + rng.normal(size=60) > 0, "yes", "no")),
            *TUNE,
            *options,
        )
        assert ended.code == 0, ended
        return tmp_path / "heldout-out" / "predictions.parquet"

    return tuned


def flags_of(document: dict[str, Any]) -> dict[str, str]:
    return {each["flag"]: each["message"] for each in document["flags"]}


def estimated(command: Command, path: Path, *options: str) -> Any:
    ended = command("estimate", path, "--n-bootstraps", "40", *options)
    assert ended.code == 0, ended
    return ended


def test_the_model_of_the_run_is_named(command: Command, run: Callable[..., Path]) -> None:
    path = run()
    model = ho.load_model(path.with_name("model.skops"))
    n = model.get_params()["kneighborsclassifier__n_neighbors"]
    ended = estimated(command, path)
    assert f"saved model     the same ({path.with_name('model.skops')})" in ended.out
    document = json.loads(estimated(command, path, "--json").out)
    assert document["saved_model"] == {
        "configuration": f"near (n_neighbors={n})",
        "is_selected": True,
        "file": str(path.with_name("model.skops")),
    }
    assert "other_model" not in flags_of(document)


def test_another_configuration_is_flagged_with_the_reason(command: Command, run: Callable[..., Path]) -> None:
    path = run()
    other = json.loads(estimated(command, path, "--json", "--metric", "brier_score").out)
    model, selected = other["saved_model"]["configuration"], other["selected_name"]
    assert model != selected and not other["saved_model"]["is_selected"]
    assert flags_of(other)["other_model"] == (
        f"The saved model is {model}, and this estimate is of {selected}: the run selected by roc_auc, and the "
        "estimate by brier_score."
    )
    ended = estimated(command, path, "--metric", "brier_score")
    assert f"saved model     {model} (" in ended.out and "the run selected by roc_auc" in ended.out


def test_of_all_methods_each_is_compared(command: Command, run: Callable[..., Path]) -> None:
    path = run()
    path.with_name("model.skops").unlink()
    found = json.loads(estimated(command, path, "--json", "--method", "all", "--metric", "brier_score").out)
    model = found["saved_model"]["configuration"]
    for each in found["estimates"].values():
        assert ("other_model" in flags_of(each)) == (each["selected_name"] != model)
    assert not found["saved_model"]["is_selected"]
    assert found["saved_model"]["file"] is None


@pytest.mark.parametrize(
    ("metric", "aggregate", "selection", "reason"),
    [
        ("roc_auc", "pooled", "best", "the run selected by aggregate folds, and the estimate by aggregate pooled"),
        ("roc_auc", "folds", "within", "the run selected by rule best, and the estimate by rule within"),
        (
            "f1",
            "pooled",
            "best",
            "the run selected by roc_auc, aggregate folds, and the estimate by f1, aggregate pooled",
        ),
        ("roc_auc", "folds", "best", "the run selected by other scores than those of these predictions"),
    ],
)
def test_the_reason_names_all_that_differs(metric: str, aggregate: str, selection: str, reason: str) -> None:
    y = np.arange(40) % 2
    found = ho.estimate(y, np.stack([y, 1 - y], axis=1) * 1.0, metric="accuracy", method="cv")
    of_aggregate = replace(found, provenance={**found.provenance, "aggregate": aggregate})
    saved = SavedWinner("other", "roc_auc", "folds", "best", "")
    flagged = saved.flagged(of_aggregate, metric, selection)
    assert flagged.flags[ho.Flag.OTHER_MODEL].endswith(f": {reason}.")
    assert saved.row(flagged) == ("saved model", "other")
    same = replace(saved, name=found.selected_name).flagged(of_aggregate, metric, selection)
    assert same is of_aggregate
