"""Metrics of how well scores rank the rows: areas under the ROC and the precision-recall curve.

An area is a share of pairs (Mann-Whitney), with ties counted half, so it is a ratio of whole numbers under
bootstrap counts. Of several classes, each (one-vs-rest) or each ordered pair (one-vs-one) has an area, and
the metric is their plain or weighted mean.

Bounds of two-part methods, and the least width of an interval, are those of a share of rows or of pairs.
``reading_of`` says which metrics are such a share but for sign and origin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial, reduce
from itertools import permutations
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from heldout._types import Array, Booleans, Counts, Floats, Indices, Weightings
from heldout.data.checks import check_number
from heldout.data.task import TaskKind, Truth
from heldout.kernels.dispatch import (
    AreaWithin,
    PrecisionSums,
    RankSums,
    SensitivityWithin,
    best_out_of_bag,
    weight_of,
)
from heldout.metrics.base import (
    Derived,
    Metric,
    Needs,
    OfOneClass,
    PairBased,
    PairStatistic,
    Response,
    Selected,
    Signed,
    Statistic,
    Sums,
    check_among,
    positive_of,
)
from heldout.metrics.classification import Accuracy, ZeroOneLoss


@dataclass(frozen=True, eq=False)
class PairsWithin:
    """The weight of the pairs of a positive and a negative row of one fold.

    Examples
    --------
    >>> positive = np.array([True, True, False, False, False])
    >>> pairs = PairsWithin.of(positive, ~positive, np.array([0, 1, 1, 1, 2]))
    >>> pairs.weight(np.array([[1, 1, 1, 1, 1], [1, 2, 3, 0, 1]], dtype=np.uint8)).tolist()
    [2.0, 6.0]
    """

    # positive, negative: rows of the folds that hold both, fold by fold
    positive: Indices
    negative: Indices
    # positive_starts, negative_starts: where each of these folds begins in them
    positive_starts: Indices
    negative_starts: Indices

    @staticmethod
    def of(positive: Booleans, negative: Booleans, folds: Indices) -> PairsWithin:
        """From flags and folds (n,) of the rows."""
        both = np.isin(folds, np.intersect1d(folds[positive], folds[negative]))
        rows = [np.flatnonzero(flags & both) for flags in (positive, negative)]
        rows = [members[np.argsort(folds[members], kind="stable")] for members in rows]
        return PairsWithin(*rows, *(np.unique(folds[members], return_index=True)[1] for members in rows))

    def weight(self, counts: Weightings) -> Floats:
        """(L,)."""
        if not self.positive.size:
            return np.zeros(len(counts))
        weights = self.weights(counts)
        total: Floats = weights.sum(axis=1) if counts.dtype == np.uint8 else np.cumsum(weights, axis=1)[:, -1]
        return total

    def weights(self, counts: Weightings) -> Floats:
        """(L, folds): of each fold that holds both."""
        upper = np.take(counts, self.positive, axis=1).astype(np.float64)
        lower = np.take(counts, self.negative, axis=1).astype(np.float64)
        weights: Floats = np.add.reduceat(upper, self.positive_starts, axis=1)
        weights *= np.add.reduceat(lower, self.negative_starts, axis=1)
        return weights


ClassAverage = Literal["macro", "weighted"]


@dataclass(frozen=True, eq=False)
class PairShare:
    """The share of the weight of pairs that is ordered right, ties half, of every column; a ``Statistic``."""

    sums: Sums  # twice the weight of the pairs ordered right, ties once
    pairs: Callable[[Weightings], Floats]  # (L,): twice the weight of all pairs

    def all(self, counts: Weightings) -> Floats:
        return _share(self.sums.all(counts), self.pairs(counts)[:, None])

    def selected(self, counts: Weightings, columns: Indices) -> Floats:
        return _share(self.sums.selected(counts, columns), self.pairs(counts))

    def defined(self, counts: Weightings) -> Booleans:
        """(L,): whether there is a pair."""
        return np.asarray(self.pairs(counts) > 0)


@dataclass(frozen=True, eq=False)
class ExactPairShare(PairShare):
    """A share of whole numbers, so that the greatest sum is the greatest share; with the fused path."""

    def best_out_of_bag(self, counts: Counts) -> Selected:
        columns, sums = best_out_of_bag(self.sums, counts, greatest=True)
        left_out = (counts == 0).view(np.uint8)
        return Selected(columns, _share(sums, self.pairs(left_out)))


def area(scores: Array, positive: Booleans, negative: Booleans, folds: Indices | None = None) -> ExactPairShare:
    """The area of scores (n, C), greater = more positive; with ``folds`` (n,) only rows of one fold are pairs."""
    sums = RankSums(np.asarray(scores, dtype=np.float64), positive, negative, folds)
    within = None if folds is None else PairsWithin.of(positive, negative, folds)

    def pairs(counts: Weightings) -> Floats:
        if within is not None:
            return 2.0 * within.weight(counts)
        return 2.0 * weight_of(counts, positive) * weight_of(counts, negative)

    return ExactPairShare(sums, pairs)


def _share(sums: Array, pairs: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        share: Floats = sums / pairs
    return np.minimum(share, 1.0)  # sums of real weights round, and all of them may be a little more than all


@dataclass(frozen=True, eq=False)
class MeanOfParts:
    """The mean of statistics, weighted by the rows that each is about; a ``Statistic``."""

    parts: Sequence[Statistic]
    # (n,): rows whose weight is the weight of a part; plain mean when None
    rows: Sequence[Booleans] | None = None
    absent_counts: bool = True  # whether a part without weight still spoils the mean where it is NaN

    def all(self, counts: Weightings) -> Floats:
        return self._mean(counts, [part.all(counts) for part in self.parts])

    def selected(self, counts: Weightings, columns: Indices) -> Floats:
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
            number = value if self.absent_counts else np.where(weight > 0, value, 0.0)
            total += weight * number
            weights += weight
        return _share(total, weights)


@dataclass(frozen=True, eq=False)
class MeanOfAreas(MeanOfParts):
    """... of areas, which all must have pairs."""

    parts: Sequence[PairShare]

    def defined(self, counts: Weightings) -> Booleans:
        """(L,): whether every area has a pair."""
        return np.asarray(np.logical_and.reduce([part.defined(counts) for part in self.parts]))


@dataclass(frozen=True)
class RocAuc(PairBased):
    """Area under the ROC curve of a binary task: the share of pairs that the scores order right; ties count half.

    It equals scikit-learn's ``roc_auc_score``; NaN if one class has no weight. A constant predictor has .5.

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
    needs = undefined_without = Needs.EVERY_CLASS
    mean_within_classes = True
    responses: tuple[Response, ...] = (Response.DECISION, Response.PROBABILITIES)

    def statistic_within(self, truth: Truth, predictions: Array, folds: Indices | None) -> ExactPairShare:
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
    _variants = ((), ("weighted",))
    greater_is_better = True
    responses = (Response.PROBABILITIES,)
    tasks = frozenset({TaskKind.BINARY, TaskKind.MULTICLASS})
    range = (0.0, 1.0)
    needs = undefined_without = Needs.EVERY_CLASS

    def __post_init__(self) -> None:
        check_among("average", self.average, get_args(ClassAverage))

    @property
    def name(self) -> str:
        return self.stem if self.average == "macro" else f"{self.stem}_{self.average}"

    def statistic_within(self, truth: Truth, predictions: Array, folds: Indices | None) -> PairStatistic:
        """The pairs of each area are summed over the folds first; then the areas are averaged."""
        if truth.kind is TaskKind.BINARY:
            return RocAuc().statistic_within(truth, predictions, folds)
        return self._mean(truth, predictions, folds)

    def _mean(self, truth: Truth, predictions: Array, folds: Indices | None) -> MeanOfAreas:
        raise NotImplementedError


@dataclass(frozen=True)
class RocAucOneVsRest(RocAucOfClasses):
    """Mean over classes of the area for that class against all others (scikit-learn's ``multi_class="ovr"``).

    For a binary task it is the plain area, as in scikit-learn.

    Attributes
    ----------
    average : "macro" or "weighted"
        The plain mean, or the mean by the weight of the class.

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
    stem = "roc_auc_ovr"

    def _mean(self, truth: Truth, predictions: Array, folds: Indices | None) -> MeanOfAreas:
        members = [truth.values == code for code in range(truth.n_classes)]
        parts = [area(predictions[:, :, code], rows, ~rows, folds) for code, rows in enumerate(members)]
        # scikit-learn leaves a class of weight 0 out of a weighted mean.
        return MeanOfAreas(parts, members if self.average == "weighted" else None, absent_counts=False)


@dataclass(frozen=True)
class RocAucOneVsOne(RocAucOfClasses):
    """Mean over pairs of classes of the area for one against the other (Hand & Till 2001, eq. 7).

    For a pair it is the mean of two areas, one by the probability of each class. It equals scikit-learn's
    ``multi_class="ovo"`` on rows repeated by their counts.

    Attributes
    ----------
    average : "macro" or "weighted"
        The plain mean, or the mean by the weight of the two classes together.

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
    stem = "roc_auc_ovo"

    def _mean(self, truth: Truth, predictions: Array, folds: Indices | None) -> MeanOfAreas:
        members = [truth.values == code for code in range(truth.n_classes)]
        pairs = list(permutations(range(truth.n_classes), 2))
        parts = [area(predictions[:, :, one], members[one], members[other], folds) for one, other in pairs]
        weighted = self.average == "weighted"
        return MeanOfAreas(parts, [members[a] | members[b] for a, b in pairs] if weighted else None)


def _zero_without_positives(values: Floats, weight: Floats) -> Floats:
    """What scikit-learn returns for rows without a positive one; NaN where there are no rows."""
    return np.where(np.isnan(values) & (weight > 0), 0.0, values)


@dataclass(frozen=True)
class AveragePrecision(OfOneClass):
    """Average precision: the mean of precision over thresholds, weighted by the gain in recall.

    It equals scikit-learn's ``average_precision_score``; for several classes it is the plain mean of each against
    the rest.

    Attributes
    ----------
    pos_label : label, optional
        The class to find; by default the task's positive class. For two classes only.

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
    stem = "average_precision"
    title = "Average precision"
    definition = "The area under the curve of precision over recall."
    function_name = "average_precision_score"
    greater_is_better = True
    tasks = frozenset({TaskKind.BINARY, TaskKind.MULTICLASS})
    range = (0.0, 1.0)
    needs = Needs.POSITIVE
    undefined_without = Needs.EVERY_OF_SEVERAL

    def statistic(self, truth: Truth, predictions: Array) -> Statistic:
        scores = np.asarray(predictions, dtype=np.float64)
        if truth.kind is TaskKind.MULTICLASS:
            codes = range(truth.n_classes)
            return MeanOfParts([_precision(scores[:, :, code], truth.values == code) for code in codes])
        code = positive_of(self, truth)
        # Scores point to the task's positive class; the other one is found by their reverse.
        return _precision(scores if code == truth.positive else -scores, truth.values == code)


def _precision(scores: Floats, positive: Booleans) -> Derived:
    return Derived(PrecisionSums(scores, positive), _zero_without_positives)


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


@dataclass(frozen=True)
class SensitivityAtSpecificity(Metric):
    """The largest sensitivity of any threshold at which the specificity is at least the one given.

    Rows whose score is at least the threshold are positive, so that tied rows go together. In scikit-learn's terms,
    it is the largest ``tpr`` of ``roc_curve(..., drop_intermediate=False)`` with ``fpr <= 1 - specificity``, up to
    rounding of 1e-12: one false alarm among ten negative rows has a specificity of .9. The threshold is chosen anew
    on the scored rows; the value is 0 if only a threshold above all scores is specific enough.

    Attributes
    ----------
    specificity : float
        From 0 to 1.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> scores = np.array([[0.1], [0.3], [0.5], [0.4], [0.6]])
    >>> bound = SensitivityAtSpecificity(0.6).statistic(truth_of([0, 0, 0, 1, 1]), scores)
    >>> bound.all(np.ones((1, 5), dtype=np.uint8))
    array([[1.]])
    """

    specificity: float = 0.9
    responses: tuple[Response, ...] = (Response.DECISION, Response.PROBABILITIES)
    title = "Sensitivity at a fixed specificity"
    definition = (
        "The share of the positive class that is found at the lowest threshold with few enough false alarms."
    )
    greater_is_better = True
    tasks = frozenset({TaskKind.BINARY})
    range = (0.0, 1.0)
    needs = undefined_without = Needs.EVERY_CLASS

    def __post_init__(self) -> None:
        check_number("specificity", self.specificity, least=0, most=1, usual=".9 is usual")

    stem = "sensitivity_at_specificity"

    def statistic(self, truth: Truth, predictions: Array) -> Sums:
        scores = np.asarray(predictions, dtype=np.float64)
        return SensitivityWithin(scores, truth.values == truth.positive, 1 - self.specificity)


@dataclass(frozen=True)
class PartialRocAuc(PairBased):
    """The area under the ROC curve up to a false positive rate of ``max_fpr``, standardised.

    By McClish (1989, eq. 7) it is .5 for random scores and 1 for perfect ones. It equals scikit-learn's
    ``roc_auc_score(..., max_fpr=max_fpr)``.

    Attributes
    ----------
    max_fpr : float
        Above 0, at most 1.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> scores = np.array([[0.1, 1.0], [0.4, 1.0], [0.4, 1.0], [0.8, 1.0]])
    >>> bound = PartialRocAuc(0.5).statistic(truth_of([0, 0, 1, 1]), scores)
    >>> bound.all(np.ones((1, 4), dtype=np.uint8)).round(4)
    array([[0.8333, 0.5   ]])
    """

    max_fpr: float = 0.1
    responses: tuple[Response, ...] = (Response.DECISION, Response.PROBABILITIES)
    sources = ("mcclish1989",)
    title = "Partial ROC AUC"
    definition = (
        "The area under the beginning of the ROC curve, where false alarms are few, standardised: 0.5 is guessing."
    )
    greater_is_better = True
    tasks = frozenset({TaskKind.BINARY})
    needs = undefined_without = Needs.EVERY_CLASS

    def __post_init__(self) -> None:
        check_number("max_fpr", self.max_fpr, above=0, most=1, usual=".1 is usual")

    stem = "partial_roc_auc"

    @property
    def range(self) -> tuple[float, float]:
        return (float(_standardized(self.max_fpr, 0.0)), 1.0)

    def statistic(self, truth: Truth, predictions: Array) -> Derived:
        return self._area(np.asarray(predictions, dtype=np.float64), truth.values == truth.positive)

    @property
    def share_of_pairs(self) -> PairBased:
        return RocAuc(self.responses)

    def statistic_within(self, truth: Truth, predictions: Array, folds: Indices | None) -> _OfFolds:
        """The area of each fold, weighted by its pairs."""
        assert folds is not None, "all pairs have a statistic of their own"
        scores, positive = np.asarray(predictions, dtype=np.float64), truth.values == truth.positive
        pairs = PairsWithin.of(positive, ~positive, folds)
        parts = []
        for fold in np.unique(folds[pairs.positive]):
            rows = np.flatnonzero(folds == fold)
            parts.append((rows, self._area(scores[rows], positive[rows])))
        return _OfFolds(pairs, tuple(parts), scores.shape[1])

    def _area(self, scores: Floats, positive: Booleans) -> Derived:
        return Derived(AreaWithin(scores, positive, self.max_fpr), partial(_standardized, self.max_fpr))


@dataclass(frozen=True, eq=False)
class _OfFolds:
    """The mean of folds' values, weighted by the pairs in each; a ``PairStatistic``."""

    pairs: PairsWithin
    parts: tuple[tuple[Indices, Sums], ...]  # of each fold with pairs its rows and its statistic
    n_columns: int

    def all(self, counts: Weightings) -> Floats:
        values = [part.all(np.take(counts, rows, axis=1)) for rows, part in self.parts]
        return self._mean(counts, values, self.n_columns)

    def selected(self, counts: Weightings, columns: Indices) -> Floats:
        values = [part.selected(np.take(counts, rows, axis=1), columns)[:, None] for rows, part in self.parts]
        return self._mean(counts, values, 1)[:, 0]

    def defined(self, counts: Weightings) -> Booleans:
        return np.asarray(self.pairs.weight(counts) > 0)

    def _mean(self, counts: Weightings, values: list[Floats], n_columns: int) -> Floats:
        if not values:
            return np.full((len(counts), n_columns), np.nan)
        total, weight = np.zeros((len(counts), n_columns)), np.zeros((len(counts), 1))
        for value, pairs in zip(values, self.pairs.weights(counts).T[:, :, None], strict=True):
            total += np.where(pairs > 0, pairs * value, 0.0)
            weight += pairs
        with np.errstate(invalid="ignore"):
            mean: Floats = total / weight
        return mean


def _standardized(max_fpr: float, area: Any, weight: Any = None) -> Any:
    """A partial area, or an array of them, as .5 where it is that of chance and 1 where it is all there is."""
    of_chance = 0.5 * max_fpr**2
    return np.minimum(0.5 * (1.0 + (area - of_chance) / (max_fpr - of_chance)), 1.0)  # real weights round
