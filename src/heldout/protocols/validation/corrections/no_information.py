"""The no-information rate: what a metric would be if predictions and labels had nothing to do with each other.

It is the metric over all N x N pairs of a label and a prediction, by the model fitted on all rows (Efron &
Tibshirani 1997), exactly: nothing is permuted or drawn. A table of all pairs says it for any metric. It need not be
made

- of classes, where a table of a row for each class and prediction, weighted by the class, says the same;
- of means of one loss per row, where each prediction in turn is given to all rows;
- of squared errors and of distances, which have a closed form;
- of survival times that risks order, where unrelated risks do as well as equal ones.

What is left (the median error, a function of the user's own) takes the table itself, up to ``MOST_PAIRS``.
"""

from __future__ import annotations

from dataclasses import replace
from math import isclose, isfinite, isnan, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats
from heldout.data.task import Truth
from heldout.metrics.base import Metric, Response, quiet_if_foreign
from heldout.metrics.regression import R2, MeanAbsoluteError, MeanSquaredError, PinballLoss, RootMeanSquaredError
from heldout.metrics.signed import Signed
from heldout.protocols.validation.corrections.leave_one_out import averages_rows, mean_score
from heldout.protocols.validation.replicates import Replicates

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
    metric: Metric, response: Response, truth: Truth, predicted: NDArray[Any], weights: Floats
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


def _counts_rows(metric: Metric, truth: Truth, predicted: NDArray[Any], weights: Floats) -> bool:
    """Whether a metric of all rows twice is another one, so that N x N pairs say nothing of N rows."""
    if metric.calls_foreign_code or not metric.takes_weights:
        return False
    once, twice = metric.statistic(truth, predicted[:, None]).all(np.stack([weights, 2 * weights]))[:, 0].tolist()
    return isfinite(once) and isfinite(twice) and not isclose(once, twice, rel_tol=1e-6, abs_tol=1e-9)


def _closed_form(metric: Metric, truth: Truth, predicted: NDArray[Any], weights: Floats) -> float | None:
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


def _of_risks(metric: Metric, truth: Truth, predicted: NDArray[Any], weights: Floats) -> float:
    """Of equal risks, where only their order or direction counts; NaN where their scale does.

    A partial likelihood of all pairs would be one of N x N rows, and depends on how many they are.
    """
    steeper = np.stack([predicted, 2 * predicted, np.zeros_like(predicted)], axis=1)
    once, twice, equal = metric.statistic(truth, steeper).all(weights[None, :])[0]
    return float(equal) if isclose(once, twice, rel_tol=1e-6, abs_tol=1e-9) else float("nan")


def _of_classes(metric: Metric, truth: Truth, predicted: NDArray[Any], weights: Floats) -> float:
    """Each prediction once with each class, weighted by the class."""
    shares = np.bincount(truth.values, weights, minlength=truth.n_classes) / weights.sum()
    classes = np.flatnonzero(shares > 0)
    codes = np.repeat(classes, truth.n_rows).astype(truth.values.dtype)
    predictions = np.concatenate([predicted] * len(classes))
    pairs = np.outer(shares[classes], weights / weights.mean()).ravel() * len(classes)
    table = replace(truth, values=codes)
    return float(metric.statistic(table, predictions[:, None]).all(pairs[None, :])[0, 0])


def _of_rows(metric: Metric, truth: Truth, predicted: NDArray[Any], weights: Floats) -> float:
    """Each prediction in turn given to all rows."""
    values = np.empty(len(predicted))
    step = max(1, AT_ONCE // predicted.size)
    for first in range(0, len(predicted), step):
        few = predicted[first : first + step]
        everywhere = np.repeat(few[None], truth.n_rows, axis=0)
        values[first : first + step] = metric.statistic(truth, everywhere).all(weights[None, :])[0]
    return mean_score(metric, values, weights)


def _of_table(metric: Metric, truth: Truth, predicted: NDArray[Any], weights: Floats) -> float:
    """Of all pairs, a row each."""
    n = truth.n_rows
    table = truth.rows(np.repeat(np.arange(n), n))
    predictions = np.concatenate([predicted] * n)[:, None]
    if (weights == weights[0]).all():
        once = np.ones((1, n * n), dtype=np.uint8)
        return float(metric.statistic(table, predictions).all(once)[0, 0])
    pairs = np.outer(weights, weights / weights.mean() ** 2).reshape(1, -1)
    return float(metric.statistic(table, predictions).all(pairs)[0, 0])
