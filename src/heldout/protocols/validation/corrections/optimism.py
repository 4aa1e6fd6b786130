"""The optimism bootstrap: subtract how much better models score on their own sample than on all rows.

It subtracts too little of a model that memorises its rows. A sample holds .632 of the rows, and a model that
remembers these is right on most rows that then test it: its score on all rows is far too good, and its optimism far
too small. This is a property of the model, seen in how it ranks the rows (of numbers, in its squared errors), so
that it decides for all metrics. The relative overfitting of each metric would not do: it is 1 for the accuracy of a
logistic regression with an area of .61 and for the log loss of one with .67. ``Automatic``, the default, takes
.632+ of such a model.

The double bootstrap says how far the estimate is off, measured in samples of the samples. The optimism bootstrap
applied to a bootstrap sample estimates the optimism of that sample's model from samples of the sample. The optimism
that this model really has is known, because all rows are what the sample was drawn from: its score on its own
sample minus its score on all rows. The mean difference of the two is how far the method is off, and it is added to
the optimism. Efron (1983) corrects the estimated bias of an error rate in this way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isnan, sqrt
from typing import ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from heldout._types import Floats
from heldout.data.task import TaskKind
from heldout.flags import Flag
from heldout.metrics.base import Metric, OfParts, Response
from heldout.metrics.named import check_fits, in_sentence, metric_named, metric_words
from heldout.protocols.validation.corrections.base import CorrectedScore, undefined
from heldout.protocols.validation.corrections.left_out import OutOfBag, Point632Plus
from heldout.protocols.validation.replicates import Replicates, ReplicateScores

TOLD_BY: Mapping[TaskKind, tuple[str, ...]] = {
    TaskKind.BINARY: ("roc_auc", "balanced_accuracy"),
    TaskKind.MULTICLASS: ("roc_auc_ovr", "balanced_accuracy"),
    TaskKind.REGRESSION: ("mean_squared_error",),
    TaskKind.SURVIVAL: ("concordance_index",),
}
"""The metrics that tell; of each kind the first whose response was recorded."""
NEARLY_PERFECT = 0.1
"""The error on its own sample, as a share of that on the rows left out, below which a sample is memorised. That
includes the best possible score, unless the rows left out have it too. Of the squared error a forest has .06, and
least squares of 100 rows on 30 columns .27."""
NEARLY_ALL = 0.9
"""Relative overfitting of .632+ above which nothing of the apparent score is left on new rows."""


class Memorising(NamedTuple):
    """How a model does on its own samples and on the rows that they left out, if it memorises its rows."""

    score: str = ""
    """What tells, in words; empty for a model that does not memorise."""
    own: float = float("nan")
    left_out: float = float("nan")
    is_perfect: bool = False
    """Whether it is nearly without error on most of its own samples."""

    @property
    def flags(self) -> dict[Flag, str]:
        """That it memorises; none of a model that does not."""
        places = self._asdict()
        return Flag.MEMORISES.of(**places) if self.score else {}


_KNOWN: WeakKeyDictionary[Replicates, Memorising] = WeakKeyDictionary()
"""One answer for all metrics of a model, because it costs a metric of all replicates."""


def memorising(replicates: Replicates) -> Memorising:
    """Whether a model memorises its rows.

    It does if its score on its own sample is nearly perfect in more than half of the samples, or if its relative
    overfitting (Efron & Tibshirani 1997) is above .9.

    Examples
    --------
    Rows 0 and 1 were drawn and predicted without error, the others not:

    >>> from heldout.data.task import truth_of
    >>> from heldout.metrics.base import Response
    >>> predicted = {Response.VALUES: np.array([[0.0], [1.0], [0.0], [0.0]])}
    >>> given = {response: values[:, :, None] for response, values in predicted.items()}
    >>> truth = truth_of([0.0, 1.0, 2.0, 3.0], "regression")
    >>> replicates = Replicates(truth, np.array([[2, 2, 0, 0]], dtype=np.uint8), predicted, given)
    >>> memorising(replicates)
    Memorising(score='mean squared error', own=0.0, left_out=6.5, is_perfect=True)
    """
    if replicates not in _KNOWN:
        metric = _telling(replicates)
        _KNOWN[replicates] = Memorising() if metric is None else _told_by(metric, replicates)
    return _KNOWN[replicates]


def _told_by(metric: Metric, replicates: Replicates) -> Memorising:
    scores = replicates.scores(metric)
    best = metric.range[1] if metric.greater_is_better else 0.0
    own, left_out = abs(scores.in_bootstrap - best), abs(scores.out_of_bag - best)
    both = np.isfinite(own - left_out)
    if not both.any():
        return Memorising()
    is_perfect = bool((own < NEARLY_PERFECT * left_out)[both].mean() > 0.5)
    made_of = Point632Plus().corrected(replicates, scores).provenance
    if not (is_perfect or made_of.get("relative_overfitting", 0.0) > NEARLY_ALL):
        return Memorising()
    in_bag, out_of_bag = (float(values[both].mean()) for values in (scores.in_bootstrap, scores.out_of_bag))
    return Memorising(in_sentence(metric_words(metric.name)[0]), in_bag, out_of_bag, is_perfect)


def _telling(replicates: Replicates) -> Metric | None:
    truth = replicates.truth
    metrics = (check_fits(metric_named(name), truth) for name in TOLD_BY[truth.kind])
    return next((each for each in metrics if {*each.responses} & replicates.on_original.keys()), None)


@dataclass(frozen=True)
class Optimism:
    """Efron's refined bootstrap, as Harrell uses it: apparent - mean over b of (in bootstrap - on original).

    Efron (1983); Harrell, Lee & Mark (1996). It estimates the performance of models that are fitted like this one
    on as many rows; for logistic models Steyerberg et al. (2001) found no better method. The mean is over the
    successful replicates only.

    Notes
    -----
    It is known to correct too little if a model nearly memorises its rows: with more columns than rows, for nearest
    neighbours and unpruned trees, and for metrics of labels, which jump. A sample contains .632 of all rows, so
    such a model is right on most of the rows that then test it. ``"632+"`` was made for this case.

    Examples
    --------
    Of two rows the mean is predicted. All rows give .5, at an error of .5; a sample of one row twice is fitted
    without error, and is wrong by 1 on the other row:

    >>> import numpy as np
    >>> from heldout.metrics import metric_named
    >>> from heldout.data.task import truth_of
    >>> replicates = Replicates(
    ...     truth_of([0.0, 1.0], "regression"),
    ...     counts=np.array([[2, 0], [0, 2]], dtype=np.uint8),
    ...     apparent={Response.VALUES: np.array([[0.5], [0.5]])},
    ...     on_original={Response.VALUES: np.array([[[0.0, 1.0]], [[0.0, 1.0]]])},
    ... )
    >>> Optimism().corrected(replicates, replicates.scores(metric_named("mean_absolute_error"))).value
    1.0
    """

    name: ClassVar[str] = "optimism"
    sources: ClassVar[tuple[str, ...]] = ("efron1983", "harrell1996", "steyerberg2001")
    reads_left_out = False

    def corrected(self, replicates: Replicates, scores: ReplicateScores) -> CorrectedScore:
        metric, kept = scores.metric, scores.successful
        n = int(kept.sum())
        if isnan(scores.apparent):
            return undefined(f"{metric.name} is undefined for the model fitted on all rows")
        if not n:
            return undefined(f"no bootstrap gave a score of {metric.name}")
        differences = scores.in_bootstrap[kept] - scores.on_original[kept]
        difference = float(differences.mean())
        provenance = {
            "apparent": scores.apparent,
            "optimism": difference if metric.greater_is_better else -difference,
            "n": n,
            "monte_carlo_error": float(differences.std(ddof=1) / sqrt(n)) if n > 1 else float("nan"),
        }
        flags = {**memorising(replicates).flags}
        if replicates.response_of(metric) is Response.LABELS:
            flags |= Flag.DISCONTINUOUS_METRIC.of(metric=metric.name)
        return CorrectedScore(scores.apparent - difference, flags, provenance)


class AdjustedOptimism(NamedTuple):
    """Both in the metric's own direction: what is subtracted from an apparent score."""

    inner: float
    """The mean optimism that samples of the samples give."""
    adjusted: float
    """2 optimism - inner."""
    n_undefined: int
    """Samples that have an optimism and no inner one."""


def adjusted_optimism(scores: ReplicateScores, doubles: Floats) -> AdjustedOptimism:
    """The optimism, adjusted by what the same method makes of samples.

    - ``scores``: of one metric of B replicates.
    - ``doubles`` (B,): the score of each replicate's model on its own sample, corrected for the optimism by samples
      of that sample; NaN where there is none.

    With O the mean over b of O_b = in bootstrap - on original, and I_b = in bootstrap - corrected by inner samples,
    it is O + mean(O_b - I_b), the latter over the samples that have both: 2 O - mean(I_b) if all have. NaN if none
    has.

    Examples
    --------
    Two samples with optimisms of .1 and .3, whose own samples estimate .05 and .15, so that half is missed:

    >>> from heldout.metrics import metric_named
    >>> scores = ReplicateScores(
    ...     metric_named("roc_auc"), 0.9, np.array([0.9, 1.0]), np.array([0.8, 0.7]), np.array([0.7, 0.6])
    ... )
    >>> found = adjusted_optimism(scores, doubles=np.array([0.85, 0.85]))
    >>> round(found.inner, 3), round(found.adjusted, 3)  # 2 * .2 - .1
    (0.1, 0.3)
    """
    own = scores.in_bootstrap - scores.on_original
    inner = scores.in_bootstrap - doubles
    # The adjustment is a mean of differences, so only samples with both optimisms count.
    both = scores.successful & np.isfinite(inner)
    missing = int(np.count_nonzero(scores.successful & ~both))
    if not both.any():
        return AdjustedOptimism(float("nan"), float("nan"), missing)
    off = float((own - inner)[both].mean())
    return AdjustedOptimism(float(inner[both].mean()), float(own[scores.successful].mean()) + off, missing)


def with_inner_optimism(
    corrected: CorrectedScore, scores: ReplicateScores, doubles: Floats, *, adjust: bool
) -> CorrectedScore:
    """A score corrected for the optimism, and what samples of the samples say of that optimism.

    - ``doubles``: as in ``adjusted_optimism``.
    - ``adjust``: whether the adjusted optimism is subtracted in place of the plain one.

    ``provenance`` gains ``inner_optimism`` and ``adjusted_optimism``, positive when flattering.
    """
    found = adjusted_optimism(scores, doubles)
    sign = 1.0 if scores.metric.greater_is_better else -1.0
    provenance = {
        **corrected.provenance,
        "inner_optimism": sign * found.inner,
        "adjusted_optimism": sign * found.adjusted,
        "optimism_adjusted": adjust,
    }
    if not adjust or isnan(corrected.value):
        return replace(corrected, provenance=provenance)
    if isnan(found.adjusted):
        none = (
            f"no bootstrap of a bootstrap gave a score of {scores.metric.name}, so the optimism cannot be adjusted"
        )
        return replace(undefined(none, provenance), method=corrected.method)
    flags = dict(corrected.flags)
    if found.n_undefined:
        flags |= Flag.UNDEFINED_BOOTSTRAPS.of(
            undefined=found.n_undefined,
            total=int(scores.successful.sum()),
            why=" (in the samples that were drawn from them)",
        )
    return CorrectedScore(scores.apparent - found.adjusted, flags, provenance, corrected.method)


@dataclass(frozen=True)
class Automatic:
    """The optimism bootstrap; of a model that memorises its rows .632+, or out of bag where a metric has no rate.

    The optimism bootstrap gives a forest an area of .92 on rows of noise, and .632+ .52. ``memorising`` says which
    models memorise, and ``CorrectedScore.method`` what a metric was corrected by.

    Examples
    --------
    Both samples drew the rows that they predict without error, and left out the others:

    >>> import numpy as np
    >>> from heldout.data.task import truth_of
    >>> from heldout.metrics import metric_named
    >>> from heldout.metrics.base import Response
    >>> values = np.array([[[0.0, 9.0]], [[1.0, 9.0]], [[9.0, 2.0]], [[9.0, 3.0]]])
    >>> replicates = Replicates(
    ...     truth_of([0.0, 1.0, 2.0, 3.0], "regression"),
    ...     counts=np.array([[2, 2, 0, 0], [0, 0, 2, 2]], dtype=np.uint8),
    ...     apparent={Response.VALUES: np.array([[0.0], [1.0], [2.0], [3.0]])},
    ...     on_original={Response.VALUES: values},
    ... )
    >>> Automatic().corrected(replicates, replicates.scores(metric_named("mean_absolute_error"))).method
    '632+'
    """

    name: ClassVar[str] = "auto"
    sources: ClassVar[tuple[str, ...]] = Optimism.sources
    # The samples are those of the optimism bootstrap, whichever method it becomes.
    reads_left_out = False

    def corrected(self, replicates: Replicates, scores: ReplicateScores) -> CorrectedScore:
        memorised = memorising(replicates)
        if not memorised.score:
            return replace(Optimism().corrected(replicates, scores), method=Optimism.name)
        plus = Point632Plus().corrected(replicates, scores)
        # The parts of a metric are intercepts and slopes, which have no rate of no information.
        by_rate = not (isnan(plus.value) or isinstance(scores.metric, OfParts))
        corrected = plus if by_rate else OutOfBag().corrected(replicates, scores)
        method = Point632Plus.name if by_rate else OutOfBag.name
        return replace(corrected, flags={**memorised.flags, **corrected.flags}, method=method)
