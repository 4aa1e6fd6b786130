"""Searches with Optuna that are stopped and continued, and what such a one must have in common with a whole one."""

import os
import pickle
import time
import warnings
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import optuna
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

import heldout as ho

X, Y = load_iris(return_X_y=True)
X, Y = X[::2, :2], Y[::2]
SPACE = {
    "depth": optuna.distributions.IntDistribution(1, 8),
    "alpha": optuna.distributions.FloatDistribution(1e-4, 0.1, log=True),
}


class CountedTree(ClassifierMixin, BaseEstimator):
    """A tree whose fits are counted; one of them may be interrupted, as by Ctrl-C."""

    n_fits: ClassVar[int] = 0
    last: ClassVar[int | None] = None

    def __init__(self, depth: int = 1, alpha: float = 0.0, random_state: Any = None, pause: float = 0.0) -> None:
        self.depth, self.alpha, self.random_state, self.pause = depth, alpha, random_state, pause

    def fit(self, X: Any, y: Any) -> Any:
        if CountedTree.n_fits == CountedTree.last:
            raise KeyboardInterrupt
        CountedTree.n_fits += 1
        time.sleep(self.pause)
        tree = DecisionTreeClassifier(
            max_depth=self.depth, ccp_alpha=self.alpha, max_features=1, random_state=self.random_state
        )
        self.tree_ = tree.fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X: Any) -> Any:
        return self.tree_.predict(X)


def fitted(store: Any, *, n_trials: int, pause: float = 0.0, **more: Any) -> Any:
    settings = {"cv": 3, "n_bootstraps": 50, "random_state": 5, **more}
    space = settings.pop("space", SPACE)
    estimator = CountedTree(pause=pause)
    return ho.HeldOutOptunaSearchCV(estimator, space, n_trials=n_trials, store=store, **settings).fit(X, Y)


def without_times(trial: Any) -> dict[str, Any]:
    """The attributes of a trial that do not depend on the machine."""
    return {name: value for name, value in trial.user_attrs.items() if not name.endswith("_time")}


def outcome(search: Any) -> dict[str, Any]:
    """Everything that must be equal to the last bit."""
    trials = [
        (one.number, one.state.name, one.params, one.values, one.intermediate_values, without_times(one))
        for one in search.study_.trials
    ]
    table = {
        name: np.asarray(column).tolist() for name, column in search.cv_results_.items() if "_time" not in name
    }
    responses = search.predictions_.responses.items()
    return {
        "trials": trials,
        "table": repr(table),
        "winner": (search.best_index_, search.best_params_, search.best_score_),
        "estimate": {name: repr(one.to_dict()) for name, one in search.estimates_.items()},
        "predictions": {str(response): array.tobytes() for response, array in responses},
        "model": search.predict(X).tolist(),
    }


def run(store: str, result: str, n_trials: int, pause: float) -> None:
    """In a process of its own: search, and write the outcome where a test reads it."""
    warnings.simplefilter("ignore")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    found = outcome(fitted(store, n_trials=n_trials, pause=pause))
    partial = Path(result).with_suffix(".partial")
    partial.write_bytes(pickle.dumps(found))
    partial.replace(result)
