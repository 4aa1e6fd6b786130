"""The conclusion of a search: its winner, and the estimates of how good that is, from its cells."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import FitFailedWarning

from heldout._text import counted
from heldout.configurations import Configurations
from heldout.data.task import Truth
from heldout.dropping.replay import DroppingHistory
from heldout.errors import ArgumentError, HeldoutWarning, InputError
from heldout.estimates.of_search import Estimation, estimates_of_search
from heldout.estimates.question import Scale, Scales
from heldout.estimates.types import Estimate
from heldout.execution.cells import CellState
from heldout.execution.collect import NO_NUMBER, RaceResults
from heldout.execution.complexity import mean_complexities
from heldout.execution.row_order import flags_of_time
from heldout.execution.search import Search
from heldout.execution.table import constant_columns
from heldout.execution.winner import flags_of_winner, pooled_scores, winner_of
from heldout.flags import Flag
from heldout.metrics.base import is_undefined, needs_of_score
from heldout.predictions import FoldScores, HeldOutPredictions
from heldout.selection import CallableRefit

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
    pooled: Mapping[str, NDArray[np.float64]]
    """``pooled_scores`` of every opened scorer."""
    within: Mapping[str, NDArray[np.float64]]
    """The same of pairs of rows of one split, where the search asks for that."""
    by_rule: bool
    """Whether the estimation's rule chose, and not a function of the user."""
    warned: bool
    """Whether a warning has already said that there will be no estimate."""


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
    search, found, read, winner = chosen.search, chosen.found, chosen.read, chosen.winner
    task = search.task
    with _quiet_again(chosen.warned):
        estimates = estimates_of_search(
            task.truth, read.predictions, chosen.estimation, metrics=found.metrics,
            fold_scores=read.fold_scores, refit_metric=found.refit_metric, winner=winner, groups=task.groups,
            sample_weight=task.sample_weight, entropy=search.entropy, n_jobs=n_jobs,
            params=search.configurations.params, dropping=_history(search, found), halves=halves,
            flags={**flags_of(chosen), **flags},
            unscored={name: lacking[winner] for name, lacking in found.unscored.items() if winner in lacking},
            weights=search.scoring.weights,
        )  # fmt: skip
    return search.with_flags_of_weights(estimates)


def flags_of(chosen: Conclusion) -> dict[Flag, str]:
    """What to know of a search, of its winner and of its rows."""
    search = chosen.search
    of_winner = flags_of_winner(chosen.read, chosen.estimation, search.configurations, chosen.winner)
    return {
        **search.flags,
        **flags_of_order(search, chosen.read.predictions, chosen.winner),
        **(of_winner if chosen.by_rule else {}),
        **flags_of_course(search, chosen.found),
    }


def flags_of_order(search: Search, predictions: HeldOutPredictions, winner: int) -> dict[Flag, str]:
    """What to know of rows that follow time, unless the search allows for it: by groups or blocks of rows."""
    allowed = search.task.groups is not None or search.blocks is not None
    # Rows that are copies follow each other for that, and not because of time.
    if allowed or not search.folds.exchangeable or Flag.COPIED_ROWS in search.flags:
        return {}
    return flags_of_time(predictions, search.task.truth, winner, search.entropy)


def flags_of_course(search: Search, found: RaceResults) -> dict[Flag, str]:
    """What to know of a search whose rule could never drop, or that stopped when its interval was tight."""
    flags: dict[Flag, str] = {}
    barriers = found.barriers
    if search.drop is not None and barriers:
        least = search.drop.min_predictions
        # The last barrier had the most rows; fewer than the rule needs means that it never spoke.
        most = max(barrier.n_rows for barrier in barriers)
        if most < least:
            flag = Flag.DROPPING_NEVER_APPLIED
            flags[flag] = flag.filled(least=least, rows=most)
    if search.stop_when_width is None or not barriers or not barriers[-1].stopped:
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
        numbers = mean_complexities(found.cells, found.predictions.names, found.out, places)
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
            f"all {total} configurations failed, so there is no winner; fix them (in Python, `error_score='raise'` "
            "shows the first error in full): "
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


@contextmanager
def _quiet_again(warned: bool) -> Iterator[None]:
    """Suppress warnings that were already given before fitting."""
    with warnings.catch_warnings():
        if warned:
            warnings.simplefilter("ignore", HeldoutWarning)
        yield
