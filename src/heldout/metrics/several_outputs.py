"""Metrics of a target with several columns: means of errors and of R2 over them, and of a loss of each row."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats, Weightings
from heldout.data.task import TaskKind, Truth
from heldout.metrics.base import Metric, Response, Statistic
from heldout.metrics.custom import CustomLoss
from heldout.metrics.from_scorer import metric_from_scorer
from heldout.metrics.signed import AroundMetric, Signed, sign_of, unsigned

ROWS: dict[str, Callable[..., Any]] = {
    "accuracy": lambda y, labels: (y == labels).all(axis=1),
    "zero_one_loss": lambda y, labels: (y != labels).any(axis=1),
    "hamming_loss": lambda y, labels: (y != labels).mean(axis=1),
    "jaccard_score": lambda y, labels: (
        ((y > 0) & (labels > 0)).sum(axis=1) / np.maximum(((y > 0) | (labels > 0)).sum(axis=1), 1)
    ),
}
"""The score or loss of each row, by the name of the metric that is their mean in scikit-learn."""
_SAMPLES = re.compile(r"jaccard_score\((pos_label=None, )?average='samples'(, zero_division=0(\.0)?)?\)")


@dataclass(frozen=True)
class MeanOverOutputs(AroundMetric):
    """The mean of a regression metric over the columns of the target, as scikit-learn averages them."""

    metric: Metric

    @property
    def name(self) -> str:
        return self.metric.name

    def truth_for_needs(self, truth: Truth) -> Truth:
        return _column(truth, 0)

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> Statistic:
        columns = range(truth.values.shape[1])
        return _MeanStatistic([self.metric.statistic(_column(truth, k), predictions[:, :, k]) for k in columns])


@dataclass(frozen=True, eq=False)
class _MeanStatistic:
    columns: Sequence[Statistic]

    def all(self, counts: Weightings) -> Floats:
        return np.asarray(np.mean([column.all(counts) for column in self.columns], axis=0))

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        return np.asarray(np.mean([column.selected(counts, columns) for column in self.columns], axis=0))


def _column(truth: Truth, number: int) -> Truth:
    return Truth(TaskKind.REGRESSION, np.ascontiguousarray(truth.values[:, number], dtype=np.float64))


def metric_of_outputs(scorer: Any) -> Metric | None:
    """The metric behind a scorer of several columns; None where only the scorer knows its score.

    Examples
    --------
    >>> from sklearn.metrics import get_scorer
    >>> metric_of_outputs(get_scorer("neg_mean_squared_error")).name, metric_of_outputs(get_scorer("f1_macro"))
    ('neg_mean_squared_error', None)
    """
    metric = metric_from_scorer(scorer)
    if metric is None:
        return None
    inner, sign = unsigned(metric), sign_of(metric)
    name = "jaccard_score" if _SAMPLES.fullmatch(inner.name) else inner.name
    if name in ROWS:
        values = (Response.VALUES,)
        inner = CustomLoss(ROWS[name], name, inner.greater_is_better, values, (0.0, 1.0), takes_weights=True)
    elif inner.tasks == {TaskKind.REGRESSION} and not inner.calls_foreign_code:
        inner = MeanOverOutputs(inner)
    else:
        return None
    return Signed(inner, sign) if isinstance(metric, Signed) else inner
