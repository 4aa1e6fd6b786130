"""How much faster a search is that shares fits: GridSearchCV's time over ours, on the same list of configurations.

    python benchmarks/fewer_fits.py [--rounds 3] [--n-jobs 1] [--share exact] [--only rounds,forest]
        [--processor-time] [--table credit-g.parquet] [--cv 5]

The two searches alternate in one process, the estimate included. The figure is the median of the ratios of
neighbours; the mean scores of all configurations are compared. With ``--share no`` nothing is shared. For a list of
several estimators GridSearchCV runs once an estimator, and the share of the forests in the time is printed.

``--table`` is for the 610 configurations of Tsamardinos et al. (2018): a file (Parquet or CSV) with the column
``target``, of which 500 rows are taken, OpenML's credit-g for instance. Without it a table of that shape is made.
These cases take long, so they only run when ``--only`` names them.
"""

import argparse
import statistics
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification, make_regression
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
from heldout.spaces import quick, standard, tsamardinos2018


def classes(n_rows: int, n_columns: int = 20) -> tuple[Any, Any]:
    return make_classification(n_rows, n_columns, n_informative=8, random_state=0)


def cancer() -> tuple[Any, Any]:
    return load_breast_cancer(return_X_y=True)


def numbers(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    return make_regression(n_rows, n_columns, noise=10.0, random_state=0)


def diabetes() -> tuple[Any, Any]:
    return load_diabetes(return_X_y=True)


def like_credit(n_rows: int = 500) -> tuple[Any, Any]:
    """A table like credit-g: 7 numbers, 13 categories, seven of ten rows in one class."""
    X, y = make_classification(n_rows, 20, n_informative=8, weights=[0.3], flip_y=0.2, random_state=0)
    table = pd.DataFrame(X).rename(columns="x{}".format)
    for column in table.columns[7:]:
        table[column] = pd.qcut(table[column], 4, labels=["a", "b", "c", "d"]).astype(str)
    return table, y


def rows_of_table(path: str | None, n_rows: int = 500) -> tuple[Any, Any]:
    """Rows of a file, drawn at random."""
    if path is None:
        return like_credit(n_rows)
    table = pd.read_csv(path) if path.endswith(".csv") else pd.read_parquet(path)
    drawn = table.sample(n_rows, random_state=0)
    return drawn.drop(columns="target"), drawn["target"].to_numpy()


@dataclass(frozen=True)
class Case:
    """A search, and the least ratio that is wanted.

    Attributes
    ----------
    estimator : estimator or callable
        Or ``estimator(X, y)`` gives a list of (name, estimator, grid).
    """

    wanted: float
    data: Callable[[], tuple[Any, Any]]
    estimator: Any
    grid: Mapping[str, Any] | None = None
    scoring: str = "roc_auc"
    share: Any = "exact"
    cv: Any = 5
    refit: bool = False


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
    "preset quick, classes": Case(1.0, cancer, quick),
    "preset standard, classes": Case(3.0, cancer, standard),
    "preset standard, numbers": Case(3.0, diabetes, standard, scoring="r2"),
    "60 machines, nothing shared": Case(
        1.15,
        cancer,
        make_pipeline(StandardScaler(), SVC()),
        {"svc__C": np.logspace(-2, 2, 12), "svc__gamma": np.logspace(-3, 0, 5)},
        share=False,
        refit=True,
    ),
    "10 forests, nothing shared": Case(
        0.98,
        lambda: classes(1000),
        RandomForestClassifier(random_state=0),
        {"min_samples_leaf": list(range(1, 11))},
        share=False,
    ),
}


def the_610(path: str | None, cv: int) -> dict[str, Case]:
    """The 610 configurations, with forests of 1000 and of 20 trees."""
    return {
        f"610 configurations, {n_trees} trees": Case(
            wanted, partial(rows_of_table, path), partial(tsamardinos2018, n_trees=n_trees), cv=cv
        )
        for n_trees, wanted in ((20, 4.0), (1000, 1.3))
    }


class GridSearches:
    """GridSearchCV on each estimator of a list."""

    def __init__(self, entries: Any, **common: Any) -> None:
        self.searches = {name: GridSearchCV(model, grid, **common) for name, model, grid in entries}

    def fit(self, X: Any, y: Any) -> None:
        for search in self.searches.values():
            search.fit(X, y)
        results = [search.cv_results_ for search in self.searches.values()]
        names = ("mean_test_score", "mean_fit_time", "mean_score_time")
        self.cv_results_ = {name: np.concatenate([result[name] for result in results]) for name in names}
        numbers = [len(result["params"]) for result in results]
        self.cv_results_["param_model"] = np.repeat(list(self.searches), numbers)


def seeded(entries: Any) -> Any:
    """The estimators of a list with seeds, so that both searches fit the same models."""
    for _, model, _ in entries:
        seeds = [name for name in model.get_params() if name.rpartition("__")[2] == "random_state"]
        model.set_params(**dict.fromkeys(seeds, 0))
    return entries


def seconds(search: Any, X: Any, y: Any, clock: Callable[[], float]) -> float:
    started = clock()
    search.fit(X, y)
    return clock() - started


def compare(name: str, case: Case, rounds: int, n_jobs: int, share: Any, clock: Callable[[], float]) -> None:
    """Print the median ratio of a case."""
    X, y = case.data()
    common = {"scoring": case.scoring, "n_jobs": n_jobs, "cv": case.cv, "refit": case.refit}
    share = case.share if share is None else share
    peer: Any
    if case.grid is None:
        entries = seeded(case.estimator(X, y))
        peer, ours = GridSearches(entries, **common), HeldOutSearchCV(entries, share=share, **common)
    else:
        peer = GridSearchCV(case.estimator, dict(case.grid), **common)
        ours = HeldOutSearchCV(case.estimator, dict(case.grid), share=share, **common)
    pairs = [(seconds(peer, X, y, clock), seconds(ours, X, y, clock)) for _ in range(rounds)]
    ratios = [theirs / mine for theirs, mine in pairs]
    scores = peer.cv_results_["mean_test_score"]
    difference = np.nanmax(np.abs(scores - ours.cv_results_["mean_test_score"]))
    theirs, mine = (statistics.median(column) for column in zip(*pairs, strict=True))
    winner = "the same" if np.nanargmax(scores) == ours.best_index_ else "another"
    print(
        f"{name}: {statistics.median(ratios):.2f} times ({min(ratios):.2f} to {max(ratios):.2f}; wanted "
        f"{case.wanted:g}), GridSearchCV {theirs:.2f} s, ours {mine:.2f} s; {ours.n_fits_shared_} of "
        f"{ours.n_fits_} fits shared; scores differ by {difference:.1e}, {winner} winner",
        flush=True,
    )
    if case.grid is None:
        print(
            f"  {len(scores)} configurations; forests take {share_of_forests(peer):.0%} of GridSearchCV's time, "
            f"{share_of_forests(ours):.0%} of the time of our fits",
            flush=True,
        )


def share_of_forests(search: Any) -> float:
    """In the time of all fits."""
    results = search.cv_results_
    times = results["mean_fit_time"] + results["mean_score_time"]
    return float(times[["forest" in name for name in results["param_model"]]].sum() / times.sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--share", choices=["exact", "tolerance", "no"])
    parser.add_argument("--only", default="", help="cases whose names contain one of these, separated by commas")
    parser.add_argument("--processor-time", action="store_true", help="for n_jobs=1 on a machine in use")
    parser.add_argument("--table", help="for the 610 configurations: a file with the column 'target'")
    parser.add_argument("--cv", type=int, default=5, help="folds of the 610 configurations")
    options = parser.parse_args()
    share = {"no": False}.get(options.share, options.share)
    clock = time.process_time if options.processor_time else time.perf_counter
    warnings.simplefilter("ignore")
    cases = CASES | (the_610(options.table, options.cv) if options.only else {})
    for name, case in cases.items():
        if any(part in name for part in options.only.split(",")):
            compare(name, case, options.rounds, options.n_jobs, share, clock)


if __name__ == "__main__":
    main()
