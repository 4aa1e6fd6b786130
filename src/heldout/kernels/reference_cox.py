"""The kernel of Cox's partial likelihood of one covariate: its maximum, and its value there, at 0 and at 1.

The likelihood is a sum over *steps*. An event that is alone at its time is one step: its log hazard minus the
logarithm of the sum of the hazards of the rows at risk. For d tied events Efron's approximation takes d steps, and
from step to step 1/d of the hazards of the tied events leaves the sum; Breslow's uses the whole sum for all of
them.

A weight is a number of rows. A row that a bootstrap drew twice is two tied events, and the likelihood is that of
the repeated rows. R's ``coxph(weights=)`` differs: it takes as many of Efron's steps as the table has rows, for any
weights. For fractional weights the last step is shorter, so that the likelihood is a continuous function of the
weights and agrees with that of counts. Breslow's is the same in both.

There is no compiled twin: NumPy computes all weightings together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from heldout._types import Array, Booleans, Floats, Indices, Weightings
from heldout.kernels.reference import Columns, check_columns, check_weightings, refuse_nan, refuse_other_lengths

Ties: TypeAlias = Literal["efron", "breslow"]

MOST_PASSES = 200
CLOSE_ENOUGH = 1e-9
"""A step this small ends the search: Newton's next error is its square."""
FIRST_MOVE = 8.0
"""How far the first step may move the log hazards of two rows apart. Each step doubles the limit until the maximum
is enclosed, so that every maximum can be reached."""
DEEPEST = 500.0
"""Log hazards further than this below the greatest at risk get a shift of their own, because e^-745 is 0."""
MOST_STEPS = 1000
"""Most steps at one time under real weights; more weight than that takes longer steps."""
NUMBERS_AT_ONCE = 1 << 18
"""Rows and steps that are computed together, which should fit a cache; no result depends on it."""

SLOPE, AT_ZERO, AT_ONE, AT_SLOPE = range(4)
"""Places in a fit: the slope, and the log-likelihood at 0, at 1 and at the slope (or its limit)."""


class CoxFits(Columns):
    """Maximum-likelihood slope of the Cox regression of a survival target on every column.

    The slope is NaN if no finite slope is the best: if no event has weight, or if at each event the row with the
    event has the greatest (or each time the least) value among the rows at risk. The log-likelihood at the slope is
    then the limit for ever steeper slopes; if all values at risk are equal, it is the same for all slopes.
    ``values`` (n, C) are log hazards, all finite; ``event`` and ``time`` (n,) are the target.

    Examples
    --------
    >>> event, time = np.array([True, True, True, False]), np.array([1.0, 2.0, 3.0, 4.0])
    >>> fits = CoxFits(np.array([[1.0], [0.0], [1.0], [0.0]]), event, time)
    >>> fits.all(np.ones((1, 4), dtype=np.uint8)).round(4)
    array([[[ 0.9406, -3.1781, -2.8711, -2.87  ]]])
    """

    def __init__(self, values: Floats, event: Booleans, time: Floats, ties: Ties = "efron") -> None:
        super().__init__(values.shape)
        refuse_nan(values)
        if not np.isfinite(values).all():
            raise ValueError("log hazards must be finite")
        refuse_other_lengths(len(values), event, time)
        self._risk_sets = RiskSets.of(event, time)
        self._ties = ties
        # Centred, so that sums of squares keep their digits.
        middles = (
            (values.min(axis=0, initial=np.inf) + values.max(axis=0, initial=-np.inf)) / 2 if len(values) else 0
        )
        self._centred = np.ascontiguousarray((values - middles).T[:, self._risk_sets.order])

    def all(self, counts: Weightings) -> Floats:
        """(L, C, 4): slope, and log-likelihood at 0, at 1 and at the slope."""
        check_weightings(counts, self.n_rows)
        lanes, columns = np.indices((len(counts), self.n_columns)).reshape(2, -1)
        return self._fits(counts, lanes, columns).reshape(len(counts), self.n_columns, 4)

    def selected(self, counts: Weightings, columns: Indices) -> Floats:
        """(L, 4)."""
        check_weightings(counts, self.n_rows)
        check_columns(columns, len(counts), self.n_columns)
        return self._fits(counts, np.arange(len(counts)), columns)

    def _fits(self, counts: Weightings, lanes: Indices, columns: Indices) -> Floats:
        """(M, 4): the fits of column ``columns[m]`` under weighting ``lanes[m]``."""
        out = np.empty((len(lanes), 4))
        weights = counts[:, self._risk_sets.order]
        most_steps = self._risk_sets.steps_of(weights, self._ties).max(initial=0)
        # By the longest of all weightings, so that no part exceeds the cache.
        at_once = max(1, NUMBERS_AT_ONCE // int(self.n_rows + most_steps + 1))
        for first in range(0, len(lanes), at_once):
            part = slice(first, first + at_once)
            likelihoods = _Likelihoods.of(
                self._risk_sets, weights[lanes[part]], self._centred[columns[part]], self._ties
            )
            out[part] = _maximised(likelihoods)
        return out


@dataclass(frozen=True, eq=False)
class RiskSets:
    """The rows at risk at the time of each event: in descending order of time they come first."""

    order: Indices  # (n,): rows by descending time
    ends: Indices  # (G,): for each of G times of events, the place in that order of the last row at risk
    events: Indices  # (E,): places of the events in that order
    starts: Indices  # (G,): where the events of each time begin in ``events``

    @classmethod
    def of(cls, event: Booleans, time: Floats) -> RiskSets:
        # Descending, so that the rows at risk at a time are a beginning of the order, and sums are cumulated once.
        order = np.argsort(-time, kind="stable")
        ordered = -time[order]
        events = np.flatnonzero(event[order])
        times, starts = np.unique(ordered[events], return_index=True)
        # ``right``: rows censored at the time of an event are at risk there.
        ends = np.searchsorted(ordered, times, side="right") - 1
        return cls(order, ends.astype(np.intp), events, starts.astype(np.intp))

    def at_risk(self, values: Array) -> Floats:
        """(M, G): sums of (M, n) over the rows at risk at each time."""
        sums: Floats = np.cumsum(values, axis=1)[:, self.ends]
        return sums

    def of_events(self, values: Array) -> Floats:
        """(M, G): sums of (M, n) over the events of each time."""
        if not self.starts.size:
            return np.zeros((len(values), 0))
        sums: Floats = np.add.reduceat(np.ascontiguousarray(values[:, self.events]), self.starts, axis=1)
        return sums

    def steps_of(self, weights: Weightings, ties: Ties) -> Indices:
        """(L,): the number of steps of the likelihood of each of L weightings."""
        events = self.of_events(weights.astype(np.float64))
        sizes = events > 0 if ties == "breslow" else np.ceil(np.minimum(events, _most(weights)))
        steps: Indices = sizes.sum(axis=1).astype(np.intp)
        return steps


def _most(weights: Weightings) -> float:
    return np.inf if weights.dtype == np.uint8 else MOST_STEPS


class Steps(NamedTuple):
    """The steps of M likelihoods, each (P,), in the order of lanes and within each by times.

    ``left`` is the share of the hazards of tied events that has left the sum before the step, ``weight`` the length
    of the step.
    """

    lane: Indices
    time: Indices
    left: Floats
    weight: Floats

    def part(self, which: Array) -> Steps:
        """Some of the steps, selected by their places or by a mask."""
        return Steps(self.lane[which], self.time[which], self.left[which], self.weight[which])

    @classmethod
    def of(cls, events: Floats, ties: Ties, most: float = np.inf) -> Steps:
        """From the weight of the events at each time, (M, G)."""
        lane, time = np.nonzero(events > 0)
        tied = events[lane, time]
        if ties == "breslow":
            return cls(lane, time, np.zeros_like(tied), tied)
        length = np.maximum(1.0, tied / most)
        number = np.ceil(tied / length).astype(np.intp)
        which = np.repeat(np.arange(len(tied)), number)
        # How much of the tied weight went before each step: Efron's share that has left the sum.
        begun = (np.arange(len(which)) - np.repeat(np.cumsum(number) - number, number)) * length[which]
        weight = np.minimum(length[which], tied[which] - begun)
        return cls(lane[which], time[which], begun / tied[which], weight)


@dataclass(frozen=True, eq=False)
class _Likelihoods:
    """The partial likelihoods of M lanes, each with its own column and its own weights.

    ``x`` and ``weights`` are (M, n), rows in the order of the risk sets.
    """

    risk_sets: RiskSets
    x: Floats
    weights: Floats
    steps: Steps
    ends: tuple[Floats, Floats]
    """The least and the greatest value with weight, each (M,)."""
    of_events: Floats = field(repr=False)
    """(M,): the weighted sum of the values of events."""

    @classmethod
    def of(cls, risk_sets: RiskSets, counts: Weightings, x: Floats, ties: Ties) -> _Likelihoods:
        weights = counts.astype(np.float64)
        steps = Steps.of(risk_sets.of_events(weights), ties, _most(counts))
        present = weights > 0
        least = np.where(present, x, np.inf).min(axis=1, initial=np.inf)
        greatest = np.where(present, x, -np.inf).max(axis=1, initial=-np.inf)
        return cls(risk_sets, x, weights, steps, (least, greatest), risk_sets.of_events(weights * x).sum(axis=1))

    def part(self, lanes: Indices) -> _Likelihoods:
        """Some of the lanes, in ascending order."""
        if len(lanes) == len(self.x):
            return self
        # Lanes get new numbers without gaps, which steps refer to.
        new = np.full(len(self.x), -1, dtype=np.intp)
        new[lanes] = np.arange(len(lanes))
        kept = new[self.steps.lane] >= 0
        steps = self.steps.part(kept)
        steps = steps._replace(lane=new[steps.lane])
        ends = self.ends[0][lanes], self.ends[1][lanes]
        return _Likelihoods(self.risk_sets, self.x[lanes], self.weights[lanes], steps, ends, self.of_events[lanes])

    def falls(self) -> tuple[Booleans, Booleans]:
        """Whether the likelihood falls as the slope goes to plus, and to minus infinity, each (M,)."""
        sets, present = self.risk_sets, self.weights > 0
        group = np.repeat(np.arange(len(sets.ends)), np.diff(np.r_[sets.starts, len(sets.events)]))
        risks, counted = self.x[:, sets.events], present[:, sets.events]
        greatest = np.maximum.accumulate(np.where(present, self.x, -np.inf), axis=1)[:, sets.ends[group]]
        least = np.minimum.accumulate(np.where(present, self.x, np.inf), axis=1)[:, sets.ends[group]]
        exceeded, undercut = counted & (risks < greatest), counted & (risks > least)
        return np.asarray(exceeded.any(axis=1)), np.asarray(undercut.any(axis=1))

    def approached(self, downwards: bool) -> Floats:
        """(M,): the limit of a log-likelihood that never falls, for slopes to plus (or minus) infinity.

        Every event has the greatest (or least) value at risk, and shares its hazard with the rows with the same
        value.
        """
        x = -self.x if downwards else self.x
        greatest = np.maximum.accumulate(np.where(self.weights > 0, x, -np.inf), axis=1)[:, self.risk_sets.ends]
        sharing = np.empty(greatest.shape)
        for time, end in enumerate(self.risk_sets.ends + 1):
            sharing[:, time] = (self.weights[:, :end] * (x[:, :end] == greatest[:, time, None])).sum(axis=1)
        lane, at, left, weight = self.steps
        sums = sharing[lane, at] - left * self.risk_sets.of_events(self.weights)[lane, at]
        return -self._total(weight * np.log(sums))

    def value(self, slope: Floats) -> Floats:
        """(M,): the log-likelihood at one slope per lane."""
        (sums,), shift = self._of_steps(slope, [None])
        with np.errstate(divide="ignore", invalid="ignore"):
            taken = self._total(self.steps.weight * (np.log(sums) + shift))
            gradient: Floats = slope * self.of_events - taken
        return np.where(np.isfinite(gradient), gradient, np.nan)

    def derivatives(self, slope: Floats) -> tuple[Floats, Floats]:
        """The gradient and the negative second derivative, each (M,)."""
        (sums, of_x, of_squares), _ = self._of_steps(slope, [None, self.x, self.x * self.x])
        with np.errstate(divide="ignore", invalid="ignore"):
            mean, square = of_x / sums, of_squares / sums
            gradient = self.of_events - self._total(self.steps.weight * mean)
            return gradient, self._total(self.steps.weight * (square - mean * mean))

    def _of_steps(self, slope: Floats, factors: Sequence[Floats | None]) -> tuple[list[Floats], Floats]:
        """Sums (P,) of hazards over the rows at risk, times each factor (M, n), without what has left of the tied.

        The hazards are divided by e to the power of the second result (P,), which is near the greatest log hazard
        at risk. So a row that enters later, with however large a hazard, costs the earlier ones no digits.
        """
        with np.errstate(invalid="ignore", over="ignore"):
            shift = np.maximum(slope * self.ends[0], slope * self.ends[1])
            # Rows without weight may have greater values.
            relative = np.minimum(slope[:, None] * self.x - shift[:, None], 0.0)
        depth = self._depth(slope, relative)
        if depth is None:
            return self._sums(self.weights * np.exp(relative), factors, self.steps), shift[self.steps.lane]
        sums = [np.empty(len(depth)) for _ in factors]
        for deep in np.unique(depth):
            at = np.flatnonzero(depth == deep)
            hazards = self.weights * np.exp(np.minimum(relative + deep, 0.0))
            totals = self._sums(hazards, factors, self.steps.part(at))
            for into, part in zip(sums, totals, strict=True):
                into[at] = part
        return sums, shift[self.steps.lane] - depth

    def _sums(self, hazards: Floats, factors: Sequence[Floats | None], steps: Steps) -> list[Floats]:
        """The sums of ``_of_steps`` for some of the steps."""
        where, sums = (steps.lane, steps.time), []
        for factor in factors:
            values = hazards if factor is None else hazards * factor
            sums.append(
                self.risk_sets.at_risk(values)[where] - steps.left * self.risk_sets.of_events(values)[where]
            )
        return sums

    def _depth(self, slope: Floats, relative: Floats) -> Floats | None:
        """(P,): how far the greatest log hazard at risk is below that of all rows, down to multiples of 500.

        None if it is 0 in all steps.
        """
        with np.errstate(invalid="ignore", over="ignore"):
            apart = np.abs(slope) * (self.ends[1] - self.ends[0])
        if not (apart > DEEPEST).any():
            return None
        of_weight = np.where(self.weights > 0, relative, -np.inf)
        greatest = np.maximum.accumulate(of_weight, axis=1)[:, self.risk_sets.ends]
        depth: Floats = (np.floor(-greatest / DEEPEST) * DEEPEST)[self.steps.lane, self.steps.time]
        return depth

    def _total(self, values: Floats) -> Floats:
        """(M,): sums of (P,) over the steps of each lane, in order."""
        sums: Floats = np.bincount(self.steps.lane, weights=values, minlength=len(self.x)).astype(np.float64)
        return sums


def _maximised(likelihoods: _Likelihoods) -> Floats:
    """(M, 4)."""
    n_lanes = len(likelihoods.x)
    zeros, ones = np.zeros(n_lanes), np.ones(n_lanes)
    at_zero = likelihoods.value(zeros)
    falls_right, falls_left = likelihoods.falls()
    slope = np.full(n_lanes, np.nan)
    lanes = np.flatnonzero(falls_right & falls_left)
    slope[lanes] = _newton(likelihoods.part(lanes))
    at_slope = likelihoods.value(slope)
    for flat, downwards in ((~falls_right & falls_left, False), (falls_right & ~falls_left, True)):
        some = np.flatnonzero(flat)
        at_slope[some] = likelihoods.part(some).approached(downwards)
    level = ~falls_right & ~falls_left
    at_slope[level] = at_zero[level]
    return np.stack([slope, at_zero, likelihoods.value(ones), at_slope], axis=1)


def _newton(likelihoods: _Likelihoods) -> Floats:
    """(M,): the maximum of each likelihood, which is concave.

    Newton's steps from 0. Once an interval is known in which the gradient changes its sign, a step that would leave
    it, or that is more than half as long as the step before the last, is replaced by halving the interval. So the
    interval shrinks for every likelihood.
    """
    slope = np.full(len(likelihoods.x), np.nan)
    lanes, rest, search = np.arange(len(slope)), likelihoods, _Search.of(likelihoods)
    for _ in range(MOST_PASSES):
        if not lanes.size:
            break
        solution, search = search.moved(*rest.derivatives(search.at))
        arrived = ~np.isnan(solution)
        slope[lanes[arrived]] = solution[arrived]
        going = np.flatnonzero(~arrived & np.isfinite(search.at))
        lanes, rest, search = lanes[going], rest.part(going), search.part(going)
    return slope


class _Search(NamedTuple):
    """Where the searches for M maxima are, each (M,).

    ``low`` and ``high`` enclose the maximum, ``reach`` is the range of the values of a lane, ``largest`` the limit
    of a step's length, and ``before`` and ``last`` are the lengths of the last two steps.
    """

    at: Floats
    low: Floats
    high: Floats
    reach: Floats
    largest: Floats
    before: Floats
    last: Floats

    @classmethod
    def of(cls, likelihoods: _Likelihoods) -> _Search:
        reach = likelihoods.ends[1] - likelihoods.ends[0]
        endless = np.full(len(reach), np.inf)
        with np.errstate(divide="ignore", over="ignore"):
            return cls(np.zeros(len(reach)), -endless, endless, reach, FIRST_MOVE / reach, endless, endless)

    def part(self, lanes: Indices) -> _Search:
        """Some of the searches."""
        return _Search(*(values[lanes] for values in self))

    def moved(self, gradient: Floats, curvature: Floats) -> tuple[Floats, _Search]:
        """(M,): the maximum of each search that ended, NaN for the others; and the next searches."""
        at, reach = self.at, self.reach
        low, high = np.where(gradient >= 0, at, self.low), np.where(gradient <= 0, at, self.high)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            # Without curvature (or with less than its rounding error) take the largest step.
            newton = np.where(curvature > 0, gradient / curvature, np.sign(gradient) * np.inf)
            step = np.where(gradient == 0, 0.0, np.clip(newton, -self.largest, self.largest))
            close = CLOSE_ENOUGH * (1.0 + np.abs(at) * reach)
            arrived = (np.abs(step) * reach <= close) | ((high - low) * reach <= close)
            enclosed = np.isfinite(high - low)
            poor = (at + step <= low) | (at + step >= high) | (np.abs(step) > self.before / 2)
            onward = np.where(enclosed & poor, (low + high) / 2, at + step)
        places = np.where(arrived, np.clip(at + step, low, high), np.nan)
        largest = np.where(enclosed, self.largest, 2 * self.largest)
        return places, _Search(onward, low, high, reach, largest, self.last, np.abs(onward - at))
