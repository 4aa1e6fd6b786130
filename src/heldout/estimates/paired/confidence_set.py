"""The model confidence set: what a bootstrap cannot distinguish from the best (Hansen, Lunde and Nason 2011)."""

from dataclasses import dataclass

import numpy as np

from heldout._record import Record, TextTable
from heldout._types import Booleans, Floats, Indices
from heldout.estimates.paired.scores import PairedScores

MOST_SHOWN = 20
"""Configurations in a notebook's table; ``to_frame`` has them all."""


@dataclass(frozen=True, eq=False)
class ConfidenceSet(Record):
    """The configurations that the rows cannot distinguish from the best.

    Attributes
    ----------
    names : tuple of str
        Of the members, best score first.
    members : ndarray of bool, shape (C,)
    p_values : ndarray of shape (C,)
        For each configuration, of being among the best: below 1 - ``confidence_level`` it is left out. NaN for
        those that failed.
    confidence_level : float
    """

    names: tuple[str, ...]
    members: Booleans
    p_values: Floats
    confidence_level: float

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def __len__(self) -> int:
        return len(self.names)

    _without = "members"

    def __repr__(self) -> str:
        return f"ConfidenceSet({self})"

    def __str__(self) -> str:
        shown = ", ".join(self.names[:5]) + (f" and {len(self) - 5} more" if len(self) > 5 else "")
        return f"{self._sentence}: {shown}"

    @property
    def _sentence(self) -> str:
        return (
            f"{len(self)} of {len(self.members)} configurations cannot be distinguished from the best "
            f"(at {self.confidence_level:.0%})"
        )

    def tables(self) -> list[TextTable]:
        more = len(self) - MOST_SHOWN
        rest = [f"and {more} more: .names has all"] if more > 0 else []
        return [TextTable(self._sentence, notes=(*self.names[:MOST_SHOWN], *rest))]


def p_values(scores: PairedScores) -> Floats:
    r"""(candidates,): p-values of the model confidence set with the statistic T_R (Hansen, Lunde and Nason 2011).

    t_ij is by how much i falls short of j, over the bootstrap's standard error of that difference. The candidate
    with the largest t against another one leaves first, then the next among those left, and so on. A set is tested
    by its largest \|t_ij\| beside what the bootstrap gives for it when no candidate is worse than another: the
    bootstrapped differences less the observed ones. A candidate's p-value is the largest met until it leaves.

    The order of leaving needs no bootstrap, so the bootstrapped maxima are built up backwards, a candidate at a
    time: B C^2 / 2 operations in place of B C^3.

    Bootstraps in which some candidate has no finite score are left out; candidates without a finite score on all
    rows leave at once, and have p = 0.
    """
    p = np.zeros(scores.n_candidates)
    scored = np.flatnonzero(np.isfinite(scores.observed))
    observed = scores.observed[scored]
    whole = np.isfinite(scores.in_bag[:, scored]).all(axis=1)
    centred = np.ascontiguousarray((scores.in_bag[np.ix_(whole, scored)] - observed).T)
    if not scored.size:
        return p
    shortfall = observed[None, :] - observed[:, None]
    spread = _spreads(centred)
    # Over their spread, differences of twins are 0, others without a spread infinite.
    with np.errstate(invalid="ignore", divide="ignore"):
        t = np.where(np.abs(shortfall) <= 1e-14, 0.0, shortfall / spread)
    leaving = _order_of_leaving(t)
    statistics = _largest_of_sets(t, leaving)
    with np.errstate(divide="ignore"):
        precision = np.where(spread > 0, 1 / spread, 0.0)
    imitated = np.zeros(centred.shape[1])
    reached = np.ones(len(scored))
    staying = leaving[-1:]
    for place in range(len(leaving) - 2, -1, -1):
        newcomer = leaving[place]
        moved = np.abs(centred[staying] - centred[newcomer]) * precision[newcomer, staying][:, None]
        imitated = np.maximum(imitated, moved.max(axis=0))
        if imitated.size:
            reached[place] = (imitated >= statistics[place] - 1e-12).mean()
        staying = np.append(staying, newcomer)
    p[scored[leaving]] = np.maximum.accumulate(reached)
    p[scored[leaving[-1]]] = 1.0
    return p


def _spreads(centred: Floats) -> Floats:
    """(C, C): the root of the mean square of the bootstrapped differences less the observed ones."""
    if not centred.shape[1]:
        return np.zeros((len(centred), len(centred)))
    product = centred @ centred.T / centred.shape[1]
    squares = np.diag(product)[:, None] + np.diag(product)[None, :] - 2 * product
    # Twins differ by rounding errors alone.
    return np.sqrt(np.where(squares > 1e-13 * np.maximum(np.diag(product)[:, None], 1e-300), squares, 0.0))


def _order_of_leaving(t: Floats) -> Indices:
    """The candidate with the largest t first; of equal ones the last."""
    remaining = np.arange(len(t))
    order = []
    while len(remaining) > 1:
        worst = t[np.ix_(remaining, remaining)].max(axis=1)
        place = len(worst) - 1 - int(worst[::-1].argmax())
        order.append(remaining[place])
        remaining = np.delete(remaining, place)
    return np.array([*order, *remaining], dtype=np.intp)


def _largest_of_sets(t: Floats, leaving: Indices) -> Floats:
    """(C,): the largest t among the candidates that are left when the one at each place leaves."""
    sorted_t = t[np.ix_(leaving, leaving)]
    largest = np.zeros(len(leaving))
    for place in range(len(leaving) - 2, -1, -1):
        pairs = max(sorted_t[place, place:].max(), sorted_t[place:, place].max())
        largest[place] = max(largest[place + 1], pairs)
    return largest
