"""Metrics of predicted labels and of predicted probabilities; those of rankings are in ``ranking``.

Most metrics of labels are functions of the confusion matrix. For bootstrap counts only the *errors* are summed
(there are few) and hits are what is left of a class, in exact integers. For real weights that subtraction would
leave crumbs where the truth is zero (and 0/0 would become a number), so hits are summed themselves.

Cohen's kappa is how far labels agree beyond what two label columns of the same shares would by chance: one minus
the penalty of the disagreements over the penalty expected if predictions were shuffled. A disagreement of classes
i and j costs 1, or their distance on an ordered scale, or the square of that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np

from heldout._types import Array, Booleans, Codes, Floats, Indices, Weightings
from heldout.data.checks import check_number
from heldout.data.task import TaskKind, Truth
from heldout.kernels.dispatch import CellSums, LossSums, total_weight
from heldout.kernels.reference import class_weights
from heldout.metrics.base import (
    Metric,
    Needs,
    OfOneClass,
    Response,
    Sums,
    check_among,
    checked_probabilities,
    positive_of,
)
from heldout.metrics.row_losses import Finish, OfRowLosses, most_drawn, one_cell

LANES_AT_ONCE = 16


@dataclass(frozen=True, eq=False)
class ConfusionCells:
    """What L weightings give each of K classes, in D columns (all C of them, or the one selected)."""

    support: Floats  # (K, L, 1): weight of the rows that are of the class
    # missed, wrongly_found (L, D, K): weight of the rows of the class that are predicted to be of another, and the
    # reverse
    missed: Array
    wrongly_found: Array
    # (L, D, K): weight of the rows of the class that are predicted to be; what is left of the support when None
    found: Array | None
    # (K, 1 or L, D): whether the class occurs among the bound rows' labels or the column's predictions, drawn or
    # not
    occurs: Booleans

    @property
    def n_classes(self) -> int:
        return len(self.support)

    def lanes(self, first: int, last: int) -> ConfusionCells:
        """Of the weightings ``first .. last - 1``."""
        few = slice(first, last)
        hits = None if self.found is None else self.found[few]
        occurs = self.occurs if self.occurs.shape[1] == 1 else self.occurs[:, few]
        return ConfusionCells(self.support[:, few], self.missed[few], self.wrongly_found[few], hits, occurs)

    def hits(self, code: int) -> Floats:
        """(L, D)."""
        if self.found is None:
            return self.support[code] - self.missed[..., code].astype(np.float64)
        return self.found[..., code].astype(np.float64)

    def false_alarms(self, code: int) -> Floats:
        """(L, D)."""
        return self.wrongly_found[..., code].astype(np.float64)

    def of_class(self, code: int) -> ClassCells:
        return ClassCells(self.hits(code), self.false_alarms(code), self.support[code])

    def of_all(self) -> ClassCells:
        """Of all classes together."""
        classes = [self.of_class(code) for code in range(self.n_classes)]
        hits = np.sum([cells.hits for cells in classes], axis=0)
        false_alarms = np.sum([cells.false_alarms for cells in classes], axis=0)
        return ClassCells(hits, false_alarms, self.support.sum(axis=0))


class ClassCells(NamedTuple):
    """What a score of one class is made of: hits and false alarms (L, D), support (L, 1)."""

    hits: Floats
    false_alarms: Floats
    support: Floats


class Confusion:
    """Confusion matrices of C columns of predicted class codes, asked for by class.

    Parameters
    ----------
    truth : Truth of n rows
    labels : ndarray of int, shape (n, C)
    """

    def __init__(self, truth: Truth, labels: Array) -> None:
        self._codes, self._n_classes = truth.values, truth.n_classes
        self._labels = labels.astype(np.int32)
        self._wrong = self._labels != self._codes[:, None]
        classes = np.arange(self._n_classes)
        true = (self._codes[:, None] == classes).any(axis=0)
        self._occurs = np.stack([true[k] | (self._labels == k).any(axis=0) for k in classes])

    def all(self, counts: Weightings) -> ConfusionCells:
        """Every column."""
        return self._cells(counts, lambda sums: sums.all(counts), self._occurs[:, None, :])

    def selected(self, counts: Weightings, columns: Indices) -> ConfusionCells:
        """One column a weighting (D = 1)."""
        occurs = self._occurs[:, columns][:, :, None]
        return self._cells(counts, lambda sums: sums.selected(counts, columns)[:, None], occurs)

    def _cells(self, counts: Weightings, ask: Callable[[Sums], Array], occurs: Booleans) -> ConfusionCells:
        missed = ask(self._missed)
        # Of two classes, a miss of one is a false alarm of the other.
        wrongly_found = missed[..., ::-1] if self._n_classes == 2 else ask(self._wrongly_found)
        # Counts are exact, so hits are what is left of a class; real weights would leave crumbs where nothing is.
        hits = None if counts.dtype == np.uint8 else ask(self._found)
        support = class_weights(counts, self._codes, self._n_classes)[:, :, None]
        return ConfusionCells(support, missed, wrongly_found, hits, occurs)

    @cached_property
    def _missed(self) -> Sums:
        return self._sums(np.where(self._wrong, self._codes[:, None], -1))

    @cached_property
    def _wrongly_found(self) -> Sums:
        return self._sums(np.where(self._wrong, self._labels, -1))

    @cached_property
    def _found(self) -> Sums:
        return self._sums(np.where(self._wrong, -1, self._codes[:, None]))

    def _sums(self, cells: Array) -> Sums:
        return CellSums(cells.astype(np.int32), self._n_classes)


@dataclass(frozen=True, eq=False)
class ConfusionStatistic:
    """A function of the cells, bound to rows; a ``Statistic``."""

    confusion: Confusion
    value: Callable[[ConfusionCells], Floats]

    def all(self, counts: Weightings) -> Floats:
        cells = self.confusion.all(counts)
        values = np.empty(cells.missed.shape[:2])
        # A few weightings at a time: what lies between the cells and the value stays in the cache.
        for first in range(0, len(counts), LANES_AT_ONCE):
            last = first + LANES_AT_ONCE
            values[first:last] = self._value(cells.lanes(first, last))
        return values

    def selected(self, counts: Weightings, columns: Indices) -> Floats:
        return self._value(self.confusion.selected(counts, columns))[:, 0]

    def _value(self, cells: ConfusionCells) -> Floats:
        return np.clip(self.value(cells), -1.0, 1.0)  # roots and real weights round beyond the ends


def ratio(above: Floats, below: Floats) -> Floats:
    """``above / below``, and 0 where both are 0, which is what scikit-learn returns there."""
    with np.errstate(invalid="ignore", divide="ignore"):
        value: Floats = above / below
    empty = below == 0
    return np.where(empty, 0.0, value) if empty.any() else value


def mean_recall(cells: ConfusionCells) -> Floats:
    """(L, D): the mean share of hits over the classes that have weight."""
    total = ratio(cells.hits(0), cells.support[0])
    for code in range(1, cells.n_classes):
        total += ratio(cells.hits(code), cells.support[code])
    with np.errstate(invalid="ignore"):
        # The number of classes with weight under each weighting: a bootstrap may lack one.
        mean: Floats = total / (cells.support > 0).sum(axis=0)
    return mean


def matthews(cells: ConfusionCells) -> Floats:
    """(L, D): the correlation of two label columns (Gorodkin 2004, eq. 8), 0 where one is constant.

    For two classes ``(TP TN - FP FN) / sqrt(P N (TP + FP) (TN + FN))``.
    """
    covariance, predicted_spread, true_spread = (
        _matthews_parts_of_two(cells) if cells.n_classes == 2 else _matthews_parts(cells)
    )
    # Two roots, not the root of a product: the product of four weights overflows first.
    return ratio(covariance, np.sqrt(predicted_spread) * np.sqrt(true_spread))


def _matthews_parts_of_two(cells: ConfusionCells) -> tuple[Floats, Floats, Floats]:
    negative, positive = cells.of_class(0), cells.of_class(1)
    covariance = positive.hits * negative.hits - positive.false_alarms * negative.false_alarms
    predicted = (positive.hits + positive.false_alarms) * (negative.hits + negative.false_alarms)
    return covariance, predicted, positive.support * negative.support


def _matthews_parts(cells: ConfusionCells) -> tuple[Floats, Floats, Floats]:
    classes = [cells.of_class(code) for code in range(cells.n_classes)]
    predicted = [part.hits + part.false_alarms for part in classes]
    all_rows, all_true = np.sum(predicted, axis=0), cells.support.sum(axis=0)
    covariance = all_rows * np.sum([part.hits for part in classes], axis=0)
    predicted_spread, true_spread = np.zeros_like(covariance), np.zeros_like(all_true)
    for part, weight in zip(classes, predicted, strict=True):
        covariance -= part.support * weight
        predicted_spread += weight * (all_rows - weight)
        true_spread += part.support * (all_true - part.support)
    return covariance, predicted_spread, true_spread


_CLASSES: frozenset[TaskKind] = frozenset({TaskKind.BINARY, TaskKind.MULTICLASS})

LabelAverage = Literal["binary", "macro", "micro", "weighted"]


class OfLabels(Metric):
    """A metric of predicted labels: a score from 0 to 1, if its class says nothing else."""

    greater_is_better = True
    responses = (Response.LABELS,)
    range: tuple[float, float] = (0.0, 1.0)

    @property
    def tasks(self) -> frozenset[TaskKind]:
        return _CLASSES


class OfConfusion(OfLabels):
    """A metric that is a function of the confusion matrix: ``formula``."""

    formula: Callable[[ConfusionCells], Floats]

    def statistic(self, truth: Truth, predictions: Array) -> ConfusionStatistic:
        return ConfusionStatistic(Confusion(truth, predictions), self.formula)


class OfWrongRows(OfLabels, OfRowLosses):
    """A metric of the share of rows that are predicted wrong."""

    def losses(self, truth: Truth, predictions: Array) -> Booleans:
        return np.asarray(predictions != truth.values[:, None])


class OfClassProbabilities(OfRowLosses):
    """A mean loss of predicted probabilities."""

    greater_is_better = False
    responses = (Response.PROBABILITIES,)
    tasks = _CLASSES


@dataclass(frozen=True)
class Accuracy(OfWrongRows):
    """Accuracy: the share of rows whose label is predicted right.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> bound = Accuracy().statistic(truth_of(["a", "b", "b"]), np.array([[0], [1], [0]]))
    >>> bound.all(np.array([[1, 1, 1], [2, 2, 0]], dtype=np.uint8)).round(3)
    array([[0.667],
           [1.   ]])
    """

    name = "accuracy"
    title = "Accuracy"
    definition = "The share of rows whose class was predicted."
    function_name = "accuracy_score"
    finish = Finish.COMPLEMENT


@dataclass(frozen=True)
class ZeroOneLoss(OfWrongRows):
    """Zero-one loss: the share of rows whose label is predicted wrong.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> bound = ZeroOneLoss().statistic(truth_of(['a', 'b', 'b', 'b']), np.array([[0], [1], [0], [1]]))
    >>> bound.all(np.ones((1, 4), dtype=np.uint8)).round(4)
    array([[0.25]])
    """

    name = "zero_one_loss"
    greater_is_better = False


@dataclass(frozen=True)
class BalancedAccuracy(OfConfusion):
    """Balanced accuracy: the share of rows predicted right in each class that has rows, averaged over classes.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> bound = BalancedAccuracy().statistic(truth_of([0, 0, 0, 1]), np.array([[0], [0], [1], [1]]))
    >>> bound.all(np.ones((1, 4), dtype=np.uint8)).round(4)
    array([[0.8333]])
    """

    name = "balanced_accuracy"
    title = "Balanced accuracy"
    definition = "The mean, over the classes, of the share of rows predicted right."
    function_name = "balanced_accuracy_score"
    needs = Needs.EVERY_CLASS
    mean_within_classes = True
    formula = staticmethod(mean_recall)


@dataclass(frozen=True)
class MatthewsCorrelation(OfConfusion):
    """Matthews' correlation of true and predicted labels; 0 if one of them is constant.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> bound = MatthewsCorrelation().statistic(truth_of([0, 0, 1, 1]), np.array([[0], [1], [1], [1]]))
    >>> bound.all(np.ones((1, 4), dtype=np.uint8)).round(4)
    array([[0.5774]])
    """

    name = "matthews_corrcoef"
    title = "Matthews correlation"
    definition = "The correlation of true and predicted classes: 0 is chance."
    range = (-1.0, 1.0)
    needs = Needs.EVERY_CLASS
    formula = staticmethod(matthews)


@dataclass(frozen=True)
class ClassScore(OfLabels, OfOneClass):
    """Base class of scores of one class, or averaged over classes: F, precision and recall.

    Attributes
    ----------
    average : "binary", "macro", "micro" or "weighted"
        "binary": the positive class alone. "macro": the plain mean over the labels that occur. "micro": the counts
        of all classes together. "weighted": the mean by the weight of each class.
    pos_label : label, optional
        With "binary", the class to find; by default the task's positive class.
    """

    average: LabelAverage = "binary"
    pos_label: Any = None
    is_of_other_class: bool = field(default=False, kw_only=True, repr=False, compare=False)
    _variants = (("binary",), ("macro",), ("micro",), ("weighted",))

    def __post_init__(self) -> None:
        check_among("average", self.average, get_args(LabelAverage))

    @property
    def function_name(self) -> str:
        return f"{self.stem}_score" if self.average == "binary" else ""

    @property
    def name(self) -> str:
        return super().name if self.average == "binary" else f"{self.stem}_{self.average}"

    @property
    def tasks(self) -> frozenset[TaskKind]:
        return frozenset({TaskKind.BINARY}) if self.average == "binary" else _CLASSES

    @property
    def needs(self) -> Needs:
        of_average = {"binary": Needs.POSITIVE, "micro": Needs.ROW}
        return of_average.get(self.average, Needs.EVERY_CLASS)

    def for_truth(self, truth: Truth) -> Self:
        return super().for_truth(truth) if self.average == "binary" else self

    def statistic(self, truth: Truth, predictions: Array) -> ConfusionStatistic:
        code = positive_of(self, truth) if self.average == "binary" else None
        return ConfusionStatistic(Confusion(truth, predictions), lambda cells: self._averaged(cells, code))

    def _averaged(self, cells: ConfusionCells, code: int | None) -> Floats:
        """(L, D)."""
        match self.average:
            case "binary":
                assert code is not None, "a binary task has a positive class"
                return self._of(cells.of_class(code))
            case "micro":
                return self._of(cells.of_all())
            case "macro":
                # As scikit-learn: a class that is neither in the truth nor predicted is left out of the mean.
                weights = cells.occurs.astype(np.float64)
            case "weighted":
                weights = cells.support
        total = np.zeros(cells.missed.shape[:2])
        for k in range(cells.n_classes):
            total += weights[k] * self._of(cells.of_class(k))
        return ratio(total, weights.sum(axis=0))

    def _of(self, cells: ClassCells) -> Floats:
        raise NotImplementedError


@dataclass(frozen=True)
class FScore(ClassScore):
    """F score: the weighted harmonic mean of precision and recall; F1 by default, 0 if it is 0/0.

    ``(1 + beta²) TP / (beta² (TP + FN) + TP + FP)``, as scikit-learn's ``fbeta_score`` with the same ``average``.
    ``pos_label`` is by default the task's positive class.

    Attributes
    ----------
    beta : float
        How many times as much recall counts as precision.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> bound = FScore().statistic(truth_of([0, 1, 1, 1]), np.array([[1], [1], [1], [0]]))
    >>> bound.all(np.ones((1, 4), dtype=np.uint8)).round(4)
    array([[0.6667]])
    """

    beta: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("beta", self.beta, least=0, usual="1 and 2 are usual")

    @property
    def title(self) -> str:
        if self.name in ("f1", "f1_macro"):
            return "F1" if self.average == "binary" else "F1, macro"
        return super().title

    @property
    def definition(self) -> str:
        of = {"f1": "for the positive class", "f1_macro": "averaged over the classes"}.get(self.name)
        comma = "," if self.average == "macro" else ""
        return f"The harmonic mean of precision and recall{comma} {of}." if of else ""

    @property
    def stem(self) -> str:
        return f"f{self.beta:g}"

    def _of(self, cells: ClassCells) -> Floats:
        square = self.beta**2
        return ratio((1 + square) * cells.hits, square * cells.support + (cells.hits + cells.false_alarms))


@dataclass(frozen=True)
class Precision(ClassScore):
    """Precision: of the rows predicted as a class, the share that belong to it; 0 if none is predicted.

    It equals scikit-learn's ``precision_score`` with the same ``average``. ``pos_label`` is by default the task's
    positive class.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> bound = Precision().statistic(truth_of([0, 1, 1, 1]), np.array([[1], [1], [1], [0]]))
    >>> bound.all(np.ones((1, 4), dtype=np.uint8)).round(4)
    array([[0.6667]])
    """

    stem = "precision"

    def _of(self, cells: ClassCells) -> Floats:
        return ratio(cells.hits, cells.hits + cells.false_alarms)


@dataclass(frozen=True)
class Recall(ClassScore):
    """Recall: of the rows of a class, the share predicted as it; 0 if there is none.

    It equals scikit-learn's ``recall_score`` with the same ``average``. ``pos_label`` is by default the task's
    positive class.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> bound = Recall().statistic(truth_of([0, 1, 1, 1, 1]), np.array([[1], [1], [1], [1], [0]]))
    >>> bound.all(np.ones((1, 5), dtype=np.uint8)).round(4)
    array([[0.75]])
    """

    stem = "recall"

    def _of(self, cells: ClassCells) -> Floats:
        return ratio(cells.hits, cells.support)


@dataclass(frozen=True)
class LogLoss(OfClassProbabilities):
    """Log loss: the mean of -log of the predicted probability of the true class.

    Probabilities are clipped to [eps, 1 - eps] of float64, about 2.2e-16, as in scikit-learn; otherwise they are
    not changed, even if those of a row do not sum to 1.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> bound = LogLoss().statistic(truth_of([0, 1]), np.array([[0.5, 0.0], [0.5, 1.0]]))
    >>> bound.all(np.ones((1, 2), dtype=np.uint8)).round(4)
    array([[0.6931, 0.    ]])
    """

    name = "log_loss"
    title = "Log loss"
    definition = "The mean of minus the logarithm of the probability that was predicted for the true class."
    range = (0.0, np.inf)
    undefined_without = Needs.EVERY_CLASS

    def losses(self, truth: Truth, predictions: Array) -> Floats:
        of_truth = self._of_truth(truth, predictions)
        eps = np.finfo(np.float64).eps
        np.clip(of_truth, eps, 1 - eps, out=of_truth)  # in place, as it may be most of the memory
        np.log(of_truth, out=of_truth)
        losses: Floats = np.negative(of_truth, out=of_truth)
        return losses

    def clipped(self, truth: Truth, predictions: Array) -> Booleans:
        """(n, C): where the true class has a probability that clipping raises, so that it sets the loss."""
        below: Booleans = self._of_truth(truth, predictions) < np.finfo(np.float64).eps
        return below

    def _of_truth(self, truth: Truth, predictions: Array) -> Floats:
        """(n, C): the probability of each row's class, an array of its own."""
        given = checked_probabilities(self.name, predictions)
        if truth.kind is not TaskKind.BINARY:
            picked: Floats = given[np.arange(truth.n_rows), :, truth.values]
            return picked
        # One copy, which callers change in place: two would double the memory of the matrix.
        of_truth: Floats = 1 - given
        np.copyto(of_truth, given, where=(truth.values == truth.positive)[:, None])
        return of_truth


@dataclass(frozen=True)
class Brier(OfClassProbabilities):
    """Brier score: the mean squared distance of the probabilities from the truth (Brier 1950, eq. 2).

    Attributes
    ----------
    scale_by_half : bool or "auto"
        Whether to take half the sum over classes, so that 1 is the worst. "auto", as in scikit-learn >= 1.7, does
        so for binary tasks, where half the sum is the squared error of the positive class's probability.
    pos_label : label, optional
        One of the classes; the value is the same for either.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> bound = Brier().statistic(truth_of([0, 1]), np.array([[0.5], [1.0]]))
    >>> bound.all(np.ones((1, 2), dtype=np.uint8))
    array([[0.125]])
    """

    scale_by_half: bool | Literal["auto"] = "auto"
    pos_label: Any = None
    name = "brier_score"
    sources = ("brier1950",)
    title = "Brier score"
    definition = "The mean squared distance of predicted probabilities from what happened."
    function_name = "brier_score_loss"
    undefined_without = Needs.EVERY_OF_SEVERAL

    def __post_init__(self) -> None:
        check_among("scale_by_half", self.scale_by_half, (True, False, "auto"))

    @property
    def range(self) -> tuple[float, float]:
        return (0.0, 1.0) if self.scale_by_half is True else (0.0, 2.0)

    def for_truth(self, truth: Truth) -> Brier:
        positive_of(self, truth)
        if self.scale_by_half == "auto":
            return replace(self, scale_by_half=truth.kind is TaskKind.BINARY)
        return self

    def losses(self, truth: Truth, predictions: Array) -> Floats:
        given = checked_probabilities(self.name, predictions)
        half = self.for_truth(truth).scale_by_half
        if truth.kind is TaskKind.BINARY:
            losses: Floats = (given - (truth.values == truth.positive)[:, None]) ** 2
            return losses if half else 2 * losses
        true = truth.values[:, None] == np.arange(truth.n_classes)
        losses = ((given - true[:, None, :]) ** 2).sum(axis=2)
        return losses / 2 if half else losses


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
class CohenKappa(OfLabels):
    """Agreement of true and predicted labels beyond chance (Cohen 1960; weighted: Cohen 1968).

    1 is full agreement, 0 is chance. It equals scikit-learn's ``cohen_kappa_score(y_true, y_pred, labels=classes,
    weights=weights)``; NaN, as there, if truth and predictions are all of the same class.

    Attributes
    ----------
    weights : None, "linear" or "quadratic"
        The cost of confusing two classes: 1 (None), their distance in the order of the task's classes ("linear"),
        or its square ("quadratic").
    absent_classes : "keep" or "skip"
        Whether a class that neither occurs nor is predicted among the rows keeps its place in that order.
        scikit-learn skips it without ``labels``, so that the distance of two classes depends on which others happen
        to occur.

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
    _variants = ((), ("linear",), ("quadratic",))
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

    def statistic(self, truth: Truth, predictions: Array) -> ClassAgreement:
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

    def _places(self, truth: Truth, labels: Codes) -> Indices:
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

    codes: Codes  # (n,): the true classes
    penalties: Sums  # of the rows
    predicted: Sums  # the weight of the rows predicted to be of each class
    steps: Indices  # (C, K - 1): from each class to the next on a column's scale
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

    def selected(self, counts: Weightings, columns: Indices) -> Floats:
        observed = one_cell(self.penalties.selected(counts, columns), 1).astype(np.float64)[:, None]
        predicted = self.predicted.selected(counts, columns)[:, None]
        return self._kappa(counts, observed, predicted, self.steps[columns][:, None])[:, 0]

    def _kappa(self, counts: Weightings, observed: Floats, predicted: Array, steps: Indices) -> Floats:
        n_classes = predicted.shape[-1]
        true = class_weights(counts, self.codes, n_classes)[:, :, None]
        shares = [predicted[..., k].astype(np.float64) for k in range(n_classes)]
        expected = _penalty_by_chance(list(true), shares, steps, self.power)
        with np.errstate(invalid="ignore", divide="ignore"):
            kappa: Floats = 1.0 - observed / (expected / total_weight(counts)[:, None])
        return kappa


def _penalty_by_chance(true: list[Floats], predicted: list[Floats], steps: Indices, power: int) -> Floats:
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


def _climb(below: list[Floats], joining: Floats, step: Indices) -> None:
    """One class up: the class left joins those below, and all of them are a step further away."""
    below[0] += joining
    # The square before the distance, because it needs the distances of before.
    below[2] += step * (2 * below[1] + step * below[0])
    below[1] += step * below[0]
