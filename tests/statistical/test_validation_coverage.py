"""How often the intervals of a validated score hold how its model does on new rows: 95 % is asked for.

Logistic regression with ten columns on 100 rows (``validation_simulation``). A location-shifted interval is as wide
as the bootstrap interval of the apparent score and lies where the corrected score is; the apparent one itself lies
too high, and is there to show that the simulation would see it. docs/validation.md has the table, with what lies
below nominal.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest
from validation_simulation import METRICS, Coverage, coverage

FALSE_ALARM = 1e-4


def share_could_be(held: int, total: int, share: float) -> bool:
    """Whether so few are no surprise where the coverage is (at least) so much; exact binomial."""
    return binomtest(int(held), total, share, alternative="less").pvalue > FALSE_ALARM


def assert_held(found: Coverage, kind: str, at_least: float) -> None:
    for metric, held in zip(METRICS, found.held(kind), strict=True):
        assert share_could_be(held, len(found.truth), at_least), (metric, held)


def test_location_shifted_intervals_hold_what_apparent_ones_miss() -> None:
    found = coverage(100, range(30), 40)
    assert_held(found, "location_shifted", at_least=0.85)  # percentiles of 40 bootstraps are a little narrow
    assert not share_could_be(found.held("apparent")[0], 30, 0.85)
    assert (found.width("location_shifted") == pytest.approx(found.width("apparent"))) and np.all(
        found.width("location_shifted") > 0
    )
