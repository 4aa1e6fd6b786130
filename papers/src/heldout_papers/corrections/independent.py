"""Matrices of independent columns whose true scores come from a Beta distribution (Tsamardinos et al. 2018, 6.1).

Accuracies, areas and squared errors are those of ``heldout study bias``, with the same seed the same matrices.
Right and wrong answers are the same for any number of classes, so what several classes change is the metrics that
read more: the area of every two classes by the scores of both, and the log loss of three probabilities.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator
from scipy.special import softmax

from heldout._streams import stream
from heldout.errors import InputError
from heldout.metrics.base import Response
from heldout.predictions import HeldOutPredictions
from heldout_papers.bias.matrix import BiasMatrix
from heldout_papers.bias.predictions import MetricPredictions, RightOrWrong
from heldout_papers.bias.setting import ACCURACY, BETAS, PREVALENCE, ROC_AUC, ROWS, SQUARED_ERROR, BiasSetting
from heldout_papers.corrections.distribution import (
    BetaOfCounts,
    BetaOfScores,
    Floats,
    KnownDistribution,
    area_chance,
    mean_chance,
    squared_error_chance,
)
from heldout_papers.corrections.matrix import BedCell, KnownMatrix
from heldout_papers.engine.arguments import checked_beta, checked_names, checked_sizes
from heldout_papers.simulation import scores_of_class_aucs

CONFIGURATIONS = (50, 100, 200, 300, 500, 1000, 2000)
"""The article's."""
OVO, LOG_LOSS = "roc_auc_ovo", "log_loss"
METRICS = (ACCURACY, ROC_AUC, SQUARED_ERROR, OVO, LOG_LOSS)
CLASSES = 3
"""Of the metrics of several classes."""
FOLDS = 10
READINGS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        ACCURACY: {},
        ROC_AUC: {"response": "decision"},
        SQUARED_ERROR: {},
        OVO: {},
        LOG_LOSS: {"response": "probabilities"},
    }
)


@dataclass(frozen=True)
class IndependentSource:
    """The matrices of one of the article's settings.

    Attributes
    ----------
    rows, configurations : int
        N and C.
    beta : (float, float)
        Of the distribution of true accuracies, areas, or shares of what can be explained.
    metric : str
    """

    rows: int
    configurations: int
    beta: tuple[float, float]
    metric: str

    @property
    def cells(self) -> tuple[BedCell]:
        a, b = self.beta
        return (BedCell("independent", f"Be({a:g}, {b:g})", self.metric, self.rows, self.configurations),)

    def matrices(self, entropy: int, repetition: int) -> tuple[KnownMatrix]:
        """The matrix of a repetition."""
        drawn = self._of_classes if self.metric in (OVO, LOG_LOSS) else self._of_bias_study
        return (drawn(entropy, repetition),)

    def _of_bias_study(self, entropy: int, repetition: int) -> KnownMatrix:
        share = PREVALENCE if self.metric == ROC_AUC else None
        setting = BiasSetting(
            self.rows, self.configurations, self.beta, min(FOLDS, self.rows), 1, (), self.metric, share
        )
        drawn = BiasMatrix.drawn(setting, entropy, repetition)
        folds = np.searchsorted(drawn.starts, np.arange(self.rows), side="right") - 1
        y, predictions = _arrays(drawn, folds)
        told = None if self.metric == ACCURACY else folds
        return KnownMatrix(
            y,
            predictions,
            drawn.truth,
            self.metric,
            told,
            drawn.seed,
            READINGS[self.metric],
            distribution=self._distribution,
        )

    def _of_classes(self, entropy: int, repetition: int) -> KnownMatrix:
        place = [str(part) for part in (self.metric, self.rows, self.configurations, *self.beta, repetition)]
        rng = np.random.Generator(np.random.Philox(key=stream(entropy, "study corrections", *place)))
        shares = rng.beta(*self.beta, size=self.configurations)
        y = np.arange(self.rows) % CLASSES
        folds = (np.arange(self.rows) // CLASSES) % min(FOLDS, self.rows // CLASSES)
        drawn: NDArray[Any] | HeldOutPredictions
        if self.metric == OVO:
            areas = np.broadcast_to(shares[:, None, None], (self.configurations, CLASSES, CLASSES))
            scores = scores_of_class_aucs(rng, y, areas)[
                :, :, None, :
            ]  # no probabilities, which an array would hold
            truths, drawn = shares, _as_held_out(Response.PROBABILITIES, scores, folds, np.arange(CLASSES))
        else:
            truths, drawn = _log_loss(shares), probabilities(rng, y, shares)[:, :, None]
        seed = stream(entropy, "study corrections draws", *place)
        told = folds if self.metric == LOG_LOSS else None
        return KnownMatrix(
            y, drawn, truths, self.metric, told, seed, READINGS[self.metric], distribution=self._distribution
        )

    @property
    def _distribution(self) -> KnownDistribution | None:
        if self.metric == ACCURACY:
            return BetaOfCounts(self.beta)
        if self.metric == ROC_AUC:
            return BetaOfScores(self.beta, area_chance, np.asarray)
        if self.metric == SQUARED_ERROR:
            return BetaOfScores(self.beta, squared_error_chance, _rest)
        if self.metric == LOG_LOSS:
            return BetaOfScores(self.beta, _log_loss_chance, _log_loss)
        return None  # the chance of a mean of six areas that share rows has no simple form


def _arrays(drawn: BiasMatrix, folds: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[Any] | HeldOutPredictions]:
    """The target and the predictions as a user has them; labels as codes, because finding them takes long."""
    predicted = drawn.predicted
    if isinstance(predicted, RightOrWrong):
        y = np.arange(len(folds)) % 2
        codes = (y[:, None] ^ predicted.wrong)[:, :, None].astype(np.int32)
        return y, _as_held_out(Response.LABELS, codes, folds, np.arange(2))
    assert isinstance(predicted, MetricPredictions), "a matrix is of one or of the other"
    return predicted.target.values, predicted.predictions


def _as_held_out(
    response: Response, values: NDArray[Any], folds: NDArray[np.intp], classes: NDArray[np.intp]
) -> HeldOutPredictions:
    names = tuple(f"configuration {j}" for j in range(values.shape[1]))
    return HeldOutPredictions({response: values}, names, folds=folds[:, None].astype(np.int32), classes=classes)


class Loss(NamedTuple):
    """Of calibrated probabilities: how strong the signal is, the mean of a row's log loss, and its variance."""

    strength: Floats
    mean: Floats
    variance: Floats

    @property
    def share(self) -> Floats:
        """Of the entropy of the classes that is explained: 0 without a signal, 1 for certainty."""
        return 1 - self.mean / np.log(CLASSES)


NODES = 40
STRENGTHS = np.linspace(0.0, 6.0, 121)


@cache
def losses() -> Loss:
    """For signals of several strengths.

    A row of class k has scores x_l ~ N(0, 1), and N(μ, 1) for l = k. The probabilities proportional to exp(μ x_l)
    are those of the classes given the scores; their log loss is log(1 + Σ_l exp(μ (x_l - x_k))), integrated over
    three normal variables by Gauss and Hermite's rule.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    weights = weights / weights.sum()
    mean, square = np.empty(len(STRENGTHS)), np.empty(len(STRENGTHS))
    own, first, second = nodes[:, None, None], nodes[None, :, None], nodes[None, None, :]
    chance = weights[:, None, None] * weights[None, :, None] * weights[None, None, :]
    for place, strength in enumerate(STRENGTHS):
        others = np.logaddexp(strength * (first - own), strength * (second - own)) - strength**2
        loss = np.logaddexp(0.0, others)
        mean[place], square[place] = float((chance * loss).sum()), float((chance * loss**2).sum())
    return Loss(STRENGTHS, mean, square - mean**2)


@cache
def _square_of_share() -> PchipInterpolator:
    found = losses()
    return PchipInterpolator(found.share, found.strength**2)  # near 0 the share grows as the square


@cache
def _variance_of_share() -> PchipInterpolator:
    found = losses()
    return PchipInterpolator(found.share, found.variance)


def probabilities(rng: np.random.Generator, y: NDArray[np.intp], shares: Floats) -> Floats:
    """Calibrated probabilities (N, C, classes) whose true log loss is log(classes) (1 - share).

    Examples
    --------
    >>> rng, y = np.random.default_rng(0), np.arange(60_000) % 3
    >>> drawn = probabilities(rng, y, np.array([0.6]))
    >>> round(float(-np.log(drawn[np.arange(len(y)), 0, y]).mean() / np.log(3)), 2)
    0.4
    """
    strength = np.sqrt(_square_of_share()(np.minimum(shares, losses().share[-1])))
    scores = rng.standard_normal((len(y), len(shares), CLASSES))
    scores[np.arange(len(y)), :, y] += strength
    found: Floats = softmax(scores * strength[:, None], axis=2)
    return found


def _rest(shares: Floats) -> Floats:
    return 1 - shares


def _log_loss(shares: Floats) -> Floats:
    return np.asarray(np.log(CLASSES) * (1 - shares))


def _log_loss_chance(shares: Floats, observed: float, n_rows: int) -> Floats:
    variance = _variance_of_share()(np.clip(shares, 0.0, losses().share[-1]))
    return mean_chance(_log_loss(shares), variance)(shares, observed, n_rows)


def independent_sources(rows: Any, configurations: Any, beta: Any, metrics: Any) -> tuple[IndependentSource, ...]:
    """Every combination, checked."""
    sizes = checked_sizes("rows", ROWS if rows is None else rows, 2 * FOLDS)
    counts = checked_sizes("configurations", CONFIGURATIONS if configurations is None else configurations, 1)
    named = checked_names("metrics", (ACCURACY,) if metrics is None else metrics, METRICS, ' of part "independent"')
    pairs = checked_beta(BETAS if beta is None else beta)
    if max(sizes) * max(counts) > MOST_NUMBERS:
        raise InputError(
            f"a matrix may hold {MOST_NUMBERS:,} predictions, and {max(sizes):,} rows of {max(counts):,} "
            "configurations are more; ask for fewer.",
            argument="rows",
        )
    return tuple(
        IndependentSource(n, c, pair, metric) for metric, pair, n, c in product(named, pairs, sizes, counts)
    )


MOST_NUMBERS = 20_000_000
