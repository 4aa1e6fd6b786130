"""The .632 and the .632+ bootstrap: between an optimistic and a pessimistic score.

The apparent score is on rows that trained the model; the out-of-bag score is of models with fewer training rows.
Both methods average them, .632+ with weights that depend on the overfitting.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, isnan
from typing import Any, ClassVar, NamedTuple

from heldout.metrics.base import Metric
from heldout.protocols.validation.corrections.base import CorrectedScore, undefined
from heldout.protocols.validation.corrections.leave_one_out import left_out_score
from heldout.protocols.validation.corrections.no_information import NoInformation, no_information
from heldout.protocols.validation.replicates import Replicates, ReplicateScores

SHARE_SEEN = 0.632
"""The share of distinct rows in a sample, about 1 - 1/e; rounded as in the articles and in R."""
SHARE_UNSEEN = 0.368


@dataclass(frozen=True)
class Point632:
    """.368 apparent + .632 out-of-bag (Efron 1983), for scores and losses alike.

    A model that memorises its rows has a perfect apparent score, to which the fixed weight gives too much
    influence.

    Examples
    --------
    >>> round(SHARE_UNSEEN * 0.0 + SHARE_SEEN * 0.5, 3)  # memorised noise: the true error is .5
    0.316
    """

    name: ClassVar[str] = "632"
    sources: ClassVar[tuple[str, ...]] = ("efron1983",)
    reads_left_out = True

    def corrected(self, replicates: Replicates, scores: ReplicateScores) -> CorrectedScore:
        left_out = left_out_score(replicates, scores)
        provenance = _both(scores.apparent, left_out)
        if isnan(scores.apparent):
            return _undefined_apparent(scores.metric, provenance)
        value = SHARE_UNSEEN * scores.apparent + SHARE_SEEN * left_out.value
        return CorrectedScore(value, left_out.flags, {**provenance, "weight": SHARE_SEEN})


@dataclass(frozen=True)
class Point632Plus:
    """(1 - w) apparent + w out-of-bag, the more of the latter the more the model overfits.

    Efron & Tibshirani (1997). The scores are turned into errors: a loss as it is, a score as its distance
    from the best possible value. Then, with the article's symbols in brackets,

    - ``no_information`` [gamma] is the error if predictions and labels had nothing to do with each other: over all
      N x N pairs of them, by the model fitted on all rows;
    - ``relative_overfitting`` [R'] = (min(out of bag, gamma) - apparent) / (gamma - apparent) where both the error
      out of bag and gamma are above the apparent one, else 0;
    - ``weight`` [w] = .632 / (1 - .368 R'), from .632 to 1;
    - the error is (1 - w) apparent + w min(out of bag, gamma).

    The article adds to the .632 error, which it makes of the out-of-bag error as it is. That differs only where the
    model predicts worse than chance, and goes beyond gamma there; such a value stands in the provenance as
    ``as_published``. R's ``ipred`` lets R' pass 1 there too.

    Of a metric without a best possible value (a calibration slope is best at 1 and no better at 2) there is no
    error, and of some others no rate without information: NaN, and a flag.

    Examples
    --------
    Of remembered noise nothing of the apparent error is left, and a model that does not overfit has .632:

    >>> weighed = weigh(apparent=0.0, out_of_bag=0.5, no_information=0.5)
    >>> weighed.error, weighed.weight
    (0.5, 1.0)
    >>> weigh(apparent=0.2, out_of_bag=0.2, no_information=0.5).weight
    0.632
    """

    name: ClassVar[str] = "632+"
    sources: ClassVar[tuple[str, ...]] = ("efron1997",)
    reads_left_out = True

    def corrected(self, replicates: Replicates, scores: ReplicateScores) -> CorrectedScore:
        metric = scores.metric
        left_out = left_out_score(replicates, scores)
        provenance = _both(scores.apparent, left_out)
        best = metric.range[1] if metric.greater_is_better else 0.0
        if metric.ideal is not None or not isfinite(best):
            return _without_information(f"{metric.name} has no best possible value", provenance)
        if isnan(scores.apparent):
            return _undefined_apparent(metric, provenance)
        if isnan(left_out.value):
            return CorrectedScore(left_out.value, left_out.flags, provenance)
        rate: NoInformation = no_information(replicates, metric)
        if isnan(rate.value):
            return _without_information(rate.reason, provenance)
        sign = -1.0 if metric.greater_is_better else 1.0
        apparent, out_of_bag, gamma = (
            sign * (each - best) for each in (scores.apparent, left_out.value, rate.value)
        )
        found = weigh(apparent, out_of_bag, gamma)
        provenance |= {
            "no_information": rate.value,
            "relative_overfitting": found.relative_overfitting,
            "weight": found.weight,
        }
        if out_of_bag > gamma:
            provenance["as_published"] = best + sign * found.as_published
        return CorrectedScore(best + sign * found.error, left_out.flags, provenance)


class WeightedScore(NamedTuple):
    """An error by .632+, and what it was made of."""

    error: float
    relative_overfitting: float
    weight: float
    as_published: float
    """By the article's formula, with the out-of-bag error as it is also above the no-information rate."""


def weigh(apparent: float, out_of_bag: float, no_information: float) -> WeightedScore:
    """.632+ of three errors.

    Examples
    --------
    >>> found = weigh(apparent=0.1, out_of_bag=0.3, no_information=0.5)
    >>> [round(each, 4) for each in found]  # R' = .2 / .4, w = .632 / .816
    [0.2549, 0.5, 0.7745, 0.2549]
    """
    bounded = min(out_of_bag, no_information)
    overfitting = 0.0
    if out_of_bag > apparent and no_information > apparent:
        overfitting = (bounded - apparent) / (no_information - apparent)
    weight = SHARE_SEEN / (1 - SHARE_UNSEEN * overfitting)
    published = SHARE_UNSEEN * apparent + SHARE_SEEN * out_of_bag + (bounded - apparent) * (weight - SHARE_SEEN)
    return WeightedScore((1 - weight) * apparent + weight * bounded, overfitting, weight, published)


def _both(apparent: float, left_out: CorrectedScore) -> dict[str, Any]:
    return {"apparent": apparent, "out_of_bag": left_out.value, **left_out.provenance}


def _undefined_apparent(metric: Metric, provenance: Mapping[str, Any]) -> CorrectedScore:
    return undefined(f"{metric.name} is undefined for the model fitted on all rows", provenance)


def _without_information(reason: str, provenance: Mapping[str, Any]) -> CorrectedScore:
    return undefined(
        f".632+ needs the error of predictions that know nothing, and {reason}; `method='optimism'` needs none",
        provenance,
    )
