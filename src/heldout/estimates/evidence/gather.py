"""Gathering evidence: which rows and configurations count, how scores are aggregated, who won."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._text import argument, in_python
from heldout.data.task import Truth, labels_text
from heldout.errors import InputError
from heldout.estimates.base import Evidence, Matrix
from heldout.estimates.evidence.comparable import (
    FALSE_ALARMS,
    LEAST_DIFFERENCE,
    chance_of_such_folds,
    strata_of,
)
from heldout.estimates.evidence.doubtful_rows import flags_of_rows
from heldout.estimates.evidence.provenance import provenance_of
from heldout.estimates.evidence.question import Aggregate, Question
from heldout.estimates.evidence.race import Race, check_defined, check_selects, start_race
from heldout.estimates.evidence.readings import Columns, columns_at_thresholds, read_as
from heldout.flags import Flag
from heldout.metrics.aggregate import AggregateScore, aggregate_score
from heldout.metrics.base import Metric, Needs, oriented, quiet_if_foreign
from heldout.metrics.pairs import is_pair_based
from heldout.metrics.within import PairSegment, within_score
from heldout.predictions import HeldOutPredictions
from heldout.selection import Best, Choice, check_rule
from heldout.selection.base import NONE_CHOSEN, SelectionFailedError, WeightRule
from heldout.selection.ensembles import Averages
from heldout.selection.fold_replay import FoldReplay
from heldout.selection.replay import SelectionReplay
from heldout.selection.threshold import Threshold

FEWEST_IN_FOLD = 8
FEWEST_FOR_A_SPREAD = 100
CLEARLY = 0.5
"""Standard errors of a mean over folds by which another number for the same is worth a word."""


def gather(truth: Truth, predictions: HeldOutPredictions, question: Question) -> Evidence:
    """Bind predictions to a question.

    Raises
    ------
    InputError
        When no configuration or row is left, a class is too small to be drawn, folds are needed and not known, or
        a group stands in several folds.
    """
    metrics = question.metrics
    check_rule(question.rule, predictions.n_configurations, question.params, list(question.selected_on))
    race = start_race(predictions, [read_as(question.rule, each, truth) for each in metrics], question.groups)
    if question.winner is not None and question.winner not in race.candidates:
        raise InputError(
            f"the winner, {predictions.names[question.winner]}, has no predictions that "
            f"{question.metric.name} can read"
        )
    check_selects(question.selected_on.values(), len(race.candidates))
    mine = truth.rows(race.used)
    check_defined(mine, metrics)
    segments = _segmentations(predictions, race.in_play, race.used, question)
    with quiet_if_foreign(metrics):
        return _bound_evidence(truth, mine, predictions, question, race, segments)


def _bound_evidence(
    truth: Truth,
    mine: Truth,
    predictions: HeldOutPredictions,
    question: Question,
    race: Race,
    segments: Mapping[str, NDArray[np.int32] | None],
) -> Evidence:
    bound = _Binder.of(mine, predictions, race, question)
    matrix = _matrix(bound, segments, question, race)
    winner = bound.column_of(question.winner) if question.winner is not None else _winner(matrix)
    _flag_incomparable_folds(bound, segments, matrix, winner, race)
    _flag_small_folds(bound, segments, matrix, winner, race)
    fold_scores = None if matrix.by_fold is None else matrix.by_fold.observed_by_segment()
    repeat_of_split = None if segments["folds"] is None else _repeat_of_segment(segments["folds"])
    provenance = provenance_of(truth, predictions, question, race.candidates)
    if isinstance(matrix.out_of_bag.segments[0], PairSegment) and question.aggregate == "folds":
        provenance["aggregate_out_of_bag"] = "within"
    evidence = Evidence(
        metric=question.metric,
        names=predictions.names,
        candidates=bound.configurations,
        winner=int(bound.configurations[winner.columns[0]]),
        chosen=winner,
        thresholds=None if bound.columns.cuts is None else bound.columns.cuts.threshold,
        settings=question.settings,
        matrix=matrix,
        fold_scores=fold_scores,
        repeat_of_split=repeat_of_split,
        fold_replay=None if fold_scores is None else _fold_replay(matrix, fold_scores, repeat_of_split),
        n_rows_used=len(race.used),
        test_share=predictions.test_share,
        flags=race.flags,
        provenance=provenance,
    )
    return replace(evidence, flags={**race.flags, **flags_of_rows(evidence)})


def _segmentations(
    predictions: HeldOutPredictions, in_play: NDArray[np.bool_], used: NDArray[np.intp], question: Question
) -> dict[str, NDArray[np.int32] | None]:
    """Segment codes (n, R) of both aggregates, on the rows used."""
    repeats = np.arange(in_play.shape[1], dtype=np.int32)[None, :]
    segments: dict[str, NDArray[np.int32] | None] = {
        "pooled": np.where(in_play, repeats, -1)[used].astype(np.int32),
        "folds": None,
    }
    if predictions.folds is not None:
        n_folds = int(predictions.folds.max()) + 1
        of_folds = predictions.folds + repeats * n_folds
        segments["folds"] = np.where(in_play & (predictions.folds >= 0), of_folds, -1)[used].astype(np.int32)
    elif question.aggregate != "pooled":
        raise InputError(
            f"{argument('aggregate', question.aggregate)} needs "
            f"{argument('folds', ...)}{in_python(', a fold label a row')}; or use "
            f"{argument('aggregate', 'pooled')}.",
            argument="aggregate",
        )
    return segments


@dataclass(frozen=True, eq=False)
class _Binder:
    """Binds metrics to what stands as columns: the candidates' predictions of the rows used."""

    truth: Truth
    predictions: HeldOutPredictions
    candidates: NDArray[np.intp]
    used: NDArray[np.intp]
    sample_weight: NDArray[np.float64] | None
    columns: Columns
    reported: Metric

    @staticmethod
    def of(truth: Truth, predictions: HeldOutPredictions, race: Race, question: Question) -> _Binder:
        """For a question, of those still in the race."""
        plain = Columns(truth, question.rule, threshold=question.threshold)
        bound = _Binder(
            truth, predictions, race.candidates, race.used, question.sample_weight, plain, question.metric
        )
        if not isinstance(question.rule, Threshold):
            return bound
        scores = bound.read(question.metric)
        return replace(bound, columns=columns_at_thresholds(question.rule, truth, scores, race.in_play[race.used]))

    def __call__(
        self,
        metric: Metric,
        segments: Mapping[str, NDArray[np.int32] | None],
        aggregate: Aggregate,
        array: NDArray[Any] | None = None,
    ) -> AggregateScore:
        """The metric in an aggregate, of other predictions where ``array`` is given."""
        array = self.array(metric) if array is None else array
        weights = None if self.sample_weight is None else self.sample_weight[self.used]
        codes = segments["pooled" if aggregate == "pooled" else "folds"]
        assert codes is not None, "folds are asked for where they are known"
        if aggregate == "within":
            return within_score(metric, self.truth, array, codes, weights)
        as_folds = aggregate == "folds"
        return aggregate_score(metric, self.truth, array, codes, weights, as_folds=as_folds)

    @property
    def configurations(self) -> NDArray[np.intp]:
        """The configuration behind each column."""
        cuts = self.columns.cuts
        return self.candidates if cuts is None else self.candidates[cuts.column]

    def column_of(self, configuration: int) -> Choice:
        """A configuration that was chosen already."""
        return Choice(np.flatnonzero(self.candidates == configuration))

    def averages(self, metric: Metric) -> Averages | None:
        """What a rule of weights averages, as a metric reads it; None for other rules."""
        if not isinstance(self.columns.rule, WeightRule):
            return None
        return self.columns.averages(metric, self.read(metric))

    def array(self, metric: Metric) -> NDArray[Any]:
        """What a metric reads of the columns on the rows used."""
        return self.columns.as_read(metric, self.read(metric)) if self.columns.cuts is None else self._labels

    @cached_property
    def _labels(self) -> NDArray[Any]:
        """Of every configuration at every threshold, the same for any metric of labels."""
        metric = self.reported
        return self.columns.as_read(metric, self.read(metric))

    def read(self, metric: Metric) -> NDArray[Any]:
        """What the rule reads of the candidates on the rows used."""
        array = self.predictions.for_metric(read_as(self.columns.rule, metric, self.truth))
        if len(self.used) < len(array):
            array = array[self.used]
        if len(self.candidates) < array.shape[1]:
            array = array[:, self.candidates]
        return array


def _matrix(
    bind: _Binder, segments: Mapping[str, NDArray[np.int32] | None], question: Question, race: Race
) -> Matrix:
    aggregate, folds_known = question.aggregate, segments["folds"] is not None
    selection = [bind(metric, segments, aggregate) for metric in question.selected_on.values()]
    own = [
        score
        for score, metric in zip(selection, question.selected_on.values(), strict=True)
        if metric is question.metric
    ]
    scores = own[0] if own else bind(question.metric, segments, aggregate)
    _check_within(scores, aggregate)
    left_out = scores
    if aggregate == "folds":
        _flag_undefined_folds(scores, race.flags)
        left_out = _scored_left_out(bind, segments, scores, race.flags)
    by_fold = None
    if folds_known:
        by_fold = scores if aggregate == "folds" else bind(question.metric, segments, "folds")
    read_by_fold: tuple[AggregateScore, ...] = ()
    if getattr(question.rule, "reads_fold_scores", False) and folds_known:
        in_folds = aggregate == "folds"
        read_by_fold = tuple(
            selection if in_folds else [bind(metric, segments, "folds") for metric in question.selected_on.values()]
        )
    averages = bind.averages(question.metric)
    return Matrix(
        truth=bind.truth,
        scores=scores,
        out_of_bag=left_out,
        by_fold=by_fold,
        replay=_replay(bind, question, tuple(selection), read_by_fold, averages),
        averages=averages,
        unit_of_row=race.unit_of_row,
        grouped=question.groups is not None,
        predictions=bind.array(question.metric),
        in_play=race.in_play[race.used],
    )


def _check_within(scores: AggregateScore, aggregate: Aggregate) -> None:
    """Refuse folds of which none holds a pair."""
    once = np.ones((1, scores.n_rows), dtype=np.uint8)
    if aggregate == "within" and not scores.defined(once)[0]:
        raise InputError(
            f"{argument('aggregate', 'within')} counts pairs of rows of one fold, and no fold holds the rows that "
            f"{scores.metric.name} needs; use larger folds or {argument('aggregate', 'pooled')}.",
            argument="aggregate",
        )


def _scored_left_out(
    bind: _Binder,
    segments: Mapping[str, NDArray[np.int32] | None],
    scores: AggregateScore,
    flags: dict[Flag, str],
) -> AggregateScore:
    """How rows left out are scored where the winner is chosen by means over folds.

    As it is chosen where folds are large; else by the pairs within folds, which need no large ones, or, of metrics
    that are not made of pairs, all rows together.
    """
    codes, weighed = segments["folds"], scores.rows_of_weight
    assert codes is not None, "folds are asked for where they are known"
    too_small = _too_small_out_of_bag(scores.metric, bind.truth.rows(weighed), codes[weighed])
    if too_small is None:
        return scores
    if is_pair_based(scores.metric):
        return bind(scores.metric, segments, "within")
    flags[Flag.OUT_OF_BAG_POOLED] = too_small
    return bind(scores.metric, segments, "pooled")


def _replay(
    bind: _Binder,
    question: Question,
    selection: tuple[AggregateScore, ...],
    by_fold: tuple[AggregateScore, ...],
    averages: Averages | None,
) -> SelectionReplay:
    """The rule over the columns; a threshold is chosen as the best column is."""
    names = list(question.selected_on)
    if isinstance(question.rule, Threshold):
        n_columns = len(bind.configurations)
        nothing: list[Mapping[str, Any]] = [{}] * n_columns
        return SelectionReplay(Best(), selection, by_fold, np.arange(n_columns), nothing, names)
    params = question.params or [{} for _ in bind.predictions.names]
    return SelectionReplay(question.rule, selection, by_fold, bind.candidates, params, names, averages)


def _fold_replay(
    matrix: Matrix, fold_scores: NDArray[np.float64], repeat_of_split: NDArray[np.intp] | None
) -> FoldReplay | None:
    """The selection on fold scores; None where some that it reads were not computed."""
    replay, reported = matrix.replay, matrix.by_fold
    assert reported is not None and repeat_of_split is not None
    if isinstance(replay.rule, WeightRule):
        return None
    chosen_on_folds = matrix.scores is reported
    read = []
    for m, score in enumerate(replay.scores):
        if score.metric == reported.metric:
            found = fold_scores
        elif chosen_on_folds:
            found = score.observed_by_segment()
        elif replay.by_fold:
            found = replay.by_fold[m].observed_by_segment()
        else:
            return None
        read.append(oriented(score.metric, found))
    scores = np.stack(read, axis=2)
    return FoldReplay(replay.rule, scores, replay.candidates, replay.params, replay.metric_names, repeat_of_split)


def _repeat_of_segment(segments: NDArray[np.int32]) -> NDArray[np.intp]:
    """The repeat of each segment, in the order in which ``aggregate_score`` lists them."""
    held = [len(np.unique(column[column >= 0])) for column in segments.T]
    return np.repeat(np.arange(len(held)), held)


def _flag_undefined_folds(scores: AggregateScore, flags: dict[Flag, str]) -> None:
    defined = scores.defined_segments(np.ones((1, scores.n_rows), dtype=np.uint8))[0]
    metric = scores.metric
    if not defined.any():
        raise InputError(
            f"{metric.name} is undefined in every fold (each needs {metric.undefined_without}); use larger folds "
            f"or {argument('aggregate', 'pooled')}."
        )
    if not defined.all():
        flags[Flag.UNDEFINED_FOLDS] = Flag.UNDEFINED_FOLDS.filled(
            metric=metric.name,
            undefined=int((~defined).sum()),
            total=len(defined),
            needs=metric.undefined_without,
        )
    if scores.degenerate_segments:
        flags[Flag.DEGENERATE_FOLDS] = Flag.DEGENERATE_FOLDS.filled(
            degenerate=scores.degenerate_segments, total=len(defined), needs=metric.needs, metric=metric.name
        )


def _flag_incomparable_folds(
    bind: _Binder,
    segments: Mapping[str, NDArray[np.int32] | None],
    matrix: Matrix,
    winner: Choice,
    race: Race,
) -> None:
    """Say where the winner's value within folds and that on all rows differ clearly.

    Clearly is by at least a hundredth of the metric's range, while folds of comparable scores would differ as these
    do once in a hundred times.
    """
    folds = segments["folds"]
    if folds is None or not is_pair_based(matrix.scores.metric):
        return
    metric = matrix.scores.metric.share_of_pairs
    chosen = matrix.predictions_of(winner)
    within, pooled = (
        float(bind(metric, segments, aggregate, chosen).observed()[0]) for aggregate in ("within", "pooled")
    )
    low, high = metric.range
    if not abs(within - pooled) >= LEAST_DIFFERENCE * (high - low):
        return
    chances = [
        chance_of_such_folds(
            np.asarray(chosen[rows, 0, repeat], dtype=np.float64).reshape(len(rows), -1),
            strata_of(bind.truth)[rows],
            folds[rows, repeat].astype(np.intp),
            race.unit_of_row[rows],
        )
        for repeat in range(folds.shape[1])
        if len(rows := np.flatnonzero(folds[:, repeat] >= 0))
    ]
    if min(chances) * len(chances) <= FALSE_ALARMS:
        race.flags[Flag.INCOMPARABLE_FOLDS] = Flag.INCOMPARABLE_FOLDS.filled(
            metric=metric.name,
            winner=bind.predictions.names[int(bind.configurations[winner.columns[0]])],
            within=within,
            pooled=pooled,
        )


def _flag_small_folds(
    bind: _Binder,
    segments: Mapping[str, NDArray[np.int32] | None],
    matrix: Matrix,
    winner: Choice,
    race: Race,
) -> None:
    """Say where the winner's mean over folds is clearly not its score on all rows, for folds are small.

    Clearly is by ``CLEARLY`` standard errors of the mean over folds. A mean over rows is the same in both, and
    pairs are compared by ``_flag_incomparable_folds``.
    """
    metric, folds = matrix.scores.metric, segments["folds"]
    if folds is None or matrix.scores is not matrix.by_fold or metric.row_wise or is_pair_based(metric):
        return
    chosen = matrix.predictions_of(winner)
    by_fold = bind(metric, segments, "folds", chosen).observed_by_segment()[:, 0]
    pooled = float(bind(metric, segments, "pooled", chosen).observed()[0])
    defined = by_fold[np.isfinite(by_fold)]
    if len(defined) < 2:
        return
    error = defined.std(ddof=1) / np.sqrt(len(defined) / folds.shape[1])
    if abs(defined.mean() - pooled) > CLEARLY * error:
        race.flags[Flag.SMALL_FOLDS] = Flag.SMALL_FOLDS.filled(
            metric=metric.name,
            winner=bind.predictions.names[int(bind.configurations[winner.columns[0]])],
            folds=float(defined.mean()),
            pooled=pooled,
            rows=int(np.median(np.unique(folds[folds >= 0], return_counts=True)[1])),
        )


def _too_small_out_of_bag(metric: Metric, truth: Truth, segments: NDArray[np.int32]) -> str | None:
    """The sentence for folds too small for what a bootstrap leaves out of them; None where they are not.

    A fold of 8 rows leaves about 3 out of the bag. A mean over rows bears that; a ratio to the spread of the target
    (R2) does not, as the spread of a few rows can be next to nothing.
    """
    fewest = FEWEST_FOR_A_SPREAD if metric.needs is Needs.TWO_VALUES else FEWEST_IN_FOLD
    least, what = truth.n_rows, "data"
    for repeat in range(segments.shape[1]):
        for code in np.unique(segments[segments[:, repeat] >= 0, repeat]):
            values = truth.values[segments[:, repeat] == code]
            if metric.needs is Needs.PAIR and values["event"].sum() < least:
                least, what = int(values["event"].sum()), "observed events"
            if truth.classes is None:
                least = min(least, len(values))
                continue
            counts = np.bincount(values, minlength=truth.n_classes)
            if counts.min() < least:
                least = int(counts.min())
                what = f"class {labels_text([truth.classes[counts.argmin()]])}"
    if least >= fewest:
        return None
    return Flag.OUT_OF_BAG_POOLED.filled(least=least, what=what, fewest=fewest, metric=metric.name)


def _winner(matrix: Matrix) -> Choice:
    replay = matrix.replay
    once = np.ones((1, matrix.truth.n_rows), dtype=np.uint8)
    try:
        chosen = replay.choice(once)
    except SelectionFailedError as error:
        raise InputError(f"the selection rule '{replay.rule.name}' failed on the scores: {error}.") from error
    if chosen.columns[0] == NONE_CHOSEN:
        said = "; ".join(message for score in replay.scores for message in score.failures)
        lacking = [score.metric for score in replay.scores if not score.defined(once)[0]]
        needs = " and ".join(dict.fromkeys(f"{metric.name} needs {metric.needs}" for metric in lacking))
        reason = said or needs or f"{replay.scores[0].metric.name} gives a number for none of them"
        raise InputError(
            f"no configuration has a defined score on the {matrix.truth.n_rows} rows that all predicted "
            f"({reason}), so none could be chosen."
        )
    return chosen
