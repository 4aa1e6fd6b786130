"""Shrinkage where the truth is known: its bias beside bbc's, pure noise, and what its interval covers.

Section 6.1 of Tsamardinos et al. (2018): C configurations have true accuracies P_j ~ Beta(a, b), and a prediction
is right with probability P_j, independently. For real fits see ``fold_dependence_simulation.py``.

False alarms. A mean over repetitions may leave the stated figure by four of its standard errors, which it does in 1
of 30 000 runs if its expectation is that figure, and less often if it is better. A coverage is judged by the
binomial probability of so few hits or fewer, which must exceed ``FALSE_ALARM``.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from fold_dependence_simulation import KFoldSetting, simulate_folds
from scipy.special import ndtri
from scipy.stats import binom

import heldout as ho
from heldout.estimates import BBC, Shrinkage

FALSE_ALARM = 1e-4
OURS = {"shrinkage": Shrinkage()}
METHODS = {"bbc": BBC()} | OURS
ON_NOISE = 0.016
"""The upward bias on pure noise of 60 rows: .004 to .016 for 2 to 500 configurations, in 300 repetitions of each.

bbc's is within two standard errors of 0 in nine of these ten cells.
"""


class Outcome:
    """Errors of value, and hits of the interval, of each method over repetitions."""

    def __init__(self):
        self.errors = {name: [] for name in METHODS}
        self.hits = []

    def bias(self, name):
        values = np.array(self.errors[name])
        return values.mean(), values.std(ddof=1) / np.sqrt(len(values))

    def rmse(self, name):
        return np.sqrt(np.mean(np.square(self.errors[name])))

    def covers(self, level=0.95):
        return binom.cdf(sum(self.hits), len(self.hits), level) > FALSE_ALARM


def simulated(kind, rows, configurations, repetitions, beta=(9, 6), methods=METHODS):
    """Independent rows of a hold-out; truths of Beta(a, b), or none where ``beta`` is None."""
    rng = np.random.default_rng([rows, configurations, len(kind)])
    y, found = np.arange(rows) % 2, Outcome()
    for seed in range(repetitions):
        truth = np.full(configurations, 0.5) if beta is None else rng.beta(*beta, configurations)
        noise = rng.normal(size=(rows, configurations))
        if kind == "accuracy":
            predictions = np.where(noise < ndtri(truth), y[:, None], 1 - y[:, None])
            asked = {"metric": "accuracy"}
        else:
            predictions = noise + np.sqrt(2) * ndtri(truth) * y[:, None]
            asked = {"metric": "roc_auc", "response": "decision"}
        asked |= {"folds": np.zeros(rows, dtype=int), "aggregate": "pooled", "n_bootstraps": 100}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ho.errors.HeldoutWarning)
            for name, method in methods.items():
                each = ho.estimate(y, predictions, method=method, random_state=seed, **asked)
                found.errors[name].append(each.value - truth[each.selected])
        found.hits.append(truth[each.selected] in each.interval)  # of shrinkage, the last
    return found


# --- bias


@pytest.mark.parametrize("rows", [20, 60])
def test_it_is_less_biased_than_bbc(rows):
    found = simulated("accuracy", rows, 100, 60)
    bias, error = found.bias("shrinkage")
    assert abs(bias) < 0.015 + 4 * error
    # On the same matrices bbc is more pessimistic, by .02 to .03.
    difference = np.subtract(found.errors["shrinkage"], found.errors["bbc"])
    assert 0 < difference.mean() > 0.02 - 4 * difference.std(ddof=1) / np.sqrt(len(difference))
    assert found.rmse("shrinkage") < found.rmse("bbc")


@pytest.mark.parametrize("kind", ["accuracy", "auc"])
def test_on_pure_noise_the_best_of_a_hundred_is_not_praised(kind):
    """60 rows: the uncorrected score is about .65 (accuracy) and .68 (AUC)."""
    bias, error = simulated(kind, 60, 100, 40, beta=None, methods=OURS).bias("shrinkage")
    assert bias < ON_NOISE + 4 * error


@pytest.mark.slow
@pytest.mark.parametrize("beta", [(9, 6), (24, 6)])
@pytest.mark.parametrize(("rows", "most"), [(20, 0.02), (60, 0.01), (100, 0.01)])
def test_the_bias_is_at_most_half_of_bbcs(rows, most, beta):
    """600 repetitions, two minutes in all."""
    found = simulated("accuracy", rows, 100, 600, beta)
    (ours, our_error), (bbcs, bbc_error) = found.bias("shrinkage"), found.bias("bbc")
    assert abs(ours) < most + 4 * our_error
    assert abs(ours) < abs(bbcs) / 2 + 4 * np.hypot(our_error, bbc_error / 2)
    assert found.rmse("shrinkage") < 0.95 * found.rmse("bbc")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["accuracy", "auc"])
@pytest.mark.parametrize("configurations", [2, 5, 20, 100, 500])
def test_pure_noise_for_any_number_of_configurations(kind, configurations):
    """300 repetitions of each."""
    bias, error = simulated(kind, 60, configurations, 300, beta=None, methods=OURS).bias("shrinkage")
    assert bias < ON_NOISE + 4 * error


# --- coverage


@pytest.mark.parametrize("configurations", [1, 50])
@pytest.mark.parametrize("kind", ["accuracy", "auc"])
def test_independent_rows_are_covered(kind, configurations):
    assert simulated(kind, 60, configurations, 100, methods=OURS).covers()


@pytest.mark.slow
@pytest.mark.parametrize("configurations", [1, 50])
@pytest.mark.parametrize("rows", [40, 100])
@pytest.mark.parametrize("kind", ["accuracy", "auc"])
def test_independent_rows_are_covered_in_many_repetitions(kind, rows, configurations):
    """500 repetitions: the alarm is below a coverage of .910."""
    assert simulated(kind, rows, configurations, 500, methods=OURS).covers()


@pytest.mark.parametrize("configurations", [1, 10])
def test_rows_of_real_folds_are_covered(configurations):
    setting = KFoldSetting("accuracy", 40, 10, configurations)
    found = simulate_folds(setting, 80, asked=OURS, n_bootstraps=100)["shrinkage"]
    hits = round(found.held["models"] * found.repetitions)
    assert binom.cdf(hits, found.repetitions, 0.95) > FALSE_ALARM


@pytest.mark.slow
@pytest.mark.parametrize("folds", [5, 10])
@pytest.mark.parametrize("configurations", [1, 10])
@pytest.mark.parametrize("rows", [40, 100])
@pytest.mark.parametrize("kind", ["accuracy", "auc", "squared error"])
def test_rows_of_real_folds_are_covered_in_many_repetitions(kind, rows, configurations, folds):
    """500 repetitions: the alarm is below a coverage of .910, for the mean of the models that predicted."""
    found = simulate_folds(KFoldSetting(kind, rows, folds, configurations), 500, asked=OURS, n_bootstraps=100)
    hits = round(found["shrinkage"].held["models"] * found["shrinkage"].repetitions)
    assert binom.cdf(hits, found["shrinkage"].repetitions, 0.95) > FALSE_ALARM
