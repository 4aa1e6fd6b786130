"""Calibration slope and R² of log hazards against the numbers of R."""

import numpy as np
import pytest

from heldout.data.task import truth_of
from heldout.metrics import CalibrationSlope, CalibrationSlopeError, NagelkerkeR2

cox_slope, cox_slope_error = CalibrationSlope().statistic, CalibrationSlopeError().statistic

TIME = [1, 1, 2, 3, 3, 3, 4, 5, 5, 6, 7, 7]
EVENT = [1, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 1]
X = np.array([1.2, -0.3, 0.5, 0.8, 1.1, -1.0, 0.1, -0.7, 0.9, -0.2, -1.5, 0.4])[:, None]
COUNTS = np.array([[1] * 12, [1, 0, 2, 1, 3, 1, 2, 1, 0, 1, 2, 1]], dtype=np.uint8)

# r <- rep(1:12, counts); fit <- rms::cph(Surv(time[r], event[r]) ~ x[r], eps = 1e-13, tol = 1e-15, iter.max = 50)
# coef(fit), fit$stats["R2"]
OF_R = [1.3493552342398381, 2.6648292797566580], [0.4367828514567969, 0.7204622001521906]


def test_equals_cph_of_r() -> None:
    truth = truth_of((EVENT, TIME), "survival")
    slope, r2 = cox_slope(truth, X), NagelkerkeR2().statistic(truth, X)
    np.testing.assert_allclose(slope.all(COUNTS)[:, 0], OF_R[0], rtol=1e-10)
    np.testing.assert_allclose(r2.all(COUNTS)[:, 0], OF_R[1], rtol=1e-10)
    columns = np.zeros(2, dtype=np.intp)
    np.testing.assert_array_equal(slope.selected(COUNTS, columns), slope.all(COUNTS)[:, 0])
    np.testing.assert_array_equal(r2.selected(COUNTS, columns), r2.all(COUNTS)[:, 0])
    error = cox_slope_error(truth, X)
    np.testing.assert_array_equal(error.all(COUNTS), np.abs(slope.all(COUNTS) - 1))


def test_the_share_of_the_likelihood_does_not_ask_for_units() -> None:
    truth = truth_of((EVENT, TIME), "survival")
    moved = np.concatenate([X, 5 - 3 * X, np.ones((12, 1))], axis=1)
    np.testing.assert_allclose(
        cox_slope(truth, moved).all(COUNTS)[:, 1],
        -cox_slope(truth, X).all(COUNTS)[:, 0] / 3,
    )
    found = NagelkerkeR2().statistic(truth, moved).all(COUNTS)
    np.testing.assert_allclose(found[:, 1], found[:, 0])
    assert (found[:, 2] == 0).all()


def test_risks_that_are_always_right_have_no_slope_and_all_of_the_likelihood() -> None:
    truth, once = truth_of(([True, True, True, False], [1, 2, 3, 4]), "survival"), COUNTS[:1, :4]
    risks = np.array([[4.0], [3.0], [2.0], [1.0]])
    assert np.isnan(cox_slope(truth, risks).all(once)) and np.isnan(cox_slope_error(truth, risks).all(once))
    assert NagelkerkeR2().statistic(truth, risks).all(once) == 1.0


def test_risks_as_they_are_pay_for_their_slope() -> None:
    truth = truth_of((EVENT, TIME), "survival")
    slope = cox_slope(truth, X).all(COUNTS[:1])[0, 0]
    columns = np.concatenate([X, slope * X, 9 * X, -X], axis=1)
    as_they_are = NagelkerkeR2(recalibrated=False).statistic(truth, columns).all(COUNTS[:1])[0]
    best = NagelkerkeR2().statistic(truth, columns).all(COUNTS[:1])[0]
    np.testing.assert_allclose(best, OF_R[1][0], rtol=1e-10)
    assert as_they_are[1] == pytest.approx(best[1], abs=1e-12)
    assert 0 < as_they_are[0] < best[0] and as_they_are[2] < 0 and as_they_are[3] < 0


def test_weights_of_less_than_a_row_have_no_r2() -> None:
    truth = truth_of((EVENT, TIME), "survival")
    assert np.isnan(NagelkerkeR2().statistic(truth, X).all(COUNTS[:1] * 0.01)).all()
    assert 0 < NagelkerkeR2().statistic(truth, X).all(COUNTS[:1] * 1.0)[0, 0] < 1
