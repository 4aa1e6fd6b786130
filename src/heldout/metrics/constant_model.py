"""The best constant model, whose score is the baseline of all others: it predicts the same for every row.

Candidates of which one is best, whatever the metric, are scored by the metric itself, in the segments of the score
that it stands beside. They are chosen with sight of the same rows and their weights.
"""

from collections.abc import Callable

import numpy as np

from heldout._types import Array, Codes, Floats, Weightings
from heldout.data.task import TaskKind, Truth
from heldout.metrics.aggregate import AggregateScore, aggregate_score
from heldout.metrics.base import Metric, Response, is_reversed, quiet_if_foreign, unsigned
from heldout.metrics.custom import CustomMetric
from heldout.metrics.row_losses import LossOutsideRangeError
from heldout.metrics.survival import observed_by

MOST_CLASSES = 8
"""Of more classes only the most frequent are tried: no metric is best for a rarer one."""


def constant_score(score: AggregateScore, truth: Truth, n_repeats: int) -> float | None:
    """The best constant model's score, computed as ``score`` computes those of configurations.

    None where there is none: of a metric of the user's own, and of one in which a constant can be perfect, such as
    recall or a calibration error.
    """

    def values_of(predictions: Array) -> Floats:
        return score.with_predictions(predictions).observed()

    return _best(score.metric, truth, score.sample_weight, n_repeats, values_of)


def constant_of_rows(
    metric: Metric, truth: Truth, folds: Codes | None = None, sample_weight: Floats | None = None
) -> float | None:
    """The same for rows that were predicted in ``folds`` (n, R), codes that do not recur; of all rows without.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> from heldout.metrics import metric_named
    >>> truth = truth_of([0, 0, 0, 1])
    >>> [constant_of_rows(metric_named(name), truth) for name in ("accuracy", "roc_auc", "f1", "recall")]
    [0.75, 0.5, 0.4, None]
    """
    segments = np.zeros((truth.n_rows, 1), dtype=np.int32) if folds is None else folds

    def values_of(predictions: Array) -> Floats:
        as_folds = folds is not None
        return aggregate_score(metric, truth, predictions, segments, sample_weight, as_folds=as_folds).observed()

    return _best(metric.for_truth(truth), truth, sample_weight, segments.shape[1], values_of)


def _best(
    metric: Metric, truth: Truth, weights: Floats | None, n_repeats: int, values_of: Callable[[Array], Floats]
) -> float | None:
    """The best of the scores that ``values_of`` gives to constants (n, D, R[, outputs])."""
    inner = unsigned(metric)
    if not _has_baseline(inner) or is_reversed(metric) or truth.kind is TaskKind.OTHER:
        return None
    counts: Weightings = np.ones((1, truth.n_rows), dtype=np.uint8) if weights is None else weights[None]
    constants = _constants(inner, truth, counts[0].astype(np.float64))
    shape = (truth.n_rows, len(constants), n_repeats, *constants.shape[1:])
    predictions = np.broadcast_to(constants[:, None], shape)
    try:
        # Constants make many functions warn, such as a correlation without a spread.
        with quiet_if_foreign([metric]):
            of_all_rows = metric.statistic(truth, predictions[:, :, 0]).all(counts)
            values = values_of(predictions)
    except LossOutsideRangeError:  # of a user's bound that holds for better models only
        return None
    sign = 1.0 if metric.greater_is_better else -1.0
    reached, best = (float(np.nanmax(sign * scores, initial=-np.inf)) for scores in (of_all_rows, values))
    # A metric that a constant can make perfect has no baseline.
    if reached >= max(sign * end for end in metric.range) - 1e-9 or not np.isfinite(best):
        return None
    # Rounding errors must not make a constant look a little better than .5; adding 0 turns -0 into 0.
    return sign * (round(best, 12) if inner.greater_is_better else best) + 0.0


def _has_baseline(metric: Metric) -> bool:
    """Whether a constant is a guess: the metric is no user's own, has a best value, and is no calibration alone."""
    if isinstance(metric, CustomMetric):
        return str(getattr(metric.function, "__module__", "")).startswith("sklearn.")
    is_ours = type(metric).__module__.startswith("heldout.") and bool(metric.responses) and metric.reads_truth
    return is_ours and metric.ideal is None and (metric.greater_is_better or metric.range[0] > -np.inf)


def _constants(metric: Metric, truth: Truth, weights: Floats) -> Array:
    """(D[, outputs]): predictions of which one is the metric's best constant."""
    if truth.kind is TaskKind.REGRESSION:
        return _numbers(truth.values[weights > 0], weights[weights > 0], getattr(metric, "alpha", 0.5))
    if truth.kind is TaskKind.SURVIVAL:
        # Of risks all constants are alike: none ranks.
        if Response.SURVIVAL not in metric.responses:
            return np.zeros(1)
        observed = [observed_by(truth, time) for time in metric.times or ()]
        return np.array([[np.average(at.outcome, weights=at.weight * weights) for at in observed]])
    shares = np.bincount(truth.values, weights, minlength=truth.n_classes) / weights.sum()
    if Response.LABELS in metric.responses:
        return np.argsort(-shares, kind="stable")[:MOST_CLASSES].astype(np.int32)
    return shares[None] if truth.positive is None else shares[[truth.positive]]


def _numbers(values: Floats, weights: Floats, alpha: float) -> Floats:
    """The best constants of squared, absolute, greatest, relative, logarithmic and median errors."""
    order = np.argsort(values)
    values, weights = values[order], weights[order]
    until = np.r_[0.0, np.cumsum(weights)]
    # The shortest stretch that holds half of the rows: its middle has the least median error.
    last = np.searchsorted(until[1:], until[:-1] + until[-1] / 2 * (1 - 1e-12))  # of half of the rows from each on
    last = last[last < len(values)]
    shortest = int(np.argmin(values[last] - values[: len(last)]))
    with np.errstate(all="ignore"):
        # An error relative to the value weighs rows by 1/|value|.
        relative = weights / np.maximum(np.abs(values), np.finfo(np.float64).eps)
        return np.array(
            [
                np.average(values, weights=weights),
                _quantile(values, weights, alpha),
                values[0] / 2 + values[-1] / 2,
                _quantile(values, relative, 0.5),
                np.expm1(np.average(np.log1p(values), weights=weights)) if values[0] > -1 else values[0],
                values[shortest] / 2 + values[last[shortest]] / 2,
            ]
        )


def _quantile(values: Floats, weights: Floats, alpha: float) -> float:
    """Of ascending values."""
    # A cumulated weight that equals the share but for rounding counts as reaching it.
    place = np.searchsorted(np.cumsum(weights), alpha * weights.sum() * (1 - 1e-12))
    return float(values[min(place, len(values) - 1)])
