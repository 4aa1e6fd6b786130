"""Harrell's indices of likelihood: discrimination D, unreliability U, and their difference, the quality Q.

All are differences of twice a log-likelihood, less the χ² that chance adds on average, per row; of risks per unit
of the likelihood of equal hazards, as no row has a likelihood of its own there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats
from heldout.data.task import TaskKind, Truth
from heldout.metrics.by_kind import ByKind, OfKind
from heldout.metrics.calibration import clipped_odds
from heldout.metrics.likelihood import likelihood_ratio
from heldout.metrics.log_likelihoods import LogLikelihoods, Value, likelihoods_of_kinds


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
