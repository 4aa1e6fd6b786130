"""The winner of a search, by its rule on the observed scores.

``winner_of`` is the one function that finds it, for searches, protocols and learning curves. It applies
the rule by ``chosen_columns``, as every bootstrap does, so that ties are broken in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from heldout.configurations import Configurations
from heldout.data.task import Task
from heldout.errors import InputError
from heldout.estimates.of_search import Estimation
from heldout.estimates.question import Aggregate, Scale
from heldout.execution.collect import RaceResults
from heldout.execution.table import mean_over_splits
from heldout.flags import Flag
from heldout.metrics.aggregate import AggregateScore, alignable, reads_ranks, score_on_scale
from heldout.metrics.base import Metric, oriented, quiet_if_foreign
from heldout.predictions import HeldOutPredictions
from heldout.selection import NONE_CHOSEN, Best, SelectionFailedError
from heldout.selection.base import metrics_read
from heldout.selection.replay import chosen_columns


def pooled_scores(
    task: Task,
    predictions: HeldOutPredictions,
    metrics: Mapping[str, Metric | None],
    aggregate: Scale = "pooled",
    unscored: Mapping[str, Mapping[int, str]] = MappingProxyType({}),
    weights: Mapping[str, NDArray[np.float64] | None] = MappingProxyType({}),
) -> dict[str, NDArray[np.float64]]:
    """The metric on all held-out rows of a repeat, mean over repeats: (C,) for each opened scorer.

    With ``aggregate="within"`` of the pairs of rows of one split, with "aligned" of scores aligned between splits
    where only their order matters. Rows are those that every candidate predicted;
    NaN for configurations that failed, lack the response, or have no score of this scorer (``unscored``).
    ``weights`` are those of scorers that weigh rows otherwise than the task.
    """
    scores = {}
    for name, metric in metrics.items():
        if metric is None:
            continue
        scores[name] = np.full(predictions.n_configurations, np.nan)
        failed = {**predictions.failed, **unscored.get(name, {})}
        weighed = replace(task, sample_weight=weights.get(name, task.sample_weight))
        candidates, bound = _pooled(weighed, replace(predictions, failed=failed), metric, aggregate)
        if bound is not None:
            with quiet_if_foreign([metric]):
                scores[name][candidates] = bound.observed()
    return scores


def _pooled(
    task: Task, predictions: HeldOutPredictions, metric: Metric, aggregate: Scale
) -> tuple[NDArray[np.intp], AggregateScore | None]:
    """The configurations with a score, and the metric on the rows that all of them predicted; None without any."""
    if not any(response in predictions.responses for response in metric.responses):
        return np.empty(0, dtype=np.intp), None
    running = np.array([j not in predictions.out for j in range(predictions.n_configurations)])
    predicted = predictions.predicted(metric)
    candidates = np.flatnonzero(running & predicted.any(axis=(0, 2)))
    in_play = predicted[:, candidates].all(axis=1)
    if not len(candidates) or not in_play.any():
        return candidates, None
    repeats = np.arange(in_play.shape[1])
    segments = np.where(in_play, repeats, -1).astype(np.int32)
    array = predictions.for_metric(metric)[:, candidates]
    folds = None
    if aggregate != "pooled":
        assert predictions.folds is not None, "a search has splits"
        own = predictions.folds + repeats * (int(predictions.folds.max()) + 1)
        folds = np.where(in_play & (predictions.folds >= 0), own, -1).astype(np.int32)
        if aggregate == "aligned" and not (reads_ranks(metric) and alignable(folds)):
            aggregate = "pooled"
    with quiet_if_foreign([metric]):
        return candidates, score_on_scale(aggregate, metric, task.truth, array, segments, folds, task.sample_weight)


def _repeat_scores(
    task: Task, found: RaceResults, names: Sequence[str], metrics: Mapping[str, Metric | None], aggregate: Aggregate
) -> NDArray[np.float64]:
    """(1, repeats, C, M), greater = better: each repeat's own scores, in the search's aggregate."""
    columns = []
    for name in names:
        metric, fold_scores = metrics[name], found.fold_scores[name]
        n_repeats = int(fold_scores.repeat.max()) + 1
        if aggregate == "folds" or metric is None:
            of_folds = fold_scores.oriented()
            columns.append(
                [mean_over_splits(of_folds[fold_scores.repeat == repeat]) for repeat in range(n_repeats)]
            )
            continue
        scores = np.full((n_repeats, fold_scores.n_configurations), np.nan)
        candidates, bound = _pooled(task, found.predictions, metric, aggregate)
        if bound is not None:
            with quiet_if_foreign([metric]):
                once = np.ones((1, bound.n_rows), dtype=np.uint8)
                scores[:, candidates] = oriented(metric, bound.by_repeat(once)[0])
        columns.append(list(scores))
    return np.stack([np.stack(column) for column in columns], axis=2)[None]


def winner_of(
    found: RaceResults,
    task: Task,
    estimation: Estimation,
    configurations: Configurations,
    pooled: Mapping[str, NDArray[np.float64]] | None = None,
    *,
    else_the_first: bool = False,
) -> int:
    """The configuration that the rule chooses on the observed scores; failed and dropped ones are no candidates.

    - ``pooled``: ``pooled_scores`` in the search's aggregate, if already computed.
    - ``else_the_first``: if no configuration has a score, choose the first that did not fail, as ``GridSearchCV``
      does.

    Raises InputError when the rule fails, or there is nothing to choose from.
    """
    rule, metrics = estimation.rule, found.metrics
    if pooled is None:
        whole = estimation.scale_of_selection != "folds"
        pooled = (
            pooled_scores(task, found.predictions, metrics, estimation.scale_of_selection, found.unscored)
            if whole
            else {}
        )
    names = metrics_read(rule, metrics, found.refit_metric)
    in_folds = {name: found.fold_scores[name].oriented() for name in names}
    columns = []
    for name in names:
        metric = metrics[name]
        if estimation.scale_of_selection != "folds" and metric is not None:
            columns.append(oriented(metric, pooled[name]))
        else:
            columns.append(mean_over_splits(in_folds[name]))
    values = np.stack(columns, axis=1)[None]
    values[:, list(found.out)] = np.nan
    folds = np.stack(list(in_folds.values()), axis=2)[None] if rule.reads_fold_scores else None
    repeats = None
    if rule.reads_repeats:
        repeats = _repeat_scores(task, found, names, metrics, estimation.scale_of_selection)
    every = np.arange(len(configurations))
    try:
        winner = int(chosen_columns(rule, values, every, configurations.params, names, folds, repeats)[0])
    except SelectionFailedError as error:
        raise InputError(f"the selection rule '{rule.name}' failed on the scores: {error}.") from error
    if winner == NONE_CHOSEN and else_the_first:
        return next(j for j in range(len(configurations)) if j not in found.out)
    if winner == NONE_CHOSEN:
        raise InputError(
            f"'{found.refit_metric}' has no score in any split, so no configuration could be chosen; use larger "
            f"folds or another metric{f' ({found.complaint})' if found.complaint else ''}."
        )
    return winner


def flags_of_winner(
    found: RaceResults, estimation: Estimation, configurations: Configurations, winner: int
) -> dict[Flag, str]:
    """The flag of a winner that ``GridSearchCV``, by the last bit, would not have chosen."""
    rule = estimation.rule
    if not isinstance(rule, Best) or rule.reads_repeats or estimation.scale_of_selection != "folds":
        return {}
    means = mean_over_splits(found.fold_scores[found.refit_metric].oriented())
    means[list(found.out)] = np.nan
    first = winner if np.isnan(means).all() else int(np.nanargmax(means))
    if first == winner:
        return {}
    names = configurations.names
    return {Flag.TIED_WINNER: Flag.TIED_WINNER.filled(winner=names[winner], other=names[first])}
