"""The default: the optimism bootstrap, unless the model memorises its rows; then .632+."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isnan
from typing import ClassVar

from heldout.metrics.base import OfParts
from heldout.protocols.validation.corrections.base import CorrectedScore
from heldout.protocols.validation.corrections.leave_one_out import OutOfBag
from heldout.protocols.validation.corrections.memorising import memorising
from heldout.protocols.validation.corrections.optimism import Optimism
from heldout.protocols.validation.corrections.point632 import Point632Plus
from heldout.protocols.validation.replicates import Replicates, ReplicateScores


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
