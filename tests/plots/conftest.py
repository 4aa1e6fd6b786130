"""Searches that the plots draw, and figures that are drawn nowhere and closed after each test."""

from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho

mpl.use("Agg")


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """No figure is open before a test, nor after it."""
    import matplotlib.pyplot as plt

    plt.close("all")
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def rows() -> tuple[Any, Any]:
    X, y = load_breast_cancer(return_X_y=True)
    return X[:90, :4], np.array(["benign", "malignant"])[1 - y[:90]]


@pytest.fixture(scope="session")
def search(rows: tuple[Any, Any]) -> Any:
    """Eight configurations, scored by what reads decisions, probabilities and labels."""
    grid = {"n_neighbors": [1, 5, 9, 30], "p": [1, 2]}
    return ho.HeldOutSearchCV(
        KNeighborsClassifier(), grid, scoring=["roc_auc", "neg_log_loss", "accuracy"], refit="roc_auc",
        n_bootstraps=100, random_state=0,
    ).fit(*rows)  # fmt: skip


@pytest.fixture(scope="session")
def raced(rows: tuple[Any, Any]) -> Any:
    """A search that drops."""
    grid = {"n_neighbors": [1, 9, 70]}
    return ho.HeldOutSearchCV(
        KNeighborsClassifier(), grid, cv=9, drop="bootstrap", n_bootstraps=100, random_state=0
    ).fit(*rows)  # fmt: skip


@pytest.fixture(scope="session")
def validation(rows: tuple[Any, Any]) -> Any:
    X, y = rows
    model = LogisticRegression(max_iter=1000)
    return ho.bootstrap_validate(
        model,
        (X - X.mean(axis=0)) / X.std(axis=0),
        y,
        metric=["roc_auc", "neg_log_loss"],
        n_bootstraps=30,
        random_state=0,
    )
