"""Searches of known truth: how probable it is that the winner is worse than the default, and how often it is."""

import numpy as np
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
