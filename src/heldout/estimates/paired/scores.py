"""The scores of every configuration in every bootstrap, and the difference of two of them.

One walk over the bootstraps keeps, of each configuration, the score on the drawn rows and on those left out. Rows
are drawn once for all configurations, so that scores of the same bootstrap are paired. All paired questions are
answered from these scores.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._notebook import Strong, table
from heldout._types import Floats
from heldout.estimates.bootstrap import check_matrix_drawable, draws_of, map_draws
from heldout.estimates.evidence import Evidence
from heldout.estimates.types import Interval, json_number
from heldout.metrics.base import oriented
from heldout.selection.base import NONE_CHOSEN, tie_exactly
from heldout.selection.draws import out_of_bag

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
    chosen: NDArray[np.intp]
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
    def usable(self) -> NDArray[np.bool_]:
        """(B,): bootstraps in which a configuration could be chosen."""
        return self.chosen != NONE_CHOSEN


def paired_scores(evidence: Evidence) -> PairedScores:
    """Draw the bootstraps of ``heldout.estimate``, and score every candidate in each."""
    matrix = evidence.matrix
    assert matrix is not None, "a question about a user's predictions has them"
    check_matrix_drawable(evidence, matrix)
    draws = draws_of(matrix, evidence)

    def block(first: int, last: int) -> tuple[Floats, Floats, NDArray[np.intp]]:
        counts, _ = draws.block(first, last)
        left_out = out_of_bag(counts)
        return matrix.scores.all(counts), matrix.out_of_bag.all(left_out), matrix.replay.choose(counts)

    blocks = map_draws(block, matrix, evidence)
    in_bag, left_out, chosen = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    metric = evidence.metric
    return PairedScores(
        observed=tie_exactly(oriented(metric, matrix.scores.observed())),
        in_bag=tie_exactly(oriented(metric, in_bag)),
        out_of_bag=tie_exactly(oriented(metric, left_out)),
        chosen=chosen,
        winner=evidence.winner_column,
        factor=1.0 if evidence.n_splits == 1 else FOLD_FACTOR,
    )


@dataclass(frozen=True, eq=False)
class Difference:
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

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "first": self.first,
            "second": self.second,
            "value": json_number(self.value),
            "interval": self.interval.to_dict(),
            "uncorrected": json_number(self.uncorrected),
            "probability_better": json_number(self.probability_better),
        }

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

    def _repr_html_(self) -> str:
        rows = [
            ("difference", Strong(f"{self.value:.4g}")),
            ("interval", self.interval),
            ("uncorrected difference", f"{self.uncorrected:.4g}"),
            ("probability that the first is better", f"{self.probability_better:.3g}"),
        ]
        return table(rows, caption=f"{self.first} compared with {self.second}; above 0 the first is better")


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


def _players(scores: PairedScores, column: int, usable: NDArray[np.bool_], fixed: bool) -> NDArray[np.intp]:
    """The candidate that plays the part of ``column`` in each usable bootstrap."""
    chosen = scores.chosen[usable]
    if fixed:
        return np.full(len(chosen), column)
    if column == scores.winner:
        return chosen
    rank = int(np.flatnonzero(_ranked(scores.observed[None, :], np.array([scores.winner]))[0] == column)[0])
    return _ranked(scores.in_bag[usable], chosen)[:, rank]


def _ranked(values: Floats, first: NDArray[np.intp]) -> NDArray[np.intp]:
    """(L, C): columns of values (L, C) from best to worst, after the one that was chosen; NaN last."""
    known = np.where(np.isnan(values), -np.inf, values)
    known[np.arange(len(known)), first] = np.inf
    order = np.argsort(-known, axis=1, kind="stable")
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
