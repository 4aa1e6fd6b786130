"""How much more likely predictions make the truth, and the g-index: the measures of R's ``rms`` package."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias, get_args

import numpy as np
from scipy.special import expit

from heldout._types import Array, Booleans, Floats, Weightings
from heldout.data.task import TaskKind, Truth
from heldout.kernels.dispatch import LogisticFits, total_weight, weight_of
from heldout.kernels.reference import sum_in_order
from heldout.kernels.reference_cox import AT_ONE, AT_SLOPE, AT_ZERO, SLOPE, CoxFits
from heldout.kernels.reference_curves import LineFits
from heldout.metrics.base import Derived, Needs, OfFits, OfKind, Response, check_among
from heldout.metrics.calibration import OfOdds, log_odds


@dataclass(frozen=True, eq=False)
class LogLikelihoods:
    """Three log-likelihoods of the truth, each (...,), and how many rows they are of.

    Attributes
    ----------
    n_rows : ndarray
        The total weight.
    unit : ndarray
        What indices are divided by: the number of rows, of risks -2 times the log-likelihood of equal hazards.
    without : ndarray
        Of no predictions: of the prevalence, or of equal hazards.
    as_given : ndarray
        Of the predictions as they are; at least ``-inf``.
    recalibrated : ndarray
        Of the regression on them, or what it approaches where no finite slope fits best; at least ``without``.
    """

    n_rows: Floats
    unit: Floats
    without: Floats
    as_given: Floats
    recalibrated: Floats


@dataclass(frozen=True)
class OfLikelihoods(OfOdds):
    """The template of these metrics: a number made of log-likelihoods, ``formula``.

    The indices agree with R's ``rms::validate``, which takes them from the same regression of the truth on the
    predictions, with one exception: for Cox models R subtracts the 2 of U from the score of a model on its own
    sample and not from its score on the original rows, so that U and Q differ there by 2 / (-2 l₀). Here it is
    subtracted from both.
    """

    sources = ("harrell2015",)
    greater_is_better = True

    @property
    def fits_to_its_rows(self) -> bool:
        return True

    def formula(self, likelihoods: LogLikelihoods) -> Floats:
        raise NotImplementedError

    def of_kinds(self) -> Mapping[TaskKind, OfKind]:
        return {
            TaskKind.BINARY: OfKind((Response.PROBABILITIES,), Needs.EVERY_CLASS, self._of_probabilities),
            TaskKind.SURVIVAL: OfKind((Response.RISK,), Needs.PAIR, self._of_risks),
        }

    def _of_probabilities(self, truth: Truth, predictions: Array) -> Derived:
        odds, positive = log_odds(self.name, predictions), truth.values == truth.positive
        fits = LogisticFits(odds, positive, given_slope=False)
        return Derived(OfFits(fits, partial(_likelihoods, positive), (odds,)), partial(self._value, False))

    def _of_risks(self, truth: Truth, predictions: Array) -> Derived:
        risks = np.asarray(predictions, dtype=np.float64)
        return Derived(CoxFits(risks, truth.values["event"], truth.values["time"]), partial(self._value, True))

    def _value(self, are_risks: bool, fits: Floats, n_rows: Floats) -> Floats:
        without = fits[..., AT_ZERO]
        recalibrated = np.maximum(fits[..., AT_SLOPE], without)  # a fit of no use, rounded
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            unit = np.where(without < 0, -2.0 * without, np.nan) if are_risks else n_rows
            return self.formula(LogLikelihoods(n_rows, unit, without, fits[..., AT_ONE], recalibrated))


def _likelihoods(positive: Booleans, counts: Weightings, fits: Floats, x: Floats) -> Floats:
    """(L, 4): slope and log-likelihoods, as those of ``CoxFits``, of log-odds (L, n) and their fits (L, 2).

    The log-likelihoods are NaN where a class has no weight.
    """
    weights = counts.astype(np.float64)
    total, ones = total_weight(counts), weight_of(counts, positive)
    fitted = np.isfinite(fits).all(axis=1)
    reached = np.empty(len(weights))
    line = fits[fitted, :1] + fits[fitted, 1:] * x[fitted]
    reached[fitted] = _likelihood(positive, weights[fitted], line)
    reached[~fitted] = _separated(positive, weights[~fitted], x[~fitted])
    as_given = _likelihood(positive, weights, x)
    columns = np.stack([fits[:, 1], _binomial(ones, total - ones), as_given, reached], axis=1)
    columns[~((ones > 0) & (ones < total)), AT_ZERO:] = np.nan
    return columns


def _likelihood(positive: Booleans, weights: Floats, x: Floats) -> Floats:
    """(L,): the log-likelihood of log-odds (L, n)."""
    against = np.where(positive, -x, x)
    return -sum_in_order(weights * np.logaddexp(0.0, against))


def _separated(positive: Booleans, weights: Floats, x: Floats) -> Floats:
    """(L,): what the likelihood approaches where a value separates the classes.

    Only rows at that value remain in doubt, if it has rows of both classes.
    """
    doubt = np.zeros(len(x))
    for of_class in (positive, ~positive):
        below = np.where((weights > 0) & of_class, x, -np.inf).max(axis=1, initial=-np.inf)
        above = np.where((weights > 0) & ~of_class, x, np.inf).min(axis=1, initial=np.inf)
        at = np.where(x == below[:, None], weights, 0.0)
        share = _binomial((at * positive).sum(axis=1), (at * ~positive).sum(axis=1))
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
class NagelkerkeR2(OfLikelihoods):
    """Nagelkerke's R²: the gain in likelihood over the prevalence alone, as a share of the greatest possible.

    (1 - (L₀ / L)^(2/n)) / (1 - L₀^(2/n)), L being the likelihood of the truth and L₀ that of the rows' own
    prevalence (Nagelkerke 1991); n and the likelihoods count rows by their weights.

    By default L is that of the logistic regression of the truth on the predicted log-odds, as reported by
    ``rms::validate`` in R. The value is then at least 0; it measures how well the probabilities separate the
    classes and ignores their calibration, and even their direction: predictions that are always wrong have 1. If a
    value separates the classes, so that no finite regression fits best, it is the limit of ever steeper ones. With
    ``recalibrated=False`` L is the likelihood of the predictions themselves; bad calibration lowers it, and it is
    below 0 if the prevalence alone is more likely.

    For risks, L is the partial likelihood of Cox's regression on them, or of the risks as log hazards if not
    recalibrated, and L₀ that of equal hazards. The value depends on the scale of importance weights: scale them to
    mean 1.

    Attributes
    ----------
    recalibrated : bool
        Whether L is that of the recalibrated predictions.

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

    stem = "nagelkerke_r2"

    @property
    def range(self) -> tuple[float, float]:
        return (0.0 if self.recalibrated else -np.inf, 1.0)

    @property
    def fits_to_its_rows(self) -> bool:
        return self.recalibrated

    def formula(self, likelihoods: LogLikelihoods) -> Floats:
        """At most 1; NaN where there is nothing to gain."""
        reached = likelihoods.recalibrated if self.recalibrated else likelihoods.as_given
        most = -np.expm1(2.0 * likelihoods.without / likelihoods.n_rows)
        gained = -np.expm1(-2.0 * (reached - likelihoods.without) / likelihoods.n_rows)
        return np.minimum(gained / np.where(most > 0, most, np.nan), 1.0)


@dataclass(frozen=True)
class LikelihoodRatio(OfLikelihoods):
    """The likelihood-ratio χ² of the predictions: twice the log-likelihood that they add, recalibrated.

    2 (l - l₀), l being the log-likelihood of the logistic (Cox) regression of the truth on the predicted log-odds
    (risks), and l₀ that of the prevalence (of equal hazards). For an unpenalised model on its own rows it is the
    ``Model L.R.`` that R's ``lrm`` and ``cph`` print. It grows with the number of rows: compare models on the same
    rows, or use ``discrimination_index``.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> truth, given = truth_of([0, 0, 0, 1, 1]), np.array([[0.1], [0.3], [0.8], [0.4], [0.9]])
    >>> LikelihoodRatio().statistic(truth, given).all(np.ones((1, 5), dtype=np.uint8)).round(4)
    array([[1.0738]])
    """

    name = "likelihood_ratio"
    title = "Likelihood ratio χ²"
    definition = "Twice the log-likelihood that the recalibrated predictions add; it grows with the number of rows."
    range = (0.0, np.inf)

    def formula(self, likelihoods: LogLikelihoods) -> Floats:
        return 2.0 * (likelihoods.recalibrated - likelihoods.without)


@dataclass(frozen=True)
class DiscriminationIndex(OfLikelihoods):
    """The discrimination index D: (χ² - 1) / n, χ² being the likelihood ratio of the recalibrated predictions.

    For risks it is (χ² - 1) / (-2 l₀), l₀ being the log-likelihood of equal hazards.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> truth, given = truth_of([0, 0, 0, 1, 1]), np.array([[0.1], [0.3], [0.8], [0.4], [0.9]])
    >>> DiscriminationIndex().statistic(truth, given).all(np.ones((1, 5), dtype=np.uint8)).round(4)
    array([[0.0148]])
    """

    name = "discrimination_index"
    range = (-np.inf, np.inf)
    title = "Discrimination index D"
    definition = "The likelihood ratio χ² of the recalibrated predictions, less 1, per row."

    def formula(self, likelihoods: LogLikelihoods) -> Floats:
        return (2.0 * (likelihoods.recalibrated - likelihoods.without) - 1.0) / likelihoods.unit


@dataclass(frozen=True)
class UnreliabilityIndex(OfLikelihoods):
    """The unreliability index U: what recalibration of the predictions would add, (2 (l - l₁) - 2) / n.

    l is the log-likelihood of the recalibrated predictions and l₁ that of the unchanged predictions. It is a loss,
    and -2 / n for predictions that need no recalibration, such as those of a model on its own rows. For risks -2
    l₀, of equal hazards, replaces n.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> truth, given = truth_of([0, 0, 0, 1, 1]), np.array([[0.1], [0.3], [0.8], [0.4], [0.9]])
    >>> UnreliabilityIndex().statistic(truth, given).all(np.ones((1, 5), dtype=np.uint8)).round(4)
    array([[-0.294]])
    """

    name = "unreliability_index"
    range = (-np.inf, np.inf)
    title = "Unreliability index U"
    definition = "Twice the log-likelihood that recalibration would add, less 2, per row."
    greater_is_better = False

    def formula(self, likelihoods: LogLikelihoods) -> Floats:
        return (2.0 * (likelihoods.recalibrated - likelihoods.as_given) - 2.0) / likelihoods.unit


@dataclass(frozen=True)
class QualityIndex(OfLikelihoods):
    """The quality index Q = D - U: the logarithmic score of the predictions, (2 (l₁ - l₀) + 1) / n.

    l₁ is the log-likelihood of the predictions and l₀ that of the prevalence. For risks -2 l₀, of equal hazards,
    replaces n.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> truth, given = truth_of([0, 0, 0, 1, 1]), np.array([[0.1], [0.3], [0.8], [0.4], [0.9]])
    >>> QualityIndex().statistic(truth, given).all(np.ones((1, 5), dtype=np.uint8)).round(4)
    array([[0.3088]])
    """

    name = "quality_index"
    range = (-np.inf, np.inf)
    title = "Quality index Q"
    definition = "Discrimination less unreliability: twice the log-likelihood that predictions add, per row."
    fits_to_its_rows = False

    def formula(self, likelihoods: LogLikelihoods) -> Floats:
        return (2.0 * (likelihoods.as_given - likelihoods.without) + 1.0) / likelihoods.unit


Scale: TypeAlias = Literal["linear", "probability"]


@dataclass(frozen=True)
class GIndex(OfOdds):
    """The g-index: Gini's mean difference of the calibrated linear predictor, the mean distance between two rows.

    The linear predictor is the log-odds of probabilities, the log hazard, or the predicted number, times its
    calibration slope; so g is in log-odds, log hazards or units of the target. For an unpenalised model on its own
    rows the slope is 1, and g is that of R's ``lrm``, ``cph`` and ``ols``. A pair of copies of one row has distance
    0 and counts.

    Attributes
    ----------
    scale : "linear" or "probability"
        "probability", for two classes only: the mean distance of the probabilities, recalibrated by intercept and
        slope, ``gp`` of R's ``rms``.

    Notes
    -----
    NaN if no finite slope fits best, and with fewer than two rows; 0 if all predictions are equal. The sum of the
    importance weights counts as the number of rows: scale them to mean 1.

    Examples
    --------
    Three numbers at distances 1, 2 and 1, and a slope of 1/2:

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

    stem = "g_index"

    def of_kinds(self) -> Mapping[TaskKind, OfKind]:
        binary = {TaskKind.BINARY: OfKind((Response.PROBABILITIES,), Needs.EVERY_CLASS, self._of_probabilities)}
        if self.scale == "probability":
            return binary
        return {
            **binary,
            TaskKind.REGRESSION: OfKind((Response.VALUES,), Needs.TWO_ROWS, self._of_numbers),
            TaskKind.SURVIVAL: OfKind((Response.RISK,), Needs.PAIR, self._of_risks),
        }

    def _of_probabilities(self, truth: Truth, predictions: Array) -> OfFits:
        odds = log_odds(self.name, predictions)
        fits = LogisticFits(odds, truth.values == truth.positive, given_slope=False)
        calibrated = _on_line if self.scale == "linear" else _as_probability
        return OfFits(fits, partial(_mean_difference, calibrated), (odds,))

    @staticmethod
    def _of_numbers(truth: Truth, predictions: Array) -> OfFits:
        numbers = np.asarray(predictions, dtype=np.float64)
        fits = LineFits(numbers, truth.values, given_slope=False)
        return OfFits(fits, partial(_mean_difference, _on_line), (numbers,))

    @staticmethod
    def _of_risks(truth: Truth, predictions: Array) -> OfFits:
        risks = np.asarray(predictions, dtype=np.float64)
        fits = CoxFits(risks, truth.values["event"], truth.values["time"])
        return OfFits(fits, partial(_mean_difference, _as_log_hazard), (risks,))


def _mean_difference(
    calibrated: Callable[[Floats, Floats], Floats], counts: Weightings, fits: Floats, values: Floats
) -> Floats:
    """(L,): Gini's mean difference of values (L, n), calibrated by their fits (L, n_coefficients).

    ``calibrated`` makes values (L, n) of both, in the order of the values or in the opposite one.
    """
    order = np.argsort(values, axis=1, kind="stable")
    values = np.take_along_axis(values, order, axis=1)
    below = np.cumsum(np.take_along_axis(counts, order, axis=1), axis=1, dtype=np.float64)[:, :-1]
    total = total_weight(counts)
    # Two rows are as far apart as the gaps between them add up to.
    pairs = below * np.maximum(total[:, None] - below, 0.0)
    gaps = np.abs(np.diff(calibrated(values, fits), axis=1))
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
