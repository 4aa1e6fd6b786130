"""Metrics of the risks of survival models: their concordance with what happened.

A concordance index is the share of pairs, of a row with an event and a row that outlasted it, in which the row with
the event has the greater risk. Its denominator is the same for every column. Metrics that correct for censoring by
weights (Uno's index, and metrics at a time) estimate its distribution once, on all rows that the metric is bound
to. The weights are fixed from then on: bootstraps, folds and importance weights do not change them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats, Weightings
from heldout.data.task import TaskKind, Truth
from heldout.errors import InputError
from heldout.kernels.dispatch import ConcordanceSums, best_out_of_bag
from heldout.metrics.base import Fused, Needs, Response, Selected, Sums
from heldout.metrics.by_kind import ByKind, OfKind
from heldout.metrics.parameters import is_number, name_with
from heldout.metrics.ranking import RocAuc
from heldout.metrics.within import PairBased, PairStatistic

_RISK: tuple[Response, ...] = (Response.RISK,)
_SURVIVAL: frozenset[TaskKind] = frozenset({TaskKind.SURVIVAL})


@dataclass(frozen=True, eq=False)
class PairShare:
    """The share of the weight of pairs that is concordant, of every column; a ``Statistic``."""

    sums: Sums  # twice the concordant weight, ties once
    pairs: Sums  # of one column of equal risks, so that all pairs are tied: the weight of all pairs

    def all(self, counts: Weightings) -> Floats:
        return _share(self.sums.all(counts), self.pairs.all(counts))

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        return _share(self.sums.selected(counts, columns), self.pairs.all(counts)[:, 0])

    def defined(self, counts: Weightings) -> NDArray[np.bool_]:
        """(L,): whether there is a pair."""
        return np.asarray(self.pairs.all(counts)[:, 0] > 0)


@dataclass(frozen=True, eq=False)
class ExactPairShare(PairShare):
    """A share of whole numbers, so that the greatest sum is the greatest share; with the fused path."""

    def best_out_of_bag(self, counts: NDArray[np.uint8]) -> Selected:
        columns, sums = best_out_of_bag(self.sums, counts, greatest=True)
        left_out = (counts == 0).view(np.uint8)
        return Selected(columns, _share(sums, self.pairs.all(left_out)[:, 0]))


def _share(doubled: NDArray[Any], pairs: NDArray[Any]) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        share: Floats = doubled / (2.0 * pairs)
    return np.minimum(share, 1.0)  # rounding may carry sums of real weights beyond 1


def _pair_share(
    truth: Truth, risks: NDArray[Any], factors: Floats | None = None, folds: NDArray[np.intp] | None = None
) -> tuple[Sums, Sums]:
    event, time = truth.values["event"], truth.values["time"]
    numbers = np.asarray(risks, dtype=np.float64)
    alike = np.zeros((len(numbers), 1))
    rest = event, time, factors, folds
    return ConcordanceSums(numbers, *rest), ConcordanceSums(alike, *rest)


@dataclass(frozen=True)
class ConcordanceIndex(PairBased):
    """Harrell's concordance index: the share of comparable pairs that the risks order right; ties count half.

    Two rows are comparable if the earlier time is an event. At equal times an event and a censored row are
    comparable, and the event counts as the earlier one; two events are not (Harrell, Lee & Mark 1996). A row that a
    bootstrap drew twice is not comparable with its copy. A constant predictor has .5. NaN if no pair is comparable.

    Notes
    -----
    scikit-survival's ``concordance_index_censored`` with ``tied_tol=0``. Its default takes risks within 1e-8 of
    each other as tied; here only equal ones are, so that the units of the risks do not matter.

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
    greater_is_better = True
    responses = _RISK
    tasks = _SURVIVAL
    range = (0.0, 1.0)
    needs = Needs.PAIR
    undefined_without = Needs.PAIR

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> ExactPairShare:
        return ExactPairShare(*_pair_share(truth, predictions))

    def statistic_within(self, truth: Truth, predictions: NDArray[Any], folds: NDArray[np.intp]) -> ExactPairShare:
        return ExactPairShare(*_pair_share(truth, predictions, folds=folds))


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
    gone, there = truth.values["event"] & (until <= time), until > time
    weight = gone * inverse(censoring.after(until)) + there * inverse(censoring.after(np.array([time])))
    return ObservedOutcomes(there.astype(np.float64), weight)


def inverse(probabilities: Floats) -> Floats:
    """1 / p, and 0 where p is 0: no row is left there to stand for others."""
    return np.where(probabilities > 0, 1.0 / np.where(probabilities > 0, probabilities, 1.0), 0.0)


@dataclass(frozen=True)
class ConcordanceUno(PairBased):
    """Uno's concordance index: Harrell's with each pair weighted for censoring.

    The pairs of an event at time T weigh 1 / G(T)², G being the probability of not being censored until T; then the
    index does not depend on how the rows of this study were censored (Uno, Cai, Pencina, D'Agostino & Wei 2011).
    G is estimated once on all rows of the target, without importance weights, and taken as known: bootstraps and
    folds keep it.

    Attributes
    ----------
    tau : float, optional
        Only events before this time count. Late events weigh most, as few rows are left at risk.

    Notes
    -----
    scikit-survival's ``concordance_index_ipcw`` with these rows as ``survival_train`` and ``survival_test`` both,
    and ``tied_tol=0``.

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
    greater_is_better = True
    responses = _RISK
    tasks = _SURVIVAL
    range = (0.0, 1.0)
    needs = Needs.PAIR
    undefined_without = Needs.PAIR

    @property
    def name(self) -> str:
        return name_with("concordance_index_ipcw", self, "tau")

    def __post_init__(self) -> None:
        if self.tau is not None and not (is_number(self.tau) and self.tau > 0):
            raise InputError(
                f"tau must be a time above 0, or None for all times, got {self.tau!r}.", argument="tau"
            )

    def for_truth(self, truth: Truth) -> ConcordanceUno:
        """The metric with the distribution of censoring of these rows, if it has none yet.

        Raises
        ------
        InputError
            When no event is before ``tau``, or one stands where censoring leaves no probability.
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

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> PairShare:
        bound = self if self.censoring is not None else self.for_truth(truth)
        return PairShare(*_pair_share(truth, predictions, bound._factors(truth)))

    def statistic_within(self, truth: Truth, predictions: NDArray[Any], folds: NDArray[np.intp]) -> PairShare:
        bound = self if self.censoring is not None else self.for_truth(truth)
        return PairShare(*_pair_share(truth, predictions, bound._factors(truth), folds))

    def _factors(self, truth: Truth) -> Floats:
        assert self.censoring is not None
        event, time = truth.values["event"], truth.values["time"]
        counts = event if self.tau is None else event & (time < self.tau)
        with np.errstate(divide="ignore"):
            return np.where(counts, self.censoring.after(time) ** -2.0, 0.0)


@dataclass(frozen=True)
class SomersD(ByKind, PairBased):
    """Somers' Dxy: the share of comparable pairs ordered right, minus the share ordered wrong.

    Of a binary task 2·AUC - 1 (the Gini coefficient), of a survival task 2·C - 1 with Harrell's concordance index:
    1 where all pairs are right, 0 where a coin orders them, -1 where all are wrong (Somers 1962). It is what
    ``rms::validate`` in R calls ``Dxy``; of risks too, greater is better here.

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
        return {
            TaskKind.BINARY: OfKind(
                (Response.DECISION, Response.PROBABILITIES), Needs.EVERY_CLASS, _bound_to(RocAuc())
            ),
            TaskKind.SURVIVAL: OfKind((Response.RISK,), Needs.PAIR, _bound_to(ConcordanceIndex())),
        }

    def statistic_within(self, truth: Truth, predictions: NDArray[Any], folds: NDArray[np.intp]) -> RightMinusWrong:
        share = ConcordanceIndex() if truth.kind is TaskKind.SURVIVAL else RocAuc()
        return RightMinusWrong(share.statistic_within(truth, predictions, folds))


def _bound_to(share: RocAuc | ConcordanceIndex) -> Callable[[Truth, NDArray[Any]], RightMinusWrong]:
    return lambda truth, predictions: RightMinusWrong(share.statistic(truth, predictions))


class SharesOfPairs(PairStatistic, Fused, Protocol):
    """A statistic of shares with the fused path."""


@dataclass(frozen=True, eq=False)
class RightMinusWrong:
    """2·share - 1 of the share of pairs that is ordered right; a ``Statistic`` with the fused path."""

    shares: SharesOfPairs

    def all(self, counts: Weightings) -> Floats:
        return 2.0 * self.shares.all(counts) - 1.0

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        return 2.0 * self.shares.selected(counts, columns) - 1.0

    def defined(self, counts: Weightings) -> NDArray[np.bool_]:
        return self.shares.defined(counts)

    def best_out_of_bag(self, counts: NDArray[np.uint8]) -> Selected:
        columns, shares = self.shares.best_out_of_bag(counts)
        return Selected(columns, 2.0 * shares - 1.0)
