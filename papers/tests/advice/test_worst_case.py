"""The worst case of an advice is the study of biases on the user's numbers."""

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

import heldout as ho
from heldout._streams import stream
from heldout.advice.costs import BETA, MOST_REPETITIONS, N_BOOTSTRAPS
from heldout_papers import bias

CLASSES = np.arange(60) % 10 < 3
MODELS = {"accuracy": LogisticRegression(), "roc_auc": LogisticRegression(), "r2": Ridge()}


def advised(metric: str, y: Any, n_configurations: int, cv: int = 5) -> Any:
    name = "alpha" if metric == "r2" else "C"
    grid = {name: np.linspace(1, 2, n_configurations)}
    X = np.arange(float(len(y)))[:, None]
    return ho.advise(X, y, (MODELS[metric], grid), scoring=metric, cv=cv, seconds=0, random_state=4)


@pytest.mark.parametrize(
    ("metric", "simulated", "share"),
    [("accuracy", "accuracy", None), ("roc_auc", "roc_auc", 0.3), ("r2", "mean_squared_error", None)],
)
def test_it_is_the_study_of_biases(metric: str, simulated: str, share: float | None) -> None:
    found = advised(metric, np.sin(np.arange(60)) if metric == "r2" else CLASSES, 20)
    study = bias(
        60, 20, [BETA], metric=simulated, prevalence=share, repetitions=MOST_REPETITIONS, folds=5,
        n_bootstraps=N_BOOTSTRAPS, random_state=stream(found.entropy, "advice"),
    )  # fmt: skip

    expected = {row["protocol"]: row["bias"] for row in study.rows()}
    assert {one.protocol: one.bias for one in found.worst_case.biases} == {
        name: expected[name] for name in ("cv", "nested_cv", "bbc", "bced")
    }
    assert any(text.startswith("The bias at worst is that of 20 independent") for text in found.sentences)
    assert not any("not simulated" in text for text in found.warnings)


def test_sizes_are_limited_to_what_takes_a_second() -> None:
    found = advised("accuracy", np.arange(1100) % 2, 2, cv=25).worst_case

    assert (found.rows, found.configurations, found.folds) == (1000, 2, 20)
