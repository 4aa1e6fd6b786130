"""One coefficient of a regression that is fitted on every column under every weighting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.reference import Floats, Weightings
from heldout.metrics.base import Sums


@dataclass(frozen=True, eq=False)
class FittedPart:
    """Intercept or slope of every column's fit, or its distance from a number; a ``Statistic``.

    Attributes
    ----------
    fits : Sums
        Of the coefficients, along the last axis.
    part : int
        Which of them.
    away_from : float, optional
    """

    fits: Sums
    part: int
    away_from: float | None = None

    def all(self, counts: Weightings) -> Floats:
        return self._value(self.fits.all(counts))

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        return self._value(self.fits.selected(counts, columns))

    def _value(self, fits: Floats) -> Floats:
        part: Floats = fits[..., self.part]
        return part if self.away_from is None else np.abs(part - self.away_from)
