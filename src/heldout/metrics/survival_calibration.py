"""Calibration and explained variation of predicted risks: the coefficients of a Cox regression on them.

A predicted risk that is a log hazard (the linear predictor of a Cox model) should have the coefficient 1 in a Cox
regression of the target on it. The likelihood that it adds, relative to the most that could be added, is
Nagelkerke's R². Ties are Efron's, as in R's ``coxph`` and ``cph``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.data.task import Truth
from heldout.kernels.dispatch import total_weight
from heldout.kernels.reference import Floats, Weightings
from heldout.kernels.reference_cox import AT_ONE, AT_SLOPE, AT_ZERO, SLOPE, CoxFits
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


@dataclass(frozen=True, eq=False)
class CoxR2:
    """Nagelkerke's R² of the Cox regression on every column; a ``Statistic``.

    (1 - exp(-lr / n)) / (1 - exp(2 l₀ / n)): lr is twice what the risks add to the log-likelihood l₀ of equal
    hazards, n the number of rows. 0 of risks that are all equal; NaN where l₀ is 0. The likelihood of importance
    weights depends on their scale; they should average 1.
    """

    fits: CoxFits
    # whether the risks count times their slope (or ever steeper, where no finite slope fits best), or as they are
    recalibrated: bool = True

    def all(self, counts: Weightings) -> Floats:
        return self._value(self.fits.all(counts), total_weight(counts)[:, None])

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        return self._value(self.fits.selected(counts, columns), total_weight(counts))

    def _value(self, fits: Floats, n_rows: Floats) -> Floats:
        at_zero, reached = fits[..., AT_ZERO], fits[..., AT_SLOPE if self.recalibrated else AT_ONE]
        if self.recalibrated:
            reached = np.maximum(reached, at_zero)  # a fit of no use, rounded
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            most = -np.expm1(2.0 * at_zero / n_rows)
            share: Floats = -np.expm1(-2.0 * (reached - at_zero) / n_rows) / np.where(most > 0, most, np.nan)
        return np.minimum(share, 1.0)


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


def cox_r2(truth: Truth, risks: NDArray[Any], recalibrated: bool = True) -> CoxR2:
    """Bind risks (n, C): recalibrated, the ``R2`` of ``rms::validate.cph`` in R.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> truth = truth_of([(True, 1), (True, 2), (True, 3), (False, 4)], "survival")
    >>> once = np.ones((1, 4), dtype=np.uint8)
    >>> cox_r2(truth, np.array([[2.0, 1.0], [0.0, 1.0], [2.0, 1.0], [0.0, 1.0]])).all(once).round(4)
    array([[0.1794, 0.    ]])
    """
    return CoxR2(_fits(truth, risks), recalibrated)


def _fits(truth: Truth, risks: NDArray[Any]) -> CoxFits:
    return CoxFits(np.asarray(risks, dtype=np.float64), truth.values["event"], truth.values["time"])
