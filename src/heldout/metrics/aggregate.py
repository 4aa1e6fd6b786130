"""From a metric on some rows to a configuration's score: pooled rows, or the mean over folds.

Rows are divided into *segments*: one for each repeat (``pooled``), or one for each fold of each repeat
(``folds``). A score is the plain mean of the metric over the segments on which it is defined, under any
weighting of the rows, so that a bootstrap replays exactly what chose the winner.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.kernels.reference import Floats, Weightings
from heldout.metrics.base import (
    Fused,
    Metric,
    Needs,
    Selected,
    Statistic,
    fitted,
    positive_code,
)
from heldout.task import Truth


@dataclass(frozen=True, eq=False)
class Segment:
    """The rows of one repeat or fold, with the metric bound to their predictions.

    The positive class of ``truth`` is the metric's own where it has one.
    """

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
            case Needs.POSITIVE if self.truth.positive is not None:
                wanted = [self.truth.positive]
            case Needs.EVERY_CLASS | Needs.POSITIVE:
                wanted = list(range(self.truth.n_classes))
            case Needs.TWO_VALUES:
                values = self.truth.values[None, :]
                least = np.where(present, values, np.inf).min(axis=1, initial=np.inf)
                greatest = np.where(present, values, -np.inf).max(axis=1, initial=-np.inf)
                return np.asarray(least < greatest)
        defined = np.ones(len(present), dtype=bool)
        for code in wanted:
            defined &= present[:, self.truth.values == code].any(axis=1)
        return defined


Lanes: TypeAlias = slice | NDArray[np.intp]
Evaluate: TypeAlias = Callable[[Segment, Weightings, Lanes], Floats]
"""From a segment, its weightings, and which of the L they are, to values (L', C or 1)."""


@dataclass(frozen=True, eq=False)
class AggregateScore:
    """Scores of C configurations as the mean over segments, in the metric's own direction and units.

    Attributes
    ----------
    metric : Metric
    segments : tuple of Segment
    n_rows, n_columns : int
        n and C.
    sample_weight : ndarray of shape (n,) or None
        Importance weights that multiply the counts.
    """

    metric: Metric
    segments: tuple[Segment, ...]
    n_rows: int
    n_columns: int
    sample_weight: Floats | None = None

    def all(self, counts: Weightings) -> Floats:
        """(L, C)."""
        return self._mean(counts, lambda segment, weights, lanes: segment.statistic.all(weights))

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        """(L,): configuration ``columns[l]`` under weighting l."""

        def evaluate(segment: Segment, weights: Weightings, lanes: Lanes) -> Floats:
            return segment.statistic.selected(weights, columns[lanes])[:, None]

        return self._mean(counts, evaluate)[:, 0]

    def best_out_of_bag(self, counts: NDArray[np.uint8]) -> Selected:
        """Select on the drawn rows, score on the rows that were not drawn.

        The first best column wins a tie; NaN never wins, and the value is NaN where every column is.
        """
        statistic = self.segments[0].statistic
        if len(self.segments) == 1 and self.sample_weight is None and isinstance(statistic, Fused):
            return statistic.best_out_of_bag(self._weigh(counts, self.segments[0]))
        columns, value_in_bag = best_columns(self.all(counts), self.metric.greater_is_better)
        left_out = (counts == 0).astype(np.uint8)
        values = self.selected(left_out, columns)
        return Selected(columns, np.where(np.isnan(value_in_bag), np.nan, values))

    @property
    def failures(self) -> dict[str, int]:
        """Messages of a metric that raised or gave no number, and how often each came so far."""
        total: dict[str, int] = {}
        for segment in self.segments:
            for message, times in getattr(segment.statistic, "failures", {}).items():
                total[message] = total.get(message, 0) + times
        return total

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
        # np.take, unlike an index, keeps the rows of a weighting contiguous.
        chosen = counts if whole else np.take(counts, segment.rows, axis=1)
        return chosen if self.sample_weight is None else chosen * self.sample_weight[segment.rows]

    def _mean(self, counts: Weightings, evaluate: Evaluate) -> Floats:
        every: Lanes = slice(None)
        if len(self.segments) == 1:
            return evaluate(self.segments[0], self._weigh(counts, self.segments[0]), every)
        total: Floats | None = None
        defined_in = np.zeros(len(counts))
        for segment in self.segments:
            weights = self._weigh(counts, segment)
            defined = segment.defined(weights)
            if not defined.any():
                continue
            lanes: Lanes = every if defined.all() else np.flatnonzero(defined)
            value = evaluate(segment, weights[lanes], lanes)
            if total is None:
                total = np.zeros((len(counts), value.shape[1]))
            total[lanes] += value
            defined_in += defined
        if total is None:
            return np.full((len(counts), self.n_columns), np.nan)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean: Floats = total / np.where(defined_in > 0, defined_in, np.nan)[:, None]
        return mean


def best_columns(values: Floats, greater_is_better: bool) -> Selected:
    """(L,): the first best column of values (L, C), and its value; NaN never wins."""
    if np.isnan(values).any():
        worst = -np.inf if greater_is_better else np.inf
        known = np.where(np.isnan(values), worst, values)
        best = known.max(axis=1) if greater_is_better else known.min(axis=1)
        columns = ((values == best[:, None]) & ~np.isnan(values)).argmax(axis=1)
    else:
        columns = values.argmax(axis=1) if greater_is_better else values.argmin(axis=1)
    return Selected(columns, values[np.arange(len(values)), columns])


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

    Raises
    ------
    InputError
        When the metric does not fit the target, cannot take weights, or no row is in play.
    """
    if sample_weight is not None and not getattr(metric, "takes_weights", True):
        raise InputError(
            f"metric '{metric.name}' takes no sample_weight, so it cannot be weighted; leave sample_weight "
            "out, or use a metric whose function accepts it."
        )
    metric = fitted(metric, truth)
    positive = positive_code(metric, truth)
    parts = []
    for repeat in range(segments.shape[1]):
        for code in np.unique(segments[:, repeat]):
            if code < 0:
                continue
            rows = np.flatnonzero(segments[:, repeat] == code)
            mine = truth.rows(rows)
            statistic = metric.statistic(mine, predictions[rows, :, repeat])
            # ``mine`` went to the metric as it is: predictions point to the task's positive class.
            described = mine if positive is None else mine.with_positive(positive)
            parts.append(Segment(rows, described, statistic, metric.needs))
    if not parts:
        raise InputError("no row is in play: every row's segment is -1; give at least one predicted row.")
    return AggregateScore(metric, tuple(parts), truth.n_rows, predictions.shape[1], sample_weight)
