"""Short versions of simulations in tests/slow/statistical, made by the same functions."""

import numpy as np
from dropping_bias_simulation import biases
from known_truth import standard_error
from learning_curve_simulation import SETTINGS, mean_biases
from overtuning_simulation import calibrated
from scipy.stats import binom
from stopping_simulation import METHODS, searches

from heldout.dropping.sequential import cochran_q, friedman_of_each


def test_a_replayed_estimate_is_as_unbiased_as_without_dropping() -> None:
    """Bounds of four standard errors. Without replay ``complete`` would be as far above ``bbc`` as ``after``."""
    found = biases(60, 100, 25, n_bootstraps=100)
    assert found["saved"].mean() > 0.5
    optimism, left = found["after"] - found["bbc"], found["complete"] - found["bbc"]
    assert optimism.mean() > 4 * standard_error(optimism)
    assert abs(left.mean()) < 4 * standard_error(left) + 0.003
    assert left.mean() < optimism.mean() / 2


def test_the_interval_that_ended_a_search_holds_the_truth() -> None:
    """Of 12 searches at most 3 miss, which 95 % intervals do in less than 1 of 400 runs; and they did stop."""
    for method in METHODS:
        found = searches(12, 500, 10, 0.15, method)
        assert binom.sf(3, 12, 0.05) < 1 / 400
        assert (1 - found[:, 1]).sum() <= 3
        assert found[:, 0].mean() < 8


def test_on_noise_wmcs_takes_most_out_of_a_learning_curve_and_ipl_little() -> None:
    (uncorrected, wmc, wmcs, ipl), errors, _ = mean_biases(SETTINGS[0], 8)
    assert uncorrected > 4 * errors[0]
    assert wmcs < wmc < uncorrected
    assert wmcs < 0.6 * uncorrected + 4 * errors[2]
    assert ipl > 0.6 * uncorrected - 4 * errors[3]


def test_the_stated_probability_that_the_winner_is_worse_is_right_in_the_mean() -> None:
    """40 searches; within .12 and 3.3 standard errors: one false alarm in 1000 runs."""
    stated, worse, error = calibrated(40, 150, 15, 0.03)
    assert abs(stated - worse) < 0.12 + 3.3 * error


def test_the_tests_of_blocks_keep_their_level_where_all_are_alike() -> None:
    """Of 200 at a level of .05 more than 23 are rejected by chance in 1 of 10 000 runs."""
    assert binom.sf(23, 200, 0.05) < 1e-4
    draws = [np.random.default_rng([3, seed]) for seed in range(200)]
    binary = [cochran_q(rng.random((100, 6)) < rng.random((100, 1))).p_value for rng in draws]
    ranked = [[*friedman_of_each(rng.integers(0, 4, (100, 6)))][-1].p_value for rng in draws]
    for p_values in (binary, ranked):
        assert np.mean(np.array(p_values) <= 0.05) <= 23 / 200
