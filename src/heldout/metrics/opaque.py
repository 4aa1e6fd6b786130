"""A metric of which scores are known and nothing else: a scorer that cannot be opened, or a matrix of scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.errors import InputError
from heldout.metrics.base import Needs, Response, Statistic
from heldout.task import TaskKind, Truth


@dataclass(frozen=True)
class OpaqueMetric:
    """What can be said of such a metric; greater is better unless told, as always with scikit-learn's scorers."""

    name: str
    greater_is_better: bool = True
    responses: tuple[Response, ...] = ()
    tasks: frozenset[TaskKind] = frozenset(TaskKind)
    range: tuple[float, float] = (-np.inf, np.inf)
    needs: Needs = Needs.ROW
    undefined_without: Needs = Needs.ROW
    row_wise: bool = False

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> Statistic:
        raise InputError(f"the scorer '{self.name}' cannot be opened, so it cannot score resampled rows.")
