"""The cost of each protocol: the exact number of fits, and their time as a multiple of a measured total."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TypeVar

import numpy as np
from joblib import effective_n_jobs
from scipy.stats import t as student

from heldout import studies
from heldout.advice.problem import Family, SearchProblem
from heldout.advice.words import all_failed, not_reached, one_fit_only
from heldout.dropping.base import judged_after
from heldout.dropping.bootstrap import Bootstrap
from heldout.errors import InputError
from heldout.execution.cells import CellResult, CellState
from heldout.execution.search import Search
from heldout.folds.splits import Split

Member = TypeVar("Member")

GOLDEN = (math.sqrt(5) - 1) / 2
COVERED = 0.95
"""Coverage of the range of the total time."""
WORTH_REPEATING = 0.05
"""A family's first fit also loads code: it is timed again unless it took more than this share of ``seconds``."""


@dataclass(frozen=True)
class TimedFit:
    """The time of a fit, which may serve several configurations.

    Attributes
    ----------
    configurations : tuple of int
    seconds : float
        Time to fit and score them on one thread, with their part of the time of steps that others share.
    failures : mapping of int to str
        Those that failed, and why.
    seconds_saved : float
        What separate fits of them would have taken longer.
    """

    configurations: tuple[int, ...]
    seconds: float
    failures: Mapping[int, str] = field(default_factory=dict)
    seconds_saved: float = 0.0

    @property
    def is_failure(self) -> bool:
        """Whether all of them failed: some fail at once, others after a long fit."""
        return len(self.failures) == len(self.configurations)


@dataclass(frozen=True)
class FamilyTime:
    """The time of a family's fits, as far as it is known.

    Attributes
    ----------
    name : str
    n_configurations, n_hyperparameters : int
        Its configurations, and the hyper-parameters that differ among them.
    n_fitted, n_failed : int
        Configurations that were fitted, and that failed.
    seconds : float
        Mean time of a configuration, its part of what it shares; NaN where none was timed.
    variance : float
        Variance of the family's total time, which comes from timing only some of its fits; 0 where all were
        timed, NaN where fewer than two were.
    seconds_alone : float
        Mean time of a configuration that is fitted by itself.
    n_timed : int
        Fits that were timed and did not fail; a fit may serve several configurations.
    """

    name: str
    n_configurations: int
    n_hyperparameters: int
    n_fitted: int
    n_failed: int
    seconds: float
    variance: float
    seconds_alone: float
    n_timed: int


@dataclass(frozen=True)
class TotalTime:
    """The time to fit every configuration once."""

    seconds: float
    low: float
    high: float
    """``seconds``, ``low``, ``high``: the time with its 95 % range; NaN where unknown."""
    reason: str = ""
    """Why a number is unknown; empty where none is."""
    alone: float = 1.0
    """How many times longer configurations take that are fitted by themselves, as winners are."""


def spread(members: Sequence[Member]) -> Iterator[Member]:
    """All members, in an order in which the first few are spread over the whole.

    It goes by steps of the golden ratio: halving would repeat the same values of a grid's last parameters.

    Examples
    --------
    >>> list(spread(range(8)))
    [0, 4, 1, 6, 3, 5, 2, 7]
    """
    n, done = len(members), set()
    for step in range(50 * n):
        place = int((step * GOLDEN) % 1 * n)
        if place not in done:
            done.add(place)
            yield members[place]
    yield from (member for place, member in enumerate(members) if place not in done)


def timed_fits(
    search: Search, families: Sequence[Family], seconds: float, clock: Callable[[], float]
) -> tuple[TimedFit, ...]:
    """Fit configurations on the first split until the time is spent; a fit that has started runs to its end.

    First one configuration of every family, then a second one of every family, and so on; with 0 seconds none.
    ``clock`` returns the seconds since a fixed moment.
    """
    if isinstance(seconds, bool) or not isinstance(seconds, int | float | np.number):
        raise InputError(
            f"seconds must be a number of at least 0, got {seconds!r}; 0 fits nothing.", argument="seconds"
        )
    if not 0 <= seconds < math.inf:
        raise InputError(
            f"seconds must be a finite number of at least 0, got {seconds!r}; 0 fits nothing.", argument="seconds"
        )
    start = clock()
    fits: dict[tuple[int, ...], TimedFit] = {}
    for number, round_ in enumerate(zip_longest(*(spread(family.units) for family in families))):
        for unit in round_:
            if unit is None:
                continue
            if clock() - start >= seconds:
                return tuple(fits.values())
            fits[unit] = first = _timed(search, unit, clock)
            is_short = first.seconds <= WORTH_REPEATING * seconds
            if number == 0 and is_short and not first.is_failure and clock() - start < seconds:
                fits[unit] = _timed(search, unit, clock)
    return tuple(fits.values())


def _timed(search: Search, unit: tuple[int, ...], clock: Callable[[], float]) -> TimedFit:
    work = search.work
    begin = clock()
    # All positions: a step that others read is charged to this fit in part.
    fits = work.do(work, work.folds.splits[0], tuple(range(len(work.configurations))))
    cells = fits.scored(fits.results(unit))
    seconds = max(clock() - begin - math.fsum(cell.ahead_seconds for cell in cells), 0.0)
    failures = {cell.key.configuration: _failure(cell, search.scoring.refit_metric) for cell in cells}
    savings = [saving.seconds for cell in cells for saving in cell.shared.values()]
    # Where nothing tells how long a separate fit takes, it takes about as long as the one for all.
    saved = math.fsum((len(unit) - 1) / len(unit) * seconds if each is None else each for each in savings)
    return TimedFit(unit, seconds, {j: why for j, why in failures.items() if why}, max(saved, -seconds))


def _failure(cell: CellResult, scorer: str) -> str:
    """Why a search could not select it; empty where it could."""
    if cell.state is CellState.FAILED:
        return cell.message or "it failed"
    return "" if math.isfinite(cell.test_scores.get(scorer, math.nan)) else cell.message or "its score is NaN"


def family_times(families: Sequence[Family], fits: Sequence[TimedFit]) -> tuple[FamilyTime, ...]:
    by_place = {one.configurations: one for one in fits}
    return tuple(_family_time(family, by_place) for family in families)


def _family_time(family: Family, fits: Mapping[tuple[int, ...], TimedFit]) -> FamilyTime:
    mine = [fits[unit] for unit in family.units if unit in fits]
    done = [one for one in mine if not one.is_failure]
    seconds = np.array([one.seconds for one in done])
    n, fitted = len(family.units), len(done)
    variance = math.nan
    if fitted == n:
        variance = 0.0
    elif fitted > 1:
        variance = float(n**2 * (1 - fitted / n) * seconds.var(ddof=1) / fitted)
    n_served = sum(len(one.configurations) for one in done)
    n_failed = sum(len(one.failures) for one in mine)
    n_fitted = sum(len(one.configurations) for one in mine) - n_failed
    mean = float(seconds.mean()) * n / len(family.members) if fitted else math.nan
    alone = math.fsum(one.seconds + one.seconds_saved for one in done) / n_served if fitted else math.nan
    return FamilyTime(
        family.name, len(family.members), len(family.tuned), n_fitted, n_failed, mean, variance, alone, fitted
    )


def total_time(times: Sequence[FamilyTime], fits: Sequence[TimedFit]) -> TotalTime:
    """The time of all configurations, from a stratified sample with one stratum per family.

    The range is Student's with Satterthwaite's degrees of freedom; its low end is at least the time measured.

    Examples
    --------
    >>> fits = [TimedFit((0,), 1.0), TimedFit((2,), 2.0)]
    >>> total_time(family_times([Family("knn", (0, 1, 2, 3), ())], fits), fits).seconds
    6.0
    """
    done = [one.seconds for one in fits if not one.is_failure]
    unknown = [one.name for one in times if math.isnan(one.seconds)]
    if unknown:
        return TotalTime(math.nan, math.nan, math.nan, _untimed(times, unknown))
    seconds = sum(one.n_configurations * one.seconds for one in times)
    by_itself = sum(one.n_configurations * one.seconds_alone for one in times)
    alone = by_itself / seconds if seconds > 0 else 1.0
    once = [one.name for one in times if math.isnan(one.variance)]
    if once:
        return TotalTime(seconds, math.nan, math.nan, one_fit_only(once), alone)
    variance = sum(one.variance for one in times)
    if not variance:
        return TotalTime(seconds, seconds, seconds, alone=alone)
    freedom = variance**2 / sum(one.variance**2 / (one.n_timed - 1) for one in times if one.variance)
    reach = float(student.ppf((1 + COVERED) / 2, freedom)) * math.sqrt(variance)
    return TotalTime(seconds, max(seconds - reach, sum(done)), seconds + reach, alone=alone)


def _untimed(times: Sequence[FamilyTime], unknown: Sequence[str]) -> str:
    failed = [one.name for one in times if one.name in unknown and one.n_failed]
    return all_failed(failed) if failed else not_reached(unknown)


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
