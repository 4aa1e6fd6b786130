"""Searches to be killed. Each fit appends a line to a log, by which it is known which cell it was."""

import os
import pickle
import signal
import time
import zlib
from pathlib import Path

import numpy as np
from counted_search import outcome
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import KFold

from heldout.search import HeldOutSearchCV

LOG = "HELDOUT_TEST_LOG"
N_ROWS = 100


class Quick(ClassifierMixin, BaseEstimator):
    """Two classes from one column and some noise; how much of each is what the configurations differ in."""

    def __init__(self, number=0, random_state=None, pause=0.0, log=None):
        self.number = number
        self.random_state = random_state
        self.pause = pause
        self.log = log

    def fit(self, X, y):
        with Path(self.log or os.environ[LOG]).open("a") as log:
            log.write(f"{self.number} {rows_word(X)}\n")
        time.sleep(self.pause)
        self.classes_ = np.unique(y)
        self.mean_, self.seed_ = float(np.mean(y)), self.random_state
        return self

    def decision_function(self, X):
        noise = np.random.RandomState(self.seed_).normal(size=len(X))
        return X[:, 0] * (5 - self.number) + self.mean_ + noise

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]

    def predict_proba(self, X):
        positive = 1 / (1 + np.exp(-self.decision_function(X)))
        return np.column_stack([1 - positive, positive])


class Mortal(Quick):
    """Its worker is killed in some fits, as the system does it when memory runs out.

    ``dies`` names files, one a death: each is removed by the fit that dies of it. A name with a star is for ever.
    """

    def __init__(self, number=0, random_state=None, log=None, dies="", coordinator=0):
        super().__init__(number, random_state, log=log)
        self.dies, self.coordinator = dies, coordinator

    def fit(self, X, y):
        super().fit(X, y)
        mine = sorted(Path(self.dies).glob(f"{self.number} {rows_word(X)}*"))
        if mine and os.getpid() != self.coordinator:
            if not mine[0].name.endswith("always"):
                mine[0].unlink()
            time.sleep(0.2)  # what was done before is on its way home
            os.kill(os.getpid(), signal.SIGKILL)
        return self


class Greedy(Quick):
    """Its first configuration asks for more memory than its process may have."""

    def fit(self, X, y):
        if self.number == 0:
            import resource

            before = resource.getrlimit(resource.RLIMIT_AS)
            resource.setrlimit(resource.RLIMIT_AS, (2**34, before[1]))
            try:
                np.ones(2**35, dtype=np.uint8)
            finally:
                resource.setrlimit(resource.RLIMIT_AS, before)
        return super().fit(X, y)


def rows_word(X):
    """What tells one training set from another."""
    return zlib.crc32(np.ascontiguousarray(X).tobytes())


def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 2))
    return X, (X[:, 0] + 0.5 * rng.normal(size=N_ROWS) > 0).astype(int)


def fitted(store, *, n_configurations, n_splits, pause=0.0, estimator=None, **more):
    X, y = data()
    estimator = Quick(pause=pause) if estimator is None else estimator
    grid = {"number": list(range(n_configurations))}
    settings = {"scoring": "roc_auc", "cv": KFold(n_splits), "n_bootstraps": 100, "random_state": 3} | more
    return HeldOutSearchCV(estimator, grid, store=store, **settings).fit(X, y)


def run(options):
    os.environ[LOG] = options.pop("log")
    store, result = options.pop("store"), Path(options.pop("result"))
    X, _ = data()
    found = outcome(fitted(store, **options), X)
    partial = result.with_suffix(".partial")
    partial.write_bytes(pickle.dumps(found))
    partial.replace(result)
