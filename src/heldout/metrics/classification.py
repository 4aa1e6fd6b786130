"""Metrics of predicted labels and of predicted probabilities; those of rankings are in ``ranking``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats
from heldout.data.task import TaskKind, Truth
from heldout.errors import InputError
from heldout.metrics.base import Metric, Needs, Response, positive_of
from heldout.metrics.confusion import (
    ClassCells,
    Confusion,
    ConfusionCells,
    ConfusionStatistic,
    matthews,
    mean_recall,
    ratio,
)
from heldout.metrics.parameters import check_among, checked_probabilities, is_number, name_with
from heldout.metrics.row_losses import Finish, OfRowLosses

_LABELS: tuple[Response, ...] = (Response.LABELS,)
_PROBABILITIES: tuple[Response, ...] = (Response.PROBABILITIES,)
_CLASSES: frozenset[TaskKind] = frozenset({TaskKind.BINARY, TaskKind.MULTICLASS})
_BINARY: frozenset[TaskKind] = frozenset({TaskKind.BINARY})
_UNIT: tuple[float, float] = (0.0, 1.0)

LabelAverage = Literal["binary", "macro", "micro", "weighted"]


@dataclass(frozen=True)
class Accuracy(OfRowLosses):
    """Share of rows whose label is predicted right.

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
    greater_is_better = True
    responses = _LABELS
    tasks = _CLASSES
    range = _UNIT
    finish = Finish.COMPLEMENT

    def losses(self, truth: Truth, predictions: NDArray[Any]) -> NDArray[np.bool_]:
        return _wrong(truth, predictions)


@dataclass(frozen=True)
class ZeroOneLoss(OfRowLosses):
    """Share of rows whose label is predicted wrong.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> bound = ZeroOneLoss().statistic(truth_of(['a', 'b', 'b', 'b']), np.array([[0], [1], [0], [1]]))
    >>> bound.all(np.ones((1, 4), dtype=np.uint8)).round(4)
    array([[0.25]])
    """

    name = "zero_one_loss"
    greater_is_better = False
    responses = _LABELS
    tasks = _CLASSES
    range = _UNIT

    def losses(self, truth: Truth, predictions: NDArray[Any]) -> NDArray[np.bool_]:
        return _wrong(truth, predictions)


def _wrong(truth: Truth, predictions: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(predictions != truth.values[:, None])


@dataclass(frozen=True)
class BalancedAccuracy(Metric):
    """Mean over classes of the share of its rows predicted right, over the classes that have rows.

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
    greater_is_better = True
    responses = _LABELS
    tasks = _CLASSES
    range = _UNIT
    needs = Needs.EVERY_CLASS
    mean_within_classes = True

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> ConfusionStatistic:
        return ConfusionStatistic(Confusion(truth, predictions), mean_recall)


@dataclass(frozen=True)
class MatthewsCorrelation(Metric):
    """Matthews' correlation of true and predicted labels; 0 where one of them is constant.

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
    greater_is_better = True
    responses = _LABELS
    tasks = _CLASSES
    range = (-1.0, 1.0)
    needs = Needs.EVERY_CLASS

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> ConfusionStatistic:
        return ConfusionStatistic(Confusion(truth, predictions), matthews)


@dataclass(frozen=True)
class ClassScore(Metric):
    """Template of scores that each class has, averaged: F, precision and recall.

    Attributes
    ----------
    average : "binary", "macro", "micro" or "weighted"
        The positive class alone; the plain mean over the labels that occur; of all classes' cells together;
        the mean by the weight of each class.
    pos_label : label, optional
        With "binary", the class to be found; the task's positive class when None.
    """

    average: LabelAverage = "binary"
    pos_label: Any = None
    is_of_other_class: bool = field(default=False, kw_only=True, repr=False, compare=False)
    greater_is_better = True
    responses = _LABELS
    range = _UNIT

    def __post_init__(self) -> None:
        check_among("average", self.average, get_args(LabelAverage))

    @property
    def function_name(self) -> str:
        return f"{self._stem}_score" if self.average == "binary" else ""

    @property
    def name(self) -> str:
        if self.average != "binary":
            return f"{self._stem}_{self.average}"
        return name_with(self._stem, self, "pos_label") if self.is_of_other_class else self._stem

    @property
    def tasks(self) -> frozenset[TaskKind]:
        return _BINARY if self.average == "binary" else _CLASSES

    @property
    def needs(self) -> Needs:
        of_average = {"binary": Needs.POSITIVE, "micro": Needs.ROW}
        return of_average.get(self.average, Needs.EVERY_CLASS)

    def for_truth(self, truth: Truth) -> ClassScore:
        code = positive_of(self, truth) if self.average == "binary" else truth.positive
        return (
            self
            if code == truth.positive
            else replace(self, pos_label=truth.label_of(code), is_of_other_class=True)
        )

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> ConfusionStatistic:
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

    @property
    def _stem(self) -> str:
        raise NotImplementedError

    def _of(self, cells: ClassCells) -> Floats:
        raise NotImplementedError


@dataclass(frozen=True)
class FScore(ClassScore):
    """Weighted harmonic mean of precision and recall; F1 by default, 0 where it is 0/0.

    ``(1 + beta²) TP / (beta² (TP + FN) + TP + FP)``, as scikit-learn's ``fbeta_score``.

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
        if not (is_number(self.beta) and 0 <= self.beta < np.inf):
            raise InputError(
                f"beta must be a finite number of at least 0, got {self.beta!r}; 1 and 2 are usual.",
                argument="beta",
            )

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
    def _stem(self) -> str:
        return f"f{self.beta:g}"

    def _of(self, cells: ClassCells) -> Floats:
        square = self.beta**2
        return ratio((1 + square) * cells.hits, square * cells.support + (cells.hits + cells.false_alarms))


@dataclass(frozen=True)
class Precision(ClassScore):
    """Share of the rows predicted to be of a class that are; 0 where none is.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> bound = Precision().statistic(truth_of([0, 1, 1, 1]), np.array([[1], [1], [1], [0]]))
    >>> bound.all(np.ones((1, 4), dtype=np.uint8)).round(4)
    array([[0.6667]])
    """

    @property
    def _stem(self) -> str:
        return "precision"

    def _of(self, cells: ClassCells) -> Floats:
        return ratio(cells.hits, cells.hits + cells.false_alarms)


@dataclass(frozen=True)
class Recall(ClassScore):
    """Share of the rows of a class that are predicted to be; 0 where there is none.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> bound = Recall().statistic(truth_of([0, 1, 1, 1, 1]), np.array([[1], [1], [1], [1], [0]]))
    >>> bound.all(np.ones((1, 5), dtype=np.uint8)).round(4)
    array([[0.75]])
    """

    @property
    def _stem(self) -> str:
        return "recall"

    def _of(self, cells: ClassCells) -> Floats:
        return ratio(cells.hits, cells.support)


@dataclass(frozen=True)
class LogLoss(OfRowLosses):
    """Mean of -log of the probability given to the true class.

    Probabilities are clipped to [eps, 1 - eps] of float64, about 2.2e-16, as scikit-learn does; otherwise
    they are taken as they are, also where those of a row do not sum to 1.

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
    greater_is_better = False
    responses = _PROBABILITIES
    tasks = _CLASSES
    range = (0.0, np.inf)
    undefined_without = Needs.EVERY_CLASS

    def losses(self, truth: Truth, predictions: NDArray[Any]) -> Floats:
        of_truth = self._of_truth(truth, predictions)
        eps = np.finfo(np.float64).eps
        np.clip(of_truth, eps, 1 - eps, out=of_truth)  # in place, as it may be most of the memory
        np.log(of_truth, out=of_truth)
        losses: Floats = np.negative(of_truth, out=of_truth)
        return losses

    def clipped(self, truth: Truth, predictions: NDArray[Any]) -> NDArray[np.bool_]:
        """(n, C): where the true class has a probability that clipping raises, so that it sets the loss."""
        below: NDArray[np.bool_] = self._of_truth(truth, predictions) < np.finfo(np.float64).eps
        return below

    def _of_truth(self, truth: Truth, predictions: NDArray[Any]) -> Floats:
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
class Brier(OfRowLosses):
    """Mean squared distance of the probabilities from the truth (Brier 1950, eq. 2), halved by choice.

    Attributes
    ----------
    scale_by_half : bool or "auto"
        Half the sum over classes, so that 1 is the worst. "auto", as in scikit-learn >= 1.7: for binary
        tasks, where half the sum is the squared error of the positive class's probability.
    pos_label : label, optional
        Must be one of the classes; the number is the same whichever it is.

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
    greater_is_better = False
    responses = _PROBABILITIES
    tasks = _CLASSES
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

    def losses(self, truth: Truth, predictions: NDArray[Any]) -> Floats:
        given = checked_probabilities(self.name, predictions)
        half = self.for_truth(truth).scale_by_half
        if truth.kind is TaskKind.BINARY:
            losses: Floats = (given - (truth.values == truth.positive)[:, None]) ** 2
            return losses if half else 2 * losses
        true = truth.values[:, None] == np.arange(truth.n_classes)
        losses = ((given - true[:, None, :]) ** 2).sum(axis=2)
        return losses / 2 if half else losses
