"""Intervals from bootstrapped scores, in the metric's own units: percentiles, and the calibrated ones of BBC.

Percentiles of a bootstrap of the *drawn* rows are an interval of the score. Scores of the rows that were *not*
drawn spread wider than the score itself: they are means of about .368 N of the N rows, without replacement, so that
their variance is about (e - 1) / N in units of a row's, against 1 / N. ``Calibration`` takes that back; where it
comes from and what it covers in simulations is in papers/pages/intervals.md.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from heldout._types import Booleans, Floats, Indices
from heldout.estimates.question import Settings
from heldout.estimates.types import Alternative, Interval
from heldout.flags import Flag
from heldout.metrics.base import Metric

EXACT_UNITS = 500
"""Up to so many units the mean inverse of the number left out is summed exactly; beyond, a series is as good."""
NO_WIDTH = 1e-9
"""Ends that differ by less of their size are the same but for rounding."""
SHARE_OF_OPTIMISM = 1 / 3
"""The most of a measured optimism that can be the pessimism of BBC itself (papers/pages/intervals.md)."""


def order_statistic(sorted_values: Floats, p: float) -> float:
    """The k-th smallest with k = ceil(p B), kept within 1 .. B.

    The 1e-9 keeps 1 - .95 from becoming the 51st of 1000 by a rounding error.

    Examples
    --------
    >>> values = np.arange(1.0, 1001.0)
    >>> order_statistic(values, 0.025), order_statistic(values, 0.975), order_statistic(values, 1 - 0.95)
    (25.0, 975.0, 50.0)
    """
    n = len(sorted_values)
    k = min(max(math.ceil(p * n - 1e-9), 1), n)
    return float(sorted_values[k - 1])


class Reached(NamedTuple):
    """An interval, and what to know of it: why it was widened, or why there is none."""

    interval: Interval | None
    flags: dict[Flag, str]


def no_interval(reason: str) -> Reached:
    """No interval, with the reason as half a sentence."""
    return Reached(None, Flag.NO_BOUND.of(reason=reason))


def flag_of_few_bootstraps(n_bootstraps: int, settings: Settings) -> dict[Flag, str]:
    """The flag of so few bootstraps that a percentile is the least of them, and says little of the tail."""
    wanted = math.ceil(1 / settings.tail - 1e-9)  # which keeps 20 from becoming 21 by a rounding error
    return {} if n_bootstraps >= wanted else Flag.FEW_BOOTSTRAPS.of(total=n_bootstraps, wanted=wanted)


def open_sided(low: float, high: float, metric: Metric, settings: Settings) -> Interval:
    """``greater`` leaves the better side open, to the end of the metric's range, and ``less`` the worse one."""
    if settings.alternative != "two-sided":
        least, greatest = metric.range
        bounded_below = (settings.alternative == "greater") == metric.greater_is_better
        low, high = (low, greatest) if bounded_below else (least, high)
    return Interval(low, high, settings.level, settings.alternative)


def percentile_interval(distribution: Floats, metric: Metric, settings: Settings) -> Interval:
    """Order statistics of the bootstrapped scores."""
    values, tail = np.sort(distribution), settings.tail
    return open_sided(order_statistic(values, tail), order_statistic(values, 1 - tail), metric, settings)


def bootstrap_interval(scores: Floats, metric: Metric, settings: Settings) -> Interval | None:
    """Percentiles of the bootstrapped scores that are not NaN; None where none is left."""
    defined = scores[~np.isnan(scores)]
    if not defined.size:
        return None
    return percentile_interval(defined, metric, settings)


def middle_of_columns(scores: Floats, level: float) -> tuple[Floats, Floats]:
    """(C,) each: the two-sided percentiles of the defined scores of each column (B, C); NaN where there are none.

    Examples
    --------
    >>> low, high = middle_of_columns(np.array([[1.0, np.nan], [2.0, np.nan], [3.0, np.nan], [4.0, np.nan]]), 0.5)
    >>> low.tolist(), high.tolist()
    ([1.0, nan], [3.0, nan])
    """
    tail = (1 - level) / 2
    ends = np.full((2, scores.shape[1]), np.nan)
    for column, values in enumerate(scores.T):
        numbers = np.sort(values[~np.isnan(values)])
        if numbers.size:
            ends[:, column] = order_statistic(numbers, tail), order_statistic(numbers, 1 - tail)
    return ends[0], ends[1]


def within_range(interval: Interval, metric: Metric) -> Interval:
    """The interval without what lies beyond the metric's range, where the truth cannot be.

    Examples
    --------
    >>> from heldout.metrics import metric_named
    >>> within_range(Interval(0.9, 1.002, 0.95), metric_named("roc_auc"))
    Interval(low=0.9, high=1.0, confidence_level=0.95, alternative='two-sided')
    """
    least, greatest = metric.range
    low, high = (min(max(end, least), greatest) for end in (interval.low, interval.high))
    return Interval(low, high, interval.confidence_level, interval.alternative)


def holding(value: float, interval: Interval | None, metric: Metric) -> Interval | None:
    """The interval within the metric's range and at least as far as the value; None where the value is NaN.

    Percentiles need not hold their value: a mean of scores of which a few are extreme may lie beyond them, and so
    may a score that resampled rows rarely reach. Ends of NaN, which a flag explains, stay.

    Examples
    --------
    >>> from heldout.metrics import metric_named
    >>> print(holding(1.5, Interval(-0.1, 1.3, 0.95), metric_named("mean_squared_error")))
    [0, 1.5] (95%)
    """
    if interval is None or math.isnan(value):
        return None
    inside = within_range(interval, metric)
    return replace(inside, low=min(inside.low, value), high=max(inside.high, value))


def has_no_width(interval: Interval) -> bool:
    """Whether both ends are the same but for rounding."""
    # A difference of infinities is NaN, which compares with nothing.
    if math.isinf(interval.low) or math.isinf(interval.high):
        return interval.low == interval.high
    return interval.high - interval.low <= NO_WIDTH * max(abs(interval.low), abs(interval.high))


@dataclass(frozen=True)
class Calibration:
    """How far out-of-bag percentiles are drawn in towards the value to be an interval of the score.

    Examples
    --------
    >>> round(Calibration(out_of_bag_shrinkage(100), 99).factor(0.975), 3)
    0.765
    """

    # the spread of a score of N rows over that of the rows that a bootstrap leaves out; 1/sqrt(e - 1) = .763 for
    # many units
    shrinkage: float
    degrees_of_freedom: float  # of Student's t, which few units need

    def factor(self, p: float) -> float:
        """What the distance of the p-th percentile from the value is multiplied by, at most 1."""
        # With less than one degree of freedom Student's quantile is beyond use: the percentile stays as it is.
        if self.degrees_of_freedom < 1:
            return 1.0
        # Both quantiles are 0 in the middle, where no interval ends that anyone asks for.
        student = 1.0 if abs(p - 0.5) < 1e-9 else float(stdtrit(self.degrees_of_freedom, p) / ndtri(p))
        # A factor above 1 would draw an interval out beyond its own percentiles.
        return min(self.shrinkage * student, 1.0)


def calibrated_interval(
    distribution: Floats,
    metric: Metric,
    settings: Settings,
    *,
    value: float,
    uncorrected: float,
    calibration: Calibration,
) -> Interval:
    """Percentiles of out-of-bag scores, drawn in towards their mean as the calibration says.

    The better end is then moved out by a third of the optimism, because the value is pessimistic by at most that,
    but never beyond its percentile. Both ends so lie between the value and the percentiles, inside the metric's
    range. An end whose percentile lies on the far side of the value (levels under .5) is drawn in alone.

    ``distribution`` holds no NaN, and ``value``, its mean, is finite. Where ``uncorrected``, the winner's score on
    all rows, is NaN, the better end stays at its percentile.
    """
    alternative = settings.alternative
    outer = percentile_interval(distribution, metric, settings)
    factor = calibration.factor(1 - settings.tail)
    sign = 1.0 if metric.greater_is_better else -1.0
    optimism = sign * (uncorrected - value)
    # Without an uncorrected score the optimism is unknown, and the end stays at its percentile.
    allowance = math.inf if math.isnan(optimism) else max(optimism, 0.0) * SHARE_OF_OPTIMISM
    worse, better = (outer.low, outer.high) if metric.greater_is_better else (outer.high, outer.low)
    if alternative != "less":
        worse += (1 - factor) * (value - worse)
    if alternative != "greater":
        reach = sign * (better - value)
        # How far in: less by the allowance, and never outward.
        inward = (1 - factor) * reach
        better -= sign * (max(inward - allowance, 0.0) if reach > 0 else inward)
    return Interval(min(worse, better), max(worse, better), outer.confidence_level, alternative)


def out_of_bag_shrinkage(n_units: int) -> float:
    """The standard deviation of a mean of n units over that of its out-of-bag mean.

    Given that m of n units were left out, these are drawn without replacement: the variance of their mean is
    (1/m - 1/n) S², where S² is the variance between units (divisor n - 1) and S²/n the estimated variance of the
    mean of all. The factor is sqrt((1/n) / (E[1/m] - 1/n)), over the draws that leave any unit out.

    Examples
    --------
    >>> [round(out_of_bag_shrinkage(n), 4) for n in (2, 100, 10**6)]
    [1.0, 0.7554, 0.7629]
    """
    return 1 / math.sqrt(n_units * _mean_inverse_left_out(n_units) - 1)


@lru_cache(maxsize=64)
def _mean_inverse_left_out(n: int) -> float:
    """E[1/m] of the number m >= 1 of n units that n draws with replacement leave out."""
    if n <= EXACT_UNITS:
        drawn = np.arange(n + 1)
        chances = np.zeros(n + 1)  # of so many distinct units after t draws
        chances[0] = 1.0
        for _ in range(n):
            # A draw is a new unit with the share of units not drawn yet; otherwise the number of distinct ones
            # stays.
            fresh = chances[:-1] * (n - drawn[:-1]) / n
            chances = chances * drawn / n
            chances[1:] += fresh
        left_out = n - drawn[:-1]
        # All units drawn leave none out, for which 1/m has no value; draws like that are drawn again.
        return float((chances[:-1] / left_out).sum() / chances[:-1].sum())
    mean = n * (1 - 1 / n) ** n
    # The second term of a series of 1/m around its mean.
    variance = mean + n * (n - 1) * (1 - 2 / n) ** n - mean**2
    return 1 / mean + variance / mean**3


def calibration_of(
    unit_of_row: Indices,
    sample_weight: Floats | None = None,
    classes: Sequence[Booleans] = (),
    *,
    stratified: bool = False,
) -> Calibration:
    """The calibration for some rows.

    ``classes`` are the rows (masks) of each class that the metric cannot do without: its score is no more certain
    than its smallest class, whose units make the degrees of freedom. If each class was drawn by itself
    (``stratified``), the weakest shrinkage of them serves for all.
    """
    weights = np.ones(len(unit_of_row)) if sample_weight is None else sample_weight
    of_all = effective_units(unit_of_row, weights)
    of_classes = [effective_units(unit_of_row[rows], weights[rows]) for rows in classes if rows.any()]
    drawn = of_classes if stratified else [of_all]
    return Calibration(
        shrinkage=max(out_of_bag_shrinkage(n_units) for n_units, _ in drawn),
        degrees_of_freedom=min(effective for _, effective in [of_all, *of_classes]) - 1,
    )


def effective_units(unit_of_row: Indices, sample_weight: Floats | None = None) -> tuple[int, float]:
    """How many units of any weight there are, and as how many of equal weight they count: (Σw)²/Σw².

    A unit weighs what its rows weigh together, so that groups of unequal sizes count as fewer too.

    Examples
    --------
    >>> effective_units(np.array([0, 0, 0, 1, 2]))
    (3, 2.272727272727273)
    """
    totals = np.bincount(unit_of_row, weights=sample_weight)
    # Units of weight 0 are as good as absent, and do not make a sample larger.
    totals = totals[totals > 0]
    if not totals.size:
        return 0, 0.0
    return len(totals), float(totals.sum() ** 2 / (totals**2).sum())


def standard_error_of_area(area: float, n_positive: float, n_negative: float) -> float:
    """Standard error of an AUC under exponential scores (Hanley & McNeil 1982, equation 1).

    SE² = [A(1 - A) + (n1 - 1)(Q1 - A²) + (n0 - 1)(Q2 - A²)] / (n1 n0), where Q1 = A/(2 - A) is the chance that two
    positive rows both score above a negative one, and Q2 = 2A²/(1 + A) that one scores above two negatives.

    Examples
    --------
    >>> round(standard_error_of_area(0.893, 51, 58), 4)
    0.0325
    """
    square = area**2
    q1, q2 = area / (2 - area), 2 * square / (1 + area)
    variance = area * (1 - area) + (n_positive - 1) * (q1 - square) + (n_negative - 1) * (q2 - square)
    return math.sqrt(max(variance, 0.0) / (n_positive * n_negative))


class Spread(NamedTuple):
    """The centre of an interval and its standard error.

    ``reason`` says, as half a sentence, why the standard error is NaN.
    """

    center: float
    standard_error: float
    degrees_of_freedom: float = math.inf
    reason: str = ""


def interval_around(spread: Spread, metric: Metric, confidence_level: float, alternative: Alternative) -> Interval:
    """center ∓ quantile · standard error, within the metric's range; NaN ends where there is no standard error.

    Student's quantile, or the normal one where the degrees of freedom are infinite. ``greater`` leaves the better
    side open at the best possible value, ``less`` the worse one.
    """
    settings = Settings(confidence_level=confidence_level, alternative=alternative)
    p, (least, greatest) = 1 - settings.tail, metric.range
    quantile = ndtri(p) if math.isinf(spread.degrees_of_freedom) else stdtrit(spread.degrees_of_freedom, p)
    reach = float(quantile) * spread.standard_error
    if math.isnan(reach):
        return Interval(math.nan, math.nan, settings.level, alternative)
    center = min(max(spread.center, least), greatest)  # a subtracted bias may move it beyond the range
    return open_sided(max(center - reach, least), min(center + reach, greatest), metric, settings)
