"""What the corrections of a validation get right, where the truth is known; tests/slow/statistical has more.

On noise, with one nearest neighbour, expectations are known: labels are fair coins, so that a model is right on
half of the rows that it has not seen and on all that it has. Elsewhere the truth is the score of the fitted model
on 4000 new rows. Means are compared by 4.5 of their standard errors, which chance exceeds in 1 of 6 700
comparisons.
"""

import numpy as np
from known_truth import standard_error
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier

import heldout as ho
from heldout.metrics import metric_named
from heldout.protocols.validation.corrections import Optimism, OutOfBag, Point632, Point632Plus

Z = 4.5
CORRECTIONS = (Optimism(), Point632(), Point632Plus(), OutOfBag())
EFFECTS = np.array([1.0, -0.8, 0.5, 0, 0, 0, 0, 0, 0, 0])


def test_on_noise_that_is_remembered():
    """Efron & Tibshirani's argument for .632+: .632 says .316 where the error is .5."""
    n, metric = 30, metric_named("zero_one_loss")
    values: dict[str, list[float]] = {correction.name: [] for correction in CORRECTIONS}
    for seed in range(20):
        rng = np.random.default_rng([n, seed])
        X, y = rng.normal(size=(n, 5)), rng.integers(0, 2, n)
        replicates = ho.bootstrap_validate(
            KNeighborsClassifier(1), X, y, metric=metric, n_bootstraps=10, interval=None, random_state=seed
        ).replicates
        for correction in CORRECTIONS:
            values[correction.name].append(correction.corrected(replicates, replicates.scores(metric)).value)
    left_out = (1 - 1 / n) ** n  # the expected share of the rows that a sample does not contain
    for method, expected in {"oob": 0.5, "632": 0.316, "optimism": 0.5 * left_out}.items():
        errors = np.array(values[method]) - expected
        assert abs(errors.mean()) < Z * standard_error(errors), method
    # No exact expectation: it is bounded by the no-information rate, so that it cannot err upward.
    plus = np.array(values["632+"])
    assert 0.42 - Z * standard_error(plus) < plus.mean() < 0.5 + Z * standard_error(plus)


def test_an_overfitted_model_is_corrected_and_its_shifted_interval_covers_what_the_apparent_one_misses():
    """Logistic regression of 100 rows and ten columns: .05 of its apparent area is optimism.

    Shifted intervals cover .7 there (papers/pages/validation.md says why), apparent ones next to nothing.
    """
    model = LogisticRegression(C=1e4, solver="newton-cholesky", max_iter=1000)
    gains, errors, shifted, apparent = [], [], 0, 0
    for seed in range(14):
        rng = np.random.default_rng([100, seed])
        X = rng.normal(size=(4100, len(EFFECTS)))
        y = (rng.uniform(size=4100) < 1 / (1 + np.exp(-X @ EFFECTS))).astype(int)
        truth = roc_auc_score(y[100:], clone(model).fit(X[:100], y[:100]).decision_function(X[100:]))
        validation = ho.bootstrap_validate(
            model, X[:100], y[:100], metric="roc_auc", method="optimism", n_bootstraps=25, random_state=seed,
            interval="location_shifted",
        )  # fmt: skip
        row = validation.rows["roc_auc"]
        gains.append(row.apparent - row.corrected)
        errors.append(row.corrected - truth)
        shift = row.apparent - row.corrected
        shifted += truth in row.interval
        apparent += row.interval.low + shift <= truth <= row.interval.high + shift
    assert np.mean(gains) - 0.01 > Z * standard_error(np.array(gains))
    assert abs(np.mean(errors)) < 0.015 + Z * standard_error(np.array(errors))
    assert binomtest(shifted, 14, 0.7, alternative="less").pvalue > 1e-4
    assert binomtest(apparent, 14, 0.95, alternative="less").pvalue < 1e-4
