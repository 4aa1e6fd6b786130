"""Bootstrap draws: which rows are drawn, how often, and which are left out.

A draw depends on (seed, b, attempt) alone: Philox4x64-10 with key ``(seed, b)`` and counter ``(0, 0, attempt, 0)``
as ``numpy.random.Philox`` counts; raw word i gives the index ``floor(raw_i * n_units / 2**64)``. So any range of
bootstraps can be computed anywhere, in blocks of any size and by any number of threads, and a long run begins with
the bootstraps of a short one.

If the statistic is undefined on a draw (in the bag or out of it), the next attempt of the *same* bootstrap's stream
replaces it, which changes no other bootstrap.

Stratified draws take as many units from each stratum as it has. Stratum s has its own stream, with counter
``(0, 0, attempt + 2**32 s, 0)``, so that neither the size nor the redraws of a stratum change the draws of another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.dispatch import draw_units

MOST_ATTEMPTS = 1000

Counts: TypeAlias = NDArray[np.uint8]
Defined: TypeAlias = Callable[[Counts], NDArray[np.bool_]]
"""From counts (L, n) to (L,): whether the statistic is defined on the rows with a positive count."""


class UndefinedDrawsError(ValueError):
    """The statistic was undefined on all ``MOST_ATTEMPTS`` draws of a bootstrap."""

    def __init__(self, bootstrap: int) -> None:
        super().__init__(f"bootstrap {bootstrap} was undefined in {MOST_ATTEMPTS} attempts")
        self.bootstrap = bootstrap


@dataclass(frozen=True, eq=False)
class Draws:
    """The bootstraps of one estimate.

    Attributes
    ----------
    seed : int
        64 bits; the first word of every bootstrap's key.
    n_bootstraps : int
        B.
    unit_of_row : ndarray of shape (n,)
        The unit (the row itself, or its group) that is drawn whole, as codes 0 .. n_units - 1.
    defined_in_bag, defined_out_of_bag : callable
        From counts (L, n) to (L,): whether the statistics of the rows in the bag, and of the rows left out, are
        defined.
    stratum_of_unit : ndarray of shape (n_units,), optional
        Codes 0 .. S - 1 of the strata within which units are drawn; by default all units are one stratum.
    """

    seed: int
    n_bootstraps: int
    unit_of_row: NDArray[np.intp]
    defined_in_bag: Defined
    defined_out_of_bag: Defined
    stratum_of_unit: NDArray[np.intp] | None = None

    @property
    def n_units(self) -> int:
        return int(self.unit_of_row.max()) + 1 if self.unit_of_row.size else 0

    def block(self, first: int, last: int) -> tuple[Counts, int]:
        """Counts (last - first, n) of bootstraps ``first .. last - 1``, and how many redraws they took."""
        bootstraps = np.arange(first, last, dtype=np.uint64)
        counts = self._rows(bootstraps, attempt=0)
        pending = np.flatnonzero(~self._usable(counts))
        redraws = 0
        for attempt in range(1, MOST_ATTEMPTS):
            if not pending.size:
                break
            redraws += pending.size
            counts[pending] = self._rows(bootstraps[pending], attempt)
            pending = pending[~self._usable(counts[pending])]
        if pending.size:
            raise UndefinedDrawsError(int(bootstraps[pending[0]]))
        return counts, redraws

    def _rows(self, bootstraps: NDArray[np.uint64], attempt: int) -> Counts:
        units = self._units(bootstraps, attempt)
        if self.n_units == self.unit_of_row.size:
            return units
        return units[:, self.unit_of_row]

    def _units(self, bootstraps: NDArray[np.uint64], attempt: int) -> Counts:
        if self.stratum_of_unit is None:
            return draw_units(self.seed, bootstraps, attempt, self.n_units)
        counts = np.empty((len(bootstraps), self.n_units), dtype=np.uint8)
        for stratum in range(int(self.stratum_of_unit.max()) + 1):
            units = np.flatnonzero(self.stratum_of_unit == stratum)
            if units.size:
                counts[:, units] = draw_units(self.seed, bootstraps, attempt + (stratum << 32), units.size)
        return counts

    def _usable(self, counts: Counts) -> NDArray[np.bool_]:
        return self.defined_in_bag(counts) & self.defined_out_of_bag(out_of_bag(counts))


def always(counts: Counts) -> NDArray[np.bool_]:
    """(L,): every draw is accepted."""
    return np.ones(len(counts), dtype=bool)


def out_of_bag(counts: Counts) -> Counts:
    """Counts (L, n) of the rows left out: 1 for each row that was not drawn, 0 for the others."""
    return (counts == 0).astype(np.uint8)
