"""Metrics of survival models: the concordance of their risks with what happened, and Brier scores.

A concordance index is the share of pairs, of a row with an event and a row that outlasted it, in which the row
with the event has the greater risk. Its denominator is the same for every column. A Brier score compares the
predicted probability of no event until a time with the outcome (Graf, Schmoor, Sauerbrei & Schumacher 1999).

Metrics that correct for censoring by weights (Uno's index, and metrics at times) estimate its distribution once,
on all rows that the metric is bound to. The weights are fixed from then on: bootstraps, folds and importance
weights do not change them, so that a Brier score is a mean of one loss per row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from heldout._text import counted
from heldout._types import Array, Booleans, Floats, Indices, Weightings
from heldout.data.checks import check_number, is_number
from heldout.data.task import TaskKind, Truth, numbers_listed
from heldout.errors import InputError
from heldout.kernels.dispatch import ConcordanceSums
from heldout.metrics.base import (
    ByKind,
    Metric,
    Needs,
    OfKind,
    PairBased,
    PairStatistic,
    RescaledFused,
    Response,
    Statistic,
    times_of,
)
from heldout.metrics.ranking import ExactPairShare, PairShare, RocAuc, area
from heldout.metrics.row_losses import MeanLoss, mean_loss

_SURVIVAL: frozenset[TaskKind] = frozenset({TaskKind.SURVIVAL})


class OfRisks(PairBased):
    """A metric of pairs that reads risks."""

    greater_is_better = True
    responses = (Response.RISK,)
    tasks = _SURVIVAL
    range = (0.0, 1.0)
    needs = undefined_without = Needs.PAIR


def _pair_share(
    share: type[PairShare], truth: Truth, risks: Array, folds: Indices | None, factors: Floats | None = None
) -> PairShare:
    numbers, rest = (
        np.asarray(risks, dtype=np.float64),
        (truth.values["event"], truth.values["time"], factors, folds),
    )
    # Of one column of equal risks all pairs are tied: the weight of all pairs.
    alike = ConcordanceSums(np.zeros((len(numbers), 1)), *rest)
    return share(ConcordanceSums(numbers, *rest), lambda counts: 2.0 * alike.all(counts)[:, 0])


@dataclass(frozen=True)
class ConcordanceIndex(OfRisks):
    """Harrell's concordance index: the share of comparable pairs that the risks order right; ties count half.

    Two rows are comparable if the earlier time is an event. At equal times an event and a censored row are
    comparable, and the event counts as the earlier one; two events are not (Harrell, Lee & Mark 1996). A row that a
    bootstrap drew twice is not comparable with its copy. A constant predictor has .5. NaN if no pair is comparable.

    Notes
    -----
    It equals scikit-survival's ``concordance_index_censored`` with ``tied_tol=0``. Its default treats risks within
    1e-8 of each other as tied; here only equal ones are, so that the units of the risks do not matter.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> truth = truth_of([(True, 1), (True, 3), (False, 3), (False, 8)], "survival")
    >>> bound = ConcordanceIndex().statistic(truth, np.array([[0.9], [0.4], [0.4], [0.1]]))
    >>> bound.all(np.array([[1, 1, 1, 1], [0, 2, 1, 0]], dtype=np.uint8))
    array([[0.9],
           [0.5]])
    """

    name = "concordance_index"
    sources = ("harrell1996",)
    title = "Concordance index"
    definition = "The chance that, of two comparable rows, the greater risk had the earlier event: 0.5 is guessing."
    function_name = "concordance_index_censored"

    def statistic_within(self, truth: Truth, predictions: Array, folds: Indices | None) -> PairShare:
        return _pair_share(ExactPairShare, truth, predictions, folds)


@dataclass(frozen=True, eq=False)
class Censoring:
    """The probability of not being censored until a time, by Kaplan and Meier's product.

    Events leave the rows at risk before censorings at their time do.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> found = Censoring.of(truth_of([(True, 1), (False, 2), (True, 3), (False, 4)], "survival"))
    >>> found.after(np.array([0.0, 2.0, 3.5, 4.0])).round(3).tolist()
    [1.0, 0.667, 0.667, 0.0]
    """

    times: Floats  # distinct times, ascending
    free: Floats  # the probability of a censoring later than each of them

    @classmethod
    def of(cls, truth: Truth) -> Censoring:
        event = truth.values["event"]
        times, code = np.unique(truth.values["time"], return_inverse=True)
        events = np.bincount(code[event], minlength=len(times))
        censored = np.bincount(code[~event], minlength=len(times))
        at_risk = np.cumsum((events + censored)[::-1])[::-1] - events
        free: Floats = np.cumprod(1.0 - censored / np.where(censored > 0, at_risk, 1), dtype=np.float64)
        return cls(times, free)

    def after(self, times: Floats) -> Floats:
        """The probability at each of ``times``."""
        free: Floats = np.r_[1.0, self.free][np.searchsorted(self.times, times, side="right")]
        return free


class ObservedOutcomes(NamedTuple):
    """Which rows had no event until a time, and how many rows each row of known outcome stands for."""

    outcome: Floats  # (N,): 1 for a row that was observed after the time without the event; else 0
    # (N,): 1 / G, where G is the probability of not being censored until the time, or until the row's event if that
    # is earlier; 0 for a row that was censored before, whose outcome is unknown
    weight: Floats


def observed_by(truth: Truth, time: float, censoring: Censoring | None = None) -> ObservedOutcomes:
    """Outcomes observed by a time, weighted for censoring (Graf et al. 1999, section 4).

    The distribution of censoring is by default that of these rows.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> outcome, weight = observed_by(truth_of([(True, 1), (False, 2), (True, 3), (False, 4)], "survival"), 2.5)
    >>> outcome.tolist(), weight.round(3).tolist()
    ([0.0, 0.0, 1.0, 1.0], [1.0, 0.0, 1.5, 1.5])
    """
    censoring = Censoring.of(truth) if censoring is None else censoring
    until = truth.values["time"]
    events, there = truth.values["event"] & (until <= time), until > time
    weight = events * inverse(censoring.after(until)) + there * inverse(censoring.after(np.array([time])))
    return ObservedOutcomes(there.astype(np.float64), weight)


def inverse(probabilities: Floats) -> Floats:
    """1 / p, and 0 where p is 0: no row is left there to stand for others."""
    return np.where(probabilities > 0, 1.0 / np.where(probabilities > 0, probabilities, 1.0), 0.0)


@dataclass(frozen=True)
class ConcordanceUno(OfRisks):
    """Uno's concordance index: Harrell's with each pair weighted for censoring.

    The pairs of an event at time T have the weight 1 / G(T)², G being the probability of not being censored until
    T, so that the index does not depend on the censoring in this study (Uno, Cai, Pencina, D'Agostino & Wei 2011).
    G is estimated once on all rows of the target, without importance weights; bootstraps and folds use the same G.

    Attributes
    ----------
    tau : float, optional
        Only events before this time count; by default all. Late events have the greatest weights, as few rows are
        left at risk.

    Notes
    -----
    It equals scikit-survival's ``concordance_index_ipcw`` with these rows as both ``survival_train`` and
    ``survival_test``, and ``tied_tol=0``.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> truth = truth_of([(True, 1), (False, 2), (True, 3), (False, 4)], "survival")
    >>> bound = ConcordanceUno().statistic(truth, np.array([[0.9], [0.3], [0.1], [0.4]]))
    >>> bound.all(np.ones((1, 4), dtype=np.uint8)).round(4)  # 3 pairs of weight 1, one of 9 / 4 that is wrong
    array([[0.5714]])
    """

    tau: float | None = None
    censoring: Censoring | None = field(default=None, repr=False, compare=False)
    sources = ("uno2011",)
    title = "Concordance index, Uno's"
    definition = (
        "The share of pairs in which the row with the earlier event had the greater risk, weighted for censoring."
    )

    stem = "concordance_index_ipcw"

    def __post_init__(self) -> None:
        if self.tau is not None and not (is_number(self.tau) and self.tau > 0):
            raise InputError(f"tau must be a time above 0, or None for all times, got {self.tau!r}.")

    def for_truth(self, truth: Truth) -> ConcordanceUno:
        """The metric with the distribution of censoring of these rows, if it has none yet.

        Raises
        ------
        InputError
            When no event is before ``tau``, or the probability of not being censored until an event is 0.
        """
        if truth.kind is not TaskKind.SURVIVAL or self.censoring is not None:
            return self
        bound = replace(self, censoring=Censoring.of(truth))
        factors = bound._factors(truth)
        if not factors.any():
            raise InputError(
                f"{self.name} needs an event before `tau={self.tau}`, but there is none; give a later tau."
            )
        if np.isinf(factors).any():
            time = truth.values["time"][np.isinf(factors)].min()
            raise InputError(
                f"{self.name} divides by the probability of not being censored until each event, which is 0 at "
                f"time {time:g}; leave late events out: ho.metrics.ConcordanceUno(tau={time:g}), or an earlier one."
            )
        return bound

    def truth_for_needs(self, truth: Truth) -> Truth:
        """The target with events from ``tau`` on as censored, which is what they are to the pairs."""
        if self.tau is None or truth.kind is not TaskKind.SURVIVAL:
            return truth
        values = truth.values.copy()
        values["event"] &= values["time"] < self.tau
        return replace(truth, values=values)

    def statistic_within(self, truth: Truth, predictions: Array, folds: Indices | None) -> PairShare:
        return _pair_share(PairShare, truth, predictions, folds, self.for_truth(truth)._factors(truth))

    def _factors(self, truth: Truth) -> Floats:
        assert self.censoring is not None
        event, time = truth.values["event"], truth.values["time"]
        counts = event if self.tau is None else event & (time < self.tau)
        with np.errstate(divide="ignore"):
            return np.where(counts, self.censoring.after(time) ** -2.0, 0.0)


@dataclass(frozen=True)
class SomersD(ByKind, PairBased):
    """Somers' Dxy: the share of comparable pairs ordered right, minus the share ordered wrong.

    For a binary task it is 2·AUC - 1 (the Gini coefficient), for a survival task 2·C - 1 with Harrell's concordance
    index: 1 if all pairs are right, 0 for random order, -1 if all are wrong (Somers 1962). It is ``Dxy`` of
    ``rms::validate`` in R, but greater is better for risks too.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> scores = np.array([[0.1], [0.4], [0.4], [0.8]])
    >>> bound = SomersD().statistic(truth_of([0, 0, 1, 1]), scores)
    >>> bound.all(np.array([[1, 1, 1, 1], [2, 0, 1, 1]], dtype=np.uint8))
    array([[0.75],
           [1.  ]])
    """

    name = "somers_d"
    sources = ("somers1962",)
    title = "Somers' D"
    definition = (
        "The share of comparable pairs that are ordered right, less the share ordered wrong: 0 is guessing."
    )
    greater_is_better = True
    range = (-1.0, 1.0)

    def of_kinds(self) -> Mapping[TaskKind, OfKind]:
        scores = (Response.DECISION, Response.PROBABILITIES)
        return {
            TaskKind.BINARY: OfKind(scores, Needs.EVERY_CLASS, self.statistic),
            TaskKind.SURVIVAL: OfKind((Response.RISK,), Needs.PAIR, self.statistic),
        }

    def statistic(self, truth: Truth, predictions: Array) -> Statistic:
        return self.statistic_within(truth, predictions, None)

    def statistic_within(self, truth: Truth, predictions: Array, folds: Indices | None) -> PairStatistic:
        share = ConcordanceIndex() if truth.kind is TaskKind.SURVIVAL else RocAuc()
        return RescaledFused(share.statistic_within(truth, predictions, folds), 2.0, -1.0)


TIME_WANTED = "the time at which it is measured; give it as '{name}(time=5)'"


class OfCurves(Metric):
    """The template of Brier scores of survival probabilities at ``times``; a dataclass with ``censoring``."""

    censoring: Censoring | None
    span: ClassVar[str]  # the parameter that says when
    wanted: ClassVar[str]  # what to give as that
    sources = ("graf1999",)
    greater_is_better = False
    responses = (Response.SURVIVAL,)
    tasks = _SURVIVAL
    range = (0.0, np.inf)
    row_wise = True

    def for_truth(self, truth: Truth) -> Self:
        """The metric with the distribution of censoring of these rows, if it has none yet.

        Raises
        ------
        InputError
            When there are no times, or they are beyond those of the target.
        """
        if not self.times:
            raise InputError(f"{self.name} needs {self.wanted.format(name=self.name)}.", argument="metric")
        if truth.kind is not TaskKind.SURVIVAL or self.censoring is not None:
            return self
        check_within(self.span, times_of(self), truth)
        changed: Self = replace(self, censoring=Censoring.of(truth))  # type: ignore[type-var]
        return changed

    def statistic(self, truth: Truth, predictions: Array) -> MeanLoss:
        bound = self.for_truth(truth)
        assert bound.censoring is not None
        times = times_of(bound)
        check_has_times(self.name, predictions, len(times))
        return mean_loss(squared_errors(truth, predictions, times, bound.censoring, _trapezoid(times)))


@dataclass(frozen=True)
class IntegratedBrier(OfCurves):
    """Integrated Brier score of survival probabilities: their mean squared error over a range of times.

    The trapezoid rule averages the Brier scores over ``times``. 0 is perfect.

    Attributes
    ----------
    times : sequence of float
        The times of the last axis of the predictions (n, C, n_times): at least two, ascending, from the first to
        before the last time of the target.

    Notes
    -----
    It equals scikit-survival's ``integrated_brier_score`` with these rows as both ``survival_train`` and
    ``survival_test``.

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
    span = "times"
    wanted = (
        "the times of the survival probabilities, one for each place on the last axis of the predictions; give "
        "them as '{name}(times=[1, 2, 5])'"
    )
    title = "Integrated Brier score"
    definition = (
        "The mean squared distance of predicted survival from what happened, over time, weighted for censoring."
    )

    def __post_init__(self) -> None:
        if self.times is None:
            return
        times = numbers_listed(self.times)
        if times.ndim != 1 or times.size < 2 or not np.isfinite(times).all() or (np.diff(times) <= 0).any():
            raise InputError(f"times must be at least two ascending finite numbers, got {self.times!r}.")
        object.__setattr__(self, "times", tuple(times.tolist()))  # so that it compares and hashes


@dataclass(frozen=True)
class BrierAt(OfCurves):
    """Brier score of survival probabilities at one time: their mean squared error there. 0 is perfect.

    Attributes
    ----------
    time : float
        From the first to before the last time of the target. The predictions are (n, C, 1).

    Notes
    -----
    It equals scikit-survival's ``brier_score`` with these rows as both ``survival_train`` and ``survival_test``.

    Examples
    --------
    The row censored at 1 has no weight, and the others have more:

    >>> from heldout.data.task import truth_of
    >>> truth = truth_of([(False, 1), (True, 2), (False, 4)], "survival")
    >>> said = np.array([0.5, 0.2, 0.6])[:, None, None]
    >>> BrierAt(time=3).statistic(truth, said).all(np.ones((1, 3), dtype=np.uint8)).round(4)  # (.2² + .4²) / 2
    array([[0.1]])
    """

    time: float | None = None
    censoring: Censoring | None = field(default=None, repr=False, compare=False)
    span = "time"
    wanted = TIME_WANTED
    title = "Brier score at a time"
    definition = (
        "The mean squared distance of predicted survival from what happened until the time, weighted for censoring."
    )

    def __post_init__(self) -> None:
        check_time(self.time)

    stem = "brier_score_at"

    @property
    def times(self) -> tuple[float, ...]:
        """The times of the survival probabilities that it reads."""
        return () if self.time is None else (float(self.time),)


def squared_errors(
    truth: Truth, predictions: Array, times: tuple[float, ...], censoring: Censoring, weights: Floats
) -> Floats:
    """(n, C): the squared error of each row, weighted for censoring and summed over the times."""
    observed = [observed_by(truth, time, censoring) for time in times]
    outcome = np.stack([at.outcome for at in observed], axis=1)
    weight = np.stack([at.weight for at in observed], axis=1) * weights
    losses: Floats = np.einsum("nct,nt->nc", (predictions - outcome[:, None, :]) ** 2, weight)
    return losses


def check_time(time: Any) -> None:
    """Refuse values that are no times; None stands for times that are not given yet."""
    if time is not None:
        check_number("time", time, least=0)


def check_within(parameter: str, times: tuple[float, ...], truth: Truth) -> None:
    """Refuse times outside of those that the target covers."""
    first, last = float(truth.values["time"].min()), float(truth.values["time"].max())
    if times[0] < first or times[-1] >= last:
        given = f"{times[0]:g}" + (f" to {times[-1]:g}" if len(times) > 1 else "")
        raise InputError(
            f"{parameter} must lie within those of the target, from {first:g} to before {last:g}, got {given}; "
            "beyond, nothing is known."
        )


def check_has_times(name: str, predictions: Array, n_times: int) -> None:
    """Refuse predictions whose last axis does not match the metric's times."""
    if predictions.ndim != 3 or predictions.shape[2] != n_times:
        raise InputError(
            f"{name} reads survival probabilities at {counted(n_times, 'time')}, got predictions of "
            f"{predictions.shape[2] if predictions.ndim == 3 else 1}; the last axis has one for each of its times."
        )


def _trapezoid(times: tuple[float, ...]) -> Floats:
    """Weights of the trapezoid rule for the mean over ``times``; 1 for a single one."""
    if len(times) == 1:
        return np.ones(1)
    steps = np.diff(times)
    weights: Floats = (np.r_[steps, 0.0] + np.r_[0.0, steps]) / (2.0 * (times[-1] - times[0]))
    return weights


@dataclass(frozen=True, eq=False)
class WeighedArea:
    """The area under the ROC curve of weighted rows; ``standing_for`` (n,) is how many rows each one represents."""

    area: PairShare
    standing_for: Floats

    def all(self, counts: Weightings) -> Floats:
        return self.area.all(counts * self.standing_for)

    def selected(self, counts: Weightings, columns: Indices) -> Floats:
        return self.area.selected(counts * self.standing_for, columns)

    def defined(self, counts: Weightings) -> Booleans:
        return self.area.defined(counts * self.standing_for)


@dataclass(frozen=True)
class RocAucAt(OfRisks):
    """Area under the ROC curve at one time: the chance that a row with an event by then has a greater risk than a
    row that was observed after it; ties count half.

    Rows censored before the time are left out, and the others get the weight 1 / G, where G is the probability of
    not being censored until the event, or until the time (Uno, Cai, Tian & Wei 2007). G is estimated once on all
    rows of the target, without importance weights. NaN if one of the two groups has no weight.

    Attributes
    ----------
    time : float
        From the first event to before the last time of the target.

    Notes
    -----
    It equals scikit-survival's ``cumulative_dynamic_auc`` at that time, with these rows as both ``survival_train``
    and ``survival_test``.

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

    def __post_init__(self) -> None:
        check_time(self.time)

    stem = "roc_auc_at"

    def for_truth(self, truth: Truth) -> RocAucAt:
        """The metric with the distribution of censoring of these rows, if it has none yet.

        Raises
        ------
        InputError
            When there is no time, it is beyond those of the target, or no event came before it.
        """
        if self.time is None:
            raise InputError(f"{self.name} needs {TIME_WANTED.format(name=self.name)}.", argument="metric")
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
        events = values["event"] & (values["time"] <= self.time)
        there = values["time"] > self.time
        values["event"], values["time"] = events, np.where(events, 1.0, np.where(there, 2.0, 0.0))
        return replace(truth, values=values)

    def statistic_within(self, truth: Truth, predictions: Array, folds: Indices | None) -> WeighedArea:
        bound = self.for_truth(truth)
        assert bound.time is not None
        outcome, weight = observed_by(truth, bound.time, bound.censoring)
        events, there = (weight > 0) & (outcome == 0), (weight > 0) & (outcome == 1)
        return WeighedArea(area(predictions, events, there, folds), weight)
