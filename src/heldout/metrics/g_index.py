"""The g-index: how far apart the predictions of two rows are on average, after calibration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from heldout._types import Floats, Weightings
from heldout.data.task import TaskKind, Truth
from heldout.kernels.dispatch import LogisticFits, total_weight
from heldout.kernels.reference import sum_in_order
from heldout.kernels.reference_calibration import LineFits
from heldout.kernels.reference_cox import SLOPE, CoxFits
from heldout.metrics.base import Needs, Response, Sums
from heldout.metrics.by_kind import ByKind, OfKind
from heldout.metrics.calibration import clipped_odds, log_odds
from heldout.metrics.parameters import check_among, name_with

Scale: TypeAlias = Literal["linear", "probability"]


@dataclass(frozen=True)
class GIndex(ByKind):
    """Gini's mean difference of the calibrated linear predictor: the mean distance between two rows.

    The linear predictor is the log-odds of probabilities, the log hazard, or the predicted number, times its
    calibration slope; so g is measured in log-odds, in log hazards or in units of the target. Of a model without a
    penalty on its own rows the slope is 1, and g is that of R's ``lrm``, ``cph`` and ``ols``. A pair of copies of
    one row has distance 0 and counts.

    Attributes
    ----------
    scale : "linear" or "probability"
        On the scale of probabilities (of two classes only) the mean distance of the recalibrated probabilities, by
        intercept and slope: ``gp`` of R's ``rms``.

    Notes
    -----
    NaN where no finite slope fits best, and with less than two rows; 0 if all predictions are equal. The weight of
    all rows counts as their number, so let importance weights average 1.

    Examples
    --------
    Distances of 1, 2 and 1 between three numbers, and the slope is 1/2:

    >>> from heldout.data.task import truth_of
    >>> bound = GIndex().statistic(truth_of([1.5, 2.0, 2.5]), np.array([[1.0], [2.0], [3.0]]))
    >>> bound.all(np.ones((1, 3), dtype=np.uint8)).round(4)
    array([[0.6667]])
    """

    scale: Scale = "linear"
    sources = ("harrell2015",)
    title = "g-index"
    definition = "The mean distance of the calibrated predictions of two rows."
    greater_is_better = True
    range = (0.0, np.inf)
    fits_to_its_rows = True

    def __post_init__(self) -> None:
        check_among("scale", self.scale, get_args(Scale))

    @property
    def name(self) -> str:
        return name_with("g_index", self, "scale")

    def clipped(self, truth: Truth, predictions: NDArray[Any]) -> NDArray[np.bool_]:
        return clipped_odds(truth, predictions)

    def of_kinds(self) -> Mapping[TaskKind, OfKind]:
        binary = {TaskKind.BINARY: OfKind((Response.PROBABILITIES,), Needs.EVERY_CLASS, self._of_probabilities)}
        if self.scale == "probability":
            return binary
        return {
            **binary,
            TaskKind.REGRESSION: OfKind((Response.VALUES,), Needs.TWO_ROWS, _of_numbers),
            TaskKind.SURVIVAL: OfKind((Response.RISK,), Needs.PAIR, _of_risks),
        }

    def _of_probabilities(self, truth: Truth, predictions: NDArray[Any]) -> MeanDifference:
        odds = log_odds(self.name, predictions)
        fits = LogisticFits(odds, truth.values == truth.positive, given_slope=False)
        return MeanDifference(odds, fits, _on_line if self.scale == "linear" else _as_probability)


class MeanDifference:
    """Gini's mean difference of every column, calibrated by its fit; a ``Statistic``.

    Parameters
    ----------
    values : ndarray of shape (n, C)
    fits : Sums
        The coefficients of each column's regression, along the last axis.
    calibrated : callable
        From values (L, n) and their fits (L, n_coefficients) to calibrated values (L, n), in the order of the
        values or in the opposite one.
    """

    def __init__(self, values: Floats, fits: Sums, calibrated: Callable[[Floats, Floats], Floats]) -> None:
        self._values, self._fits, self._calibrated = values, fits, calibrated

    def all(self, counts: Weightings) -> Floats:
        fits = self._fits.all(counts)
        columns = [
            self._of(counts, np.broadcast_to(x, counts.shape), fits[:, j]) for j, x in enumerate(self._values.T)
        ]
        return np.stack(columns, axis=1)

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        return self._of(counts, self._values.T[columns], self._fits.selected(counts, columns))

    def _of(self, counts: Weightings, values: Floats, fits: Floats) -> Floats:
        """(L,)."""
        order = np.argsort(values, axis=1, kind="stable")
        values = np.take_along_axis(values, order, axis=1)
        below = np.cumsum(np.take_along_axis(counts, order, axis=1), axis=1, dtype=np.float64)[:, :-1]
        total = total_weight(counts)
        # Two rows are as far apart as the gaps between them add up to.
        pairs = below * np.maximum(total[:, None] - below, 0.0)
        gaps = np.abs(np.diff(self._calibrated(values, fits), axis=1))
        with np.errstate(invalid="ignore", divide="ignore"):
            mean: Floats = sum_in_order(pairs * gaps) / np.where(total > 1, total * (total - 1) / 2, np.nan)
        alike = (total > 1) & (sum_in_order(pairs * np.diff(values, axis=1)) == 0)
        return np.where(alike, 0.0, mean)


def _on_line(values: Floats, fits: Floats) -> Floats:
    return fits[:, 1:2] * values


def _as_probability(values: Floats, fits: Floats) -> Floats:
    probabilities: Floats = expit(fits[:, :1] + fits[:, 1:2] * values)
    return probabilities


def _as_log_hazard(values: Floats, fits: Floats) -> Floats:
    return fits[:, SLOPE : SLOPE + 1] * values


def _of_numbers(truth: Truth, predictions: NDArray[Any]) -> MeanDifference:
    numbers = np.asarray(predictions, dtype=np.float64)
    return MeanDifference(numbers, LineFits(numbers, truth.values, given_slope=False), _on_line)


def _of_risks(truth: Truth, predictions: NDArray[Any]) -> MeanDifference:
    risks = np.asarray(predictions, dtype=np.float64)
    return MeanDifference(risks, CoxFits(risks, truth.values["event"], truth.values["time"]), _as_log_hazard)
