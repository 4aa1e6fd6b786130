"""Overtuning against the truth: the probability that the winner is worse than the default, and the curve."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from heldout.estimates.from_matrix import gather
from heldout.estimates.inputs import read_inputs
from heldout.estimates.paired.overtuning import Overtuning, overtuning
from heldout.estimates.paired.scores import paired_scores


def searched(
    seed: int, n_rows: int, n_configurations: int, spread: float, correlation: float = 0.5
) -> tuple[Overtuning, np.ndarray, int]:
    """A matrix of known truth: configuration 0 is the default, true accuracies are normal around .75."""
    rng = np.random.default_rng([31, seed])
    truth = np.clip(0.75 + spread * rng.standard_normal(n_configurations), 0.05, 0.95)
    shared, own = rng.standard_normal((n_rows, 1)), rng.standard_normal((n_rows, n_configurations))
    right = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own < norm.ppf(truth)
    y = np.resize([0, 1], n_rows)
    inputs = read_inputs(
        y, np.where(right, y[:, None], 1 - y[:, None]), metric="accuracy", n_bootstraps=100, random_state=seed,
        folds=np.zeros(n_rows, dtype=int),
    )  # fmt: skip
    evidence = gather(inputs.truth, inputs.predictions, inputs.question)
    scores = paired_scores(evidence)
    found = overtuning(scores, "accuracy", greater_is_better=True, takes_control=False, default=0)
    return found, truth, scores.winner


def calibrated(n: int, n_rows: int, n_configurations: int, spread: float) -> tuple[float, float, float]:
    """Mean stated probability, share of searches with a truly worse winner, standard error of the difference."""
    stated, worse = [], []
    for seed in range(n):
        found, truth, winner = searched(seed, n_rows, n_configurations, spread)
        assert found.default is not None
        stated.append(np.nan_to_num(found.default.probability_worse, nan=0.5))
        worse.append(truth[winner] < truth[0])
    difference = np.array(stated) - np.array(worse)
    return float(np.mean(stated)), float(np.mean(worse)), float(difference.std(ddof=1) / np.sqrt(n))


@pytest.mark.parametrize(
    ("n_rows", "n_configurations", "spread"), [(100, 10, 0.02), (150, 15, 0.03), (400, 60, 0.02), (100, 30, 0.005)]
)
def test_the_stated_probability_is_right_in_the_mean_of_many(
    n_rows: int, n_configurations: int, spread: float
) -> None:
    """300 searches each; false-alarm rate as above."""
    stated, worse, error = calibrated(300, n_rows, n_configurations, spread)
    assert abs(stated - worse) < 0.12 + 3.3 * error


def test_among_equals_the_curve_stays_while_the_uncorrected_one_rises() -> None:
    """All have .75. The corrected end is at most .03 above (``bbc`` keeps a part of the optimism among equals), and
    3.3 standard errors: one false alarm in 1000 runs. The uncorrected one is far above."""
    ends, tops = [], []
    for seed in range(40):
        found, _, _ = searched(seed, 150, 30, 0.0)
        ends.append(found.corrected[-1])
        tops.append(found.uncorrected[-1])
    error = np.std(ends, ddof=1) / np.sqrt(len(ends))
    assert np.mean(ends) < 0.75 + 0.03 + 3.3 * error
    assert np.mean(tops) > np.mean(ends) + 0.02
