"""What ``training_size_correction`` is worth: the table of papers/pages/training-size.md, by real fits.

    python tests/slow/statistical/training_size_simulation.py [draws]

Ten normal columns, three of which carry signal; two classes. Every draw is searched with five stratified folds, and
the winner is scored on 4000 further rows.
"""

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import heldout as ho

TREE = DecisionTreeClassifier(max_depth=4, random_state=0)
CANDIDATES: dict[str, Any] = {
    "logistic regression": LogisticRegression(C=10),
    "tree": TREE,
    "k-NN": KNeighborsClassifier(7),
    "20 of three kinds": [
        ("lr", LogisticRegression(), {"C": [1e-3, 1e-2, 0.1, 1, 10, 100]}),
        ("knn", KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 7, 11, 15, 21, 31]}),
        ("tree", TREE, {"max_depth": [1, 2, 3, 4, 6, 8]}),
    ],
}
HEAD = "rows | models | metric | bias | corrected | RMSE | corrected | covers at width | corrected"


def drawn(seed: list[int], n_rows: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Rows and their classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 10))
    y = rng.random(n_rows) < 1 / (1 + np.exp(-0.6 * X[:, :3].sum(axis=1)))
    return X, y.astype(np.intp)


def errors(models: Any, scoring: str, n_rows: int, n_draws: int) -> Iterator[list[float]]:
    """Of each draw value less truth, whether the interval covers it, and its width: plain, then corrected."""
    for draw in range(n_draws):
        X, y = drawn([n_rows, draw], n_rows)
        if min(y.sum(), n_rows - y.sum()) < 10:
            continue
        search = ho.HeldOutSearchCV(
            models, None if isinstance(models, list) else {}, scoring=scoring, random_state=0, n_bootstraps=100,
            cv=StratifiedKFold(5, shuffle=True, random_state=draw), training_size_correction=True,
        ).fit(X, y)  # fmt: skip
        truth = get_scorer(scoring)(search.best_estimator_, *drawn([7, draw], 4000))
        both = ho.estimate(y, search.predictions_), search.estimate_
        yield [
            number
            for one in both
            for number in (one.value - truth, truth in one.interval, one.interval.high - one.interval.low)
        ]


def main(n_draws: int) -> None:
    """Print the table."""
    print(HEAD)
    warnings.simplefilter("ignore")
    for n_rows in (100, 40):
        for name, models in CANDIDATES.items():
            for scoring in ("roc_auc", "accuracy"):
                found = np.array(list(errors(models, scoring, n_rows, n_draws)))
                mean, root = found.mean(axis=0), np.sqrt((found**2).mean(axis=0))
                bias, error = (f"{mean[j]:+.3f}" for j in (0, 3)), (f"{root[j]:.3f}" for j in (0, 3))
                covers = (f"{mean[j]:.3f} at {mean[j + 1]:.2f}" for j in (1, 4))
                print(" | ".join([str(n_rows), name, scoring, *bias, *error, *covers]), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
