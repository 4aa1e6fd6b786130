"""A score and its standard error, and the interval around it; the standard error of scores of splits.

The spread of scores of splits is no standard error, because splits share training rows. Nadeau and Bengio widen the
variance according to the sizes of the parts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from heldout._text import counted
from heldout._types import Floats
from heldout.estimates.base import Method, conclude, no_value
from heldout.estimates.evidence import Evidence
from heldout.estimates.question import Settings
from heldout.estimates.types import Alternative, Estimate, Interval
from heldout.flags import Flag
from heldout.metrics.base import Metric


class Spread(NamedTuple):
    """The centre of an interval and its standard error.

    ``reason`` says, as half a sentence, why the standard error is NaN.
    """

    center: float
    standard_error: float
    degrees_of_freedom: float = math.inf
    reason: str = ""


def nadeau_bengio(
    scores: Floats, test_to_training: float, center: float | None = None, *, split: str = "outer fold"
) -> Spread:
    """s²(1/n + test rows / training rows), with n - 1 degrees of freedom (Nadeau & Bengio 2003, section 3).

    - ``scores`` (n,): of all splits of all repeats, n = K·R for K folds; NaN is left out.
    - ``test_to_training``: 1/(K - 1) in a partition.
    - ``center``: their mean by default.
    - ``split``: what a split is called.

    Examples
    --------
    >>> spread = nadeau_bengio(np.array([0.5, 0.7]), test_to_training=1.0)  # s² = .02, and 1/2 + 1 = 1.5
    >>> round(spread.center, 12), round(spread.standard_error**2, 12), spread.degrees_of_freedom
    (0.6, 0.03, 1)
    """
    defined = np.asarray(scores, dtype=np.float64)
    defined = defined[~np.isnan(defined)]
    n = len(defined)
    middle = center if center is not None else (float(defined.mean()) if n else math.nan)
    if n < 2:
        shows = "show" if n != 1 else "shows"
        return Spread(middle, math.nan, reason=f"{counted(n, split)} with a score {shows} no spread")
    if (defined == defined[0]).all():
        return Spread(middle, math.nan, n - 1, reason=f"all {split}s have the same score, which shows no spread")
    variance = float(defined.var(ddof=1))
    return Spread(middle, math.sqrt(variance * (1 / n + test_to_training)), n - 1)


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
    center = min(max(spread.center, least), greatest)  # a subtracted bias may move it beyond the range
    low, high = max(center - reach, least), min(center + reach, greatest)
    if alternative != "two-sided":
        bounded_below = (alternative == "greater") == metric.greater_is_better
        low, high = (low, greatest) if bounded_below else (least, high)
    return Interval(low, high, level, alternative)


QUANTITY = (
    "the expected performance, over training sets of the size of a fold's training part, of the winner as if it "
    "had been chosen beforehand; the interval is of this score and does not include the choice"
)


def flags_of_winner_alone(evidence: Evidence) -> dict[Flag, str]:
    """What to know of a winner that was selected, where neither value nor interval pays for it."""
    if not evidence.was_selected:
        return {}
    return {
        **Flag.UNCORRECTED.of(chosen_from=evidence.chosen_from),
        **Flag.SELECTION_IGNORED.of(),
    }


def estimate_around(
    evidence: Evidence,
    method: Method,
    spread: Spread,
    *,
    flags: Mapping[Flag, str] | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Estimate:
    """The estimate of a winner alone: its score, and the interval around it.

    Where there is no standard error, the ends are NaN, and a flag gives the reason of ``spread``.
    """
    metric, settings = evidence.metric, evidence.settings
    if math.isnan(spread.center):
        return no_value(evidence, method, f"{metric.name} has no value", uncorrected=spread.center)
    said = flags_of_winner_alone(evidence) | dict(flags or {})
    has_error = math.isfinite(spread.standard_error)
    if not has_error:
        reason = spread.reason or f"the {metric.name} of the winner has no finite standard error"
        said |= Flag.NO_BOUND.of(reason=reason)
        spread = spread._replace(standard_error=math.nan)
    return conclude(
        evidence,
        method,
        spread.center,
        uncorrected=spread.center,
        interval=interval_around(spread, metric, settings.confidence_level, settings.alternative),
        standard_error=spread.standard_error if has_error else None,
        flags=said,
        provenance={"quantity": QUANTITY, **(provenance or {})},
    )
