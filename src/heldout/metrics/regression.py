"""Metrics of numbers against numbers: squared and absolute errors, their median, and R²."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.dispatch import Medians, best_out_of_bag
from heldout.kernels.reference import Floats, Weightings
from heldout.metrics.base import Needs, Response, Selected, Sums
from heldout.metrics.row_losses import Finish, MeanLoss, loss_sums, mean_loss
from heldout.metrics.weights import total_weight, weighted_sum
from heldout.task import TaskKind, Truth

_VALUES: tuple[Response, ...] = (Response.VALUES,)
_REGRESSION: frozenset[TaskKind] = frozenset({TaskKind.REGRESSION})
_LOSS: tuple[float, float] = (0.0, np.inf)


def _errors(truth: Truth, predictions: NDArray[Any]) -> Floats:
    errors: Floats = np.asarray(predictions, dtype=np.float64) - truth.values[:, None]
    return errors


def _squared_errors(truth: Truth, predictions: NDArray[Any]) -> Floats:
    with np.errstate(over="ignore"):  # a model that diverged; its loss is cut to the largest that sums
        squares: Floats = _errors(truth, predictions) ** 2
    return squares


@dataclass(frozen=True)
class MeanSquaredError:
    """Mean of squared errors.

    Examples
    --------
    >>> from heldout.task import truth_of
    >>> bound = MeanSquaredError().statistic(truth_of([0.5, 1.5, 3.25]), np.array([[1.5], [1.5], [1.25]]))
    >>> bound.all(np.array([[1, 1, 0], [1, 1, 2]], dtype=np.uint8))
    array([[0.5 ],
           [2.25]])
    """

    name: ClassVar[str] = "mean_squared_error"
    greater_is_better: ClassVar[bool] = False
    responses: ClassVar[tuple[Response, ...]] = _VALUES
    tasks: ClassVar[frozenset[TaskKind]] = _REGRESSION
    range: ClassVar[tuple[float, float]] = _LOSS
    needs: ClassVar[Needs] = Needs.ROW
    row_wise: ClassVar[bool] = True

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> MeanLoss:
        return mean_loss(_squared_errors(truth, predictions))


@dataclass(frozen=True)
class RootMeanSquaredError:
    """Square root of the mean of squared errors, in the target's units."""

    name: ClassVar[str] = "root_mean_squared_error"
    greater_is_better: ClassVar[bool] = False
    responses: ClassVar[tuple[Response, ...]] = _VALUES
    tasks: ClassVar[frozenset[TaskKind]] = _REGRESSION
    range: ClassVar[tuple[float, float]] = _LOSS
    needs: ClassVar[Needs] = Needs.ROW
    row_wise: ClassVar[bool] = False  # the root of a mean is no mean

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> MeanLoss:
        return mean_loss(_squared_errors(truth, predictions), Finish.ROOT)


@dataclass(frozen=True)
class MeanAbsoluteError:
    """Mean of absolute errors, in the target's units."""

    name: ClassVar[str] = "mean_absolute_error"
    greater_is_better: ClassVar[bool] = False
    responses: ClassVar[tuple[Response, ...]] = _VALUES
    tasks: ClassVar[frozenset[TaskKind]] = _REGRESSION
    range: ClassVar[tuple[float, float]] = _LOSS
    needs: ClassVar[Needs] = Needs.ROW
    row_wise: ClassVar[bool] = True

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> MeanLoss:
        return mean_loss(np.abs(_errors(truth, predictions)))


@dataclass(frozen=True)
class MedianAbsoluteError:
    """Median of absolute errors: of the rows repeated by their counts, the mean of the middle two if even.

    Versions of scikit-learn differ in their weighted median; this is ``np.median`` of the repeated rows in
    all of them.
    """

    name: ClassVar[str] = "median_absolute_error"
    greater_is_better: ClassVar[bool] = False
    responses: ClassVar[tuple[Response, ...]] = _VALUES
    tasks: ClassVar[frozenset[TaskKind]] = _REGRESSION
    range: ClassVar[tuple[float, float]] = _LOSS
    needs: ClassVar[Needs] = Needs.ROW
    row_wise: ClassVar[bool] = False

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> Sums:
        return Medians(np.abs(_errors(truth, predictions)))


@dataclass(frozen=True)
class R2:
    """Coefficient of determination, ``1 - SSE / SST``: 1 is perfect, the mean of the rows scores 0.

    Not the squared correlation, for which predictions of the wrong sign are as good as the right ones.
    NaN where the target is constant (scikit-learn reports 0 or 1 there).

    Examples
    --------
    >>> from heldout.task import truth_of
    >>> bound = R2().statistic(truth_of([1.5, 2.5, 3.5]), np.array([[1.5, 2.5], [2.5, 2.5], [2.5, 2.5]]))
    >>> bound.all(np.ones((1, 3), dtype=np.uint8))
    array([[0.5, 0. ]])
    """

    name: ClassVar[str] = "r2"
    greater_is_better: ClassVar[bool] = True
    responses: ClassVar[tuple[Response, ...]] = _VALUES
    tasks: ClassVar[frozenset[TaskKind]] = _REGRESSION
    range: ClassVar[tuple[float, float]] = (-np.inf, 1.0)
    needs: ClassVar[Needs] = Needs.TWO_VALUES
    row_wise: ClassVar[bool] = False

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> Determination:
        # Centred, so that the spread of a target far from zero keeps its digits.
        centred = truth.values - truth.values.mean()
        return Determination(loss_sums(_squared_errors(truth, predictions)), centred)


@dataclass(frozen=True, eq=False)
class Determination:
    """R² of every column; a ``Statistic`` with the fused path, as SST is common to all columns.

    Attributes
    ----------
    sums : LossSums
        Of squared errors.
    target : ndarray of shape (n,)
        Centred.
    """

    sums: Sums
    target: Floats

    def all(self, counts: Weightings) -> Floats:
        return _one_minus(self.sums.all(counts), self.spread(counts)[:, None])

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        return _one_minus(self.sums.selected(counts, columns), self.spread(counts))

    def best_out_of_bag(self, counts: NDArray[np.uint8]) -> Selected:
        columns, sums = best_out_of_bag(self.sums, counts, greatest=False)
        return Selected(columns, _one_minus(sums, self.spread((counts == 0).astype(np.uint8))))

    def spread(self, counts: Weightings) -> Floats:
        """(L,): SST, the weighted sum of squared deviations from the weighted mean; NaN for a constant."""
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = weighted_sum(counts, self.target) / total_weight(counts)
            squares = weighted_sum(counts, (self.target - mean[:, None]) ** 2)
        present = counts > 0
        least = np.where(present, self.target, np.inf).min(axis=1, initial=np.inf)
        greatest = np.where(present, self.target, -np.inf).max(axis=1, initial=-np.inf)
        return np.where(least < greatest, squares, np.nan)


def _one_minus(errors: Floats, spread: Floats) -> Floats:
    with np.errstate(over="ignore"):
        value: Floats = 1.0 - errors / spread
    return value
