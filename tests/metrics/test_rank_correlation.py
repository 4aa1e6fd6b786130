"""Spearman's correlation, and that predictions of the wrong sign are never chosen."""

from __future__ import annotations

import numpy as np
import pytest

import heldout as ho
from heldout.data.task import truth_of
from heldout.errors import InputError
from heldout.metrics import PinballLoss, Spearman, metric_named


def test_copies_of_a_row_are_tied() -> None:
    truth, predicted = truth_of([1.5, 2.5, 4.0], "regression"), np.array([[1.0], [3.0], [2.0]])
    counts = np.array([[2, 1, 1]], dtype=np.uint8)
    # Ranks of the four rows: 1.5 1.5 3 4 and 1.5 1.5 4 3.
    found = Spearman().statistic(truth, predicted).all(counts)[0, 0]
    assert found == pytest.approx((2 * 1.0 + 2 * 0.5 * 1.5) / (2 * 1.0 + 0.5**2 + 1.5**2), abs=1e-15)


def test_a_constant_prediction_is_never_chosen() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=60)
    predictions = np.column_stack([np.zeros(60), -y, 0.1 * y + rng.normal(size=60)])
    found = ho.estimate(y, predictions, metric="spearman", n_bootstraps=100, random_state=0)
    assert found.selected == 2


def test_predictions_of_the_wrong_sign_are_not_chosen_by_r2() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=80)
    predictions = np.column_stack([-y, y + rng.normal(size=80)])  # squared correlations: 1 and about .5
    found = ho.estimate(y, predictions, metric="r2", n_bootstraps=100, random_state=0)
    assert found.selected == 1
    assert metric_named("r2").statistic(truth_of(y), predictions).all(np.ones((1, 80), np.uint8))[0, 0] < -2


@pytest.mark.parametrize("name", ["squared_correlation", "r_squared", "rsquared", "pearson_r2"])
def test_the_squared_correlation_is_refused_by_its_names(name: str) -> None:
    with pytest.raises(InputError, match=r"no measure to select by, as predictions of the wrong sign.* 'r2'"):
        metric_named(name)


def test_the_pinball_loss_of_the_median_is_half_the_absolute_error() -> None:
    truth, predicted = truth_of([0.5, 1.5, 4.0], "regression"), np.array([[1.0], [1.0], [1.0]])
    once = np.ones((1, 3), dtype=np.uint8)
    half = metric_named("mean_absolute_error").statistic(truth, predicted).all(once) / 2
    np.testing.assert_allclose(PinballLoss().statistic(truth, predicted).all(once), half, rtol=1e-15)
    low = PinballLoss(0.1).statistic(truth, predicted).all(once)
    np.testing.assert_allclose(low, [[(0.9 * 0.5 + 0.1 * 0.5 + 0.1 * 3) / 3]], rtol=1e-15)


@pytest.mark.parametrize("alpha", [-0.1, 1.1, np.nan, "median"])
def test_alpha_has_its_sentence(alpha: float) -> None:
    with pytest.raises(InputError, match="alpha must be a number from 0 to 1"):
        PinballLoss(alpha)
