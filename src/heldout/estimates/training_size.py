"""From models trained on a part of the rows to training on all of them: the correction of a cross-validated value.

The models of K folds are trained on (K - 1)/K of the rows, and the delivered one on all of them. What the score
gains from (K - 2)/K to (K - 1)/K of the rows says how much more it gains on the way to all: along a curve
a + b/n, where n is the number of training rows,

    S(N) - S((K-1)N/K) = c [S((K-1)N/K) - S((K-2)N/K)],    c = (1/(K-1)) / (K/((K-1)(K-2))) = (K-2)/K.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from heldout._types import Floats
from heldout.estimates.base import OVER_TRAINING_SETS, flags_of_score
from heldout.estimates.intervals import holding
from heldout.estimates.types import Estimate, Interval
from heldout.flags import Flag
from heldout.metrics.base import Metric

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
        alone, together, before = (float(np.var(each[kept])) for each in (shifts, mean + shifts, mean))
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
        tail = 1 - interval.confidence_level
        width = float(ndtri(1 - (tail / 2 if interval.alternative == "two-sided" else tail)))
        margin = max(width, 0.0) * self.standard_error
        low = value + self.shift - math.hypot(value - interval.low, margin)
        high = value + self.shift + math.hypot(interval.high - value, margin)
        # The open side stays at the end of the metric's range.
        if interval.alternative != "two-sided":
            is_open_above = (interval.alternative == "greater") == metric.greater_is_better
            low, high = (low, interval.high) if is_open_above else (interval.low, high)
        return replace(interval, low=low, high=high)
