"""The score of rows that a replicate's model never saw: by row first where each row has a loss of its own.

The leave-one-out bootstrap (Efron & Tibshirani 1997) takes a row's loss over the replicates that left it out
and then the mean over rows, so that a row counts once however often it was left out. Of a metric of all rows
together (an area, a correlation) there is no loss of a row, and the mean over replicates takes its place.

That score is of models with fewer training rows, and the apparent score is on rows that trained the model. The .632
and the .632+ bootstrap average the two, .632+ with weights that depend on the overfitting.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isclose, isfinite, isnan, sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from heldout._text import counted
from heldout._types import Array, Floats, Indices, Weightings
from heldout.data.task import Truth
from heldout.flags import Flag
from heldout.metrics.base import Metric, Response, Signed, quiet_if_foreign, unsigned
from heldout.metrics.regression import R2, MeanAbsoluteError, MeanSquaredError, PinballLoss, RootMeanSquaredError
from heldout.metrics.row_losses import Finish, OfRowLosses
from heldout.protocols.validation.corrections.base import CorrectedScore, undefined
from heldout.protocols.validation.replicates import Replicates, ReplicateScores
from heldout.selection.bootstrap_draws import out_of_bag


def left_out_score(replicates: Replicates, scores: ReplicateScores) -> CorrectedScore:
    """The score of the rows left out, over the successful replicates.

    - ``replicates``: of B samples of N rows.
    - ``scores``: of one metric of them.

    Returns: in the metric's own direction and units. ``provenance`` says how it was averaged and over how many
    replicates; a flag says how many rows no replicate left out, and which replicates were undefined there.

    Examples
    --------
    Two samples of four rows. The third row was left out by both, at a loss of 1 and of 3; the second by one, at 4:

    >>> from heldout.metrics import metric_named
    >>> from heldout.metrics.base import Response
    >>> from heldout.data.task import truth_of
    >>> predicted = np.array([[0.5, 0.5], [4.0, 0.0], [1.0, 3.0], [0.0, 0.0]])[:, None, :]
    >>> replicates = Replicates(
    ...     truth_of([0.0, 0.0, 0.0, 0.0], "regression"),
    ...     counts=np.array([[2, 0, 0, 2], [1, 2, 0, 1]], dtype=np.uint8),
    ...     apparent={Response.VALUES: predicted[:, :, 0]},
    ...     on_original={Response.VALUES: predicted},
    ... )
    >>> found = left_out_score(replicates, replicates.scores(metric_named("mean_absolute_error")))
    >>> found.value, found.provenance["n_never_left_out"]  # (4 + (1 + 3) / 2) / 2
    (3.0, 2)
    """
    kept = np.flatnonzero(scores.successful)
    if not kept.size:
        return undefined(f"no bootstrap gave a score of {scores.metric.name}")
    if averages_rows(scores.metric):
        return _by_row(replicates, scores.metric, kept)
    return _by_replicate(replicates, scores, kept)


def averages_rows(metric: Metric) -> bool:
    """Whether it is a mean of one loss per row, or a function of such a mean.

    Examples
    --------
    >>> from heldout.metrics import metric_named
    >>> [averages_rows(metric_named(name)) for name in ("brier_score", "neg_root_mean_squared_error", "roc_auc")]
    [True, True, False]
    """
    return metric.row_wise or isinstance(unsigned(metric), OfRowLosses)


def mean_score(metric: Metric, values: Floats, weights: Floats) -> float:
    """The score of several sets of rows together, from the scores and the weights of each.

    - ``metric``: of which ``averages_rows``.
    - ``values``, ``weights`` (L,).

    Examples
    --------
    >>> from heldout.metrics import metric_named
    >>> mean_score(metric_named("root_mean_squared_error"), np.array([1.0, 7.0]), np.array([0.5, 0.5]))
    5.0
    """
    plain = unsigned(metric)
    root = isinstance(plain, OfRowLosses) and plain.finish is Finish.ROOT
    # A root is squared before it is averaged, as the root of a mean is no mean of roots.
    mean = float((values**2 if root else values) @ weights / weights.sum())
    if not root:
        return mean
    return (metric.sign if isinstance(metric, Signed) else 1) * sqrt(mean)


def _by_row(replicates: Replicates, metric: Metric, kept: Indices) -> CorrectedScore:
    """The mean over rows of means over replicates.

    It is the mean over replicates as well, where a row weighs in each that left it out as the inverse of how many
    did. So it needs nothing of the metric but its scores under weights.
    """
    present = replicates.all_rows[0] > 0
    times = np.count_nonzero(out_of_bag(replicates.counts[kept]), axis=0)
    # At least 1, for rows that no sample left out: their share is 0 in any case.
    shares: Weightings = replicates.left_out(kept) / np.maximum(times, 1)
    totals: Floats = shares.sum(axis=1)
    # A sample that drew every row has nothing to be scored on.
    some = np.flatnonzero(totals > 0)
    never = int(np.count_nonzero(present & (times == 0)))
    if not some.size:
        return undefined("every bootstrap drew all rows, so that none was left out to be scored")
    response = replicates.response_of(metric)
    values = []
    with quiet_if_foreign([metric]):
        for h in range(replicates.n_completions):
            predicted = replicates.read(metric, replicates.on_original[response][:, h][:, kept[some]])
            scores = metric.statistic(replicates.truth, predicted).selected(shares[some], np.arange(len(some)))
            values.append(mean_score(metric, scores, totals[some]))
    flags: dict[Flag, str] = {}
    if never:
        n_rows = int(np.count_nonzero(present))
        flags |= Flag.NEVER_LEFT_OUT.of(
            rows=f"{never:,} of {counted(n_rows, 'row')}", were="was" if never == 1 else "were"
        )
    return CorrectedScore(
        float(np.mean(values)), flags, {"averaged": "by row", "n": len(some), "n_never_left_out": never}
    )


def _by_replicate(replicates: Replicates, scores: ReplicateScores, kept: Indices) -> CorrectedScore:
    found = scores.out_of_bag[kept]
    defined = found[np.isfinite(found)]
    if not defined.size:
        return undefined(f"{scores.metric.name} is undefined on the rows that each bootstrap left out")
    flags: dict[Flag, str] = {}
    if len(defined) < len(found):
        flags |= Flag.UNDEFINED_BOOTSTRAPS.of(
            undefined=len(found) - len(defined), total=len(found), why=" (on the rows that they left out)"
        )
    spread = float(defined.std(ddof=1) / sqrt(len(defined))) if len(defined) > 1 else float("nan")
    provenance = {"averaged": "by bootstrap", "n": len(defined), "monte_carlo_error": spread}
    return CorrectedScore(float(defined.mean()), flags, provenance)


@dataclass(frozen=True)
class OutOfBag:
    """The leave-one-out bootstrap (Efron & Tibshirani 1997).

    The loss of each row by the models that never saw it, then the mean over rows; for metrics that are no mean of
    one loss per row, the mean over replicates of the score on the rows left out (``left_out_score``). The apparent
    score is not used. It is pessimistic if models learn more from N rows than from the .632 N distinct rows of a
    sample.
    """

    name: ClassVar[str] = "oob"
    sources: ClassVar[tuple[str, ...]] = ("efron1983", "efron1997")
    reads_left_out = True

    def corrected(self, replicates: Replicates, scores: ReplicateScores) -> CorrectedScore:
        found = left_out_score(replicates, scores)
        return replace(found, provenance={"out_of_bag": found.value, **found.provenance})


MOST_PAIRS = 2**22
"""Numbers in the largest table of pairs: 2048 rows."""
AT_ONCE = 2**20
"""Predictions that are held at once where each is given to all rows; no result depends on it."""


class NoInformation(NamedTuple):
    """The rate in the metric's own direction and units; NaN, and why as half a sentence, where there is none."""

    value: float
    reason: str = ""


def no_information(replicates: Replicates, metric: Metric) -> NoInformation:
    """Of the model fitted on all rows; the mean over completions.

    Examples
    --------
    Three of four labels are 1 and two of four predictions, so that half the pairs agree (3 * 2 + 1 * 2 of 16):

    >>> from heldout.metrics import metric_named
    >>> from heldout.data.task import truth_of
    >>> predicted = {Response.LABELS: np.array([[0], [1], [0], [1]])}
    >>> replicates = Replicates(truth_of([0, 1, 1, 1]), np.ones((1, 4), dtype=np.uint8), predicted, predicted)
    >>> no_information(replicates, metric_named("accuracy")).value
    0.5
    """
    response = replicates.response_of(metric)
    apparent = replicates.read(metric, replicates.apparent[response])
    truth, once = replicates.trained
    weights = once[0].astype(np.float64)
    some = weights > 0
    with quiet_if_foreign([metric]):
        found = [
            over_pairs(metric, response, truth.rows(some), apparent[some, h], weights[some])
            for h in range(replicates.n_completions)
        ]
    reason = next((each.reason for each in found if each.reason), "")
    return NoInformation(float(np.mean([each.value for each in found])), reason)


def over_pairs(
    metric: Metric, response: Response, truth: Truth, predicted: Array, weights: Floats
) -> NoInformation:
    """A metric over all pairs of a label and a prediction.

    - ``predicted`` (n,) or (n, outputs): of the metric's response.
    - ``weights`` (n,): above 0; a pair weighs the product of both.
    """
    if response is not Response.RISK and _counts_rows(metric, truth, predicted, weights):
        return NoInformation(float("nan"), f"there is none of {metric.name}, which depends on the number of rows")
    value = _closed_form(metric, truth, predicted, weights)
    if value is None and response is Response.RISK and not metric.calls_foreign_code:
        value = _of_risks(metric, truth, predicted, weights)
        if isnan(value):
            return NoInformation(value, f"there is none of {metric.name}, which depends on the scale of risks")
    if value is None and truth.classes is not None and metric.takes_weights:
        value = _of_classes(metric, truth, predicted, weights)
    if value is None and averages_rows(metric):
        value = _of_rows(metric, truth, predicted, weights)
    if value is None:
        if truth.n_rows * predicted.size > MOST_PAIRS:
            most = int(sqrt(MOST_PAIRS * truth.n_rows / predicted.size))
            return NoInformation(float("nan"), f"of {metric.name} that needs all pairs of at most {most:,} rows")
        value = _of_table(metric, truth, predicted, weights)
    if not isfinite(value):
        return NoInformation(float("nan"), f"{metric.name} of all pairs of a label and a prediction is undefined")
    return NoInformation(value)


def _counts_rows(metric: Metric, truth: Truth, predicted: Array, weights: Floats) -> bool:
    """Whether a metric of all rows twice is another one, so that N x N pairs say nothing of N rows."""
    if metric.calls_foreign_code or not metric.takes_weights:
        return False
    once, twice = metric.statistic(truth, predicted[:, None]).all(np.stack([weights, 2 * weights]))[:, 0].tolist()
    return isfinite(once) and isfinite(twice) and not isclose(once, twice, rel_tol=1e-6, abs_tol=1e-9)


def _closed_form(metric: Metric, truth: Truth, predicted: Array, weights: Floats) -> float | None:
    """Of squared errors, of distances and of quantiles; None of others."""
    match metric:
        case Signed():
            inner = _closed_form(metric.metric, truth, predicted, weights)
            return None if inner is None else metric.sign * inner
        case MeanSquaredError():
            return _squared_error(truth.values, predicted, weights)
        case RootMeanSquaredError():
            return sqrt(_squared_error(truth.values, predicted, weights))
        case R2():
            spread = _variance(truth.values, weights)
            return 1 - _squared_error(truth.values, predicted, weights) / spread if spread > 0 else None
        case MeanAbsoluteError():
            return 2 * _pinball(truth.values, predicted, weights, 0.5)
        case PinballLoss():
            return _pinball(truth.values, predicted, weights, metric.alpha)
        case _:
            return None


def _variance(numbers: Floats, weights: Floats) -> float:
    mean = numbers @ weights / weights.sum()
    return float((numbers - mean) ** 2 @ weights / weights.sum())


def _squared_error(truth: Floats, predicted: Floats, weights: Floats) -> float:
    """The mean of (y - p)^2 over pairs: both variances and the squared distance of the means."""
    apart = (truth - predicted) @ weights / weights.sum()
    return float(_variance(truth, weights) + _variance(predicted, weights) + apart**2)


def _pinball(truth: Floats, predicted: Floats, weights: Floats, alpha: float) -> float:
    """The mean over pairs of alpha (y - p) where y is above p, else of (1 - alpha) (p - y); in one sorting."""
    middle = float(truth @ weights / weights.sum())  # so that sums of what lies far from 0 keep their digits
    order = np.argsort(truth)
    sorted_truth, its_weights = truth[order] - middle, weights[order]
    weight = np.r_[0.0, np.cumsum(its_weights)]
    moment = np.r_[0.0, np.cumsum(its_weights * sorted_truth)]
    given = predicted - middle
    below = np.searchsorted(sorted_truth, given, side="right")
    above = (moment[-1] - moment[below]) - given * (weight[-1] - weight[below])
    under = given * weight[below] - moment[below]
    return float((alpha * above + (1 - alpha) * under) @ weights / weights.sum() ** 2)


def _of_risks(metric: Metric, truth: Truth, predicted: Array, weights: Floats) -> float:
    """Of equal risks, where only their order or direction counts; NaN where their scale does.

    A partial likelihood of all pairs would be one of N x N rows, and depends on how many they are.
    """
    steeper = np.stack([predicted, 2 * predicted, np.zeros_like(predicted)], axis=1)
    once, twice, equal = metric.statistic(truth, steeper).all(weights[None, :])[0]
    return float(equal) if isclose(once, twice, rel_tol=1e-6, abs_tol=1e-9) else float("nan")


def _of_classes(metric: Metric, truth: Truth, predicted: Array, weights: Floats) -> float:
    """Each prediction once with each class, weighted by the class."""
    shares = np.bincount(truth.values, weights, minlength=truth.n_classes) / weights.sum()
    classes = np.flatnonzero(shares > 0)
    codes = np.repeat(classes, truth.n_rows).astype(truth.values.dtype)
    predictions = np.concatenate([predicted] * len(classes))
    pairs = np.outer(shares[classes], weights / weights.mean()).ravel() * len(classes)
    table = replace(truth, values=codes)
    return float(metric.statistic(table, predictions[:, None]).all(pairs[None, :])[0, 0])


def _of_rows(metric: Metric, truth: Truth, predicted: Array, weights: Floats) -> float:
    """Each prediction in turn given to all rows."""
    values = np.empty(len(predicted))
    step = max(1, AT_ONCE // predicted.size)
    for first in range(0, len(predicted), step):
        few = predicted[first : first + step]
        everywhere = np.repeat(few[None], truth.n_rows, axis=0)
        values[first : first + step] = metric.statistic(truth, everywhere).all(weights[None, :])[0]
    return mean_score(metric, values, weights)


def _of_table(metric: Metric, truth: Truth, predicted: Array, weights: Floats) -> float:
    """Of all pairs, a row each."""
    n = truth.n_rows
    table = truth.rows(np.repeat(np.arange(n), n))
    predictions = np.concatenate([predicted] * n)[:, None]
    if (weights == weights[0]).all():
        once = np.ones((1, n * n), dtype=np.uint8)
        return float(metric.statistic(table, predictions).all(once)[0, 0])
    pairs = np.outer(weights, weights / weights.mean() ** 2).reshape(1, -1)
    return float(metric.statistic(table, predictions).all(pairs)[0, 0])


SHARE_SEEN = 0.632
"""The share of distinct rows in a sample, about 1 - 1/e; rounded as in the articles and in R."""
SHARE_UNSEEN = 0.368


@dataclass(frozen=True)
class Point632:
    """.368 apparent + .632 out-of-bag (Efron 1983), for scores and losses alike.

    A model that memorises its rows has a perfect apparent score, to which the fixed weight gives too much
    influence.

    Examples
    --------
    >>> round(SHARE_UNSEEN * 0.0 + SHARE_SEEN * 0.5, 3)  # memorised noise: the true error is .5
    0.316
    """

    name: ClassVar[str] = "632"
    sources: ClassVar[tuple[str, ...]] = ("efron1983",)
    reads_left_out = True

    def corrected(self, replicates: Replicates, scores: ReplicateScores) -> CorrectedScore:
        left_out = left_out_score(replicates, scores)
        provenance = _both(scores.apparent, left_out)
        if isnan(scores.apparent):
            return _undefined_apparent(scores.metric, provenance)
        value = SHARE_UNSEEN * scores.apparent + SHARE_SEEN * left_out.value
        return CorrectedScore(value, left_out.flags, {**provenance, "weight": SHARE_SEEN})


@dataclass(frozen=True)
class Point632Plus:
    """(1 - w) apparent + w out-of-bag, the more of the latter the more the model overfits.

    Efron & Tibshirani (1997). The scores are turned into errors: a loss as it is, a score as its distance
    from the best possible value. Then, with the article's symbols in brackets,

    - ``no_information`` [gamma] is the error if predictions and labels had nothing to do with each other: over all
      N x N pairs of them, by the model fitted on all rows;
    - ``relative_overfitting`` [R'] = (min(out of bag, gamma) - apparent) / (gamma - apparent) where both the error
      out of bag and gamma are above the apparent one, else 0;
    - ``weight`` [w] = .632 / (1 - .368 R'), from .632 to 1;
    - the error is (1 - w) apparent + w min(out of bag, gamma).

    The article adds to the .632 error, which it makes of the out-of-bag error as it is. That differs only where the
    model predicts worse than chance, and goes beyond gamma there; such a value stands in the provenance as
    ``as_published``. R's ``ipred`` lets R' pass 1 there too.

    Of a metric without a best possible value (a calibration slope is best at 1 and no better at 2) there is no
    error, and of some others no rate without information: NaN, and a flag.

    Examples
    --------
    Of remembered noise nothing of the apparent error is left, and a model that does not overfit has .632:

    >>> weighed = weigh(apparent=0.0, out_of_bag=0.5, no_information=0.5)
    >>> weighed.error, weighed.weight
    (0.5, 1.0)
    >>> weigh(apparent=0.2, out_of_bag=0.2, no_information=0.5).weight
    0.632
    """

    name: ClassVar[str] = "632+"
    sources: ClassVar[tuple[str, ...]] = ("efron1997",)
    reads_left_out = True

    def corrected(self, replicates: Replicates, scores: ReplicateScores) -> CorrectedScore:
        metric = scores.metric
        left_out = left_out_score(replicates, scores)
        provenance = _both(scores.apparent, left_out)
        best = metric.range[1] if metric.greater_is_better else 0.0
        if metric.ideal is not None or not isfinite(best):
            return _without_information(f"{metric.name} has no best possible value", provenance)
        if isnan(scores.apparent):
            return _undefined_apparent(metric, provenance)
        if isnan(left_out.value):
            return CorrectedScore(left_out.value, left_out.flags, provenance)
        rate: NoInformation = no_information(replicates, metric)
        if isnan(rate.value):
            return _without_information(rate.reason, provenance)
        sign = -1.0 if metric.greater_is_better else 1.0
        apparent, out_of_bag, gamma = (
            sign * (each - best) for each in (scores.apparent, left_out.value, rate.value)
        )
        found = weigh(apparent, out_of_bag, gamma)
        provenance |= {
            "no_information": rate.value,
            "relative_overfitting": found.relative_overfitting,
            "weight": found.weight,
        }
        if out_of_bag > gamma:
            provenance["as_published"] = best + sign * found.as_published
        return CorrectedScore(best + sign * found.error, left_out.flags, provenance)


class WeightedScore(NamedTuple):
    """An error by .632+, and what it was made of."""

    error: float
    relative_overfitting: float
    weight: float
    as_published: float
    """By the article's formula, with the out-of-bag error as it is also above the no-information rate."""


def weigh(apparent: float, out_of_bag: float, no_information: float) -> WeightedScore:
    """.632+ of three errors.

    Examples
    --------
    >>> found = weigh(apparent=0.1, out_of_bag=0.3, no_information=0.5)
    >>> [round(each, 4) for each in found]  # R' = .2 / .4, w = .632 / .816
    [0.2549, 0.5, 0.7745, 0.2549]
    """
    bounded = min(out_of_bag, no_information)
    overfitting = 0.0
    if out_of_bag > apparent and no_information > apparent:
        overfitting = (bounded - apparent) / (no_information - apparent)
    weight = SHARE_SEEN / (1 - SHARE_UNSEEN * overfitting)
    published = SHARE_UNSEEN * apparent + SHARE_SEEN * out_of_bag + (bounded - apparent) * (weight - SHARE_SEEN)
    return WeightedScore((1 - weight) * apparent + weight * bounded, overfitting, weight, published)


def _both(apparent: float, left_out: CorrectedScore) -> dict[str, Any]:
    return {"apparent": apparent, "out_of_bag": left_out.value, **left_out.provenance}


def _undefined_apparent(metric: Metric, provenance: Mapping[str, Any]) -> CorrectedScore:
    return undefined(f"{metric.name} is undefined for the model fitted on all rows", provenance)


def _without_information(reason: str, provenance: Mapping[str, Any]) -> CorrectedScore:
    return undefined(
        f".632+ needs the error of predictions that know nothing, and {reason}; `method='optimism'` needs none",
        provenance,
    )
