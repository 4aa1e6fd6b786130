"""How optimism grows with the number of configurations tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from heldout._notebook import Strong, table
from heldout._types import Floats
from heldout.estimates.paired.scores import PairedScores

MOST_SHOWN = 10
"""About so many points a notebook shows."""


@dataclass(frozen=True, eq=False)
class OptimismCurve:
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

    n_configurations: NDArray[np.intp]
    uncorrected: Floats
    corrected: Floats
    optimism: Floats

    def __repr__(self) -> str:
        return (
            f"OptimismCurve({self.optimism[0]:.4g} at {self.n_configurations[0]} configurations to "
            f"{self.optimism[-1]:.4g} at {self.n_configurations[-1]})"
        )

    def _repr_html_(self) -> str:
        last = len(self.optimism) - 1
        shown = sorted({*range(0, last, last // MOST_SHOWN + 1), last})
        columns = (self.n_configurations, self.uncorrected, self.corrected, self.optimism)
        rows = [
            (tried, f"{best:.4g}", f"{chosen:.4g}", Strong(f"{flattery:.4g}"))
            for tried, best, chosen, flattery in zip(*(column[shown] for column in columns), strict=True)
        ]
        return table(rows, head=("configurations tried", "uncorrected", "on rows left out", "optimism"))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "n_configurations": self.n_configurations.tolist(),
            "uncorrected": self.uncorrected.tolist(),
            "corrected": self.corrected.tolist(),
            "optimism": self.optimism.tolist(),
        }


def curve_points(n_candidates: int, most: int = 60) -> NDArray[np.intp]:
    """1 .. C, thinned out evenly in ratio where there are many."""
    if n_candidates <= most:
        return np.arange(1, n_candidates + 1)
    return np.unique(np.rint(np.geomspace(1, n_candidates, most)).astype(np.intp))


def mean_best(choose_on: Floats, scored_on: Floats, sizes: NDArray[np.intp]) -> Floats:
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


def optimism_curve(
    scores: PairedScores, sizes: NDArray[np.intp], sign: float, *, takes_control: bool
) -> OptimismCurve:
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
