"""What a search costs beside scikit-learn's: the same 60 configurations and folds, the estimate included.

    python benchmarks/search_overhead.py [--searches "small forests" ...] [--rounds 5] [--n-jobs 2]

The two searches alternate, so that a machine that grows slower or faster hurts both; the figure is the median of
the ratios of neighbours. Pipelines with a logistic regression (fits of a few milliseconds, where overhead shows
most) and small forests, by grid and by random search.
"""

import argparse
import statistics
import time
from typing import Any

import numpy as np
from scipy.stats import loguniform, randint, uniform
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from heldout.search import HeldOutRandomizedSearchCV, HeldOutSearchCV

LOGISTIC = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
FOREST = RandomForestClassifier(n_estimators=30, random_state=0)
BY_GRID = (GridSearchCV, HeldOutSearchCV, {})
BY_DRAWS = (RandomizedSearchCV, HeldOutRandomizedSearchCV, {"n_iter": 60, "random_state": 0})
SEARCHES = {
    "logistic pipelines": (*BY_GRID, LOGISTIC, {"logisticregression__C": np.logspace(-3, 2, 60)}),
    "small forests": (
        *BY_GRID,
        FOREST,
        {"max_depth": [2, 3, 4, 5, 6, None], "min_samples_leaf": [1, 2, 4, 8, 16], "max_features": [0.3, 0.6]},
    ),
    "drawn logistic pipelines": (*BY_DRAWS, LOGISTIC, {"logisticregression__C": loguniform(1e-3, 1e2)}),
    "drawn small forests": (
        *BY_DRAWS,
        FOREST,
        {"max_depth": randint(2, 10), "min_samples_leaf": randint(1, 17), "max_features": uniform(0.2, 0.6)},
    ),
}


def seconds(search: Any, X: Any, y: Any) -> float:
    started = time.perf_counter()
    search.fit(X, y)
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--searches", nargs="+", default=list(SEARCHES), choices=SEARCHES)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--n-jobs", type=int, default=2)
    options = parser.parse_args()
    X, y = load_breast_cancer(return_X_y=True)
    for name in options.searches:
        their_class, our_class, more, estimator, space = SEARCHES[name]
        common = {"scoring": "roc_auc", "n_jobs": options.n_jobs, "cv": 5, **more}
        peer, ours = their_class(estimator, space, **common), our_class(estimator, space, **common)
        seconds(peer, X, y), seconds(ours, X, y)  # start the workers, load the libraries
        pairs = [(seconds(peer, X, y), seconds(ours, X, y)) for _ in range(options.rounds)]
        ratios = [mine / theirs for theirs, mine in pairs]
        assert peer.best_index_ == ours.best_index_
        estimating = ours.evaluation_.seconds["estimate"]
        print(
            f"{name}: {their_class.__name__} {statistics.median(a for a, _ in pairs):.2f} s, {our_class.__name__} "
            f"{statistics.median(b for _, b in pairs):.2f} s (of which the estimate {estimating:.3f} s), ratio "
            f"{statistics.median(ratios):.3f} (from {min(ratios):.3f} to {max(ratios):.3f})",
            flush=True,
        )


if __name__ == "__main__":
    main()
