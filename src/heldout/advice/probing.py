"""How long a fit takes: a few configurations of each family, fitted on one split. Nothing is chosen by them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
from scipy.stats import t as student

from heldout.advice.problem import Family
from heldout.advice.words import all_failed, not_reached, once_fitted
from heldout.errors import InputError
from heldout.execution.cells import CellResult, CellState
from heldout.execution.fit import fit_cell
from heldout.execution.search import Search

GOLDEN = (math.sqrt(5) - 1) / 2
COVERED = 0.95
"""By the range of the total time."""
WORTH_REPEATING = 0.05
"""A family's first fit also loads code: it is timed again, unless it took more than this share of the time."""


@dataclass(frozen=True)
class Probe:
    """A configuration fitted once.

    Attributes
    ----------
    configuration : int
    seconds : float
        To fit and to score it, on one thread.
    failure : str
        Why it failed; empty where it did not.
    """

    configuration: int
    seconds: float
    failure: str = ""


@dataclass(frozen=True)
class FamilyTime:
    """What is known of the time that a family takes.

    Attributes
    ----------
    name : str
    n_configurations, n_hyperparameters : int
        Its configurations, and the hyper-parameters that differ among them.
    n_fitted, n_failed : int
        Configurations that were fitted, and that failed.
    seconds : float
        The mean of a fit; NaN where none was timed.
    variance : float
        Of the family's total time, from having fitted some of its configurations only; 0 where all were fitted, NaN
        where fewer than two were.
    """

    name: str
    n_configurations: int
    n_hyperparameters: int
    n_fitted: int
    n_failed: int
    seconds: float
    variance: float


@dataclass(frozen=True)
class Total:
    """The time of fitting every configuration once.

    Attributes
    ----------
    seconds, low, high : float
        With a 95 % range; NaN where they cannot be told.
    longest : float
        The longest fit that was timed.
    reason : str
        Why something cannot be told; empty where nothing is missing.
    """

    seconds: float
    low: float
    high: float
    longest: float
    reason: str = ""


def spread(members: Sequence[int]) -> Iterator[int]:
    """All of them, in an order whose every beginning is spread over them.

    By steps of the golden ratio: halving would meet the same values of a grid's last parameters over and over.

    Examples
    --------
    >>> list(spread(range(8)))
    [0, 4, 1, 6, 3, 5, 2, 7]
    """
    n, met = len(members), set()
    for step in range(50 * n):
        place = int((step * GOLDEN) % 1 * n)
        if place not in met:
            met.add(place)
            yield members[place]
    yield from (member for place, member in enumerate(members) if place not in met)


def probe(
    search: Search, families: Sequence[Family], seconds: float, clock: Callable[[], float]
) -> tuple[Probe, ...]:
    """Fit configurations on the first split until the time is spent; a fit that has begun is ended.

    One of every family, then a second of every one, and so on.

    Parameters
    ----------
    seconds : float
        0 fits none.
    clock : callable
        The seconds since some moment.

    Raises
    ------
    InputError
        When ``seconds`` is no finite number of at least 0.
    """
    if isinstance(seconds, bool) or not isinstance(seconds, int | float | np.number):
        raise InputError(f"seconds must be a number of at least 0, got {seconds!r}; 0 fits nothing.")
    if not 0 <= seconds < math.inf:
        raise InputError(f"seconds must be a finite number of at least 0, got {seconds!r}; 0 fits nothing.")
    context, split = search.work.context, search.folds.splits[0]
    began = clock()

    def timed(configuration: int) -> Probe:
        started = clock()
        cell = fit_cell(context, search.configurations[configuration], split)
        return Probe(configuration, clock() - started, _failure(cell, search.scoring.refit_metric))

    found: dict[int, Probe] = {}
    for number, round_ in enumerate(zip_longest(*(spread(family.members) for family in families))):
        for configuration in round_:
            if configuration is None:
                continue
            if clock() - began >= seconds:
                return tuple(found.values())
            found[configuration] = timed(configuration)
            first = found[configuration]
            is_short = first.seconds <= WORTH_REPEATING * seconds
            if number == 0 and is_short and not first.failure and clock() - began < seconds:
                found[configuration] = timed(configuration)
    return tuple(found.values())


def _failure(cell: CellResult, scorer: str) -> str:
    """Why a search could not choose it; empty where it could."""
    if cell.state is CellState.FAILED:
        return cell.message or "it failed"
    return "" if math.isfinite(cell.test_scores.get(scorer, math.nan)) else cell.message or "its score is NaN"


def family_times(families: Sequence[Family], probes: Sequence[Probe]) -> tuple[FamilyTime, ...]:
    """Family by family."""
    by_place = {one.configuration: one for one in probes}
    return tuple(_family_time(family, by_place) for family in families)


def _family_time(family: Family, probes: Mapping[int, Probe]) -> FamilyTime:
    mine = [probes[place] for place in family.members if place in probes]
    # A configuration that fails may do so at once, or only after a long fit.
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


def total_time(times: Sequence[FamilyTime], probes: Sequence[Probe]) -> Total:
    """The time of all configurations: a stratified sample of them was timed, a stratum a family.

    Its range is Student's, with Satterthwaite's degrees of freedom, and begins at what was measured already.

    Examples
    --------
    >>> times = family_times([Family("knn", (0, 1, 2, 3), ())], [Probe(0, 1.0), Probe(2, 2.0)])
    >>> total_time(times, [Probe(0, 1.0), Probe(2, 2.0)]).seconds
    6.0
    """
    done = [one.seconds for one in probes if not one.failure]
    longest = max(done, default=math.nan)
    unknown = [one.name for one in times if math.isnan(one.seconds)]
    if unknown:
        return Total(math.nan, math.nan, math.nan, longest, _untimed(times, unknown))
    seconds = sum(one.n_configurations * one.seconds for one in times)
    once = [one.name for one in times if math.isnan(one.variance)]
    if once:
        return Total(seconds, math.nan, math.nan, longest, once_fitted(once))
    variance = sum(one.variance for one in times)
    if not variance:
        return Total(seconds, seconds, seconds, longest)
    freedom = variance**2 / sum(one.variance**2 / (one.n_fitted - 1) for one in times if one.variance)
    reach = float(student.ppf((1 + COVERED) / 2, freedom)) * math.sqrt(variance)
    return Total(seconds, max(seconds - reach, sum(done)), seconds + reach, longest)


def _untimed(times: Sequence[FamilyTime], unknown: Sequence[str]) -> str:
    failed = [one.name for one in times if one.name in unknown and one.n_failed]
    return all_failed(failed) if failed else not_reached(unknown)
