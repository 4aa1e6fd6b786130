"""A question: what is to be estimated, and how the winner is chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heldout.estimates.base import Settings
from heldout.metrics.base import Metric
from heldout.selection import Rule

Aggregate: TypeAlias = Literal["pooled", "folds", "within"]
AGGREGATES: tuple[Aggregate, ...] = ("pooled", "folds", "within")


@dataclass(frozen=True, eq=False)
class Question:
    """What is to be estimated, beside the predictions.

    Attributes
    ----------
    metric : Metric
        Reported.
    selected_on : mapping of str to Metric
        What the selection rule reads, the refit metric first.
    rule : selection rule, rule of weights, or Threshold
    params : sequence of mapping
        Of each configuration, for rules that read them.
    winner : int or None
        The chosen configuration where the search has chosen already; else the rule chooses on the observed
        scores.
    threshold : float or None
        Where an ensemble's probabilities are cut for a metric on labels.
    """

    metric: Metric
    selected_on: Mapping[str, Metric]
    rule: Rule
    aggregate: Aggregate
    settings: Settings
    groups: NDArray[Any] | None = None
    sample_weight: NDArray[np.float64] | None = None
    params: Sequence[Mapping[str, Any]] = ()
    winner: int | None = None
    threshold: float | None = None

    @property
    def metrics(self) -> list[Metric]:
        """Every metric that is computed, once each."""
        read = list(self.selected_on.values())
        return read if any(self.metric is metric for metric in read) else [self.metric, *read]
