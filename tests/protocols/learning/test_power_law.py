"""Inverse power laws: exact recovery, their bounds, an independent implementation, and where there is none."""

import numpy as np
import pytest
from scipy.optimize import curve_fit

from heldout.protocols.power_law import STEEPEST, PowerLaw, fit_power_law

SIZES = np.array([20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0])
N = 100.0


def test_by_hand():
    # 4 rows: 2/2 + .1 = 1.1; 16: 2/4 + .1 = .6; 64: 2/8 + .1 = .35; so that 100 rows have 2/10 + .1 = .3.
    law = fit_power_law(np.array([4.0, 16.0, 64.0]), np.array([1.1, 0.6, 0.35]), np.ones(3))
    assert (law.a, law.b, law.c) == pytest.approx((2.0, 0.5, 0.1), abs=1e-5)
    assert float(law.at(N)) == pytest.approx(0.3, abs=1e-9)
    assert law.residual == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("a", [0.05, 3.0])
@pytest.mark.parametrize("b", [0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("c", [0.0, 0.2])
def test_errors_on_a_law_are_carried_on_exactly(a, b, c):
    truth = PowerLaw(a, b, c)
    law = fit_power_law(SIZES, truth.at(SIZES), np.linspace(1.0, 2.0, 7))
    assert float(law.at(N)) == pytest.approx(float(truth.at(N)), abs=1e-7)
    assert law.at(SIZES) == pytest.approx(truth.at(SIZES), abs=1e-7)


@pytest.mark.parametrize(
    "errors", [np.full(7, 0.25), np.linspace(0.2, 0.3, 7), np.zeros(7)], ids=["flat", "rising", "none"]
)
def test_errors_that_do_not_fall_are_their_mean(errors):
    law = fit_power_law(SIZES, errors, np.ones(7))
    assert law.is_flat and law.b == 0.0
    assert float(law.at(N)) == pytest.approx(errors.mean(), abs=1e-12)


def test_the_limit_is_never_below_the_best_possible():
    # Straight down to 0 and beyond: without the bound the limit would be negative.
    errors = 0.9 - 0.01 * SIZES
    law = fit_power_law(SIZES, errors, np.ones(7))
    assert law.c == 0.0 and law.a > 0
    assert float(law.at(1e9)) < 1e-3


def test_no_law_is_nearer():
    rng = np.random.default_rng(0)
    for _ in range(5):
        errors = PowerLaw(1.0, 0.6, 0.1).at(SIZES) + rng.normal(0, 0.01, 7)
        variances = rng.uniform(0.5, 2.0, 7) * 1e-4
        law = fit_power_law(SIZES, errors, variances)
        mine = float(((errors - law.at(SIZES)) ** 2 / variances).sum())
        for start in ((1.0, 0.5, 0.1), (0.5, 1.0, 0.0), (3.0, 0.2, 0.2)):
            found, _ = curve_fit(
                lambda n, a, b, c: a * n**-b + c, SIZES, errors, start, np.sqrt(variances),
                bounds=([0, 0, 0], [np.inf, STEEPEST, np.inf]), max_nfev=20_000,
            )  # fmt: skip
            theirs = float(((errors - PowerLaw(*found).at(SIZES)) ** 2 / variances).sum())
            assert mine <= theirs + 1e-9
        assert law.misfit == pytest.approx(np.sqrt(mine / 7))
        assert law.residual == pytest.approx(np.sqrt(mine / (1 / variances).sum()))


def test_variances_weigh():
    errors = PowerLaw(1.0, 0.5, 0.0).at(SIZES)
    errors[0] += 0.1
    near = fit_power_law(SIZES, errors, np.r_[1e6, np.ones(6)])
    assert float(near.at(N)) == pytest.approx(0.1, abs=1e-4)
    assert abs(float(fit_power_law(SIZES, errors, np.ones(7)).at(N)) - 0.1) > 1e-3


def test_a_mean_that_did_not_vary_counts_as_the_surest_that_did():
    errors = np.linspace(0.4, 0.2, 7) + np.resize([0.01, -0.01], 7)
    some = fit_power_law(SIZES, errors, np.r_[0.0, np.full(6, 1e-4)])
    assert some.at(SIZES) == pytest.approx(fit_power_law(SIZES, errors, np.full(7, 1e-4)).at(SIZES))
    none = fit_power_law(SIZES, errors, np.zeros(7))
    assert none.at(SIZES) == pytest.approx(fit_power_law(SIZES, errors, np.ones(7)).at(SIZES))
    assert np.isnan(none.misfit) and none.residual > 0


def test_fewer_than_three_sizes_have_no_law():
    errors = np.array([0.4, np.nan, 0.3, np.nan])
    assert fit_power_law(SIZES[:4], errors, np.ones(4)) is None
    assert fit_power_law(SIZES[:4], np.array([0.4, np.nan, 0.3, 0.2]), np.ones(4)) is not None


def test_the_units_of_rows_and_errors_do_not_matter():
    errors = PowerLaw(1.0, 0.6, 0.1).at(SIZES) + np.resize([0.01, -0.01], 7)
    law = fit_power_law(SIZES, errors, np.ones(7))
    other = fit_power_law(SIZES * 1e5, errors * 1e6, np.full(7, 1e12))
    assert other.at(N * 1e5) == pytest.approx(1e6 * law.at(N), rel=1e-6)
