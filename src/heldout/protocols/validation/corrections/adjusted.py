"""The double bootstrap of the optimism: how far the estimate is off, measured in samples of the samples.

The optimism bootstrap applied to a bootstrap sample estimates the optimism of that sample's model from samples of
the sample. The optimism that this model really has is known, because all rows are what the sample was drawn from:
its score on its own sample minus its score on all rows. The mean difference of the two is how far the method is
off, and it is added to the optimism. Efron (1983) corrects the estimated bias of an error rate in this way.
"""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from typing import NamedTuple

import numpy as np

from heldout._types import Floats
from heldout.flags import Flag
from heldout.protocols.validation.corrections.base import CorrectedScore, undefined
from heldout.protocols.validation.replicates import ReplicateScores


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
