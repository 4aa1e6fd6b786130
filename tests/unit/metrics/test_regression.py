"""Hand-worked values of metrics on numbers, and what large numbers do to them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from heldout.metrics.base import Metric
from heldout.metrics.regression import (
    R2,
    MeanAbsoluteError,
    MeanSquaredError,
    MedianAbsoluteError,
    RootMeanSquaredError,
)
from heldout.task import TaskKind, truth_of

Y = [1.0, 2.0, 3.0, 6.0]
PREDICTED = [2.0, 2.0, 1.0, 9.0]
"""Errors 1, 0, -2, 3."""


def values(metric: Metric, y: Any, predicted: Any, counts: Any = None) -> np.ndarray:
    column = np.asarray(predicted, dtype=float)
    weights = np.ones((1, len(column)), np.uint8) if counts is None else np.array(counts, dtype=np.uint8)
    bound = metric.statistic(truth_of(y, TaskKind.REGRESSION), column if column.ndim > 1 else column[:, None])
    return bound.all(weights)


@pytest.mark.parametrize(
    ("metric", "by_hand", "by_hand_drawn"),
    [
        (MeanSquaredError(), 14 / 4, (2 * 1 + 2 * 9) / 4),
        (RootMeanSquaredError(), (14 / 4) ** 0.5, 5**0.5),
        (MeanAbsoluteError(), 6 / 4, (2 * 1 + 2 * 3) / 4),
        (MedianAbsoluteError(), 1.5, 2.0),
        (R2(), 1 - 14 / 14, 1 - 20 / 25),  # means 3 and 3.5
    ],
    ids=lambda p: p.name if isinstance(p, Metric) else "",
)
def test_values_worked_by_hand(metric: Metric, by_hand: float, by_hand_drawn: float) -> None:
    found = values(metric, Y, PREDICTED, [[1, 1, 1, 1], [2, 0, 0, 2]])
    np.testing.assert_allclose(found[:, 0], [by_hand, by_hand_drawn], rtol=1e-14, atol=1e-14)


def test_r2_keeps_its_digits_far_from_zero() -> None:
    rng = np.random.default_rng(0)
    y = 2.0**46 + rng.integers(0, 16, 50) / 4  # a mean rounds to 1/128 up there
    predicted = y + rng.integers(-4, 5, 50) / 8
    counts = rng.multinomial(50, np.full(50, 1 / 50), size=5).astype(np.uint8)
    found = values(R2(), y, predicted, counts)[:, 0]
    for lane, weights in enumerate(counts.tolist()):
        exact, guess = [Fraction(v) for v in y], [Fraction(v) for v in predicted]
        mean = sum(w * v for w, v in zip(weights, exact, strict=True)) / 50
        sse = sum(w * (v - g) ** 2 for w, v, g in zip(weights, exact, guess, strict=True))
        sst = sum(w * (v - mean) ** 2 for w, v in zip(weights, exact, strict=True))
        assert found[lane] == pytest.approx(float(1 - sse / sst), rel=1e-12)


def test_r2_of_the_wrong_sign_is_bad_and_of_the_mean_is_0() -> None:
    # The squared correlation of -y with y would be 1, and that column would win.
    y = np.array([-2.0, -1.0, 0.0, 3.0])
    found = values(R2(), y, np.column_stack([-y, np.full(4, y.mean()), y + 0.5]))
    np.testing.assert_allclose(found, [[-3.0, 0.0, 1 - 1 / 14]], atol=1e-15)


def test_r2_of_a_constant_target_is_nan() -> None:
    found = values(R2(), [0.1, 0.1, 0.1, 0.7], [0.1, 0.2, 0.3, 0.7], [[1, 1, 2, 0], [0, 0, 3, 0]])
    assert np.isnan(found).all()


def test_a_model_that_diverged_comes_last_and_spoils_nothing() -> None:
    predicted = np.column_stack([np.full(4, 1e200), [1.0, 2.0, 3.0, 5.0]])
    for metric in (MeanSquaredError(), RootMeanSquaredError(), R2()):
        found = values(metric, Y, predicted, [[1, 1, 1, 1], [4, 0, 0, 0], [0, 2, 1, 1]])
        diverged, good = found[[0, 2]].T
        assert np.isfinite(diverged).all()
        assert (good > diverged).all() if metric.greater_is_better else (good < diverged).all()


def test_no_row_is_nan() -> None:
    for metric in (MeanSquaredError(), MeanAbsoluteError(), MedianAbsoluteError(), R2()):
        assert np.isnan(values(metric, Y, PREDICTED, [[0, 0, 0, 0]])).all()
