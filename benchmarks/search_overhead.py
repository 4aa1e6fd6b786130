"""What HeldOutSearchCV costs beside GridSearchCV: the same 60 configurations and folds, the estimate included.

    python benchmarks/search_overhead.py [--rounds 5] [--n-jobs 2]

The two searches alternate, so that a machine that grows slower or faster hurts both; the figure is the median of
the ratios of neighbours. Two searches: pipelines with a logistic regression (fits of a few milliseconds, where
overhead shows most), and small forests.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from heldout.search import HeldOutSearchCV

SEARCHES = {
    "logistic pipelines": (
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        {"logisticregression__C": np.logspace(-3, 2, 60)},
    ),
    "small forests": (
        RandomForestClassifier(n_estimators=30, random_state=0),
        {"max_depth": [2, 3, 4, 5, 6, None], "min_samples_leaf": [1, 2, 4, 8, 16], "max_features": [0.3, 0.6]},
    ),
}


def seconds(search: Any, X: Any, y: Any) -> float:
    started = time.perf_counter()
    search.fit(X, y)
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--n-jobs", type=int, default=2)
    options = parser.parse_args()
    X, y = load_breast_cancer(return_X_y=True)
    for name, (estimator, grid) in SEARCHES.items():
        common = {"scoring": "roc_auc", "n_jobs": options.n_jobs, "cv": 5}
        peer = GridSearchCV(estimator, grid, **common)
        ours = HeldOutSearchCV(estimator, grid, **common)
        seconds(peer, X, y), seconds(ours, X, y)  # start the workers, load the libraries
        pairs = [(seconds(peer, X, y), seconds(ours, X, y)) for _ in range(options.rounds)]
        ratios = [mine / theirs for theirs, mine in pairs]
        assert peer.best_index_ == ours.best_index_
        estimating = ours.evaluation_.seconds["estimate"]
        print(
            f"{name}: GridSearchCV {statistics.median(a for a, _ in pairs):.2f} s, HeldOutSearchCV "
            f"{statistics.median(b for _, b in pairs):.2f} s (of which the estimate {estimating:.3f} s), ratio "
            f"{statistics.median(ratios):.3f} (from {min(ratios):.3f} to {max(ratios):.3f})"
        )


if __name__ == "__main__":
    main()
