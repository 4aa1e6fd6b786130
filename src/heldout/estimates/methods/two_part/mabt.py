"""MABT: tilting that pays for the best of several finalists by what their bootstraps have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from heldout.estimates.intervals import order_statistic
from heldout.estimates.methods.two_part.second_part import SecondPart
from heldout.estimates.methods.two_part.template import Bound, Tails, no_bound
from heldout.estimates.methods.two_part.tilting import Tilting, bootstraps, concluded, infeasible, instead_of, tilt
from heldout.kernels.reference import Floats
from heldout.selection.ties import tie_exactly
from heldout.wording import Flag


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

    M is a step function, so that p(τ) may pass α in a step; the conservative side is taken, on which F(t₀)
    reaches the (1 - α) quantile of the row maxima. Where more than α of the bootstraps tie for the highest rank, as
    with near-perfect finalists whose bootstraps are often perfect, p(τ) steps over α to 0: the bound is more
    conservative than its level there, and flagged. Where no τ will do (the final is perfect) there is no bound:
    NaN. A single finalist has nothing to pay for, and is tilted as by ``Tilting``.
    """

    candidates: Literal["best"] | float = 0.1
    name: str = "mabt"
    sources: tuple[str, ...] = ("rink2022", "efron1981", "paraschakis2024")

    def _tail(self, tail: float, n_finalists: int) -> float:
        return tail  # M pays for the choice

    def _bound(self, second: SecondPart, tails: Tails) -> Bound:
        assert tails.below is not None, "unfit says so"
        if second.n_finalists == 1:
            return super()._bound(second, tails)
        drawn = bootstraps(second)
        shares, observed = tie_exactly(drawn.shares), tie_exactly(second.observed)[second.final]
        total = len(shares)
        highest = np.sort(highest_ranks(shares))
        needed = order_statistic(highest, 1 - tails.below)
        exceeds = np.where(shares[:, second.final] > observed, 1.0, 0.0)
        found = tilt(drawn.influence, exceeds, 1 - needed)
        if found is None:
            return no_bound(infeasible(second))
        bound = concluded(second, found)
        if needed < total / (total + 1):
            return bound
        tied = Flag.TIED_FINALISTS.filled(share=float(np.mean(highest == needed)), instead=instead_of(second))
        return bound._replace(flags={**bound.flags, Flag.TIED_FINALISTS: tied})
