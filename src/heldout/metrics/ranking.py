"""Metrics of how well scores rank the rows: areas under the ROC and the precision-recall curve.

An area is a share of pairs (Mann-Whitney), with ties counted half, so it is a ratio of whole numbers under
bootstrap counts. Of several classes, each (one-vs-rest) or each ordered pair (one-vs-one) has an area, and
the metric is their plain or weighted mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import permutations
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats, Weightings
from heldout.data.task import TaskKind, Truth
from heldout.kernels.dispatch import PrecisionSums, RankSums, best_out_of_bag, total_weight, weight_of
from heldout.metrics.base import Metric, Needs, Response, Selected, Statistic, Sums, positive_of
from heldout.metrics.parameters import check_among, name_with
from heldout.metrics.within import PairBased, PairStatistic, PairsWithin

ClassAverage = Literal["macro", "weighted"]


@dataclass(frozen=True, eq=False)
class Area:
    """The area under the ROC curve of every column; a ``Statistic`` with the fused path."""

    sums: Sums  # twice the Mann-Whitney U
    # positive, negative (n,)
    positive: NDArray[np.bool_]
    negative: NDArray[np.bool_]
    within: PairsWithin | None = None  # where only rows of one fold are pairs

    def all(self, counts: Weightings) -> Floats:
        return _share(self.sums.all(counts), self.pairs(counts)[:, None])

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        return _share(self.sums.selected(counts, columns), self.pairs(counts))

    def best_out_of_bag(self, counts: NDArray[np.uint8]) -> Selected:
        columns, sums = best_out_of_bag(self.sums, counts, greatest=True)
        left_out = (counts == 0).view(np.uint8)
        return Selected(columns, _share(sums, self.pairs(left_out)))

    def pairs(self, counts: Weightings) -> Floats:
        """(L,): twice the weight of all pairs of a positive and a negative row."""
        if self.within is not None:
            return 2.0 * self.within.weight(counts)
        return 2.0 * weight_of(counts, self.positive) * weight_of(counts, self.negative)

    def defined(self, counts: Weightings) -> NDArray[np.bool_]:
        """(L,): whether there is a pair."""
        return np.asarray(self.pairs(counts) > 0)


def area(
    scores: NDArray[Any],
    positive: NDArray[np.bool_],
    negative: NDArray[np.bool_],
    folds: NDArray[np.intp] | None = None,
) -> Area:
    """Bind scores (n, C), greater = more positive; with ``folds`` (n,) only rows of one fold are pairs."""
    numbers = np.asarray(scores, dtype=np.float64)
    if folds is None:
        return Area(RankSums(numbers, positive, negative), positive, negative)
    within = PairsWithin.of(positive, negative, folds)
    return Area(RankSums(numbers, positive, negative, folds), positive, negative, within)


def _share(sums: NDArray[Any], pairs: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        share: Floats = sums / pairs
    return np.minimum(share, 1.0)  # sums of real weights round, and all of them may be a little more than all


@dataclass(frozen=True, eq=False)
class MeanOfParts:
    """The mean of statistics, weighted by the rows that each is about; a ``Statistic``."""

    parts: Sequence[Statistic]
    # (n,): rows whose weight is the weight of a part; plain mean when None
    rows: Sequence[NDArray[np.bool_]] | None = None
    absent_counts: bool = True  # whether a part without weight still spoils the mean where it is NaN

    def all(self, counts: Weightings) -> Floats:
        return self._mean(counts, [part.all(counts) for part in self.parts])

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        values = [part.selected(counts, columns)[:, None] for part in self.parts]
        return self._mean(counts, values)[:, 0]

    def _mean(self, counts: Weightings, values: list[Floats]) -> Floats:
        if self.rows is None:
            # Part by part: of one number a part, np.mean adds in pairs, which rounds otherwise than blocks do.
            plain: Floats = reduce(np.add, values) / len(values)
            return plain
        total = np.zeros_like(values[0])
        weights = np.zeros((len(counts), 1))
        for value, rows in zip(values, self.rows, strict=True):
            weight = weight_of(counts, rows)[:, None]
            known = value if self.absent_counts else np.where(weight > 0, value, 0.0)
            total += weight * known
            weights += weight
        return _share(total, weights)


@dataclass(frozen=True, eq=False)
class MeanOfAreas(MeanOfParts):
    """... of areas, which all must have pairs."""

    parts: Sequence[Area]

    def defined(self, counts: Weightings) -> NDArray[np.bool_]:
        """(L,): whether every area has a pair."""
        return np.asarray(np.logical_and.reduce([part.defined(counts) for part in self.parts]))


@dataclass(frozen=True)
class RocAuc(PairBased):
    """Area under the ROC curve of a binary task: the share of pairs that the scores order right, ties half.

    The same number as scikit-learn's ``roc_auc_score``; NaN where one class has no weight. A constant
    predictor has .5.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> scores = np.array([[0.1], [0.4], [0.4], [0.8]])
    >>> bound = RocAuc().statistic(truth_of([0, 0, 1, 1]), scores)
    >>> bound.all(np.array([[1, 1, 1, 1], [2, 0, 1, 1]], dtype=np.uint8))
    array([[0.875],
           [1.   ]])
    """

    name = "roc_auc"
    title = "ROC AUC"
    definition = (
        "The chance that a random row of the positive class is ranked above a random other row: 0.5 is guessing."
    )
    function_name = "roc_auc_score"
    greater_is_better = True
    tasks = frozenset({TaskKind.BINARY})
    range = (0.0, 1.0)
    needs = Needs.EVERY_CLASS
    undefined_without = Needs.EVERY_CLASS
    mean_within_classes = True
    responses: tuple[Response, ...] = (Response.DECISION, Response.PROBABILITIES)

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> Area:
        positive = truth.values == truth.positive
        return area(predictions, positive, ~positive)

    def statistic_within(self, truth: Truth, predictions: NDArray[Any], folds: NDArray[np.intp]) -> Area:
        positive = truth.values == truth.positive
        return area(predictions, positive, ~positive, folds)


@dataclass(frozen=True)
class RocAucOfClasses(PairBased):
    """Template of areas of several classes, averaged; of two classes each is the plain area.

    Attributes
    ----------
    average : "macro" or "weighted"
        Plain, or by the weight of the classes.
    """

    average: ClassAverage = "macro"
    greater_is_better = True
    responses = (Response.PROBABILITIES,)
    tasks = frozenset({TaskKind.BINARY, TaskKind.MULTICLASS})
    range = (0.0, 1.0)
    needs = Needs.EVERY_CLASS
    undefined_without = Needs.EVERY_CLASS

    def __post_init__(self) -> None:
        check_among("average", self.average, get_args(ClassAverage))

    @property
    def name(self) -> str:
        return self._stem if self.average == "macro" else f"{self._stem}_{self.average}"

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> PairStatistic:
        if truth.kind is TaskKind.BINARY:
            return RocAuc().statistic(truth, predictions)
        return self._mean(truth, predictions, None)

    def statistic_within(self, truth: Truth, predictions: NDArray[Any], folds: NDArray[np.intp]) -> PairStatistic:
        """The pairs of each area are summed over the folds first; then the areas are averaged."""
        if truth.kind is TaskKind.BINARY:
            return RocAuc().statistic_within(truth, predictions, folds)
        return self._mean(truth, predictions, folds)

    @property
    def _stem(self) -> str:
        raise NotImplementedError

    def _mean(self, truth: Truth, predictions: NDArray[Any], folds: NDArray[np.intp] | None) -> MeanOfAreas:
        raise NotImplementedError


@dataclass(frozen=True)
class RocAucOneVsRest(RocAucOfClasses):
    """Mean over classes of the area for that class against all others (scikit-learn's ``multi_class="ovr"``).

    Of a binary task it is the plain area, as in scikit-learn.

    Attributes
    ----------
    average : "macro" or "weighted"
        Plain, or by the weight of the class.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> given = np.array([[0.8, 0.1, 0.1], [0.3, 0.5, 0.2], [0.4, 0.3, 0.3], [0.1, 0.2, 0.7]])
    >>> bound = RocAucOneVsRest().statistic(truth_of([0, 1, 2, 2]), given[:, None])
    >>> bound.all(np.ones((1, 4), dtype=np.uint8)).round(4)
    array([[1.]])
    """

    title = "ROC AUC, one-vs-rest"
    definition = "The ROC AUC of each class against all others, averaged over classes."
    _stem = "roc_auc_ovr"

    def _mean(self, truth: Truth, predictions: NDArray[Any], folds: NDArray[np.intp] | None) -> MeanOfAreas:
        members = [truth.values == code for code in range(truth.n_classes)]
        parts = [area(predictions[:, :, code], mine, ~mine, folds) for code, mine in enumerate(members)]
        # scikit-learn leaves a class of weight 0 out of a weighted mean.
        return MeanOfAreas(parts, members if self.average == "weighted" else None, absent_counts=False)


@dataclass(frozen=True)
class RocAucOneVsOne(RocAucOfClasses):
    """Mean over pairs of classes of the area for one against the other (Hand & Till 2001, eq. 7).

    Of a pair, the mean of two areas: by the probability of the one, and by that of the other. The same
    number as scikit-learn's ``multi_class="ovo"`` on rows repeated by their counts.

    Attributes
    ----------
    average : "macro" or "weighted"
        Plain, or by the weight of the two classes together.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> given = np.array([[0.8, 0.1, 0.1], [0.3, 0.5, 0.2], [0.4, 0.3, 0.3], [0.1, 0.2, 0.7]])
    >>> bound = RocAucOneVsOne().statistic(truth_of([0, 1, 2, 2]), given[:, None])
    >>> bound.all(np.ones((1, 4), dtype=np.uint8)).round(4)
    array([[1.]])
    """

    sources = ("hand2001",)
    title = "ROC AUC, one-vs-one"
    definition = "The ROC AUC of each pair of classes, averaged over the pairs."
    _stem = "roc_auc_ovo"

    def _mean(self, truth: Truth, predictions: NDArray[Any], folds: NDArray[np.intp] | None) -> MeanOfAreas:
        members = [truth.values == code for code in range(truth.n_classes)]
        pairs = list(permutations(range(truth.n_classes), 2))
        parts = [area(predictions[:, :, one], members[one], members[other], folds) for one, other in pairs]
        weighted = self.average == "weighted"
        return MeanOfAreas(parts, [members[a] | members[b] for a, b in pairs] if weighted else None)


@dataclass(frozen=True, eq=False)
class MeanPrecision:
    """Average precision of every column; a ``Statistic``."""

    sums: Sums

    def all(self, counts: Weightings) -> Floats:
        return _zero_without_positives(self.sums.all(counts), total_weight(counts)[:, None])

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        return _zero_without_positives(self.sums.selected(counts, columns), total_weight(counts))


def _zero_without_positives(values: Floats, weight: Floats) -> Floats:
    """What scikit-learn returns for rows without a positive one; NaN where there are no rows."""
    return np.where(np.isnan(values) & (weight > 0), 0.0, values)


@dataclass(frozen=True)
class AveragePrecision(Metric):
    """Average precision: the mean over positive rows' thresholds of precision, by the gain in recall.

    The same number as scikit-learn's ``average_precision_score``; of several classes the plain mean of each
    against the rest.

    Attributes
    ----------
    pos_label : label, optional
        The class to be found; the task's positive class when None. Without meaning for several classes.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> scores = np.array([[0.1], [0.4], [0.35], [0.8]])
    >>> bound = AveragePrecision().statistic(truth_of([0, 0, 1, 1]), scores)
    >>> bound.all(np.ones((1, 4), dtype=np.uint8)).round(4)
    array([[0.8333]])
    """

    pos_label: Any = None
    responses: tuple[Response, ...] = (Response.DECISION, Response.PROBABILITIES)
    is_of_other_class: bool = field(default=False, repr=False, compare=False)
    title = "Average precision"
    definition = "The area under the curve of precision over recall."
    function_name = "average_precision_score"
    greater_is_better = True
    tasks = frozenset({TaskKind.BINARY, TaskKind.MULTICLASS})
    range = (0.0, 1.0)
    needs = Needs.POSITIVE
    undefined_without = Needs.EVERY_OF_SEVERAL

    @property
    def name(self) -> str:
        return name_with("average_precision", self, *(["pos_label"] if self.is_of_other_class else []))

    def for_truth(self, truth: Truth) -> AveragePrecision:
        code = positive_of(self, truth)
        return (
            self
            if code == truth.positive
            else replace(self, pos_label=truth.label_of(code), is_of_other_class=True)
        )

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> Statistic:
        scores = np.asarray(predictions, dtype=np.float64)
        if truth.kind is TaskKind.MULTICLASS:
            found = range(truth.n_classes)
            return MeanOfParts([_precision(scores[:, :, code], truth.values == code) for code in found])
        code = positive_of(self, truth)
        # Scores point to the task's positive class; the other one is found by their reverse.
        return _precision(scores if code == truth.positive else -scores, truth.values == code)


def _precision(scores: Floats, positive: NDArray[np.bool_]) -> MeanPrecision:
    return MeanPrecision(PrecisionSums(scores, positive))
