"""A search with early stopping that counts its fits and may kill itself: used by ``test_early_stopping.py``."""

import functools
import os
import pickle
import signal
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from counted_search import count, outcome
from lightgbm import LGBMClassifier

import heldout as ho


def data():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 90)
    return rng.normal(size=(90, 4)) + 0.6 * y[:, None], y


def search(store, random_state):
    """Two configurations on six splits."""
    model = LGBMClassifier(n_estimators=50, min_child_samples=5, verbose=-1, n_jobs=1)
    return ho.HeldOutSearchCV(
        model, {"num_leaves": [3, 6]}, scoring="neg_log_loss", cv=3, repeats=2, n_bootstraps=50, store=store,
        early_stopping=ho.inner_split(0.2, rounds=5), random_state=random_state,
    )  # fmt: skip


@functools.cache
def used_once():
    """The first use of LightGBM in a process asks it something: that is no fit to be counted."""
    search(None, 0).fit(*data())


def run(store, log, random_state=None, die_at=0):
    """The result; each fit appends a line to the log, and the process dies at the start of fit ``die_at``."""
    X, y = data()
    used_once()
    original = LGBMClassifier.fit

    @functools.wraps(original)
    def counted(self, X, *args, **params):
        with Path(log).open("a") as lines:
            lines.write(f"{len(X)}\n")
        if count(log) == die_at:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.02)  # results are acknowledged after 50 ms of work: three fits
        return original(self, X, *args, **params)

    LGBMClassifier.fit = counted
    try:
        return outcome(search(store, random_state).fit(X, y), X)
    finally:
        LGBMClassifier.fit = original


def main():
    store, log, result, die_at = sys.argv[1:]
    warnings.simplefilter("ignore")
    Path(result).write_bytes(pickle.dumps(run(store, log, die_at=int(die_at))))
