"""Distances of predicted probabilities from their calibration curve: the greatest, the mean, the mean square.

The curve says how often what was predicted came true. By default it is the lowess of the truth on the probabilities
(locally linear, without iterations), as in R's ``rms::val.prob``; or it is the logistic regression of the truth on
the log-odds (Cox 1958), which is smoother and quicker, and sees no more than a shift and a stretch.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from threading import Lock
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from heldout._text import is_one_of
from heldout._types import Floats, Weightings
from heldout.data.task import TaskKind, Truth
from heldout.kernels.dispatch import LogisticFits, total_weight
from heldout.kernels.reference import Columns, check_columns, check_weightings, sum_in_order
from heldout.kernels.reference_lowess import Lowess
from heldout.metrics.base import Metric, Needs, Response, Statistic, Sums
from heldout.metrics.calibration import CalibrationIntercept, CalibrationSlope, clipped_odds, log_odds
from heldout.metrics.parameters import check_among, checked_probabilities, name_with

Smoother = Literal["lowess", "logistic"]
Summary: TypeAlias = Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class CurveDistance(Metric):
    """The template of these metrics: ``summary`` is what each makes of the rows' distances from the curve.

    The lowess is fitted at points 1 % of the range of the probabilities apart and joined by lines, as R's default
    is; it may leave [0, 1] at its ends, as there. It needs no tuning but has to be estimated from the rows, so that
    the distances of perfectly calibrated probabilities are above 0: the more so, the fewer the rows. With
    ``smoother="logistic"`` the value is NaN where some probability separates the classes.

    Attributes
    ----------
    smoother : "lowess" or "logistic"
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

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> Statistic:
        given = checked_probabilities(self.name, predictions)
        positive = truth.values == truth.positive
        if self.smoother == "lowess":
            return FromLowess(given, positive.astype(np.float64), self.summary, self.range[1])
        odds = log_odds(self.name, predictions)
        return FromLogistic(
            given, odds, LogisticFits(odds, positive, given_slope=False), self.summary, self.range[1]
        )

    @staticmethod
    def summary(distances: Floats, weights: Floats) -> Floats:
        """(L,): of distances (L, n), each weighting having its own, and weights (L, n); NaN without rows."""
        raise NotImplementedError


@dataclass(frozen=True)
class Emax(CurveDistance):
    """The greatest distance of a predicted probability from the calibration curve.

    Of ``rms::val.prob`` in R the ``Emax``. (That of ``rms::validate`` is the greatest over all probabilities, used
    or not, from the logistic curve.)

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

    @property
    def name(self) -> str:
        return name_with("emax", self, "smoother")

    @staticmethod
    def summary(distances: Floats, weights: Floats) -> Floats:
        greatest: Floats = np.where(weights > 0, distances, -np.inf).max(axis=1, initial=-np.inf)
        return np.where(np.isneginf(greatest), np.nan, greatest)


@dataclass(frozen=True)
class ICI(CurveDistance):
    """The integrated calibration index: the mean distance of the probabilities from their calibration curve.

    Of Austin & Steyerberg (2019), who name it; ``Eavg`` of ``rms::val.prob`` in R.

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

    @property
    def name(self) -> str:
        return name_with("ici", self, "smoother")

    @staticmethod
    def summary(distances: Floats, weights: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            mean: Floats = sum_in_order(weights * distances) / total_weight(weights)
        return mean


@dataclass(frozen=True)
class ECI(CurveDistance):
    """The estimated calibration index: 100 times the mean squared distance from the calibration curve.

    Of Van Hoorde et al. (2015), for two classes; 0 is perfect, and 100 is reached by being wrong with certainty.

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

    @property
    def name(self) -> str:
        return name_with("eci", self, "smoother")

    @staticmethod
    def summary(distances: Floats, weights: Floats) -> Floats:
        return 100.0 * ICI.summary(distances * distances, weights)


@dataclass(frozen=True)
class E90(CurveDistance):
    """The least distance from the calibration curve that nine tenths of the rows, by weight, do not exceed.

    Of Austin & Steyerberg (2019). ``rms::val.prob`` in R interpolates between two rows' distances, which weights
    leave no place for.

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

    @property
    def name(self) -> str:
        return name_with("e90", self, "smoother")

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

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
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
        known = KEPT.found(keys)
        missing = [lane for lane, key in enumerate(keys) if key not in known]
        if missing:
            distances, weights = self._distances(counts[missing], j)
            of_all = np.stack([summary(distances, weights) for summary in SUMMARIES], axis=1)
            known |= KEPT.put({keys[lane]: values for lane, values in zip(missing, of_all, strict=True)})
        return np.minimum([known[key][SUMMARIES.index(self._summary)] for key in keys], self._most)

    def _distances(self, counts: Weightings, j: int) -> tuple[Floats, Floats]:
        """Each (L, n), by ascending probability: the distances from the curve, and the weights."""
        curve = Lowess(self._given[:, j], self._happened)
        weights = np.take(counts, curve.order, axis=1).astype(np.float64)
        distances = np.zeros_like(weights)
        for lane, own in enumerate(weights):
            there, smooth = curve.at_rows(own)
            distances[lane, there] = np.abs(curve.x[there] - smooth)
        return distances, weights

    def _keys(self, counts: Weightings, j: int) -> list[bytes]:
        """What each curve is made of, as a number that tells it from all others."""
        of_column = blake2b(counts.dtype.str.encode(), digest_size=16)
        of_column.update(np.ascontiguousarray(self._given[:, j]).data)
        of_column.update(self._happened.data)
        keys = []
        for own in np.ascontiguousarray(counts):
            of_lane = of_column.copy()
            of_lane.update(own.data)
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


class FromLogistic:
    """A summary of the distances of every column from its logistic curve; a ``Statistic``."""

    def __init__(self, given: Floats, log_odds: Floats, fits: Sums, summary: Summary, most: float) -> None:
        self._given, self._log_odds, self._fits, self._summary, self._most = given, log_odds, fits, summary, most

    def all(self, counts: Weightings) -> Floats:
        fits = self._fits.all(counts)
        columns = [
            self._of(counts, self._given[:, j], self._log_odds[:, j], fits[:, j]) for j in range(fits.shape[1])
        ]
        return np.stack(columns, axis=1)

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        fits = self._fits.selected(counts, columns)
        return self._of(counts, self._given.T[columns], self._log_odds.T[columns], fits)

    def _of(self, counts: Weightings, given: Floats, log_odds: Floats, fits: Floats) -> Floats:
        """(L,): of numbers (L, n), or (n,) for all weightings."""
        curve = fits[:, :1] + fits[:, 1:] * log_odds
        distances = np.abs(given - 1.0 / (1.0 + np.exp(-curve)))
        values = np.minimum(self._summary(distances, counts.astype(np.float64)), self._most)
        return np.where(np.isnan(fits[:, 1]), np.nan, values)


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
