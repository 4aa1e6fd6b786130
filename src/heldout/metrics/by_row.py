"""The mean over folds of one row each (leave-one-out), for metrics that are a mean of losses.

Each row is a segment of its own. A draw that holds a row twice scores its fold once, so the mean over folds is the
mean over the rows that are drawn at all: one sum, in place of a loop over as many segments as rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats, Weightings
from heldout.data.task import Truth
from heldout.metrics.aggregate import AggregateScore, Bind, Segment, aggregate_score
from heldout.metrics.base import Metric, Needs, Statistic, fitted
from heldout.metrics.row_losses import Finish, OfRowLosses
from heldout.metrics.signed import sign_of, unsigned


def row_scores(metric: Metric, truth: Truth, predictions: NDArray[Any]) -> Floats | None:
    """(n, C): the score of each row by itself; None where the metric is not the mean of these.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> from heldout.metrics import metric_named
    >>> row_scores(metric_named("neg_mean_squared_error"), truth_of([0.5, 1.5]), np.array([[1.5], [1.5]])).tolist()
    [[-1.0], [0.0]]
    """
    plain = fitted(unsigned(metric), truth)
    if not isinstance(plain, OfRowLosses) or not plain.row_wise:
        return None
    losses = np.asarray(plain.losses(truth, predictions), dtype=np.float64)
    scores = 1.0 - losses if plain.finish is Finish.COMPLEMENT else losses
    return scores if sign_of(metric) > 0 else 0.0 - scores


def fold_score(
    metric: Metric,
    truth: Truth,
    predictions: NDArray[Any],
    folds: NDArray[np.int32],
    sample_weight: Floats | None = None,
) -> AggregateScore:
    """Bind a metric to predictions (n, C, R[, n_classes]) and folds (n, R), as ``aggregate_score`` does."""
    bound = fitted(metric, truth)
    scores = None
    if folds.shape[1] == 1 and _are_single(folds[:, 0]):
        defined_alone = bound.needs is Needs.ROW and bound.undefined_without is Needs.ROW
        scores = row_scores(bound, truth, predictions[:, :, 0]) if defined_alone else None
    if scores is None:
        return aggregate_score(metric, truth, predictions, folds, sample_weight, as_folds=True)
    return RowAggregate(
        metric=bound,
        segments=_LazySegments(
            truth.n_rows, lambda: aggregate_score(metric, truth, predictions, folds, sample_weight, as_folds=True)
        ),
        n_rows=truth.n_rows,
        n_columns=predictions.shape[1],
        sample_weight=sample_weight,
        row_scores=scores,
        mean=bound.statistic(truth, predictions[:, :, 0]),
        order=np.argsort(folds[:, 0]),
    )


def _are_single(folds: NDArray[np.int32]) -> bool:
    return bool((folds >= 0).all()) and len(np.unique(folds)) == len(folds)


class _LazySegments(Sequence[Segment]):
    """Segments that are bound when the first is read: thousands, and rarely read."""

    def __init__(self, n_segments: int, score: Callable[[], AggregateScore]) -> None:
        self._n_segments, self._score = n_segments, score

    @cached_property
    def _segments(self) -> tuple[Segment, ...]:
        return tuple(self._score().segments)

    @overload
    def __getitem__(self, index: int) -> Segment: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Segment, ...]: ...
    def __getitem__(self, index: int | slice) -> Segment | tuple[Segment, ...]:
        return self._segments[index]

    def __len__(self) -> int:
        return self._n_segments


@dataclass(frozen=True, eq=False, kw_only=True)
class RowAggregate(AggregateScore):
    """The mean over segments of one row each.

    - ``row_scores``: (n, C).
    - ``mean``: the mean over rows, each of which has the same weight or none.
    - ``order``: the rows in the order of their segments.
    """

    row_scores: Floats
    mean: Statistic
    order: NDArray[np.intp]

    def all(self, counts: Weightings) -> Floats:
        return self.mean.all(self._drawn(counts))

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        return self.mean.selected(self._drawn(counts), columns)

    @property
    def has_fused_path(self) -> bool:
        return False

    @property
    def degenerate_segments(self) -> int:
        return 0

    @property
    def failures(self) -> dict[str, int]:
        return {}

    def by_segment(self, counts: Weightings) -> Floats:
        drawn = self.defined_segments(counts)
        return np.where(drawn[:, :, None], self.row_scores[self.order], np.nan)

    def by_repeat(self, counts: Weightings) -> Floats:
        return self.all(counts)[:, None]

    def with_predictions(self, predictions: NDArray[Any], bind: Bind | None = None) -> AggregateScore:
        generic = AggregateScore(self.metric, tuple(self.segments), self.n_rows, self.n_columns, self.sample_weight)
        return generic.with_predictions(predictions, bind)

    def defined(self, counts: Weightings) -> NDArray[np.bool_]:
        return np.asarray(self._drawn(counts).any(axis=1))

    def defined_segments(self, counts: Weightings) -> NDArray[np.bool_]:
        return self._drawn(counts)[:, self.order].astype(bool)

    def _drawn(self, counts: Weightings) -> NDArray[np.uint8]:
        drawn = counts > 0
        if self.sample_weight is not None:
            drawn &= self.sample_weight > 0
        return drawn.astype(np.uint8)
