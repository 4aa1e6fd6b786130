"""Metrics of numbers against numbers: squared and absolute errors, their median, R², and rank correlation."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from heldout._types import Array, Floats, Weightings
from heldout.data.checks import check_number
from heldout.data.task import TaskKind, Truth
from heldout.kernels.dispatch import Medians, RankCorrelations, total_weight
from heldout.kernels.reference import weighted_sum
from heldout.metrics.base import Derived, Metric, Needs, Rescaled, Response, Sums, hold_two_values
from heldout.metrics.row_losses import Finish, OfRowLosses, loss_sums


class OfNumbers(Metric):
    """A metric of predicted numbers: a loss from 0 up, if its class says nothing else."""

    greater_is_better = False
    responses = (Response.VALUES,)
    tasks = frozenset({TaskKind.REGRESSION})
    range: tuple[float, float] = (0.0, np.inf)


def _errors(truth: Truth, predictions: Array) -> Floats:
    with np.errstate(over="ignore"):  # infinite where the difference passes float64
        errors: Floats = np.asarray(predictions, dtype=np.float64) - truth.values[:, None]
    return errors


class OfSquares(OfNumbers, OfRowLosses):
    """A metric of squared errors."""

    squares_errors = True

    def losses(self, truth: Truth, predictions: Array) -> Floats:
        with np.errstate(over="ignore"):  # a model that diverged; its loss is infinite
            squares: Floats = _errors(truth, predictions) ** 2
        return squares


@dataclass(frozen=True)
class MeanSquaredError(OfSquares):
    """Mean squared error.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> bound = MeanSquaredError().statistic(truth_of([0.5, 1.5, 3.25]), np.array([[1.5], [1.5], [1.25]]))
    >>> bound.all(np.array([[1, 1, 0], [1, 1, 2]], dtype=np.uint8))
    array([[0.5 ],
           [2.25]])
    """

    name = "mean_squared_error"
    title = "Mean squared error"
    definition = "The mean squared distance of predictions from the truth."


@dataclass(frozen=True)
class RootMeanSquaredError(OfSquares):
    """Root mean squared error, in the target's units.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> bound = RootMeanSquaredError().statistic(truth_of([0.5, 1.5, 3.25]), np.array([[1.5], [1.5], [1.25]]))
    >>> bound.all(np.ones((1, 3), dtype=np.uint8)).round(4)
    array([[1.291]])
    """

    name = "root_mean_squared_error"
    title = "Root mean squared error"
    definition = "The root of the mean squared distance of predictions from the truth, in the target's own units."
    row_wise = False  # the root of a mean is no mean
    finish = Finish.ROOT


@dataclass(frozen=True)
class MeanAbsoluteError(OfNumbers, OfRowLosses):
    """Mean absolute error, in the target's units.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> bound = MeanAbsoluteError().statistic(truth_of([0.5, 1.5, 3.25]), np.array([[1.5], [1.5], [1.25]]))
    >>> bound.all(np.ones((1, 3), dtype=np.uint8)).round(4)
    array([[1.]])
    """

    name = "mean_absolute_error"
    title = "Mean absolute error"
    definition = "The mean distance of predictions from the truth, in the target's own units."

    def losses(self, truth: Truth, predictions: Array) -> Floats:
        return np.abs(_errors(truth, predictions))


@dataclass(frozen=True)
class PinballLoss(OfNumbers, OfRowLosses):
    """Mean pinball loss of predicted quantiles, in the target's units.

    The loss is ``alpha`` times the error of a prediction that is too low, ``1 - alpha`` times that of one too high.

    It is least for the ``alpha`` quantile; for .5 it is half the mean absolute error. It equals scikit-learn's
    ``mean_pinball_loss``.

    Attributes
    ----------
    alpha : float
        The quantile, from 0 to 1.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> bound = PinballLoss(0.75).statistic(truth_of([0.5, 1.5]), np.array([[1.5], [0.5]]))
    >>> bound.all(np.array([[1, 1], [2, 0]], dtype=np.uint8))
    array([[0.5 ],
           [0.25]])
    """

    alpha: float = 0.5
    title = "Mean pinball loss"
    definition = (
        "The mean distance of predicted quantiles from the truth, errors above and below weighing differently."
    )

    def __post_init__(self) -> None:
        check_number("alpha", self.alpha, least=0, most=1, usual=".5 is the median")

    stem = "mean_pinball_loss"

    def losses(self, truth: Truth, predictions: Array) -> Floats:
        above = _errors(truth, predictions)
        return np.where(above > 0, (1 - self.alpha) * above, -self.alpha * above)


@dataclass(frozen=True)
class MedianAbsoluteError(OfNumbers):
    """Median absolute error, in the target's units.

    It is ``np.median`` of the rows repeated by their counts; versions of scikit-learn differ in their weighted
    median.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> bound = MedianAbsoluteError().statistic(truth_of([0.5, 1.5, 3.25]), np.array([[1.5], [1.5], [1.25]]))
    >>> bound.all(np.ones((1, 3), dtype=np.uint8)).round(4)
    array([[1.]])
    """

    name = "median_absolute_error"
    title = "Median absolute error"
    definition = "Half of the rows are predicted closer than this, in the target's own units."

    def statistic(self, truth: Truth, predictions: Array) -> Sums:
        errors = np.abs(_errors(truth, predictions))
        largest = errors.max(initial=0.0, where=np.isfinite(errors))
        # The mean of two middle errors must not pass float64 on its way.
        return Medians(errors) if largest < _HALF else Rescaled(Medians(errors / 2), 2.0)


_HALF = np.finfo(np.float64).max / 2


@dataclass(frozen=True)
class R2(OfNumbers):
    """Coefficient of determination, ``1 - SSE / SST``: 1 is perfect, the mean of the rows scores 0.

    Not the squared correlation, for which predictions of the wrong sign are as good as the right ones. If the
    target is constant it is 1 if the predictions are that constant and 0 otherwise, as in scikit-learn (where
    rounding may make equal values such as .1 seem to vary). Bootstraps with a constant target are drawn again.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> bound = R2().statistic(truth_of([1.5, 2.5, 3.5]), np.array([[1.5, 2.5], [2.5, 2.5], [2.5, 2.5]]))
    >>> bound.all(np.ones((1, 3), dtype=np.uint8))
    array([[0.5, 0. ]])
    """

    name = "r2"
    title = "R²"
    definition = "The share of the target's variance that is explained: 0 is what predicting the mean gives."
    function_name = "r2_score"
    greater_is_better = True
    squares_errors = True
    range = (-np.inf, 1.0)
    needs = Needs.TWO_VALUES
    undefined_without = Needs.TWO_ROWS

    def statistic(self, truth: Truth, predictions: Array) -> Derived:
        """Without the fused path: R² near 1 ties where sums of squares still differ, and ties go by value."""
        # Near 1 before squaring, so that a target of 1e200 or 1e-200 has a spread; and centred, so that one
        # far from zero keeps its digits.
        near_one, first = _near_one(truth.values)
        target, second = _near_one(near_one - near_one.mean())
        with np.errstate(over="ignore"):
            errors = np.ldexp(_errors(truth, predictions), -(first + second))
            sums, exponent = loss_sums(errors**2)
        return Derived(sums, partial(_one_minus, exponent), partial(_spread, target))


def _near_one(numbers: Floats) -> tuple[Floats, int]:
    """Numbers times the power of two, 2**-exponent, that brings the largest near 1; and the exponent."""
    exponent = int(np.frexp(np.abs(numbers).max(initial=0.0))[1])
    return np.ldexp(numbers, -exponent), exponent


_ROUNDED = 1e-16
"""Of the largest square: a mean square that rounding alone cannot reach, not even over many millions of rows."""


def _spread(target: Floats, counts: Weightings) -> Floats:
    """(L,): SST, the weighted sum of squared deviations from the weighted mean; NaN without rows."""
    weights, total = np.ascontiguousarray(counts, dtype=np.float64), total_weight(counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = weighted_sum(weights, target) / total
        spread = weighted_sum(weights, (target - mean[:, None]) ** 2)
    # A constant has no spread, although its mean is rounded; no rows are no constant.
    least = _ROUNDED * total * np.abs(target).max(initial=0.0) ** 2
    little = np.flatnonzero(~(spread > least))
    if little.size:
        few = counts[little]
        rows = np.where((few > 0).any(axis=1), 0.0, np.nan)
        varied = hold_two_values(target, few, np.arange(len(target)))
        spread[little] = np.where(varied, spread[little], rows)
    return spread


def _one_minus(exponent: int, errors: Floats, spread: Floats) -> Floats:
    """R² of sums of squared errors times 2**-exponent."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        value: Floats = 1.0 - np.ldexp(errors / spread, exponent)
    constant = spread == 0
    return np.where(constant, np.where(errors == 0, 1.0, 0.0), value) if constant.any() else value


@dataclass(frozen=True)
class Spearman(OfNumbers):
    """Spearman's rank correlation of truth and prediction; tied rows share their mean rank.

    It equals ``scipy.stats.spearmanr`` on rows repeated by their counts; with importance weights, a row takes as
    many ranks as its weight. A constant prediction has NaN, as in SciPy, and so never wins. Predictions of the
    wrong sign have a negative value.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> bound = Spearman().statistic(truth_of([1.5, 2.5, 4.0]), np.array([[1.0, 9.0], [3.0, 4.0], [2.0, 1.0]]))
    >>> bound.all(np.array([[1, 1, 1], [2, 0, 1]], dtype=np.uint8))
    array([[ 0.5, -1. ],
           [ 1. , -1. ]])
    """

    name = "spearman"
    title = "Spearman correlation"
    definition = "The correlation of the ranks of predictions and truth: 0 is none."
    greater_is_better = True
    range = (-1.0, 1.0)
    needs = undefined_without = Needs.TWO_VALUES

    def statistic(self, truth: Truth, predictions: Array) -> Sums:
        return RankCorrelations(np.asarray(predictions, dtype=np.float64), truth.values)
