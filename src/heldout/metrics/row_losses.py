"""Metrics that are a mean of one loss per row.

The denominator (the weight of the rows) is common to all columns, so the best column in the bag is the one
with the least sum, and no matrix of values is needed to find it.

Sums of bootstrap counts are exact integers. Sums of real weights round, so they run over contiguous rows in
one fixed order and do not depend on how many weightings stand in the block.

Rows may have their scores already, such as right or wrong: ``MeanScore`` has no target.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from math import isqrt
from typing import Any, NamedTuple

import numpy as np

from heldout._text import python_value
from heldout._types import Array, Booleans, Counts, Floats, Indices, Weightings
from heldout.data.checks import check_number, is_number
from heldout.data.task import TaskKind, Truth
from heldout.errors import InputError
from heldout.kernels.dispatch import CellSums, LossSums, best_out_of_bag, total_weight
from heldout.metrics.base import AroundMetric, Metric, Response, Selected, Sums


class Finish(StrEnum):
    """What becomes of a mean loss."""

    MEAN = "the mean itself"
    ROOT = "its square root"
    COMPLEMENT = "the best value minus the mean"


class OfRowLosses(Metric):
    """Base class of metrics that are the mean of one loss per row, or a monotone function of that mean.

    Code that needs the losses themselves, such as a drop rule, calls ``losses``.
    """

    row_wise = True

    @property
    def finish(self) -> Finish:
        """How the mean becomes the value."""
        return Finish.MEAN

    @property
    def best_value(self) -> float:
        """With ``Finish.COMPLEMENT``: the value if no row has a loss."""
        return 1.0

    def losses(self, truth: Truth, predictions: Array) -> Array:
        """(n, C): one loss per row and column, as numbers or, where it is 0 or 1, as booleans."""
        raise NotImplementedError(f"{type(self).__name__} has no method 'losses'")

    def statistic(self, truth: Truth, predictions: Array) -> MeanLoss:
        losses = self.losses(truth, predictions)
        _check_losses(self.name, losses, predictions.shape[:2])
        bind = mean_of_errors if losses.dtype == np.bool_ else mean_loss
        return replace(bind(losses, self.finish), best_value=self.best_value)


def _check_losses(name: str, losses: Any, shape: tuple[int, ...]) -> None:
    """Refuse what is no loss per row and column, from 0 up."""
    if not isinstance(losses, np.ndarray) or losses.shape != shape:
        got = f"shape {losses.shape}" if isinstance(losses, np.ndarray) else f"a {type(losses).__name__}"
        raise InputError(
            f"metric '{name}' must give an array of one loss per row and column, of shape {shape}, got {got}.",
            argument="metric",
        )
    if losses.dtype != np.bool_ and losses.min(initial=0.0) < 0:
        raise InputError(
            f"metric '{name}' gave a row the loss {losses.min():g}; losses start at 0: give 1 minus a score of 0 "
            "to 1, with finish=Finish.COMPLEMENT.",
            argument="metric",
        )


@dataclass(frozen=True, eq=False)
class MeanLoss:
    """A weighted mean of losses, of every column; a ``Statistic`` with the fused path."""

    sums: Sums
    finish: Finish = Finish.MEAN  # all three keep the order of the sums: the least sum is the best column
    exponent: int = 0  # the losses summed are the true ones times 2**-exponent
    best_value: float = 1.0

    def all(self, counts: Weightings) -> Floats:
        return self._value(one_cell(self.sums.all(counts), 2), total_weight(counts)[:, None])

    def selected(self, counts: Weightings, columns: Indices) -> Floats:
        return self._value(one_cell(self.sums.selected(counts, columns), 1), total_weight(counts))

    def best_out_of_bag(self, counts: Counts) -> Selected:
        columns, sums = best_out_of_bag(self.sums, counts, greatest=False)
        left_out = np.count_nonzero(counts == 0, axis=1).astype(np.float64)
        return Selected(columns, self._value(one_cell(sums, 1), left_out))

    def _value(self, sums: Array, weight: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            of_all = self.finish is Finish.COMPLEMENT  # so that all wrong is exactly 0
            mean: Floats = (
                np.subtract(self.best_value * weight, sums) if of_all else np.array(sums, dtype=np.float64)
            )
            mean /= weight
            if self.exponent:
                np.ldexp(mean, self.exponent, out=mean)
            return np.sqrt(mean, out=mean) if self.finish is Finish.ROOT else mean


def mean_loss(losses: Floats, finish: Finish = Finish.MEAN) -> MeanLoss:
    """The mean of losses (n, C)."""
    sums, exponent = loss_sums(losses)
    return MeanLoss(sums, finish, exponent)


def mean_of_errors(wrong: Booleans, finish: Finish = Finish.MEAN) -> MeanLoss:
    """The share of rows (n, C) that are wrong, or right."""
    return MeanLoss(CellSums(wrong.astype(np.int32) - np.int32(1), 1), finish)


class ScaledSums(NamedTuple):
    """Sums of losses times 2**-exponent."""

    sums: Sums
    exponent: int


_EXPONENTS = int(np.finfo(np.float64).maxexp)
_SPARE = 10
"""Bits left above the largest sum of counts, for importance weights that add up to more."""


def loss_sums(losses: Floats) -> ScaledSums:
    """Sums of losses (n, C), exact for bootstrap counts.

    Losses of which a sum could pass float64 are summed at a smaller scale. A loss that is infinite itself (the
    square of 1e200) makes the sum infinite wherever its row has weight, so that the column comes last there.
    """
    most = most_drawn(len(losses))
    if np.isinf(losses.max(initial=0.0)):
        overflown = np.isinf(losses)
        finite = loss_sums(np.where(overflown, 0.0, losses))
        return ScaledSums(_WithInfinite(finite.sums, overflown), finite.exponent)
    exponent = _exponent_of(losses.max(initial=0.0)) + _exponent_of(most) + _SPARE - _EXPONENTS
    exponent = max(0, exponent)
    return ScaledSums(_finite_sums(np.ldexp(losses, -exponent) if exponent else losses, most), exponent)


def _exponent_of(number: float) -> int:
    return int(np.frexp(number)[1])


def _finite_sums(losses: Floats, most: int) -> Sums:
    """Sums, with losses that are huge among those of their column summed apart.

    Exact sums keep the digits of the largest loss, so that the others would be rounded away, and a draw without
    the one row on which a model diverged would find it perfect on the rest. A loss of 1024 times the typical one is
    never apart; what is left is rounded by at most 2**-32 of the typical one, from 2000 rows on by 2**-43 a row.
    """
    share = min(most * 2.0**-20, 2.0**-10)
    some, middle = _some_rows(losses)
    # The typical loss is below a bound if more losses are than stand in front of it, which needs no sorting.
    below = np.count_nonzero(some < losses.max(axis=0, initial=0.0) * share, axis=0)
    if not (below > middle).any():
        return LossSums(losses, most)
    large = losses * share > np.take_along_axis(np.sort(some, axis=0), middle[None, :], axis=0)[0]
    rows = np.flatnonzero(large.any(axis=1))
    apart = _finite_sums(np.where(large[rows], losses[rows], 0.0), most)
    return _InTwoParts(LossSums(np.where(large, 0.0, losses), most), apart, rows)


def _some_rows(losses: Floats) -> tuple[Floats, Indices]:
    """Some thousand rows where there are more, and (C,): the place, in order, of the median of losses above 0."""
    some = losses[:: -(-len(losses) // 1000) or 1]
    zeros = np.count_nonzero(some == 0, axis=0)
    return some, np.minimum((zeros + len(some)) // 2, len(some) - 1)


@dataclass(frozen=True, eq=False)
class _InTwoParts:
    """Sums of losses of which some stand apart: on ``rows`` only."""

    ordinary: Sums
    apart: Sums
    rows: Indices

    def all(self, counts: Weightings) -> Array:
        total: Floats = self.ordinary.all(counts) + self.apart.all(np.take(counts, self.rows, axis=1))
        return total

    def selected(self, counts: Weightings, columns: Indices) -> Array:
        apart = self.apart.selected(np.take(counts, self.rows, axis=1), columns)
        total: Floats = self.ordinary.selected(counts, columns) + apart
        return total


@dataclass(frozen=True, eq=False)
class _WithInfinite:
    """Sums of losses of which some, ``infinite`` (n, C), are infinite."""

    finite: Sums
    infinite: Booleans

    def all(self, counts: Weightings) -> Array:
        met = (counts > 0).astype(np.float32) @ self.infinite.astype(np.float32) > 0
        return np.where(met, np.inf, self.finite.all(counts))

    def selected(self, counts: Weightings, columns: Indices) -> Array:
        met = ((counts > 0) & self.infinite.T[columns]).any(axis=1)
        return np.where(met, np.inf, self.finite.selected(counts, columns))


def most_drawn(n_rows: int) -> int:
    """A total count that n rows of a larger table pass in practically no bootstrap (eight deviations)."""
    return n_rows + 8 * (isqrt(n_rows) + 1)


def one_cell(sums: Array, dimensions: int) -> Array:
    """Sums without the axis of cells, where the kernel counts one cell."""
    return sums[..., 0] if sums.ndim > dimensions else sums


def half_width(n: float, delta: float, n_bounds: int, sides: int, width: float = 1.0) -> float:
    """How far means of n losses within a range of ``width`` stray from their expectation, all bounds at once.

    width · √(ln(sides · n_bounds / δ) / (2n)) holds with probability 1 - δ (Hoeffding 1963, theorem 2, and a union
    bound).

    Examples
    --------
    >>> round(half_width(1000, 0.05, 100, sides=2), 6)
    0.064397
    """
    return width * math.sqrt(math.log(sides * n_bounds / delta) / (2 * n))


class LossOutsideRangeError(InputError):
    """A row has a loss outside the range that its metric declares, so that bounds do not hold."""


def no_bounded_mean(metric: Metric) -> str | None:
    """Why a metric is no mean of bounded losses, as half a sentence; None where it is one.

    Examples
    --------
    >>> from heldout.metrics import metric_named
    >>> print(no_bounded_mean(metric_named("accuracy")), no_bounded_mean(metric_named("log_loss")), sep="\\n")
    None
    it needs losses within a range, and log_loss ranges from 0 to inf
    """
    if not metric.row_wise:
        return f"it bounds means of one loss per row, such as accuracy, and {metric.name} is not one"
    low, high = metric.range
    if not np.isfinite([low, high]).all():
        return f"it needs losses within a range, and {metric.name} ranges from {low:g} to {high:g}"
    return None


def effective_size(weights: Floats) -> float:
    """(Σw)²/Σw²: how many equally weighted losses a weighted mean is worth, in Hoeffding's inequality exactly.

    Examples
    --------
    >>> effective_size(np.array([1.0, 1.0, 0.0])), effective_size(np.array([3.0, 1.0]))
    (2.0, 1.6)
    """
    return float(weights.sum() ** 2 / (weights @ weights))


@dataclass(frozen=True)
class Bounded(AroundMetric, OfRowLosses):
    """A mean of row losses with a known maximum, for Hoeffding's bounds: "mean_squared_error(most=25)".

    Hoeffding's inequality needs losses within a range, and squared errors are unbounded. If target and predictions
    lie within [a, b], then ``most`` is (b - a)² for them and b - a for absolute errors. A greater loss is refused,
    because the bound would not hold.

    Attributes
    ----------
    metric : Metric
        A mean of losses from 0 up: mean squared or absolute error, pinball loss, log loss.
    most : float
        The greatest possible loss of a row, known before the data are seen.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> from heldout.metrics import MeanSquaredError, metric_named
    >>> metric = Bounded(MeanSquaredError(), 4.0)
    >>> metric.name, metric.range, metric == metric_named("mean_squared_error(most=4.0)")
    ('mean_squared_error(most=4.0)', (0.0, 4.0), True)
    >>> metric.losses(truth_of([0.5, 1.5]), np.array([[1.5], [1.5]])).tolist()
    [[1.0], [0.0]]
    """

    metric: OfRowLosses
    most: float

    def __post_init__(self) -> None:
        if not can_be_bounded(self.metric):
            raise InputError(
                f"most is for means of one loss per row without a greatest value, such as mean_squared_error, and "
                f"{self.metric.name} is not one; leave it out.",
                argument="most",
            )
        check_number("most", self.most, above=0, usual="give the greatest loss that a row can have")

    @property
    def name(self) -> str:
        stem, bracket, parameters = self.metric.name.partition("(")
        return f"{stem}({parameters.removesuffix(')')}{', ' if bracket else ''}most={python_value(self.most)!r})"

    @property
    def range(self) -> tuple[float, float]:
        return self.metric.range[0], float(self.most)

    def losses(self, truth: Truth, predictions: Array) -> Array:
        """(n, C): the losses of the metric.

        Raises InputError where one is greater than ``most``.
        """
        losses = self.metric.losses(truth, predictions)
        greatest = losses.max(initial=0.0)
        if not greatest <= self.most:
            raise LossOutsideRangeError(
                f"{self.name} declares losses of at most {self.most:g}, and a row has {greatest:g}; give the "
                "greatest loss that is possible, or clip target and predictions.",
                argument="metric",
            )
        return losses


def can_be_bounded(metric: Metric) -> bool:
    """Whether a metric is a mean of losses from 0 up, of which none is the greatest."""
    return (
        isinstance(metric, OfRowLosses)
        and metric.row_wise
        and metric.finish is Finish.MEAN
        and metric.range == (0.0, np.inf)
    )


@dataclass(frozen=True)
class MeanScore(OfRowLosses):
    """Mean of scores: the prediction of a row is its score, and there are no true values.

    Pass the scores in place of the true values. Internally the target is the best score on every row, or the task
    of each row, so that methods for row losses apply.

    Attributes
    ----------
    least, greatest : float
        The range of a score, known in advance. A score outside it is refused.

    Examples
    --------
    >>> import heldout as ho
    >>> right = [[1, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1]]  # 4 rows, 3 configurations
    >>> ho.estimate(right, metric="mean_score", random_state=0).uncorrected
    0.75
    """

    least: float = 0.0
    greatest: float = 1.0
    stem = "mean_score"
    title = "Mean score"
    definition = "The mean of the scores of rows, such as the share of right answers."
    greater_is_better = True
    responses = (Response.VALUES,)
    tasks = frozenset({TaskKind.REGRESSION, TaskKind.MULTICLASS, TaskKind.BINARY})
    finish = Finish.COMPLEMENT
    reads_truth = False

    def __post_init__(self) -> None:
        ends = self.least, self.greatest
        if not (all(map(is_number, ends)) and np.isfinite(ends).all() and self.least < self.greatest):
            raise InputError(
                f"the range of scores must be two finite numbers, least < greatest, got {ends!r}; "
                "write 'mean_score(least=0, greatest=10)'.",
                argument="metric",
            )

    @property
    def range(self) -> tuple[float, float]:
        return float(self.least), float(self.greatest)

    @property
    def best_value(self) -> float:
        return float(self.greatest)

    def losses(self, truth: Truth, predictions: Array) -> Array:
        """(n, C): by how much each score is below the best; booleans where it is 0 or 1."""
        scores: Floats = np.asarray(predictions, dtype=np.float64)
        outside = (scores < self.least) | (scores > self.greatest)
        if outside.any():
            raise InputError(
                f"{self.name} is of scores from {self.least:g} to {self.greatest:g}, and a row has "
                f"{scores[outside][0]:g}; give the range, as in 'mean_score(least=0, greatest=10)'.",
                argument="metric",
            )
        missing = self.greatest - scores
        return missing > 0 if np.isin(missing, (0.0, 1.0)).all() else missing
