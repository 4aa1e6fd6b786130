"""Rows that follow time: intervals from single rows cover too little, those from blocks nearly their level.

Losses are 5 plus an autoregressive process of the candidate and one of all candidates, so that every candidate is
worth 5. tests/slow/statistical has longer simulations, and searches over time.
"""

import numpy as np
import pytest
from numpy.typing import NDArray

import heldout as ho


def autoregressive(rng: np.random.Generator, rho: float, shape: tuple[int, int]) -> NDArray[np.float64]:
    values = rng.standard_normal(shape)
    for t in range(1, len(values)):
        values[t] = rho * values[t - 1] + np.sqrt(1 - rho**2) * values[t]
    return values


def lines_of(
    rho: float, n_rows: int, n_candidates: int, method: str, block_length: object, repetitions: int
) -> NDArray[np.float64]:
    """(repetitions, 3): value less truth, whether the interval contains it, its width."""
    lines = []
    for seed in range(repetitions):
        rng = np.random.default_rng([seed, n_rows, n_candidates])
        losses = autoregressive(rng, rho, (n_rows, n_candidates)) + autoregressive(rng, rho, (n_rows, 1))
        estimate = ho.estimate(
            np.zeros(n_rows), 5 + losses / np.sqrt(8), metric="mean_absolute_error", method=method,
            folds=np.zeros(n_rows, dtype=int), block_length=block_length, n_bootstraps=150, random_state=seed,
        )  # fmt: skip
        lines.append([estimate.value - 5, 5 in estimate.interval, np.ptp(list(estimate.interval))])
    return np.array(lines)


def test_one_configuration_is_covered_in_blocks_and_not_in_single_rows():
    """300 rows, ρ = .6: .68 by single rows and .95 by blocks; 4 % and 0.2 % false alarms (binomial, of 40)."""
    single, blocks = (lines_of(0.6, 300, 1, "shrinkage", length, 40) for length in (None, "auto"))
    assert single[:, 1].mean() < 0.8
    assert blocks[:, 1].mean() > 0.82


def test_the_best_of_several_is_flattered_less_in_blocks():
    """The difference of the two is .056 with a standard deviation of .018 in a repetition: false alarms below
    1e-6."""
    single, blocks = (lines_of(0.6, 100, 20, "bbc", length, 15) for length in (None, "auto"))
    assert blocks[:, 0].mean() - single[:, 0].mean() > 0.03
    assert blocks[:, 1].mean() >= single[:, 1].mean()


def test_without_dependence_blocks_cost_little():
    """The mean width differs by 1 %, with a standard error of 1.4 %: 1 false alarm in 1000."""
    single, blocks = (lines_of(0.0, 300, 1, "shrinkage", length, 24) for length in (None, "auto"))
    assert blocks[:, 2].mean() / single[:, 2].mean() == pytest.approx(1.0, abs=0.06)
