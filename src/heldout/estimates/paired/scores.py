"""The scores of every configuration in every bootstrap, and the difference of two of them.

One walk over the bootstraps keeps, of each configuration, the score on the drawn rows and on those left out. Rows
are drawn once for all configurations, so that scores of the same bootstrap are paired. All paired questions are
answered from these scores.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import gammaln

from heldout._record import Record, points, thinned
from heldout._types import Booleans, Floats, Indices
from heldout.errors import InputError
from heldout.estimates.bootstrap import draws_of, map_draws, undrawable_rows
from heldout.estimates.evidence import Candidates
from heldout.estimates.types import Interval
from heldout.metrics.base import oriented
from heldout.selection.base import NONE_CHOSEN
from heldout.selection.best import tie_exactly
from heldout.selection.bootstrap_draws import out_of_bag

FOLD_FACTOR = 1.5
"""How much farther a difference of K-fold scores is from that of the models delivered than from that of resampled
rows: √(1 + K/(K - 1)) for K = 5 (Nadeau and Bengio 2003); it is 1.41 to 1.58 for other K of 3 or more."""


@dataclass(frozen=True, eq=False)
class PairedScores:
    """Oriented scores (greater = better) of the candidates, a column each; equal ones tie, as in a selection."""

    observed: Floats  # (candidates,): on all rows
    # in_bag, out_of_bag (B, candidates): on the drawn rows, and on those left out, of each bootstrap
    in_bag: Floats
    out_of_bag: Floats
    # (B,): the candidate that the selection rule chose on the drawn rows, ``NONE_CHOSEN`` where it could not
    chosen: Indices
    winner: int  # the candidate that it chose on all rows
    factor: float = 1.0  # ``FOLD_FACTOR``, or 1 where one model predicted all rows

    @cached_property
    def spread(self) -> Floats:
        """(B, candidates): scores on the drawn rows, ``factor`` times as far from those on all rows."""
        with np.errstate(invalid="ignore"):
            spread = self.observed + self.factor * (self.in_bag - self.observed)
        return tie_exactly(np.where(np.isfinite(self.observed), spread, self.in_bag))

    @property
    def n_bootstraps(self) -> int:
        return self.in_bag.shape[0]

    @property
    def n_candidates(self) -> int:
        return self.in_bag.shape[1]

    @property
    def usable(self) -> Booleans:
        """(B,): bootstraps in which a configuration could be chosen."""
        return self.chosen != NONE_CHOSEN


def paired_scores(evidence: Candidates, *, stratify: bool = False) -> PairedScores:
    """Draw the bootstraps of ``heldout.estimate``, and score every candidate in each."""
    reason = undrawable_rows(evidence)
    if reason:
        raise InputError(f"{reason}.")
    draws = draws_of(evidence, stratify=stratify)

    def block(first: int, last: int) -> tuple[Floats, Floats, Indices]:
        counts, _ = draws.block(first, last)
        left_out = out_of_bag(counts)
        return evidence.scores.all(counts), evidence.out_of_bag.all(left_out), evidence.replay.choose(counts)

    blocks = map_draws(block, evidence)
    in_bag, left_out, chosen = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    metric = evidence.metric
    return PairedScores(
        observed=tie_exactly(oriented(metric, evidence.scores.observed())),
        in_bag=tie_exactly(oriented(metric, in_bag)),
        out_of_bag=tie_exactly(oriented(metric, left_out)),
        chosen=chosen,
        winner=evidence.winner_column,
        factor=1.0 if evidence.is_hold_out else FOLD_FACTOR,
    )


@dataclass(frozen=True, eq=False)
class Difference(Record):
    """The difference of two configurations' performance, positive where the first is better.

    Attributes
    ----------
    first, second : str
        Names of the configurations.
    value : float
        Corrected for the picking of those that were not named beforehand.
    interval : Interval
        Percentiles of ``distribution``, for the difference of the two models fitted on all rows. Where all of it is
        one number (the two are right on the same rows), the bound for rows that happen to be alike, as of an
        estimate; NaN where the metric has no worst value.
    uncorrected : float
        The difference of their uncorrected scores.
    probability_better : float
        Share of the bootstraps in which the first is better, ties half.
    distribution : ndarray of shape (B,)
    """

    first: str
    second: str
    value: float
    interval: Interval
    uncorrected: float
    probability_better: float
    distribution: Floats

    _without = "distribution"
    _shown = (
        "difference=value interval uncorrected_difference=uncorrected"
        " probability_that_the_first_is_better=probability_better"
    )

    def __repr__(self) -> str:
        return f"Difference({self})"

    def __str__(self) -> str:
        sign, word = (-1, "worse") if self.value < 0 else (1, "better")
        low, high = sorted([sign * self.interval.low, sign * self.interval.high])
        return (
            f"{self.first} is {word} than {self.second} by {sign * self.value:.4g} "
            f"{replace(self.interval, low=low, high=high)} (uncorrected {sign * self.uncorrected:.4g}); "
            f"it is better with probability {self.probability_better:.3g}"
        )

    @property
    def _title(self) -> str:
        return f"{self.first} compared with {self.second}; above 0 the first is better"


def differences(scores: PairedScores, first: int, second: int, fixed: frozenset[int]) -> Floats:
    """(B,): score of the first less that of the second, in each bootstrap.

    A candidate in ``fixed`` was named before its scores were seen, and is compared itself. Any other was picked for
    its rank, so each bootstrap replaces it by the candidate of that rank on the drawn rows: the winner by the one
    that the rule selects, another by the one of the same rank among the rest. Both are scored on the rows left out.
    Where both are fixed nothing was picked, and the drawn rows score them, with the spread of K-fold scores.
    """
    if {first, second} <= fixed:
        return scores.spread[:, first] - scores.spread[:, second]
    usable = scores.usable
    players = [_players(scores, column, usable, column in fixed) for column in (first, second)]
    rows = np.flatnonzero(usable)
    difference = np.full(scores.n_bootstraps, np.nan)
    difference[usable] = scores.out_of_bag[rows, players[0]] - scores.out_of_bag[rows, players[1]]
    return difference


def _players(scores: PairedScores, column: int, usable: Booleans, fixed: bool) -> Indices:
    """The candidate that plays the part of ``column`` in each usable bootstrap."""
    chosen = scores.chosen[usable]
    if fixed:
        return np.full(len(chosen), column)
    if column == scores.winner:
        return chosen
    rank = int(np.flatnonzero(_ranked(scores.observed[None, :], np.array([scores.winner]))[0] == column)[0])
    return _ranked(scores.in_bag[usable], chosen)[:, rank]


def _ranked(values: Floats, first: Indices) -> Indices:
    """(L, C): columns of values (L, C) from best to worst, after the one that was chosen; NaN last."""
    keys = np.where(np.isnan(values), -np.inf, values)
    keys[np.arange(len(keys)), first] = np.inf
    order = np.argsort(-keys, axis=1, kind="stable")
    # A score of infinity ties with the mark of the chosen one, which must stand first all the same.
    wrong = np.flatnonzero(order[:, 0] != first)
    for lane in wrong:
        rest = order[lane][order[lane] != first[lane]]
        order[lane] = np.concatenate([[first[lane]], rest])
    return order


def probability_better(distribution: Floats) -> float:
    """Share of the differences above 0, those of exactly 0 half; NaN where none is defined."""
    defined = distribution[~np.isnan(distribution)]
    if not defined.size:
        return float("nan")
    return float(((defined > 0).sum() + 0.5 * (defined == 0).sum()) / defined.size)


MOST_POINTS_SHOWN = 10
"""About so many points a notebook shows."""


@dataclass(frozen=True, eq=False)
class OptimismCurve(Record):
    """Means over all ways to have tried c of the C configurations, in the metric's own direction and units.

    Attributes
    ----------
    n_configurations : ndarray of int
        The c of each point.
    uncorrected : ndarray
        The best score among c configurations, uncorrected.
    corrected : ndarray
        The score of the chosen one on rows that took no part in the choice.
    optimism : ndarray
        What choosing flattered, positive when flattering.
    """

    n_configurations: Indices
    uncorrected: Floats
    corrected: Floats
    optimism: Floats

    def __repr__(self) -> str:
        return (
            f"OptimismCurve({self.optimism[0]:.4g} at {self.n_configurations[0]} configurations to "
            f"{self.optimism[-1]:.4g} at {self.n_configurations[-1]})"
        )

    _shown = "configurations_tried=n_configurations uncorrected on_rows_left_out=corrected optimism"

    @property
    def _rows(self) -> list[Any]:
        return thinned(points(self, "n_configurations uncorrected corrected optimism"), MOST_POINTS_SHOWN)


def curve_points(n_candidates: int, most: int = 60) -> Indices:
    """1 .. C, thinned out evenly in ratio where there are many."""
    if n_candidates <= most:
        return np.arange(1, n_candidates + 1)
    return np.unique(np.rint(np.geomspace(1, n_candidates, most)).astype(np.intp))


def mean_best(choose_on: Floats, scored_on: Floats, sizes: Indices) -> Floats:
    """(sizes,): the mean over lanes and over all subsets of c columns of the score of the subset's best column.

    Of C columns from best to worst, the one at place r (from 1) is the best of a random subset of c with
    probability binom(C - r, c - 1) / binom(C, c): the mean over all subsets needs no subset drawn.

    Of both arrays (L, C) greater is better; ties go to the lower index; lanes with a NaN are left out.
    """
    whole = ~(np.isnan(choose_on) | np.isnan(scored_on)).any(axis=1)
    if not whole.any():
        return np.full(len(sizes), np.nan)
    order = np.argsort(-choose_on[whole], axis=1, kind="stable")
    by_place = np.take_along_axis(scored_on[whole], order, axis=1).mean(axis=0)
    with np.errstate(invalid="ignore"):  # a score of infinity, which some subsets do not have
        return np.array([_shares(len(by_place), int(size)) @ by_place for size in sizes])


def _shares(n_columns: int, size: int) -> Floats:
    """(C,): the probability that the column at each place is the best of a random subset."""
    below = n_columns - np.arange(1, n_columns + 1)
    possible = below >= size - 1
    logarithms = np.full(n_columns, -np.inf)
    logarithms[possible] = _log_binomial(below[possible], size - 1) - _log_binomial(n_columns, size)
    shares: Floats = np.exp(logarithms)
    return shares / shares.sum()


def _log_binomial(n: Any, k: int) -> Any:
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def optimism_curve(scores: PairedScores, sizes: Indices, sign: float, *, takes_control: bool) -> OptimismCurve:
    """The curve from the scores on all rows and in every bootstrap.

    - ``sign``: -1 for a loss.
    - ``takes_control``: whether few rows change a score without any choice. What they change of each configuration
      is then subtracted from its scores, so that the optimism of a single one is 0.
    """
    left_out = scores.out_of_bag - own_controls(scores) if takes_control else scores.out_of_bag
    uncorrected = mean_best(scores.observed[None, :], scores.observed[None, :], sizes)
    corrected = mean_best(scores.in_bag, left_out, sizes)
    return OptimismCurve(sizes, sign * uncorrected, sign * corrected, uncorrected - corrected)


def own_controls(scores: PairedScores) -> Floats:
    """(candidates,): the mean score of each on the rows left out less that on all rows; 0 where none is finite."""
    with np.errstate(invalid="ignore"):
        difference = scores.out_of_bag - scores.observed
    counted = np.isfinite(difference) & ~np.isnan(scores.in_bag)
    summed: Floats = np.where(counted, difference, 0.0).sum(axis=0)
    return summed / np.maximum(counted.sum(axis=0), 1)
