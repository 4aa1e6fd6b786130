"""From a metric on some rows to a configuration's score: pooled rows, the mean over folds, or pairs within folds.

Rows are divided into *segments*: one for each repeat (``pooled``), one for each fold of each repeat
(``folds``), or a single one that knows its folds (``within``: see ``heldout.metrics.within``). A score is the plain
mean of the metric over the segments on which it is defined, under any weighting of the rows, so that a bootstrap
replays exactly what chose the winner.

On observed rows the mean over folds is that of scikit-learn's finite fold scores. A fold that lacks what the
metric needs may still have such a score (average precision without a positive row is 0): it counts then, as it
counted when the winner was chosen. No other segment counts in a bootstrap unless the rows with weight hold what
the metric needs, so that chance never turns a fold into a 0.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats, Weightings
from heldout.data.task import Truth
from heldout.errors import InputError
from heldout.kernels.dispatch import cut_rows
from heldout.metrics.base import (
    Failing,
    Fused,
    Metric,
    Needs,
    Selected,
    Statistic,
    fitted,
    is_undefined,
    positive_of,
)

Bind: TypeAlias = Callable[[Truth, NDArray[Any]], Statistic]
"""From the truth of n rows and predictions (n, D) to the statistic that gives their scores."""


class SegmentStanding(Enum):
    """How a segment enters the mean over segments."""

    ORDINARY = "under the weightings that give weight to all that the metric needs"
    DEGENERATE = "under every weighting: it lacks what the metric needs, and scikit-learn gives it a number"
    UNDEFINED = "never: scikit-learn gives it no number"


@dataclass(frozen=True, eq=False)
class Segment:
    """The rows of one repeat or fold, with the metric bound to their predictions.

    ``positive`` is the metric's own positive class, ``repeat`` the one that the predictions are of, and ``counted``
    the target that the metric's needs are checked on.
    """

    rows: NDArray[np.intp]
    truth: Truth
    positive: int | None
    statistic: Statistic
    counted: Truth
    needs: Needs
    standing: SegmentStanding = SegmentStanding.ORDINARY
    repeat: int = 0

    def defined(self, weights: Weightings) -> NDArray[np.bool_]:
        """(L,): whether the segment counts under weights (L, len(rows))."""
        if self.standing is SegmentStanding.UNDEFINED:
            return np.zeros(len(weights), dtype=bool)
        return self._least_needs.met(self.counted, self.positive, weights)

    def defined_among(self, weights: Weightings) -> NDArray[np.bool_]:
        """(L,): the same under weights (L, N) of all rows; most of them need not be read."""
        if self.standing is SegmentStanding.UNDEFINED:
            return np.zeros(len(weights), dtype=bool)
        return self._least_needs.met(self.counted, self.positive, weights, self.rows)

    @property
    def _least_needs(self) -> Needs:
        return Needs.ROW if self.standing is SegmentStanding.DEGENERATE else self.needs

    def by_repeat(self, weights: Weightings) -> dict[int, Floats]:
        """(L, C) of each repeat that the rows are of, NaN where the metric is undefined."""
        values = self.statistic.all(weights)
        return {self.repeat: np.where(self.defined(weights)[:, None], values, np.nan)}

    def reading(self, metric: Metric, predictions: NDArray[Any], bind: Bind | None) -> Segment:
        """The same rows with the metric bound to other predictions (N, D, R[, outputs])."""
        make = metric.statistic if bind is None else bind
        return replace(self, statistic=make(self.truth, predictions[self.rows, :, self.repeat]))


Lanes: TypeAlias = slice | NDArray[np.intp]
Evaluate: TypeAlias = Callable[[Segment, Weightings, Lanes], Floats]
"""From a segment, its weightings, and which of the L they are, to values (L', C or 1)."""


@dataclass(frozen=True, eq=False)
class AggregateScore:
    """Scores of C configurations as the mean over segments, in the metric's own direction and units."""

    metric: Metric
    segments: Sequence[Segment]
    # n_rows, n_columns: n and C
    n_rows: int
    n_columns: int
    sample_weight: Floats | None = None  # (n,): importance weights that multiply the counts

    def all(self, counts: Weightings) -> Floats:
        """(L, C)."""

        def evaluate(segment: Segment, weights: Weightings, lanes: Lanes) -> Floats:
            values = segment.statistic.all(weights)
            # A metric of the user's own may return any shape, and NumPy would broadcast some of them without a
            # word.
            if np.shape(values) != (len(weights), self.n_columns):
                raise InputError(
                    f"the statistic of metric '{self.metric.name}' must score {self.n_columns} columns under "
                    f"{len(weights)} weightings, shape {(len(weights), self.n_columns)}, but returned shape "
                    f"{np.shape(values)}."
                )
            return values

        return self._mean(counts, evaluate)

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        """(L,): configuration ``columns[l]`` under weighting l."""

        def evaluate(segment: Segment, weights: Weightings, lanes: Lanes) -> Floats:
            return segment.statistic.selected(weights, columns[lanes])[:, None]

        return self._mean(counts, evaluate)[:, 0]

    def best_out_of_bag(self, counts: NDArray[np.uint8]) -> Selected:
        """Select on the drawn rows, score on the rows that were not drawn.

        The first best column wins a tie; NaN never wins: where every column is NaN in the bag the column is -1
        and the value NaN.
        """
        statistic = self.segments[0].statistic
        if self.has_fused_path and isinstance(statistic, Fused):
            return statistic.best_out_of_bag(self._weigh(counts, self.segments[0]))
        # Weights, or several segments: the general way, with a table of all scores.
        columns, value_in_bag = best_columns(self.all(counts), self.metric.greater_is_better)
        left_out = (counts == 0).view(np.uint8)
        values = self.selected(left_out, columns)
        none = np.isnan(value_in_bag)
        return Selected(np.where(none, NO_COLUMN, columns), np.where(none, np.nan, values))

    @property
    def has_fused_path(self) -> bool:
        """Whether ``best_out_of_bag`` finds the best column by sums, without a matrix of values."""
        only = self.segments[0]
        # Fused kernels know neither weights nor a mean over segments.
        plain = len(self.segments) == 1 and only.standing is SegmentStanding.ORDINARY and self.sample_weight is None
        return plain and isinstance(only.statistic, Fused)

    @property
    def degenerate_segments(self) -> int:
        """How many segments lack what the metric needs and count all the same."""
        return sum(segment.standing is SegmentStanding.DEGENERATE for segment in self.segments)

    @property
    def rows_of_weight(self) -> NDArray[np.intp]:
        """Rows that count; those of weight zero are as good as absent."""
        if self.sample_weight is None:
            return np.arange(self.n_rows)
        return np.flatnonzero(self.sample_weight > 0)

    @property
    def calls_foreign_code(self) -> bool:
        """Whether values come from a function of the user's or of scikit-learn's, which may warn."""
        return self.metric.calls_foreign_code

    @property
    def failures(self) -> dict[str, int]:
        """Messages of a metric that raised or gave no number, and how often each came so far, sorted."""
        total: dict[str, int] = {}
        for segment in self.segments:
            failures = segment.statistic.failures if isinstance(segment.statistic, Failing) else {}
            for message, times in failures.items():
                total[message] = total.get(message, 0) + times
        return dict(sorted(total.items()))  # in the order of the threads otherwise

    def observed(self) -> Floats:
        """(C,): every row once."""
        return self.all(self._once)[0]

    def by_segment(self, counts: Weightings) -> Floats:
        """(L, segments, C): the metric in each segment, NaN where it is undefined."""
        values = []
        for segment in self.segments:
            value = segment.statistic.all(self._weigh(counts, segment))
            values.append(np.where(self._defined(counts, segment)[:, None], value, np.nan))
        return np.stack(values, axis=1)

    def by_repeat(self, counts: Weightings) -> Floats:
        """(L, repeats, C): the mean over the segments of each repeat in which the metric is defined, NaN else."""
        found: dict[int, list[Floats]] = {}
        for segment in self.segments:
            for repeat, values in segment.by_repeat(self._weigh(counts, segment)).items():
                found.setdefault(repeat, []).append(values)
        return np.stack([_mean_of_defined(np.stack(found[repeat])) for repeat in sorted(found)], axis=1)

    def with_predictions(self, predictions: NDArray[Any], bind: Bind | None = None) -> AggregateScore:
        """The same score of other predictions (n, D, R) or (n, D, R, n_classes) of the same rows.

        ``bind`` stands for the metric's own ``statistic`` where something quicker will do.
        """
        segments = tuple(segment.reading(self.metric, predictions, bind) for segment in self.segments)
        return replace(self, segments=segments, n_columns=predictions.shape[1])

    def observed_by_segment(self) -> Floats:
        """(segments, C): every row once."""
        return self.by_segment(self._once)[0]

    def defined(self, counts: Weightings) -> NDArray[np.bool_]:
        """(L,): whether at least one segment is defined, and not by being degenerate unless all are."""
        found = np.zeros(len(counts), dtype=bool)
        ordinary = [segment for segment in self.segments if segment.standing is SegmentStanding.ORDINARY]
        # A degenerate fold counts under every weighting, and would call draws defined that hold nothing the metric
        # needs.
        for segment in ordinary or self.segments:
            if found.all():
                break
            found[~found] = self._defined(counts[~found] if found.any() else counts, segment)
        return found

    def defined_segments(self, counts: Weightings) -> NDArray[np.bool_]:
        """(L, segments)."""
        return np.stack([self._defined(counts, segment) for segment in self.segments], axis=1)

    def _defined(self, counts: Weightings, segment: Segment) -> NDArray[np.bool_]:
        if self.sample_weight is None:
            return segment.defined_among(counts)
        return segment.defined(self._weigh(counts, segment))

    @cached_property
    def _once(self) -> NDArray[np.uint8]:
        return np.ones((1, self.n_rows), dtype=np.uint8)

    def _weigh(self, counts: Weightings, segment: Segment) -> Weightings:
        whole = len(segment.rows) == counts.shape[1]
        chosen = counts if whole else cut_rows(counts, segment.rows)
        return chosen if self.sample_weight is None else chosen * self.sample_weight[segment.rows]

    def _mean(self, counts: Weightings, evaluate: Evaluate) -> Floats:
        every: Lanes = slice(None)
        # One segment is the score itself, NaN included; no mean, and no copy.
        if len(self.segments) == 1 and self.segments[0].standing is not SegmentStanding.UNDEFINED:
            return evaluate(self.segments[0], self._weigh(counts, self.segments[0]), every)
        total: Floats | None = None
        defined_in = np.zeros(len(counts))
        for segment in self.segments:
            defined = self._defined(counts, segment)
            if not defined.any():
                continue
            # Undefined weightings are not computed at all: a metric may fail there, or warn.
            lanes: Lanes = every if defined.all() else np.flatnonzero(defined)
            value = evaluate(segment, self._weigh(counts, segment)[lanes], lanes)
            if total is None:
                total = np.zeros((len(counts), value.shape[1]))
            with np.errstate(over="ignore"):
                total[lanes] += value
            defined_in += defined
        if total is None:
            return np.full((len(counts), self.n_columns), np.nan)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean: Floats = total / np.where(defined_in > 0, defined_in, np.nan)[:, None]
        return mean


def _mean_of_defined(values: Floats) -> Floats:
    """(L, C): the mean of values (segments, L, C) that are not NaN, NaN where all are."""
    present = ~np.isnan(values)
    n = present.sum(axis=0)
    with np.errstate(invalid="ignore", over="ignore"):
        total = np.where(present, values, 0.0).sum(axis=0)
        mean: Floats = np.where(n > 0, total, np.nan) / np.maximum(n, 1)
    return mean


NO_COLUMN = -1
"""Stands for a column where none can be chosen; the number that ``selection.base``, a layer above, names
``NONE_CHOSEN``."""


def best_columns(values: Floats, greater_is_better: bool) -> Selected:
    """(L,): the first best column of values (L, C), and its value; NaN never wins."""
    # Two ways, as the search for NaN is cheap and the other steps are not.
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
    *,
    as_folds: bool = False,
) -> AggregateScore:
    """Bind a metric to predictions (n, C, R[, n_classes]) and a division of the rows.

    ``segments`` (n, R) are codes that do not recur between repeats, -1 where a row is not in play. With
    ``as_folds`` each segment is a fold with a score of scikit-learn's: folds without such a number never count, and
    folds with one count although they lack what the metric needs.
    """
    if sample_weight is not None and not metric.takes_weights:
        raise InputError(
            f"metric '{metric.name}' takes no sample_weight, so it cannot be weighted; leave sample_weight "
            "out, or use a metric whose function accepts it.",
            argument="metric",
        )
    metric = fitted(metric, truth)
    positive = positive_of(metric, truth)
    parts = []
    for repeat in range(segments.shape[1]):
        for code in np.unique(segments[:, repeat]):
            if code < 0:
                continue
            rows = np.flatnonzero(segments[:, repeat] == code)
            mine = truth.rows(rows)
            whole = len(rows) == len(predictions)  # then no copy: it may be most of the memory
            statistic = metric.statistic(mine, predictions[:, :, repeat] if whole else predictions[rows, :, repeat])
            segment = Segment(
                rows, mine, positive, statistic, metric.truth_for_needs(mine), metric.needs, repeat=repeat
            )
            standing = _standing(metric, segment, sample_weight) if as_folds else segment.standing
            parts.append(segment if standing is segment.standing else replace(segment, standing=standing))
    if not parts:
        raise InputError("no row is in play: every row's segment is -1; give at least one predicted row.")
    return AggregateScore(metric, tuple(parts), truth.n_rows, predictions.shape[1], sample_weight)


def _standing(metric: Metric, fold: Segment, sample_weight: Floats | None) -> SegmentStanding:
    """Of a fold, from its rows drawn once each."""
    # As scikit-learn scores a fold: every row once.
    once = np.ones((1, len(fold.rows)), dtype=np.uint8)
    weights = once if sample_weight is None else once * sample_weight[fold.rows]
    if not metric.undefined_without.met(fold.counted, fold.positive, weights)[0]:
        return SegmentStanding.UNDEFINED
    if metric.calls_foreign_code and is_undefined(metric, fold.truth, weights[0]):
        # What a function is undefined without is not always declared, so it is called.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if np.isnan(fold.statistic.all(weights)).all():
                return SegmentStanding.UNDEFINED
    return SegmentStanding.ORDINARY if fold.defined(weights)[0] else SegmentStanding.DEGENERATE
