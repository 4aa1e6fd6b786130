"""Dropping makes bbc a little optimistic beside bbc without it; repeating the dropping takes that back.

The table of papers/pages/dropping.md is this simulation with 300 repetitions. Differences are between protocols on
the same matrices, so that their standard errors are small. Every bound is four standard errors and the allowance
beside it: a test that holds fails by chance in less than 1 of 10 000 seeds.
"""

import numpy as np
import pytest
from dropping_bias_simulation import biases


def error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def assert_replay_takes_the_optimism_back(found: dict[str, np.ndarray], allowance: float) -> None:
    optimism = found["after"] - found["bbc"]
    assert optimism.mean() > 4 * error(optimism)  # of dropping, beside bbc
    left = found["complete"] - found["bbc"]
    assert abs(left.mean()) < 4 * error(left) + allowance  # none, where nothing is forced
    regained = found["after"] - found["replayed"]
    assert regained.mean() > -4 * error(regained)  # after a search some of it at most,
    assert regained.mean() < optimism.mean()  # as who has left cannot be chosen


@pytest.mark.parametrize(("rows", "configurations"), [(60, 500), (100, 100), (100, 500), (500, 100)])
def test_wherever_it_was_tried(rows, configurations):
    assert_replay_takes_the_optimism_back(biases(rows, configurations, 200), allowance=0.003)


# Mean biases of BCED-CV over C = 50 .. 2000 for Beta(9, 6), reached by an independent simulation.
BCED = {20: -0.017, 100: -0.008, 500: -0.002}


@pytest.mark.parametrize("rows", BCED)
def test_the_bias_after_dropping_is_that_of_the_article(rows):
    found = np.concatenate([biases(rows, columns, 100)["after"] for columns in (50, 300, 1000)])
    assert abs(found.mean() - BCED[rows]) < 4 * error(found) + 0.006
