"""A metric times +1 or -1, read as a score: what scikit-learn's scorers are.

``neg_log_loss`` is log loss times -1, and greater is better. The best column stays the best.

Bounds of two-part methods, and the least width of an interval, are those of a share of rows or of pairs.
``reading_of`` says which metrics are such a share but for sign and origin.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats, Weightings
from heldout.data.task import TaskKind, Truth
from heldout.errors import InputError
from heldout.metrics.base import Failing, Fused, Metric, Needs, Response, Selected, Statistic, fitted
from heldout.metrics.classification import Accuracy, ZeroOneLoss
from heldout.metrics.parameters import is_number, times_of
from heldout.metrics.ranking import RocAuc, RocAucOneVsOne, RocAucOneVsRest
from heldout.metrics.row_losses import Finish, LossOutsideRangeError, OfRowLosses
from heldout.metrics.within import PairBased, PairStatistic, is_pair_based


class AroundMetric(Metric):
    """A dataclass with the field ``metric``; its subclass declares its name, and what differs."""

    metric: Metric

    @property
    def title(self) -> str:
        return self.metric.title

    @property
    def definition(self) -> str:
        return self.metric.definition

    @property
    def greater_is_better(self) -> bool:
        return self.metric.greater_is_better

    @property
    def responses(self) -> tuple[Response, ...]:
        return self.metric.responses

    @property
    def tasks(self) -> frozenset[TaskKind]:
        return self.metric.tasks

    @property
    def range(self) -> tuple[float, float]:
        return self.metric.range

    @property
    def needs(self) -> Needs:
        return self.metric.needs

    @property
    def undefined_without(self) -> Needs:
        return self.metric.undefined_without

    @property
    def row_wise(self) -> bool:
        return self.metric.row_wise

    @property
    def mean_within_classes(self) -> bool:
        return self.metric.mean_within_classes

    @property
    def squares_errors(self) -> bool:
        return self.metric.squares_errors

    @property
    def pos_label(self) -> Any:
        return self.metric.pos_label

    @property
    def sources(self) -> tuple[str, ...]:
        return self.metric.sources

    @property
    def takes_weights(self) -> bool:
        return self.metric.takes_weights

    @property
    def calls_foreign_code(self) -> bool:
        return self.metric.calls_foreign_code

    def clipped(self, truth: Truth, predictions: NDArray[Any]) -> NDArray[np.bool_] | None:
        return self.metric.clipped(truth, predictions)

    def for_truth(self, truth: Truth) -> Self:
        """The same of the metric as it is on this target."""
        changed: Self = replace(self, metric=fitted(self.metric, truth))  # type: ignore[type-var]
        return changed


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
