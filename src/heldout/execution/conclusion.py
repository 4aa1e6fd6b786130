"""The conclusion of a search: its winner, and the estimates of how good that is, from its cells."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from sklearn.exceptions import FitFailedWarning

from heldout._text import all_of, counted
from heldout._types import Floats, Indices
from heldout.configurations import Configurations
from heldout.data.task import Task, Truth
from heldout.dropping.replay import DroppingHistory
from heldout.errors import ArgumentError, HeldoutWarning, InputError
from heldout.estimates.of_search import Estimation, estimates_of_search
from heldout.estimates.question import Aggregate, Scale, Scales
from heldout.estimates.types import Estimate
from heldout.execution.cells import CellState
from heldout.execution.collect import NO_NUMBER, RaceResults, constant_columns, mean_over_splits
from heldout.execution.complexity import mean_complexities
from heldout.execution.row_flags import flags_of_time
from heldout.execution.search import Search
from heldout.flags import Flag
from heldout.metrics.aggregate import AggregateScore, alignable, reads_ranks, score_on_scale
from heldout.metrics.base import Metric, is_undefined, needs_of_score, oriented, quiet_if_foreign
from heldout.predictions import FoldScores, HeldOutPredictions
from heldout.selection import NONE_CHOSEN, Best, CallableRefit, SelectionFailedError
from heldout.selection.base import metrics_read
from heldout.selection.replay import chosen_columns

Choose: TypeAlias = Callable[[RaceResults, Configurations], int]


@dataclass(frozen=True, eq=False)
class Conclusion:
    """The winner of a search, and what it was chosen by."""

    search: Search
    found: RaceResults
    winner: int
    read: RaceResults
    """The results that the choice and the estimate read: all, or those of the last splits of a strategy."""
    estimation: Estimation
    pooled: Mapping[str, Floats]
    """``pooled_scores`` of every opened scorer."""
    within: Mapping[str, Floats]
    """The same of pairs of rows of one split, where the search asks for that."""
    by_rule: bool
    """Whether the estimation's rule chose, and not a function of the user."""
    warned: bool
    """Whether a warning has already said that there will be no estimate."""

    @cached_property
    def flags(self) -> dict[Flag, str]:
        """What to know of the search, of its winner and of its rows."""
        search = self.search
        flags = search.flags | flags_of_order(search, self.read.predictions, self.winner)
        if self.by_rule:
            flags |= flags_of_winner(self.read, self.estimation, search.configurations, self.winner)
        return flags | (flags_of_course(search, self.found) if self.found.barriers else {})


def chosen_in(
    search: Search, found: RaceResults, *, choose: Choose | None = None, warned: bool = False
) -> Conclusion:
    """The winner of a search whose cells are done; warns of failed configurations.

    ``warned``: whether a warning has already said that there will be no estimate; then the first configuration that
    did not fail wins if none has a score.
    """
    task, configurations = search.task, search.configurations
    unscored = warn_of_failures(found, search)
    metrics = found.metrics
    # The sequential strategy chooses by its last steps, which train on most rows.
    window = None if search.strategy is None else search.strategy.window
    read = found if window is None else found.last(window)
    weights = search.scoring.weights
    together: Scale = "aligned" if search.aggregate == "auto" else "pooled"
    estimation = with_constants(search.estimation, found)
    # Of many rows only what is chosen or estimated by: there pooled scores and means over folds are one number.
    of_interest = {
        name: metric
        for name, metric in metrics.items()
        if not estimation.is_of_part(task.n_rows)
        or (metric and Scales.of(search.aggregate, metric).value != "folds")
    }
    pooled = pooled_scores(task, read.predictions, of_interest, together, read.unscored, weights)
    within = (
        pooled_scores(task, read.predictions, metrics, "within", read.unscored, weights)
        if estimation.scale_of_selection == "within"
        else {}
    )
    # All failed to be scored: the first one, so that the search ends as in scikit-learn.
    if unscored is not None:
        winner = unscored
    elif choose is not None:
        winner = choose(found, configurations)
    else:
        winner = winner_of(
            read, task, estimation, configurations, within or pooled, else_the_first=warned
        )  # a class too small for any score
    return Conclusion(search, found, winner, read, estimation, pooled, within, choose is None, warned)


def estimates_of(
    chosen: Conclusion,
    *,
    n_jobs: int | None = None,
    halves: Mapping[str, FoldScores] = MappingProxyType({}),
    flags: Mapping[Flag, str] = MappingProxyType({}),
) -> dict[str, Estimate]:
    """One estimate a scorer of the winner, by the search's method.

    - ``halves``: the winner's scores in halves of the rows, where it was fitted there.
    - ``flags``: what to know of the search beside its settings.
    """
    search, found, winner = chosen.search, chosen.found, chosen.winner
    with warnings.catch_warnings():
        if chosen.warned:
            warnings.simplefilter("ignore", HeldoutWarning)
        estimates = estimates_from(
            search, chosen.read, winner, chosen.estimation, n_jobs=n_jobs,
            params=search.configurations.params, dropping=_history(search, found), halves=halves,
            flags={**chosen.flags, **flags},
            unscored={name: lacking[winner] for name, lacking in found.unscored.items() if winner in lacking},
        )  # fmt: skip
    return search.with_flags_of_weights(estimates)


def estimates_from(
    search: Search, found: RaceResults, winner: int, estimation: Estimation, **more: Any
) -> dict[str, Estimate]:
    """One estimate a scorer from the results of a search; ``more``: of ``estimates_of_search``."""
    task = search.task
    return estimates_of_search(
        task.truth, found.predictions, estimation, metrics=found.metrics, fold_scores=found.fold_scores,
        refit_metric=found.refit_metric, winner=winner, groups=task.groups, sample_weight=task.sample_weight,
        entropy=search.entropy, weights=search.scoring.weights, titles=search.scoring.titles, **more,
    )  # fmt: skip


def flags_of_order(search: Search, predictions: HeldOutPredictions, winner: int) -> dict[Flag, str]:
    """What to know of rows that follow time, unless the search allows for it: by groups or blocks of rows."""
    allowed = search.task.groups is not None or search.blocks is not None
    # Rows that are copies follow each other for that, and not because of time.
    if allowed or not search.folds.exchangeable or Flag.COPIED_ROWS in search.flags:
        return {}
    return flags_of_time(predictions, search.task.truth, winner, search.entropy)


def flags_of_course(search: Search, found: RaceResults) -> dict[Flag, str]:
    """What to know of a race whose rule could never drop, or that stopped when its interval was tight."""
    flags: dict[Flag, str] = {}
    barriers = found.barriers
    if search.drop is not None:
        least = search.drop.min_predictions
        # The last barrier had the most rows; fewer than the rule needs means that it never spoke.
        most = max(barrier.n_rows for barrier in barriers)
        if most < least:
            flag = Flag.DROPPING_NEVER_APPLIED
            flags[flag] = flag.filled(least=least, rows=most)
    if search.stop_when_width is None or not barriers[-1].stopped:
        return flags
    one_repeat = search.folds.n_repeats == 1
    sentence = Flag.STOPPED_EARLY.filled(
        done=len(found.splits),
        planned=counted(search.folds.n_splits, "fold" if one_repeat else "split"),
        level=f"{100 * search.confidence_level:.4g}",
        width=f"{search.stop_when_width:g}",
        rows=f"{int((found.folds.labels >= 0).any(axis=1).sum()):,}",
        total=f"{search.task.n_rows:,}",
    )
    return {**flags, Flag.STOPPED_EARLY: sentence}


def _history(search: Search, found: RaceResults) -> DroppingHistory | None:
    """The parts of the race that an estimate repeats; None without dropping.

    In an adaptive search each configuration raced against the best before it, which no bootstrap repeats.
    """
    if search.drop is None or found.predictions.adaptive:
        return None
    met = tuple((found.folds.columns[split.repeat], split.fold) for split in found.splits)
    return DroppingHistory(search.drop, met, {j: left.after for j, left in found.dropped.items()})


def with_constants(estimation: Estimation, found: RaceResults) -> Estimation:
    """The estimation, with what its rule may read besides scores: columns, or the complexity of the models."""
    rule: Any = estimation.rule
    if rule.reads_models:
        places = {split.place for split in found.folds.splits}
        numbers = mean_complexities(found.cells, found.predictions.names, found.predictions.out, places)
        rule = replace(rule, complexity=numbers)
    if isinstance(rule, CallableRefit):
        rule = replace(rule, constants=constant_columns(found.cells))
    return replace(estimation, selection=rule)


class FailedConfigurationsWarning(FitFailedWarning, HeldoutWarning):  # type: ignore[misc]
    """Some configurations failed and are no candidates."""


def warn_of_failures(found: RaceResults, search: Search) -> int | None:
    """Warn of failed configurations; raise if all failed.

    Where all were fitted and no scorer gave a number, a search takes the first, as ``GridSearchCV`` does: its
    estimate is no number and says why. Returns that one.
    """
    configurations, error_score = search.configurations, search.error_score
    total, failed = len(configurations), len(found.failures)
    n_failed = int(found.cells.is_in(CellState.FAILED).sum())
    if failed == total and not n_failed and search.method is not None:
        return 0
    if failed == total:
        reasons = list(dict.fromkeys(found.failures.values()))
        # A TypeError in all fits is a wrong argument, which scikit-learn raises as such.
        all_of_type = all(reason.startswith("TypeError: ") for reason in reasons)
        raise (ArgumentError if all_of_type else InputError)(
            f"{all_of(total)} failed, so there is no winner; fix {'it' if total == 1 else 'them'} (in Python, "
            "`error_score='raise'` shows the first error in full): "
            f"{'; '.join(reasons).rstrip('.')}.{_splits_at_fault(found, search.task.truth)}"
        )
    raised = [why for why in found.failures.values() if not why.startswith(NO_NUMBER)]
    if raised:  # a score that is no number is no news: the table warns of it
        listed = [f"{configurations[j].name}: {why}" for j, why in found.failures.items()]
        more = f"; and {failed - 5} more" if failed > 5 else ""
        number = np.nan if error_score == "raise" else error_score
        warnings.warn(
            f"{failed} of {total} configurations failed and are not candidates ({n_failed} fits failed out of a "
            f"total of {found.n_fits}; their missing scores are set to {number}): {'; '.join(listed[:5])}{more}",
            FailedConfigurationsWarning,
            stacklevel=3,
        )
    return None


def _splits_at_fault(found: RaceResults, truth: Truth) -> str:
    """What some training parts lack, as a further sentence; empty if they lack nothing."""
    lacking = sum(is_undefined(None, truth.rows(split.train)) for split in found.folds.splits)
    if not lacking:
        return ""
    needs, total = needs_of_score(None, truth), found.folds.n_splits
    return f" {lacking} of {total} training parts lack {needs}; use fewer or stratified folds, or gather more rows."


def pooled_scores(
    task: Task,
    predictions: HeldOutPredictions,
    metrics: Mapping[str, Metric | None],
    aggregate: Scale = "pooled",
    unscored: Mapping[str, Mapping[int, str]] = MappingProxyType({}),
    weights: Mapping[str, Floats | None] = MappingProxyType({}),
) -> dict[str, Floats]:
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
) -> tuple[Indices, AggregateScore | None]:
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
) -> Floats:
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


def scores_of_selection(found: RaceResults, name: str, scale: Scale, whole: Mapping[str, Floats]) -> Floats:
    """(C,): the scores of a scorer by which a search chooses, greater = better.

    ``whole``: ``pooled_scores`` on that scale, where it is not the mean over folds.
    """
    metric = found.metrics[name]
    if scale == "folds" or metric is None:
        return mean_over_splits(found.fold_scores[name].oriented())
    return oriented(metric, whole[name])


def winner_of(
    found: RaceResults,
    task: Task,
    estimation: Estimation,
    configurations: Configurations,
    pooled: Mapping[str, Floats] | None = None,
    *,
    else_the_first: bool = False,
) -> int:
    """The configuration that the rule chooses on the observed scores; failed and dropped ones are no candidates.

    The one function that finds a winner, for searches, protocols and learning curves. It applies the rule by
    ``chosen_columns``, as every bootstrap does, so that ties are broken in the same way.

    - ``pooled``: ``pooled_scores`` in the search's aggregate, if already computed.
    - ``else_the_first``: if no configuration has a score, choose the first that did not fail, as ``GridSearchCV``
      does.

    Raises InputError when the rule fails, or there is nothing to choose from.
    """
    rule, metrics, scale = estimation.rule, found.metrics, estimation.scale_of_selection
    if pooled is None:
        pooled = {}
        if scale != "folds":
            pooled = pooled_scores(task, found.predictions, metrics, scale, found.unscored)
    names = metrics_read(rule, metrics, found.refit_metric)
    values = np.stack([scores_of_selection(found, name, scale, pooled) for name in names], axis=1)[None]
    values[:, list(found.predictions.out)] = np.nan
    folds = repeats = None
    if rule.reads_fold_scores:
        folds = np.stack([found.fold_scores[name].oriented() for name in names], axis=2)[None]
    if rule.reads_repeats:
        repeats = _repeat_scores(task, found, names, metrics, scale)
    every = np.arange(len(configurations))
    try:
        winner = int(chosen_columns(rule, values, every, configurations.params, names, folds, repeats)[0])
    except SelectionFailedError as error:
        raise InputError(f"the selection rule '{rule.name}' failed on the scores: {error}.") from error
    if winner == NONE_CHOSEN and else_the_first:
        return next(j for j in range(len(configurations)) if j not in found.predictions.out)
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
    means[list(found.predictions.out)] = np.nan
    first = winner if np.isnan(means).all() else int(np.nanargmax(means))
    if first == winner:
        return {}
    names = configurations.names
    return {Flag.TIED_WINNER: Flag.TIED_WINNER.filled(winner=names[winner], other=names[first])}
