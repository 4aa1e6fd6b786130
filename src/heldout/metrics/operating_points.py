"""Metrics of the beginning of the ROC curve, where false alarms are few: of binary tasks and high thresholds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats, Weightings
from heldout.data.task import TaskKind, Truth
from heldout.errors import InputError
from heldout.kernels.dispatch import AreaWithin, SensitivityWithin
from heldout.metrics.base import Metric, Needs, Response, Sums
from heldout.metrics.parameters import is_number, name_with
from heldout.metrics.ranking import RocAuc
from heldout.metrics.within import PairBased, PairsWithin


@dataclass(frozen=True)
class SensitivityAtSpecificity(Metric):
    """The largest sensitivity of any threshold at which the specificity is at least the one given.

    A threshold calls rows positive whose score is at least the threshold, so that tied rows go together. In terms
    of scikit-learn, the largest ``tpr`` of ``roc_curve(..., drop_intermediate=False)`` with
    ``fpr <= 1 - specificity``, where excesses of 1e-12 are rounding: one false alarm among ten negative rows has a
    specificity of .9. The threshold is chosen anew on the rows scored; 0 where only a threshold above
    all scores is specific enough.

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
    needs = Needs.EVERY_CLASS
    undefined_without = Needs.EVERY_CLASS

    def __post_init__(self) -> None:
        if not (is_number(self.specificity) and 0 <= self.specificity <= 1):
            raise InputError(
                f"specificity must be a number from 0 to 1, got {self.specificity!r}; .9 is usual.",
                argument="specificity",
            )

    @property
    def name(self) -> str:
        return name_with("sensitivity_at_specificity", self, "specificity")

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> Sums:
        scores = np.asarray(predictions, dtype=np.float64)
        return SensitivityWithin(scores, truth.values == truth.positive, 1 - self.specificity)


@dataclass(frozen=True)
class PartialRocAuc(PairBased):
    """The area under the ROC curve up to a false positive rate of ``max_fpr``, standardised.

    By McClish (1989, eq. 7) it is .5 for scores that know nothing and 1 for perfect ones: the same number
    as scikit-learn's ``roc_auc_score(..., max_fpr=max_fpr)``.

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
    needs = Needs.EVERY_CLASS
    undefined_without = Needs.EVERY_CLASS

    def __post_init__(self) -> None:
        if not (is_number(self.max_fpr) and 0 < self.max_fpr <= 1):
            raise InputError(
                f"max_fpr must be a number above 0 and at most 1, got {self.max_fpr!r}; .1 is usual.",
                argument="max_fpr",
            )

    @property
    def name(self) -> str:
        return name_with("partial_roc_auc", self, "max_fpr")

    @property
    def range(self) -> tuple[float, float]:
        return (_standardized(0.0, self.max_fpr), 1.0)

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> Sums:
        scores = np.asarray(predictions, dtype=np.float64)
        return _Standardized(AreaWithin(scores, truth.values == truth.positive, self.max_fpr), self.max_fpr)

    @property
    def share_of_pairs(self) -> PairBased:
        return RocAuc(self.responses)

    def statistic_within(self, truth: Truth, predictions: NDArray[Any], folds: NDArray[np.intp]) -> _OfFolds:
        """The area of each fold, weighted by its pairs."""
        scores, positive = np.asarray(predictions, dtype=np.float64), truth.values == truth.positive
        pairs = PairsWithin.of(positive, ~positive, folds)
        parts = []
        for fold in np.unique(folds[pairs.positive]):
            rows = np.flatnonzero(folds == fold)
            area = AreaWithin(scores[rows], positive[rows], self.max_fpr)
            parts.append((rows, _Standardized(area, self.max_fpr)))
        return _OfFolds(pairs, tuple(parts), scores.shape[1])


@dataclass(frozen=True, eq=False)
class _OfFolds:
    """The mean of folds' values, weighted by the pairs in each; a ``PairStatistic``."""

    pairs: PairsWithin
    parts: tuple[tuple[NDArray[np.intp], Sums], ...]  # of each fold with pairs its rows and its statistic
    n_columns: int

    def all(self, counts: Weightings) -> Floats:
        values = [part.all(np.take(counts, rows, axis=1)) for rows, part in self.parts]
        return self._mean(counts, values, self.n_columns)

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        values = [part.selected(np.take(counts, rows, axis=1), columns)[:, None] for rows, part in self.parts]
        return self._mean(counts, values, 1)[:, 0]

    def defined(self, counts: Weightings) -> NDArray[np.bool_]:
        return np.asarray(self.pairs.weight(counts) > 0)

    def _mean(self, counts: Weightings, values: list[Floats], n_columns: int) -> Floats:
        if not values:
            return np.full((len(counts), n_columns), np.nan)
        total, weight = np.zeros((len(counts), n_columns)), np.zeros((len(counts), 1))
        for value, own in zip(values, self.pairs.weights(counts).T[:, :, None], strict=True):
            total += np.where(own > 0, own * value, 0.0)
            weight += own
        with np.errstate(invalid="ignore"):
            mean: Floats = total / weight
        return mean


@dataclass(frozen=True, eq=False)
class _Standardized:
    """Partial areas, standardised; a ``Statistic``."""

    area: Sums
    max_fpr: float

    def all(self, counts: Weightings) -> Floats:
        values: Floats = _standardized(self.area.all(counts), self.max_fpr)
        return np.minimum(values, 1.0)  # real weights round

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        values: Floats = _standardized(self.area.selected(counts, columns), self.max_fpr)
        return np.minimum(values, 1.0)


def _standardized(area: Any, max_fpr: float) -> Any:
    """A partial area, or an array of them, as .5 where it is that of chance and 1 where it is all there is."""
    of_chance = 0.5 * max_fpr**2
    return 0.5 * (1.0 + (area - of_chance) / (max_fpr - of_chance))
