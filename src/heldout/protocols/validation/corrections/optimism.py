"""The optimism bootstrap: subtract how much better models score on their own sample than on all rows."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, sqrt
from typing import ClassVar

from heldout.flags import Flag
from heldout.metrics.base import Response
from heldout.protocols.validation.corrections.base import CorrectedScore, undefined
from heldout.protocols.validation.corrections.memorising import memorising
from heldout.protocols.validation.replicates import Replicates, ReplicateScores


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
