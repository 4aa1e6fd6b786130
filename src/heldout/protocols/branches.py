"""Searches on parts of the rows: protocols that search more than once do all their searches in one run.

The search on all rows and those on parts are races side by side, with the same configurations and in the same
store. Then each winner of a part is fitted on the whole part and tested on rows outside it, one cell each. The
winners are chosen by ``winner_of``, like the winner of any search.
"""

import time
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from heldout._sklearn import rows_at
from heldout._types import Counts, Floats, Indices
from heldout.arguments.search import seeded_folds
from heldout.data.task import Task
from heldout.dropping.base import Barrier
from heldout.errors import InputError, reason_of
from heldout.estimates.data_flags import flag_of_failed, flags_of_groups
from heldout.estimates.evidence import FoldTable
from heldout.estimates.question import Settings
from heldout.evaluate import evaluation_of
from heldout.execution.cells import CellResult
from heldout.execution.collect import RaceResults, mean_over_splits
from heldout.execution.conclusion import chosen_in, pooled_scores, winner_of, with_constants
from heldout.execution.plan import Race, race_of_search
from heldout.execution.run import OpenRun, RunSettings, open_run
from heldout.execution.search import Search, check_search
from heldout.flags import Flag
from heldout.folds.splits import Folds, Rows, Split
from heldout.metrics.constant_model import constant_of_rows
from heldout.result import Evaluation


class Branch(Protocol):
    """A search on a part of the rows.

    - ``inner``: of the search: rows of the part, by their numbers in the whole task. A row may occur several times.
      Empty where there is one configuration, which needs no search.
    - ``refit``: trains the winner on the part, and tests it on rows outside it.

    Either may be of the splits of the search whose winner is deployed, whose fits are then used.
    """

    @property
    def inner(self) -> tuple[Split, ...]: ...
    @property
    def refit(self) -> Split: ...


@dataclass(frozen=True, eq=False)
class BranchWinner:
    """The result of the search of a branch."""

    winner: int | None
    """None if none could be chosen."""
    scores: Floats
    """(C,): of the deciding scorer, in its metric's direction and units and the search's aggregate; NaN for those
    that failed or were dropped."""
    failures: Mapping[int, str]
    barriers: tuple[Barrier, ...]
    n_fits: int
    n_fits_saved: int
    reason: str = ""
    """Why there is no winner; empty where there is one."""


ONLY_CONFIGURATION = BranchWinner(0, np.full(1, np.nan), {}, (), 0, 0)
"""Of a branch without a search."""


@dataclass(frozen=True, eq=False)
class BranchScore:
    """A configuration fitted on the part of a branch, and tested outside it."""

    configuration: int | None
    """None if there was none to fit."""
    score: float
    """By the deciding scorer, in its metric's direction and units; NaN where it failed or is undefined."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """By scorer, as the scorers return them (greater = better)."""
    cell: CellResult | None = None
    """With the predictions of the test rows, in the order of the split."""
    reason: str = ""
    """Why there is no score; empty if there is one."""


@dataclass(frozen=True, eq=False)
class BranchedSearch:
    """The search whose winner is deployed, on all rows as a rule, and one on each of several parts.

    ``n_fits``, ``n_fits_saved``: all fits, refits included.
    """

    evaluation: Evaluation
    """Of the search whose winner is deployed."""
    chosen: tuple[BranchWinner, ...]
    """One a branch."""
    tested: tuple[BranchScore, ...]
    """One a branch."""
    n_fits: int
    n_fits_saved: int


class RepeatNumbers:
    """Numbers of repeats that no split has yet.

    Examples
    --------
    >>> numbers = RepeatNumbers(taken=3)
    >>> next(numbers), next(numbers)
    (3, 4)
    """

    def __init__(self, taken: int = 0) -> None:
        self._next = taken

    def __next__(self) -> int:
        self._next += 1
        return self._next - 1

    def renumbered(self, splits: Sequence[Split], rows: Rows | None = None) -> tuple[Split, ...]:
        """The splits with new repeat numbers; splits of ``rows`` get the row numbers of the task."""
        number_of = {repeat: next(self) for repeat in sorted({split.repeat for split in splits})}
        if rows is None:
            return tuple(replace(split, repeat=number_of[split.repeat]) for split in splits)
        return tuple(Split(number_of[s.repeat], s.fold, rows[s.train], rows[s.test]) for s in splits)


def part_of(task: Task, rows: Rows) -> Task:
    return Task(
        rows_at(task.X, rows),
        task.truth.rows(rows),
        None if task.groups is None else task.groups[rows],
        None if task.sample_weight is None else task.sample_weight[rows],
        None if task.y is None else rows_at(task.y, rows),
    )


def folds_of_part(
    task: Task, rows: Rows, cv: Any, seed: int, *, repeats: int = 1, classifier: bool | None = None
) -> Folds:
    """Some rows of a task divided by ``cv``; rows are numbered within the part.

    A splitter that shuffles without a ``random_state`` is seeded, so that the same run has the same folds.
    """
    return seeded_folds(part_of(task, rows), cv, seed, repeats=repeats, classifier=classifier)


def run_branches(
    search: Search,
    branches: Sequence[Branch],
    running: RunSettings,
    *,
    counts: Sequence[Counts] | None = None,
    across: Callable[[Sequence[BranchWinner]], int] | None = None,
) -> BranchedSearch:
    """Search all rows and the part of every branch; fit each winner on its part, and test it outside.

    - ``search``: whose winner is deployed, on all rows as a rule; branches have its configurations, scoring, rules
      and settings.
    - ``branches``: with repeat numbers of their own.
    - ``counts`` (N,): how often each row counts when a branch drops and chooses, if a part holds rows several
      times.
    - ``across``: takes the results of all branches and returns the one configuration to fit in all of them, in
      place of each winner.

    Raises InputError when the search on all rows has no winner. A branch without a winner has no score, and its
    reason.
    """
    started = time.perf_counter()
    check_search(search)
    known = {split.place for split in search.folds.splits}
    refits = [branch.refit for branch in branches if branch.refit.place not in known]
    searched = [number for number, each in enumerate(branches) if each.inner and each.inner[0].place not in known]
    inner = (split for number in searched for split in branches[number].inner)
    folds = replace(search.folds, splits=(*search.folds.splits, *inner, *refits))
    work = replace(search.work, folds=folds)
    races = [search.race]
    for number in searched:
        races.append(race_of_search(folds.part(branches[number].inner), search.drop, search.entropy))
    n_searched = len(search.configurations) * sum(len(race.splits) for race in races)
    with open_run(
        work, running,
        n_cells=n_searched + len(refits), n_races=len(races), may_drop=search.drop is not None,
    ) as run:  # fmt: skip
        tasks = None
        if counts is not None:
            tasks = [search.task, *(counted(search.task, counts[number]) for number in searched)]
        barriers = run.run_races(races, search=search, tasks=tasks)
        whole = run.race_results(races[0], barriers[0])
        chosen = [ONLY_CONFIGURATION] * len(branches)
        for number in (number for number, branch in enumerate(branches) if branch.inner and number not in searched):
            chosen[number] = replace(_chosen(search, whole, None), n_fits=0, n_fits_saved=0)  # counted once
        for number, race, passed in zip(searched, races[1:], barriers[1:], strict=True):
            found = run.race_results(race, passed)
            chosen[number] = _chosen(search, found, None if counts is None else counts[number])
        everywhere = None if across is None else across(chosen)
        fitted = [one.winner if everywhere is None else everywhere for one in chosen]
        tested = _tested(run, search, whole.refit_metric, branches, fitted, chosen)
    decided = chosen_in(search, whole, choose=None if everywhere is None else lambda *_: everywhere)
    evaluation = evaluation_of(decided, running, time.perf_counter() - started)
    fitted_anew = zip(branches, fitted, strict=True)
    n_refits = sum(j is not None and branch.refit.place not in known for branch, j in fitted_anew) + search.refit
    return BranchedSearch(
        evaluation=evaluation,
        chosen=tuple(chosen),
        tested=tuple(tested),
        n_fits=whole.n_fits + sum(one.n_fits for one in chosen) + n_refits,
        n_fits_saved=whole.n_fits_saved + sum(one.n_fits_saved for one in chosen),
    )


def _chosen(search: Search, found: RaceResults, counts: Counts | None) -> BranchWinner:
    """The winner of a branch, chosen like that of the search on all rows."""
    task = search.task if counts is None else counted(search.task, counts)
    aggregate, pooled = search.scale_of_selection, {}
    if aggregate != "folds":
        pooled = pooled_scores(task, found.predictions, found.metrics, aggregate, found.unscored)
    scores = mean_over_splits(found.fold_scores[found.refit_metric].values)
    scores = np.array(pooled.get(found.refit_metric, scores))
    scores[list(found.predictions.out)] = np.nan
    winner, reason = None, ""
    try:
        estimation = with_constants(search.estimation, found)
        winner = winner_of(found, task, estimation, search.configurations, pooled)
    except InputError as error:
        reason = next(iter(found.failures.values()), reason_of(error))
    return BranchWinner(
        winner=winner,
        scores=scores,
        failures=found.failures,
        barriers=found.barriers,
        n_fits=found.n_fits,
        n_fits_saved=found.n_fits_saved,
        reason=reason,
    )


def counted(task: Task, counts: Counts) -> Task:
    """The task, with rows weighted by how often they were drawn."""
    weights = counts.astype(np.float64)
    if task.sample_weight is not None:
        weights *= task.sample_weight
    return replace(task, sample_weight=weights)


def _tested(
    run: OpenRun,
    search: Search,
    name: str,
    branches: Sequence[Branch],
    fitted: Sequence[int | None],
    chosen: Sequence[BranchWinner],
) -> list[BranchScore]:
    """One cell a branch: the configuration fitted on the part and tested outside it."""
    races = [
        None if configuration is None else Race((branch.refit,), configurations=(configuration,))
        for branch, configuration in zip(branches, fitted, strict=True)
    ]
    run.run_races([race for race in races if race is not None])
    greater = (metric := search.scoring.metrics.get(name)) is None or metric.greater_is_better
    tested = []
    for race, configuration, one in zip(races, fitted, chosen, strict=True):
        if race is None:
            tested.append(BranchScore(None, float("nan"), reason=one.reason))
            continue
        (cell,) = run.cell_results(race)
        score = cell.test_scores.get(name, float("nan"))
        reason = cell.message or "its score is NaN" if np.isnan(score) else ""
        tested.append(BranchScore(configuration, score if greater else -score, cell.test_scores, cell, reason))
    return tested


def table_of_search(
    search: Search,
    settings: Settings,
    winner: int,
    out: Container[int],
    failures: Mapping[int, str],
    fold_scores: Floats,
    repeat_of_split: Indices,
    **details: Any,
) -> FoldTable:
    """The scores by fold (splits, C) of a search on all rows, for an estimate that reads no predictions."""
    task, names, name = search.task, search.configurations.names, search.scoring.refit_metric
    metric = search.scoring.metric(name)
    candidates = np.array([j for j in range(len(names)) if j not in out], dtype=np.intp)
    about = {"task": str(task.truth.kind), "n_rows": task.n_rows, **details}
    return FoldTable(
        metric,
        names,
        candidates,
        winner,
        settings,
        selection=search.rule.name,
        aggregate=search.scale_of_selection,
        n_rows_used=task.n_rows,
        fold_scores=fold_scores[:, candidates],
        repeat_of_split=repeat_of_split,
        flags={
            **search.flags,
            **flags_of_groups(task.groups),
            **({} if search.folds.exchangeable else Flag.NOT_EXCHANGEABLE.of()),
            **flag_of_failed(names, failures),
        },
        details={**about, "grouped": task.groups is not None, "weighted": task.sample_weight is not None},
        baseline=constant_of_rows(metric, task.truth, sample_weight=task.sample_weight),
    )
