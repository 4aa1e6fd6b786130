"""How long fits take: a few configurations of each family, timed on one split. They select nothing.

What one fit of the search serves is timed together, and of a step that others share each has its part, as in the
search.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TypeVar

import numpy as np
from scipy.stats import t as student

from heldout.advice.problem import Family
from heldout.advice.words import all_failed, not_reached, one_fit_only
from heldout.errors import InputError
from heldout.execution.cells import CellResult, CellState
from heldout.execution.search import Search

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
    """The time of each family."""
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
