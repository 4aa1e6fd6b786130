"""What each protocol costs: fits, counted, and time, from a total that was measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from joblib import effective_n_jobs

from heldout.advice.probing import Total
from heldout.advice.problem import Problem
from heldout.dropping.base import judged_after
from heldout.dropping.bootstrap import Bootstrap
from heldout.folds.splits import Split

CV, BBC, BCED, REPEATED, NESTED, NESTED_FAMILIES = (
    "cv", "bbc", "bced", "bbc_repeats", "nested_cv", "nested_cv_families",
)  # fmt: skip
REPEATS = 4
"""Three or four seem to suffice for intervals (Tsamardinos et al. 2018, section 6.2.4)."""
GROWTH = (0, 1, 2)
"""Powers of the training rows that the time of a fit may grow with: not at all, as they do, with their square."""


@dataclass(frozen=True)
class Cost:
    """What a protocol costs, the fit of the model to deploy included.

    Attributes
    ----------
    protocol : str
    fewest, most : int
        Fits: equal where they can be counted, apart where the data decide who is dropped.
    seconds, low, high : float
        Of all fits, divided among the processes; with a range. NaN where it cannot be told.
    """

    protocol: str
    fewest: int
    most: int
    seconds: float = math.nan
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True)
class _Work:
    """What a protocol fits: on each of ``searched`` every configuration, on each of ``single`` one; training rows.

    ``fewest`` are the fits of all configurations where some may be dropped.
    """

    protocol: str
    searched: tuple[int, ...]
    single: tuple[int, ...]
    fewest: int | None = None


def costs_of(problem: Problem, total: Total, n_jobs: int | None = None) -> tuple[Cost, ...]:
    """Every protocol that applies.

    Parameters
    ----------
    problem : Problem
    total : Total
        The time of fitting every configuration once, on the rows of the first split.
    n_jobs : int, optional
    """
    return tuple(_cost(problem, total, work, n_jobs) for work in _works(problem))


def _works(problem: Problem) -> list[_Work]:
    splits = problem.search.folds.splits
    c, n = problem.n_configurations, problem.n_rows
    searched = _training(splits)
    works = [_Work(CV, searched, (n,))]
    if problem.is_opened:
        works.append(_Work(BBC, searched, (n,)))
        if c > 1:
            works.append(_Work(BCED, searched, (n,), fewest_fits(problem)))
        # Of folds of one row or group there is only one division.
        is_random = problem.n_folds < problem.n_units
        if is_random and problem.search.folds.n_repeats == 1 and problem.search.folds.is_partition:
            works.append(_Work(REPEATED, searched * REPEATS, (n,)))
    if problem.nested is not None:
        nested = problem.nested
        inner = tuple(rows for branch in nested.branches for rows in _training(branch.inner))
        winners = _training([branch.refit for branch in nested.branches])
        everything = _training(nested.search.splits) + inner
        works.append(_Work(NESTED, everything, (*winners, n)))
        if len(problem.families) > 1:
            works.append(_Work(NESTED_FAMILIES, everything, (*winners, n) * len(problem.families)))
    return works


def _training(splits: Sequence[Split]) -> tuple[int, ...]:
    return tuple(len(split.train) for split in splits)


def fewest_fits(problem: Problem) -> int:
    """Of a search that drops, were all but one to leave at the first barrier that judges."""
    splits = problem.search.folds.splits
    judged = judged_after([split.repeat for split in splits])
    seen: set[int] = set()
    for met, split in enumerate(splits[:-1], start=1):
        seen.update(split.test.tolist())
        if judged[met - 1] and len(seen) >= Bootstrap().min_predictions:
            return problem.n_configurations * met + len(splits) - met
    return problem.n_configurations * len(splits)


def _cost(problem: Problem, total: Total, work: _Work, n_jobs: int | None) -> Cost:
    c = problem.n_configurations
    searched, single = c * len(work.searched), len(work.single)
    most = searched + single
    fewest = (searched if work.fewest is None else work.fewest) + single
    # Who is dropped is not known before, and so no time is expected; its range holds whatever the data say.
    share = 1.0 if fewest == most else math.nan
    at_once = min(effective_n_jobs(n_jobs), most)
    each = [_in_probes(problem, work, power) / at_once for power in GROWTH]
    return Cost(
        work.protocol, fewest, most,
        total.seconds * each[1] * share, total.low * min(each) * fewest / most, total.high * max(each),
    )  # fmt: skip


def _in_probes(problem: Problem, work: _Work, power: int) -> float:
    """How often the total is spent: a fit on other numbers of rows than the probes' counts by their ratio."""
    of_probes = len(problem.search.folds.splits[0].train)

    def relative(rows: Sequence[int]) -> float:
        return float(((np.array(rows) / of_probes) ** power).sum())

    return relative(work.searched) + relative(work.single) / problem.n_configurations
