"""Corrections of an apparent score: each is a class, and reads nothing but the replicates.

The score of rows that a replicate's model never saw is taken by row first where each row has a loss of its own:
the leave-one-out bootstrap (Efron & Tibshirani 1997) takes a row's loss over the replicates that left it out and
then the mean over rows, so that a row counts once however often it was left out. Of a metric of all rows together
(an area, a correlation) there is no loss of a row, and the mean over replicates takes its place. That score is of
models with fewer training rows, and the apparent score is on rows that trained the model. The .632 and the .632+
bootstrap average the two, .632+ with weights that depend on the overfitting.

The optimism bootstrap subtracts how much better models score on their own sample than on all rows. It subtracts
too little of a model that memorises its rows. A sample holds .632 of the rows, and a model that remembers these is
right on most rows that then test it: its score on all rows is far too good, and its optimism far too small. This
is a property of the model, seen in how it ranks the rows (of numbers, in its squared errors), so that it decides
for all metrics. The relative overfitting of each metric would not do: it is 1 for the accuracy of a logistic
regression with an area of .61 and for the log loss of one with .67. ``Automatic``, the default, takes .632+ of
such a model.

The double bootstrap says how far the estimate is off, measured in samples of the samples. The optimism bootstrap
applied to a bootstrap sample estimates the optimism of that sample's model from samples of the sample. The
optimism that this model really has is known, because all rows are what the sample was drawn from: its score on its
own sample minus its score on all rows. The mean difference of the two is how far the method is off, and it is
added to the optimism. Efron (1983) corrects the estimated bias of an error rate in this way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import isclose, isfinite, isnan, sqrt
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from heldout._text import counted
from heldout._types import Array, Floats, Indices, Weightings
from heldout.data.checks import usual_name
from heldout.data.task import TaskKind, Truth
from heldout.errors import InputError
from heldout.flags import Flag
from heldout.metrics.base import Metric, OfParts, Response, Signed, quiet_if_foreign, sign_of, unsigned
from heldout.metrics.named import check_fits, in_sentence, metric_named, metric_words
from heldout.metrics.regression import R2, MeanAbsoluteError, MeanSquaredError, PinballLoss, RootMeanSquaredError
from heldout.metrics.row_losses import Finish, OfRowLosses
from heldout.protocols.validation.replicates import Replicates, ReplicateScores
from heldout.selection.bootstrap_draws import out_of_bag


@dataclass(frozen=True, eq=False)
class CorrectedScore:
    """The corrected score of one metric: what a correction returns."""

    value: float
    """In the metric's own direction and units; NaN (and a flag) where there is none."""
    flags: Mapping[Flag, str] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    """What it was made of, such as the weight and the no-information rate of .632+; ``out_of_bag`` is the score of
    the rows left out, of those that read it."""
    method: str = ""
    """The name of the correction, where it is not that of the one that was called."""

    def within(self, metric: Metric) -> CorrectedScore:
        """The score, moved to the end of the metric's range with a flag if a difference of means lies beyond it."""
        low, high = metric.range
        if isnan(self.value) or low <= self.value <= high:
            return self
        flag = Flag.CORRECTED_BEYOND_RANGE
        sentence = flag.filled(metric=metric.name, value=f"{self.value:.4g}", low=f"{low:g}", high=f"{high:g}")
        return replace(self, value=min(max(self.value, low), high), flags={**self.flags, flag: sentence})


class Correction(Protocol):
    """A frozen dataclass that holds the parameters of a correction.

    - ``name``: as users name it.
    - ``sources``: keys of ``heldout.references``.
    - ``reads_left_out``: whether every sample must leave out rows on which the metrics are defined.
    """

    @property
    def name(self) -> str: ...
    @property
    def sources(self) -> tuple[str, ...]: ...
    @property
    def reads_left_out(self) -> bool: ...

    def corrected(self, replicates: Replicates, scores: ReplicateScores) -> CorrectedScore:
        """The corrected score of one metric.

        - ``replicates``: for what must be read row by row.
        - ``scores``: of these replicates; replicates that are not ``successful`` are left out.
        """


def corrected_score(correction: Correction, replicates: Replicates, scores: ReplicateScores) -> CorrectedScore:
    """The corrected score of one metric; of a metric that is made of parts, that of the corrected parts.

    The means over replicates, in the provenance, are then those of the mean parts too.
    """
    corrected, metric = correction.corrected(replicates, scores), scores.metric
    corrected = replace(corrected, method=corrected.method or correction.name)
    if not isinstance(metric, OfParts):
        return corrected
    parts = [replicates.scores(part.for_truth(replicates.truth)) for part in metric.parts]
    values = [correction.corrected(replicates, part).value for part in parts]
    means = {name: metric.of_parts([part.means[name] for part in parts]) for name in parts[0].means}
    return replace(corrected, value=metric.of_parts(values), provenance={**corrected.provenance, **means})


def undefined(reason: str, provenance: Mapping[str, Any] | None = None) -> CorrectedScore:
    """No score, with the reason why there is none, as half a sentence."""
    return CorrectedScore(float("nan"), Flag.UNDEFINED.of(reason=reason), provenance or {})


def worse(metric: Metric, value: float, than: float) -> bool:
    """Whether one score is worse than another, in the metric's direction."""
    return value < than if metric.greater_is_better else value > than


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
    return sign_of(metric) * sqrt(mean)


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


TOLD_BY: Mapping[TaskKind, tuple[str, ...]] = {
    TaskKind.BINARY: ("roc_auc", "balanced_accuracy"),
    TaskKind.MULTICLASS: ("roc_auc_ovr", "balanced_accuracy"),
    TaskKind.REGRESSION: ("mean_squared_error",),
    TaskKind.SURVIVAL: ("concordance_index",),
}
"""The metrics that tell; of each kind the first whose response was recorded."""
NEARLY_PERFECT = 0.1
"""The error on its own sample, as a share of that on the rows left out, below which a sample is memorised. That
includes the best possible score, unless the rows left out have it too. Of the squared error a forest has .06, and
least squares of 100 rows on 30 columns .27."""
NEARLY_ALL = 0.9
"""Relative overfitting of .632+ above which nothing of the apparent score is left on new rows."""


class Memorising(NamedTuple):
    """How a model does on its own samples and on the rows that they left out, if it memorises its rows."""

    score: str = ""
    """What tells, in words; empty for a model that does not memorise."""
    own: float = float("nan")
    left_out: float = float("nan")
    is_perfect: bool = False
    """Whether it is nearly without error on most of its own samples."""

    @property
    def flags(self) -> dict[Flag, str]:
        """That it memorises; none of a model that does not."""
        places = self._asdict()
        return Flag.MEMORISES.of(**places) if self.score else {}


_KNOWN: WeakKeyDictionary[Replicates, Memorising] = WeakKeyDictionary()
"""One answer for all metrics of a model, because it costs a metric of all replicates."""


def memorising(replicates: Replicates) -> Memorising:
    """Whether a model memorises its rows.

    It does if its score on its own sample is nearly perfect in more than half of the samples, or if its relative
    overfitting (Efron & Tibshirani 1997) is above .9.

    Examples
    --------
    Rows 0 and 1 were drawn and predicted without error, the others not:

    >>> from heldout.data.task import truth_of
    >>> from heldout.metrics.base import Response
    >>> predicted = {Response.VALUES: np.array([[0.0], [1.0], [0.0], [0.0]])}
    >>> given = {response: values[:, :, None] for response, values in predicted.items()}
    >>> truth = truth_of([0.0, 1.0, 2.0, 3.0], "regression")
    >>> replicates = Replicates(truth, np.array([[2, 2, 0, 0]], dtype=np.uint8), predicted, given)
    >>> memorising(replicates)
    Memorising(score='mean squared error', own=0.0, left_out=6.5, is_perfect=True)
    """
    if replicates not in _KNOWN:
        metric = _telling(replicates)
        _KNOWN[replicates] = Memorising() if metric is None else _told_by(metric, replicates)
    return _KNOWN[replicates]


def _told_by(metric: Metric, replicates: Replicates) -> Memorising:
    scores = replicates.scores(metric)
    best = metric.range[1] if metric.greater_is_better else 0.0
    own, left_out = abs(scores.in_bootstrap - best), abs(scores.out_of_bag - best)
    both = np.isfinite(own - left_out)
    if not both.any():
        return Memorising()
    is_perfect = bool((own < NEARLY_PERFECT * left_out)[both].mean() > 0.5)
    made_of = Point632Plus().corrected(replicates, scores).provenance
    if not (is_perfect or made_of.get("relative_overfitting", 0.0) > NEARLY_ALL):
        return Memorising()
    in_bag, out_of_bag = (float(values[both].mean()) for values in (scores.in_bootstrap, scores.out_of_bag))
    return Memorising(in_sentence(metric_words(metric.name)[0]), in_bag, out_of_bag, is_perfect)


def _telling(replicates: Replicates) -> Metric | None:
    truth = replicates.truth
    metrics = (check_fits(metric_named(name), truth) for name in TOLD_BY[truth.kind])
    return next((each for each in metrics if {*each.responses} & replicates.on_original.keys()), None)


@dataclass(frozen=True)
class Optimism:
    """Efron's refined bootstrap, as Harrell uses it: apparent - mean over b of (in bootstrap - on original).

    Efron (1983); Harrell, Lee & Mark (1996). It estimates the performance of models that are fitted like this one
    on as many rows; for logistic models Steyerberg et al. (2001) found no better method. The mean is over the
    successful replicates only.

    Notes
    -----
    It is known to correct too little if a model nearly memorises its rows: with more columns than rows, for nearest
    neighbours and unpruned trees, and for metrics of labels, which jump. A sample contains .632 of all rows, so
    such a model is right on most of the rows that then test it. ``"632+"`` was made for this case.

    Examples
    --------
    Of two rows the mean is predicted. All rows give .5, at an error of .5; a sample of one row twice is fitted
    without error, and is wrong by 1 on the other row:

    >>> import numpy as np
    >>> from heldout.metrics import metric_named
    >>> from heldout.data.task import truth_of
    >>> replicates = Replicates(
    ...     truth_of([0.0, 1.0], "regression"),
    ...     counts=np.array([[2, 0], [0, 2]], dtype=np.uint8),
    ...     apparent={Response.VALUES: np.array([[0.5], [0.5]])},
    ...     on_original={Response.VALUES: np.array([[[0.0, 1.0]], [[0.0, 1.0]]])},
    ... )
    >>> Optimism().corrected(replicates, replicates.scores(metric_named("mean_absolute_error"))).value
    1.0
    """

    name: ClassVar[str] = "optimism"
    sources: ClassVar[tuple[str, ...]] = ("efron1983", "harrell1996", "steyerberg2001")
    reads_left_out = False

    def corrected(self, replicates: Replicates, scores: ReplicateScores) -> CorrectedScore:
        metric, kept = scores.metric, scores.successful
        n = int(kept.sum())
        if isnan(scores.apparent):
            return undefined(f"{metric.name} is undefined for the model fitted on all rows")
        if not n:
            return undefined(f"no bootstrap gave a score of {metric.name}")
        differences = scores.in_bootstrap[kept] - scores.on_original[kept]
        difference = float(differences.mean())
        provenance = {
            "apparent": scores.apparent,
            "optimism": difference if metric.greater_is_better else -difference,
            "n": n,
            "monte_carlo_error": float(differences.std(ddof=1) / sqrt(n)) if n > 1 else float("nan"),
        }
        flags = {**memorising(replicates).flags}
        if replicates.response_of(metric) is Response.LABELS:
            flags |= Flag.DISCONTINUOUS_METRIC.of(metric=metric.name)
        return CorrectedScore(scores.apparent - difference, flags, provenance)


class AdjustedOptimism(NamedTuple):
    """Both in the metric's own direction: what is subtracted from an apparent score."""

    inner: float
    """The mean optimism that samples of the samples give."""
    adjusted: float
    """2 optimism - inner."""
    n_undefined: int
    """Samples that have an optimism and no inner one."""


def adjusted_optimism(scores: ReplicateScores, doubles: Floats) -> AdjustedOptimism:
    """The optimism, adjusted by what the same method makes of samples.

    - ``scores``: of one metric of B replicates.
    - ``doubles`` (B,): the score of each replicate's model on its own sample, corrected for the optimism by samples
      of that sample; NaN where there is none.

    With O the mean over b of O_b = in bootstrap - on original, and I_b = in bootstrap - corrected by inner samples,
    it is O + mean(O_b - I_b), the latter over the samples that have both: 2 O - mean(I_b) if all have. NaN if none
    has.

    Examples
    --------
    Two samples with optimisms of .1 and .3, whose own samples estimate .05 and .15, so that half is missed:

    >>> from heldout.metrics import metric_named
    >>> scores = ReplicateScores(
    ...     metric_named("roc_auc"), 0.9, np.array([0.9, 1.0]), np.array([0.8, 0.7]), np.array([0.7, 0.6])
    ... )
    >>> found = adjusted_optimism(scores, doubles=np.array([0.85, 0.85]))
    >>> round(found.inner, 3), round(found.adjusted, 3)  # 2 * .2 - .1
    (0.1, 0.3)
    """
    own = scores.in_bootstrap - scores.on_original
    inner = scores.in_bootstrap - doubles
    # The adjustment is a mean of differences, so only samples with both optimisms count.
    both = scores.successful & np.isfinite(inner)
    missing = int(np.count_nonzero(scores.successful & ~both))
    if not both.any():
        return AdjustedOptimism(float("nan"), float("nan"), missing)
    off = float((own - inner)[both].mean())
    return AdjustedOptimism(float(inner[both].mean()), float(own[scores.successful].mean()) + off, missing)


def with_inner_optimism(
    corrected: CorrectedScore, scores: ReplicateScores, doubles: Floats, *, adjust: bool
) -> CorrectedScore:
    """A score corrected for the optimism, and what samples of the samples say of that optimism.

    - ``doubles``: as in ``adjusted_optimism``.
    - ``adjust``: whether the adjusted optimism is subtracted in place of the plain one.

    ``provenance`` gains ``inner_optimism`` and ``adjusted_optimism``, positive when flattering.
    """
    found = adjusted_optimism(scores, doubles)
    sign = 1.0 if scores.metric.greater_is_better else -1.0
    provenance = {
        **corrected.provenance,
        "inner_optimism": sign * found.inner,
        "adjusted_optimism": sign * found.adjusted,
        "optimism_adjusted": adjust,
    }
    if not adjust or isnan(corrected.value):
        return replace(corrected, provenance=provenance)
    if isnan(found.adjusted):
        none = (
            f"no bootstrap of a bootstrap gave a score of {scores.metric.name}, so the optimism cannot be adjusted"
        )
        return replace(undefined(none, provenance), method=corrected.method)
    flags = dict(corrected.flags)
    if found.n_undefined:
        flags |= Flag.UNDEFINED_BOOTSTRAPS.of(
            undefined=found.n_undefined,
            total=int(scores.successful.sum()),
            why=" (in the samples that were drawn from them)",
        )
    return CorrectedScore(scores.apparent - found.adjusted, flags, provenance, corrected.method)


@dataclass(frozen=True)
class Automatic:
    """The optimism bootstrap; of a model that memorises its rows .632+, or out of bag where a metric has no rate.

    The optimism bootstrap gives a forest an area of .92 on rows of noise, and .632+ .52. ``memorising`` says which
    models memorise, and ``CorrectedScore.method`` what a metric was corrected by.

    Examples
    --------
    Both samples drew the rows that they predict without error, and left out the others:

    >>> import numpy as np
    >>> from heldout.data.task import truth_of
    >>> from heldout.metrics import metric_named
    >>> from heldout.metrics.base import Response
    >>> values = np.array([[[0.0, 9.0]], [[1.0, 9.0]], [[9.0, 2.0]], [[9.0, 3.0]]])
    >>> replicates = Replicates(
    ...     truth_of([0.0, 1.0, 2.0, 3.0], "regression"),
    ...     counts=np.array([[2, 2, 0, 0], [0, 0, 2, 2]], dtype=np.uint8),
    ...     apparent={Response.VALUES: np.array([[0.0], [1.0], [2.0], [3.0]])},
    ...     on_original={Response.VALUES: values},
    ... )
    >>> Automatic().corrected(replicates, replicates.scores(metric_named("mean_absolute_error"))).method
    '632+'
    """

    name: ClassVar[str] = "auto"
    sources: ClassVar[tuple[str, ...]] = Optimism.sources
    # The samples are those of the optimism bootstrap, whichever method it becomes.
    reads_left_out = False

    def corrected(self, replicates: Replicates, scores: ReplicateScores) -> CorrectedScore:
        memorised = memorising(replicates)
        if not memorised.score:
            return replace(Optimism().corrected(replicates, scores), method=Optimism.name)
        plus = Point632Plus().corrected(replicates, scores)
        # The parts of a metric are intercepts and slopes, which have no rate of no information.
        by_rate = not (isnan(plus.value) or isinstance(scores.metric, OfParts))
        corrected = plus if by_rate else OutOfBag().corrected(replicates, scores)
        method = Point632Plus.name if by_rate else OutOfBag.name
        return replace(corrected, flags={**memorised.flags, **corrected.flags}, method=method)


CORRECTIONS: Mapping[str, Callable[[], Correction]] = MappingProxyType(
    {"optimism": Optimism, "632": Point632, "632+": Point632Plus, "oob": OutOfBag}
)
"""Every correction by its name, as it is by default; ``Automatic`` chooses among them."""


def correction_named(method: Any) -> Correction:
    """A correction from its name or from itself.

    Raises InputError for anything else, naming the corrections.

    Examples
    --------
    >>> correction_named(".632+"), correction_named(OutOfBag()).name
    (Point632Plus(), 'oob')
    """
    if isinstance(method, str):
        method = usual_name("method", method)
        if method in (Automatic.name, *CORRECTIONS):
            return Automatic() if method == Automatic.name else CORRECTIONS[method]()
    if hasattr(method, "corrected") and hasattr(method, "name") and not isinstance(method, type):
        configured: Correction = method
        return configured
    if isinstance(method, type) and hasattr(method, "corrected"):
        raise InputError(
            f"method must be a correction and not its class; write {method.__name__}(), got {method!r}."
        )
    raise InputError(
        f"method must be one of auto, {', '.join(CORRECTIONS)}, two_stage, or an object with a name and a method "
        f"corrected(replicates, scores), got {method!r}."
    )
