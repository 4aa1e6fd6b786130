"""The greatest distance of the logistic calibration curve from the diagonal, over all probabilities from 0 to 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from heldout._types import Floats, Weightings
from heldout.data.task import TaskKind, Truth
from heldout.kernels.dispatch import LogisticFits
from heldout.metrics.base import Metric, Needs, Response, Sums
from heldout.metrics.calibration import CalibrationIntercept, CalibrationSlope, clipped_odds, log_odds

PROBABILITIES = np.linspace(0.0, 1.0, 2001)[1:-1]
"""Where the curve is compared with the diagonal, .0005 apart as in R; at 0 and 1 the distance is 0."""


@dataclass(frozen=True)
class CalibrationEmax(Metric):
    """The greatest distance between a probability and what the logistic calibration makes of it.

    ``max over p of |p - expit(a + b logit(p))|``, a and b being the intercept and the slope of the logistic
    regression of the truth on the predicted log-odds. It covers all probabilities from 0 to 1, those that no row
    has included; ``emax`` covers those of the rows. NaN where a and b are.

    ``rms::validate`` in R computes its ``Emax`` from the corrected a and b, and so does ``ho.bootstrap_validate``:
    a distance of its own in every bootstrap would be above 0 by chance in each of them.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> given = np.array([[0.1], [0.3], [0.8], [0.4], [0.9]])
    >>> CalibrationEmax().statistic(truth_of([0, 0, 0, 1, 1]), given).all(np.ones((1, 5), dtype=np.uint8)).round(4)
    array([[0.2034]])
    """

    name = "calibration_emax"
    sources = ("cox1958", "harrell2015")
    title = "Emax of the logistic calibration"
    definition = "The greatest distance of any probability from what the logistic calibration makes of it."
    greater_is_better = False
    responses = (Response.PROBABILITIES,)
    tasks = frozenset({TaskKind.BINARY})
    range = (0.0, 1.0)
    needs = Needs.EVERY_CLASS
    undefined_without = Needs.EVERY_CLASS
    fits_to_its_rows = True
    parts: ClassVar[tuple[Metric, ...]] = (CalibrationIntercept(given_slope=False), CalibrationSlope())

    def clipped(self, truth: Truth, predictions: NDArray[Any]) -> NDArray[np.bool_]:
        return clipped_odds(truth, predictions)

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> GreatestDistance:
        positive = truth.values == truth.positive
        return GreatestDistance(LogisticFits(log_odds(self.name, predictions), positive, given_slope=False))

    def of_parts(self, values: Sequence[float]) -> float:
        """The distance that an intercept and a slope make."""
        return float(_greatest(np.array([values]))[0])


@dataclass(frozen=True, eq=False)
class GreatestDistance:
    """The greatest distance of every column's logistic curve from the diagonal; a ``Statistic``."""

    fits: Sums  # (..., 2): intercept and slope

    def all(self, counts: Weightings) -> Floats:
        fits = self.fits.all(counts)
        return np.stack([_greatest(fits[:, j]) for j in range(fits.shape[1])], axis=1)

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        return _greatest(self.fits.selected(counts, columns))


def _greatest(fits: Floats) -> Floats:
    """(L,): of intercepts and slopes (L, 2)."""
    curve = expit(fits[:, :1] + fits[:, 1:] * logit(PROBABILITIES))
    greatest: Floats = np.abs(PROBABILITIES - curve).max(axis=1)
    return greatest
