"""Sequential testing where the best configuration is known: how often it is kept, and what it spares.

Configurations are right on each row with a probability of their own, in every step anew, so that the values of a
trace are independent as Wald's test takes them to be. The best is .1 better than the others. As long as it is among
the best of a step with a probability of at least pi1 = .784, Wald's test drops it with one of at most
beta/(1 - alpha) = .101. Here it nearly always is: that bound is what is guaranteed, not what is expected.
"""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import BaseEstimator, ClassifierMixin

import heldout as ho
from heldout.dropping import Sequential
from heldout.dropping.sequential import BlockTest, cochran_q, friedman_of_each, in_top_set

N_ROWS, N_STEPS, N_CONFIGURATIONS = 330, 10, 8


def friedman(table: np.ndarray) -> BlockTest:
    return list(friedman_of_each(table))[-1]


KEPT = 1 - 0.1 / 0.99


class OfSkill(ClassifierMixin, BaseEstimator):
    """Right where the column of its number and of its step says so; knows its step by how many rows it is shown."""

    def __init__(self, number=0):
        self.number = number

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        self.step_ = round(len(y) * (N_STEPS + 1) / N_ROWS)
        return self

    def predict(self, X):
        y = X[:, 0].astype(int)
        right = X[:, 1 + min(self.step_, N_STEPS) * N_CONFIGURATIONS + self.number] > 0
        return np.where(right, y, 1 - y)


def raced(seed, skills):
    rng = np.random.default_rng([17, seed])
    y = np.resize([0, 1], N_ROWS)
    right = rng.random((N_ROWS, (N_STEPS + 1) * N_CONFIGURATIONS)) < np.tile(skills, N_STEPS + 1)
    return ho.HeldOutSearchCV(
        OfSkill(),
        {"number": list(range(N_CONFIGURATIONS))},
        drop="sequential",
        method=None,
        refit=False,
        random_state=seed,
    ).fit(np.column_stack([y, right]), y)


def kept_and_spared(repetitions):
    kept = spared = won = 0
    for seed in range(repetitions):
        best = seed % N_CONFIGURATIONS
        skills = np.full(N_CONFIGURATIONS, 0.75)
        skills[best] = 0.85
        search = raced(seed, skills)
        kept += search.cv_results_["dropped_at_split"][best] == -1
        won += search.best_index_ == best
        spared += search.n_fits_saved_ / (N_STEPS * N_CONFIGURATIONS)
    return kept, won, spared / repetitions


def test_the_best_is_kept_as_often_as_wald_says():
    # At that rate fewer than 163 of 200 are kept in 1 of 9 000 runs.
    kept, won, spared = kept_and_spared(200)
    assert binom.cdf(162, 200, KEPT) < 1 / 9000
    assert kept >= 163
    assert won >= 163
    assert spared > 0.3


def share_rejected(test, repetitions, n, k, draw):
    return np.mean(
        [test(draw(np.random.default_rng([3, seed]), n, k)).p_value <= 0.05 for seed in range(repetitions)]
    )


@pytest.mark.parametrize(
    "test, draw",
    [
        (cochran_q, lambda rng, n, k: rng.random((n, k)) < 0.3),
        (cochran_q, lambda rng, n, k: rng.random((n, k)) < rng.random((n, 1))),
        (friedman, lambda rng, n, k: rng.exponential(size=(n, k)) + 5 * rng.random((n, 1))),
        (friedman, lambda rng, n, k: rng.integers(0, 4, (n, k))),
    ],
    ids=["Q", "Q of rows that differ", "Friedman", "Friedman with ties"],
)
@pytest.mark.parametrize("n, k", [(100, 2), (100, 6), (12, 2)])
def test_both_tests_keep_their_level_where_all_are_alike(test, draw, n, k):
    # At a level of .05 more than 52 of 600 are rejected by chance in 1 of 17 000 runs of one of the twelve.
    assert share_rejected(test, 600, n, k, draw) <= 52 / 600


def test_all_that_are_alike_are_in_the_top_set():
    # The set is tested A - 1 times at .05/(A - 1): in 400 draws 20 are expected to leave somebody out at most, and
    # more than 37 are by chance in 1 of 7 000 runs.
    left_out = 0
    for seed in range(400):
        wrong = np.random.default_rng([5, seed]).random((150, 8)) < 0.25
        left_out += not in_top_set(-wrong.mean(axis=0), wrong, 0.05).all()
    assert left_out <= 37


def test_the_settings_are_those_that_were_simulated():
    assert Sequential().steps == N_STEPS
