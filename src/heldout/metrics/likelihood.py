"""How much more likely predictions make the truth: Nagelkerke's R², and the likelihood ratio."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats
from heldout.data.task import TaskKind, Truth
from heldout.metrics.by_kind import ByKind, OfKind
from heldout.metrics.calibration import clipped_odds
from heldout.metrics.log_likelihoods import LogLikelihoods, likelihoods_of_kinds, share_gained
from heldout.metrics.parameters import check_among, name_with


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
