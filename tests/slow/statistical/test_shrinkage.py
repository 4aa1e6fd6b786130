"""Shrinkage where the truth is known: its bias beside bbc's, pure noise, and what its interval covers.

Section 6.1 of Tsamardinos et al. (2018): C configurations have true accuracies P_j ~ Beta(a, b), and a prediction
is right with probability P_j, independently. For real fits see ``fold_dependence_simulation.py``.

False alarms. A mean over repetitions may leave the stated figure by four of its standard errors, which it does in 1
of 30 000 runs if its expectation is that figure, and less often if it is better. A coverage is judged by the
binomial probability of so few hits or fewer, which must exceed ``FALSE_ALARM``.
"""

import warnings

import numpy as np
import pytest
from fold_dependence_simulation import KFoldSetting, simulate_folds
from scipy.special import ndtri
from scipy.stats import binom
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.tree import DecisionTreeClassifier

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


@pytest.mark.parametrize("beta", [(9, 6), (24, 6)])
@pytest.mark.parametrize(("rows", "most"), [(20, 0.02), (60, 0.01), (100, 0.01)])
def test_the_bias_is_at_most_half_of_bbcs(rows, most, beta):
    """600 repetitions, two minutes in all."""
    found = simulated("accuracy", rows, 100, 600, beta)
    (ours, our_error), (bbcs, bbc_error) = found.bias("shrinkage"), found.bias("bbc")
    assert abs(ours) < most + 4 * our_error
    assert abs(ours) < abs(bbcs) / 2 + 4 * np.hypot(our_error, bbc_error / 2)
    assert found.rmse("shrinkage") < 0.95 * found.rmse("bbc")


@pytest.mark.parametrize("kind", ["accuracy", "auc"])
@pytest.mark.parametrize("configurations", [2, 5, 20, 100, 500])
def test_pure_noise_for_any_number_of_configurations(kind, configurations):
    """300 repetitions of each."""
    bias, error = simulated(kind, 60, configurations, 300, beta=None, methods=OURS).bias("shrinkage")
    assert bias < ON_NOISE + 4 * error


# --- coverage


@pytest.mark.parametrize("configurations", [1, 50])
@pytest.mark.parametrize("rows", [40, 100])
@pytest.mark.parametrize("kind", ["accuracy", "auc"])
def test_independent_rows_are_covered_in_many_repetitions(kind, rows, configurations):
    """500 repetitions: the alarm is below a coverage of .910."""
    assert simulated(kind, rows, configurations, 500, methods=OURS).covers()


@pytest.mark.parametrize("folds", [5, 10])
@pytest.mark.parametrize("configurations", [1, 10])
@pytest.mark.parametrize("rows", [40, 100])
@pytest.mark.parametrize("kind", ["accuracy", "auc", "squared error"])
def test_rows_of_real_folds_are_covered_in_many_repetitions(kind, rows, configurations, folds):
    """500 repetitions: the alarm is below a coverage of .910, for the mean of the models that predicted."""
    found = simulate_folds(KFoldSetting(kind, rows, folds, configurations), 500, asked=OURS, n_bootstraps=100)
    hits = round(found["shrinkage"].held["models"] * found["shrinkage"].repetitions)
    assert binom.cdf(hits, found["shrinkage"].repetitions, 0.95) > FALSE_ALARM


# --- a quiet winner

CERTAIN = 4.0
"""Times the logits of a calibrated column: its loss is .93 instead of .58, and varies six times as much."""
LEFT = 0.01
"""The bias that may be left, of a loss of .58 with a standard deviation of .06."""


def log_loss_of(scale):
    """The expected log loss of logits scale·(x - 1/2), x normal about y, 0 or 1; calibrated for scale 1."""
    x, weight = np.polynomial.hermite_e.hermegauss(200)
    margin = scale * (x + 0.5)  # of the right class, for either class
    return float((weight * np.logaddexp(0, -margin)).sum() / weight.sum())


def errors_among_noisy(repetitions, noisy, rows=100):
    """Of the value: of a calibrated column and certain ones, each of which has an x of its own."""
    scales = np.r_[1.0, np.full(noisy, CERTAIN)]
    rng, y, errors = np.random.default_rng([rows, noisy]), np.arange(rows) % 2, []
    for seed in range(repetitions):
        logits = (rng.normal(size=(rows, len(scales))) + y[:, None] - 0.5) * scales
        asked = {"metric": "log_loss", "folds": np.zeros(rows), "n_bootstraps": 100, "random_state": seed}
        found = ho.estimate(y, 1 / (1 + np.exp(-logits)), method=Shrinkage(), **asked)
        errors.append(found.value - log_loss_of(scales[found.selected]))
    return np.array(errors)


@pytest.mark.parametrize("noisy", [5, 30])
def test_a_quiet_winner_is_not_charged_for_the_luck_of_noisy_columns(noisy):
    """The bias may leave .01 by 3 standard errors: in 1 of 700 runs if it is .01. Measured in losses, and not in
    standard deviations, it is .1 with 5 noisy columns.
    """
    repetitions = 1000
    errors = errors_among_noisy(repetitions, noisy)
    assert abs(errors.mean()) < LEFT + 3 * errors.std(ddof=1) / np.sqrt(repetitions)


# --- real fits through a search

GRIDS = {
    "logistic regressions": (LogisticRegression(solver="liblinear"), {"C": [0.01, 0.1, 1.0, 10.0]}),
    "trees": (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3], "min_samples_leaf": [3, 8]}),
}


@pytest.mark.parametrize("rows", [60, 100])
@pytest.mark.parametrize("metric", ["roc_auc", "average_precision"])
@pytest.mark.parametrize("models", list(GRIDS))
def test_a_search_covers_the_score_of_its_model_on_new_rows(models, metric, rows):
    """The area or precision of the delivered model on 4000 new rows; the alarm is at 361 of 400."""
    repetitions, hits, (model, grid) = 400, 0, GRIDS[models]
    for seed in range(repetitions):
        X, y = make_classification(rows + 4000, 8, n_informative=3, flip_y=0.2, class_sep=0.8, random_state=seed)
        search = ho.HeldOutSearchCV(model, grid, scoring=metric, n_bootstraps=100, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ho.errors.HeldoutWarning)
            search.fit(X[:rows], y[:rows])
        truth = get_scorer(metric)(search.best_estimator_, X[rows:], y[rows:])
        hits += truth in search.confidence_interval_
    assert binom.cdf(hits, repetitions, 0.95) > FALSE_ALARM
