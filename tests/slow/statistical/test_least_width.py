"""Coverage near the ceiling: C equal candidates, each right on a row with probability p, independently.

The winner is then worth p whichever it is, and often all right by luck. Before intervals had a least width, one
configuration with p = .95 was covered .63 on 20 rows, and the best of 50 with p = .9 .87.
"""

from itertools import product

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import binom

import heldout as ho
from heldout.estimates import BBC

FALSE_ALARM = 1e-4


def held(p, rows, configurations, repetitions, *, interval="percentile", correlation=0.0, n_bootstraps=200):
    """Which intervals held the truth; ``p`` is a share, or the (a, b) of a beta distribution of shares."""
    rng = np.random.default_rng([rows, configurations, repetitions])
    y, found = np.arange(rows) % 2, []
    for seed in range(repetitions):
        truth = rng.beta(*p, configurations) if isinstance(p, tuple) else np.full(configurations, p)
        common, own = rng.normal(size=(rows, 1)), rng.normal(size=(rows, configurations))
        noise = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own
        labels = np.where(noise < ndtri(truth), y[:, None], 1 - y[:, None])
        estimate = ho.estimate(
            y,
            labels,
            metric="accuracy",
            method=BBC(interval=interval),
            n_bootstraps=n_bootstraps,
            random_state=seed,
        )
        assert estimate.interval.low < estimate.interval.high
        found.append(truth[estimate.selected] in estimate.interval)
    return np.array(found)


def assert_covers(found):
    """A nominal interval fails once in 10 000 runs."""
    assert binom.cdf(found.sum(), len(found), 0.95) > FALSE_ALARM, found.mean()


@pytest.mark.parametrize("interval", ["percentile", "calibrated"])
@pytest.mark.parametrize("p, rows, configurations", list(product((0.8, 0.9, 0.95), (10, 20, 50), (1, 10, 50, 500))))
def test_equal_candidates_are_covered(p, rows, configurations, interval):
    assert_covers(held(p, rows, configurations, 400, interval=interval))


@pytest.mark.parametrize("correlation", [0.0, 0.7, 0.95])
@pytest.mark.parametrize("configurations", [10, 100])
def test_unequal_and_correlated_candidates_are_covered(configurations, correlation):
    for rows in (20, 50):
        assert_covers(held((54, 6), rows, configurations, 400, correlation=correlation))
        assert_covers(held(0.9, rows, configurations, 400, correlation=correlation, interval="calibrated"))
