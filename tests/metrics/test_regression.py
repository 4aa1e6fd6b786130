"""Hand-worked values of metrics on numbers, what large numbers do to them, and wrong signs, which never win."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import heldout as ho
from heldout.data.task import TaskKind, Truth, truth_of
from heldout.errors import InputError
from heldout.metrics import metric_named
from heldout.metrics.base import Fused, Metric, Response
from heldout.metrics.regression import (
    R2,
    MeanAbsoluteError,
    MeanSquaredError,
    MedianAbsoluteError,
    PinballLoss,
    RootMeanSquaredError,
    Spearman,
)
from heldout.metrics.row_losses import OfRowLosses

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


def test_r2_of_a_constant_target_is_1_if_hit_and_0_otherwise_as_in_scikit_learn() -> None:
    found = values(R2(), [0.1, 0.1, 0.1, 0.7], [0.1, 0.2, 0.3, 0.7], [[1, 1, 2, 0], [0, 0, 3, 0], [2, 0, 0, 0]])
    np.testing.assert_array_equal(found[:, 0], [0, 0, 1])


COUNTS = np.array([[1, 1, 1, 1], [0, 2, 1, 1], [4, 0, 0, 0]], dtype=np.uint8)


def test_a_loss_that_overflows_is_infinite_under_the_draws_that_hold_it_and_nowhere_else() -> None:
    diverged_once = np.array([1e200, 2.0, 1.0, 9.0])
    good = np.array([1.0, 2.0, 3.0, 5.0])
    for metric in (MeanSquaredError(), RootMeanSquaredError(), R2()):
        worst = -np.inf if metric.greater_is_better else np.inf
        found = values(metric, Y, np.column_stack([diverged_once, good]), COUNTS)
        alone = values(metric, Y, np.column_stack([[1.0, *diverged_once[1:]], good]), COUNTS)
        np.testing.assert_array_equal(found[1], alone[1])
        np.testing.assert_array_equal(found[:, 1], alone[:, 1])
        assert found[0, 0] == worst
        bound = metric.statistic(truth_of(Y, TaskKind.REGRESSION), np.column_stack([diverged_once, good]))
        np.testing.assert_array_equal(bound.selected(COUNTS[:2], np.array([0, 0])), found[:2, 0])


def test_a_column_of_infinite_losses_is_never_the_best_in_the_bag() -> None:
    columns = np.column_stack([np.full(4, 1e200), [1.0, 2.0, 3.0, 5.0]])
    for metric in (MeanSquaredError(), RootMeanSquaredError()):
        found = metric.statistic(truth_of(Y, TaskKind.REGRESSION), columns).best_out_of_bag(COUNTS[1:])
        np.testing.assert_array_equal(found.columns, [1, 1])
        assert np.isfinite(found.values).all()


@pytest.mark.parametrize("outlier", [300.0, 1e4, 1e9, 1e150])
def test_one_row_far_off_takes_no_digits_from_the_others(outlier: float) -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=50)
    predicted = y[:, None] + rng.normal(size=(50, 3))
    plain = values(MeanSquaredError(), y, predicted)  # without outliers
    far = predicted.copy()
    far[[3, 7, 11], [0, 1, 2]] += [outlier, outlier, outlier**0.5]
    without = np.ones((2, 50), np.uint8)
    without[:, [3, 7, 11]] = 0
    for metric in (MeanSquaredError(), RootMeanSquaredError(), R2()):
        exact = values(metric, y, predicted, without)
        np.testing.assert_allclose(values(metric, y, far, without), exact, rtol=3e-10)
        bound = metric.statistic(truth_of(y, TaskKind.REGRESSION), far)
        np.testing.assert_allclose(bound.selected(without, np.array([0, 2])), exact[0, [0, 2]], rtol=3e-10)
        np.testing.assert_allclose(bound.all(without * 0.5), exact, rtol=3e-10)
    errors = far - y[:, None]
    np.testing.assert_allclose(values(MeanSquaredError(), y, far), np.mean(errors**2, axis=0)[None], rtol=1e-12)
    assert (values(MeanSquaredError(), y, far) > plain).all()


@pytest.mark.parametrize("scale", [1e-200, 1e-155, 1e153, 1e155, 1e200, 1e307])
def test_numbers_at_the_ends_of_float64_are_exact_or_infinite(scale: float) -> None:
    y, predicted = np.array([1.0, 2.0, 3.0, 6.0]), np.array([2.0, 2.0, 1.0, 9.0])
    counts = [[1, 1, 1, 1], [2, 0, 0, 2]]
    for metric, power in ((MeanAbsoluteError(), 1), (MedianAbsoluteError(), 1), (R2(), 0)):
        exact = values(metric, y, predicted, counts) * scale**power
        np.testing.assert_allclose(
            values(metric, y * scale, predicted * scale, counts), exact, rtol=1e-12, atol=1e-14 if power == 0 else 0
        )
    overflows = scale > 1.3e154
    for metric in (MeanSquaredError(), RootMeanSquaredError()):
        found = values(metric, y * scale, predicted * scale, counts)
        if overflows:
            assert (found == np.inf).all()
        elif scale > 1:
            root = np.sqrt(found) if metric.name == "mean_squared_error" else found
            np.testing.assert_allclose(
                root, values(RootMeanSquaredError(), y, predicted, counts) * scale, rtol=1e-12
            )


def test_differences_that_overflow_are_infinite() -> None:
    y, predicted = [1.5e308, -1.0, 2.5, 1.0], [-1.5e308, 1.0, 3.0, 1.0]
    assert values(MeanAbsoluteError(), y, predicted)[0, 0] == np.inf
    assert values(R2(), y, predicted)[0, 0] == -np.inf
    assert values(MedianAbsoluteError(), y, predicted)[0, 0] == (0.5 + 2.0) / 2
    np.testing.assert_array_equal(values(MeanAbsoluteError(), y, predicted, [[0, 1, 1, 2]])[0], [2.5 / 4])
    middle = values(MedianAbsoluteError(), [0.5, 0.0], [1.5e308, 1.7e308])[0, 0]
    assert middle == pytest.approx(1.6e308, rel=1e-15)


def test_r2_goes_by_values_as_what_is_observed_does() -> None:
    y = np.random.default_rng(4).normal(size=60)
    predicted = np.column_stack([y + 1e-9, y + 1e-10])
    assert not isinstance(R2().statistic(truth_of(y, TaskKind.REGRESSION), predicted), Fused)
    np.testing.assert_array_equal(values(R2(), y, predicted), [[1.0, 1.0]])


def test_no_row_is_nan() -> None:
    for metric in (MeanSquaredError(), MeanAbsoluteError(), MedianAbsoluteError(), R2()):
        assert np.isnan(values(metric, Y, PREDICTED, [[0, 0, 0, 0]])).all()


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


@pytest.mark.parametrize("name", ["squared_correlation", "pearson_r2"])
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


class _Difference(OfRowLosses):
    """A mean of what may be negative, or of what has another shape."""

    name = "difference"
    greater_is_better = False
    responses = (Response.VALUES,)
    tasks = frozenset({TaskKind.REGRESSION})
    range = (-np.inf, np.inf)

    def __init__(self, made: Callable[[Any], Any]) -> None:
        self.made = made

    def losses(self, truth: Truth, predictions: Any) -> Any:
        return self.made(predictions - truth.values[:, None])


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (lambda errors: errors, "gave a row the loss -2; losses start at 0"),
        (lambda errors: np.abs(errors).mean(axis=0), r"of shape \(3, 2\), got shape \(2,\)"),
        (lambda errors: None, r"of shape \(3, 2\), got a NoneType"),
    ],
)
def test_losses_of_an_own_metric_are_checked(made: Callable[[Any], Any], sentence: str) -> None:
    truth, predictions = truth_of([0.0, 2.5, 1.0]), np.array([[0.5, 0.0], [0.5, 3.0], [1.0, 1.0]])
    with pytest.raises(InputError, match=f"metric 'difference' .*{sentence}"):
        _Difference(made).statistic(truth, predictions)
