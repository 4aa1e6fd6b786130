"""How much more likely predictions make the truth, and the g-index: the measures of R's ``rms`` package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from heldout._types import Floats, Weightings
from heldout.data.task import TaskKind, Truth
from heldout.kernels.dispatch import LogisticFits, total_weight, weight_of
from heldout.kernels.reference import sum_in_order
from heldout.kernels.reference_cox import AT_ONE, AT_SLOPE, AT_ZERO, SLOPE, CoxFits
from heldout.kernels.reference_curves import LineFits
from heldout.metrics.base import ByKind, Needs, OfKind, Response, Statistic, Sums, check_among, name_with
from heldout.metrics.calibration import clipped_odds, log_odds


@dataclass(frozen=True, eq=False)
class LogLikelihoods:
    """Three log-likelihoods of the truth, each (...,), and how many rows they are of.

    Attributes
    ----------
    n_rows : ndarray
        The total weight.
    without : ndarray
        Of no predictions: of the prevalence, or of equal hazards.
    as_given : ndarray
        Of the predictions as they are; at least ``-inf``.
    recalibrated : ndarray
        Of the regression on them, or what it approaches where no finite slope fits best; at least ``without``.
    """

    n_rows: Floats
    without: Floats
    as_given: Floats
    recalibrated: Floats


Value: TypeAlias = Callable[[LogLikelihoods], Floats]


@dataclass(frozen=True, eq=False)
class OfLikelihoods:
    """A number made of the log-likelihoods of every column; a ``Statistic``."""

    fits: Sums  # (..., 4), as those of ``CoxFits``
    value: Value

    def all(self, counts: Weightings) -> Floats:
        return self._value(self.fits.all(counts), total_weight(counts)[:, None])

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        return self._value(self.fits.selected(counts, columns), total_weight(counts))

    def _value(self, fits: Floats, n_rows: Floats) -> Floats:
        without = fits[..., AT_ZERO]
        recalibrated = np.maximum(fits[..., AT_SLOPE], without)  # a fit of no use, rounded
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            return self.value(LogLikelihoods(n_rows, without, fits[..., AT_ONE], recalibrated))


def share_gained(found: LogLikelihoods, *, is_recalibrated: bool = True) -> Floats:
    """Nagelkerke's R², at most 1; NaN where there is nothing to gain."""
    reached = found.recalibrated if is_recalibrated else found.as_given
    most = -np.expm1(2.0 * found.without / found.n_rows)
    share: Floats = -np.expm1(-2.0 * (reached - found.without) / found.n_rows) / np.where(most > 0, most, np.nan)
    return np.minimum(share, 1.0)


def likelihoods_of_kinds(name: str, of_probabilities: Value, of_risks: Value) -> Mapping[TaskKind, OfKind]:
    """The table of a metric that is made of log-likelihoods; the two may divide by different numbers."""

    def logistic(truth: Truth, predictions: NDArray[Any]) -> Statistic:
        positive = truth.values == truth.positive
        return OfLikelihoods(LogisticLikelihoods(log_odds(name, predictions), positive), of_probabilities)

    def cox(truth: Truth, predictions: NDArray[Any]) -> Statistic:
        risks = np.asarray(predictions, dtype=np.float64)
        return OfLikelihoods(CoxFits(risks, truth.values["event"], truth.values["time"]), of_risks)

    return {
        TaskKind.BINARY: OfKind((Response.PROBABILITIES,), Needs.EVERY_CLASS, logistic),
        TaskKind.SURVIVAL: OfKind((Response.RISK,), Needs.PAIR, cox),
    }


class LogisticLikelihoods:
    """Slope and log-likelihoods of the logistic regression on every column, in the order of ``CoxFits``.

    The log-likelihoods are NaN where a class has no weight.
    """

    def __init__(self, log_odds: Floats, positive: NDArray[np.bool_]) -> None:
        self._log_odds, self._positive = log_odds, positive
        self._fits = LogisticFits(log_odds, positive, given_slope=False)

    def all(self, counts: Weightings) -> Floats:
        """(L, C, 4)."""
        fits = self._fits.all(counts)
        columns = [
            self._of(counts, np.broadcast_to(x, counts.shape), fits[:, j]) for j, x in enumerate(self._log_odds.T)
        ]
        return np.stack(columns, axis=1)

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        """(L, 4)."""
        return self._of(counts, self._log_odds.T[columns], self._fits.selected(counts, columns))

    def _of(self, counts: Weightings, x: Floats, fits: Floats) -> Floats:
        """(L, 4): of log-odds (L, n) and their fits (L, 2)."""
        weights = counts.astype(np.float64)
        total, ones = total_weight(counts), weight_of(counts, self._positive)
        fitted = np.isfinite(fits).all(axis=1)
        reached = np.empty(len(weights))
        line = fits[fitted, :1] + fits[fitted, 1:] * x[fitted]
        reached[fitted] = self._likelihood(weights[fitted], line)
        reached[~fitted] = self._separated(weights[~fitted], x[~fitted])
        found = np.stack([fits[:, 1], _binomial(ones, total - ones), self._likelihood(weights, x), reached], axis=1)
        found[~((ones > 0) & (ones < total)), AT_ZERO:] = np.nan
        return found

    def _likelihood(self, weights: Floats, x: Floats) -> Floats:
        """(L,): the log-likelihood of log-odds (L, n)."""
        against = np.where(self._positive, -x, x)
        return -sum_in_order(weights * np.logaddexp(0.0, against))

    def _separated(self, weights: Floats, x: Floats) -> Floats:
        """(L,): what the likelihood approaches where a value separates the classes.

        Only rows at that value remain in doubt, if it has rows of both classes.
        """
        doubt = np.zeros(len(x))
        for of_class in (self._positive, ~self._positive):
            below = np.where((weights > 0) & of_class, x, -np.inf).max(axis=1, initial=-np.inf)
            above = np.where((weights > 0) & ~of_class, x, np.inf).min(axis=1, initial=np.inf)
            at = np.where(x == below[:, None], weights, 0.0)
            share = _binomial((at * self._positive).sum(axis=1), (at * ~self._positive).sum(axis=1))
            # Of a constant both are the same; of others one of the two touches, or none does.
            doubt = np.where(below == above, share, doubt)
        return doubt


def _binomial(ones: Floats, zeros: Floats) -> Floats:
    """The log-likelihood of the share itself, 0 · log(0) being 0."""
    total = np.where(ones + zeros > 0, ones + zeros, 1.0)
    both = np.zeros_like(total)
    for part in (ones, zeros):
        present = part > 0
        both += part * np.log(np.where(present, part, 1.0) / np.where(present, total, 1.0))
    return both


@dataclass(frozen=True)
class NagelkerkeR2(ByKind):
    """Nagelkerke's R²: the gain in likelihood over the prevalence alone, as a share of the greatest possible.

    (1 - (L₀ / L)^(2/n)) / (1 - L₀^(2/n)), L being the likelihood of the truth and L₀ that of the rows' own
    prevalence (Nagelkerke 1991); n and the likelihoods count rows by their weights.

    Recalibrated, L is that of the logistic regression of the truth on the predicted log-odds, which is what
    ``rms::validate`` in R reports. It is then 0 at least; it measures how well the probabilities separate the
    classes and takes no notice of their calibration, nor of their sign: predictions that are wrong throughout have
    1. Where some value separates the classes, so that no finite regression fits best, it is the value that
    steeper and steeper ones approach. The predictions' own likelihood, ``recalibrated=False``, pays for bad
    calibration, and falls below 0 where the prevalence alone is more likely.

    Of risks, L is the partial likelihood of Cox's regression on them, or of the risks as log hazards if not
    recalibrated, and L₀ that of equal hazards. It depends on the scale of importance weights: let them average 1.

    Attributes
    ----------
    recalibrated : bool

    Notes
    -----
    Probabilities are clipped to [eps, 1 - eps] of float64, about 2.2e-16, as for log loss. ``rms::val.prob`` in R
    reports the R² of the predictions' own likelihood.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> truth, given = truth_of([0, 0, 0, 1, 1]), np.array([[0.1], [0.3], [0.8], [0.4], [0.9]])
    >>> once = np.ones((1, 5), dtype=np.uint8)
    >>> [NagelkerkeR2(how).statistic(truth, given).all(once).round(4).tolist() for how in (True, False)]
    [[[0.2613]], [[0.1393]]]
    """

    recalibrated: bool = True
    sources = ("nagelkerke1991",)
    title = "Nagelkerke's R²"
    definition = (
        "The gain in likelihood over no predictions at all, as a share of the greatest possible: 0 is none."
    )
    greater_is_better = True

    def __post_init__(self) -> None:
        check_among("recalibrated", self.recalibrated, (True, False))

    @property
    def name(self) -> str:
        return name_with("nagelkerke_r2", self, "recalibrated")

    @property
    def range(self) -> tuple[float, float]:
        return (0.0 if self.recalibrated else -np.inf, 1.0)

    @property
    def fits_to_its_rows(self) -> bool:
        return self.recalibrated

    def clipped(self, truth: Truth, predictions: NDArray[Any]) -> NDArray[np.bool_]:
        return clipped_odds(truth, predictions)

    def of_kinds(self) -> Mapping[TaskKind, OfKind]:
        share = partial(share_gained, is_recalibrated=self.recalibrated)
        return likelihoods_of_kinds(self.name, share, share)


@dataclass(frozen=True)
class LikelihoodRatio(ByKind):
    """The likelihood-ratio χ² of the predictions: twice the log-likelihood that they add, recalibrated.

    2 (l - l₀), l being the log-likelihood of the logistic (Cox) regression of the truth on the predicted log-odds
    (risks), and l₀ that of the prevalence (of equal hazards). Of a model without a penalty on its own rows it is
    the ``Model L.R.`` that R's ``lrm`` and ``cph`` print. It grows with the number of rows: compare models on the
    same rows, or use ``discrimination_index``.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> truth, given = truth_of([0, 0, 0, 1, 1]), np.array([[0.1], [0.3], [0.8], [0.4], [0.9]])
    >>> LikelihoodRatio().statistic(truth, given).all(np.ones((1, 5), dtype=np.uint8)).round(4)
    array([[1.0738]])
    """

    name = "likelihood_ratio"
    sources = ("harrell2015",)
    title = "Likelihood ratio χ²"
    definition = "Twice the log-likelihood that the recalibrated predictions add; it grows with the number of rows."
    greater_is_better = True
    range = (0.0, np.inf)
    fits_to_its_rows = True

    def clipped(self, truth: Truth, predictions: NDArray[Any]) -> NDArray[np.bool_]:
        return clipped_odds(truth, predictions)

    def of_kinds(self) -> Mapping[TaskKind, OfKind]:
        return likelihoods_of_kinds(self.name, likelihood_ratio, likelihood_ratio)


def likelihood_ratio(found: LogLikelihoods) -> Floats:
    """2 (l - l₀)."""
    ratio: Floats = 2.0 * (found.recalibrated - found.without)
    return ratio


@dataclass(frozen=True)
class LikelihoodIndex(ByKind):
    """The template of these indices: ``gained`` is what each is, before it is divided by the number of rows.

    They agree with R's ``rms::validate``, which takes them from the same regression of the truth on the
    predictions, with one exception: for Cox models R subtracts the 2 of U from the score of a model on its own
    sample and not from its score on the original rows, so that U and Q differ there by 2 / (-2 l₀). Here it is
    subtracted from both.
    """

    sources = ("harrell2015",)
    range = (-np.inf, np.inf)
    fits_to_its_rows = True

    def clipped(self, truth: Truth, predictions: NDArray[Any]) -> NDArray[np.bool_]:
        return clipped_odds(truth, predictions)

    def of_kinds(self) -> Mapping[TaskKind, OfKind]:
        return likelihoods_of_kinds(self.name, _per_row(self.gained), _per_likelihood(self.gained))

    @staticmethod
    def gained(found: LogLikelihoods) -> Floats:
        """In units of χ²."""
        raise NotImplementedError


@dataclass(frozen=True)
class DiscriminationIndex(LikelihoodIndex):
    """The discrimination index D: (χ² - 1) / n, χ² being the likelihood ratio of the recalibrated predictions.

    Of risks it is (χ² - 1) / (-2 l₀).

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> truth, given = truth_of([0, 0, 0, 1, 1]), np.array([[0.1], [0.3], [0.8], [0.4], [0.9]])
    >>> DiscriminationIndex().statistic(truth, given).all(np.ones((1, 5), dtype=np.uint8)).round(4)
    array([[0.0148]])
    """

    name = "discrimination_index"
    title = "Discrimination index D"
    definition = "The likelihood ratio χ² of the recalibrated predictions, less 1, per row."
    greater_is_better = True

    @staticmethod
    def gained(found: LogLikelihoods) -> Floats:
        return likelihood_ratio(found) - 1.0


@dataclass(frozen=True)
class UnreliabilityIndex(LikelihoodIndex):
    """The unreliability index U: what recalibration of the predictions would add, (2 (l - l₁) - 2) / n.

    l is the log-likelihood of the recalibrated predictions and l₁ that of the predictions as they are. It is a
    loss, and -2 / n for predictions that need no recalibration, as those of a model on its own rows. Of risks it is
    divided by -2 l₀.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> truth, given = truth_of([0, 0, 0, 1, 1]), np.array([[0.1], [0.3], [0.8], [0.4], [0.9]])
    >>> UnreliabilityIndex().statistic(truth, given).all(np.ones((1, 5), dtype=np.uint8)).round(4)
    array([[-0.294]])
    """

    name = "unreliability_index"
    title = "Unreliability index U"
    definition = "Twice the log-likelihood that recalibration would add, less 2, per row."
    greater_is_better = False

    @staticmethod
    def gained(found: LogLikelihoods) -> Floats:
        return 2.0 * (found.recalibrated - found.as_given) - 2.0


@dataclass(frozen=True)
class QualityIndex(LikelihoodIndex):
    """The quality index Q = D - U: the logarithmic score of the predictions as they are, (2 (l₁ - l₀) + 1) / n.

    Of risks it is divided by -2 l₀.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> truth, given = truth_of([0, 0, 0, 1, 1]), np.array([[0.1], [0.3], [0.8], [0.4], [0.9]])
    >>> QualityIndex().statistic(truth, given).all(np.ones((1, 5), dtype=np.uint8)).round(4)
    array([[0.3088]])
    """

    name = "quality_index"
    title = "Quality index Q"
    definition = "Discrimination less unreliability: twice the log-likelihood that predictions add, per row."
    greater_is_better = True
    fits_to_its_rows = False

    @staticmethod
    def gained(found: LogLikelihoods) -> Floats:
        return 2.0 * (found.as_given - found.without) + 1.0


def _per_row(gained: Value) -> Value:
    return lambda found: gained(found) / found.n_rows


def _per_likelihood(gained: Value) -> Value:
    return lambda found: gained(found) / np.where(found.without < 0, -2.0 * found.without, np.nan)


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
