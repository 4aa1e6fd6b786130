"""MABT: tilting that corrects for selecting among several finalists, as far as their bootstraps differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import bdtr

from heldout._types import Floats
from heldout.estimates.base import MethodWords
from heldout.estimates.intervals import order_statistic
from heldout.estimates.methods.two_part import tilting
from heldout.estimates.methods.two_part.areas import NO_SPREAD
from heldout.estimates.methods.two_part.binomial import strict_bound
from heldout.estimates.methods.two_part.parts import Bound, SecondPart, Tails, no_bound
from heldout.flags import Flag
from heldout.selection.base import tie_exactly


def highest_ranks(shares: Floats) -> Floats:
    """(B,): the greatest of the m ranks/(B + 1) of each bootstrap, ranked by columns (B, m), ties as the last.

    Examples
    --------
    >>> highest_ranks(np.array([[0.5, 0.9], [0.7, 0.9], [0.6, 0.8]])).tolist()
    [0.75, 0.75, 0.5]
    """
    ranks = [np.searchsorted(np.sort(column), column, side="right") for column in shares.T]
    return np.max(ranks, axis=0) / (len(shares) + 1)


def highest_of_counts(second: SecondPart, shares: Floats) -> Floats:
    """(B,): the same of shares that are counts of rows, whose ranks among ever more bootstraps are a binomial's."""
    counts = np.rint(shares * second.n_rows)
    ranks = bdtr(counts, second.n_rows, second.observed)
    return np.minimum(ranks.max(axis=1), len(shares) / (len(shares) + 1))


@dataclass(frozen=True)
class MABT(tilting.Tilting):
    """Multiplicity-adjusted bootstrap tilting (Rink & Brannath 2022): a lower bound for the best of m finalists.

    All finalists are scored on the same B bootstraps. Each column becomes ranks/(B + 1) (ties get the greatest
    rank), and M is the distribution of the row maxima: how high the highest of m correlated candidates ranks by
    chance. The *final* is the best finalist on the second part. With its rows tilted by τ, p(τ) = 1 - M(F(t₀)),
    where F(t₀) is the tilted share of its bootstraps up to the observed t₀; the bound is the share under the τ with
    p(τ) = α. Finalists that agree cost little; Šidák's correction treats all as independent.

    M is a step function, so that p(τ) may jump over α; the bound is on the conservative side, where F(t₀) reaches
    the (1 - α) quantile of the row maxima. If more than α of the bootstraps tie for the highest rank, as with
    near-perfect finalists whose bootstraps are often perfect, p(τ) jumps over α to 0: the bound is then more
    conservative than its level, and flagged. If no τ solves it (the final is perfect) there is no bound: NaN. A
    single finalist needs no correction, and the bound is that of ``Tilting``.

    For an accuracy, F(t₀) and the ranks are those of binomials, and only the dependence between finalists is drawn.
    By default the finalists are the best tenth of the candidates on the first part of the rows.

    Examples
    --------
    >>> import numpy as np, heldout as ho
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> scores = rng.normal(size=(200, 50)) + y[:, None]  # 50 configurations with an area of .76
    >>> found = ho.estimate(y, scores, metric="roc_auc", method="mabt", alternative="greater", random_state=0)
    >>> found.uncorrected > 0.76, 0.6 < found.interval.low < 0.76
    (True, False)
    """

    candidates: Literal["best"] | float = 0.1
    name = "mabt"
    sources = ("rink2022", "efron1981", "paraschakis2024")  # type: ignore[assignment]  # three, not four
    words = MethodWords(
        "Two parts, tilting adjusted for finalists",
        "sample splitting with adjusted bootstrap tilting",
        (
            "The confidence bound was the worst true score that bootstrap tilting, adjusted for the choice among "
            "correlated finalists, did not reject."
        ),
    )

    def _tail(self, tail: float, n_finalists: int) -> float:
        return tail  # M corrects for the choice

    def _bound(self, second: SecondPart, tails: Tails) -> Bound:
        assert tails.below is not None, "unfit says so"
        if second.n_finalists == 1:
            return super()._bound(second, tails)
        if float(np.ptp(tilting.influences(second))) < NO_SPREAD:
            return no_bound(tilting.infeasible(second))
        drawn = tilting.bootstraps(second)
        shares, total = tie_exactly(drawn.shares), len(drawn.shares)
        highest = np.sort(highest_of_counts(second, shares) if second.counted else highest_ranks(shares))
        needed = order_statistic(highest, 1 - tails.below)
        bound = _with_chance_above(1 - needed, second, drawn)
        if bound is None:
            return no_bound(tilting.infeasible(second))
        if needed < total / (total + 1):
            return bound
        tied = Flag.TIED_FINALISTS.filled(
            share=float(np.mean(highest == needed)), instead=tilting.instead_of(second)
        )
        return bound._replace(flags={**bound.flags, Flag.TIED_FINALISTS: tied})


def _with_chance_above(chance: float, second: SecondPart, drawn: tilting.Bootstraps) -> Bound | None:
    """The share under the tilt with which a bootstrap's is above the observed one with that chance."""
    if second.counted:
        return Bound(strict_bound(second.n_right, second.n_rows, chance), 1.0)
    shares, observed = tie_exactly(drawn.shares[:, second.final]), tie_exactly(second.observed)[second.final]
    found = tilting.tilt(
        drawn.influence, (shares > observed).astype(np.float64), chance, tilting.influences_by_stratum(second)
    )
    return tilting.concluded(second, found) if found else None
