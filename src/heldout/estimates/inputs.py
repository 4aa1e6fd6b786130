"""Inputs: a user's arrays and settings, read and checked, and the evidence that each method needs of them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from heldout._random import RandomState
from heldout._text import argument, in_python
from heldout.data.arrays import array_of, has_fields
from heldout.data.limits import FEWER, check_room, enough_memory
from heldout.data.row_labels import in_one_order
from heldout.data.task import (
    TaskKind,
    Truth,
    checked_groups,
    checked_weights,
    labels_text,
    no_labels,
    target_column,
    truth_of,
)
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates.base import Method
from heldout.estimates.block_length import BlockLength
from heldout.estimates.candidates import MatrixColumns
from heldout.estimates.evidence import Evidence
from heldout.estimates.from_matrix import candidate_columns, evidence_from
from heldout.estimates.input_arrays import (
    checked_held_out,
    read_as,
    read_predictions,
    refuse_labels,
    threshold_of_reading,
)
from heldout.estimates.known_predictions import KnownPredictions
from heldout.estimates.question import (
    AnyAggregate,
    Question,
    Scales,
    Scored,
    check_aggregate,
    checked_adaptive,
    settings_of,
)
from heldout.estimates.responses import ResponseName, check_settings
from heldout.estimates.types import Alternative, Estimate
from heldout.flags import Flag
from heldout.metrics import check_fits, metric_named
from heldout.metrics.base import Metric, Response
from heldout.metrics.by_kind import reads_as_numbers
from heldout.metrics.named import DECLARED
from heldout.metrics.within import is_pair_based, unfit_within
from heldout.predictions import HeldOutPredictions
from heldout.selection import AverageRank, Rule, Threshold, WeightRule, rule_of

ROWS_THAT_TELL = 1000
"""With so many rows the winner of all rows together shows incomparable folds if any winner does. With fewer, it is
often the configuration whose folds happen to differ least, and the winner within folds is looked at too."""

WARNED = (Flag.FAILED_CONFIGURATIONS, Flag.UNDEFINED, Flag.SELECTION_NOT_REPLAYABLE, Flag.NO_BOUND)
"""Flags that are warnings too."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """A target, held-out predictions of it and a question about them, read and checked."""

    truth: Truth  # of N rows
    predictions: HeldOutPredictions
    question: Question
    default_aggregate: bool = False  # whether the user left ``aggregate`` out; then the question has "pooled"
    _gathered: dict[Scales, Evidence] = field(default_factory=dict, repr=False)

    @cached_property
    def _columns(self) -> MatrixColumns:
        return candidate_columns(self.truth, self.predictions, self.question)

    def evidence(self, method: Method) -> Evidence:
        """The evidence that the method reads: gathered once for each aggregate that a winner is selected in."""
        if self.question.aggregate == "auto":
            return self._in("auto", method.scored)
        if method.scored in ("as asked", "as chosen"):
            return self._in_own_aggregate()
        refuses_pairs = method.scored == "folds if known" and is_pair_based(self.question.metric)
        if self.predictions.folds is None or (self.question.aggregate == "within" and refuses_pairs):
            return self._in(self.question.aggregate)
        return self._in("folds")

    def _in_own_aggregate(self) -> Evidence:
        """In the user's aggregate; by default all rows together, unless the scores of folds are incomparable."""
        if not self.default_aggregate or not self._may_count_within:
            return self._in(self.question.aggregate)
        found = self._in("pooled")
        incomparable = Flag.INCOMPARABLE_FOLDS in found.flags
        if not incomparable and found.n_rows_used >= ROWS_THAT_TELL:
            return found
        try:
            within = self._in("within")
        except InputError:  # no fold holds a pair
            return found
        return within if incomparable or Flag.INCOMPARABLE_FOLDS in within.flags else found

    @property
    def _may_count_within(self) -> bool:
        read = self.question.metrics
        known = self.predictions.folds is not None and is_pair_based(self.question.metric)
        return known and all(unfit_within(metric) is None for metric in read)

    def _in(self, aggregate: AnyAggregate, scored: Scored = "as asked") -> Evidence:
        scales = Scales.of(aggregate, self.question.metric, scored)
        if scales not in self._gathered:
            question = replace(self.question, aggregate=aggregate)
            with enough_memory("what the metric reads of the predictions", FEWER):
                self._gathered[scales] = evidence_from(self._columns, question, scored)
        return self._gathered[scales]


def read_inputs(
    y_true: Any,
    predictions: Any = None,
    *,
    metric: Any,
    folds: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    aggregate: AnyAggregate | None = None,
    selection: Any = "best",
    n_bootstraps: int = 1000,
    confidence_level: float = 0.95,
    alternative: Alternative = "two-sided",
    classes: Any = None,
    pos_label: Any = None,
    response: ResponseName = "auto",
    threshold: float | None = None,
    adaptive: bool = False,
    block_length: BlockLength = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Inputs:
    """Read and check the arguments of ``heldout.estimate``, where they are described."""
    settings = settings_of(n_bootstraps, confidence_level, alternative, random_state, n_jobs, block_length)
    if aggregate is not None:
        check_aggregate(aggregate)
    named = metric_named(metric)
    rows = {
        "y": y_true,
        "predictions": predictions,
        "folds": folds,
        "groups": groups,
        "sample_weight": sample_weight,
    }
    y_true, predictions, folds, groups, sample_weight = in_one_order(rows).values()
    if isinstance(y_true, KnownPredictions):
        if predictions is not None:
            raise InputError(
                "predictions must be left out beside a table that holds them; pass the true values as an array to "
                "give other predictions.",
                argument="predictions",
            )
        own = y_true.arguments(
            named,
            rule_of(selection),
            classes=classes,
            pos_label=pos_label,
            response=response,
            threshold=threshold,
        )
        groups = own["groups"] if groups is None else groups
        sample_weight = own["sample_weight"] if sample_weight is None else sample_weight
        y_true, predictions = own["y_true"], own["predictions"]
        response, threshold = "auto", own["threshold"]
    elif predictions is None:
        raise InputError("predictions must be given beside y_true, got None.", argument="predictions")
    truth = truth_for(y_true, named, predictions, classes, pos_label)
    check_room(predictions)
    measured = check_fits(named, truth)
    rule = rule_of(selection)
    selected_on = _selected_on(rule, measured, truth)
    read = [measured, *(metric for metric in selected_on.values() if metric is not measured)]
    with enough_memory("copies of the predictions", FEWER):
        held = _held_out(truth, predictions, read, rule, response, threshold, folds)
    if checked_adaptive(adaptive):
        held = replace(held, adaptive=True)
    question = Question(
        metric=measured,
        selected_on=selected_on,
        rule=rule,
        aggregate=aggregate or "pooled",
        settings=settings,
        groups=checked_groups(groups, truth.n_rows),
        sample_weight=checked_weights(sample_weight, truth.n_rows),
        threshold=threshold if isinstance(rule, WeightRule) else None,
    )
    return Inputs(truth, held, question, default_aggregate=aggregate is None)


def warn_of(estimate: Estimate, *, stacklevel: int) -> None:
    """Warn of each flag that a user must not miss."""
    for flag in WARNED:
        if flag in estimate.flags:
            warnings.warn(HeldoutWarning(estimate.flags[flag]), stacklevel=stacklevel + 1)


def truth_for(y_true: Any, metric: Metric, predictions: Any, classes: Any, pos_label: Any) -> Truth:
    if metric.tasks == {TaskKind.SURVIVAL} or has_fields(y_true):
        return truth_of(y_true, TaskKind.SURVIVAL, classes=classes, pos_label=pos_label)
    if isinstance(predictions, HeldOutPredictions) and predictions.classes is not None:
        return _truth_of_held(y_true, predictions.classes, predictions.positive, classes, pos_label)
    if metric.tasks == {TaskKind.REGRESSION}:
        return truth_of(y_true, TaskKind.REGRESSION, classes=classes, pos_label=pos_label)
    column = target_column(y_true)
    if TaskKind.REGRESSION in metric.tasks:
        if classes is None and pos_label is None and reads_as_numbers(metric, column):
            return truth_of(column, TaskKind.REGRESSION)
        return truth_of(y_true, classes=classes, pos_label=pos_label)
    fractions = no_labels(column)
    if classes is None and fractions.any():
        labels = in_python(" If they are labels, list them as classes=.")
        fitting = sorted(known.name for known in DECLARED if TaskKind.REGRESSION in known.tasks)
        raise InputError(
            f"metric '{metric.name}' is for labels, but y_true holds numbers with fractions (such as "
            f"{column[fractions][0]:.6g}); metrics that fit: {', '.join(fitting)}.{labels}"
        )
    return truth_of(column, TaskKind.MULTICLASS, classes=classes, pos_label=pos_label)


def _truth_of_held(y_true: Any, own: Any, positive: int | None, classes: Any, pos_label: Any) -> Truth:
    """The target coded as the predictions are; ``classes`` and ``pos_label`` may repeat their coding only."""
    if classes is not None and array_of(classes, "classes").tolist() != np.asarray(own).tolist():
        raise InputError(f"the predictions are of classes {labels_text(own)}, so classes cannot be {classes!r}.")
    if positive is not None:
        label = own[positive]
        if pos_label is not None and (np.ndim(pos_label) or pos_label != label):
            raise InputError(
                f"the predictions point to class {labels_text([label])}, so {argument('pos_label')} cannot be "
                f"{pos_label!r}.",
                argument="pos_label",
            )
        pos_label = label
    return truth_of(y_true, TaskKind.MULTICLASS, classes=own, pos_label=pos_label)


def _selected_on(rule: Rule, measured: Metric, truth: Truth) -> dict[str, Metric]:
    """The metrics that a rule reads, by the names that it uses for them."""
    if isinstance(rule, Threshold) and rule.metric is not None:
        tuned = _same(check_fits(metric_named(rule.metric), truth), measured)
        return {tuned.name: tuned}
    if not isinstance(rule, AverageRank):
        return {measured.name: measured}
    if rule.metrics is None:
        raise InputError(
            f"{argument('selection', 'average_rank')} ranks by several metrics, but here there is only one; "
            "name them: \"average_rank(metrics=['roc_auc', 'log_loss'])\".",
            argument="selection",
        )
    found = [_same(check_fits(metric_named(metric), truth), measured) for metric in rule.metrics]
    return dict(zip(rule.metric_names or (), found, strict=True))


def _same(metric: Metric, measured: Metric) -> Metric:
    """``measured`` where the two are equal, so that it is computed once."""
    return measured if metric == measured else metric


def _held_out(
    truth: Truth,
    predictions: Any,
    metrics: Sequence[Metric],
    rule: Rule,
    response: ResponseName,
    threshold: float | None,
    folds: Any,
) -> HeldOutPredictions:
    """Held-out predictions with every response that some metric reads."""
    check_settings(response, threshold)
    threshold = threshold_of_reading(rule, metrics, threshold)
    readers = [read_as(rule, metric, truth) for metric in metrics]
    refuse_labels(rule, truth, predictions, response)
    if isinstance(predictions, HeldOutPredictions):
        for metric in readers:
            predictions = checked_held_out(
                truth, predictions, metric, response=response, threshold=threshold, folds=folds
            )
        return predictions
    # Only metrics on labels take a threshold; without one of them it would do nothing, and is refused.
    cuts = [Response.LABELS in metric.responses for metric in readers]
    held = [
        read_predictions(
            truth,
            predictions,
            metric,
            response=response,
            threshold=threshold if cut or not any(cuts) else None,
            folds=folds,
        )
        for metric, cut in zip(readers, cuts, strict=True)
    ]
    if len(held) == 1:
        return held[0]
    responses = {kind: array for each in held for kind, array in each.responses.items()}
    failed = {column: why for each in held for column, why in each.failed.items()}
    return replace(held[0], responses=responses, failed=failed)
