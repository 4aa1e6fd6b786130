"""Draws the pictures of the documentation: python docs/images/plots.py, beside which they are written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import loguniform
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import heldout as ho

FOLDER = Path(__file__).parent
DOTS_PER_INCH = 80


def rows(n: int = 140) -> tuple[Any, Any]:
    """Some rows of the breast cancer data with noise, so that a search can be wrong; 1 is malignant."""
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    chosen = rng.choice(len(y), n, replace=False)
    X = StandardScaler().fit_transform(X)
    return X[chosen] + rng.normal(scale=2.5, size=(n, X.shape[1])), 1 - y[chosen]


def grid_search(X: Any, y: Any, **settings: Any) -> Any:
    model = make_pipeline(SelectKBest(), LogisticRegression(max_iter=1000))
    grid = {"selectkbest__k": [1, 2, 4, 8, 16, 30], "logisticregression__C": np.logspace(-3, 1, 5)}
    scoring = ["roc_auc", "neg_log_loss", "average_precision"]
    search = ho.HeldOutSearchCV(model, grid, scoring=scoring, refit="roc_auc", random_state=0, **settings)
    return search.fit(X, y)


def displays() -> Iterator[tuple[str, Any]]:
    """The name of each picture and its display."""
    X, y = rows()
    search = grid_search(X, y)
    yield "corrected-score", search.plot()
    yield "ranking", ho.plots.RankingDisplay.from_search(search, max_configurations=12)
    yield "parameter-slice", ho.plots.ParameterSliceDisplay.from_search(search, "C")
    yield "parameter-plane", ho.plots.ParameterPlaneDisplay.from_search(search)
    random = ho.HeldOutRandomizedSearchCV(
        SVC(),
        {"C": loguniform(0.01, 100), "gamma": loguniform(1e-4, 1)},
        n_iter=60,
        scoring="roc_auc",
        random_state=0,
    ).fit(X, y)
    yield "parameter-contours", ho.plots.ParameterPlaneDisplay.from_search(random, ("C", "gamma"))
    yield "history", ho.plots.SearchHistoryDisplay.from_search(random)
    yield "optimism", ho.plots.OptimismCurveDisplay.from_search(random)
    yield (
        "race",
        ho.plots.RaceDisplay.from_search(grid_search(X, y, cv=10, drop="bootstrap"), max_configurations=16),
    )
    yield "roc", ho.plots.RocCurveDisplay.from_search(search)
    yield "precision-recall", ho.plots.PrecisionRecallDisplay.from_search(search)
    yield "calibration", ho.plots.CalibrationDisplay.from_search(search)
    yield "decision", ho.plots.DecisionCurveDisplay.from_search(search)
    yield "threshold", ho.plots.ThresholdChoiceDisplay.from_search(search, metric="f1")
    validation = ho.bootstrap_validate(
        LogisticRegression(), X[:, :8], y, metric=["roc_auc", "brier_score"], n_bootstraps=200, random_state=0
    )
    yield "roc-validated", ho.plots.RocCurveDisplay.from_validation(validation)
    yield "calibration-validated", ho.plots.CalibrationDisplay.from_validation(validation)
    X, y = load_diabetes(return_X_y=True)
    losses = ho.HeldOutSearchCV(
        SVR(), {"C": np.logspace(0, 3, 7), "kernel": ["linear", "rbf", "poly"]},
        scoring="neg_root_mean_squared_error", random_state=0,
    ).fit(X[:150], y[:150])  # fmt: skip
    yield "parameter-levels", ho.plots.ParameterSliceDisplay.from_search(losses, "kernel")


def main() -> None:
    for name, display in displays():
        path = FOLDER / f"plot-{name}.png"
        display.figure_.savefig(path, dpi=DOTS_PER_INCH, metadata={"Software": None})
        plt.close(display.figure_)
        print(f"{path.name}: {path.stat().st_size / 1024:.0f} kB")


if __name__ == "__main__":
    main()
