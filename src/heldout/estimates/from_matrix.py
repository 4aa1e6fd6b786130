"""Evidence from held-out predictions: how scores are aggregated, which configuration won, how to replay it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats
from heldout.data.task import Truth
from heldout.errors import InputError
from heldout.estimates.candidates import CandidateRows, MatrixColumns, candidate_rows, check_defined, check_selects
from heldout.estimates.data_flags import flags_of_rows, flags_of_scales, flags_of_segments, too_small_out_of_bag
from heldout.estimates.evidence import Evidence, Matrix, name_of_choice
from heldout.estimates.input_arrays import read_as
from heldout.estimates.ordered_rows import check_without_groups, in_blocks
from heldout.estimates.question import Question, Scale, Scales, Scored
from heldout.flags import Flag
from heldout.metrics.aggregate import AggregateScore, PairSegment
from heldout.metrics.base import is_pair_based, oriented, positive_of, quiet_if_foreign
from heldout.predictions import HeldOutPredictions
from heldout.selection import Best, Choice, Rule
from heldout.selection.base import NONE_CHOSEN, SelectionFailedError, WeightRule, settings_of
from heldout.selection.ensembles import Averages
from heldout.selection.replay import FoldReplay, SelectionReplay
from heldout.selection.threshold import Threshold


def gather(
    truth: Truth, predictions: HeldOutPredictions, question: Question, scored: Scored = "as asked"
) -> Evidence:
    """The evidence that held-out predictions hold for a question; ``scored`` is the method's."""
    return evidence_from(candidate_columns(truth, predictions, question), question, scored)


def candidate_columns(truth: Truth, predictions: HeldOutPredictions, question: Question) -> MatrixColumns:
    """The candidates' predictions of the rows that all of them predicted, for every aggregate of a question."""
    metrics = question.metrics
    # Before anything is computed: a rule that cannot choose among these is refused in a moment.
    question.rule.check(predictions.n_configurations, question.params, list(question.selected_on))
    rows = candidate_rows(predictions, [read_as(question.rule, each, truth) for each in metrics], question.groups)
    # A winner that a search chose by its fold scores may have failed for this metric.
    if question.winner is not None and question.winner not in rows.candidates:
        raise InputError(
            f"the winner, {predictions.names[question.winner]}, has no predictions that "
            f"{question.metric.name} can read"
        )
    check_selects(question.selected_on.values(), len(rows.candidates))
    used = truth.rows(rows.used)
    check_defined(used, metrics)
    weights = None if question.sample_weight is None else question.sample_weight[rows.used]
    columns = MatrixColumns(
        truth,
        used,
        predictions,
        question.rule,
        rows,
        _segmentations(predictions, rows),
        weights,
        threshold=question.threshold,
        weights=[(metric, None if its is None else its[rows.used]) for metric, its in question.weights],
    )
    return columns.at_thresholds(question.metric) if isinstance(question.rule, Threshold) else columns


def evidence_from(columns: MatrixColumns, question: Question, scored: Scored = "as asked") -> Evidence:
    """The evidence of columns on the scales of a question and a method."""
    scales = Scales.of(question.aggregate, question.metric, scored)
    if scales.value == "aligned" and not columns.may_align:
        scales = scales._replace(value="pooled")
    evidence = _evidence_on(scales, columns, question)
    # Models of different folds are on no common scale, so all rows together mean nothing: back to the scale of the
    # selection.
    if scales.value == scales.selection or Flag.INCOMPARABLE_FOLDS not in evidence.flags:
        return evidence
    sentence = f"{evidence.flags[Flag.INCOMPARABLE_FOLDS]} {STAYS_ON_FOLDS}"
    evidence = _evidence_on(Scales(scales.selection, scales.selection), columns, question)
    return replace(evidence, flags={**evidence.flags, Flag.INCOMPARABLE_FOLDS: sentence})


STAYS_ON_FOLDS = "Value and interval are therefore of the mean over folds."


def _evidence_on(scales: Scales, columns: MatrixColumns, question: Question) -> Evidence:
    if scales != ("pooled", "pooled") and columns.segments["folds"] is None:
        raise InputError(
            f"`aggregate={question.aggregate!r}` needs `folds=`, one label per row; or use `aggregate='pooled'`.",
            argument="aggregate",
        )
    check_without_groups(question.settings.blocks, question.groups)
    with quiet_if_foreign(question.metrics):
        return in_blocks(
            _evidence(columns, question, scales),
            exchangeable=columns.predictions.exchangeable,
            pooled=partial(columns.score, question.metric, "pooled"),
        )


def _evidence(columns: MatrixColumns, question: Question, scales: Scales) -> Evidence:
    rows, predictions = columns.rows, columns.predictions
    matrix, segment_flags = _matrix(columns, question, scales)
    # Once more without those that cannot be scored: rows in play and columns depend on who competes.
    unscored = _unscored(columns, matrix, question)
    if unscored:
        without = replace(predictions, failed={**predictions.failed, **unscored})
        return _evidence(candidate_columns(columns.whole_truth, without, question), question, scales)
    if question.winner is None:
        chosen = _winner(matrix)
    else:
        chosen = Choice(np.flatnonzero(rows.candidates == question.winner))
    folds = columns.segments["folds"]
    fold_scores = None if matrix.by_fold is None else matrix.by_fold.observed_by_segment()
    repeat_of_split = None if folds is None else _repeat_of_segment(folds)
    # From the column to the configuration: with thresholds, columns and configurations are not the same.
    winner = int(columns.configurations[chosen.columns[0]])
    name, thresholds = predictions.names[winner], None if columns.cuts is None else columns.cuts.threshold
    return Evidence(
        question.metric,
        predictions.names,
        columns.configurations,
        winner,
        question.settings,
        selection=question.rule.name,
        aggregate=scales.selection,
        n_rows_used=len(rows.used),
        chosen=chosen,
        thresholds=thresholds,
        matrix=matrix,
        fold_scores=fold_scores,
        repeat_of_split=repeat_of_split,
        fold_replay=None if fold_scores is None else _fold_replay(matrix, fold_scores, repeat_of_split, scales),
        test_share=predictions.test_share,
        flags={
            **rows.flags,
            **segment_flags,
            **flags_of_scales(columns, matrix, chosen, name, scales),
            **flags_of_rows(question.metric, matrix, chosen, name_of_choice(name, chosen, thresholds)),
        },
        details=_provenance(columns, question, matrix, scales),
    )


def _segmentations(predictions: HeldOutPredictions, rows: CandidateRows) -> dict[str, NDArray[np.int32] | None]:
    """Segment codes (n, R) of both divisions, on the rows used; -1 where no candidate is compared."""
    repeats = np.arange(rows.in_play.shape[1], dtype=np.int32)[None, :]
    pooled = np.where(rows.in_play, repeats, -1)[rows.used].astype(np.int32)
    if predictions.folds is None:
        return {"pooled": pooled, "folds": None}
    # Codes that never recur in another repeat, so that a fold is one segment wherever it is.
    of_folds = predictions.folds + repeats * (int(predictions.folds.max()) + 1)
    # Rows in no fold, as the first of a time series, are compared with none.
    in_a_fold = rows.in_play & (predictions.folds >= 0)
    return {"pooled": pooled, "folds": np.where(in_a_fold, of_folds, -1)[rows.used].astype(np.int32)}


def _matrix(columns: MatrixColumns, question: Question, scales: Scales) -> tuple[Matrix, dict[Flag, str]]:
    """The matrix, and what to know of its folds."""
    rows = columns.rows
    metric, folds = question.metric, columns.segments["folds"]
    selection = {name: columns.score(each, scales.selection) for name, each in question.selected_on.items()}
    # Reported and selected by the same metric on the same scale: one table of scores serves both.
    chosen_by = next((selection[name] for name, each in question.selected_on.items() if each is metric), None)
    scores = chosen_by if chosen_by and scales.value == scales.selection else columns.score(metric, scales.value)
    _check_within(scores, scales.value)
    flags: dict[Flag, str] = {}
    out_of_bag, by_fold = scores, None
    if folds is not None:
        by_fold = scores if scales.value == "folds" else columns.score(metric, "folds")
    # Flags of undefined folds concern those who choose by folds; the others score all rows.
    if scales.selection == "folds":
        assert by_fold is not None and columns.predictions.folds is not None, "evidence_from says so"
        flags = flags_of_segments(by_fold, columns.truth, columns.predictions.folds[rows.used])
    if scales.value == "folds":
        out_of_bag, pooled = _out_of_bag_score(columns, scores)
        flags |= pooled
    averages = columns.averages(metric)
    matrix = Matrix(
        truth=columns.truth,
        scores=scores,
        out_of_bag=out_of_bag,
        by_fold=by_fold,
        noise=tuple(_noise_score(columns, score, scores, out_of_bag, scales) for score in selection.values()),
        replay=_replay(columns, question, tuple(selection.values()), by_fold, averages, scales),
        averages=averages,
        unit_of_row=rows.unit_of_row,
        grouped=question.groups is not None,
        predictions=columns.as_metric_reads(metric),
        in_play=rows.in_play[rows.used],
        folds=folds,
    )
    return matrix, flags


def _unscored(columns: MatrixColumns, matrix: Matrix, question: Question) -> dict[int, str]:
    """Candidates for which a function of the user's or of scikit-learn's fails where others have a score, and why.

    A bootstrap without the rows on which it fails would give them a score, and they could win there.
    """
    foreign = [score for score in matrix.replay.scores if score.calls_foreign_code]
    lacking = np.zeros(len(columns.configurations), dtype=bool)
    for score in foreign:
        lacking |= np.isnan(score.observed())
    unscored = set(columns.configurations[lacking].tolist()) - set(columns.configurations[~lacking].tolist())
    why = "; ".join(message for score in foreign for message in score.failures)
    # Where all lack a score it is the metric that fails, which is said elsewhere.
    return {} if lacking.all() else dict.fromkeys(sorted(unscored - {question.winner}), why)


def _check_within(scores: AggregateScore, scale: Scale) -> None:
    """Refuse folds of which none holds a pair."""
    once = np.ones((1, scores.n_rows), dtype=np.uint8)
    if scale == "within" and not scores.defined(once)[0]:
        raise InputError(
            "`aggregate='within'` counts pairs of rows of one fold, but no fold contains the rows that "
            f"{scores.metric.name} needs; use larger folds or `aggregate='pooled'`.",
            argument="aggregate",
        )


def _noise_score(
    columns: MatrixColumns,
    score: AggregateScore,
    reported: AggregateScore,
    out_of_bag: AggregateScore,
    scales: Scales,
) -> AggregateScore:
    """The score by which the noise of one that selects is measured.

    A mean over folds too small for a bootstrap is as noisy as the score of all rows together.
    """
    if score is reported:
        return out_of_bag
    if scales.selection == "folds" and score.metric == reported.metric:
        return _out_of_bag_score(columns, score)[0]
    return score


def _out_of_bag_score(columns: MatrixColumns, scores: AggregateScore) -> tuple[AggregateScore, dict[Flag, str]]:
    """The score of out-of-bag rows where the winner is selected by means over folds, and its flag.

    Where folds are large it is that mean. Otherwise it counts the pairs within folds, which need no large ones, or
    for other metrics scores all rows together.
    """
    codes, weighed = columns.segments["folds"], scores.rows_of_weight
    assert codes is not None, "folds are read where they are known"
    too_small = too_small_out_of_bag(scores.metric, columns.truth.rows(weighed), codes[weighed])
    if too_small is None:
        return scores, {}
    if is_pair_based(scores.metric):
        return columns.score(scores.metric, "within"), {}
    return columns.score(scores.metric, "pooled"), {Flag.OUT_OF_BAG_POOLED: too_small}


def _replay(
    columns: MatrixColumns,
    question: Question,
    selection: tuple[AggregateScore, ...],
    by_fold: AggregateScore | None,
    averages: Averages | None,
    scales: Scales,
) -> SelectionReplay:
    """The rule over the columns; a threshold is selected as the best column is."""
    rule, names = question.rule, list(question.selected_on)
    in_folds: tuple[AggregateScore, ...] = ()
    if rule.reads_fold_scores and by_fold is not None:
        # Rules such as one standard error read the spread over folds, on whatever scale the value is.
        in_folds = selection if scales.selection == "folds" else _in_folds(columns, question, by_fold)
    if isinstance(rule, Threshold):
        n_columns = len(columns.configurations)
        # A column is a configuration at a threshold, for which parameters mean nothing.
        no_params: list[Mapping[str, Any]] = [{}] * n_columns
        return SelectionReplay(Best(), selection, in_folds, np.arange(n_columns), no_params, names)
    params = question.params or [{} for _ in columns.predictions.names]
    return SelectionReplay(rule, selection, in_folds, columns.rows.candidates, params, names, averages)


def _in_folds(columns: MatrixColumns, question: Question, by_fold: AggregateScore) -> tuple[AggregateScore, ...]:
    """Fold scores of each metric that the rule reads; ``by_fold`` are those of the reported one."""
    read = question.selected_on.values()
    return tuple(by_fold if each is question.metric else columns.score(each, "folds") for each in read)


def _fold_replay(
    matrix: Matrix, fold_scores: Floats, repeat_of_split: NDArray[np.intp] | None, scales: Scales
) -> FoldReplay | None:
    """The selection on fold scores; None where some that it reads were not computed."""
    replay, reported = matrix.replay, matrix.by_fold
    assert reported is not None and repeat_of_split is not None
    if isinstance(replay.rule, WeightRule):
        return None
    read = []
    for m, score in enumerate(replay.scores):
        if score.metric == reported.metric:
            of_metric = fold_scores
        elif scales.selection == "folds":
            of_metric = score.observed_by_segment()
        elif replay.by_fold:
            of_metric = replay.by_fold[m].observed_by_segment()
        else:
            return None
        read.append(oriented(score.metric, of_metric))
    scores = np.stack(read, axis=2)
    return FoldReplay(replay.rule, scores, replay.candidates, replay.params, replay.metric_names, repeat_of_split)


def _repeat_of_segment(segments: NDArray[np.int32]) -> NDArray[np.intp]:
    """The repeat of each segment, in the order in which ``aggregate_score`` lists them."""
    held = [len(np.unique(column[column >= 0])) for column in segments.T]
    return np.repeat(np.arange(len(held)), held)


def _winner(matrix: Matrix) -> Choice:
    replay = matrix.replay
    once = np.ones((1, matrix.truth.n_rows), dtype=np.uint8)
    try:
        chosen = replay.choice(once)
    except SelectionFailedError as error:
        raise InputError(f"the selection rule '{replay.rule.name}' failed on the scores: {error}.") from error
    if chosen.columns[0] == NONE_CHOSEN:
        failures = "; ".join(message for score in replay.scores for message in score.failures)
        lacking = [score.metric for score in replay.scores if not score.defined(once)[0]]
        needs = " and ".join(dict.fromkeys(f"{metric.name} needs {metric.needs}" for metric in lacking))
        reason = failures or needs or f"{replay.scores[0].metric.name} gives a number for none of them"
        raise InputError(
            f"no configuration has a defined score on the {matrix.truth.n_rows} rows that all predicted "
            f"({reason}), so none could be chosen."
        )
    return chosen


def _provenance(columns: MatrixColumns, question: Question, matrix: Matrix, scales: Scales) -> dict[str, Any]:
    """What is estimated, of which rows."""
    predictions, truth = columns.predictions, columns.whole_truth
    pairs_out_of_bag = scales.value == "folds" and isinstance(matrix.out_of_bag.segments[0], PairSegment)
    return {
        "task": str(truth.kind),
        "pos_label": truth.label_of(positive_of(question.metric, truth)),
        **_rule_provenance(question.rule),
        "n_rows": predictions.n_rows,
        "n_repeats": predictions.n_repeats,
        "training_rows": predictions.training_rows,
        "grouped": question.groups is not None,
        "weighted": question.sample_weight is not None,
        **({} if scales.value == scales.selection else {"scale_of_value": scales.value}),
        **({"aggregate_out_of_bag": "within"} if pairs_out_of_bag else {}),
    }


def _rule_provenance(rule: Rule) -> dict[str, Any]:
    """How a rule is configured, and its sources; without an entry where there is none."""
    settings = {} if rule == Best() else settings_of(rule)
    return ({"selection_settings": settings} if settings else {}) | (
        {"sources": list(rule.sources)} if rule.sources else {}
    )
