"""How often drop rules drop the best, and what they save; tests/slow/statistical has the table of the pages.

A count of looks is compared with its binomial distribution; false alarms are below 1 in 10 000.
"""

import numpy as np
import pytest
from scipy.stats import binom, norm
from sklearn.base import BaseEstimator, ClassifierMixin
from standings import standing_of

import heldout as ho
from heldout.dropping import Aggressive, Bootstrap, Forgiving, HoeffdingRace, Paired, Sequential, Wilcoxon


def is_like(times: int, n: int, p: float, alarm: float = 1e-4) -> bool:
    return bool(binom.ppf(alarm / 2, n, p) <= times <= binom.isf(alarm / 2, n, p))


def test_one_look_drops_one_of_two_equals_as_often_as_its_rule_says():
    """p̂ > .95 of absolute errors has probability .05. Two accuracies of .5 on n rows differ by more than twice
    Hoeffding's half width h with the probability that a normal variable of variance .5/n does."""
    bootstrap, race, n, looks = Bootstrap(threshold=0.95, n_bootstraps=100), HoeffdingRace(delta=0.99), 400, 300
    dropped = {"bootstrap": 0, "race": 0}
    for seed in range(looks):
        rng = np.random.default_rng([23, seed])
        errors, coins = np.abs(rng.normal(size=(100, 2))), rng.integers(0, 2, size=(n, 2))
        standing = standing_of(np.zeros(100), errors, "mean_absolute_error", kind="regression", seed=seed)
        dropped["bootstrap"] += not bootstrap.judge(standing).keep[0]
        dropped["race"] += not race.judge(standing_of(np.resize([0, 1], n), coins, n_barriers=1)).keep[0]
    assert is_like(dropped["bootstrap"], looks, 0.053)
    half_width = np.sqrt(np.log(4 / 0.99) / (2 * n))
    assert is_like(dropped["race"], looks, float(norm.sf(2 * half_width / np.sqrt(0.5 / n))))


def raced(rule: ho.dropping.DropRule, beta: tuple[int, int], seed: int) -> tuple[float, float]:
    """The share of fits saved and the true accuracy lost by a race of 40 over ten folds of 50 rows."""
    rng = np.random.default_rng([17, seed])
    truth, y, folds = rng.beta(*beta, 40), np.resize([0, 1], 500), np.repeat(np.arange(10), 50)
    right = rng.random((500, 40)) < truth
    labels, alive, fits = np.where(right, y[:, None], 1 - y[:, None]), np.arange(40), 0
    for k in range(1, 11):
        fits += len(alive)
        if k < 10 and len(alive) > 1:
            rows = slice(0, 50 * k)
            standing = standing_of(
                y[rows], labels[rows][:, alive], folds=folds[rows], seed=k, n_started=40, n_folds=10
            )
            alive = alive[rule.judge(standing).keep]
    total = right.sum(axis=0)
    return 1 - fits / 400, truth[total.argmax()] - truth[alive[total[alive].argmax()]]


RULES = (Bootstrap(n_bootstraps=300), HoeffdingRace(), Paired(), Wilcoxon(), Forgiving(), Aggressive())


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_an_easy_and_a_hard_race(rule):
    """Two races each: what is saved where configurations differ much and little, and what it costs."""
    easy, hard = (np.mean([raced(rule, beta, seed) for seed in range(2)], axis=0) for beta in ((9, 6), (54, 6)))
    if rule.name == "hoeffding_race":
        assert 0.15 < easy[0] < 0.5 and hard[0] < 0.05
    elif rule.name in ("forgiving", "aggressive"):  # they do not ask whether a difference is chance
        assert min(easy[0], hard[0]) > 0.5 and max(easy[1], hard[1]) < 0.05
    else:
        assert easy[0] > hard[0] > 0.3
        assert max(easy[1], hard[1]) < 0.01


class OfSkill(ClassifierMixin, BaseEstimator):
    """Right where the column of its number and of its step says so; the number of training rows gives the step."""

    def __init__(self, number=0):
        self.number = number

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        self.step_ = round(len(y) / 20)
        return self

    def predict(self, X):
        y = X[:, 0].astype(int)
        return np.where(X[:, 1 + min(self.step_, 10) * 8 + self.number] > 0, y, 1 - y)


def test_sequential_testing_keeps_the_best():
    """The best is .1 better than seven others. At the rate that Wald's test guarantees, fewer than 5 of 8 are
    kept in 1 of 200 runs; a test that drops those among the best as readily as others keeps 1."""
    assert Sequential().steps == 10
    kept, saved = 0, []
    for seed in range(8):
        rng, y, skills = np.random.default_rng([17, seed]), np.resize([0, 1], 220), np.full(8, 0.75)
        skills[seed] = 0.85
        right = rng.random((220, 88)) < np.tile(skills, 11)
        search = ho.HeldOutSearchCV(
            OfSkill(), {"number": list(range(8))}, drop="sequential", method=None, refit=False, random_state=seed
        ).fit(np.column_stack([y, right]), y)
        kept += search.cv_results_["dropped_at_split"][seed] == -1
        saved.append(search.n_fits_saved_ / 80)
    assert kept >= 5
    assert np.mean(saved) > 0.2
