"""MABT: tilting that pays for the best of several finalists by what their bootstraps have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from heldout.estimates.intervals import order_statistic
from heldout.estimates.second_part import SecondPart
from heldout.estimates.tilting import Tilting, bootstraps, concluded, infeasible, tilt
from heldout.estimates.two_part import Bound, Tails, no_bound
from heldout.selection.ties import tie_exactly

Floats = NDArray[np.float64]


def highest_ranks(shares: Floats) -> Floats:
    """(B,): the greatest of the m ranks/(B + 1) of each bootstrap, ranked by columns (B, m), ties as the last.

    Examples
    --------
    >>> highest_ranks(np.array([[0.5, 0.9], [0.7, 0.9], [0.6, 0.8]])).tolist()
    [0.75, 0.75, 0.5]
    """
    ranks = [np.searchsorted(np.sort(column), column, side="right") for column in shares.T]
    return np.max(ranks, axis=0) / (len(shares) + 1)


@dataclass(frozen=True)
class MABT(Tilting):
    """Multiplicity-adjusted bootstrap tilting (Rink & Brannath 2022): a lower bound for the best of m finalists.

    All finalists are scored on the same B bootstraps. Each column becomes ranks/(B + 1) (ties the greatest), and M
    is the distribution of the row maxima: how high the highest of m correlated candidates ranks by chance. With
    the final's rows tilted by τ, p(τ) = 1 - M(F(t₀)), where F(t₀) is the tilted share of its bootstraps up to
    the observed t₀; the bound is the share under the τ with p(τ) = α. Finalists that agree cost little, where
    Šidák's correction counts all as strangers.

    M is a step function, so p(τ) ≤ α means that F(t₀) reaches the (1 - α) quantile of the row maxima. Where that is
    the highest rank itself, as with near-perfect finalists, whose bootstraps tie at 1, there is no such τ: NaN.
    """

    candidates: Literal["best"] | float = 0.1
    name: str = "mabt"
    sources: tuple[str, ...] = ("rink2022", "efron1981", "paraschakis2024")

    def _tail(self, tail: float, n_finalists: int) -> float:
        return tail  # M pays for the choice

    def _bound(self, second: SecondPart, tails: Tails) -> Bound:
        assert tails.below is not None, "unfit says so"
        drawn = bootstraps(second)
        shares, observed = tie_exactly(drawn.shares), tie_exactly(second.observed)[second.final]
        total = len(shares)
        needed = order_statistic(np.sort(highest_ranks(shares)), 1 - tails.below)
        if needed >= total / (total + 1):
            return no_bound(infeasible(second))
        exceeds = np.where(shares[:, second.final] > observed, 1.0, 0.0)
        found = tilt(drawn.influence, exceeds, 1 - needed)
        return concluded(second, found) if found else no_bound(infeasible(second))
