"""User code that calls for the end of the program fails its fit; Ctrl-C ends the search."""

from __future__ import annotations

import sys
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

import heldout as ho
from heldout.errors import ExitError, InputError

try:  # joblib prefers it where it is installed
    import cloudpickle
except ImportError:
    from joblib.externals import cloudpickle

# Worker processes cannot import this file.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

X = np.random.default_rng(0).normal(size=(40, 2))
Y = np.arange(40) % 2


class Panic(BaseException):
    """As compiled packages raise it."""


ENDS = {"exit": SystemExit(2), "nothing": SystemExit(), "generator": GeneratorExit(), "panic": Panic("index 3")}


class Quits(ClassifierMixin, BaseEstimator):
    """Ends the program in the method named by ``where``."""

    def __init__(self, mood: str = "calm", where: str = "fit") -> None:
        self.mood, self.where = mood, where

    def fit(self, X: Any, y: Any) -> Quits:
        self.classes_ = np.unique(y)
        return self._end("fit")

    def predict(self, X: Any) -> Any:
        self._end("predict")
        return self.classes_[(X[:, 0] > 0).astype(int)]

    def _end(self, where: str) -> Quits:
        if where == self.where and self.mood != "calm":
            raise KeyboardInterrupt if self.mood == "ctrl-c" else ENDS[self.mood]
        return self


def search(moods: list[str], where: str = "fit", **settings: Any) -> ho.HeldOutSearchCV:
    grid = {"mood": moods, "where": [where]}
    made = ho.HeldOutSearchCV(Quits(), grid, cv=2, scoring="accuracy", n_bootstraps=10, random_state=0, **settings)
    return made.fit(X, Y)


@pytest.mark.parametrize(
    ("backend", "where"),
    [("sequential", "fit"), ("sequential", "predict"), ("loky", "fit"), ("threading", "predict")],
)
@pytest.mark.filterwarnings("ignore::heldout.errors.HeldoutWarning", "ignore:.*fits failed", "ignore:.*non-finite")
def test_what_would_end_the_program_fails_the_fit(backend: str, where: str) -> None:
    with joblib.parallel_config(backend):
        found = search(["calm", *ENDS], where, n_jobs=2)
    assert found.best_params_["mood"] == "calm"
    messages = found.predictions_.failed
    assert messages == {1: "SystemExit: 2", 2: "SystemExit", 3: "GeneratorExit", 4: "Panic: index 3"}


@pytest.mark.parametrize("where", ["fit", "predict"])
def test_a_ctrl_c_ends_the_search(where: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        search(["calm", "ctrl-c"], where)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_with_error_score_raise_it_is_an_error(n_jobs: int) -> None:
    with pytest.raises(ExitError, match="SystemExit: 2"):
        search(["exit"], error_score="raise", n_jobs=n_jobs)


class LeavesAtLast(Quits):
    """Is calm while it is tried, on half of the rows, and quits on all of them."""

    def fit(self, X: Any, y: Any) -> Quits:
        self.mood = "exit" if len(X) == 40 else "calm"
        return super().fit(X, y)


def test_the_last_fit_may_not_end_the_program_either() -> None:
    with pytest.raises(ExitError, match="SystemExit: 2"):
        ho.HeldOutSearchCV(LeavesAtLast(), {"where": ["fit"]}, cv=2, n_bootstraps=10).fit(X, Y)


def leave(*_: Any, **__: Any) -> float:
    raise SystemExit(3)


@pytest.mark.filterwarnings("ignore::heldout.errors.HeldoutWarning", "ignore:.*score.*are non-finite")
def test_scorers_metrics_and_rules_may_not_end_the_program_either() -> None:
    settings: dict[str, Any] = {"n_bootstraps": 5, "random_state": 0}
    metric = ho.metrics.custom(leave, greater_is_better=True, response="decision")
    with pytest.raises(InputError, match="SystemExit: 3"):
        ho.estimate(Y, X, metric=metric, **settings)
    with pytest.raises(InputError, match="SystemExit: 3"):
        ho.estimate(Y, X, metric="roc_auc", selection=leave, **settings)


def test_a_model_that_is_validated_may_not_end_the_program_either() -> None:
    with pytest.raises(ValueError, match="no model could be fitted on all rows: Quits: SystemExit: 2"):
        ho.bootstrap_validate(Quits("exit"), X, Y, metric="accuracy", n_bootstraps=3)
