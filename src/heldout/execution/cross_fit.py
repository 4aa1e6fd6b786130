"""Cross-fitted searches: one on the rows outside each fold, whose winner predicts the rows of the fold.

An adaptive search proposes configurations because of scores, and no bootstrap can repeat that on the same rows.
Here the search of a fold never sees its rows: it is scored on the other folds, by models that were not trained on
the fold either. So what its winner predicts for the fold is honest, however the search came to it. Together these
predictions are one column of held-out predictions, without any selection that they took part in.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._text import argument, counted
from heldout.configurations import Configuration, Configurations
from heldout.errors import HeldoutWarning, InputError
from heldout.estimates.methods import method_of
from heldout.estimates.of_search import estimates_of_search
from heldout.estimates.types import Estimate
from heldout.execution.adaptive import Proposals, proposed_results
from heldout.execution.collect import RaceResults, ResultCollector
from heldout.execution.conclusion import Choose, ChosenWinner, with_constants
from heldout.execution.events import StageStarted
from heldout.execution.loop import tell
from heldout.execution.plan import Race
from heldout.execution.run import RunSettings, open_run
from heldout.execution.search import Search
from heldout.execution.store.memory import MemoryStore
from heldout.execution.table import mean_over_splits
from heldout.execution.winner import pooled_scores, winner_of
from heldout.flags import Flag
from heldout.folds.splits import Folds, Split
from heldout.predictions import FoldScores, HeldOutPredictions

COLUMN = "the winner of each fold's own search"
QUANTITY = (
    "the expected performance, over training sets of the size of a fold's training part, of a search with as many "
    "trials as one of the cross-fitted searches had"
)


@dataclass(frozen=True, eq=False)
class CrossFit:
    """The searches of all folds, and what their winners predict.

    Attributes
    ----------
    winners : tuple of str
        The name of the winner of each fold's search.
    params : tuple of mapping
        Its parameters.
    n_trials : tuple of int
        The configurations that the search of each fold tried.
    predictions : HeldOutPredictions or None
        One column: each row's prediction by the winner of the search without its fold; None where a search has no
        winner.
    fold_scores : mapping of str to FoldScores
        One a scorer, of that column.
    n_fits : int
        Of all these searches, and of the winners.
    n_fits_saved : int
        By dropping.
    seconds : float
        That they took.
    reason : str
        Why there is no estimate; empty if there is one.
    """

    winners: tuple[str, ...]
    params: tuple[Mapping[str, Any], ...]
    n_trials: tuple[int, ...]
    predictions: HeldOutPredictions | None
    fold_scores: Mapping[str, FoldScores]
    n_fits: int
    n_fits_saved: int
    seconds: float
    reason: str = ""

    @property
    def sentence(self) -> str:
        """How the estimate came about, for its flag."""
        trials = sorted(set(self.n_trials))
        each = counted(trials[-1], "configuration")
        if len(trials) > 1:
            each = f"{trials[0]} to {each}"
        return Flag.CROSS_FITTED.filled(searches=len(self.n_trials), each=each)


def cross_fit(
    search: Search,
    proposals_of: Callable[[int], Proposals],
    running: RunSettings,
    *,
    n_trials: int,
    choose: Choose | None = None,
) -> CrossFit:
    """Search once for each fold of the first repeat, on the other folds, and test each winner on its fold.

    Parameters
    ----------
    search : Search
        Without configurations. Its folds, of the first repeat, must hold out every row once.
    proposals_of : callable
        From the number of a fold to what proposes for it.
    running : RunSettings
        Every search is a run of its own in the store.
    n_trials : int
        How many configurations each search tries at most.
    choose : callable, optional
        As in ``evaluate``.

    Raises
    ------
    InputError
        When the folds are no partition of the rows, or fewer than three.
    """
    started = time.perf_counter()
    splits = outer_splits(search.folds)
    plain = replace(search, refit=False, keep_models="none", deploy="all", stop_when_width=None)
    winners: list[Configuration] = []
    n_trials_made, n_fits, n_saved, reason = list[int](), 0, 0, ""
    for number, split in enumerate(splits):
        tell(running.listeners, StageStarted(f"searching without fold {split.fold}"))
        inner = replace(plain, folds=folds_outside(search.folds, splits, split))
        inner, found = proposed_results(inner, proposals_of(number), running, n_trials)
        n_fits, n_saved = n_fits + found.n_fits, n_saved + found.n_fits_saved
        n_trials_made.append(len(inner.configurations))
        try:
            winners.append(inner.configurations[_winner(inner, found, choose)])
        except InputError as error:
            why = next(iter(found.failures.values()), str(error)).rstrip(".")
            reason = f"the search without fold {split.fold} has no winner ({why})"
            break
    tested = None if reason else _tested(plain, splits, winners, running)
    if tested is not None and tested.failures:
        reason = f"a winner failed on the fold that it was to predict ({tested.failures[0].rstrip('.')})"
    return CrossFit(
        winners=tuple(winner.name for winner in winners),
        params=tuple(winner.params for winner in winners),
        n_trials=tuple(n_trials_made),
        predictions=None if tested is None else tested.predictions,
        fold_scores={} if tested is None else tested.fold_scores,
        n_fits=n_fits + (0 if tested is None else tested.n_fits),
        n_fits_saved=n_saved,
        seconds=time.perf_counter() - started,
        reason=reason,
    )


def outer_splits(folds: Folds) -> tuple[Split, ...]:
    """The splits of the first repeat.

    Raises InputError when they do not hold out every row that they use once, or are fewer than three.
    """
    first = min(folds.columns)
    splits = tuple(split for split in folds.splits if split.repeat == first)
    tested = np.zeros(folds.n_rows, dtype=np.intp)
    for split in splits:
        tested[split.test] += 1
    used = np.unique(np.concatenate([rows for split in splits for rows in (split.train, split.test)]))
    if not folds.exchangeable or (tested[used] != 1).any():
        raise InputError(
            f"{argument('feedback', 'cross-fitted')} needs folds that hold out every row once, such as "
            f"{argument('cv', 5)}; other splits (by time, or drawn anew) leave no rows that a sampler has not "
            f"seen. Use {argument('feedback', 'all')}, and nested cross-validation for the estimate.",
            argument="feedback",
        )
    if len(splits) < 3:
        raise InputError(
            f"{argument('feedback', 'cross-fitted')} needs at least 3 folds, as the search without one fold "
            f"compares on the others, got {len(splits)}; use {argument('cv', 5)}, say.",
            argument="feedback",
        )
    return splits


def folds_outside(folds: Folds, splits: Sequence[Split], split: Split) -> Folds:
    """The other folds, without the rows of this one.

    Examples
    --------
    >>> rows = np.arange(6)
    >>> splits = [Split(0, k, np.delete(rows, [2 * k, 2 * k + 1]), rows[2 * k : 2 * k + 2]) for k in range(3)]
    >>> for other in folds_outside(Folds(tuple(splits), 6), splits, splits[0]).splits:
    ...     print(other.train, other.test)
    [4 5] [2 3]
    [2 3] [4 5]
    """
    outside = np.zeros(folds.n_rows, dtype=bool)
    outside[split.train] = True
    others = (
        Split(0, other.fold, other.train[outside[other.train]], other.test[outside[other.test]])
        for other in splits
        if other is not split
    )
    return replace(folds, splits=tuple(other for other in others if len(other.test)), halves=(), n_halvings=0)


def _winner(search: Search, found: RaceResults, choose: Choose | None) -> int:
    if choose is not None:
        return choose(found, search.configurations)
    metrics = {name: search.scoring.metrics.get(name) for name in found.fold_scores}
    estimation, aggregate = with_constants(search.estimation, found), search.estimation.scale_of_selection
    pooled = (
        {}
        if aggregate == "folds"
        else pooled_scores(search.task, found.predictions, metrics, aggregate, found.unscored)
    )
    return winner_of(found, search.task, estimation, search.configurations, metrics, pooled)


def _tested(
    search: Search, splits: Sequence[Split], winners: Sequence[Configuration], running: RunSettings
) -> RaceResults:
    """Each winner fitted outside its fold and tested on it: the results of one column."""
    members = Configurations(tuple(replace(winner, position=number) for number, winner in enumerate(winners)))
    folds = search.folds.part(splits)
    work = replace(search.work, configurations=members, folds=folds, sharing=None)
    races = [Race((split,), configurations=(number,)) for number, split in enumerate(splits)]
    in_memory = replace(running, store=MemoryStore(), resume=False, listeners=())  # a few fits: done again
    column = ResultCollector(search.task, Configurations(members.members[:1]), folds, search.scoring)
    with open_run(work, search.task, search.entropy, in_memory, n_cells=len(races), n_races=len(races)) as run:
        run.run_races(races)
        for race in races:
            (cell,) = run.cell_results(race)
            column.put(replace(cell, key=cell.key._replace(configuration=0)))
    found = column.results()
    return replace(found, predictions=replace(found.predictions, names=(COLUMN,)))


def estimates_of_cross_fit(
    search: Search, found: RaceResults, chosen: ChosenWinner, fit: CrossFit, *, n_jobs: int | None = None
) -> dict[str, Estimate]:
    """One estimate a scorer of the final winner: the method's, of the predictions that no search had seen.

    The uncorrected score is the winner's own, in the final search.
    """
    scores_of = {"pooled": chosen.pooled, "within": chosen.within}
    corrected = {}
    for name, estimate in _of_column(search, found, chosen, fit, n_jobs).items():
        of_metric = found.fold_scores[name]
        scale = estimate.provenance.get("scale_of_value", search.estimation.scale_of_selection)
        whole: Mapping[str, NDArray[np.float64]] = scores_of.get(scale, {})
        scores = whole.get(name, mean_over_splits(of_metric.values))
        uncorrected = float(scores[chosen.winner])
        flags = {**({} if fit.reason else {Flag.CROSS_FITTED: fit.sentence}), **estimate.flags}
        flags.pop(Flag.SINGLE_CONFIGURATION, None)  # of the one column; there were many configurations
        corrected[name] = replace(
            estimate,
            uncorrected=uncorrected,
            optimism=(uncorrected - estimate.value) * (1 if of_metric.greater_is_better else -1),
            selected=chosen.winner,
            selected_name=search.configurations.names[chosen.winner],
            selection_frequency=None,
            coverage=None,  # what was measured is of one configuration, and not of a search
            flags=flags,
            provenance={
                **estimate.provenance,
                "quantity": QUANTITY,
                "selection": search.estimation.rule.name,
                "feedback": "cross-fitted",
                "n_searches": len(fit.n_trials),
                "n_trials_of_each": list(fit.n_trials),
                "n_fits_of_cross_fitting": fit.n_fits,
            },
        )
    return corrected


def _of_column(
    search: Search, found: RaceResults, chosen: ChosenWinner, fit: CrossFit, n_jobs: int | None
) -> dict[str, Estimate]:
    """The method's estimates of the one column; NaN with the reason where there is none."""
    task = search.task
    metrics = {name: search.scoring.metrics.get(name) for name in found.fold_scores}
    if fit.predictions is not None and not fit.reason:
        estimates = estimates_of_search(
            task.truth, fit.predictions, replace(chosen.estimation, selection="best"), metrics=metrics,
            fold_scores=fit.fold_scores, refit_metric=found.refit_metric, winner=0, groups=task.groups,
            sample_weight=task.sample_weight, entropy=search.entropy, n_jobs=n_jobs, flags=search.flags,
            weights=search.scoring.weights,
        )  # fmt: skip
        return search.with_flags_of_weights(estimates)
    sentence = Flag.UNDEFINED.filled(reason=f"{fit.reason}; {argument('feedback', 'all')} estimates without it")
    warnings.warn(HeldoutWarning(sentence), stacklevel=4)
    nothing = Estimate(
        value=float("nan"),
        interval=None,
        uncorrected=float("nan"),
        optimism=float("nan"),
        standard_error=None,
        selected=chosen.winner,
        selected_name="",
        metric="",
        method=method_of(chosen.estimation.method).name,
        n_rows_used=0,
        flags={Flag.UNDEFINED: sentence},
    )
    return {
        name: replace(nothing, metric=name if metric is None else metric.name) for name, metric in metrics.items()
    }
