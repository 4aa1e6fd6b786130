"""Rubin's rules, by hand and at their limits."""

import numpy as np
import pytest
from scipy.stats import t as student

from heldout.errors import InputError
from heldout.imputation.coefficients import Coefficients, pool_coefficients


def one(value: float, variance: float, names: tuple[str, ...] = ("x",)) -> Coefficients:
    return Coefficients(names, np.array([value]), np.array([[variance]]))


def test_three_imputations_by_hand() -> None:
    """Values 1, 2, 6 with variances 1, 2, 3 of 22 rows.

    Mean 3; W = 2; V = (4 + 1 + 9)/2 = 7; T = 2 + 4/3 · 7 = 34/3; λ = (28/3)/(34/3) = 14/17; ν_old = 2/(14/17)² =
    289/98; ν_c = 21; ν_obs = 22/24 · 21 · 3/17 = 231/68; df = 1/(98/289 + 68/231); r = (28/3)/2 = 14/3, and
    fmi = (r + 2/(df + 3))/(r + 1).
    """
    pooled = pool_coefficients([one(1, 1), one(2, 2), one(6, 3)], 22)
    assert pooled is not None
    assert pooled.values.tolist() == [3.0]
    assert pooled.within[0, 0] == 2.0 and pooled.between[0, 0] == pytest.approx(7)
    assert pooled.covariance[0, 0] == pytest.approx(34 / 3)
    assert pooled.standard_errors[0] == pytest.approx(np.sqrt(34 / 3))
    df = 1 / (98 / 289 + 68 / 231)
    assert pooled.variance_from_missing[0] == pytest.approx(14 / 17)
    assert pooled.df[0] == pytest.approx(df)
    assert pooled.fmi[0] == pytest.approx((14 / 3 + 2 / (df + 3)) / (14 / 3 + 1))
    reach = student.ppf(0.95, df) * np.sqrt(34 / 3)
    np.testing.assert_allclose(pooled.intervals(0.9), [[3 - reach, 3 + reach]])


def test_without_agreement_nothing_is_pooled() -> None:
    assert pool_coefficients([one(1, 1), None], 22) is None
    assert pool_coefficients([one(1, 1), one(1, 1, ("z",))], 22) is None
    assert pool_coefficients([one(1, 1), one(2, 1)], 1) is None
    with pytest.raises(InputError, match="at least 2 imputations, got 1"):
        pool_coefficients([one(1, 1)], 22)
    pooled = pool_coefficients([one(1, 1), one(2, 1)], 22)
    assert pooled is not None
    with pytest.raises(InputError, match="level must lie between 0 and 1"):
        pooled.intervals(95)


def test_events_count_where_they_are_passed() -> None:
    few = [Coefficients(("x",), np.array([v]), np.eye(1), n_informative=10) for v in (0.0, 1.0)]
    many = [one(v, 1.0) for v in (0.0, 1.0)]
    by_events, by_rows = pool_coefficients(few, 500), pool_coefficients(many, 10)
    assert by_events is not None and by_rows is not None
    assert by_events.df.tolist() == by_rows.df.tolist()
