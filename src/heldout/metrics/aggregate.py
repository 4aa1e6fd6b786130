"""From a metric on some rows to a configuration's score: pooled rows, or the mean over folds.

Rows are divided into *segments*: one for each repeat (``pooled``), or one for each fold of each repeat
(``folds``). A score is the plain mean of the metric over the segments on which it is defined, under any
weighting of the rows, so that a bootstrap replays exactly what chose the winner.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.reference import Floats, Weightings
from heldout.metrics.base import Metric, Needs, Statistic
from heldout.task import Truth


@dataclass(frozen=True, eq=False)
class Segment:
    """The rows of one repeat or fold, with the metric bound to their predictions."""

    rows: NDArray[np.intp]
    truth: Truth
    statistic: Statistic
    needs: Needs

    def defined(self, weights: Weightings) -> NDArray[np.bool_]:
        """(L,): whether the metric is defined on the rows of positive weight (L, len(rows))."""
        present = weights > 0
        match self.needs:
            case Needs.ROW:
                return np.asarray(present.any(axis=1))
            case Needs.EVERY_CLASS:
                wanted = range(self.truth.n_classes)
            case Needs.POSITIVE:
                wanted = range(self.truth.positive or 0, (self.truth.positive or 0) + 1)
            case Needs.TWO_VALUES:
                values = self.truth.values[None, :]
                least = np.where(present, values, np.inf).min(axis=1, initial=np.inf)
                greatest = np.where(present, values, -np.inf).max(axis=1, initial=-np.inf)
                return np.asarray(least < greatest)
        defined = np.ones(len(present), dtype=bool)
        for code in wanted:
            defined &= present[:, self.truth.values == code].any(axis=1)
        return defined


@dataclass(frozen=True, eq=False)
class AggregateScore:
    """Scores of C configurations as the mean over segments, in the metric's own direction and units.

    Attributes
    ----------
    metric : Metric
    segments : tuple of Segment
    sample_weight : ndarray of shape (n,) or None
        Importance weights that multiply the counts.
    """

    metric: Metric
    segments: tuple[Segment, ...]
    n_rows: int
    sample_weight: Floats | None = None

    def all(self, counts: Weightings) -> Floats:
        """(L, C)."""
        return self._mean(counts, lambda segment, weights: segment.statistic.all(weights))

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        """(L,): configuration ``columns[l]`` under weighting l."""
        return self._mean(
            counts, lambda segment, weights: segment.statistic.selected(weights, columns)[:, None]
        )[:, 0]

    def observed(self) -> Floats:
        """(C,): every row once."""
        return self.all(self._once)[0]

    def by_segment(self, counts: Weightings) -> Floats:
        """(L, segments, C): the metric in each segment, NaN where it is undefined."""
        values = []
        for segment in self.segments:
            weights = self._weigh(counts, segment)
            value = segment.statistic.all(weights)
            values.append(np.where(segment.defined(weights)[:, None], value, np.nan))
        return np.stack(values, axis=1)

    def observed_by_segment(self) -> Floats:
        """(segments, C): every row once."""
        return self.by_segment(self._once)[0]

    def defined(self, counts: Weightings) -> NDArray[np.bool_]:
        """(L,): whether at least one segment is defined."""
        return np.asarray(self.defined_segments(counts).any(axis=1))

    def defined_segments(self, counts: Weightings) -> NDArray[np.bool_]:
        """(L, segments)."""
        return np.stack([s.defined(self._weigh(counts, s)) for s in self.segments], axis=1)

    @cached_property
    def _once(self) -> NDArray[np.uint8]:
        return np.ones((1, self.n_rows), dtype=np.uint8)

    def _weigh(self, counts: Weightings, segment: Segment) -> Weightings:
        whole = len(segment.rows) == counts.shape[1]
        chosen = counts if whole else counts[:, segment.rows]
        return chosen if self.sample_weight is None else chosen * self.sample_weight[segment.rows]

    def _mean(self, counts: Weightings, evaluate: Any) -> Floats:
        if len(self.segments) == 1:
            values: Floats = evaluate(self.segments[0], self._weigh(counts, self.segments[0]))
            return values
        total: Floats | None = None
        defined_in = np.zeros(len(counts))
        for segment in self.segments:
            weights = self._weigh(counts, segment)
            defined = segment.defined(weights)
            value = np.where(defined[:, None], evaluate(segment, weights), 0.0)
            total = value if total is None else total + value
            defined_in += defined
        assert total is not None, "an aggregate has at least one segment"
        with np.errstate(invalid="ignore", divide="ignore"):
            mean: Floats = total / np.where(defined_in > 0, defined_in, np.nan)[:, None]
        return mean


def aggregate_score(
    metric: Metric,
    truth: Truth,
    predictions: NDArray[Any],
    segments: NDArray[np.int32],
    sample_weight: Floats | None = None,
) -> AggregateScore:
    """Bind a metric to predictions and a division of the rows.

    Parameters
    ----------
    truth : Truth of n rows
    predictions : ndarray of shape (n, C, R) or (n, C, R, n_classes)
    segments : ndarray of int, shape (n, R)
        The segment of a row in a repeat, -1 where it is not in play; codes do not recur between repeats.
    sample_weight : ndarray of shape (n,), optional
    """
    parts = []
    for repeat in range(segments.shape[1]):
        for code in np.unique(segments[:, repeat]):
            if code < 0:
                continue
            rows = np.flatnonzero(segments[:, repeat] == code)
            mine = truth.rows(rows)
            statistic = metric.statistic(mine, predictions[rows, :, repeat])
            parts.append(Segment(rows, mine, statistic, metric.needs))
    return AggregateScore(metric, tuple(parts), truth.n_rows, sample_weight)
