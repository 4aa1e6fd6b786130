"""What a selection rule needs read of the predictions, where it is not simply what the metric reads.

A rule that tunes a threshold reads scores although its metric reads labels; a rule that averages predictions reads
probabilities or values, as labels and decisions of different models have no average. Reading, and the race between
configurations, ask a metric what it reads: an ``OpaqueMetric`` stands there and answers for the rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._text import argument
from heldout.data.arrays import array_of, missing
from heldout.data.task import TaskKind, Truth
from heldout.errors import InputError
from heldout.estimates.evidence.responses import cut
from heldout.kernels.reference import Floats
from heldout.metrics.base import Metric, Response
from heldout.metrics.opaque import OpaqueMetric
from heldout.predictions import HeldOutPredictions
from heldout.selection import Rule
from heldout.selection.base import WeightRule
from heldout.selection.ensembles import Averages
from heldout.selection.threshold import Cuts, Threshold, cuts_of


def read_as(rule: Rule, metric: Metric, truth: Truth) -> Metric:
    """What stands for ``metric`` where predictions are read: itself, or what the rule reads for it.

    Raises
    ------
    InputError
        When the rule is not for this metric or task.
    """
    if isinstance(rule, Threshold):
        if Response.LABELS not in metric.responses:
            raise InputError(
                f"{argument('selection', rule.name)} tunes where scores are cut into labels, and {metric.name} "
                f"reads {' or '.join(metric.responses)}; use a metric of labels (accuracy, f1, balanced_accuracy, "
                "...).",
                argument="selection",
            )
        if truth.kind is not TaskKind.BINARY:
            raise InputError(
                f"{argument('selection', rule.name)} is for binary tasks, and there are {truth.n_classes} "
                "classes; several classes take the greatest score.",
                argument="selection",
            )
        read = (Response.DECISION, Response.PROBABILITIES)
        return OpaqueMetric.in_place_of(metric, f"{metric.name} at a tuned threshold", read)
    if not isinstance(rule, WeightRule):
        return metric
    if Response.VALUES in metric.responses and not truth.kind.is_classification:
        return metric
    if {Response.PROBABILITIES, Response.LABELS} & set(metric.responses) and truth.kind.is_classification:
        return OpaqueMetric.in_place_of(metric, f"{metric.name} of an ensemble", (Response.PROBABILITIES,))
    raise InputError(
        f"{argument('selection', rule.name)} averages predictions, and {metric.name} reads "
        f"{' or '.join(metric.responses)}, which of different models are on no common scale; use a metric of "
        "probabilities or of predicted values.",
        argument="selection",
    )


def threshold_of_reading(rule: Rule, metrics: Sequence[Metric], threshold: float | None) -> float | None:
    """Where predictions are cut as they are read: those that are averaged are cut afterwards.

    Raises
    ------
    InputError
        When a threshold is given and tuned.
    """
    if threshold is not None and isinstance(rule, Threshold):
        raise InputError(
            f"{argument('threshold', threshold)} says where to cut, and {argument('selection', rule.name)} tunes "
            f"just that; leave one out (or try a few: 'threshold(grid=[{threshold}, ...])')."
        )
    averaged = isinstance(rule, WeightRule) and any(Response.LABELS in metric.responses for metric in metrics)
    return None if averaged else threshold


def refuse_labels(rule: Rule, truth: Truth, predictions: Any, response: str) -> None:
    """Refuse an array of labels where a rule cuts or averages scores of classes.

    Raises
    ------
    InputError
    """
    is_array = not isinstance(predictions, HeldOutPredictions)
    reads_scores = isinstance(rule, Threshold | WeightRule) and truth.kind.is_classification
    if not is_array or not reads_scores or response not in ("auto", "labels"):
        return
    array = array_of(predictions, "predictions")
    if response == "auto" and array.dtype.kind == "f" and not _zeros_and_ones(array):
        return
    verb, give = (
        ("tunes where scores are cut into labels", "probabilities or decisions")
        if isinstance(rule, Threshold)
        else ("averages predictions, and labels have no average", "probabilities")
    )
    raise InputError(
        f"{argument('selection', rule.name)} {verb}, but the predictions are labels; pass {give} (and say "
        f"{argument('response', ...)} where they are 0 and 1 only).",
        argument="selection",
    )


def _zeros_and_ones(array: NDArray[Any]) -> bool:
    return bool(np.isin(array[~missing(array)], [0, 1]).all())


@dataclass(frozen=True, eq=False)
class Columns:
    """What stands as the columns of the matrix.

    Attributes
    ----------
    cuts : Cuts or None
        Where a column is a configuration at a threshold.
    threshold : float or None
        Where averaged probabilities are cut for a metric on labels.
    """

    truth: Truth
    rule: Rule
    cuts: Cuts | None = None
    threshold: float | None = None

    def as_read(self, metric: Metric, array: NDArray[Any]) -> NDArray[Any]:
        """From an array of the candidates, in the response that the rule reads, to what the metric reads."""
        if self.cuts is not None:
            return self.cuts.labels(array)
        return self._cut(array) if self._cuts_averages(metric) else array

    def averages(self, metric: Metric, array: NDArray[Any]) -> Averages:
        """What a rule of weights averages."""
        return Averages(
            np.asarray(array, dtype=np.float64),
            are_probabilities=self.truth.kind.is_classification,
            respond=self._cut if self._cuts_averages(metric) else None,
        )

    def _cuts_averages(self, metric: Metric) -> bool:
        return isinstance(self.rule, WeightRule) and Response.LABELS in metric.responses

    def _cut(self, probabilities: Floats) -> NDArray[np.int32]:
        return cut(self.truth, probabilities, Response.PROBABILITIES, self.threshold)


def columns_at_thresholds(rule: Threshold, truth: Truth, scores: Floats, in_play: NDArray[np.bool_]) -> Columns:
    """The columns that a threshold is chosen from: scores (n, C, R), in play where (n, R), cut at each threshold.

    Raises
    ------
    InputError
        When there would be too many.
    """
    assert truth.positive is not None, "read_as says so"
    return Columns(truth, rule, cuts_of(rule, np.where(in_play[:, None, :], scores, np.nan), truth.positive))
