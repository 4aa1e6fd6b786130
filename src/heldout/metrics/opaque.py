"""A metric that is declared and cannot score: a scorer that cannot be opened, a matrix of scores, a stand-in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.data.task import TaskKind, Truth
from heldout.errors import InputError
from heldout.metrics.base import Metric, Needs, Response, Statistic


@dataclass(frozen=True)
class OpaqueMetric(Metric):
    """The declaration of such a metric; greater is better by default, as with all of scikit-learn's scorers."""

    name: str = ""
    greater_is_better: bool = True
    responses: tuple[Response, ...] = ()
    tasks: frozenset[TaskKind] = frozenset(TaskKind)
    range: tuple[float, float] = (-np.inf, np.inf)
    needs: Needs = Needs.ROW
    undefined_without: Needs = Needs.ROW
    row_wise: bool = False

    @staticmethod
    def in_place_of(metric: Metric, name: str, responses: tuple[Response, ...]) -> OpaqueMetric:
        """What stands for a metric where predictions are read, and reads others than it."""
        return OpaqueMetric(
            name,
            metric.greater_is_better,
            responses,
            metric.tasks,
            metric.range,
            metric.needs,
            metric.undefined_without,
            metric.row_wise,
        )

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> Statistic:
        raise InputError(f"the scorer '{self.name}' cannot be opened, so it cannot score resampled rows.")
