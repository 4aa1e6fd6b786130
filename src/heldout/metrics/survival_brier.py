"""Brier scores of survival probabilities: at one time, and integrated over a span of times.

At each time the predicted probability of no event until then is compared with the outcome, and rows are weighted
for censoring (Graf, Schmoor, Sauerbrei & Schumacher 1999). The distribution of censoring is estimated once on all
rows of the target and taken as known, so that a score is a mean of one loss per row.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._text import counted
from heldout._types import Floats, Weightings
from heldout.data.task import TaskKind, Truth
from heldout.errors import InputError
from heldout.metrics.base import Metric, Needs, Response
from heldout.metrics.parameters import is_number, name_with
from heldout.metrics.ranking import Area, area
from heldout.metrics.row_losses import MeanLoss, mean_loss
from heldout.metrics.survival import Censoring, observed_by
from heldout.metrics.within import PairBased

_SURVIVAL: frozenset[TaskKind] = frozenset({TaskKind.SURVIVAL})


@dataclass(frozen=True)
class IntegratedBrier(Metric):
    """Integrated Brier score of survival probabilities: their mean squared error over a span of times.

    The trapezoid rule averages the Brier scores over ``times``. 0 is perfect.

    Attributes
    ----------
    times : sequence of float
        The times of the last axis of the predictions (n, C, n_times): at least two, ascending, from the first to
        before the last time of the target.

    Notes
    -----
    scikit-survival's ``integrated_brier_score`` with these rows as ``survival_train`` and ``survival_test`` both.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> truth = truth_of([(True, 1), (True, 3), (False, 4)], "survival")
    >>> sure = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 1.0]])[:, None, :]  # of the event at time 1
    >>> IntegratedBrier(times=(1, 2)).statistic(truth, sure).all(np.ones((1, 3), dtype=np.uint8))
    array([[0.]])
    """

    times: tuple[float, ...] | None = None
    censoring: Censoring | None = field(default=None, repr=False, compare=False)
    name = "integrated_brier_score"
    sources = ("graf1999",)
    title = "Integrated Brier score"
    definition = (
        "The mean squared distance of predicted survival from what happened, over time, weighted for censoring."
    )
    greater_is_better = False
    responses = (Response.SURVIVAL,)
    tasks = _SURVIVAL
    range = (0.0, np.inf)
    row_wise = True

    def __post_init__(self) -> None:
        if self.times is None:
            return
        wanted = f"times must be at least two ascending finite numbers, got {self.times!r}."
        try:
            times = np.asarray(self.times, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(wanted) from None
        if times.ndim != 1 or times.size < 2 or not np.isfinite(times).all() or (np.diff(times) <= 0).any():
            raise InputError(wanted)
        object.__setattr__(self, "times", tuple(times.tolist()))  # so that it compares and hashes

    def for_truth(self, truth: Truth) -> IntegratedBrier:
        """The metric with the distribution of censoring of these rows, if it has none yet.

        Raises
        ------
        InputError
            When there are no times, or they are beyond those of the target.
        """
        if self.times is None:
            raise InputError(
                f"{self.name} needs the times of the survival probabilities, one for each place on the last "
                f"axis of the predictions; give them as '{self.name}(times=[1, 2, 5])'.",
                argument="metric",
            )
        if truth.kind is not TaskKind.SURVIVAL or self.censoring is not None:
            return self
        check_within("times", self.times, truth)
        return replace(self, censoring=Censoring.of(truth))

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> MeanLoss:
        bound = self.for_truth(truth)
        assert bound.times is not None and bound.censoring is not None
        check_has_times(self.name, predictions, len(bound.times))
        return mean_loss(squared_errors(truth, predictions, bound.times, bound.censoring, _trapezoid(bound.times)))


@dataclass(frozen=True)
class BrierAt(Metric):
    """Brier score of survival probabilities at one time: their mean squared error there. 0 is perfect.

    Attributes
    ----------
    time : float
        From the first to before the last time of the target. The predictions are (n, C, 1).

    Notes
    -----
    scikit-survival's ``brier_score`` with these rows as ``survival_train`` and ``survival_test`` both.

    Examples
    --------
    The row censored at 1 says nothing, and the others stand for it.

    >>> from heldout.data.task import truth_of
    >>> truth = truth_of([(False, 1), (True, 2), (False, 4)], "survival")
    >>> said = np.array([0.5, 0.2, 0.6])[:, None, None]
    >>> BrierAt(time=3).statistic(truth, said).all(np.ones((1, 3), dtype=np.uint8)).round(4)  # (.2² + .4²) / 2
    array([[0.1]])
    """

    time: float | None = None
    censoring: Censoring | None = field(default=None, repr=False, compare=False)
    sources = ("graf1999",)
    title = "Brier score at a time"
    definition = (
        "The mean squared distance of predicted survival from what happened until the time, weighted for censoring."
    )
    greater_is_better = False
    responses = (Response.SURVIVAL,)
    tasks = _SURVIVAL
    range = (0.0, np.inf)
    row_wise = True

    def __post_init__(self) -> None:
        check_time(self.time)

    @property
    def name(self) -> str:
        return name_with("brier_score_at", self, "time")

    @property
    def times(self) -> tuple[float, ...]:
        """Of the survival probabilities that it reads."""
        return () if self.time is None else (float(self.time),)

    def for_truth(self, truth: Truth) -> BrierAt:
        """The metric with the distribution of censoring of these rows, if it has none yet.

        Raises
        ------
        InputError
            When there is no time, or it is beyond those of the target.
        """
        if self.time is None:
            raise no_time(self.name, "BrierAt")
        if truth.kind is not TaskKind.SURVIVAL or self.censoring is not None:
            return self
        check_within("time", self.times, truth)
        return replace(self, censoring=Censoring.of(truth))

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> MeanLoss:
        bound = self.for_truth(truth)
        assert bound.censoring is not None
        check_has_times(self.name, predictions, 1)
        return mean_loss(squared_errors(truth, predictions, bound.times, bound.censoring, np.ones(1)))


def squared_errors(
    truth: Truth, predictions: NDArray[Any], times: tuple[float, ...], censoring: Censoring, weights: Floats
) -> Floats:
    """(n, C): the squared error of each row, weighted for censoring and summed over the times."""
    observed = [observed_by(truth, time, censoring) for time in times]
    outcome = np.stack([at.outcome for at in observed], axis=1)
    weight = np.stack([at.weight for at in observed], axis=1) * weights
    losses: Floats = np.einsum("nct,nt->nc", (predictions - outcome[:, None, :]) ** 2, weight)
    return losses


def check_time(time: Any) -> None:
    """Refuse values that are no times; None stands for times that are not given yet."""
    if time is not None and not (is_number(time) and 0 <= time < np.inf):
        raise InputError(f"time must be a finite number of at least 0, got {time!r}.", argument="time")


def no_time(name: str, of_class: str) -> InputError:
    return InputError(
        f"{name} needs the time at which it is measured; give it as '{name}(time=5)'.",
        argument="metric",
    )


def check_within(parameter: str, times: tuple[float, ...], truth: Truth) -> None:
    """Refuse times outside of those that the target covers."""
    first, last = float(truth.values["time"].min()), float(truth.values["time"].max())
    if times[0] < first or times[-1] >= last:
        given = f"{times[0]:g}" + (f" to {times[-1]:g}" if len(times) > 1 else "")
        raise InputError(
            f"{parameter} must lie within those of the target, from {first:g} to before {last:g}, got {given}; "
            "beyond, nothing is known.",
            argument=parameter,
        )


def check_has_times(name: str, predictions: NDArray[Any], n_times: int) -> None:
    """Refuse predictions whose last axis does not match the metric's times."""
    if predictions.ndim != 3 or predictions.shape[2] != n_times:
        raise InputError(
            f"{name} reads survival probabilities at {counted(n_times, 'time')}, got predictions of "
            f"{predictions.shape[2] if predictions.ndim == 3 else 1}; the last axis has one for each of its times."
        )


def _trapezoid(times: tuple[float, ...]) -> Floats:
    """Weights of the trapezoid rule for the mean over ``times``."""
    steps = np.diff(times)
    weights: Floats = (np.r_[steps, 0.0] + np.r_[0.0, steps]) / (2.0 * (times[-1] - times[0]))
    return weights


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
