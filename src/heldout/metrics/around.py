"""A metric that is another one with something changed: what is not changed is the other's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from heldout.data.task import TaskKind, Truth
from heldout.metrics.base import Metric, Needs, Response, fitted


class AroundMetric(Metric):
    """A dataclass with the field ``metric``; its subclass declares its name, and what differs."""

    metric: Metric

    @property
    def title(self) -> str:
        return self.metric.title

    @property
    def definition(self) -> str:
        return self.metric.definition

    @property
    def greater_is_better(self) -> bool:
        return self.metric.greater_is_better

    @property
    def responses(self) -> tuple[Response, ...]:
        return self.metric.responses

    @property
    def tasks(self) -> frozenset[TaskKind]:
        return self.metric.tasks

    @property
    def range(self) -> tuple[float, float]:
        return self.metric.range

    @property
    def needs(self) -> Needs:
        return self.metric.needs

    @property
    def undefined_without(self) -> Needs:
        return self.metric.undefined_without

    @property
    def row_wise(self) -> bool:
        return self.metric.row_wise

    @property
    def mean_within_classes(self) -> bool:
        return self.metric.mean_within_classes

    @property
    def squares_errors(self) -> bool:
        return self.metric.squares_errors

    @property
    def pos_label(self) -> Any:
        return self.metric.pos_label

    @property
    def sources(self) -> tuple[str, ...]:
        return self.metric.sources

    @property
    def takes_weights(self) -> bool:
        return self.metric.takes_weights

    @property
    def calls_foreign_code(self) -> bool:
        return self.metric.calls_foreign_code

    def clipped(self, truth: Truth, predictions: NDArray[Any]) -> NDArray[np.bool_] | None:
        return self.metric.clipped(truth, predictions)

    def for_truth(self, truth: Truth) -> Self:
        """The same of the metric as it is on this target."""
        changed: Self = replace(self, metric=fitted(self.metric, truth))  # type: ignore[type-var]
        return changed
