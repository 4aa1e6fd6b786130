"""What stopping a useless search saves and costs: real fits with a known truth, beside the search that goes on."""

from typing import NamedTuple

import numpy as np
import optuna
import pytest
from optuna.distributions import FloatDistribution
from sklearn.svm import SVC

import heldout as ho
from heldout.search.optuna.sampler import quiet

SPACE = {
    "C": FloatDistribution(1e-2, 1e3, log=True),
    "gamma": FloatDistribution(1e-4, 10, log=True),
}
N_TRIALS = 60


class Stopped(NamedTuple):
    """A search that stopped beside the whole one: the share of trials saved, what the winner truly loses, and the
    errors of both estimates."""

    saved: float
    lost: float
    error: float
    error_whole: float


def data(rng: np.random.Generator, n: int, shift: float) -> tuple[np.ndarray, np.ndarray]:
    """Two classes, with ``shift`` between their means in three of eight columns; 0 is noise."""
    y = rng.permutation(np.arange(n) % 2)
    X = rng.normal(size=(n, 8))
    X[:, :3] += shift * (2 * y[:, None] - 1)
    return X, y


def stopped(seed: int, shift: float, n: int = 100) -> Stopped:
    rng = np.random.default_rng([41, seed])
    X, y = data(rng, n, shift)
    X_new, y_new = data(rng, 4000, shift)
    settings = {"n_trials": N_TRIALS, "scoring": "accuracy", "random_state": seed, "n_bootstraps": 100}
    with quiet():
        early, whole = (
            ho.HeldOutOptunaSearchCV(
                SVC(), SPACE, sampler=optuna.samplers.TPESampler(), stop_when_useless=stops, **settings
            ).fit(X, y)
            for stops in (True, False)
        )
    truth, truth_whole = early.score(X_new, y_new), whole.score(X_new, y_new)
    return Stopped(
        1 - len(early.study_.trials) / N_TRIALS,
        truth_whole - truth,
        early.corrected_score_ - truth,
        whole.corrected_score_ - truth_whole,
    )


@pytest.mark.parametrize("shift", [0.0, 0.5])
def test_stopping_in_many_searches(shift: float) -> None:
    """60 searches of noise and of signal: a mean loss below .01, and an estimate that is no worse than that of the
    whole search by more than .01, both beside 3.3 standard errors (one false alarm in 1000 runs each)."""
    found = np.array([stopped(seed, shift) for seed in range(60)])
    saved, lost, error, error_whole = found.T
    root = np.sqrt(len(found))
    assert saved.mean() > 0.1
    assert lost.mean() < 0.01 + 3.3 * lost.std(ddof=1) / root
    worse = error - error_whole
    assert worse.mean() < 0.01 + 3.3 * worse.std(ddof=1) / root
