"""Percentile intervals from bootstrapped scores, in the metric's own units."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.estimates.types import Alternative, Interval
from heldout.metrics.base import Metric

ALTERNATIVES = ("two-sided", "greater", "less")


def order_statistic(sorted_values: NDArray[np.float64], p: float) -> float:
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


def percentile_interval(
    distribution: NDArray[np.float64], metric: Metric, confidence_level: float, alternative: Alternative
) -> Interval:
    """Order statistics of the bootstrapped scores.

    ``greater`` bounds how bad the performance can be and leaves the better side open at the best possible value;
    ``less`` bounds how good it can be. For a loss the better side is the lower one.
    """
    values = np.sort(distribution)
    level = _as_written(confidence_level)
    tail = 1 - level
    if alternative == "two-sided":
        ends = order_statistic(values, tail / 2), order_statistic(values, 1 - tail / 2)
        return Interval(*ends, level, alternative)
    least, greatest = metric.range
    bounded_below = (alternative == "greater") == metric.greater_is_better
    if bounded_below:
        return Interval(order_statistic(values, tail), greatest, level, alternative)
    return Interval(least, order_statistic(values, 1 - tail), level, alternative)


def _as_written(confidence_level: float) -> float:
    """A Python float: the .9 of ``np.float32(0.9)`` and not 0.8999999762, which would move the order statistics."""
    return float(str(confidence_level))


def check_interval_settings(n_bootstraps: int, confidence_level: float, alternative: str) -> None:
    """Refuse settings of no meaning.

    Raises
    ------
    InputError
    """
    if isinstance(n_bootstraps, bool) or not isinstance(n_bootstraps, int | np.integer) or n_bootstraps < 1:
        raise InputError(f"n_bootstraps must be an integer of at least 1, got {n_bootstraps!r}; 1000 is usual.")
    if not isinstance(confidence_level, float | int | np.floating) or not 0 < confidence_level < 1:
        raise InputError(f"confidence_level must lie between 0 and 1, got {confidence_level!r}; .95 is usual.")
    if alternative not in ALTERNATIVES:
        raise InputError(f"alternative must be one of {', '.join(ALTERNATIVES)}, got {alternative!r}.")
