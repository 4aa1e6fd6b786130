"""Metrics of calibration: whether probabilities are as often right as they say.

The expected calibration error compares them with what happened, bin by bin. Slope and intercept are those of the
logistic regression of the truth on the log-odds that were predicted (Cox 1958), of predicted numbers those of the
least-squares line, and predicted log hazards have the slope of Cox's regression: of predictions that mean what
they say they are 1 and 0. A slope below 1 says that predictions are too extreme, an intercept above 0 that they
are too low.

Others are distances of predicted probabilities from their calibration curve: the greatest, the mean, the mean
square. The curve says how often what was predicted came true. By default it is the lowess of the truth on the
probabilities (locally linear, without iterations), as in R's ``rms::val.prob``; or it is the logistic regression
of the truth on the log-odds, which is smoother and quicker, and sees no more than a shift and a stretch.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from threading import Lock
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np
from scipy.special import expit, logit

from heldout._text import is_one_of
from heldout._types import Array, Booleans, Floats, Indices, Weightings
from heldout.data.checks import check_count
from heldout.data.task import TaskKind, Truth
from heldout.kernels.dispatch import BinnedGaps, LogisticFits, total_weight
from heldout.kernels.lowess import Lowess
from heldout.kernels.reference import Columns, check_columns, check_weightings, sum_in_order
from heldout.kernels.reference_cox import SLOPE, CoxFits
from heldout.kernels.reference_curves import LineFits
from heldout.metrics.base import (
    ByKind,
    Derived,
    Metric,
    Needs,
    OfFits,
    OfKind,
    Response,
    Statistic,
    Sums,
    check_among,
    checked_probabilities,
)
from heldout.metrics.row_losses import most_drawn


@dataclass(frozen=True)
class ExpectedCalibrationError(Metric):
    """Expected calibration error: the mean gap, over bins of rows, between predicted and observed probability.

    The gap of a bin is the distance of its mean probability from the observed share; bins count by their weight.
    For a binary task these are of the positive class; for several classes the greatest probability is compared with
    the share of rows whose predicted class is right (Guo et al. 2017, eq. 3).

    The bins are fixed before bootstraps are drawn, and contain what is above their lower edge and at most their
    upper one, as in scikit-learn's ``calibration_curve``. Even perfectly calibrated probabilities have an error
    above 0, because each bin's share varies by chance; the fewer the rows, the greater.

    Attributes
    ----------
    n_bins : int
        The number of bins.
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
    responses = (Response.PROBABILITIES,)
    tasks = frozenset({TaskKind.BINARY, TaskKind.MULTICLASS})
    range = (0.0, 1.0)

    def __post_init__(self) -> None:
        check_count("n_bins", self.n_bins, usual="10 is usual")
        check_among("strategy", self.strategy, ("uniform", "quantile"))

    stem = "expected_calibration_error"

    def statistic(self, truth: Truth, predictions: Array) -> Derived:
        given = checked_probabilities(self.name, predictions)
        if truth.kind is TaskKind.BINARY:
            true = (truth.values == truth.positive)[:, None]
        else:
            true = given.argmax(axis=2) == truth.values[:, None]
            given = given.max(axis=2)
        bins = np.zeros(given.shape, dtype=np.int32)
        for edge in self._edges(given):
            bins += given > edge
        return Derived(BinnedGaps(true - given, bins, self.n_bins, most_drawn(truth.n_rows)), _mean_gap)

    def _edges(self, given: Floats) -> Floats:
        """(n_bins - 1,) or (n_bins - 1, C): between the bins, ascending."""
        inner = np.linspace(0.0, 1.0, self.n_bins + 1)[1:-1]
        if self.strategy == "uniform":
            return inner
        # In per cent, as scikit-learn does: an edge may be a row's own number, and rounding decides its bin.
        return np.percentile(given, 100 * inner, axis=0)


def _mean_gap(gaps: Floats, weight: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.minimum(gaps / weight, 1.0)  # bins of real weights add up in another order than all rows


def clipped_odds(truth: Truth, predictions: Array) -> Booleans:
    """(n, C): where a probability is so near 0 or 1 that clipping sets its log-odds; never of other predictions."""
    if truth.kind is not TaskKind.BINARY:
        return np.zeros(predictions.shape[:2], dtype=bool)
    eps = np.finfo(np.float64).eps
    beyond: Booleans = (predictions < eps) | (predictions > 1 - eps)
    return beyond


@dataclass(frozen=True)
class OfOdds(ByKind):
    """A metric that reads the log-odds of probabilities, and in other kinds of task predictions as they are."""

    def clipped(self, truth: Truth, predictions: Array) -> Booleans:
        return clipped_odds(truth, predictions)


@dataclass(frozen=True)
class FittedPart(OfOdds):
    """The template of intercept and slope of the regression that each kind of task has, and of their distances.

    - ``is_slope``: which of the two.
    - ``away_from``: the number from which the distance is measured; None for no distance.
    """

    is_slope: ClassVar[bool]
    away_from: ClassVar[float | None] = None
    sources = ("cox1958",)
    greater_is_better = True
    range: ClassVar[tuple[float, float]] = (-np.inf, np.inf)

    def of_kinds(self) -> Mapping[TaskKind, OfKind]:
        fewest = Needs.ROW if self._given_slope else Needs.TWO_ROWS
        table = {
            TaskKind.BINARY: OfKind((Response.PROBABILITIES,), Needs.EVERY_CLASS, self._of_log_odds),
            TaskKind.REGRESSION: OfKind((Response.VALUES,), fewest, self._of_numbers),
        }
        return table | (
            {TaskKind.SURVIVAL: OfKind((Response.RISK,), Needs.PAIR, self._of_risks)} if self.is_slope else {}
        )

    @property
    def _given_slope(self) -> bool:
        return False

    def _of_log_odds(self, truth: Truth, predictions: Array) -> Derived:
        odds = log_odds(self.name, predictions)
        return self._part(LogisticFits(odds, truth.values == truth.positive, self._given_slope), int(self.is_slope))

    def _of_numbers(self, truth: Truth, predictions: Array) -> Derived:
        numbers = np.asarray(predictions, dtype=np.float64)
        return self._part(LineFits(numbers, truth.values, self._given_slope), int(self.is_slope))

    def _of_risks(self, truth: Truth, predictions: Array) -> Derived:
        """As ``rms::validate.cph`` in R; it means something of log hazards only.

        NaN where no finite slope fits best: no event outlasted, risks that are all equal, or that are always
        greatest (always least) of those at risk. The risks of scikit-survival's forests are numbers of expected
        events, and those of a concordance are any ranking: the slope of such a risk is a matter of its units.
        """
        risks = np.asarray(predictions, dtype=np.float64)
        return self._part(CoxFits(risks, truth.values["event"], truth.values["time"]), SLOPE)

    def _part(self, fits: Sums, place: int) -> Derived:
        away_from = self.away_from

        def value(fits: Floats, weight: Floats) -> Floats:
            part: Floats = fits[..., place]
            return part if away_from is None else np.abs(part - away_from)

        return Derived(fits, value)


@dataclass(frozen=True)
class CalibrationSlope(FittedPart):
    """The calibration slope, of the regression of the truth on the predictions: 1 is ideal.

    For probabilities the regression is logistic, on the predicted log-odds (Cox 1958); for numbers it is least
    squares; for risks it is Cox's, which is meaningful if they are log hazards. Below 1 the predictions are too
    extreme, as those of an overfitted model; above 1 they are too moderate. Neither direction is better, so it
    describes a configuration but cannot select one; ``greater_is_better`` only gives the sign of the optimism. To
    select, use ``calibration_slope_error``.

    Probabilities are clipped to [eps, 1 - eps] of float64, about 2.2e-16, as for log loss. NaN if no finite slope
    fits best: one class only, a probability that separates the two classes, or one prediction for all rows.

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
    is_slope = True
    ideal = 1.0
    title = "Calibration slope"
    definition = (
        "How the log-odds of the positive class rise with those predicted: below 1 predictions are too extreme."
    )


@dataclass(frozen=True)
class FittedIntercept(FittedPart):
    """... of the intercept, with the slope held at 1 or not."""

    is_slope = False
    given_slope: bool = True

    def __post_init__(self) -> None:
        check_among("given_slope", self.given_slope, (True, False))

    @property
    def _given_slope(self) -> bool:
        return self.given_slope


@dataclass(frozen=True)
class CalibrationIntercept(FittedIntercept):
    """The calibration intercept: that of the regression of ``CalibrationSlope``, by default at slope 1. 0 is ideal.

    With the slope fixed at 1 it is *calibration in the large*: what must be added to all log-odds to make the mean
    probability right, or to all predicted numbers to make their mean right. It is positive if predictions are too
    low on average. With ``given_slope=False`` it is the intercept of the joint fit, whose slope is
    ``calibration_slope``: the calibrated log-odds of a predicted .5 (the ``Intercept`` of ``rms::val.prob`` in R),
    or the expected value of a predicted 0.

    It is that of the positive class. No direction is better, so it cannot select a configuration. Probabilities are
    clipped as for the slope.

    Attributes
    ----------
    given_slope : bool
        Whether the slope is fixed at 1.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> given = np.array([[0.5], [0.5], [0.5], [0.5]])
    >>> bound = CalibrationIntercept().statistic(truth_of([0, 1, 1, 1]), given)
    >>> bound.all(np.ones((1, 4), dtype=np.uint8)).round(4)  # log(3)
    array([[1.0986]])
    """

    ideal = 0.0
    title = "Calibration intercept"
    definition = "By how much predicted log-odds are too low on average: below 0 they are too high."
    stem = "calibration_intercept"


@dataclass(frozen=True)
class CalibrationSlopeError(FittedPart):
    """The distance of the calibration slope from 1: a loss, so that it can select configurations.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> given = np.array([[0.1], [0.3], [0.8], [0.4], [0.9]])
    >>> bound = CalibrationSlopeError().statistic(truth_of([0, 0, 0, 1, 1]), given)
    >>> bound.all(np.ones((1, 5), dtype=np.uint8)).round(4)
    array([[0.3403]])
    """

    name = "calibration_slope_error"
    is_slope = True
    away_from = 1.0
    title = "Calibration slope error"
    definition = "The distance of the calibration slope from 1."
    greater_is_better = False
    range = (0.0, np.inf)


@dataclass(frozen=True)
class CalibrationInterceptError(FittedIntercept):
    """The distance of the calibration intercept from 0: a loss, so that it can select configurations.

    Attributes
    ----------
    given_slope : bool
        Whether the slope is fixed at 1, as for ``CalibrationIntercept``.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> given = np.array([[0.1], [0.3], [0.8], [0.4], [0.9]])
    >>> bound = CalibrationInterceptError().statistic(truth_of([0, 0, 0, 1, 1]), given)
    >>> bound.all(np.ones((1, 5), dtype=np.uint8)).round(4)
    array([[0.6454]])
    """

    away_from = 0.0
    title = "Calibration intercept error"
    definition = "The distance of the calibration intercept from 0."
    greater_is_better = False
    range = (0.0, np.inf)

    stem = "calibration_intercept_error"


def log_odds(name: str, predictions: Array) -> Floats:
    """Of probabilities clipped to [eps, 1 - eps]; InputError, naming the metric, where they are none."""
    eps = np.finfo(np.float64).eps
    given = np.clip(checked_probabilities(name, predictions), eps, 1 - eps)
    odds: Floats = np.log(given / (1 - given))
    return odds


Smoother = Literal["lowess", "logistic"]
Summary: TypeAlias = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class CurveDistance(Metric):
    """Base class of distances from a smooth calibration curve; ``summary`` makes one number of the rows' distances.

    As R's default, the lowess is fitted at points 1 % of the range of the probabilities apart, joined by lines, and
    may leave [0, 1] at its ends. The curve is estimated from the rows, so that even perfectly calibrated
    probabilities have distances above 0; the fewer the rows, the greater. With ``smoother="logistic"`` the value is
    NaN if a probability separates the classes.

    Attributes
    ----------
    smoother : "lowess" or "logistic"
        How the calibration curve is fitted.
    """

    smoother: Smoother = "lowess"
    greater_is_better = False
    responses = (Response.PROBABILITIES,)
    tasks = frozenset({TaskKind.BINARY})
    range = (0.0, 1.0)
    fits_to_its_rows = True

    def __post_init__(self) -> None:
        check_among("smoother", self.smoother, get_args(Smoother))

    @property
    def needs(self) -> Needs:
        return Needs.ROW if self.smoother == "lowess" else Needs.EVERY_CLASS

    @property
    def undefined_without(self) -> Needs:
        return self.needs

    def statistic(self, truth: Truth, predictions: Array) -> Statistic:
        given = checked_probabilities(self.name, predictions)
        positive = truth.values == truth.positive
        if self.smoother == "lowess":
            return FromLowess(given, positive.astype(np.float64), self.summary, self.range[1])
        odds = log_odds(self.name, predictions)
        fits = LogisticFits(odds, positive, given_slope=False)
        return OfFits(fits, partial(_from_logistic, self.summary, self.range[1]), (given, odds))

    @staticmethod
    def summary(distances: Floats, weights: Floats) -> Floats:
        """(L,): of distances (L, n), each weighting having its own, and weights (L, n); NaN without rows."""
        raise NotImplementedError


@dataclass(frozen=True)
class Emax(CurveDistance):
    """The greatest distance of a predicted probability from the calibration curve.

    The ``Emax`` of ``rms::val.prob`` in R. (That of ``rms::validate`` is ``CalibrationEmax``.) ``smoother`` is
    "lowess" or "logistic".

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> given = np.array([[0.2], [0.2], [0.9], [0.9]])
    >>> bound = Emax().statistic(truth_of([0, 1, 1, 1]), given)
    >>> bound.all(np.ones((1, 4), dtype=np.uint8)).round(3)
    array([[0.3]])
    """

    title = "Emax"
    definition = "The greatest distance of a predicted probability from how often such predictions came true."
    sources = ("cleveland1979",)

    stem = "emax"

    @staticmethod
    def summary(distances: Floats, weights: Floats) -> Floats:
        greatest: Floats = np.where(weights > 0, distances, -np.inf).max(axis=1, initial=-np.inf)
        return np.where(np.isneginf(greatest), np.nan, greatest)


@dataclass(frozen=True)
class ICI(CurveDistance):
    """The integrated calibration index: the mean distance of the probabilities from their calibration curve.

    Named by Austin & Steyerberg (2019); ``Eavg`` of ``rms::val.prob`` in R. ``smoother`` is "lowess" or "logistic".

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> given = np.array([[0.2], [0.2], [0.9], [0.9]])
    >>> bound = ICI().statistic(truth_of([0, 1, 1, 1]), given)
    >>> bound.all(np.ones((1, 4), dtype=np.uint8)).round(3)
    array([[0.2]])
    """

    title = "Integrated calibration index"
    definition = "The mean distance of predicted probabilities from how often such predictions came true."
    sources = ("austin2019", "cleveland1979")

    stem = "ici"

    @staticmethod
    def summary(distances: Floats, weights: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            mean: Floats = sum_in_order(weights * distances) / total_weight(weights)
        return mean


@dataclass(frozen=True)
class ECI(CurveDistance):
    """The estimated calibration index: 100 times the mean squared distance from the calibration curve.

    By Van Hoorde et al. (2015), for two classes; 0 is perfect, and 100 is wrong with certainty. ``smoother`` is
    "lowess" or "logistic".

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> given = np.array([[0.2], [0.2], [0.9], [0.9]])
    >>> bound = ECI().statistic(truth_of([0, 1, 1, 1]), given)
    >>> bound.all(np.ones((1, 4), dtype=np.uint8)).round(3)  # 100 (.3² + .1²) / 2
    array([[5.]])
    """

    range = (0.0, 100.0)
    title = "Estimated calibration index"
    definition = "100 times the mean squared distance of predicted probabilities from how often they came true."
    sources = ("vanhoorde2015", "cleveland1979")

    stem = "eci"

    @staticmethod
    def summary(distances: Floats, weights: Floats) -> Floats:
        return 100.0 * ICI.summary(distances * distances, weights)


@dataclass(frozen=True)
class E90(CurveDistance):
    """The 90 % quantile, by weight, of the rows' distances from the calibration curve.

    By Austin & Steyerberg (2019). ``rms::val.prob`` in R interpolates between two rows' distances; here, because of
    weights, it is the least distance that nine tenths of the rows do not exceed. ``smoother`` is "lowess" or
    "logistic".

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> given = np.array([[0.2], [0.2], [0.9], [0.9]])
    >>> bound = E90().statistic(truth_of([0, 1, 1, 1]), given)
    >>> bound.all(np.array([[1, 1, 1, 1], [1, 1, 9, 9]], dtype=np.uint8)).round(3)
    array([[0.3],
           [0.1]])
    """

    title = "E90"
    definition = "Nine tenths of the probabilities are closer than this to how often such predictions came true."
    sources = ("austin2019", "cleveland1979")

    stem = "e90"

    @staticmethod
    def summary(distances: Floats, weights: Floats) -> Floats:
        order = np.argsort(distances, axis=1, kind="stable")
        until = np.cumsum(np.take_along_axis(weights, order, axis=1), axis=1)
        # Sums of real weights round: a little less than nine tenths are nine tenths.
        within = until >= (0.9 - 1e-12) * until[:, -1:]
        place = np.take_along_axis(order, within.argmax(axis=1)[:, None], axis=1)
        return np.where(until[:, -1] > 0, np.take_along_axis(distances, place, axis=1)[:, 0], np.nan)


class FromLowess(Columns):
    """A summary of the distances of every column from its lowess curve; a ``Statistic``.

    Parameters
    ----------
    given : ndarray of shape (n, C)
        Probabilities.
    happened : ndarray of shape (n,)
    """

    def __init__(self, given: Floats, happened: Floats, summary: Summary, most: float) -> None:
        super().__init__(given.shape)
        self._most = most  # a lowess curve may leave [0, 1], and sums round
        self._given, self._happened, self._summary = given, happened, summary

    def selected(self, counts: Weightings, columns: Indices) -> Floats:
        """(L,): without the first column under all weightings, which others take for the shape of the answer."""
        check_weightings(counts, self.n_rows)
        check_columns(columns, len(counts), self.n_columns)
        values = np.empty(len(counts))
        for j in np.unique(columns):
            lanes = np.flatnonzero(columns == j)
            values[lanes] = self._column(counts[lanes], int(j))
        return values

    def _column(self, counts: Weightings, j: int) -> Floats:
        if not is_one_of(self._summary, SUMMARIES):
            return np.minimum(self._summary(*self._distances(counts, j)), self._most)
        keys = self._keys(counts, j)
        summaries = KEPT.found(keys)
        missing = [lane for lane, key in enumerate(keys) if key not in summaries]
        if missing:
            distances, weights = self._distances(counts[missing], j)
            of_all = np.stack([summary(distances, weights) for summary in SUMMARIES], axis=1)
            summaries |= KEPT.put({keys[lane]: values for lane, values in zip(missing, of_all, strict=True)})
        return np.minimum([summaries[key][SUMMARIES.index(self._summary)] for key in keys], self._most)

    def _distances(self, counts: Weightings, j: int) -> tuple[Floats, Floats]:
        """Each (L, n), by ascending probability: the distances from the curve, and the weights."""
        curve = Lowess(self._given[:, j], self._happened)
        weights = np.take(counts, curve.order, axis=1).astype(np.float64)
        distances = np.zeros_like(weights)
        for lane, weighting in enumerate(weights):
            there, smooth = curve.at_rows(weighting)
            distances[lane, there] = np.abs(curve.x[there] - smooth)
        return distances, weights

    def _keys(self, counts: Weightings, j: int) -> list[bytes]:
        """What each curve is made of, as a number that tells it from all others."""
        of_column = blake2b(counts.dtype.str.encode(), digest_size=16)
        of_column.update(np.ascontiguousarray(self._given[:, j]).data)
        of_column.update(self._happened.data)
        keys = []
        for weighting in np.ascontiguousarray(counts):
            of_lane = of_column.copy()
            of_lane.update(weighting.data)
            keys.append(of_lane.digest())
        return keys


SUMMARIES: tuple[Summary, ...] = (Emax.summary, ICI.summary, ECI.summary, E90.summary)
"""Computed together, since the curve takes a hundred times as long as any of them."""


class _Kept:
    """The summaries of the last curves, so that metrics computed one after another share each curve."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, Lock()
        self._values: OrderedDict[bytes, Floats] = OrderedDict()

    def found(self, keys: Sequence[bytes]) -> dict[bytes, Floats]:
        with self._lock:
            return {key: self._values[key] for key in keys if key in self._values}

    def put(self, values: dict[bytes, Floats]) -> dict[bytes, Floats]:
        with self._lock:
            self._values |= values
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return values


KEPT = _Kept(1 << 16)


def _from_logistic(
    summary: Summary, most: float, counts: Weightings, fits: Floats, given: Floats, log_odds: Floats
) -> Floats:
    """(L,): a summary of the distances of numbers (L, n) from their logistic curve."""
    curve = fits[:, :1] + fits[:, 1:] * log_odds
    distances = np.abs(given - 1.0 / (1.0 + np.exp(-curve)))
    values = np.minimum(summary(distances, counts.astype(np.float64)), most)
    return np.where(np.isnan(fits[:, 1]), np.nan, values)


PROBABILITIES = np.linspace(0.0, 1.0, 2001)[1:-1]
"""Where the curve is compared with the diagonal, .0005 apart as in R; at 0 and 1 the distance is 0."""


@dataclass(frozen=True)
class CalibrationEmax(Metric):
    """The greatest distance between a probability and its logistic recalibration.

    ``max over p of |p - expit(a + b logit(p))|``, a and b being the intercept and the slope of the logistic
    regression of the truth on the predicted log-odds. It covers all probabilities from 0 to 1; ``emax`` covers
    those of the rows only. NaN if a and b are.

    ``rms::validate`` in R computes its ``Emax`` from the corrected a and b, and so does ``ho.bootstrap_validate``,
    because the distance in each bootstrap is above 0 by chance.

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
    needs = undefined_without = Needs.EVERY_CLASS
    fits_to_its_rows = True
    parts: ClassVar[tuple[Metric, ...]] = (CalibrationIntercept(given_slope=False), CalibrationSlope())

    def clipped(self, truth: Truth, predictions: Array) -> Booleans:
        return clipped_odds(truth, predictions)

    def statistic(self, truth: Truth, predictions: Array) -> OfFits:
        odds = log_odds(self.name, predictions)
        fits = LogisticFits(odds, truth.values == truth.positive, given_slope=False)
        return OfFits(fits, lambda counts, fits: _greatest(fits))

    def of_parts(self, values: Sequence[float]) -> float:
        """The distance that an intercept and a slope make."""
        return float(_greatest(np.array([values]))[0])


def _greatest(fits: Floats) -> Floats:
    """(L,): of intercepts and slopes (L, 2)."""
    curve = expit(fits[:, :1] + fits[:, 1:] * logit(PROBABILITIES))
    greatest: Floats = np.abs(PROBABILITIES - curve).max(axis=1)
    return greatest
