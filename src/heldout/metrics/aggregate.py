"""From a metric to a configuration's score: pooled rows, the mean over folds, or pairs within folds.

Rows are divided into *segments*: one for each repeat (``pooled``), one for each fold of each repeat (``folds``),
or a single one that knows its folds (``within``). A score is the plain mean of the metric over the segments on
which it is defined, under any weighting of the rows, so that a bootstrap replays exactly what chose the winner.

On observed rows the mean over folds is that of scikit-learn's finite fold scores. A fold that lacks what the
metric needs may still have such a score (average precision without a positive row is 0): it counts then, as it
counted when the winner was chosen. No other segment counts in a bootstrap unless the rows with weight hold what
the metric needs, so that chance never turns a fold into a 0.

*Within folds.* Scores of different folds come from different models, and nothing promises that they are on one
scale. A share of the pairs of rows of one fold needs no such promise, and unlike the mean over folds it is defined
as soon as one fold holds a pair: numerators and denominators are summed over the folds, and divided once. The rows
of all repeats stand one below another in a single segment, and a fold of a repeat is a fold of its own. So a
bootstrap, which draws a row with its predictions of all repeats, weighs each of them.

*Aligned.* The models of different folds differ in where their scores lie, because their training parts differ: on
few rows the share of a class in the training part runs against that in the fold. All rows together then rank rows
of different folds by what their models differ in. A rank within the fold does not suffer from that; neither does a
distance from the fold's median, which keeps how far apart scores lie.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import TypeAlias, overload

import numpy as np

from heldout._types import Array, Booleans, Codes, Counts, Floats, Indices, Weightings
from heldout.data.task import Truth
from heldout.errors import InputError
from heldout.kernels.dispatch import cut_rows
from heldout.metrics.base import (
    Failing,
    Fused,
    Metric,
    Needs,
    PairStatistic,
    Response,
    Selected,
    Statistic,
    is_pair_based,
    is_undefined,
    positive_of,
    sign_of,
    unsigned,
)
from heldout.metrics.row_losses import Finish, OfRowLosses

Bind: TypeAlias = Callable[[Truth, Array], Statistic]
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

    rows: Indices
    truth: Truth
    positive: int | None
    statistic: Statistic
    counted: Truth
    needs: Needs
    standing: SegmentStanding = SegmentStanding.ORDINARY
    repeat: int = 0

    def defined(self, weights: Weightings, *, of_all: bool = False) -> Booleans:
        """(L,): whether the segment counts under weights (L, len(rows)), or ``of_all`` rows (L, N).

        Of all rows most need not be read.
        """
        if self.standing is SegmentStanding.UNDEFINED:
            return np.zeros(len(weights), dtype=bool)
        needs = Needs.ROW if self.standing is SegmentStanding.DEGENERATE else self.needs
        return needs.met(self.counted, self.positive, weights, self.rows if of_all else None)

    def by_repeat(self, weights: Weightings) -> dict[int, Floats]:
        """(L, C) of each repeat that the rows are of, NaN where the metric is undefined."""
        values = self.statistic.all(weights)
        return {self.repeat: np.where(self.defined(weights)[:, None], values, np.nan)}

    def reading(self, metric: Metric, predictions: Array, bind: Bind | None) -> Segment:
        """The same rows with the metric bound to other predictions (N, D, R[, outputs])."""
        make = metric.statistic if bind is None else bind
        return replace(self, statistic=make(self.truth, predictions[self.rows, :, self.repeat]))


Lanes: TypeAlias = slice | Indices
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

    def selected(self, counts: Weightings, columns: Indices) -> Floats:
        """(L,): configuration ``columns[l]`` under weighting l."""

        def evaluate(segment: Segment, weights: Weightings, lanes: Lanes) -> Floats:
            return segment.statistic.selected(weights, columns[lanes])[:, None]

        return self._mean(counts, evaluate)[:, 0]

    def best_out_of_bag(self, counts: Counts) -> Selected:
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
    def rows_of_weight(self) -> Indices:
        """Rows that count; those of weight zero are as good as absent."""
        if self.sample_weight is None:
            return np.arange(self.n_rows)
        return np.flatnonzero(self.sample_weight > 0)

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
        lists: dict[int, list[Floats]] = {}
        for segment in self.segments:
            for repeat, values in segment.by_repeat(self._weigh(counts, segment)).items():
                lists.setdefault(repeat, []).append(values)
        return np.stack([mean_of_defined(np.stack(lists[repeat])) for repeat in sorted(lists)], axis=1)

    def with_predictions(self, predictions: Array, bind: Bind | None = None) -> AggregateScore:
        """The same score of other predictions (n, D, R) or (n, D, R, n_classes) of the same rows.

        ``bind`` stands for the metric's own ``statistic`` where something quicker will do.
        """
        segments = tuple(segment.reading(self.metric, predictions, bind) for segment in self.segments)
        return replace(self, segments=segments, n_columns=predictions.shape[1])

    def observed_by_segment(self) -> Floats:
        """(segments, C): every row once."""
        return self.by_segment(self._once)[0]

    def defined(self, counts: Weightings) -> Booleans:
        """(L,): whether at least one segment is defined, and not by being degenerate unless all are."""
        flags = np.zeros(len(counts), dtype=bool)
        ordinary = [segment for segment in self.segments if segment.standing is SegmentStanding.ORDINARY]
        # A degenerate fold counts under every weighting, and would call draws defined that hold nothing the metric
        # needs.
        for segment in ordinary or self.segments:
            if flags.all():
                break
            flags[~flags] = self._defined(counts[~flags] if flags.any() else counts, segment)
        return flags

    def defined_segments(self, counts: Weightings) -> Booleans:
        """(L, segments)."""
        return np.stack([self._defined(counts, segment) for segment in self.segments], axis=1)

    def _defined(self, counts: Weightings, segment: Segment) -> Booleans:
        if self.sample_weight is None:
            return segment.defined(counts, of_all=True)
        return segment.defined(self._weigh(counts, segment))

    @cached_property
    def _once(self) -> Counts:
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


def mean_of_defined(values: Floats) -> Floats:
    """(...): the mean of values (segments, ...) that are not NaN, NaN where all are."""
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
        keys = np.where(np.isnan(values), worst, values)
        best = keys.max(axis=1) if greater_is_better else keys.min(axis=1)
        columns = ((values == best[:, None]) & ~np.isnan(values)).argmax(axis=1)
    else:
        columns = values.argmax(axis=1) if greater_is_better else values.argmin(axis=1)
    return Selected(columns, values[np.arange(len(values)), columns])


def aggregate_score(
    metric: Metric,
    truth: Truth,
    predictions: Array,
    segments: Codes,
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
    metric = metric.for_truth(truth)
    positive = positive_of(metric, truth)
    parts = []
    for repeat in range(segments.shape[1]):
        for code in np.unique(segments[:, repeat]):
            if code < 0:
                continue
            rows = np.flatnonzero(segments[:, repeat] == code)
            part = truth.rows(rows)
            whole = len(rows) == len(predictions)  # then no copy: it may be most of the memory
            statistic = metric.statistic(part, predictions[:, :, repeat] if whole else predictions[rows, :, repeat])
            segment = Segment(
                rows, part, positive, statistic, metric.truth_for_needs(part), metric.needs, repeat=repeat
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


def row_scores(metric: Metric, truth: Truth, predictions: Array) -> Floats | None:
    """(n, C): the score of each row by itself; None where the metric is not the mean of these.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> from heldout.metrics import metric_named
    >>> row_scores(metric_named("neg_mean_squared_error"), truth_of([0.5, 1.5]), np.array([[1.5], [1.5]])).tolist()
    [[-1.0], [0.0]]
    """
    plain = unsigned(metric).for_truth(truth)
    if not isinstance(plain, OfRowLosses) or not plain.row_wise:
        return None
    losses = np.asarray(plain.losses(truth, predictions), dtype=np.float64)
    scores = plain.best_value - losses if plain.finish is Finish.COMPLEMENT else losses
    return scores if sign_of(metric) > 0 else 0.0 - scores


def fold_score(
    metric: Metric, truth: Truth, predictions: Array, folds: Codes, sample_weight: Floats | None = None
) -> AggregateScore:
    """Bind a metric to predictions (n, C, R[, n_classes]) and folds (n, R), as ``aggregate_score`` does."""
    bound = metric.for_truth(truth)
    scores = None
    if folds.shape[1] == 1 and (folds >= 0).all() and len(np.unique(folds)) == len(folds):
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
    order: Indices

    def all(self, counts: Weightings) -> Floats:
        return self.mean.all(self._drawn(counts))

    def selected(self, counts: Weightings, columns: Indices) -> Floats:
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

    def with_predictions(self, predictions: Array, bind: Bind | None = None) -> AggregateScore:
        generic = AggregateScore(self.metric, tuple(self.segments), self.n_rows, self.n_columns, self.sample_weight)
        return generic.with_predictions(predictions, bind)

    def defined(self, counts: Weightings) -> Booleans:
        return np.asarray(self._drawn(counts).any(axis=1))

    def defined_segments(self, counts: Weightings) -> Booleans:
        return self._drawn(counts)[:, self.order].astype(bool)

    def _drawn(self, counts: Weightings) -> Counts:
        drawn = counts > 0
        if self.sample_weight is not None:
            drawn &= self.sample_weight > 0
        return drawn.astype(np.uint8)


@dataclass(frozen=True, eq=False, kw_only=True)
class PairSegment(Segment):
    """The rows of all repeats, with a metric of pairs bound to the pairs within folds."""

    statistic: PairStatistic
    # folds, repeats (len(rows),): the fold of each row, whose code does not recur between repeats, and its repeat
    folds: Indices
    repeats: Indices

    def defined(self, weights: Weightings, *, of_all: bool = False) -> Booleans:
        return self.statistic.defined(cut_rows(weights, self.rows) if of_all else weights)

    def by_repeat(self, weights: Weightings) -> dict[int, Floats]:
        lists = {}
        for repeat in np.unique(self.repeats).tolist():
            part = np.where(self.repeats == repeat, weights, np.zeros(1, dtype=weights.dtype))
            lists[repeat] = np.where(self.defined(part)[:, None], self.statistic.all(part), np.nan)
        return lists

    def reading(self, metric: Metric, predictions: Array, bind: Bind | None) -> PairSegment:
        assert is_pair_based(metric), "bound already"
        read = predictions[self.rows, :, self.repeats]
        return replace(self, statistic=metric.statistic_within(self.truth, read, self.folds))


def within_score(
    metric: Metric, truth: Truth, predictions: Array, folds: Codes, sample_weight: Floats | None = None
) -> AggregateScore:
    """Bind a metric to predictions and to folds, of whose rows alone it counts the pairs.

    A mean over rows is the same within folds as over all rows, and is bound to all of them. ``folds`` (n, R) are
    codes as the segments of ``aggregate_score``. A pair weighs the product of the weights of its rows.

    Examples
    --------
    >>> from heldout.metrics import metric_named
    >>> from heldout.data.task import truth_of
    >>> truth, scores = truth_of([0, 1, 0, 1]), np.array([0.1, 0.2, 0.8, 0.9])[:, None, None]
    >>> folds = np.array([0, 0, 1, 1], dtype=np.int32)[:, None]  # the second model's scores are all higher
    >>> within_score(metric_named("roc_auc"), truth, scores, folds).observed()
    array([1.])
    """
    if not is_pair_based(metric):
        reason = unfit_within(metric)
        if reason:
            raise InputError(f"{reason}.")
        pooled = np.where(folds >= 0, np.arange(folds.shape[1]), -1).astype(np.int32)
        return aggregate_score(metric, truth, predictions, pooled, sample_weight)
    bound = metric.for_truth(truth)
    assert is_pair_based(bound), "fitting a metric does not change what it is"
    repeats, rows = np.nonzero(folds.T >= 0)
    if not rows.size:
        raise InputError("no row is in play: every row's fold is -1; give at least one predicted row.")
    target, codes = truth.rows(rows), folds[rows, repeats].astype(np.intp)
    segment = PairSegment(
        rows=rows,
        truth=target,
        positive=positive_of(bound, truth),
        statistic=bound.statistic_within(target, predictions[rows, :, repeats], codes),
        counted=bound.truth_for_needs(target),
        needs=bound.needs,
        folds=codes,
        repeats=repeats,
    )
    return AggregateScore(bound, (segment,), truth.n_rows, predictions.shape[1], sample_weight)


def unfit_within(metric: Metric) -> str | None:
    """Why a metric cannot be counted within folds, as a sentence without its end; None where it can.

    Examples
    --------
    >>> from heldout.metrics import metric_named
    >>> [unfit_within(metric_named(name)) is None for name in ("roc_auc", "accuracy", "f1", "r2")]
    [True, True, False, False]
    """
    if is_pair_based(metric) or metric.row_wise:
        return None
    return (
        f"`aggregate='within'` counts pairs of rows of one fold, and {metric.name} is neither made of pairs (as "
        "roc_auc and concordance_index are) nor a mean over rows; use `aggregate='folds'` or 'pooled'"
    )


FEWEST = 8
"""Rows of a fold whose median tells where scores lie: in smaller ones each row moves it towards itself."""
LEAST = 1e-9
"""Probabilities nearer to 0 or 1 are as good as this."""
DIGITS = 9
"""Of aligned scores, so that ties stay ties."""


def reads_ranks(metric: Metric) -> bool:
    """Whether a metric depends on the order of scores alone: decisions serve it as well as probabilities.

    A function of the user's that reads decisions, such as a hinge loss, may read how large they are.
    """
    return Response.DECISION in metric.responses and not metric.calls_foreign_code


def alignable(folds: Codes) -> bool:
    """Whether all folds (n, R), codes that do not recur and -1 where a row is not in play, have enough rows."""
    return int(np.unique(folds[folds >= 0], return_counts=True)[1].min(initial=FEWEST)) >= FEWEST


def aligned(scores: Array, folds: Codes) -> Floats:
    """Logits of probabilities, or decisions as they are, less the median of their fold.

    Parameters
    ----------
    scores : ndarray of shape (n, C, R) or (n, C, R, n_classes)
        Probabilities or decisions; NaN where there are none.
    folds : ndarray of shape (n, R)

    Examples
    --------
    >>> scores = np.array([0.1, 0.5, 0.9, 0.2, 0.6, 0.95]).reshape(6, 1, 1)
    >>> aligned(scores, np.array([[0], [0], [0], [1], [1], [1]])).ravel().round(2).tolist()
    [-2.2, 0.0, 2.2, -1.79, 0.0, 2.54]
    """
    values = np.array(scores, dtype=np.float64)
    rows = tuple(axis for axis in range(values.ndim) if axis != 1)
    with np.errstate(invalid="ignore"):
        # Without a declaration numbers tell: what leaves [0, 1] anywhere is a decision, of which no logit is taken.
        outside = (values < 0) | (values > 1)
    shares = ~outside.any(axis=rows)  # (C,)
    clipped = np.clip(values[:, shares], LEAST, 1 - LEAST)
    values[:, shares] = np.log(clipped / (1 - clipped))
    for repeat in range(folds.shape[1]):
        for code in np.unique(folds[folds[:, repeat] >= 0, repeat]):
            members = folds[:, repeat] == code
            # The median and not the mean: a few rows with logits of 20 would move a whole fold.
            values[members, :, repeat] -= np.median(values[members, :, repeat], axis=0)
    return np.round(values, DIGITS)


def score_on_scale(
    scale: str,
    metric: Metric,
    truth: Truth,
    predictions: Array,
    repeats: Codes | None,
    folds: Codes | None,
    sample_weight: Floats | None = None,
) -> AggregateScore:
    """The metric of predictions (n, C, R[, n_classes]): mean over folds, of pairs in folds, or of rows together.

    Parameters
    ----------
    scale : "folds", "within", "pooled" or "aligned"
    repeats, folds : ndarray of shape (n, R)
        Codes of the rows' repeats and folds, which do not recur between repeats; -1 where a row is not in play. The
        first is read by "pooled" and "aligned", the second by all but "pooled".
    """
    if scale == "pooled":
        assert repeats is not None, "read by this scale"
        return aggregate_score(metric, truth, predictions, repeats, sample_weight)
    assert folds is not None, "folds are read where they are known"
    if scale == "aligned":
        assert repeats is not None, "read by this scale"
        return aggregate_score(metric, truth, aligned(predictions, folds), repeats, sample_weight)
    score = within_score if scale == "within" else fold_score
    return score(metric, truth, predictions, folds, sample_weight)
