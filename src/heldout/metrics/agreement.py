"""Cohen's kappa: how far labels agree beyond what two label columns of the same shares would by chance.

One minus the penalty of the disagreements over the penalty expected if predictions were shuffled. A disagreement
of classes i and j costs 1, or their distance on an ordered scale, or the square of that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats, Weightings
from heldout.data.task import TaskKind, Truth
from heldout.kernels.dispatch import CellSums, LossSums, total_weight
from heldout.kernels.reference import class_weights
from heldout.metrics.base import Metric, Needs, Response, Sums
from heldout.metrics.confusion import LANES_AT_ONCE
from heldout.metrics.parameters import check_among
from heldout.metrics.row_losses import most_drawn, one_cell

KappaWeights = Literal["linear", "quadratic"]
_POWERS: dict[KappaWeights | None, int] = {None: 0, "linear": 1, "quadratic": 2}


_DEFINITIONS: dict[KappaWeights | None, str] = {
    None: "The agreement of true and predicted classes beyond chance: 0 is chance, 1 full agreement.",
    "linear": "The agreement beyond chance where an error costs the places between the classes: 0 is chance.",
    "quadratic": (
        "The agreement beyond chance where an error costs the squared places between the classes: 0 is chance."
    ),
}


@dataclass(frozen=True)
class CohenKappa(Metric):
    """Agreement of true and predicted labels beyond chance (Cohen 1960; weighted: Cohen 1968).

    1 is full agreement, 0 is what chance gives. The same number as scikit-learn's
    ``cohen_kappa_score(y_true, y_pred, labels=classes, weights=weights)``; NaN, as there, where truth and
    predictions are all of one and the same class.

    Attributes
    ----------
    weights : None, "linear" or "quadratic"
        What confusing two classes costs: 1, or how many places they stand apart in the order of the task's
        classes, or the square of that.
    absent_classes : "keep" or "skip"
        Whether a class that neither occurs nor is predicted among the rows still is a place of the scale.
        scikit-learn skips it without ``labels``, so that the distance of two classes depends on
        which others happen to be there.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> truth, predicted = truth_of([0, 1, 2, 2]), np.array([[0, 0], [1, 1], [2, 0], [1, 2]])
    >>> CohenKappa("quadratic").statistic(truth, predicted).all(np.ones((1, 4), dtype=np.uint8))
    array([[0.8       , 0.38461538]])
    """

    weights: KappaWeights | None = None
    absent_classes: Literal["keep", "skip"] = "keep"
    sources = ("cohen1960", "cohen1968")
    greater_is_better = True
    responses = (Response.LABELS,)
    tasks = frozenset({TaskKind.BINARY, TaskKind.MULTICLASS})
    range = (-1.0, 1.0)
    needs = Needs.EVERY_CLASS

    def __post_init__(self) -> None:
        check_among("weights", self.weights, tuple(_POWERS))
        check_among("absent_classes", self.absent_classes, ("keep", "skip"))

    @property
    def name(self) -> str:
        return "cohen_kappa" if self.weights is None else f"{self.weights}_weighted_kappa"

    @property
    def title(self) -> str:
        return "Cohen's kappa" if self.weights is None else f"Kappa, {self.weights} weights"

    @property
    def definition(self) -> str:
        return _DEFINITIONS[self.weights]

    @property
    def function_name(self) -> str:
        return "cohen_kappa_score" if self.weights is None else ""

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> ClassAgreement:
        labels = predictions.astype(np.int32)
        places = self._places(truth, labels)
        power = _POWERS[self.weights]
        wrong = labels != truth.values[:, None]
        if power == 0:
            # Without weights an error costs 1, and counts of errors are exact whole numbers.
            penalties: Sums = CellSums(np.where(wrong, 0, -1).astype(np.int32), 1)
        else:
            distance = np.take_along_axis(places, labels.T, axis=1) - places[:, truth.values]
            penalties = LossSums(np.abs(distance.T).astype(np.float64) ** power, most_drawn(truth.n_rows))
        return ClassAgreement(
            truth.values, penalties, CellSums(labels, truth.n_classes), np.diff(places, axis=1), power
        )

    def _places(self, truth: Truth, labels: NDArray[np.int32]) -> NDArray[np.intp]:
        """(C, K): where each class stands on the scale of a column."""
        classes = np.arange(truth.n_classes)
        if self.absent_classes == "keep":
            return np.broadcast_to(classes, (labels.shape[1], truth.n_classes))
        # Without ``labels=`` scikit-learn numbers only the classes that occur, so distances shrink where one is
        # absent.
        occurs = np.stack([(truth.values == k).any() | (labels == k).any(axis=0) for k in classes], axis=1)
        return np.asarray(np.cumsum(occurs, axis=1) - 1)


@dataclass(frozen=True, eq=False)
class ClassAgreement:
    """Kappa of every column; a ``Statistic``."""

    codes: NDArray[np.int32]  # (n,): the true classes
    penalties: Sums  # of the rows
    predicted: Sums  # the weight of the rows predicted to be of each class
    steps: NDArray[np.intp]  # (C, K - 1): from each class to the next on a column's scale
    power: int  # a distance d costs d**power

    def all(self, counts: Weightings) -> Floats:
        observed = one_cell(self.penalties.all(counts), 2).astype(np.float64)
        predicted = self.predicted.all(counts)
        values = np.empty_like(observed)
        # A few weightings at a time: what lies between the sums and the value stays in the cache.
        for first in range(0, len(counts), LANES_AT_ONCE):
            few = slice(first, first + LANES_AT_ONCE)
            values[few] = self._kappa(counts[few], observed[few], predicted[few], self.steps)
        return values

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        observed = one_cell(self.penalties.selected(counts, columns), 1).astype(np.float64)[:, None]
        predicted = self.predicted.selected(counts, columns)[:, None]
        return self._kappa(counts, observed, predicted, self.steps[columns][:, None])[:, 0]

    def _kappa(
        self, counts: Weightings, observed: Floats, predicted: NDArray[Any], steps: NDArray[np.intp]
    ) -> Floats:
        n_classes = predicted.shape[-1]
        true = class_weights(counts, self.codes, n_classes)[:, :, None]
        shares = [predicted[..., k].astype(np.float64) for k in range(n_classes)]
        expected = _penalty_by_chance(list(true), shares, steps, self.power)
        with np.errstate(invalid="ignore", divide="ignore"):
            kappa: Floats = 1.0 - observed / (expected / total_weight(counts)[:, None])
        return kappa


def _penalty_by_chance(true: list[Floats], predicted: list[Floats], steps: NDArray[np.intp], power: int) -> Floats:
    """(L, D): the sum over classes i and j of ``true[i] * predicted[j] * distance(i, j)**power``.

    Up the scale with the sums over all lower classes of weight times distance to the power 0, 1 and 2. Nothing is
    subtracted, so that what is zero stays zero under real weights.
    """
    total = np.zeros(predicted[0].shape)
    below_true = [np.zeros_like(total) for _ in range(3)]
    below_predicted = [np.zeros_like(total) for _ in range(3)]
    for k in range(1, len(true)):
        step = steps[..., k - 1]
        _climb(below_true, true[k - 1], step)
        _climb(below_predicted, predicted[k - 1], step)
        total += predicted[k] * below_true[power] + true[k] * below_predicted[power]
    return total


def _climb(below: list[Floats], joining: Floats, step: NDArray[np.intp]) -> None:
    """One class up: the class left joins those below, and all of them are a step further away."""
    below[0] += joining
    # The square before the distance, because it needs the distances of before.
    below[2] += step * (2 * below[1] + step * below[0])
    below[1] += step * below[0]
