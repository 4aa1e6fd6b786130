"""Numbers of rows: from models of a part of the rows to all of them, and the rows that a development set needs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from heldout._types import Floats
from heldout.data.checks import check_count, check_number
from heldout.errors import InputError
from heldout.estimates.base import OVER_TRAINING_SETS, flags_of_score
from heldout.estimates.intervals import holding
from heldout.estimates.types import Estimate, Interval
from heldout.flags import Flag
from heldout.metrics.base import Metric
from heldout.metrics.row_losses import half_width


def rows_needed(epsilon: float, delta: float = 0.05, *, candidates: int, width: float = 1.0) -> int:
    """How many development rows you need so that the chosen model is at most ``epsilon`` worse than the best.

    The least n with ``w √(2 ln(2 |Θ₀| / δ) / n) ≤ ε``: with probability 1 - δ over the development set, the
    expected loss of the model chosen there exceeds that of the best of the models by at most ε (Hoeffding 1963 and
    a union bound). Symbols: ε = ``epsilon``, δ = ``delta``, ``|Θ₀|`` = ``candidates``, w = ``width``.

    Parameters
    ----------
    epsilon : float
        Above 0, in units of the metric.
    delta : float, default=.05
        Between 0 and 1.
    candidates : int
        How many models are compared, all fixed beforehand and trained on other rows.
    width : float, default=1
        Greatest minus least possible loss of a row: 1 for accuracy.

    Returns
    -------
    int
        At least 1.

    Raises
    ------
    InputError
        When a number is outside its range, or more rows are needed than can be counted.

    Examples
    --------
    >>> rows_needed(0.1, candidates=100)  # 2 ln(2 · 100 / .05) / .1²
    1659
    """
    check_number("epsilon", epsilon, above=0, usual=".05 is usual")
    _check(delta, width, candidates=candidates)
    ratio = float(width) / float(epsilon)
    # A product of two ratios is infinite where the power operator would raise.
    needed = 2 * math.log(2 * int(candidates) / float(delta)) * (ratio * ratio)
    if not math.isfinite(needed):
        raise InputError(f"`epsilon={epsilon!r}` needs more rows than can be counted; use a larger epsilon.")
    return max(1, math.ceil(needed))


def distance_to_best(rows: int, delta: float = 0.05, *, candidates: int, width: float = 1.0) -> float:
    """How much worse than the best the model chosen on ``rows`` rows can be: the inverse of ``rows_needed``.

    ``ε = w √(2 ln(2 |Θ₀| / δ) / n)``, with probability 1 - δ. Method "hoeffding" gives it as ``distance_to_best``.

    Parameters
    ----------
    rows : int
        n, the rows of the development set.
    delta, candidates, width
        As for ``rows_needed``.

    Returns
    -------
    float
        In units of the metric, 0 or more.

    Raises
    ------
    InputError
        When a number is outside its range.

    Examples
    --------
    >>> round(distance_to_best(1000, candidates=100), 4)
    0.1288
    """
    _check(delta, width, rows=rows, candidates=candidates)
    return 2 * half_width(int(rows), float(delta), int(candidates), 2, float(width))


_MOST = 10**300
"""More cannot be divided."""


def _check(delta: float, width: float, **counts: int) -> None:
    check_number("delta", delta, above=0, below=1, usual=".05 is usual")
    check_number("width", width, above=0, usual="use 1 for accuracy")
    for name, count in counts.items():
        check_count(name, count, usual="give how many there are")
        if count > _MOST:
            raise InputError(f"{name} must be at most 1e300, got a number of more digits.")


ON_ALL_ROWS = "the expected performance, over training sets of as many rows as there are,"


@dataclass(frozen=True)
class SizeCorrection:
    """What training on all rows adds to a value, in the metric's own direction and units.

    Attributes
    ----------
    shift : float
    standard_error : float
        What the shift adds to the error of the value, whose squares add up.
    """

    shift: float
    standard_error: float

    @classmethod
    def of(cls, scores: Floats, scores_of_fewer: Floats) -> SizeCorrection | None:
        """From the scores (K + 1, C) of models without one fold and without two; None without any.

        The first score is of all rows, each other one without the rows of a fold. Their variances are those of the
        jackknife over folds: for a mean over folds, that of the scores of folds, divided by K. The shift is great
        where the score is, so the variance that it adds is that of score and shift less that of the score, and at
        least its own.

        Examples
        --------
        >>> of_folds, of_fewer = np.array([0.8, 0.9, 0.7]), np.array([0.7, 0.7, 0.7])
        >>> lanes = np.ones((4, 3)) - np.vstack([np.zeros(3), np.eye(3)])
        >>> means = [(lanes @ each / lanes.sum(axis=1))[:, None] for each in (of_folds, of_fewer)]
        >>> found = SizeCorrection.of(*means)
        >>> round(found.shift, 12), round(found.standard_error, 12)  # .1/3, and (.1/√3) √((4/3)² - 1)
        (0.033333333333, 0.050917507722)
        """
        gains = scores - scores_of_fewer
        competes = np.isfinite(gains[0])
        if not competes.any():
            return None
        n_folds = len(gains) - 1
        shifts = (n_folds - 2) / n_folds * gains[:, competes].mean(axis=1)
        mean = scores[:, competes].mean(axis=1)
        kept = np.flatnonzero(np.isfinite(shifts[1:])) + 1
        if len(kept) < 2:
            return None
        alone, together, before = (float(np.var(numbers[kept])) for numbers in (shifts, mean + shifts, mean))
        return cls(float(shifts[0]), math.sqrt((len(kept) - 1) * max(together - before, alone)))

    def applied(self, estimate: Estimate, metric: Metric, provenance: Mapping[str, Any]) -> Estimate:
        """The estimate of training on all rows: the interval moves with the value, and is wider."""
        least, greatest = metric.range
        value = min(max(estimate.value + self.shift, least), greatest)
        interval = None if estimate.interval is None else self._moved(estimate.interval, estimate.value, metric)
        interval = holding(value, interval, metric)
        flags = {flag: text for flag, text in estimate.flags.items() if flag is not Flag.NOT_BETTER_THAN_GUESSING}
        quantity = str(estimate.provenance.get("quantity", "")).replace(OVER_TRAINING_SETS, ON_ALL_ROWS)
        se = estimate.standard_error
        return replace(
            estimate,
            value=value,
            interval=interval,
            optimism=(estimate.uncorrected - value) * (1 if metric.greater_is_better else -1),
            standard_error=None if se is None else math.hypot(se, self.standard_error),
            distribution=None if estimate.distribution is None else estimate.distribution + self.shift,
            flags=flags | flags_of_score(metric, value, interval, estimate.constant),
            coverage=None,  # measured of intervals without a correction
            provenance={
                **estimate.provenance,
                **({"quantity": quantity} if quantity else {}),
                "training_size_correction": {
                    "shift": self.shift, "standard_error": self.standard_error, "value_without": estimate.value,
                    "optimism_without": estimate.optimism, **provenance,
                },
            },
        )  # fmt: skip

    def _moved(self, interval: Interval, value: float, metric: Metric) -> Interval:
        margin = max(float(ndtri(1 - interval.tail)), 0.0) * self.standard_error
        low = value + self.shift - math.hypot(value - interval.low, margin)
        high = value + self.shift + math.hypot(interval.high - value, margin)
        # The open side stays at the end of the metric's range.
        if interval.alternative != "two-sided":
            is_open_above = (interval.alternative == "greater") == metric.greater_is_better
            low, high = (low, interval.high) if is_open_above else (interval.low, high)
        return replace(interval, low=low, high=high)
