"""Differences between algorithms on the same outer folds, and which differences are relevant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import stdtr

from heldout._notebook import line
from heldout._text import number_text
from heldout._types import Floats
from heldout.estimates.spread import interval_around, nadeau_bengio
from heldout.estimates.types import Interval, json_number
from heldout.metrics.custom import OpaqueMetric

_DIFFERENCE = OpaqueMetric("difference of nested scores")
"""Greater is better, and without bounds."""

ARTICLE, GIVEN = "article", "given"


@dataclass(frozen=True)
class AlgorithmDifference:
    """How much better the nested score of one algorithm is than that of another.

    Attributes
    ----------
    first, second : str
    value : float
        Positive where ``first`` is better, for scores and losses alike: the difference of the nested scores.
    interval : Interval
        By the corrected t of Nadeau and Bengio (2003), which widens the variance because outer folds share training
        rows. Of this pair alone.
    p_value : float
        Two-sided, of the same t: that the two are equally good. Of this pair alone.
    adjusted_interval, adjusted_p_value : Interval, float
        The same by Bonferroni for all pairs together.
    is_relevant : bool or None
        Whether the difference is greater than the threshold of relevance; None without a difference or threshold.
    """

    first: str
    second: str
    value: float
    interval: Interval
    p_value: float
    adjusted_interval: Interval
    adjusted_p_value: float
    is_relevant: bool | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "first": self.first,
            "second": self.second,
            "value": json_number(self.value),
            "interval": self.interval.to_dict(),
            "p_value": json_number(self.p_value),
            "adjusted_interval": self.adjusted_interval.to_dict(),
            "adjusted_p_value": json_number(self.adjusted_p_value),
            "is_relevant": self.is_relevant,
        }

    def __str__(self) -> str:
        words = {None: "", True: "; above the threshold", False: "; within the threshold"}[self.is_relevant]
        is_only = self.interval.confidence_level == self.adjusted_interval.confidence_level
        together = "" if is_only else f", for all pairs together {self.adjusted_interval}"
        return f"{self.first} against {self.second}: {self.words} {self.interval}{together}{words}"

    def _repr_html_(self) -> str:
        return line(str(self))

    @property
    def words(self) -> str:
        """How ``first`` compares, by the absolute difference: "0.0106 better", "0.26 worse" or "as good"."""
        if self.value == 0:
            return "as good"
        side = "" if np.isnan(self.value) else " better" if self.value > 0 else " worse"
        return f"{_number(abs(self.value))}{side}"


@dataclass(frozen=True)
class Relevance:
    """What the nested selection gains over the flat one, and the threshold from which a difference is relevant.

    Attributes
    ----------
    gain : float
        Nested score of the algorithm that nested scores select, minus that of the one that flat scores select; 0
        where they are the same, never negative.
    threshold : float
        Absolute differences above it are relevant.
    source : {"article", "given"}
        The rule of Wainer and Cawley, or a number of the user's own.
    is_relevant : bool or None
        None without a gain or a threshold.
    """

    gain: float
    threshold: float
    source: str
    is_relevant: bool | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "gain": json_number(self.gain),
            "threshold": json_number(self.threshold),
            "source": self.source,
            "is_relevant": self.is_relevant,
        }

    def _repr_html_(self) -> str:
        return line(str(self))

    def __str__(self) -> str:
        if self.is_relevant is None:
            return "Whether the nested selection gains anything is unknown, because a score is missing."
        verdict = "is relevant" if self.is_relevant else "is not relevant"
        return (
            f"The nested selection gains {_number(self.gain)} over the flat one; the threshold is "
            f"{_number(self.threshold)}, so this {verdict}."
        )


def relevance_of(
    flat: Floats, nested: Floats, by_flat: int | None, by_nested: int | None, threshold: float | None
) -> Relevance:
    """The gain of the nested selection, against a threshold.

    Wainer and Cawley (2021, section 2.1, equations 11 and 12) take, for each of the two algorithms selected, the
    error of the nested score against the score on future rows, and the smaller of the two errors. There are no
    future rows here. Appendix A (first alternative analysis) has a form without them, |nested - flat|, which
    is the default.

    - ``flat``, ``nested`` (A,): oriented, greater = better.
    - ``by_flat``, ``by_nested``: the algorithms that they select.
    - ``threshold``: the user's own; None for that of the article.

    Examples
    --------
    >>> relevance_of(np.array([0.90, 0.89]), np.array([0.80, 0.85]), 0, 1, None)  # the smaller of .10 and .04
    Relevance(gain=0.05, threshold=0.04, source='article', is_relevant=True)
    """
    source = ARTICLE if threshold is None else GIVEN
    if by_flat is None or by_nested is None:
        return Relevance(float("nan"), float("nan") if threshold is None else threshold, source, None)
    gain = _rounded(nested[by_nested] - nested[by_flat])
    if threshold is None:
        errors = [abs(nested[each] - flat[each]) for each in (by_flat, by_nested)]
        threshold = _rounded(min(errors)) if not np.isnan(errors).any() else float("nan")
    return Relevance(gain, threshold, source, _exceeds(gain, threshold))


def _rounded(value: float) -> float:
    """Without the last bits, in which equal means can differ."""
    return float(np.round(value, 14))


def _exceeds(value: float, threshold: float) -> bool | None:
    return None if np.isnan(value) or np.isnan(threshold) else bool(abs(value) > threshold)


def differences_of(
    names: Sequence[str],
    outer: Floats,
    test_share: float,
    threshold: float,
    confidence_level: float,
    nested: Floats | None = None,
) -> tuple[AlgorithmDifference, ...]:
    """The difference of every pair of algorithms.

    - ``outer`` (splits, A): nested scores, oriented; a fold without the score of one of the two is left out.
    - ``test_share``: test rows over training rows.
    - ``nested`` (A,): nested scores of all rows together, oriented, whose differences are in the middle of the
      intervals; by default the mean over folds is.
    """
    pairs = list(combinations(range(len(names)), 2))
    level = 1 - (1 - confidence_level) / max(len(pairs), 1)
    found = []
    for first, second in pairs:
        of_folds = np.round(outer[:, first] - outer[:, second], 14)
        center = None if nested is None else float(np.round(nested[first] - nested[second], 14))
        spread = nadeau_bengio(of_folds, test_share, center)
        t = abs(spread.center) / spread.standard_error
        p_value = float(2 * stdtr(spread.degrees_of_freedom, -t)) if np.isfinite(t) else float("nan")
        found.append(
            AlgorithmDifference(
                names[first],
                names[second],
                spread.center,
                interval_around(spread, _DIFFERENCE, confidence_level, "two-sided"),
                p_value,
                interval_around(spread, _DIFFERENCE, level, "two-sided"),
                min(1.0, len(pairs) * p_value) if p_value == p_value else p_value,
                _exceeds(spread.center, threshold),
            )
        )
    return tuple(found)


def _number(value: float) -> str:
    return number_text(json_number(value), 4)
