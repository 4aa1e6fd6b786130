"""The area under the ROC curve at one time: whether rows with an event by then had the greater risks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats, Weightings
from heldout.data.task import TaskKind, Truth
from heldout.errors import InputError
from heldout.metrics.base import Needs, Response
from heldout.metrics.parameters import name_with
from heldout.metrics.ranking import Area, area
from heldout.metrics.survival import Censoring, observed_by
from heldout.metrics.survival_brier import check_time, check_within, no_time
from heldout.metrics.within import PairBased


@dataclass(frozen=True, eq=False)
class WeighedArea:
    """The area under the ROC curve of weighted rows; ``standing_for`` (n,) is how many rows each one represents."""

    area: Area
    standing_for: Floats

    def all(self, counts: Weightings) -> Floats:
        return self.area.all(counts * self.standing_for)

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        return self.area.selected(counts * self.standing_for, columns)

    def defined(self, counts: Weightings) -> NDArray[np.bool_]:
        return self.area.defined(counts * self.standing_for)


@dataclass(frozen=True)
class RocAucAt(PairBased):
    """Area under the ROC curve at one time: the chance that a row with an event by then has a greater risk than a
    row that was observed after it; ties count half.

    Rows censored before the time are left out, and the others get the weight 1 / G, where G is the probability of
    not being censored until the event, or until the time (Uno, Cai, Tian & Wei 2007). G is estimated once on all
    rows of the target, without importance weights, and taken as known. NaN if one of the two groups has no weight.

    Attributes
    ----------
    time : float
        From the first event to before the last time of the target.

    Notes
    -----
    scikit-survival's ``cumulative_dynamic_auc`` at that time, with these rows as ``survival_train`` and
    ``survival_test`` both.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> truth = truth_of([(True, 1), (True, 2), (False, 3), (False, 4)], "survival")
    >>> bound = RocAucAt(time=2).statistic(truth, np.array([[0.9], [0.3], [0.4], [0.3]]))
    >>> bound.all(np.ones((1, 4), dtype=np.uint8))  # 2½ of four pairs
    array([[0.625]])
    """

    time: float | None = None
    censoring: Censoring | None = field(default=None, repr=False, compare=False)
    sources = ("uno2007",)
    title = "ROC AUC at a time"
    definition = (
        "The chance that a row with an event until the time had a greater risk than one without an event "
        "until then."
    )
    greater_is_better = True
    responses = (Response.RISK,)
    tasks = frozenset({TaskKind.SURVIVAL})
    range = (0.0, 1.0)
    needs = Needs.PAIR
    undefined_without = Needs.PAIR

    def __post_init__(self) -> None:
        check_time(self.time)

    @property
    def name(self) -> str:
        return name_with("roc_auc_at", self, "time")

    def for_truth(self, truth: Truth) -> RocAucAt:
        """The metric with the distribution of censoring of these rows, if it has none yet.

        Raises
        ------
        InputError
            When there is no time, it is beyond those of the target, or no event came before it.
        """
        if self.time is None:
            raise no_time(self.name, "RocAucAt")
        if truth.kind is not TaskKind.SURVIVAL or self.censoring is not None:
            return self
        check_within("time", (self.time,), truth)
        first = truth.values["time"][truth.values["event"]].min()
        if self.time < first:
            raise InputError(
                f"{self.name} needs an event until its time, but the first is at {first:g}; give a later."
            )
        return replace(self, censoring=Censoring.of(truth))

    def truth_for_needs(self, truth: Truth) -> Truth:
        """The target as two groups, so that its comparable pairs are those of the area.

        Rows with an event until the time have it at 1, rows seen after it are censored at 2, all others at 0.
        """
        if self.time is None or truth.kind is not TaskKind.SURVIVAL:
            return truth
        values = truth.values.copy()
        gone = values["event"] & (values["time"] <= self.time)
        there = values["time"] > self.time
        values["event"], values["time"] = gone, np.where(gone, 1.0, np.where(there, 2.0, 0.0))
        return replace(truth, values=values)

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> WeighedArea:
        return self._area(truth, predictions, None)

    def statistic_within(self, truth: Truth, predictions: NDArray[Any], folds: NDArray[np.intp]) -> WeighedArea:
        return self._area(truth, predictions, folds)

    def _area(self, truth: Truth, predictions: NDArray[Any], folds: NDArray[np.intp] | None) -> WeighedArea:
        bound = self.for_truth(truth)
        assert bound.time is not None
        outcome, weight = observed_by(truth, bound.time, bound.censoring)
        gone, there = (weight > 0) & (outcome == 0), (weight > 0) & (outcome == 1)
        return WeighedArea(area(predictions, gone, there, folds), weight)
