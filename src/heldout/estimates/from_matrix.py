"""Evidence from held-out predictions: how scores are aggregated, which configuration won, how to replay it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from heldout._types import Floats, Indices
from heldout.data.task import Truth
from heldout.errors import InputError
from heldout.estimates import data_flags
from heldout.estimates.candidates import Matrix, matrix_of
from heldout.estimates.evidence import Candidates
from heldout.estimates.ordered_rows import check_without_groups, in_blocks
from heldout.estimates.question import Question, Scales, Scored
from heldout.flags import Flag
from heldout.metrics.aggregate import AggregateScore, PairSegment, alignable
from heldout.metrics.base import Metric, is_pair_based, oriented, positive_of, quiet_if_foreign
from heldout.metrics.constant_model import constant_of_rows
from heldout.predictions import HeldOutPredictions
from heldout.selection import Best, Choice
from heldout.selection.base import NONE_CHOSEN, SelectionFailedError, WeightRule, settings_of
from heldout.selection.replay import FoldReplay, SelectionReplay
from heldout.selection.threshold import Threshold

ROUGHLY_KNOWN = (
    "Few of these carry the winner's errors, so that the noise is known roughly; `keep_predictions=True` reads all."
)
STAYS_ON_FOLDS = "Value and interval are therefore of the mean over folds."
ROWS_THAT_TELL = 1000
"""With so many rows the winner of all rows together shows incomparable folds if any winner does. With fewer, it is
often the configuration whose folds happen to differ least, and the winner within folds is looked at too."""


def gather(
    truth: Truth,
    predictions: HeldOutPredictions,
    question: Question,
    scored: Scored = "as asked",
    *,
    draws_rows: bool = False,
    score_tables: Sequence[tuple[Metric, Floats]] = (),
) -> Candidates:
    """The evidence that held-out predictions hold for a question.

    ``scored`` and ``draws_rows`` are those of the method; ``score_tables`` as in ``Matrix``.
    """
    matrix = matrix_of(truth, predictions, question)
    scales = Scales.of(question.aggregate, question.metric, scored)
    return evidence_of(select(matrix.of_part(score_tables) if draws_rows else matrix, scales))


def select(matrix: Matrix, scales: Scales) -> Candidates:
    """The winner of a matrix, on the scales of an aggregate and a method, without what ``evidence_of`` adds."""
    question, folds = matrix.question, matrix.segments["folds"]
    # Scores are aligned between folds that are known and large, where no rule averages them.
    averages = isinstance(question.rule, WeightRule)
    if scales.value == "aligned" and (folds is None or averages or not alignable(folds)):
        scales = scales._replace(value="pooled")
    if scales != ("pooled", "pooled") and folds is None:
        raise InputError(
            f"`aggregate={question.aggregate!r}` needs `folds=`, one label per row; or use `aggregate='pooled'`."
        )
    check_without_groups(question.settings.blocks, question.groups)
    with quiet_if_foreign(question.metrics):
        chosen = _candidates(matrix, scales)
        if matrix.whole is not None and not data_flags.carry_enough(chosen):
            return select(matrix.whole, scales)
    return chosen


def on_scale_of_folds(pooled: Candidates) -> Candidates:
    """The same, or of pairs within folds where models of different folds are on no common scale."""
    apart = data_flags.flag_of_incomparable_folds(pooled)
    if not apart and pooled.n_rows_used >= ROWS_THAT_TELL:
        return pooled
    try:
        within = select(pooled.matrix, Scales("within", "within"))
    except InputError:  # no fold holds a pair
        return pooled
    return within if apart or data_flags.flag_of_incomparable_folds(within) else pooled


def evidence_of(chosen: Candidates) -> Candidates:
    """What was chosen, with all that a reader must know."""
    matrix, scales = chosen.matrix, chosen.scales
    with quiet_if_foreign(matrix.question.metrics):
        apart = data_flags.flag_of_incomparable_folds(chosen)
        if scales.value == scales.selection or not apart:
            return _described(chosen)
        # Models of different folds are on no common scale, so all rows together mean nothing: back to the scale of
        # the selection.
        evidence = _described(_candidates(matrix, Scales(scales.selection, scales.selection)))
    sentences = {flag: f"{sentence} {STAYS_ON_FOLDS}" for flag, sentence in apart.items()}
    return replace(evidence, flags={**evidence.flags, **sentences})


def _candidates(matrix: Matrix, scales: Scales) -> Candidates:
    question, metric, folds = matrix.question, matrix.question.metric, matrix.segments["folds"]
    selection = {name: matrix.score(basis, scales.selection) for name, basis in question.selected_on.items()}
    # Reported and selected by the same metric on the same scale: one table of scores serves both.
    chosen_by = next((selection[name] for name, basis in question.selected_on.items() if basis is metric), None)
    scores = chosen_by if chosen_by and scales.value == scales.selection else matrix.score(metric, scales.value)
    once = np.ones((1, scores.n_rows), dtype=np.uint8)
    if scales.value == "within" and not scores.defined(once)[0]:
        raise InputError(
            "`aggregate='within'` counts pairs of rows of one fold, but no fold contains the rows that "
            f"{metric.name} needs; use larger folds or `aggregate='pooled'`."
        )
    by_fold, flags = None, dict[Flag, str]()
    if folds is not None:
        by_fold = scores if scales.value == "folds" else matrix.score(metric, "folds")
    # Flags of undefined folds concern those who choose by folds; the others score all rows.
    if scales.selection == "folds":
        assert by_fold is not None and matrix.predictions.folds is not None, "select says so"
        flags = data_flags.flags_of_segments(by_fold, matrix.truth, matrix.predictions.folds[matrix.rows])
    replay = _replay(matrix, tuple(selection.values()), by_fold, scales)
    # Once more without those that cannot be scored: rows in play and columns depend on who competes.
    unscored = _unscored(matrix, replay)
    if unscored:
        predictions = (matrix.whole or matrix).predictions
        without = replace(predictions, failed={**predictions.failed, **unscored})
        again = matrix_of(matrix.whole_truth, without, question)
        return _candidates(again if matrix.part is None else again.of_part(matrix.score_tables), scales)
    if question.winner is None:
        chosen = _winner(replay, matrix.truth.n_rows)
    else:
        chosen = Choice(np.flatnonzero(matrix.candidates == question.winner))
    out_of_bag = scores
    if scales.value == "folds":
        out_of_bag, pooled = _out_of_bag_score(matrix, scores)
        flags |= pooled
    fold_scores, repeat_of_split = None, None
    if by_fold is not None and folds is not None:
        held = [len(np.unique(column[column >= 0])) for column in folds.T]  # segments of each repeat
        fold_scores, repeat_of_split = by_fold.observed_by_segment(), np.repeat(np.arange(len(held)), held)
    return Candidates(
        matrix=matrix,
        scales=scales,
        metric=metric,
        names=matrix.predictions.names,
        candidates=matrix.configurations,
        winner=int(matrix.configurations[chosen.columns[0]]),
        settings=question.settings,
        selection=question.rule.name,
        aggregate=scales.selection,
        n_rows_used=matrix.n_rows_used,
        fold_scores=fold_scores,
        repeat_of_split=repeat_of_split,
        fold_replay=_fold_replay(replay, by_fold, fold_scores, repeat_of_split, scales),
        test_share=matrix.predictions.test_share,
        flags=flags,
        baseline=_constant_of_all_rows(matrix),
        truth=matrix.truth,
        scores=scores,
        out_of_bag=out_of_bag,
        by_fold=by_fold,
        noise=tuple(_noise_score(matrix, score, scores, out_of_bag, scales) for score in replay.scores),
        replay=replay,
        rule=replay.rule,
        read=tuple(score.metric for score in replay.scores),
        sample_weight=scores.sample_weight,
        chosen=chosen,
        thresholds=None if matrix.cuts is None else matrix.cuts.threshold,
        unit_of_row=matrix.unit_of_row,
        grouped=question.groups is not None,
        in_play=matrix.in_play,
        folds=folds,
    )


def _described(evidence: Candidates) -> Candidates:
    """The evidence with its flags, its provenance and the blocks that bootstraps draw."""
    matrix = evidence.matrix
    flags = {
        **data_flags.flags_of_matrix(matrix.whole or matrix),
        **_flag_of_part(evidence),
        **evidence.flags,
        **(data_flags.flag_of_incomparable_folds(evidence) or data_flags.flags_of_scales(evidence)),
        **data_flags.flags_of_rows(evidence),
    }
    return in_blocks(replace(evidence, flags=flags, details=_provenance(evidence)))


def _constant_of_all_rows(matrix: Matrix) -> float | None:
    """The best constant model's score on all rows where the matrix is a part of them; None otherwise."""
    if matrix.part is None:
        return None
    weights, whole = matrix.question.sample_weight, matrix.whole
    truth = matrix.whole_truth if whole is None else whole.truth
    weights = weights if weights is None or whole is None else weights[whole.used]
    return constant_of_rows(matrix.question.metric, truth, sample_weight=weights)


def _flag_of_part(evidence: Candidates) -> dict[Flag, str]:
    matrix = evidence.matrix
    if matrix.part is None:
        return {}
    sentence = Flag.NOISE_OF_A_PART.filled(part=len(matrix.used), total=matrix.part.n_rows)
    # Without the predictions of all rows there is no better part.
    rough = matrix.whole is None and not data_flags.carry_enough(evidence)
    return {Flag.NOISE_OF_A_PART: f"{sentence} {ROUGHLY_KNOWN}" if rough else sentence}


def _unscored(matrix: Matrix, replay: SelectionReplay) -> dict[int, str]:
    """Candidates for which a function of the user's or of scikit-learn's fails where others have a score, and why.

    A bootstrap without the rows on which it fails would give them a score, and they could win there.
    """
    foreign = [score for score in replay.scores if score.metric.calls_foreign_code]
    lacking = np.zeros(len(matrix.configurations), dtype=bool)
    for score in foreign:
        lacking |= np.isnan(score.observed())
    unscored = set(matrix.configurations[lacking].tolist()) - set(matrix.configurations[~lacking].tolist())
    why = "; ".join(message for score in foreign for message in score.failures)
    # Where all lack a score it is the metric that fails, which is said elsewhere.
    return {} if lacking.all() else dict.fromkeys(sorted(unscored - {matrix.question.winner}), why)


def _noise_score(
    matrix: Matrix,
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
        return _out_of_bag_score(matrix, score)[0]
    return score


def _out_of_bag_score(matrix: Matrix, scores: AggregateScore) -> tuple[AggregateScore, dict[Flag, str]]:
    """The score of out-of-bag rows where the winner is selected by means over folds, and its flag.

    Where folds are large it is that mean. Otherwise it counts the pairs within folds, which need no large ones, or
    for other metrics scores all rows together.
    """
    codes, weighed = matrix.segments["folds"], scores.rows_of_weight
    assert codes is not None, "folds are read where they are known"
    too_small = data_flags.too_small_out_of_bag(scores.metric, matrix.truth.rows(weighed), codes[weighed])
    if too_small is None:
        return scores, {}
    if is_pair_based(scores.metric):
        return matrix.score(scores.metric, "within"), {}
    return matrix.score(scores.metric, "pooled"), {Flag.OUT_OF_BAG_POOLED: too_small}


def _replay(
    matrix: Matrix,
    selection: tuple[AggregateScore, ...],
    by_fold: AggregateScore | None,
    scales: Scales,
) -> SelectionReplay:
    """The rule over the columns; a threshold is selected as the best column is."""
    question = matrix.question
    rule, names = question.rule, list(question.selected_on)
    in_folds: tuple[AggregateScore, ...] = ()
    if rule.reads_fold_scores and by_fold is not None:
        # Rules such as one standard error read the spread over folds, on whatever scale the value is.
        read = question.selected_on.values()
        in_folds = (
            selection
            if scales.selection == "folds"
            else tuple(by_fold if basis is question.metric else matrix.score(basis, "folds") for basis in read)
        )
    if isinstance(rule, Threshold):
        n_columns = len(matrix.configurations)
        # A column is a configuration at a threshold, for which parameters mean nothing.
        no_params: list[Mapping[str, Any]] = [{}] * n_columns
        return SelectionReplay(Best(), selection, in_folds, np.arange(n_columns), no_params, names)
    params = question.params or [{} for _ in matrix.predictions.names]
    averages = matrix.averages(question.metric)
    return SelectionReplay(rule, selection, in_folds, matrix.candidates, params, names, averages)


def _fold_replay(
    replay: SelectionReplay,
    reported: AggregateScore | None,
    fold_scores: Floats | None,
    repeat_of_split: Indices | None,
    scales: Scales,
) -> FoldReplay | None:
    """The selection on fold scores; None where some that it reads were not computed."""
    if isinstance(replay.rule, WeightRule) or reported is None or fold_scores is None or repeat_of_split is None:
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


def _winner(replay: SelectionReplay, n_rows: int) -> Choice:
    once = np.ones((1, n_rows), dtype=np.uint8)
    try:
        chosen = replay.choice(once)
    except SelectionFailedError as error:
        raise InputError(f"the selection rule '{replay.rule.name}' failed on the scores: {error}.") from error
    if chosen.columns[0] == NONE_CHOSEN:
        if np.isfinite(replay.scores[0].observed()).any():
            folds = ", or give `folds=` with at least two labels" if replay.rule.reads_fold_scores else ""
            raise InputError(
                f"the selection rule '{replay.rule.name}' chose no configuration by the scores of {n_rows} rows; "
                f"choose another, such as 'best'{folds}.",
                argument="selection",
            )
        failures = "; ".join(message for score in replay.scores for message in score.failures)
        lacking = [score.metric for score in replay.scores if not score.defined(once)[0]]
        needs = " and ".join(dict.fromkeys(f"{metric.name} needs {metric.needs}" for metric in lacking))
        reason = failures or needs or f"{replay.scores[0].metric.name} gives a number for none of them"
        raise InputError(
            f"no configuration has a defined score on the {n_rows} rows that all predicted "
            f"({reason}), so none could be chosen."
        )
    return chosen


def _provenance(evidence: Candidates) -> dict[str, Any]:
    """What is estimated, of which rows."""
    matrix, scales = evidence.matrix, evidence.scales
    question, predictions, truth = matrix.question, matrix.predictions, matrix.whole_truth
    settings = {} if question.rule == Best() else settings_of(question.rule)
    pairs_out_of_bag = scales.value == "folds" and isinstance(evidence.out_of_bag.segments[0], PairSegment)
    return {
        "task": str(truth.kind),
        "pos_label": truth.label_of(positive_of(question.metric, truth)),
        **({"selection_settings": settings} if settings else {}),
        **({"sources": list(question.rule.sources)} if question.rule.sources else {}),
        "n_rows": truth.n_rows,
        "n_repeats": predictions.n_repeats,
        "training_rows": predictions.training_rows,
        "grouped": question.groups is not None,
        "weighted": question.sample_weight is not None,
        **({} if scales.value == scales.selection else {"scale_of_value": scales.value}),
        **({"aggregate_out_of_bag": "within"} if pairs_out_of_bag else {}),
        **({} if matrix.part is None else {"n_rows_of_bootstrap": len(matrix.used)}),
    }
