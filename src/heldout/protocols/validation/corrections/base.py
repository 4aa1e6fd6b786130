"""What a correction is: replicates in, a corrected score out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import isnan
from typing import Any, Protocol

from heldout.flags import Flag
from heldout.metrics.base import Metric, OfParts
from heldout.protocols.validation.replicates import Replicates, ReplicateScores


@dataclass(frozen=True, eq=False)
class CorrectedScore:
    """The corrected score of one metric: what a correction returns."""

    value: float
    """In the metric's own direction and units; NaN (and a flag) where there is none."""
    flags: Mapping[Flag, str] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    """What it was made of, such as the weight and the no-information rate of .632+; ``out_of_bag`` is the score of
    the rows left out, of those that read it."""
    method: str = ""
    """The name of the correction, where it is not that of the one that was called."""

    def within(self, metric: Metric) -> CorrectedScore:
        """The score, moved to the end of the metric's range with a flag if a difference of means lies beyond it."""
        low, high = metric.range
        if isnan(self.value) or low <= self.value <= high:
            return self
        flag = Flag.CORRECTED_BEYOND_RANGE
        sentence = flag.filled(metric=metric.name, value=f"{self.value:.4g}", low=f"{low:g}", high=f"{high:g}")
        return replace(self, value=min(max(self.value, low), high), flags={**self.flags, flag: sentence})


class Correction(Protocol):
    """A frozen dataclass that holds the parameters of a correction.

    - ``name``: as users name it.
    - ``sources``: keys of ``heldout.references``.
    - ``reads_left_out``: whether every sample must leave out rows on which the metrics are defined.
    """

    @property
    def name(self) -> str: ...
    @property
    def sources(self) -> tuple[str, ...]: ...
    @property
    def reads_left_out(self) -> bool: ...

    def corrected(self, replicates: Replicates, scores: ReplicateScores) -> CorrectedScore:
        """The corrected score of one metric.

        - ``replicates``: for what must be read row by row.
        - ``scores``: of these replicates; replicates that are not ``successful`` are left out.
        """


def corrected_score(correction: Correction, replicates: Replicates, scores: ReplicateScores) -> CorrectedScore:
    """The corrected score of one metric; of a metric that is made of parts, that of the corrected parts.

    The means over replicates, in the provenance, are then those of the mean parts too.
    """
    corrected, metric = correction.corrected(replicates, scores), scores.metric
    corrected = replace(corrected, method=corrected.method or correction.name)
    if not isinstance(metric, OfParts):
        return corrected
    parts = [replicates.scores(part.for_truth(replicates.truth)) for part in metric.parts]
    values = [correction.corrected(replicates, part).value for part in parts]
    means = {name: metric.of_parts([part.means[name] for part in parts]) for name in parts[0].means}
    return replace(corrected, value=metric.of_parts(values), provenance={**corrected.provenance, **means})


def undefined(reason: str, provenance: Mapping[str, Any] | None = None) -> CorrectedScore:
    """No score, with the reason why there is none, as half a sentence."""
    return CorrectedScore(float("nan"), Flag.UNDEFINED.of(reason=reason), provenance or {})


def worse(metric: Metric, value: float, than: float) -> bool:
    """Whether one score is worse than another, in the metric's direction."""
    return value < than if metric.greater_is_better else value > than
