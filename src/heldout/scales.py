"""How scores are shown: with as many decimals as the uncertainty allows, losses in their own units, and in colours.

Every series differs from the others in more than its colour (dash, shape, fill or label), and colours are those
of Okabe and Ito.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from heldout._record import json_number
from heldout._text import number_text
from heldout._types import Floats
from heldout.errors import InputError, plain_values
from heldout.estimates.types import Estimate, Interval, decimals_of
from heldout.metrics.base import Metric
from heldout.metrics.named import metric_named, metric_words

INK, MUTED, GRID, BAND = "#1c2024", "#58616b", "#e4e7ea", "#d7e6f1"
BLUE, VERMILLION, GREEN, ORANGE = "#0072b2", "#d55e00", "#009e73", "#e69f00"
SKY, PURPLE, BLACK = "#56b4e9", "#cc79a7", "#1c2024"
SERIES = ((BLUE, ()), (VERMILLION, (6, 3)), (GREEN, (2, 2)), (PURPLE, (8, 3, 2, 3)), (ORANGE, (10, 4)))
MORE_SERIES = ((SKY, (4, 2, 1, 2)), (BLACK, (1, 3)))
PAGE_COLOURS = {
    INK: "var(--ink)", MUTED: "var(--muted)", GRID: "var(--grid)", BAND: "var(--area)", BLUE: "var(--blue)",
    VERMILLION: "var(--vermillion)", SKY: "var(--sky)", "#ffffff": "var(--paper)", "#000000": "var(--ink)",
}  # fmt: skip
"""What a page calls these colours, which differ in its dark scheme."""


@dataclass(frozen=True)
class Scale:
    """How one metric is shown."""

    title: str
    """The readable name: "ROC AUC"."""
    definition: str
    """What it measures; empty for a metric of the user's own."""
    greater_is_better: bool
    """The direction of the numbers shown."""
    sign: int = 1
    """-1 for scikit-learn's ``neg_`` losses, which are negative and shown as positive losses."""
    decimals: int = 3
    ideal: float | None = None
    """The best value of a metric without a better direction."""
    least: float | None = None
    greatest: float | None = None
    """The least and the greatest possible value, as shown, where figures end; None of a side without one."""

    @property
    def range(self) -> tuple[float, float]:
        """Both ends, infinite on a side without one."""
        return -math.inf if self.least is None else self.least, math.inf if self.greatest is None else self.greatest

    def within(self, value: float) -> float:
        """A number of a figure, at an end of the range if it lies beyond: spreads and controlled scores may."""
        return min(max(value, self.range[0]), self.range[1])

    def shown(self, value: float | None) -> float | None:
        """A value as shown; None if it is not finite."""
        return None if value is None else json_number(self.sign * float(value) + 0.0)  # no zero of sign minus

    def text(self, value: float | None) -> str:
        """A value, which is as it is shown, with the decimals that its uncertainty allows."""
        return number_text(value, self.decimals)

    def interval_text(self, label: str, low: float | None, high: float | None) -> str:
        """An interval, which is as it is shown, after its level; empty without one. An open end is None.

        Examples
        --------
        >>> Scale("ROC AUC", "", True, decimals=2).interval_text("95 % confidence interval", 0.8, 0.9)
        '95 % confidence interval 0.80 to 0.90'
        """
        if low is None or high is None:
            side, end = ("at most", high) if low is None else ("at least", low)
            return "" if end is None else f"{label}: {side} {self.text(end)}"
        return f"{label} {self.text(low)} to {self.text(high)}"

    def many(self, values: Floats) -> tuple[float | None, ...]:
        return tuple(self.shown(value) for value in values.tolist())

    def ends(self, interval: Interval | None) -> tuple[float | None, float | None]:
        """Low and high end as shown."""
        if interval is None:
            return None, None
        low, high = self.shown(interval.low), self.shown(interval.high)
        return (low, high) if self.sign > 0 else (high, low)

    def closed_ends(self, interval: Interval | None) -> tuple[float | None, float | None]:
        """Low and high end as shown; None where a one-sided interval is open: all it says there is the range.

        Examples
        --------
        >>> Scale("Log loss", "", False, sign=-1).closed_ends(Interval(-0.5, 0.0, 0.95, "greater"))
        (None, 0.5)
        """
        low, high = self.ends(interval)
        if interval is None or interval.alternative == "two-sided":
            return low, high
        is_open_below = (interval.alternative == "less") == self.greater_is_better
        return (None, high) if is_open_below else (low, None)


def scale_of(
    metric: str,
    greater_is_better: bool,
    estimate: Estimate | None = None,
    scores: Iterable[float] = (),
    *,
    ideal: float | None = None,
    possible: tuple[float, float] = (-math.inf, math.inf),
) -> Scale:
    """The scale on which a metric, its estimate and its fold scores are shown; ``possible`` is its range.

    Examples
    --------
    >>> scale = scale_of("neg_log_loss", True, scores=[-0.25, -0.75])
    >>> scale.title, scale.greater_is_better, scale.shown(-0.25)
    ('Log loss', False, 0.25)
    """
    title, definition = metric_words(metric)
    negated = metric.startswith("neg_") and greater_is_better
    ends = sorted(-end + 0.0 for end in possible) if negated else possible
    least, greatest = map(json_number, ends)
    better, sign = greater_is_better != negated, -1 if negated else 1
    return Scale(title, definition, better, sign, decimals_of(estimate, scores), ideal, least, greatest)


def scale_of_metric(metric: Metric, estimate: Estimate | None = None, scores: Iterable[float] = ()) -> Scale:
    """The scale of a metric whose declaration is known."""
    return scale_of(
        metric.name, metric.greater_is_better, estimate, scores, ideal=metric.ideal, possible=metric.range
    )


def scale_of_estimate(estimate: Estimate) -> tuple[Scale, bool]:
    """The scale of an estimate that stands alone, and whether the direction of its metric is known.

    The direction of a metric of the user's own follows from the optimism, unless that is 0.
    """
    try:
        metric = metric_named(estimate.metric)
    except InputError:
        flattered = (estimate.uncorrected - estimate.value) * estimate.optimism
        return scale_of(estimate.metric, bool(flattered >= 0), estimate), bool(flattered)
    return scale_of_metric(metric, estimate), True


def reach_of(
    values: Sequence[float], possible: tuple[float, float] = (-math.inf, math.inf), *, share: float = 0.05
) -> tuple[float, float]:
    """Both ends of an axis: a margin around the values, which ends where the metric's range does.

    Examples
    --------
    >>> [round(end, 3) for end in reach_of([0.5, 0.98])], reach_of([0.9, 1.0], (0.0, 1.0))[1]
    ([0.476, 1.004], 1.0)
    """
    low, high = min(values), max(values)
    margin = share * (high - low) or 0.01 * abs(low) or 1.0
    return max(low - margin, possible[0]), min(high + margin, possible[1])


def plain(value: Any) -> str:
    """A parameter or setting as text that is the same in every process."""
    text = value if isinstance(value, str) else plain_values(repr(value))
    return text if len(text) <= 300 else text[:299] + "…"
