"""Configurations with real fits and known truth: what comparisons of them state, beside what the models deliver."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import heldout as ho

SEVERAL = [
    *(DecisionTreeClassifier(max_depth=depth, random_state=0) for depth in (None, 2, 4)),
    *(LogisticRegression(C=c) for c in (0.01, 1.0)),
    *(KNeighborsClassifier(k) for k in (3, 15)),
    GaussianNB(),
]


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of a population, the configurations' held-out predictions of them, and the truth."""

    y: Any
    predictions: Any
    folds: Any
    truth: Any
    """(C,): the score, on 20 000 further rows, of each configuration fitted on all rows of the sample."""

    def compared(self, metric: str, seed: int) -> Any:
        labels = (self.predictions > 0.5).astype(int) if metric == "accuracy" else self.predictions
        return ho.compare_configurations(
            self.y, labels, metric=metric, folds=self.folds, n_bootstraps=300, random_state=seed
        )


def population(seed: int, n_rows: int) -> tuple[Any, Any]:
    """The rows of a sample, and behind them 20 000 of the same population, which is another for each seed."""
    return make_classification(
        n_rows + 20000, 8, n_informative=(2, 3, 4, 5)[seed % 4], n_redundant=2, n_clusters_per_class=2,
        flip_y=(0.05, 0.2)[seed // 4 % 2], class_sep=0.8, random_state=seed,
    )  # fmt: skip


def sample(seed: int, n_rows: int, metric: str, models: list[Any]) -> Sample:
    """A sample and its predictions by 5-fold cross-validation."""
    X, y = population(seed, n_rows)
    mine, further = slice(0, n_rows), slice(n_rows, None)
    folds, predictions = np.zeros(n_rows, dtype=int), np.zeros((n_rows, len(models)))
    for fold, (train, test) in enumerate(
        StratifiedKFold(5, shuffle=True, random_state=seed).split(X[mine], y[mine])
    ):
        folds[test] = fold
        for j, model in enumerate(models):
            predictions[test, j] = model.fit(X[train], y[train]).predict_proba(X[test])[:, 1]
    scored = [model.fit(X[mine], y[mine]).predict_proba(X[further])[:, 1] for model in models]
    score = roc_auc_score if metric == "roc_auc" else lambda truth, p: accuracy_score(truth, p > 0.5)
    return Sample(y[mine], predictions, folds, np.array([score(y[further], each) for each in scored]))
