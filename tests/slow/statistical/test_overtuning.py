"""Overtuning against the truth: the probability that the winner is worse than the default, and the curve."""

import numpy as np
import pytest
from overtuning_simulation import calibrated, searched


@pytest.mark.parametrize(
    ("n_rows", "n_configurations", "spread"), [(100, 10, 0.02), (150, 15, 0.03), (400, 60, 0.02), (100, 30, 0.005)]
)
def test_the_stated_probability_is_right_in_the_mean_of_many(
    n_rows: int, n_configurations: int, spread: float
) -> None:
    """300 searches each; within .12 and 3.3 standard errors: one false alarm in 1000 runs."""
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
