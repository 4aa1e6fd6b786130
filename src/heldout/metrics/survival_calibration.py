"""Calibration of predicted risks: the coefficient of a Cox regression on them.

A predicted risk that is a log hazard (the linear predictor of a Cox model) should have the coefficient 1 in a Cox
regression of the target on it. Ties are Efron's, as in R's ``coxph`` and ``cph``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats, Weightings
from heldout.data.task import Truth
from heldout.kernels.reference_cox import SLOPE, CoxFits
from heldout.metrics.base import Sums


@dataclass(frozen=True, eq=False)
class FittedPart:
    """Intercept or slope of every column's fit, or its distance from a number; a ``Statistic``."""

    fits: Sums  # of the coefficients, along the last axis
    part: int  # which of them
    away_from: float | None = None

    def all(self, counts: Weightings) -> Floats:
        return self._value(self.fits.all(counts))

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        return self._value(self.fits.selected(counts, columns))

    def _value(self, fits: Floats) -> Floats:
        part: Floats = fits[..., self.part]
        return part if self.away_from is None else np.abs(part - self.away_from)


def cox_slope(truth: Truth, risks: NDArray[Any]) -> FittedPart:
    """Bind risks (n, C): the calibration slope of ``rms::validate.cph`` in R.

    NaN where no finite slope fits best: no event outlasted, risks that are all equal, or that are always greatest
    (always least) of those at risk.

    It means something of log hazards only. The risks of scikit-survival's forests are numbers of expected events,
    and those of a concordance are any ranking: the slope of such a risk is a matter of its units.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> truth = truth_of([(True, 1), (True, 2), (True, 3), (False, 4)], "survival")
    >>> once = np.ones((1, 4), dtype=np.uint8)
    >>> cox_slope(truth, np.array([[2.0], [0.0], [2.0], [0.0]])).all(once).round(4)
    array([[0.4703]])
    """
    return FittedPart(_fits(truth, risks), SLOPE)


def cox_slope_error(truth: Truth, risks: NDArray[Any]) -> FittedPart:
    """Bind risks (n, C): the distance of the calibration slope from 1."""
    return FittedPart(_fits(truth, risks), SLOPE, away_from=1.0)


def _fits(truth: Truth, risks: NDArray[Any]) -> CoxFits:
    return CoxFits(np.asarray(risks, dtype=np.float64), truth.values["event"], truth.values["time"])
