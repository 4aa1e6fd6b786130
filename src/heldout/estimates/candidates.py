"""The matrix: configurations that can be selected, the rows on which they are compared, and their columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from heldout._text import all_of
from heldout._types import Array, Booleans, Codes, Floats, Indices, Weightings
from heldout.data.row_part import RowPart, row_part
from heldout.data.task import TaskKind, Truth, labels_text
from heldout.errors import InputError
from heldout.estimates.input_arrays import cut, read_as
from heldout.estimates.question import Question, Scale
from heldout.metrics.aggregate import AggregateScore, Bind, mean_of_defined, score_on_scale
from heldout.metrics.base import Metric, Needs, Response, needed_codes
from heldout.predictions import HeldOutPredictions, is_predicted
from heldout.selection.base import WeightRule
from heldout.selection.ensembles import Averages
from heldout.selection.threshold import Cuts, Threshold, cuts_of

A_TIME = 8
"""Columns of very many rows that are scored together."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PartScore(AggregateScore):
    """Scores of a part of the rows under weightings, as far from the scores of all rows as theirs would be.

    A deviation from the score of the part is multiplied by the root of the part's share. Where classes have several
    shares, the weights of the rows are drawn in towards 1 by the roots of theirs instead, and rows count as often
    as they stand for others (``of_part.sample_weight``).

    - ``of_part``: the scores of the part's rows.
    - ``whole`` (segments, C): those of all rows.
    - ``shares``: see ``RowPart``.
    """

    of_part: AggregateScore
    whole: Floats
    shares: float | Floats

    def all(self, counts: Weightings) -> Floats:
        return self._around(self._mean_of_all, self.of_part.all(self._shrunken(counts)), self._mean_of_part)

    def selected(self, counts: Weightings, columns: Indices) -> Floats:
        scores = self.of_part.selected(self._shrunken(counts), columns)
        return self._around(self._mean_of_all[columns], scores, self._mean_of_part[columns])

    def by_segment(self, counts: Weightings) -> Floats:
        scores = self.of_part.by_segment(self._shrunken(counts))
        return self._around(self.whole, scores, self.of_part.observed_by_segment())

    def by_repeat(self, counts: Weightings) -> Floats:
        repeats = np.array([segment.repeat for segment in self.segments])
        of_all = np.stack([mean_of_defined(self.whole[repeats == repeat]) for repeat in np.unique(repeats)])
        scores = self.of_part.by_repeat(self._shrunken(counts))
        return self._around(of_all, scores, self.of_part.by_repeat(self._shrunken(self._once))[0])

    def observed(self) -> Floats:
        return self._mean_of_all

    def observed_by_segment(self) -> Floats:
        return self.whole

    @property
    def has_fused_path(self) -> bool:
        return False

    def with_predictions(self, predictions: Array, bind: Bind | None = None) -> AggregateScore:
        return self.of_part.with_predictions(predictions, bind)

    @cached_property
    def _mean_of_all(self) -> Floats:
        return mean_of_defined(self.whole)

    @cached_property
    def _mean_of_part(self) -> Floats:
        return self.of_part.all(self._shrunken(self._once))[0]

    def _around(self, of_all: Floats, scores: Floats, of_part: Floats) -> Floats:
        ratio = self.shares**0.5 if isinstance(self.shares, float) else 1.0
        with np.errstate(invalid="ignore"):  # of losses that are infinite
            deviations: Floats = (scores - of_part) * ratio
        return of_all + deviations

    def _shrunken(self, counts: Weightings) -> Weightings:
        if isinstance(self.shares, float):
            return counts
        # Rows left out weigh 0 or 1, so that their mean is below 1.
        return 1 + np.sqrt(self.shares) * (counts / counts.mean(axis=1, keepdims=True) - 1)


@dataclass(frozen=True, eq=False)
class Matrix:
    """The candidates' predictions of the rows used, one column each, or one for each threshold of each."""

    whole_truth: Truth  # of all N rows
    predictions: HeldOutPredictions  # of all rows and configurations
    question: Question
    failed: Mapping[int, str]  # configurations that failed, and why
    candidates: Indices  # those that neither failed nor were dropped
    used: Indices  # (n,): the rows that all candidates predicted in some repeat
    rows: Indices  # (n,): where these are in the arrays of ``predictions``
    truth: Truth  # of these
    in_play: Booleans  # (n, R): the predictions that all of them made
    # codes (n, R) of "pooled" and "folds"; None for "folds" where the folds are not known
    segments: Mapping[str, Codes | None]
    cuts: Cuts | None = None  # where a column is a configuration at a threshold
    # (n, columns, R): what the cuts make of the scores: the same for every metric
    labels: NDArray[np.int8] | None = None
    part: RowPart | None = None  # the part of the rows that these are, where bootstraps draw from a part
    whole: Matrix | None = None  # that of all rows then; None where their predictions were not kept
    # (splits, C): scores that a search has computed of all rows of each split, by metric
    score_tables: Sequence[tuple[Metric, Floats]] = ()
    _bound: dict[tuple[int, Scale], tuple[Metric, AggregateScore]] = field(
        default_factory=dict, init=False, repr=False
    )

    @property
    def unit_of_row(self) -> Indices:
        """(n,): what a bootstrap draws whole: the row, or its group."""
        if self.question.groups is None:
            return np.arange(len(self.used))
        # Numbers of the groups from 0 without gaps, because draws count units by their greatest number.
        return np.unique(self.question.groups[self.used], return_inverse=True)[1].astype(np.intp)

    @property
    def configurations(self) -> Indices:
        """The configuration behind each column."""
        return self.candidates if self.cuts is None else self.candidates[self.cuts.column]

    @property
    def n_rows_used(self) -> int:
        """How many rows every candidate predicted."""
        return len(self.used) if self.part is None else self.part.n_rows

    def of_part(self, score_tables: Sequence[tuple[Metric, Floats]] = ()) -> Matrix:
        """The matrix from whose rows bootstraps draw: of a part of very many rows, otherwise itself.

        An ensemble's predictions are averaged anew for each choice, so that all of its rows are needed.
        """
        question, predictions = self.question, self.predictions
        if predictions.part is not None:
            return replace(self, part=predictions.part, score_tables=score_tables)
        if isinstance(question.rule, WeightRule):
            return self
        length = question.settings.length_of_blocks(exchangeable=predictions.exchangeable)
        part = row_part(
            self.whole_truth, self.used, question.settings.n_rows, question.settings.entropy,
            groups=question.groups, block_length=length,
        )  # fmt: skip
        if part is None:
            return self
        at = np.searchsorted(self.used, part.rows)
        if not part.stands_for_all(question.metrics, question.sample_weight, self.segments["folds"], at):
            return self
        return replace(
            self, part=part, whole=self, score_tables=score_tables, predictions=predictions.at(self.rows[at]),
            used=part.rows, rows=np.arange(len(at)), truth=self.truth.rows(at), in_play=self.in_play[at],
            segments={name: None if codes is None else codes[at] for name, codes in self.segments.items()},
            labels=None if self.labels is None else self.labels[at],
        )  # fmt: skip

    def at_thresholds(self) -> Matrix:
        """A column for each candidate at each threshold that the rule tries."""
        rule, metric = self.question.rule, self.question.metric
        assert isinstance(rule, Threshold) and self.truth.positive is not None, "read_as says so"
        scores = self.as_rule_reads(metric)
        # Cells that do not take part are NaN, so that no threshold is put where only they have scores.
        cuts = cuts_of(rule, np.where(self.in_play[:, None, :], scores, np.nan), self.truth.positive)
        return replace(self, cuts=cuts, labels=cuts.labels(scores))

    def score(self, metric: Metric, aggregate: Scale) -> AggregateScore:
        """The metric of every column in an aggregate, bound once for the evidence of all aggregates."""
        # By identity, and with the metric beside it: an id is free for another object once its own is gone.
        key = id(metric), aggregate
        if key not in self._bound:
            score = self.score_of(self.as_metric_reads(metric), metric, aggregate)
            if self.part is not None:
                score = self._of_all_rows(score, metric, aggregate)
            if metric.calls_foreign_code:  # it counts its failures, which are those of one method
                return score
            self._bound[key] = metric, score
        return self._bound[key][1]

    def _of_all_rows(self, of_part: AggregateScore, metric: Metric, aggregate: Scale) -> AggregateScore:
        """The scores of all rows, with the noise of those of a part."""
        assert self.part is not None, "score says so"
        tables = [values for other, values in self.score_tables if other is metric and aggregate == "folds"]
        if tables and self.cuts is None:
            whole = tables[0][:, self.candidates]
        else:
            assert self.whole is not None, "a search keeps all predictions unless it knows all scores"
            whole = self.whole.observed_by_segment(metric, aggregate)
        members = {member.name: getattr(of_part, member.name) for member in fields(AggregateScore)}
        return PartScore(**members, of_part=of_part, whole=whole, shares=self.part.shares)

    def observed_by_segment(self, metric: Metric, aggregate: Scale) -> Floats:
        """(segments, columns): the metric on every row once, some columns at a time, because each takes memory."""
        array = self.as_metric_reads(metric)
        columns = range(0, array.shape[1], A_TIME)
        parts = [self.score_of(array[:, at : at + A_TIME], metric, aggregate) for at in columns]
        return np.concatenate([part.observed_by_segment() for part in parts], axis=1)

    def score_of(self, array: Array, metric: Metric, aggregate: Scale) -> AggregateScore:
        """The metric of other predictions of the rows used, in an aggregate."""
        question = self.question
        weights = next((its for other, its in question.weights if other is metric), question.sample_weight)
        repeats, folds = self.segments["pooled"], self.segments["folds"]
        weights = None if weights is None else weights[self.used]
        if self.part is not None and not isinstance(self.part.shares, float):
            weights = (1.0 if weights is None else weights) / self.part.shares
            weights /= weights.mean()
        return score_on_scale(aggregate, metric, self.truth, array, repeats, folds, weights)

    def averages(self, metric: Metric) -> Averages | None:
        """The predictions that a rule of weights averages; None for other rules."""
        if not isinstance(self.question.rule, WeightRule):
            return None
        return Averages(
            np.asarray(self.as_rule_reads(metric), dtype=np.float64),
            are_probabilities=self.truth.kind.is_classification,
            respond=self._cut if self._cuts_averages(metric) else None,
        )

    def as_metric_reads(self, metric: Metric) -> Array:
        """(n, columns, R[, outputs]): the response of the metric."""
        if self.labels is not None:
            return self.labels
        array = self.as_rule_reads(metric)
        return self._cut(array) if self._cuts_averages(metric) else array

    def as_rule_reads(self, metric: Metric) -> Array:
        """(n, candidates, R[, outputs]): the response that the rule reads for the metric."""
        rows, candidates = self.rows, self.candidates
        array = self.predictions.for_metric(read_as(self.question.rule, metric, self.truth))
        # A fancy index copies the predictions, and mostly all rows and configurations are used.
        if len(rows) < len(array):
            array = array[rows]
        return array[:, candidates] if len(candidates) < array.shape[1] else array

    def _cuts_averages(self, metric: Metric) -> bool:
        return isinstance(self.question.rule, WeightRule) and Response.LABELS in metric.responses

    def _cut(self, probabilities: Floats) -> Codes:
        return cut(self.truth, probabilities, Response.PROBABILITIES, self.question.threshold)


def matrix_of(truth: Truth, predictions: HeldOutPredictions, question: Question) -> Matrix:
    """The matrix of a question, without configurations that failed and rows that some candidate did not predict."""
    metrics, predictions = question.metrics, predictions.of_part
    # Before anything is computed: a rule that cannot choose among these is refused in a moment.
    question.rule.check(predictions.n_configurations, question.params, list(question.selected_on))
    read = [read_as(question.rule, metric, truth) for metric in metrics]
    predicted = np.logical_and.reduce([predictions.predicted(metric) for metric in read])
    failed = failures(predictions, predicted)
    # A dropped configuration has predictions of some folds only; it would shrink the rows that all predicted to
    # those.
    out = failed.keys() | predictions.dropped.keys()
    candidates = np.array([j for j in range(predictions.n_configurations) if j not in out], dtype=np.intp)
    check_some_left(candidates, predictions.names, failed)
    in_play = predicted[:, candidates].all(axis=1)
    rows = np.flatnonzero(in_play.any(axis=1))
    used = rows if predictions.part is None else predictions.part.rows[rows]
    if not used.size:
        raise InputError(
            f"no row was predicted by all {len(candidates)} configurations; leave out the configurations that "
            "predicted few rows."
        )
    if predictions.part is None:  # of a part the search itself has looked at all rows
        _check_groups_held_out(question.groups, predictions.folds)
    # A winner that a search chose by its fold scores may have failed for this metric.
    if question.winner is not None and question.winner not in candidates:
        raise InputError(
            f"the winner, {predictions.names[question.winner]}, has no predictions that "
            f"{question.metric.name} can read"
        )
    check_selects(question.selected_on.values(), len(candidates))
    truth_used, in_play = truth.rows(used), in_play[rows]
    check_defined(truth_used, metrics)
    segments = _segmentations(predictions, rows, in_play)
    matrix = Matrix(truth, predictions, question, failed, candidates, used, rows, truth_used, in_play, segments)
    return matrix.at_thresholds() if isinstance(question.rule, Threshold) else matrix


def check_some_left(candidates: Indices, names: Sequence[str], failed: Mapping[int, str]) -> None:
    """Refuse configurations that all failed."""
    if not candidates.size:
        first = min(failed)
        raise InputError(
            f"{all_of(len(names))} failed, so nothing can be estimated; the first: {names[first]}: {failed[first]}."
        )


def _segmentations(predictions: HeldOutPredictions, rows: Indices, in_play: Booleans) -> dict[str, Codes | None]:
    """Segment codes (n, R) of both divisions, on the rows used; -1 where no candidate is compared."""
    repeats = np.arange(in_play.shape[1], dtype=np.int32)[None, :]
    pooled = np.where(in_play, repeats, -1).astype(np.int32)
    if predictions.folds is None:
        return {"pooled": pooled, "folds": None}
    # Codes that never recur in another repeat, so that a fold is one segment wherever it is.
    of_folds = (predictions.folds + repeats * (int(predictions.folds.max()) + 1))[rows]
    # Rows in no fold, as the first of a time series, are compared with none.
    in_a_fold = in_play & (predictions.folds[rows] >= 0)
    return {"pooled": pooled, "folds": np.where(in_a_fold, of_folds, -1).astype(np.int32)}


def failures(predictions: HeldOutPredictions, predicted: Booleans) -> dict[int, str]:
    """Configurations that failed, with the reason; dropped ones did not fail."""
    failed = dict(predictions.failed)
    # A dropped configuration may hold no prediction here, and did not fail.
    for column in np.flatnonzero(~predicted.any(axis=(0, 2))).tolist():
        if column not in predictions.dropped:
            held = [name for name, array in predictions.responses.items() if is_predicted(array[:, column])]
            only = f"it gave {' and '.join(held)}, and no response that is read here"
            failed.setdefault(column, only if held else "it predicted no row")
    folds = predictions.folds
    if folds is None:
        return failed
    out = failed.keys() | predictions.dropped.keys()
    remaining = np.array([j for j in range(predictions.n_configurations) if j not in out], dtype=np.intp)
    # The usual case, which needs no walk over the folds.
    if predicted[:, remaining].all():
        return failed
    # A fold without any prediction of a configuration is a fit that failed; single rows without one are gaps of the
    # file, which only those rows pay for.
    for repeat in range(folds.shape[1]):
        for code in np.unique(folds[folds[:, repeat] >= 0, repeat]):
            has = predicted[folds[:, repeat] == code][:, remaining, repeat].any(axis=0)
            # A fold that nobody predicted says nothing of a single configuration.
            if has.any():
                for column in remaining[~has].tolist():
                    failed[column] = "it predicted no row of a fold that others predicted"
    return failed


def _check_groups_held_out(groups: Array | None, folds: Codes | None) -> None:
    """Refuse a group in several folds of a repeat: models that predict its rows would have seen the group."""
    if groups is None or folds is None:
        return
    names, codes = np.unique(groups, return_inverse=True)
    for repeat in range(folds.shape[1]):
        # A group that is in play in two folds of one repeat appears in two pairs; -1, rows in no fold, is a fold
        # too here.
        pairs = np.unique(np.stack([codes, folds[:, repeat]]), axis=1)
        split = np.flatnonzero(np.bincount(pairs[0], minlength=len(names)) > 1)
        if split.size:
            raise InputError(
                f"group {labels_text(names[split[:1]])} is in several folds of a repeat (or partly in none), so "
                "its rows were predicted by models that had seen the group; use folds that keep groups "
                "whole, such as GroupKFold's."
            )


def check_defined(truth: Truth, metrics: Sequence[Metric]) -> None:
    """Refuse a target on which a metric means nothing."""
    for metric in metrics:
        if metric.needs is Needs.TWO_VALUES and len(np.unique(truth.values)) < 2:
            raise InputError(f"{metric.name} needs {metric.needs}, but the target is constant.")
        # Whether there is a pair at all can only be asked of all rows together, each counted once.
        once = np.ones((1, truth.n_rows))
        if metric.needs is Needs.PAIR and not metric.needs.met(metric.truth_for_needs(truth), None, once)[0]:
            raise InputError(f"{metric.name} needs {metric.needs}, but no row outlasts the first event.")


def check_selects(metrics: Iterable[Metric], n_candidates: int) -> None:
    """Refuse to select by a metric that has no better direction."""
    for metric in metrics:
        ideal = metric.ideal
        # A calibration slope of 1.2 is no better than one of .8, so "the greatest" may be the worst.
        if ideal is not None and n_candidates > 1:
            stem, bracket, parameters = metric.name.partition("(")
            raise InputError(
                f"{metric.name} is best at {ideal:g}, and neither direction is better, so it cannot select among "
                f"{n_candidates} configurations; pass the one that it should describe, or select by its "
                f"distance from {ideal:g} ('{stem}_error{bracket}{parameters}')."
            )


def undrawable(truth: Truth, unit_of_row: Indices, metrics: Sequence[Metric], grouped: bool) -> str | None:
    """Why a bootstrap cannot draw some rows and leave some out, as half a sentence; None where it can.

    A class of a single row (or group) is refused for every metric, because no bootstrap can both draw it and leave
    it out. A class without any row matters only to metrics that need it.
    """
    unit = "group" if grouped else "row"
    n_units = int(unit_of_row.max()) + 1
    if n_units < 2:
        return f"at least 2 {unit}s are needed to draw some and leave some out, got {n_units}"
    for metric in metrics if truth.kind is TaskKind.SURVIVAL else ():
        # Groups count once: a bootstrap draws them whole, so all events of one group are in or out together.
        have = len(np.unique(unit_of_row[metric.truth_for_needs(truth).values["event"]]))
        if have < 2:
            return (
                f"{have} {unit}{'' if have == 1 else 's'} had the event that {metric.name} counts, and a bootstrap "
                f"needs at least 2, one to draw and one to leave out; gather more {unit}s with it"
            )
    if truth.classes is None:
        return None
    needed = {code for metric in metrics for code in needed_codes(metric, truth)}
    for code in range(truth.n_classes):
        have = len(np.unique(unit_of_row[truth.values == code]))
        if have == 1 or (have == 0 and code in needed):
            label = labels_text(truth.classes[code : code + 1])
            return (
                f"class {label} has {have} {unit}{'' if have == 1 else 's'}, and a bootstrap needs at least 2, "
                f"one to draw and one to leave out; gather more {unit}s of it"
            )
    return None
