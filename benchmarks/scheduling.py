"""What a cell costs beside its fit: scheduling, storing and reading back of 2000 cells with next to nothing to fit.

    python benchmarks/scheduling.py [--cells 2000] [--n-jobs 2] [--repeat 5]

The median of some repeats, with workers that run already: milliseconds per cell of the search in memory, with a
store, and of scikit-learn's GridSearchCV; and what of that is not fitting and scoring (seconds by the workers' own
clocks, shared by the jobs). The coordinator's share is its processor time. The aim is 1 ms a cell beyond the fit at
two jobs, store included.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import GridSearchCV

from heldout.execution.store.sqlite import SQLiteStore
from heldout.search import HeldOutSearchCV

N_FOLDS = 5


class Constant(RegressorMixin, BaseEstimator):
    """Fits nothing and predicts a number."""

    def __init__(self, value: float = 0.0) -> None:
        self.value = value

    def fit(self, X: Any, y: Any) -> Constant:
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.value)


def measured(search: Callable[[], Any], n_cells: int, n_jobs: int) -> tuple[float, float, float]:
    """Milliseconds a cell: all, those beyond the fits, and of the coordinator's processor."""
    began, used = time.perf_counter(), time.process_time()
    found = search().cv_results_
    wall, used = time.perf_counter() - began, time.process_time() - used
    fits = N_FOLDS * float(np.sum(found["mean_fit_time"] + found["mean_score_time"]))
    return 1e3 * wall / n_cells, 1e3 * (wall - fits / n_jobs) / n_cells, 1e3 * used / n_cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=2000)
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    n_cells = options.cells // N_FOLDS * N_FOLDS
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 5)), rng.normal(size=200)
    grid = {"value": list(np.linspace(-1, 1, n_cells // N_FOLDS))}
    common = {"scoring": "neg_mean_squared_error", "cv": N_FOLDS, "n_jobs": options.n_jobs}

    def in_memory() -> Any:
        return HeldOutSearchCV(Constant(), grid, method=None, random_state=0, **common).fit(X, y)

    def with_a_store() -> Any:
        with tempfile.TemporaryDirectory() as folder:
            store = SQLiteStore(Path(folder) / "run.db")
            return HeldOutSearchCV(Constant(), grid, method=None, random_state=0, store=store, **common).fit(X, y)

    def grid_search() -> Any:
        return GridSearchCV(Constant(), grid, **common).fit(X, y)

    in_memory()  # workers start and import
    searches = {"in memory": in_memory, "with a store": with_a_store, "GridSearchCV": grid_search}
    rounds = [
        [measured(search, n_cells, options.n_jobs) for search in searches.values()] for _ in range(options.repeat)
    ]
    print(f"{n_cells} cells, n_jobs={options.n_jobs}; ms per cell: all, beyond the fit, coordinator's processor")
    for name, (all_, beyond, used) in zip(searches, np.median(rounds, axis=0), strict=True):
        print(f"{name:<14} {all_:7.3f} {beyond:7.3f} {used:7.3f}")


if __name__ == "__main__":
    main()
