"""How much more likely predictions make the truth than it is without them: Nagelkerke's R²."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.data.task import TaskKind, Truth
from heldout.kernels.dispatch import LogisticFits, total_weight, weight_of
from heldout.kernels.reference import Floats, Weightings, sum_in_order
from heldout.metrics.base import Needs, Response, Statistic
from heldout.metrics.by_kind import ByKind, OfKind
from heldout.metrics.calibration import clipped_odds, log_odds
from heldout.metrics.parameters import check_among, name_with
from heldout.metrics.survival_calibration import cox_r2


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
        return {
            TaskKind.BINARY: OfKind((Response.PROBABILITIES,), Needs.EVERY_CLASS, self._of_probabilities),
            TaskKind.SURVIVAL: OfKind((Response.RISK,), Needs.PAIR, self._of_risks),
        }

    def _of_risks(self, truth: Truth, predictions: NDArray[Any]) -> Statistic:
        return cox_r2(truth, predictions, self.recalibrated)

    def _of_probabilities(self, truth: Truth, predictions: NDArray[Any]) -> LikelihoodGain:
        positive = truth.values == truth.positive
        return LikelihoodGain(log_odds(self.name, predictions), positive, self.recalibrated)


class LikelihoodGain:
    """Nagelkerke's R² of every column of log-odds; a ``Statistic``."""

    def __init__(self, log_odds: Floats, positive: NDArray[np.bool_], recalibrated: bool) -> None:
        self._log_odds, self._positive = log_odds, positive
        self._fits = LogisticFits(log_odds, positive, given_slope=False) if recalibrated else None

    def all(self, counts: Weightings) -> Floats:
        fits = None if self._fits is None else self._fits.all(counts)
        columns = [
            self._gain(counts, np.broadcast_to(x, counts.shape), None if fits is None else fits[:, j])
            for j, x in enumerate(self._log_odds.T)
        ]
        return np.stack(columns, axis=1)

    def selected(self, counts: Weightings, columns: NDArray[np.intp]) -> Floats:
        fits = None if self._fits is None else self._fits.selected(counts, columns)
        return self._gain(counts, self._log_odds.T[columns], fits)

    def _gain(self, counts: Weightings, x: Floats, fits: Floats | None) -> Floats:
        """(L,): of log-odds (L, n), recalibrated by fits (L, 2)."""
        weights = counts.astype(np.float64)
        total, ones = total_weight(counts), weight_of(counts, self._positive)
        of_prevalence = _binomial(ones, total - ones)
        if fits is None:
            reached = self._likelihood(weights, x)
        else:
            fitted = np.isfinite(fits).all(axis=1)
            reached = np.empty(len(weights))
            line = fits[fitted, :1] + fits[fitted, 1:] * x[fitted]
            reached[fitted] = self._likelihood(weights[fitted], line)
            reached[~fitted] = self._separated(weights[~fitted], x[~fitted])
            reached = np.maximum(reached, of_prevalence)  # a fit of no use, rounded
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            gained = -np.expm1(-2.0 * (reached - of_prevalence) / total)
            value: Floats = gained / -np.expm1(2.0 * of_prevalence / total)
        return np.where((ones > 0) & (ones < total), np.minimum(value, 1.0), np.nan)

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
