"""bbc leaves one configuration alone, and corrects the best of 20 equal ones enough (papers/pages/control.md).

Configurations predict as well as each other, so that the mean of their scores is what each is worth. Biases are in
standard deviations of one configuration's score, positive where they flatter. tests/slow/statistical has every
metric.
"""

import warnings

import numpy as np
import pytest
from known_truth import standard_error
from scipy.special import expit

import heldout as ho
from heldout.estimates import BBC
from heldout.estimates.inputs import read_inputs

N, C = 100, 20
MARGIN, QUANTILE = 0.15, 3.1
"""A true bias at the margin fails once in 1000."""


def biases(metric: str, aggregate: str, repetitions: int) -> dict[str, np.ndarray]:
    """(repetitions,): of the best score, of bbc without and with its control; and what bbc changes of one alone."""
    values: dict[str, list[float]] = {"uncorrected": [], "published": [], "corrected": [], "alone": [], "one": []}
    for seed in range(repetitions):
        rng = np.random.default_rng(seed)
        if metric.startswith("root"):
            y = rng.normal(size=N)
            table, folds = y[:, None] + 0.6 * rng.standard_t(4, size=(N, C)), np.arange(N) % 10
        else:
            y = np.r_[[0, 1] * 2, rng.random(N - 4) < 0.4].astype(int)
            table = expit(1.2 * (rng.normal(size=(N, C)) + 1.2 * y[:, None]) - 1.1)
            folds = np.empty(N, dtype=int)
            folds[np.argsort(y, kind="stable")] = np.arange(N) % 10
        settings = {"metric": metric, "folds": folds, "aggregate": aggregate, "random_state": seed}
        one = ho.estimate(y, table[:, :1], n_bootstraps=30, **settings)
        evidence = read_inputs(y, table, n_bootstraps=60, **settings).evidence(BBC())
        worth, best = np.nanmean(evidence.scores.observed()), BBC().estimate(evidence)
        published = best.value + (best.provenance["control_size"] or 0.0)
        sign = 1 if metric == "f1" else -1
        values["uncorrected"].append(sign * (best.uncorrected - worth))
        values["published"].append(sign * (published - worth))
        values["corrected"].append(sign * (best.value - worth))
        values["alone"].append(one.value - one.uncorrected)
        values["one"].append(one.uncorrected)
    spread = np.std(values.pop("one"), ddof=1)
    return {name: np.array(column) / spread for name, column in values.items()}


@pytest.mark.parametrize(
    ("metric", "aggregate", "flatters"),
    [
        ("root_mean_squared_error", "folds", True),
        ("f1", "folds", None),
        ("expected_calibration_error", "pooled", False),
    ],
)
def test_the_best_of_equal_configurations_is_corrected_enough(metric, aggregate, flatters):
    """Without the control RMSE is too low and ECE of few rows far too high, so that the comparison can fail."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = biases(metric, aggregate, 25)
    corrected, published = values["corrected"], values["published"]
    assert corrected.mean() - QUANTILE * standard_error(corrected) < MARGIN
    assert corrected.mean() < values["uncorrected"].mean() - 0.5
    assert np.abs(values["alone"]).max() < 1e-9
    if flatters:
        assert published.mean() - QUANTILE * standard_error(published) > MARGIN
    elif flatters is False:
        assert published.mean() < -1.5
