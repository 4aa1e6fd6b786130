"""Intervals of nested cross-validation, by name.

The spread of outer scores is no standard error, because outer folds share training rows. Nadeau and Bengio widen
the variance according to the sizes of the parts; Bates, Hastie and Tibshirani measure the effect with searches that
leave two folds out. Percentiles over repeats are no interval: repeats show only how much the draw of the folds
matters.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from heldout.estimates.question import Settings
from heldout.estimates.types import Alternative, Interval
from heldout.kernels.reference import Floats
from heldout.metrics.base import Metric

NADEAU_BENGIO, BATES = "nadeau_bengio", "bates_hastie_tibshirani"
INTERVALS = (NADEAU_BENGIO, BATES)
USUAL_REPEATS = 50
"""The number of partitions over which the authors' package averages the scheme with pairs."""


class Spread(NamedTuple):
    """The centre of an interval and its standard error.

    ``reason`` says, as half a sentence, why the standard error is NaN.
    """

    center: float
    standard_error: float
    degrees_of_freedom: float = math.inf
    reason: str = ""


def nadeau_bengio(scores: Floats, test_share: float, center: float | None = None) -> Spread:
    """s²(1/n + test rows / training rows), with n - 1 degrees of freedom (Nadeau & Bengio 2003, section 3).

    - ``scores`` (n,): of all outer folds of all repeats, n = K·R; NaN is left out.
    - ``test_share``: 1/(K - 1) in a partition.
    - ``center``: their mean by default.

    Examples
    --------
    >>> spread = nadeau_bengio(np.array([0.5, 0.7]), test_share=1.0)  # s² = .02, and 1/2 + 1 = 1.5
    >>> round(spread.center, 12), round(spread.standard_error**2, 12), spread.degrees_of_freedom
    (0.6, 0.03, 1)
    """
    defined = np.asarray(scores, dtype=np.float64)
    defined = defined[~np.isnan(defined)]
    n = len(defined)
    middle = center if center is not None else (float(defined.mean()) if n else math.nan)
    if n < 2:
        return Spread(middle, math.nan, reason=f"{n} outer fold{'' if n == 1 else 's'} with a score show no spread")
    if (defined == defined[0]).all():
        return Spread(middle, math.nan, n - 1, reason="all outer folds have the same score, which shows no spread")
    variance = float(defined.var(ddof=1))
    return Spread(middle, math.sqrt(variance * (1 / n + test_share)), n - 1)


@dataclass(frozen=True)
class Bates:
    """The measurements of the scheme of Bates, Hastie and Tibshirani (2024).

    ``inner``, ``outer``: mean over rows with two folds removed, and with one.
    """

    spread: Spread
    """Its center is the mean of the inner values less the bias: the value at all N training rows."""
    inner: float
    outer: float
    bias: float
    """(1 + ((K-2)/K)^1.5)(inner - outer)."""
    mean_square: float
    """mean(a_k - b_k): the squared error of a cross-validation on K - 1 folds; it may be negative."""
    inflation: float
    """The factor on the standard error of independent rows, within [1, √K]."""
    unlimited_inflation: float
    """The same before it is limited."""


def bates_hastie_tibshirani(outer: Sequence[Sequence[Floats]], inner: Sequence[Sequence[Floats]]) -> Bates:
    """The interval by nested cross-validation of Bates, Hastie & Tibshirani (2024), algorithm 1 and section 4.3.

    For fold k of every repeat, e_out are the values of its rows by the model trained without the fold, and e_in
    those of the rows of every other fold j by the model trained without j and k. With a_k = (mean e_in - mean
    e_out)² and b_k = var(e_out)/n_k:

        inflation = clip(√max(0, mean(a - b)) / (s/√(N(K-1)/K)), 1, √K),    standard error = inflation · s/√N,

    s the standard deviation of all e_in. Values are of rows, in the metric's own units; the opposite sign
    gives the same interval with the opposite sign.

    - ``outer``: e_out by repeat and fold.
    - ``inner``: e_in of each fold, all other folds together.

    Examples
    --------
    >>> outer = [[np.array([0.0, 1.0]), np.array([1.0, 1.0]), np.array([0.0, 0.0]), np.array([1.0, 0.0])]]
    >>> inner = [[np.array([0.0, 1, 1, 0, 1, 1])] * 4]
    >>> found = bates_hastie_tibshirani(outer, inner)
    >>> round(found.outer, 4), round(found.inner, 4), round(found.bias, 4)
    (0.5, 0.6667, 0.2256)
    """
    n_folds = len(outer[0])
    n_rows = sum(len(values) for values in outer[0])
    all_in = np.concatenate([values for repeat in inner for values in repeat])
    all_out = np.concatenate([values for repeat in outer for values in repeat])
    if not np.isfinite(all_in).all() or not np.isfinite(all_out).all():
        return _without_spread("a row has no finite value", math.nan, math.nan, math.nan, math.nan)
    mean_in, mean_out = float(all_in.mean()), float(all_out.mean())
    bias = (1 + ((n_folds - 2) / n_folds) ** 1.5) * (mean_in - mean_out)
    center = mean_in - bias
    if min(len(values) for repeat in outer for values in repeat) < 2:
        return _without_spread("an outer fold of one row has no variance", center, mean_in, mean_out, bias)
    deviation = float(all_in.std(ddof=1))
    if deviation == 0:
        reason = "all held-out rows have the same value, which shows no spread"
        return _without_spread(reason, center, mean_in, mean_out, bias)
    differences = [
        float((values_in.mean() - values_out.mean()) ** 2 - values_out.var(ddof=1) / len(values_out))
        for repeat_in, repeat_out in zip(inner, outer, strict=True)
        for values_in, values_out in zip(repeat_in, repeat_out, strict=True)
    ]
    mean_square = math.fsum(differences) / len(differences)
    of_independent = deviation / math.sqrt(n_rows * (n_folds - 1) / n_folds)
    unlimited = math.sqrt(max(0.0, mean_square)) / of_independent
    inflation = min(max(unlimited, 1.0), math.sqrt(n_folds))
    spread = Spread(center, inflation * deviation / math.sqrt(n_rows))
    return Bates(spread, mean_in, mean_out, bias, mean_square, inflation, unlimited)


def _without_spread(reason: str, center: float, inner: float, outer: float, bias: float) -> Bates:
    return Bates(Spread(center, math.nan, reason=reason), inner, outer, bias, math.nan, math.nan, math.nan)


def interval_around(spread: Spread, metric: Metric, confidence_level: float, alternative: Alternative) -> Interval:
    """center ∓ quantile · standard error, within the metric's range; NaN ends where there is no standard error.

    Student's quantile, or the normal one where the degrees of freedom are infinite. ``greater`` leaves the better
    side open at the best possible value, ``less`` the worse one.
    """
    level = Settings(confidence_level=confidence_level).level
    least, greatest = metric.range
    tail = (1 - level) / 2 if alternative == "two-sided" else 1 - level
    quantile = (
        ndtri(1 - tail) if math.isinf(spread.degrees_of_freedom) else stdtrit(spread.degrees_of_freedom, 1 - tail)
    )
    reach = float(quantile) * spread.standard_error
    if math.isnan(reach):
        return Interval(math.nan, math.nan, level, alternative)
    center = min(max(spread.center, least), greatest)  # the subtracted bias may move it beyond the range
    low, high = max(center - reach, least), min(center + reach, greatest)
    if alternative != "two-sided":
        bounded_below = (alternative == "greater") == metric.greater_is_better
        low, high = (low, greatest) if bounded_below else (least, high)
    return Interval(low, high, level, alternative)
