"""What ``ho.estimate`` takes in place of true values and predictions: a table of another tool that holds both."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from heldout.estimates.responses import ResponseName
from heldout.metrics.base import Metric
from heldout.selection import Rule


@runtime_checkable
class KnownPredictions(Protocol):
    """True values with held-out predictions of them, such as a table of another tool."""

    def arguments(
        self,
        metric: Metric,
        rule: Rule,
        *,
        classes: Any,
        pos_label: Any,
        response: ResponseName,
        threshold: float | None,
    ) -> dict[str, Any]:
        """The arguments of ``read_inputs`` that stand for them: y_true, predictions, groups, sample_weight
        and, where averages are cut, threshold."""
