"""Metrics of calibration: whether probabilities are as often right as they say.

The expected calibration error compares them with what happened, bin by bin. Slope and intercept are those of the
logistic regression of the truth on the log-odds that were predicted (Cox 1958), of predicted numbers those of the
least-squares line, and predicted log hazards have the slope of Cox's regression: of predictions that mean what they
say they are 1 and 0. A slope below 1 says that predictions are too extreme, an intercept above 0 that they are too
low.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats, Weightings
from heldout.data.checks import check_count
from heldout.data.task import TaskKind, Truth
from heldout.kernels.dispatch import BinnedGaps, LogisticFits, total_weight
from heldout.kernels.reference_calibration import LineFits
from heldout.kernels.reference_cox import SLOPE, CoxFits
from heldout.metrics.base import Metric, Needs, Response, Sums
from heldout.metrics.by_kind import ByKind, OfKind
from heldout.metrics.parameters import check_among, checked_probabilities, name_with
from heldout.metrics.row_losses import most_drawn


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


_PROBABILITIES = (Response.PROBABILITIES,)


@dataclass(frozen=True)
class ExpectedCalibrationError(Metric):
    """The mean distance, over bins and by their weight, of the mean probability from the share that came true.

    Of a binary task: of the positive class's probability. Of several classes: of the greatest probability, which
    should be as large as the share of rows whose predicted class is right (Guo et al. 2017, eq. 3).

    The bins are fixed before anything is weighed or drawn, and hold what is above their lower edge and at most
    their upper one, as those of scikit-learn's ``calibration_curve``. The error of perfectly calibrated
    probabilities is above 0, as each bin's share is a chance result: the more so, the fewer the rows.

    Attributes
    ----------
    n_bins : int
    strategy : "uniform" or "quantile"
        Bins of equal width on [0, 1], or between the quantiles of each configuration's own probabilities on the
        rows (weighted equally).

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> given = np.array([[0.2], [0.2], [0.9], [0.9]])
    >>> bound = ExpectedCalibrationError().statistic(truth_of([0, 1, 1, 1]), given)
    >>> bound.all(np.ones((1, 4), dtype=np.uint8)).round(3)
    array([[0.2]])
    """

    n_bins: int = 10
    strategy: Literal["uniform", "quantile"] = "uniform"
    sources = ("guo2017",)
    title = "Expected calibration error"
    definition = "The mean distance of predicted probabilities, in bins, from how often they came true."
    greater_is_better = False
    responses = _PROBABILITIES
    tasks = frozenset({TaskKind.BINARY, TaskKind.MULTICLASS})
    range = (0.0, 1.0)

    def __post_init__(self) -> None:
        check_count("n_bins", self.n_bins, usual="10 is usual")
        check_among("strategy", self.strategy, ("uniform", "quantile"))

    @property
    def name(self) -> str:
        return name_with("expected_calibration_error", self, "n_bins", "strategy")

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> MeanGap:
        given = checked_probabilities(self.name, predictions)
        if truth.kind is TaskKind.BINARY:
            true = (truth.values == truth.positive)[:, None]
        else:
            true = given.argmax(axis=2) == truth.values[:, None]
            given = given.max(axis=2)
        bins = np.zeros(given.shape, dtype=np.int32)
        for edge in self._edges(given):
            bins += given > edge
        return MeanGap(BinnedGaps(true - given, bins, self.n_bins, most_drawn(truth.n_rows)))

    def _edges(self, given: Floats) -> Floats:
        """(n_bins - 1,) or (n_bins - 1, C): between the bins, ascending."""
        inner = np.linspace(0.0, 1.0, self.n_bins + 1)[1:-1]
        if self.strategy == "uniform":
            return inner
        # In per cent, as scikit-learn does: an edge may be a row's own number, and rounding decides its bin.
        return np.percentile(given, 100 * inner, axis=0)


@dataclass(frozen=True, eq=False)
class MeanGap:
    """The expected calibration error of every column; a ``Statistic``."""

    gaps: Sums

    def all(self, counts: Weightings) -> Floats:
        with np.errstate(invalid="ignore"):
            mean: Floats = self.gaps.all(counts) / total_weight(counts)[:, None]
        return np.minimum(mean, 1.0)  # bins of real weights add up in another order than all rows

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        with np.errstate(invalid="ignore"):
            mean: Floats = self.gaps.selected(counts, columns) / total_weight(counts)
        return np.minimum(mean, 1.0)


def clipped_odds(truth: Truth, predictions: NDArray[Any]) -> NDArray[np.bool_]:
    """(n, C): where a probability is so near 0 or 1 that clipping sets its log-odds; never of other predictions."""
    if truth.kind is not TaskKind.BINARY:
        return np.zeros(predictions.shape[:2], dtype=bool)
    eps = np.finfo(np.float64).eps
    beyond: NDArray[np.bool_] = (predictions < eps) | (predictions > 1 - eps)
    return beyond


@dataclass(frozen=True)
class CalibrationSlope(ByKind):
    """The slope of the regression of the truth on what was predicted: 1 is ideal.

    Of probabilities it is that of the logistic regression on the predicted log-odds (Cox 1958), of numbers that of
    the least-squares line, and of risks that of Cox's regression, which means something if they are log hazards.
    Below 1 the predictions are too extreme, as those of an overfitted model are; above 1 they are too moderate.
    Neither direction is better, so it describes a configuration and chooses none: ``greater_is_better`` only says
    that what selection adds to it counts as optimism. To choose, take ``calibration_slope_error``.

    Probabilities are clipped to [eps, 1 - eps] of float64, about 2.2e-16, as for log loss. NaN where no finite
    slope fits best: one class only, or some probability that separates the two, or one prediction for all rows.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> given = np.array([[0.1], [0.3], [0.8], [0.4], [0.9]])
    >>> bound = CalibrationSlope().statistic(truth_of([0, 0, 0, 1, 1]), given)
    >>> bound.all(np.ones((1, 5), dtype=np.uint8)).round(4)
    array([[0.6597]])
    >>> bound = CalibrationSlope().statistic(truth_of([1.5, 2.0, 2.5]), np.array([[1.0], [2.0], [3.0]]))
    >>> bound.all(np.ones((1, 3), dtype=np.uint8))
    array([[0.5]])
    """

    name = "calibration_slope"
    sources = ("cox1958",)
    ideal = 1.0
    title = "Calibration slope"
    definition = (
        "How the log-odds of the positive class rise with those predicted: below 1 predictions are too extreme."
    )
    greater_is_better = True
    range = (-np.inf, np.inf)

    def clipped(self, truth: Truth, predictions: NDArray[Any]) -> NDArray[np.bool_]:
        return clipped_odds(truth, predictions)

    def of_kinds(self) -> Mapping[TaskKind, OfKind]:
        of_risks = OfKind((Response.RISK,), Needs.PAIR, cox_slope)
        return {**_fits_of_kinds(self.name, _SLOPE, given_slope=False), TaskKind.SURVIVAL: of_risks}


@dataclass(frozen=True)
class CalibrationIntercept(ByKind):
    """The intercept of that regression, by default with the slope held at 1: 0 is ideal.

    With the slope given it is *calibration in the large*: by how much the log-odds of all rows should be raised for
    the mean probability to be right, or numbers for their mean to be; positive where predictions are too low on
    average. With ``given_slope=False`` it is the intercept of the joint fit, whose slope is ``calibration_slope``:
    the log-odds of rows that were given .5 (the ``Intercept`` of ``rms::val.prob`` in R), or the mean of rows for
    which 0 was predicted.

    It is of the positive class; no direction is better, so it chooses no configuration. Probabilities are clipped
    as for the slope.

    Attributes
    ----------
    given_slope : bool

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> given = np.array([[0.5], [0.5], [0.5], [0.5]])
    >>> bound = CalibrationIntercept().statistic(truth_of([0, 1, 1, 1]), given)
    >>> bound.all(np.ones((1, 4), dtype=np.uint8)).round(4)  # log(3)
    array([[1.0986]])
    """

    given_slope: bool = True
    sources = ("cox1958",)
    ideal = 0.0
    title = "Calibration intercept"
    definition = "By how much predicted log-odds are too low on average: below 0 they are too high."
    greater_is_better = True
    range = (-np.inf, np.inf)

    def __post_init__(self) -> None:
        check_among("given_slope", self.given_slope, (True, False))

    @property
    def name(self) -> str:
        return name_with("calibration_intercept", self, "given_slope")

    def clipped(self, truth: Truth, predictions: NDArray[Any]) -> NDArray[np.bool_]:
        return clipped_odds(truth, predictions)

    def of_kinds(self) -> Mapping[TaskKind, OfKind]:
        return _fits_of_kinds(self.name, _INTERCEPT, self.given_slope)


@dataclass(frozen=True)
class CalibrationSlopeError(ByKind):
    """The distance of the calibration slope from 1: a loss, so that it can choose among configurations.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> given = np.array([[0.1], [0.3], [0.8], [0.4], [0.9]])
    >>> bound = CalibrationSlopeError().statistic(truth_of([0, 0, 0, 1, 1]), given)
    >>> bound.all(np.ones((1, 5), dtype=np.uint8)).round(4)
    array([[0.3403]])
    """

    name = "calibration_slope_error"
    sources = ("cox1958",)
    title = "Calibration slope error"
    definition = "The distance of the calibration slope from 1."
    greater_is_better = False
    range = (0.0, np.inf)

    def clipped(self, truth: Truth, predictions: NDArray[Any]) -> NDArray[np.bool_]:
        return clipped_odds(truth, predictions)

    def of_kinds(self) -> Mapping[TaskKind, OfKind]:
        of_risks = OfKind((Response.RISK,), Needs.PAIR, cox_slope_error)
        fits = _fits_of_kinds(self.name, _SLOPE, given_slope=False, away_from=1.0)
        return {**fits, TaskKind.SURVIVAL: of_risks}


@dataclass(frozen=True)
class CalibrationInterceptError(ByKind):
    """The distance of the calibration intercept from 0: a loss, so that it can choose among configurations.

    Attributes
    ----------
    given_slope : bool
        As for ``CalibrationIntercept``.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> given = np.array([[0.1], [0.3], [0.8], [0.4], [0.9]])
    >>> bound = CalibrationInterceptError().statistic(truth_of([0, 0, 0, 1, 1]), given)
    >>> bound.all(np.ones((1, 5), dtype=np.uint8)).round(4)
    array([[0.6454]])
    """

    given_slope: bool = True
    sources = ("cox1958",)
    title = "Calibration intercept error"
    definition = "The distance of the calibration intercept from 0."
    greater_is_better = False
    range = (0.0, np.inf)

    def __post_init__(self) -> None:
        check_among("given_slope", self.given_slope, (True, False))

    @property
    def name(self) -> str:
        return name_with("calibration_intercept_error", self, "given_slope")

    def clipped(self, truth: Truth, predictions: NDArray[Any]) -> NDArray[np.bool_]:
        return clipped_odds(truth, predictions)

    def of_kinds(self) -> Mapping[TaskKind, OfKind]:
        return _fits_of_kinds(self.name, _INTERCEPT, self.given_slope, away_from=0.0)


_INTERCEPT, _SLOPE = 0, 1


def _fits_of_kinds(
    name: str, part: int, given_slope: bool, away_from: float | None = None
) -> Mapping[TaskKind, OfKind]:
    """Intercept or slope of the regression that each kind of task has, or its distance from a number."""

    def of_log_odds(truth: Truth, predictions: NDArray[Any]) -> FittedPart:
        positive = truth.values == truth.positive
        return FittedPart(LogisticFits(log_odds(name, predictions), positive, given_slope), part, away_from)

    def of_numbers(truth: Truth, predictions: NDArray[Any]) -> FittedPart:
        numbers = np.asarray(predictions, dtype=np.float64)
        return FittedPart(LineFits(numbers, truth.values, given_slope), part, away_from)

    return {
        TaskKind.BINARY: OfKind(_PROBABILITIES, Needs.EVERY_CLASS, of_log_odds),
        TaskKind.REGRESSION: OfKind((Response.VALUES,), Needs.ROW if given_slope else Needs.TWO_ROWS, of_numbers),
    }


def log_odds(name: str, predictions: NDArray[Any]) -> Floats:
    """Of probabilities clipped to [eps, 1 - eps]; InputError, naming the metric, where they are none."""
    eps = np.finfo(np.float64).eps
    given = np.clip(checked_probabilities(name, predictions), eps, 1 - eps)
    odds: Floats = np.log(given / (1 - given))
    return odds
