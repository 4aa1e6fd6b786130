"""A metric times +1 or -1, read as a score: what scikit-learn's scorers are.

``neg_log_loss`` is log loss times -1, and greater is better. The best column stays the best.

Bounds of two-part methods, and the least width of an interval, are those of a share of rows or of pairs.
``reading_of`` says which metrics are such a share but for sign and origin.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats, Weightings
from heldout.data.task import TaskKind, Truth
from heldout.metrics.around import AroundMetric
from heldout.metrics.base import Failing, Fused, Metric, Selected, Statistic
from heldout.metrics.classification import Accuracy, ZeroOneLoss
from heldout.metrics.parameters import times_of
from heldout.metrics.ranking import RocAuc, RocAucOneVsOne, RocAucOneVsRest
from heldout.metrics.within import PairBased, PairStatistic, is_pair_based


@dataclass(frozen=True)
class Signed(AroundMetric):
    """``sign`` times a metric, with greater = better.

    Attributes
    ----------
    metric : Metric
    sign : 1 or -1
        -1 of a loss is the usual case. +1 of a loss maximises it, and -1 of a score minimises it: what a
        scorer says is done, as the search that it comes from does it too.

    Examples
    --------
    >>> from heldout.metrics.classification import LogLoss
    >>> Signed(LogLoss(), -1).name, Signed(LogLoss(), -1).range
    ('neg_log_loss', (-inf, 0.0))
    """

    metric: Metric
    sign: int

    @property
    def name(self) -> str:
        return self.metric.name if self.sign > 0 else f"neg_{self.metric.name}"

    @property
    def greater_is_better(self) -> bool:
        return True

    @property
    def range(self) -> tuple[float, float]:
        low, high = self.metric.range
        return (low, high) if self.sign > 0 else (0.0 - high, 0.0 - low)

    @property
    def times(self) -> tuple[float, ...]:
        return times_of(self.metric)

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> SignedStatistic:
        inner = self.metric.statistic(truth, predictions)
        same_best = self.metric.greater_is_better == (self.sign > 0)
        if same_best and isinstance(inner, Fused):
            return SignedFused(inner, self.sign, inner)
        return SignedStatistic(inner, self.sign)

    @property
    def pair_based(self) -> bool:
        return is_pair_based(self.metric)

    @property
    def share_of_pairs(self) -> PairBased:
        return self.metric.share_of_pairs if is_pair_based(self.metric) else self

    def statistic_within(self, truth: Truth, predictions: NDArray[Any], folds: NDArray[np.intp]) -> SignedPairs:
        assert is_pair_based(self.metric), "asked only of those that are"
        inner = self.metric.statistic_within(truth, predictions, folds)
        return SignedPairs(inner, self.sign, inner)


def unsigned(metric: Metric) -> Metric:
    """The metric within one of scikit-learn's ``neg_`` names; any other itself."""
    return metric.metric if isinstance(metric, Signed) else metric


def is_reversed(metric: Metric) -> bool:
    """Whether a scorer maximises a loss, or minimises a score."""
    return isinstance(metric, Signed) and metric.metric.greater_is_better != (metric.sign > 0)


def sign_of(metric: Metric) -> int:
    """-1 of a ``neg_`` name, otherwise 1."""
    return metric.sign if isinstance(metric, Signed) else 1


@dataclass(frozen=True, eq=False)
class SignedStatistic:
    """``sign`` times a statistic."""

    inner: Statistic
    sign: int

    def all(self, counts: Weightings) -> Floats:
        return self._signed(self.inner.all(counts))

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        return self._signed(self.inner.selected(counts, columns))

    @property
    def failures(self) -> dict[str, int]:
        """Of the statistic within."""
        return dict(self.inner.failures) if isinstance(self.inner, Failing) else {}

    def _signed(self, values: Floats) -> Floats:
        return values if self.sign > 0 else 0.0 - values  # not -values: a perfect loss is 0, not -0


@dataclass(frozen=True, eq=False)
class SignedPairs(SignedStatistic):
    """... of the pairs within folds."""

    pairs: PairStatistic

    def defined(self, counts: Weightings) -> NDArray[np.bool_]:
        return self.pairs.defined(counts)


@dataclass(frozen=True, eq=False)
class SignedFused(SignedStatistic):
    """... of one whose best column can be found without a matrix of values."""

    fused: Fused

    def best_out_of_bag(self, counts: NDArray[np.uint8]) -> Selected:
        columns, values = self.fused.best_out_of_bag(counts)
        return Selected(columns, self._signed(values))


class Share(StrEnum):
    """A share in [0, 1] of which more is better: of pairs that are ranked right, or of rows that are."""

    AUC = "roc_auc"
    ACCURACY = "accuracy"


class Reading(NamedTuple):
    """How a reported metric is read as a share: metric = origin + sign * share."""

    share: Share
    origin: float
    sign: int

    def share_of(self, values: Floats) -> Floats:
        """Shares from the metric's own values."""
        return values if self == (self.share, 0.0, 1) else self.sign * (values - self.origin)

    def reported(self, share: float) -> float:
        """The metric's own value of a share."""
        return self.origin + self.sign * share


def reading_of(metric: Metric, kind: TaskKind) -> Reading | None:
    """How the metric is read as a share, None where it is none.

    Examples
    --------
    >>> from heldout.metrics import metric_named
    >>> reading_of(metric_named("zero_one_loss"), TaskKind.MULTICLASS)
    Reading(share=<Share.ACCURACY: 'accuracy'>, origin=1.0, sign=-1)
    >>> reading_of(metric_named("neg_zero_one_loss"), TaskKind.BINARY).reported(0.75)
    -0.25
    >>> reading_of(metric_named("roc_auc_ovr"), TaskKind.MULTICLASS) is None
    True
    """
    if isinstance(metric, Signed):
        inner = reading_of(metric.metric, kind)
        # A scorer that minimises a score, or maximises a loss, wants the other bound than we give.
        if inner is None or metric.metric.greater_is_better != (metric.sign > 0):
            return None
        return Reading(inner.share, metric.sign * inner.origin, metric.sign * inner.sign)
    if isinstance(metric, Accuracy):
        return Reading(Share.ACCURACY, 0.0, 1)
    if isinstance(metric, ZeroOneLoss):
        return Reading(Share.ACCURACY, 1.0, -1)
    of_pairs = isinstance(metric, RocAuc | RocAucOneVsRest | RocAucOneVsOne)  # of two classes all three are one
    return Reading(Share.AUC, 0.0, 1) if of_pairs and kind is TaskKind.BINARY else None
