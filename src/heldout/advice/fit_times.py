"""How long fits take: a few configurations of each family, timed on one split. They select nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
from scipy.stats import t as student

from heldout.advice.problem import Family
from heldout.advice.words import all_failed, not_reached, one_fit_only
from heldout.errors import InputError
from heldout.execution.cells import CellResult, CellState
from heldout.execution.search import Search
from heldout.execution.split_fits import fit_cell

GOLDEN = (math.sqrt(5) - 1) / 2
COVERED = 0.95
"""Coverage of the range of the total time."""
WORTH_REPEATING = 0.05
"""A family's first fit also loads code: it is timed again unless it took more than this share of ``seconds``."""


@dataclass(frozen=True)
class TimedFit:
    """The time of one configuration's fit."""

    configuration: int
    seconds: float
    """Time to fit and score it on one thread."""
    failure: str = ""
    """Why it failed; empty where it succeeded."""


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
        Mean time of a fit; NaN where none was timed.
    variance : float
        Variance of the family's total time, which comes from timing only some of its configurations; 0 where all
        were timed, NaN where fewer than two were.
    """

    name: str
    n_configurations: int
    n_hyperparameters: int
    n_fitted: int
    n_failed: int
    seconds: float
    variance: float


@dataclass(frozen=True)
class TotalTime:
    """The time to fit every configuration once."""

    seconds: float
    low: float
    high: float
    """``seconds``, ``low``, ``high``: the time with its 95 % range; NaN where unknown."""
    longest: float
    """The longest timed fit."""
    reason: str = ""
    """Why a number is unknown; empty where none is."""


def spread(members: Sequence[int]) -> Iterator[int]:
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
    context, split = search.work.context, search.folds.splits[0]
    start = clock()

    def timed(configuration: int) -> TimedFit:
        begin = clock()
        cell = fit_cell(context, search.configurations[configuration], split)
        return TimedFit(configuration, clock() - begin, _failure(cell, search.scoring.refit_metric))

    fits: dict[int, TimedFit] = {}
    for number, round_ in enumerate(zip_longest(*(spread(family.members) for family in families))):
        for configuration in round_:
            if configuration is None:
                continue
            if clock() - start >= seconds:
                return tuple(fits.values())
            fits[configuration] = timed(configuration)
            first = fits[configuration]
            is_short = first.seconds <= WORTH_REPEATING * seconds
            if number == 0 and is_short and not first.failure and clock() - start < seconds:
                fits[configuration] = timed(configuration)
    return tuple(fits.values())


def _failure(cell: CellResult, scorer: str) -> str:
    """Why a search could not select it; empty where it could."""
    if cell.state is CellState.FAILED:
        return cell.message or "it failed"
    return "" if math.isfinite(cell.test_scores.get(scorer, math.nan)) else cell.message or "its score is NaN"


def family_times(families: Sequence[Family], fits: Sequence[TimedFit]) -> tuple[FamilyTime, ...]:
    """The time of each family."""
    by_place = {one.configuration: one for one in fits}
    return tuple(_family_time(family, by_place) for family in families)


def _family_time(family: Family, fits: Mapping[int, TimedFit]) -> FamilyTime:
    mine = [fits[place] for place in family.members if place in fits]
    # Failed fits are not timed: some fail at once, others after a long fit.
    seconds = np.array([one.seconds for one in mine if not one.failure])
    n, fitted = len(family.members), len(seconds)
    variance = math.nan
    if fitted == n:
        variance = 0.0
    elif fitted > 1:
        variance = float(n**2 * (1 - fitted / n) * seconds.var(ddof=1) / fitted)
    return FamilyTime(
        family.name, n, len(family.tuned), fitted, len(mine) - fitted,
        float(seconds.mean()) if fitted else math.nan, variance,
    )  # fmt: skip


def total_time(times: Sequence[FamilyTime], fits: Sequence[TimedFit]) -> TotalTime:
    """The time of all configurations, from a stratified sample with one stratum per family.

    The range is Student's with Satterthwaite's degrees of freedom; its low end is at least the time measured.

    Examples
    --------
    >>> fits = [TimedFit(0, 1.0), TimedFit(2, 2.0)]
    >>> total_time(family_times([Family("knn", (0, 1, 2, 3), ())], fits), fits).seconds
    6.0
    """
    done = [one.seconds for one in fits if not one.failure]
    longest = max(done, default=math.nan)
    unknown = [one.name for one in times if math.isnan(one.seconds)]
    if unknown:
        return TotalTime(math.nan, math.nan, math.nan, longest, _untimed(times, unknown))
    seconds = sum(one.n_configurations * one.seconds for one in times)
    once = [one.name for one in times if math.isnan(one.variance)]
    if once:
        return TotalTime(seconds, math.nan, math.nan, longest, one_fit_only(once))
    variance = sum(one.variance for one in times)
    if not variance:
        return TotalTime(seconds, seconds, seconds, longest)
    freedom = variance**2 / sum(one.variance**2 / (one.n_fitted - 1) for one in times if one.variance)
    reach = float(student.ppf((1 + COVERED) / 2, freedom)) * math.sqrt(variance)
    return TotalTime(seconds, max(seconds - reach, sum(done)), seconds + reach, longest)


def _untimed(times: Sequence[FamilyTime], unknown: Sequence[str]) -> str:
    failed = [one.name for one in times if one.name in unknown and one.n_failed]
    return all_failed(failed) if failed else not_reached(unknown)
