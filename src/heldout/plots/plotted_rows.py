"""The predictions that a curve is of, and what legends and titles say of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from heldout._types import Floats
from heldout.data.task import Truth
from heldout.estimates.question import AGGREGATE_WORDS
from heldout.estimates.types import Estimate
from heldout.metrics.base import Response
from heldout.metrics.named import in_sentence, metric_words
from heldout.plots.curve_lines import UNCORRECTED
from heldout.predictions import HeldOutPredictions, is_predicted
from heldout.report.validation_curves import class_text


@dataclass(frozen=True)
class PlottedRows:
    """One configuration's predictions of a target."""

    truth: Truth
    predictions: HeldOutPredictions
    configuration: int
    sample_weight: Floats | None = None
    estimates: Mapping[str, Estimate] = field(default_factory=dict)
    """The search's estimates of this configuration by their metrics."""

    @property
    def name(self) -> str:
        """Of the configuration."""
        return self.predictions.names[self.configuration]

    @property
    def held(self) -> list[Response]:
        """The responses that the configuration has."""
        arrays = self.predictions.responses.items()
        return [response for response, array in arrays if is_predicted(array[:, self.configuration])]

    @property
    def note_of_positive(self) -> str:
        """Which class of two a curve is of."""
        return f"{class_text(str(self.truth.pos_label))} is positive"

    def note_of_classes(self, n_drawn: int, least: str) -> str:
        """What curves of one class against the others have in common; ``least`` is by which they were chosen."""
        repeats, n = self.predictions.n_repeats, self.truth.n_classes
        first = f", first of {repeats} repeats" if repeats > 1 else ""
        some = f"\nthe {n_drawn} of {n} classes with the smallest {least}" if n_drawn < n else ""
        return f"each against the other classes, {UNCORRECTED}{first}{some}"

    def text_of_search(self, metric: str) -> str:
        """The search's own numbers of a metric, to stand after that of all rows together; empty without any."""
        estimate = self.estimates.get(metric)
        if estimate is None or not np.isfinite(estimate.value):
            return ""
        provenance = estimate.provenance
        how = AGGREGATE_WORDS.get(str(provenance.get("scale_of_value", provenance.get("aggregate"))), "")
        title = in_sentence(metric_words(metric)[0])
        numbers = f"{estimate.uncorrected:.3f} uncorrected, {estimate.value:.3f} corrected"
        return f"\n(the search's {title}{f', {how}' if how else ''}:\n{numbers})"
