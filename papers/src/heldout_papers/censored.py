"""Times to an event that may be censored, and risks whose concordance with them is known.

The true risk u of a row is standard normal, and its time falls with it. A prediction is correlated ρ with u. The
time of censoring falls with another standard normal number, v, shifted so that a wanted share of rows has its
event first. Harrell's index counts pairs of which the earlier time is an event; what it tends to with many rows
depends on ρ and on that share alone, and is computed here by quadrature.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from heldout_papers.simulation import Floats

GRID = 240
"""Points of the quadrature over each of the two risks of a pair."""
REACH = 6.0
CORRELATIONS = np.sin(np.linspace(-np.pi / 2, np.pi / 2, 101))
"""Dense where the index changes fastest."""


def shift_of(events: float) -> float:
    """How much later censoring is than the event, in units of the risk, for a share of events."""
    return float(np.sqrt(2.0) * ndtri(events))


def limit_of_concordance(correlation: float, events: float) -> float:
    """What Harrell's index tends to for predictions with such a correlation.

    Of two rows with true risks u > w the first is earlier; it is counted if neither was censored before, which has
    probability Φ(u + shift)². Their predictions are in order with probability Φ(ρ (u - w) / √(2 (1 - ρ²))).

    Examples
    --------
    Without censoring it is 1/2 + arcsin(ρ) / π.

    >>> round(limit_of_concordance(0.5, 1 - 1e-12), 3), limit_of_concordance(0.0, 0.4)
    (0.667, 0.5)
    >>> limit_of_concordance(1.0, 0.4)
    1.0
    """
    if abs(correlation) == 1:
        return (1 + correlation) / 2
    risks = np.linspace(-REACH, REACH, GRID)
    density = np.exp(-0.5 * risks**2)
    counted = density * ndtr(risks + shift_of(events)) ** 2
    gap = risks[:, None] - risks[None, :]
    # A pair of two equal points of the grid is half before and half after.
    weights = counted[:, None] * density[None, :] * np.where(gap > 0, 1.0, np.where(gap == 0, 0.5, 0.0))
    in_order = ndtr(correlation * np.maximum(gap, 0.0) / np.sqrt(2 * (1 - correlation**2)))
    return float((weights * in_order).sum() / weights.sum())


@lru_cache(maxsize=8)
def _curve(events: float) -> Floats:
    return np.array([limit_of_concordance(float(one), events) for one in CORRELATIONS])


def correlations_of(concordance: Floats, events: float) -> Floats:
    """(C,): the correlations whose index tends to these concordances."""
    return np.asarray(np.interp(concordance, _curve(events), CORRELATIONS))


def censored_times(rng: np.random.Generator, n_rows: int, events: float) -> tuple[NDArray[np.void], Floats]:
    """Events and times (N,), and the true risks (N,)."""
    risk, other = rng.standard_normal(n_rows), rng.standard_normal(n_rows) - shift_of(events)
    target = np.empty(n_rows, dtype=[("event", bool), ("time", np.float64)])
    target["event"] = risk > other
    target["time"] = np.exp(-np.maximum(risk, other))
    return target, risk


def risks_of_concordance(rng: np.random.Generator, risk: Floats, concordance: Floats, events: float) -> Floats:
    """(N, C): predicted risks whose index tends to each of C concordances."""
    rho = correlations_of(concordance, events)
    noise: Floats = rng.standard_normal((len(risk), len(rho)))
    return rho * risk[:, None] + np.sqrt(1 - rho**2) * noise
