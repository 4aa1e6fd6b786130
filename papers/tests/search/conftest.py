"""A sub-sample, searched by pipelines that share their preparation and draw random numbers."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import get_scorer
from small_spaces import SPACE

from heldout.configurations import make_configurations
from heldout.data.task import Task, truth_of
from heldout.execution.fit import Work, make_scoring
from heldout.folds.plans import KFolds
from heldout.folds.splits import Folds, make_folds
from heldout_papers.search.fits import RowFits
from heldout_papers.search.held_out import HeldOut, held_out
from heldout_papers.search.protocols import SubsampleSearch

ENTROPY, N_FOLDS, N_REPEATS, N_BOOTSTRAPS = 5, 5, 2, 100


@dataclass(frozen=True, eq=False)
class Searched:
    """A sub-sample, what it was searched with, and all that was predicted."""

    X: np.ndarray
    y: np.ndarray
    work: Work
    folds: Folds
    held: HeldOut
    subsample: SubsampleSearch


def rows_of(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Eight columns, three of which tell something of the class; a third of the rows are of class 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    y = (X[:, 0] + 0.5 * X[:, 1] - X[:, 2] * X[:, 0] + 0.7 * rng.normal(size=n) > 0.7).astype(int)
    X[rng.random(X.shape) < 0.03] = np.nan
    return X, y


def searched(X: np.ndarray, y: np.ndarray, space: Any) -> Searched:
    task = Task(X, truth_of(y, "binary"))
    scoring = make_scoring(task.truth, get_scorer("roc_auc"))
    work = Work(task, scoring, make_configurations(space), seeds=ENTROPY)
    folds = make_folds(task, KFolds(N_FOLDS), repeats=N_REPEATS, entropy=ENTROPY)
    held = held_out(RowFits(work), task, folds, nested=True)
    metric = scoring.metrics["score"]
    assert metric is not None
    return Searched(X, y, work, folds, held, SubsampleSearch(held, metric, N_BOOTSTRAPS, ENTROPY))


@pytest.fixture(scope="package")
def found() -> Searched:
    return searched(*rows_of(70, 0), SPACE)


@pytest.fixture(scope="package")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two binary tables, one of them with text, and one of three classes."""
    folder = tmp_path_factory.mktemp("tables")
    for name, seed in (("first", 1), ("second", 2)):
        X, y = rows_of(300, seed)
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)]).assign(target=np.where(y == 1, "yes", "no"))
        if name == "second":
            frame["text"] = np.where(X[:, 3] > 0, "u", "v")
        frame.to_parquet(folder / f"{name}.parquet")
    frame.assign(target=np.arange(300) % 3).to_csv(folder / "three.csv", index=False)
    return folder
