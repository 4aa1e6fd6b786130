"""The worst case of an advice is the study of biases on the user's numbers."""

from __future__ import annotations

import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.advice.costs import BETA, MOST_REPETITIONS, N_BOOTSTRAPS, worst_case
from heldout_papers import bias


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc", "mean_squared_error"])
def test_it_is_the_study_of_biases(metric: str) -> None:
    share = 0.3 if metric == "roc_auc" else None
    found = worst_case(60, 20, 5, entropy=4, metric=metric, prevalence=share)
    study = bias(
        60, 20, [BETA], metric=metric, prevalence=share, repetitions=MOST_REPETITIONS, folds=5,
        n_bootstraps=N_BOOTSTRAPS, random_state=4,
    )  # fmt: skip

    expected = {row["protocol"]: row["bias"] for row in study.rows()}
    assert {one.protocol: one.bias for one in found.biases} == {
        name: expected[name] for name in ("cv", "nested_cv", "bbc", "bced")
    }
    assert found.of("tt") is None


def test_an_advice_has_it() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    found = ho.advise(
        X[:60], y[:60], (KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}), seconds=0, random_state=0
    )
    assert found.worst_case is not None
    assert [one.protocol for one in found.worst_case.biases] == ["cv", "nested_cv", "bbc", "bced"]
    assert any(said.startswith("At worst, if your configurations were independent") for said in found.sentences)
    assert not any("not simulated" in said for said in found.warnings)


def test_sizes_are_limited_to_what_takes_a_second() -> None:
    found = worst_case(1_000_000, 2, 200, entropy=0)

    assert (found.rows, found.configurations, found.folds) == (1000, 2, 20)
