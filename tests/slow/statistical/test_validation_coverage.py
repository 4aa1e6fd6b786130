"""How often the intervals of a validated score hold how its model does on new rows: 95 % is asked for.

Logistic regression (``validation_simulation``) on 100 rows. Both kinds of interval are known to hold less than they
say (papers/pages/validation.md says why): about 90 % with the three columns that have an effect, and
about 70 % with ten, 5 rows of the rarer class to each, where the apparent one holds next to nothing. That they hold
no less is tested: a share is refused where so few would happen with a probability of 1e-4 (exact binomial), three
metrics a test.
"""

import numpy as np
from scipy.stats import binomtest
from validation_simulation import EFFECTS, METRICS, Coverage, coverage

FALSE_ALARM = 1e-4
FEW_COLUMNS = EFFECTS[:3]


def could_be(held: int, total: int, share: float) -> bool:
    """Whether so few are no surprise where the coverage is (at least) so much."""
    return bool(binomtest(int(held), total, share, alternative="less").pvalue > FALSE_ALARM)


def assert_held(found: Coverage, kind: str, at_least: float) -> None:
    for metric, held in zip(METRICS, found.held(kind), strict=True):
        assert could_be(held, len(found.truth), at_least), (metric, held)


def test_shifted_intervals_of_an_overfitted_model_hold_what_apparent_ones_miss() -> None:
    found = coverage(100, range(15), 30)
    assert_held(found, "location_shifted", at_least=0.7)
    assert not could_be(found.held("apparent")[0], 15, 0.95)
    assert (found.held("location_shifted") > found.held("apparent")).all()
    np.testing.assert_allclose(found.width("location_shifted"), found.width("apparent"))


def test_shifted_intervals_of_few_columns_at_length() -> None:
    assert_held(coverage(100, range(150), 200, effects=FEW_COLUMNS), "location_shifted", at_least=0.88)


def test_double_bootstraps() -> None:
    found = coverage(100, range(40), 60, n_inner=10, effects=FEW_COLUMNS)
    assert_held(found, "double", at_least=0.88)
    assert_held(found, "location_shifted", at_least=0.88)
