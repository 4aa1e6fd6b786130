"""A loss with a declared greatest value, so that bounds for losses within a range hold for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.data.task import Truth
from heldout.errors import InputError
from heldout.metrics.around import AroundMetric
from heldout.metrics.base import Metric
from heldout.metrics.parameters import is_number
from heldout.metrics.row_losses import Finish, LossOutsideRangeError, OfRowLosses


@dataclass(frozen=True)
class Bounded(AroundMetric, OfRowLosses):
    """The mean of one loss per row, of which none exceeds ``most``: "mean_squared_error(most=25)".

    Hoeffding's inequality needs losses within a range, and squared errors have none by themselves. If target and
    predictions lie within [a, b], then ``most`` is (b - a)² for them and b - a for absolute errors. A greater loss
    is refused, because the bound would not hold.

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
        if not is_number(self.most) or not 0 < self.most < np.inf:
            raise InputError(
                f"most must be a finite number above 0, got {self.most!r}; give the greatest loss that a row can "
                "have.",
                argument="most",
            )
        if isinstance(self.most, np.generic):  # the name is read back as Python's own number
            object.__setattr__(self, "most", self.most.item())

    @property
    def name(self) -> str:
        stem, bracket, parameters = self.metric.name.partition("(")
        return f"{stem}({parameters.removesuffix(')')}{', ' if bracket else ''}most={self.most!r})"

    @property
    def range(self) -> tuple[float, float]:
        return self.metric.range[0], float(self.most)

    def losses(self, truth: Truth, predictions: NDArray[Any]) -> NDArray[Any]:
        """(n, C): those of the metric.

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
