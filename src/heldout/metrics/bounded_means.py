"""Means of bounded losses: which metrics they are, and how far they stray from their expectation."""

from __future__ import annotations

import math

import numpy as np

from heldout.kernels.reference import Floats
from heldout.metrics.base import Metric


def half_width(n: float, delta: float, n_bounds: int, sides: int, width: float = 1.0) -> float:
    """How far means of n losses within a range of ``width`` stray from their expectation, all bounds at once.

    width · √(ln(sides · n_bounds / δ) / (2n)) holds with probability 1 - δ (Hoeffding 1963, theorem 2, and a union
    bound).

    Examples
    --------
    >>> round(half_width(1000, 0.05, 100, sides=2), 6)
    0.064397
    """
    return width * math.sqrt(math.log(sides * n_bounds / delta) / (2 * n))


def no_bounded_mean(metric: Metric) -> str | None:
    """Why a metric is no mean of bounded losses, as half a sentence; None where it is one.

    Examples
    --------
    >>> from heldout.metrics import metric_named
    >>> print(no_bounded_mean(metric_named("accuracy")), no_bounded_mean(metric_named("log_loss")), sep="\\n")
    None
    it needs losses within a range, and log_loss ranges from 0 to inf
    """
    if not metric.row_wise:
        return f"it bounds means of one loss a row, such as accuracy, and {metric.name} is none"
    low, high = metric.range
    if not np.isfinite([low, high]).all():
        return f"it needs losses within a range, and {metric.name} ranges from {low:g} to {high:g}"
    return None


def effective_size(weights: Floats) -> float:
    """(Σw)²/Σw²: how many equally weighted losses a weighted mean is worth, in Hoeffding's inequality exactly.

    Examples
    --------
    >>> effective_size(np.array([1.0, 1.0, 0.0])), effective_size(np.array([3.0, 1.0]))
    (2.0, 1.6)
    """
    return float(weights.sum() ** 2 / (weights @ weights))
