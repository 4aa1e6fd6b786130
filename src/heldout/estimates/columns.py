"""The columns of a matrix: candidates, or candidates at a threshold, and how metrics read them.

A selection rule may read other predictions than its metric. A rule that tunes a threshold reads scores, although
its metric reads labels. A rule that averages predictions reads probabilities or values, because labels and
decisions of different models have no average. ``read_as`` gives the metric that stands in for the rule there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._text import argument
from heldout.data.arrays import array_of, missing
from heldout.data.task import TaskKind, Truth
from heldout.errors import InputError
from heldout.estimates.candidates import CandidateRows
from heldout.estimates.question import Aggregate
from heldout.estimates.responses import cut
from heldout.kernels.reference import Floats
from heldout.metrics.aggregate import AggregateScore, aggregate_score
from heldout.metrics.base import Metric, Response
from heldout.metrics.opaque import OpaqueMetric
from heldout.metrics.within import within_score
from heldout.predictions import HeldOutPredictions
from heldout.selection import Rule
from heldout.selection.base import WeightRule
from heldout.selection.ensembles import Averages
from heldout.selection.threshold import Cuts, Threshold, cuts_of


def read_as(rule: Rule, metric: Metric, truth: Truth) -> Metric:
    """The metric that says which response is read: ``metric`` itself, or a stand-in that reads what the rule reads.

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
    """The threshold at which predictions are cut as they are read; None where they are averaged first.

    Raises
    ------
    InputError
        When a threshold is given to a rule that tunes it.
    """
    if threshold is not None and isinstance(rule, Threshold):
        raise InputError(
            f"{argument('threshold', threshold)} says where to cut, and {argument('selection', rule.name)} tunes "
            f"just that; leave one out (or try a few: 'threshold(grid=[{threshold}, ...])').",
            argument="threshold",
        )
    averaged = isinstance(rule, WeightRule) and any(Response.LABELS in metric.responses for metric in metrics)
    return None if averaged else threshold


def refuse_labels(rule: Rule, truth: Truth, predictions: Any, response: str) -> None:
    """Refuse an array of labels where a rule cuts or averages scores of classes."""
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
class MatrixColumns:
    """The candidates' predictions of the rows used, one column each, or one for each threshold of each.

    Attributes
    ----------
    whole_truth : Truth
        Of all rows.
    truth : Truth of n rows
        Of the rows used.
    predictions : HeldOutPredictions
        Of all rows and configurations.
    rule : selection rule, rule of weights, or Threshold
    rows : CandidateRows
        The candidates and the rows used.
    segments : mapping
        Codes (n, R) of "pooled" and "folds"; None for "folds" where the folds are not known.
    sample_weight : ndarray of shape (n,) or None
    cuts : Cuts or None
        Where a column is a configuration at a threshold.
    labels : ndarray of shape (n, columns, R) or None
        What the cuts make of the scores: the same for every metric.
    threshold : float or None
        Where averaged probabilities are cut for a metric on labels.
    """

    whole_truth: Truth
    truth: Truth
    predictions: HeldOutPredictions
    rule: Rule
    rows: CandidateRows
    segments: Mapping[str, NDArray[np.int32] | None]
    sample_weight: NDArray[np.float64] | None = None
    cuts: Cuts | None = None
    labels: NDArray[np.int8] | None = None
    threshold: float | None = None

    @property
    def configurations(self) -> NDArray[np.intp]:
        """The configuration behind each column."""
        candidates = self.rows.candidates
        return candidates if self.cuts is None else candidates[self.cuts.column]

    def at_thresholds(self, metric: Metric) -> MatrixColumns:
        """A column for each candidate at each threshold that the rule tries."""
        assert isinstance(self.rule, Threshold) and self.truth.positive is not None, "read_as says so"
        scores, in_play = self.as_rule_reads(metric), self.rows.in_play[self.rows.used]
        cuts = cuts_of(self.rule, np.where(in_play[:, None, :], scores, np.nan), self.truth.positive)
        return replace(self, cuts=cuts, labels=cuts.labels(scores))

    def score(self, metric: Metric, aggregate: Aggregate, array: NDArray[Any] | None = None) -> AggregateScore:
        """The metric of every column in an aggregate; of the predictions in ``array`` where given."""
        array = self.as_metric_reads(metric) if array is None else array
        codes = self.segments["pooled" if aggregate == "pooled" else "folds"]
        assert codes is not None, "folds are read where they are known"
        if aggregate == "within":
            return within_score(metric, self.truth, array, codes, self.sample_weight)
        as_folds = aggregate == "folds"
        return aggregate_score(metric, self.truth, array, codes, self.sample_weight, as_folds=as_folds)

    def averages(self, metric: Metric) -> Averages | None:
        """The predictions that a rule of weights averages; None for other rules."""
        if not isinstance(self.rule, WeightRule):
            return None
        return Averages(
            np.asarray(self.as_rule_reads(metric), dtype=np.float64),
            are_probabilities=self.truth.kind.is_classification,
            respond=self._cut if self._cuts_averages(metric) else None,
        )

    def as_metric_reads(self, metric: Metric) -> NDArray[Any]:
        """(n, columns, R[, outputs]): the response of the metric."""
        if self.labels is not None:
            return self.labels
        array = self.as_rule_reads(metric)
        return self._cut(array) if self._cuts_averages(metric) else array

    def as_rule_reads(self, metric: Metric) -> NDArray[Any]:
        """(n, candidates, R[, outputs]): the response that the rule reads for the metric."""
        used, candidates = self.rows.used, self.rows.candidates
        array = self.predictions.for_metric(read_as(self.rule, metric, self.truth))
        if len(used) < len(array):
            array = array[used]
        return array[:, candidates] if len(candidates) < array.shape[1] else array

    def _cuts_averages(self, metric: Metric) -> bool:
        return isinstance(self.rule, WeightRule) and Response.LABELS in metric.responses

    def _cut(self, probabilities: Floats) -> NDArray[np.int32]:
        return cut(self.truth, probabilities, Response.PROBABILITIES, self.threshold)
