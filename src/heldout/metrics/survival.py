"""Metrics of survival models: concordance of risks, and Brier scores of survival probabilities.

A concordance index is a share of pairs: of an event and a row that outlasted it, whether the risk of the event is
the greater one. Its denominator is the same for every column. Where censoring is weighed away (Uno's index, the
Brier score), its distribution is estimated once, on all rows that the metric is bound to, and is a fixed number a
row from then on: neither bootstraps nor folds nor importance weights change it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.kernels.dispatch import ConcordanceSums, best_out_of_bag
from heldout.kernels.reference import Floats, Weightings
from heldout.metrics.base import Metric, Needs, Response, Selected, Sums, is_number, name_with
from heldout.metrics.row_losses import MeanLoss, mean_loss
from heldout.task import TaskKind, Truth

_RISK: tuple[Response, ...] = (Response.RISK,)
_SURVIVAL: frozenset[TaskKind] = frozenset({TaskKind.SURVIVAL})


@dataclass(frozen=True, eq=False)
class PairShare:
    """The share of the weight of pairs that is concordant, of every column; a ``Statistic``.

    Attributes
    ----------
    sums : ConcordanceSums
        Twice the concordant weight, ties once.
    pairs : ConcordanceSums
        Of one column of equal risks, which all pairs tie in: the weight of all pairs.
    """

    sums: Sums
    pairs: Sums

    def all(self, counts: Weightings) -> Floats:
        return _share(self.sums.all(counts), self.pairs.all(counts))

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        return _share(self.sums.selected(counts, columns), self.pairs.all(counts)[:, 0])


@dataclass(frozen=True, eq=False)
class ExactPairShare(PairShare):
    """... of whole numbers, so that the greatest sum is the greatest share; with the fused path."""

    def best_out_of_bag(self, counts: NDArray[np.uint8]) -> Selected:
        columns, sums = best_out_of_bag(self.sums, counts, greatest=True)
        left_out = (counts == 0).astype(np.uint8)
        return Selected(columns, _share(sums, self.pairs.all(left_out)[:, 0]))


def _share(doubled: NDArray[Any], pairs: NDArray[Any]) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        share: Floats = doubled / (2.0 * pairs)
    return np.minimum(share, 1.0)  # sums of real weights round, and all of them may be a little more than all


def _pair_share(truth: Truth, risks: NDArray[Any], factors: Floats | None = None) -> tuple[Sums, Sums]:
    event, time = truth.values["event"], truth.values["time"]
    numbers = np.asarray(risks, dtype=np.float64)
    alike = np.zeros((len(numbers), 1))
    return ConcordanceSums(numbers, event, time, factors), ConcordanceSums(alike, event, time, factors)


@dataclass(frozen=True)
class ConcordanceIndex(Metric):
    """Harrell's concordance index: the share of comparable pairs that the risks order right, ties half.

    Two rows are comparable where the earlier time is an event; at one time, an event and a censored row are, the
    event being the earlier, and two events are not (Harrell, Lee & Mark 1996). A row that a bootstrap drew twice is
    not comparable with its copy. A constant predictor has .5; without a comparable pair it is NaN.

    Notes
    -----
    scikit-survival's ``concordance_index_censored`` with ``tied_tol=0``. Its default takes risks within 1e-8 of
    each other as tied; here only equal ones are, so that the units of the risks change nothing.

    Examples
    --------
    >>> from heldout.task import truth_of
    >>> truth = truth_of([(True, 1), (True, 3), (False, 3), (False, 8)], "survival")
    >>> bound = ConcordanceIndex().statistic(truth, np.array([[0.9], [0.4], [0.4], [0.1]]))
    >>> bound.all(np.array([[1, 1, 1, 1], [0, 2, 1, 0]], dtype=np.uint8))
    array([[0.9],
           [0.5]])
    """

    name = "concordance_index"
    sources = ("harrell1996",)
    greater_is_better = True
    responses = _RISK
    tasks = _SURVIVAL
    range = (0.0, 1.0)
    needs = Needs.PAIR
    undefined_without = Needs.PAIR

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> ExactPairShare:
        return ExactPairShare(*_pair_share(truth, predictions))


@dataclass(frozen=True, eq=False)
class Censoring:
    """The probability of not being censored until a time, by Kaplan and Meier's product.

    Events leave the rows at risk before censorings at their time do.

    Attributes
    ----------
    times : ndarray
        Distinct times, ascending.
    free : ndarray
        The probability of a censoring later than each of them.

    Examples
    --------
    >>> from heldout.task import truth_of
    >>> found = Censoring.of(truth_of([(True, 1), (False, 2), (True, 3), (False, 4)], "survival"))
    >>> found.after(np.array([0.0, 2.0, 3.5, 4.0])).round(3).tolist()
    [1.0, 0.667, 0.667, 0.0]
    """

    times: Floats
    free: Floats

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


@dataclass(frozen=True)
class ConcordanceUno(Metric):
    """Uno's concordance index: Harrell's with each pair weighted for the censoring that it escaped.

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
    >>> from heldout.task import truth_of
    >>> truth = truth_of([(True, 1), (False, 2), (True, 3), (False, 4)], "survival")
    >>> bound = ConcordanceUno().statistic(truth, np.array([[0.9], [0.3], [0.1], [0.4]]))
    >>> bound.all(np.ones((1, 4), dtype=np.uint8)).round(4)  # 3 pairs of weight 1, one of 9 / 4 that is wrong
    array([[0.5714]])
    """

    tau: float | None = None
    censoring: Censoring | None = field(default=None, repr=False, compare=False)
    sources = ("uno2011",)
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
            raise InputError(f"tau must be a time above 0, or None for all times, got {self.tau!r}.")

    def for_truth(self, truth: Truth) -> ConcordanceUno:
        """With the distribution of censoring of these rows, unless it has one already.

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
                f"{self.name} needs an event before tau={self.tau}, but there is none; give a later tau."
            )
        if np.isinf(factors).any():
            time = truth.values["time"][np.isinf(factors)].min()
            raise InputError(
                f"{self.name} divides by the probability of not being censored until each event, which is 0 at "
                f"time {time:g}; leave late events out: ho.metrics.ConcordanceUno(tau={time:g}), or an earlier one."
            )
        return bound

    def counted(self, truth: Truth) -> Truth:
        """The target with events from ``tau`` on as censored, which is what they are to the pairs."""
        if self.tau is None or truth.kind is not TaskKind.SURVIVAL:
            return truth
        values = truth.values.copy()
        values["event"] &= values["time"] < self.tau
        return replace(truth, values=values)

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> PairShare:
        bound = self if self.censoring is not None else self.for_truth(truth)
        return PairShare(*_pair_share(truth, predictions, bound._factors(truth)))

    def _factors(self, truth: Truth) -> Floats:
        assert self.censoring is not None
        event, time = truth.values["event"], truth.values["time"]
        counts = event if self.tau is None else event & (time < self.tau)
        with np.errstate(divide="ignore"):
            return np.where(counts, self.censoring.after(time) ** -2.0, 0.0)


@dataclass(frozen=True)
class IntegratedBrier(Metric):
    """Integrated Brier score of survival probabilities: their mean squared error over a span of times.

    At each time the predicted probability of no event until then is compared with what happened, rows weighted for
    the censoring that they escaped (Graf, Schmoor, Sauerbrei & Schumacher 1999); the trapezoid rule averages over
    ``times``. The distribution of censoring is estimated once on all rows of the target and taken as known, so that
    the score is a mean of one loss a row. 0 is perfect.

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
    >>> from heldout.task import truth_of
    >>> truth = truth_of([(True, 1), (True, 3), (False, 4)], "survival")
    >>> sure = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 1.0]])[:, None, :]  # of the event at time 1
    >>> IntegratedBrier(times=(1, 2)).statistic(truth, sure).all(np.ones((1, 3), dtype=np.uint8))
    array([[0.]])
    """

    times: tuple[float, ...] | None = None
    censoring: Censoring | None = field(default=None, repr=False, compare=False)
    name = "integrated_brier_score"
    sources = ("graf1999",)
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
        """With the distribution of censoring of these rows, unless it has one already.

        Raises
        ------
        InputError
            When there are no times, or they are beyond those of the target.
        """
        if self.times is None:
            raise InputError(
                f"{self.name} needs the times that its survival probabilities are of, one for each place of the "
                f"predictions' last axis; give them as '{self.name}(times=[1, 2, 5])' or "
                "ho.metrics.IntegratedBrier(times=[...])."
            )
        if truth.kind is not TaskKind.SURVIVAL or self.censoring is not None:
            return self
        first, last = float(truth.values["time"].min()), float(truth.values["time"].max())
        if self.times[0] < first or self.times[-1] >= last:
            raise InputError(
                f"times must lie within those of the target, from {first:g} to before {last:g}, got "
                f"{self.times[0]:g} to {self.times[-1]:g}; beyond, nothing is known."
            )
        return replace(self, censoring=Censoring.of(truth))

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> MeanLoss:
        bound = self.for_truth(truth)
        assert bound.times is not None and bound.censoring is not None
        times = np.array(bound.times)
        if predictions.ndim != 3 or predictions.shape[2] != len(times):
            raise InputError(
                f"{self.name} reads survival probabilities at {len(times)} times, got predictions of "
                f"{predictions.shape[2] if predictions.ndim == 3 else 1}; the last axis has one for each of times=."
            )
        time = truth.values["time"][:, None]
        gone = truth.values["event"][:, None] & (time <= times)
        gone_weight = gone * _inverse(bound.censoring.after(time)) * _trapezoid(times)
        alive_weight = (time > times) * _inverse(bound.censoring.after(times)) * _trapezoid(times)
        losses = np.einsum("nct,nt->nc", predictions**2, gone_weight)
        losses += np.einsum("nct,nt->nc", (1.0 - predictions) ** 2, alive_weight)
        return mean_loss(losses)


def _inverse(probabilities: Floats) -> Floats:
    """1 / p, and 0 where p is 0: nobody is left there to stand for others."""
    return np.where(probabilities > 0, 1.0 / np.where(probabilities > 0, probabilities, 1.0), 0.0)


def _trapezoid(times: Floats) -> Floats:
    """Weights of the trapezoid rule for the mean over ``times``."""
    steps = np.diff(times)
    weights: Floats = (np.r_[steps, 0.0] + np.r_[0.0, steps]) / (2.0 * (times[-1] - times[0]))
    return weights
