"""Estimates of a finished search: one a metric, for the one configuration that the refit metric chose.

Before hours go into fitting, ``refused_on_splits`` asks the method whether it can use the splits. Whether a method
is for so many folds, for rows that are predicted several times, or for groups, does not depend on the predictions:
it is asked with a table of the rows that the splits test (``RowTable``).
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from heldout import _defaults
from heldout._types import Array, Floats
from heldout.data.checks import check_aggregate, check_interval_settings, check_rows_of_bootstrap
from heldout.data.limits import effective_threads
from heldout.data.task import Task, Truth
from heldout.dropping.replay import DroppingHistory
from heldout.errors import HeldoutWarning, InputError, reason_of
from heldout.estimates.base import Method, conclude
from heldout.estimates.data_flags import OF_FEW_ROWS, flags_of_predictions
from heldout.estimates.dropping_replay import with_dropping_replayed
from heldout.estimates.evidence import Evidence, RowTable
from heldout.estimates.from_matrix import gather
from heldout.estimates.methods import answer, check_alternative, method_of, refusal, unfit_blocks
from heldout.estimates.ordered_rows import wanted_blocks
from heldout.estimates.question import (
    Aggregate,
    AnyAggregate,
    BlockLength,
    Blocks,
    Question,
    Settings,
    blocks_of,
    scale_of_selection,
)
from heldout.estimates.types import Alternative, Estimate
from heldout.flags import Flag
from heldout.folds.splits import Folds
from heldout.metrics.base import Metric, positive_of
from heldout.metrics.custom import OpaqueMetric
from heldout.predictions import FoldScores, HeldOutPredictions
from heldout.selection import SelectionRule, configuration_rule_of
from heldout.selection.base import metrics_read
from heldout.selection.bootstrap_draws import RowBlocks
from heldout.selection.replay import FoldReplay


@dataclass(frozen=True, eq=False, kw_only=True)
class Estimation:
    """How a search chooses, and how its winner is estimated: what a user decides."""

    method: Any = _defaults.METHOD  # None for no estimate
    selection: Any = _defaults.SELECTION  # how the winner is chosen; replayed in every bootstrap
    # a configuration's score: the mean over splits, as ``GridSearchCV`` has it, the metric over all rows, or the
    # share of the pairs of rows of one split; "auto": see ``Scales``
    aggregate: AnyAggregate = _defaults.AGGREGATE
    n_bootstraps: int = _defaults.BOOTSTRAPS
    confidence_level: float = _defaults.LEVEL
    alternative: Alternative = _defaults.ALTERNATIVE
    block_length: BlockLength = None  # of ordered rows, in which bootstraps draw them
    n_rows_of_bootstrap: int | None = _defaults.ROWS_OF_BOOTSTRAP  # of more rows bootstraps draw from a part

    @property
    def rule(self) -> SelectionRule:
        """The selection rule itself."""
        return configuration_rule_of(self.selection)

    @property
    def scale_of_selection(self) -> Aggregate:
        """The aggregate in which configurations are compared."""
        return scale_of_selection(self.aggregate)

    @property
    def aggregate_so_far(self) -> Aggregate:
        """How rows are scored before all of them are predicted: together, or in pairs within folds if so asked."""
        return "within" if self.aggregate == "within" else "pooled"

    @property
    def blocks(self) -> Blocks | None:
        """The blocks of rows that the user wants."""
        return blocks_of(self.block_length)

    def is_of_part(self, n_rows: int) -> bool:
        """Whether bootstraps of so many rows draw from a part of them."""
        return self.n_rows_of_bootstrap is not None and n_rows > self.n_rows_of_bootstrap

    @property
    def draws(self) -> bool:
        """Whether bootstraps will be drawn."""
        return self.method is not None and method_of(self.method).draws

    def settings(self, entropy: int, n_jobs: int | None = 1) -> Settings:
        """How the bootstraps of the estimates are drawn."""
        threads = effective_threads(n_jobs)
        return Settings(
            self.n_bootstraps, self.confidence_level, self.alternative, entropy, threads, self.blocks,
            self.n_rows_of_bootstrap,
        )  # fmt: skip

    def check(self) -> None:
        """Refuse settings that have no meaning."""
        check_aggregate(self.aggregate)
        check_interval_settings(self.n_bootstraps, self.confidence_level, self.alternative)
        check_rows_of_bootstrap(self.n_rows_of_bootstrap)
        configuration_rule_of(self.selection)
        check_alternative(self.method, self.alternative)
        unused = None if self.method is None else unfit_blocks(method_of(self.method), self.blocks)
        if unused is not None or (self.method is None and self.blocks is not None):
            raise InputError(
                f"method '{method_of(self.method).name}' does not fit: {unused}."
                if unused
                else "block_length is for an estimate, and none is made; leave it out.",
                argument="block_length",
            )


def method_for(method: Any, metrics: Mapping[str, Metric | None], rule: SelectionRule, refit_metric: str) -> Any:
    """The method; ``bbc_f`` in place of the default where the choice reads a scorer with fold scores only."""
    read = metrics_read(rule, metrics, refit_metric)
    is_closed = any(metrics.get(name) is None for name in read)
    return "bbc_f" if is_closed and is_default(method) else method


def is_default(method: Any) -> bool:
    """Whether the method is the default, so that the user may have chosen none."""
    return isinstance(method, str) and method == _defaults.METHOD


def check_applicable(method: Any, metrics: Mapping[str, Metric | None], read: Sequence[str]) -> None:
    """Refuse, before anything is fitted, a method that the scorers cannot serve.

    ``metrics`` holds one for each scorer, None where it cannot be opened. Only the scorers that the selection reads
    (``read``) are refused; any other only lacks an estimate of its own.
    """
    if method is None or "fold scores" in method_of(method).reads:
        return
    refit_metric = metrics.get(read[0]) if read else None
    reason = method_of(method).unfit_metric(refit_metric) if refit_metric else None
    if reason:
        raise InputError(
            f"method '{method_of(method).name}' does not fit: {reason}; '{_defaults.METHOD}' fits every metric.",
            argument="method",
        )
    closed = [name for name in read if metrics.get(name) is None]
    if closed:
        raise InputError(
            f"method '{method_of(method).name}' needs held-out predictions, but the scorer '{closed[0]}' cannot be "
            "opened, so there will be fold scores only; use `method='tt'` or 'bbc_f' (or None), or a scorer made "
            "by make_scorer.",
            argument="method",
        )


def estimates_of_search(
    truth: Truth,
    predictions: HeldOutPredictions,
    estimation: Estimation,
    *,
    metrics: Mapping[str, Metric | None],
    fold_scores: Mapping[str, FoldScores],
    refit_metric: str,
    winner: int,
    groups: Array | None = None,
    sample_weight: Floats | None = None,
    entropy: int = 0,
    n_jobs: int | None = None,
    params: Sequence[Mapping[str, Any]] = (),
    dropping: DroppingHistory | None = None,
    halves: Mapping[str, FoldScores] = MappingProxyType({}),
    flags: Mapping[Flag, str] = MappingProxyType({}),
    unscored: Mapping[str, str] = MappingProxyType({}),
    weights: Mapping[str, Floats | None] = MappingProxyType({}),
    titles: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Estimate]:
    """One estimate a scorer, each of the same winner, with the selection replayed on the refit metric.

    What cannot be estimated becomes NaN with a flag and a ``HeldoutWarning``: a search that has taken hours is
    never lost to its last step.

    Parameters
    ----------
    metrics, fold_scores : mapping
        By scorer name; a metric of None has only its fold scores.
    refit_metric : str
        Chose the winner.
    winner : int
    params : sequence of mapping
        Of each configuration, for rules that read them.
    dropping : DroppingHistory, optional
        The race that the search was, for methods that repeat it in every bootstrap.
    halves : mapping, optional
        The winner's scores in halves of the rows, one a scorer, each half a repeat.
    flags : mapping, optional
        What to know of the winner.
    unscored : mapping, optional
        Why the winner has no score, by scorer.
    weights : mapping, optional
        Of scorers that weigh rows otherwise than by ``sample_weight``, or not at all.
    titles : mapping, optional
        The names of metrics that have only fold scores, for people; by default those of their scorers.
    """
    estimation.check()
    chosen, rule = method_of(estimation.method), estimation.rule
    settings = estimation.settings(entropy, n_jobs)
    estimates = {}
    read = metrics_read(rule, metrics, refit_metric)
    replay = _fold_replay(rule, {other: fold_scores[other] for other in read}, predictions, params, winner)

    def of_folds(name: str) -> Evidence:
        """Without the predictions."""
        metric, scores = metrics[name] or OpaqueMetric(titles.get(name, name)), fold_scores[name]
        return _flagged(_from_fold_scores(truth, metric, scores, predictions, winner, settings, replay), flags)

    def evidence_of(name: str, metric: Metric, opened: Mapping[str, Metric]) -> Evidence:
        """With the predictions, which every scorer that the rule reads has a metric for."""
        by_scorer = {other: weights.get(other, sample_weight) for other in (name, *opened)}
        question = Question(
            metric, opened, rule, estimation.aggregate, settings, groups, by_scorer[name], params, winner,
            weights=tuple((opened[other], by_scorer[other]) for other in opened if other != name),
        )  # fmt: skip
        replayed = dropping is not None and dropping.is_replayed and chosen.replays_dropping
        evidence = gather(
            truth, predictions, question, chosen.scored, draws_rows=chosen.draws_rows and not replayed,
            score_tables=[(basis, fold_scores[other].values) for other, basis in {name: metric, **opened}.items()],
        )  # fmt: skip
        if replayed and dropping is not None:
            evidence = with_dropping_replayed(evidence, truth, predictions, question, dropping)
        return _flagged(evidence, flags)

    opened = {other: metric for other in read if (metric := metrics[other]) is not None}
    for name, metric in metrics.items():
        is_open = metric is not None and len(opened) == len(read)
        try:
            if name in unscored:
                raise InputError(f"{predictions.names[winner]} has no score ({unscored[name]})")
            evidence = evidence_of(name, metric, opened) if metric is not None and is_open else of_folds(name)
        except Exception as error:  # of any kind: the search that took hours is kept
            estimates[name] = _nothing(chosen, of_folds(name), error)
            continue
        evidence = replace(evidence, halves=_by_half(halves.get(name)))
        estimates[name] = _attempt(chosen, evidence, bounds=is_open)
    return estimates


def _by_half(scores: FoldScores | None) -> Floats | None:
    """(halvings, 2, splits): the winner's scores in halves."""
    if scores is None:
        return None
    n_halves = len(np.unique(scores.repeat))
    return scores.values[:, 0].reshape(n_halves // 2, 2, -1)


def _flagged(evidence: Evidence, flags: Mapping[Flag, str]) -> Evidence:
    """The evidence with flags of its search; folds of a sorted file differ, and not because they are small."""
    own_flags = dict(evidence.flags)
    if Flag.SORTED_ROWS in flags:
        own_flags.pop(Flag.SMALL_FOLDS, None)
        own_flags = {flag: sentence.replace(OF_FEW_ROWS, "") for flag, sentence in own_flags.items()}
    return replace(evidence, flags={**own_flags, **flags})


def _from_fold_scores(
    truth: Truth,
    metric: Metric,
    scores: FoldScores,
    predictions: HeldOutPredictions,
    winner: int,
    settings: Settings,
    replay: FoldReplay,
) -> Evidence:
    candidates, folds = replay.candidates, predictions.folds
    # A part is kept only where every row was predicted.
    in_play = np.ones((truth.n_rows, 1), dtype=bool)
    if folds is not None and predictions.part is None:
        in_play = folds >= 0
    flags = flags_of_predictions(predictions, predictions.failed, len(candidates), in_play, truth.n_rows)
    return Evidence(
        metric,
        predictions.names,
        candidates,
        winner,
        settings,
        selection=replay.rule.name,
        aggregate="folds",
        fold_scores=scores.values[:, candidates],
        repeat_of_split=scores.repeat,
        fold_replay=replay,
        n_rows_used=int(in_play.any(axis=1).sum()),
        test_share=predictions.test_share,
        flags=flags,
        details={"n_rows": truth.n_rows, "training_rows": predictions.training_rows},
    )


def _fold_replay(
    rule: SelectionRule,
    read: Mapping[str, FoldScores],
    predictions: HeldOutPredictions,
    params: Sequence[Mapping[str, Any]],
    winner: int,
) -> FoldReplay:
    every = range(len(predictions.names))
    # Where no configuration has a score, the winner is the first, as in scikit-learn.
    candidates = np.array([j for j in every if j not in predictions.out or j == winner], dtype=np.intp)
    oriented = [scores.oriented()[:, candidates] for scores in read.values()]
    params = params or [{} for _ in predictions.names]
    repeat_of_split = next(iter(read.values())).repeat
    return FoldReplay(rule, np.stack(oriented, axis=2), candidates, params, list(read), repeat_of_split)


def _attempt(method: Method, evidence: Evidence, bounds: bool = True) -> Estimate:
    """The estimate; warns where it has no value, or, if ``bounds`` are expected, no interval."""
    try:
        estimate = answer(method, evidence)
    except Exception as error:  # as above
        return _nothing(method, evidence, error)
    if np.isnan(estimate.value) or (bounds and Flag.NO_BOUND in estimate.flags):
        warnings.warn(HeldoutWarning(" ".join(estimate.flags.values())), stacklevel=4)
    return estimate


def _nothing(method: Method, evidence: Evidence, error: Exception) -> Estimate:
    kind = "" if isinstance(error, InputError) else f"{type(error).__name__}: "
    reason = kind + reason_of(error)
    message = Flag.UNDEFINED.filled(reason=reason)
    warnings.warn(HeldoutWarning(f"{evidence.metric.name}: {message}"), stacklevel=4)
    return conclude(evidence, method, float("nan"), flags={Flag.UNDEFINED: message})


def refused_on_splits(
    task: Task, folds: Folds, estimation: Estimation, metric: Metric, names: Sequence[str]
) -> str | None:
    """Why the method has no estimate from splits like these, as a sentence; None where it has one."""
    is_tested = folds.labels >= 0
    rows, groups, weights = np.flatnonzero(is_tested.any(axis=1)), task.groups, task.sample_weight
    labels, truth, bound = folds.labels[rows], task.truth.rows(rows), metric.for_truth(task.truth)
    has_score = [_is_defined(bound, task.truth.rows(split.test)) for split in folds.splits]
    scores = np.repeat(np.where(has_score, 0.0, np.nan)[:, None], len(names), axis=1)
    repeats = np.array([split.repeat for split in folds.splits])
    rule, blocks = estimation.rule, wanted_blocks(estimation.blocks, folds.exchangeable, grouped=groups is not None)
    columns, params = np.arange(len(names)), [dict[str, Any]() for _ in names]
    table = RowTable(
        metric, names, columns, 0, estimation.settings(entropy=0),
        selection=rule.name, aggregate=estimation.scale_of_selection, n_rows_used=len(rows),
        fold_scores=scores, repeat_of_split=repeats,
        fold_replay=FoldReplay(rule, scores[:, :, None], columns, params, [metric.name], repeats),
        test_share=folds.test_share, halves=np.zeros((folds.n_halvings, 2, 1)) if folds.n_halvings else None,
        truth=truth, in_play=is_tested[rows], grouped=groups is not None,
        # Codes that never recur in another repeat.
        folds=np.where(labels >= 0, labels + np.arange(labels.shape[1]) * (labels.max() + 1), -1).astype(np.int32),
        unit_of_row=np.arange(len(rows)) if groups is None else np.unique(groups[rows], return_inverse=True)[1],
        sample_weight=None if weights is None else weights[rows], read=(bound,), rule=rule,
        # How long blocks are shows in the scores, and matters to no method here.
        row_blocks=None if blocks is None or blocks.length == 1 else RowBlocks(1, blocks.kind),
    )  # fmt: skip
    return refusal(method_of(estimation.method), table)


def _is_defined(metric: Metric, truth: Truth) -> bool:
    """Whether a metric has a value on the rows of a split."""
    once = np.ones((1, truth.n_rows), dtype=np.uint8)
    return bool(metric.undefined_without.met(metric.truth_for_needs(truth), positive_of(metric, truth), once)[0])
