"""A search that counts its fits, run as a program so that it can be killed:

    python counted_search.py STORE LOG RESULT JSON_OPTIONS

Each fit appends a line to LOG. With the option ``die_at`` the process ends itself at the start of that fit. When
the search is done, everything that a resumed search must reproduce is pickled into RESULT.
"""

import json
import os
import pickle
import signal
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier

from heldout.search import HeldOutSearchCV

LOG = "HELDOUT_TEST_LOG"
DIE_AT = "HELDOUT_TEST_DIE_AT"
N_CELLS = 4 * 6


class Counted(ClassifierMixin, BaseEstimator):
    """A forest whose fits are counted in a file; its random_state is filled by the search."""

    def __init__(self, min_samples_leaf=1, random_state=None, pause=0.0):
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state
        self.pause = pause

    def fit(self, X, y):
        with Path(os.environ[LOG]).open("a") as log:
            log.write(f"{self.min_samples_leaf} {len(X)}\n")
        if os.environ.get(DIE_AT):
            fit, how = os.environ[DIE_AT].split()
            if count(os.environ[LOG]) == int(fit):
                os.kill(os.getpid(), int(how))
        time.sleep(self.pause)
        if self.min_samples_leaf > 900:
            raise ValueError("leaves of more rows than there are")
        self.forest_ = ExtraTreesClassifier(
            n_estimators=3, min_samples_leaf=self.min_samples_leaf, random_state=self.random_state
        ).fit(X, y)
        self.classes_ = self.forest_.classes_
        return self

    def predict(self, X):
        return self.forest_.predict(X)

    def predict_proba(self, X):
        return self.forest_.predict_proba(X)


def count(log):
    return len(Path(log).read_text().splitlines()) if Path(log).exists() else 0


def data(seed=0):
    return make_classification(n_samples=90, n_features=6, flip_y=0.2, random_state=seed)


def search(store, *, pause=0.0, leaves=(1, 2, 5, 1000), **options):
    """Four configurations, of which one fails, on six splits, with two metrics."""
    settings = {
        "scoring": {"auc": "roc_auc", "brier": "neg_brier_score"},
        "refit": "auc",
        "cv": 3,
        "repeats": 2,
        "n_bootstraps": 40,
        "random_state": 7,
    } | options
    return HeldOutSearchCV(Counted(pause=pause), {"min_samples_leaf": list(leaves)}, store=store, **settings)


def outcome(fitted, X):
    """Everything but times, in a form that can be compared to the last bit."""
    columns = {
        name: np.asarray(column, dtype=float).tobytes()
        if name.startswith(("split", "mean", "rank"))
        else str(column)
        for name, column in fitted.cv_results_.items()
        if "_time" not in name
    }
    return {
        "columns": columns,
        "winner": fitted.best_index_,
        "best_score": float(fitted.best_score_).hex(),
        "corrected": float(fitted.corrected_score_).hex(),
        "estimates": {name: _estimate(found) for name, found in fitted.estimates_.items()},
        "predictions": {
            str(response): (array.dtype.str, array.shape, array.tobytes())
            for response, array in fitted.predictions_.responses.items()
        },
        "failed": dict(fitted.predictions_.failed),
        "model": fitted.predict_proba(X).tobytes(),
        "n_fits": fitted.n_fits_,
    }


def _estimate(estimate):
    content = {key: value for key, value in estimate.to_dict().items() if key != "provenance"}
    return json.dumps(content, sort_keys=True), estimate.distribution.tobytes()


def main():
    store, log, result, options = sys.argv[1:]
    os.environ[LOG] = log
    options = json.loads(options)
    if "die_at" in options:
        os.environ[DIE_AT] = "{} {}".format(*options.pop("die_at"))
    # As Python does it where a terminal starts it; a test runner may have left it ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    warnings.simplefilter("ignore")
    X, y = data()
    fitted = search(store, **options).fit(X, y)
    Path(result).write_bytes(pickle.dumps(outcome(fitted, X)))


if __name__ == "__main__":
    # Under its own name, so that the class is the same for this process, its workers and the tests.
    from counted_search import main as main_of_module

    main_of_module()
