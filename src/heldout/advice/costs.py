"""The cost of each protocol: the exact number of fits, and their time as a multiple of a measured total."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from joblib import effective_n_jobs

from heldout import studies
from heldout.advice.fit_times import TotalTime
from heldout.advice.problem import SearchProblem
from heldout.dropping.base import judged_after
from heldout.dropping.bootstrap import Bootstrap
from heldout.folds.splits import Split

CV, BBC, BCED, REPEATED, NESTED, NESTED_FAMILIES = (
    "cv", "bbc", "bced", "bbc_repeats", "nested_cv", "nested_cv_families",
)  # fmt: skip
REPEATS = 4
"""Three or four seem to suffice for intervals (Tsamardinos et al. 2018, section 6.2.4)."""
GROWTH = (0, 1, 2)
"""The time of a fit grows with a power of the training rows: not at all, in proportion, with the square."""


@dataclass(frozen=True)
class Cost:
    """The cost of a protocol, including the fit of the final model.

    Attributes
    ----------
    protocol : str
    fewest, most : int
        Number of fits. They differ where the data decide how many configurations are dropped.
    seconds, low, high : float
        Time of all fits, divided by the number of processes, with a range; NaN where it is unknown.
    """

    protocol: str
    fewest: int
    most: int
    seconds: float = math.nan
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True)
class _Work:
    """The fits of a protocol, by their training rows.

    ``searched`` are splits on which many configurations are fitted, all by default, ``single`` those on which one
    is. ``fewest`` is the smallest number of fits on ``searched`` if configurations may be dropped.
    """

    protocol: str
    searched: tuple[int, ...]
    single: tuple[int, ...]
    fewest: int | None = None
    n_configurations: int | None = None


def costs_of(problem: SearchProblem, total: TotalTime, n_jobs: int | None = None) -> tuple[Cost, ...]:
    """The cost of every protocol that applies; ``total`` is the time of all configurations on the first split."""
    return tuple(_cost(problem, total, work, n_jobs) for work in _works(problem))


def _works(problem: SearchProblem) -> list[_Work]:
    splits = problem.search.folds.splits
    c, n = problem.n_configurations, problem.n_rows
    searched = _training(splits)
    works = [_Work(CV, searched, (n,))]
    if problem.is_opened:
        works.append(_Work(BBC, searched, (n,)))
        if c > 1:
            works.append(_Work(BCED, searched, (n,), fewest_fits(problem)))
        # Folds of one row or group can be drawn in one way only, so repeats would be equal.
        is_random = problem.n_folds < problem.n_units
        if is_random and problem.search.folds.n_repeats == 1 and problem.search.folds.is_partition:
            works.append(_Work(REPEATED, searched * REPEATS, (n,)))
    if problem.nested is not None:
        nested = problem.nested
        inner = tuple(rows for branch in nested.branches for rows in _training(branch.inner))
        winners = _training(nested.refits)
        everything = _training(nested.search.splits) + inner
        works.append(_Work(NESTED, everything, (*winners, n)))
        if len(problem.families) > 1:
            # A family of one configuration selects nothing, so its outer folds are all that is fitted.
            sizes = [len(family.members) for family in problem.families]
            alone, chosen = sizes.count(1), sum(size for size in sizes if size > 1)
            single = (*winners, n) * (len(sizes) - alone) + (*searched, n) * alone
            works.append(_Work(NESTED_FAMILIES, everything, single, n_configurations=chosen))
    return works


def _training(splits: Sequence[Split]) -> tuple[int, ...]:
    return tuple(len(split.train) for split in splits)


def fewest_fits(problem: SearchProblem) -> int:
    """The fits of a search that drops all configurations but one as early as the rule allows."""
    splits = problem.search.folds.splits
    judged = judged_after([split.repeat for split in splits])
    predicted: set[int] = set()
    for done, split in enumerate(splits[:-1], start=1):
        predicted.update(split.test.tolist())
        if judged[done - 1] and len(predicted) >= Bootstrap().min_predictions:
            return problem.n_configurations * done + len(splits) - done
    return problem.n_configurations * len(splits)


def _cost(problem: SearchProblem, total: TotalTime, work: _Work, n_jobs: int | None) -> Cost:
    c = problem.n_configurations if work.n_configurations is None else work.n_configurations
    searched, single = c * len(work.searched), len(work.single)
    most = searched + single
    fewest = (searched if work.fewest is None else work.fewest) + single
    # How many are dropped is unknown beforehand, so there is no expected time, only a range that always holds.
    share = 1.0 if fewest == most else math.nan
    at_once = min(effective_n_jobs(n_jobs), most)
    each = [_totals_spent(problem, total, work, power) / at_once for power in GROWTH]
    return Cost(
        work.protocol, fewest, most,
        total.seconds * each[1] * share, total.low * min(each) * fewest / most, total.high * max(each),
    )  # fmt: skip


def _totals_spent(problem: SearchProblem, total: TotalTime, work: _Work, power: int) -> float:
    """How many times the total is spent: a fit on other numbers of rows counts by the ratio to the timed fits."""
    timed_rows = len(problem.search.folds.splits[0].train)

    def relative(rows: Sequence[int]) -> float:
        return float(((np.array(rows) / timed_rows) ** power).sum())

    c = problem.n_configurations
    many = c if work.n_configurations is None else work.n_configurations
    return (relative(work.searched) * many + relative(work.single) * total.alone) / c


ACCURACY, ROC_AUC, SQUARED_ERROR = "accuracy", "roc_auc", "mean_squared_error"
"""The metrics that the study can simulate."""
BETA = (9.0, 6.0)
"""Beta distribution of the true accuracies: mean .6, the article's case with the largest biases."""
MOST_ROWS, MOST_CONFIGURATIONS, MOST_FOLDS = 1000, 2000, 20
MOST_REPETITIONS, FEWEST_REPETITIONS = 50, 12
CELLS_OF_ACCURACY, CELLS_OF_OTHERS = 25_000_000, 5_000_000
"""Predictions in all repetitions together, which take a second or two."""
N_BOOTSTRAPS = 200


@dataclass(frozen=True)
class ProtocolBias:
    """The optimism of a protocol's estimate, on average; below 0 where the estimate is too pessimistic."""

    protocol: str
    bias: float
    standard_error: float


@dataclass(frozen=True)
class WorstCase:
    """The result of the simulation.

    Attributes
    ----------
    metric : str
        "accuracy", "roc_auc", or "mean_squared_error" in units of the target's variance.
    rows, configurations, folds, repetitions : int
        Sizes of the simulation: the user's, limited to what takes a few seconds.
    beta : (float, float)
        Parameters of the distribution of true accuracies, areas or R².
    biases : tuple of ProtocolBias
    """

    metric: str
    rows: int
    configurations: int
    folds: int
    repetitions: int
    beta: tuple[float, float]
    biases: tuple[ProtocolBias, ...]

    def of(self, protocol: str) -> ProtocolBias | None:
        """The bias of one protocol; None where it was not simulated."""
        return next((one for one in self.biases if one.protocol == protocol), None)


def worst_case(
    n_rows: int,
    n_configurations: int,
    n_folds: int,
    entropy: int,
    *,
    metric: str = ACCURACY,
    prevalence: float | None = None,
) -> WorstCase:
    """Simulate the bias of each protocol.

    Parameters
    ----------
    n_rows, n_configurations, n_folds : int
        The user's N, C and K, each at least 2, and K at most N.
    entropy : int
    metric : {"accuracy", "roc_auc", "mean_squared_error"}
    prevalence : float, optional
        The share of one class, for "roc_auc".

    Raises
    ------
    MissingPapersError
        Without heldout-papers.
    """
    rows, configurations = min(n_rows, MOST_ROWS), min(n_configurations, MOST_CONFIGURATIONS)
    cells = CELLS_OF_ACCURACY if metric == ACCURACY else CELLS_OF_OTHERS
    repetitions = int(np.clip(cells // (rows * configurations), FEWEST_REPETITIONS, MOST_REPETITIONS))
    study = studies.bias(
        rows, configurations, [BETA], metric=metric, prevalence=prevalence, repetitions=repetitions,
        folds=min(n_folds, MOST_FOLDS), n_bootstraps=N_BOOTSTRAPS, protocols=(CV, NESTED, BBC, BCED),
        random_state=entropy,
    )  # fmt: skip
    (setting,) = study.settings
    biases = tuple(
        ProtocolBias(str(row["protocol"]), float(row["bias"]), float(row["standard_error"])) for row in study.rows()
    )
    return WorstCase(metric, rows, configurations, setting.folds, repetitions, BETA, biases)
