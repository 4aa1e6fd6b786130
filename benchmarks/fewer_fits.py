"""How much faster a search is that shares fits: GridSearchCV's time over ours, on the same list of configurations.

    python benchmarks/fewer_fits.py [--rounds 3] [--n-jobs 1] [--share exact] [--only rounds,forest]

The two searches alternate in one process, the estimate included. The figure is the median of the ratios of
neighbours; the mean scores of all configurations are compared. With ``--share no`` nothing is shared.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, make_classification, make_regression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from heldout.search import HeldOutSearchCV


def classes(n_rows: int, n_columns: int = 20) -> tuple[Any, Any]:
    return make_classification(n_rows, n_columns, n_informative=8, random_state=0)


def cancer() -> tuple[Any, Any]:
    return load_breast_cancer(return_X_y=True)


def numbers(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    return make_regression(n_rows, n_columns, noise=10.0, random_state=0)


@dataclass(frozen=True)
class Case:
    """A search, and the least ratio that is wanted."""

    wanted: float
    data: Callable[[], tuple[Any, Any]]
    estimator: Any
    grid: Mapping[str, Any]
    scoring: str = "roc_auc"
    share: Any = "exact"
    cv: Any = 5


SIZES = list(range(25, 501, 25))
CASES = {
    "rounds": Case(
        9.0,
        lambda: classes(1000),
        HistGradientBoostingClassifier(),
        {"max_iter": SIZES, "learning_rate": [0.02, 0.05, 0.1, 0.2, 0.3]},
    ),
    "forest": Case(
        8.0,
        lambda: classes(1000),
        RandomForestClassifier(random_state=0),
        {"n_estimators": SIZES, "max_features": [2, 4, 8, 16]},
    ),
    "neighbours": Case(
        25.0,
        lambda: classes(5000),
        KNeighborsClassifier(),
        {"n_neighbors": list(range(1, 31)), "weights": ["uniform", "distance"]},
    ),
    "ridge": Case(20.0, lambda: numbers(2000, 200), Ridge(), {"alpha": np.logspace(-3, 3, 100)}, "r2"),
    "logistic": Case(
        4.0,
        cancer,
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        {"logisticregression__C": np.logspace(-3, 2, 30)},
        share="tolerance",
    ),
    "selection": Case(
        3.5,
        cancer,
        make_pipeline(SimpleImputer(), StandardScaler(), SelectKBest(), SVC()),
        {
            "selectkbest__k": list(range(1, 21)),
            "svc__C": np.logspace(-2, 2, 6),
            "svc__gamma": np.logspace(-3, 0, 5),
        },
    ),
    "one row out, LDA": Case(
        50.0,
        lambda: classes(1000),
        LinearDiscriminantAnalysis(solver="lsqr"),
        {"shrinkage": [0.1, 0.3, 0.5, 0.7, 0.9]},
        "accuracy",
        cv=LeaveOneOut(),
    ),
    "one row out, ridge": Case(
        200.0,
        lambda: numbers(1000, 20),
        Ridge(),
        {"alpha": np.logspace(-2, 2, 20)},
        "neg_mean_squared_error",
        cv=LeaveOneOut(),
    ),
    "60 machines, nothing shared": Case(
        1.15, cancer, SVC(), {"C": np.logspace(-2, 2, 12), "gamma": np.logspace(-3, 0, 5)}, share=False
    ),
    "10 forests, nothing shared": Case(
        0.98,
        lambda: classes(1000),
        RandomForestClassifier(random_state=0),
        {"min_samples_leaf": list(range(1, 11))},
        share=False,
    ),
}


def seconds(search: Any, X: Any, y: Any) -> float:
    started = time.perf_counter()
    search.fit(X, y)
    return time.perf_counter() - started


def compare(name: str, case: Case, rounds: int, n_jobs: int, share: Any) -> None:
    """Print the median ratio of a case."""
    X, y = case.data()
    common = {"scoring": case.scoring, "n_jobs": n_jobs, "cv": case.cv, "refit": False}
    peer = GridSearchCV(case.estimator, dict(case.grid), **common)
    ours = HeldOutSearchCV(case.estimator, dict(case.grid), share=case.share if share is None else share, **common)
    pairs = [(seconds(peer, X, y), seconds(ours, X, y)) for _ in range(rounds)]
    ratios = [theirs / mine for theirs, mine in pairs]
    difference = np.nanmax(np.abs(peer.cv_results_["mean_test_score"] - ours.cv_results_["mean_test_score"]))
    theirs, mine = (statistics.median(column) for column in zip(*pairs, strict=True))
    winner = "the same" if peer.cv_results_["rank_test_score"].argmin() == ours.best_index_ else "another"
    print(
        f"{name}: {statistics.median(ratios):.2f} times ({min(ratios):.2f} to {max(ratios):.2f}; wanted "
        f"{case.wanted:g}), GridSearchCV {theirs:.2f} s, ours {mine:.2f} s; {ours.n_fits_shared_} of "
        f"{ours.n_fits_} fits shared; scores differ by {difference:.1e}, {winner} winner",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--share", choices=["exact", "tolerance", "no"])
    parser.add_argument("--only", default="", help="cases whose names contain one of these, separated by commas")
    options = parser.parse_args()
    share = {"no": False}.get(options.share, options.share)
    warnings.simplefilter("ignore")
    for name, case in CASES.items():
        if any(part in name for part in options.only.split(",")):
            compare(name, case, options.rounds, options.n_jobs, share)


if __name__ == "__main__":
    main()
