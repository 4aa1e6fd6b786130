"""Metrics that are one measure under one name, but read other predictions in each kind of task.

Somers' D of probabilities and of risks, the calibration slope of log-odds, of numbers and of log-hazards: what such
a metric is in a kind of task stands in its table, and the target says which entry counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from heldout.data.task import TaskKind, Truth, no_labels
from heldout.metrics.base import Metric, Needs, Response, Statistic


class OfKind(NamedTuple):
    """What a metric is in one kind of task."""

    responses: tuple[Response, ...]  # preferred first
    needs: Needs  # what drawn rows must hold, and those of a fold too
    # ``bind(truth, predictions)`` to a ``Statistic``, as ``Metric.statistic``
    bind: Callable[[Truth, NDArray[Any]], Statistic]


@dataclass(frozen=True)
class ByKind(Metric):
    """The template of such a metric: ``of_kinds`` is its table.

    Attributes
    ----------
    kind : TaskKind, optional
        Of the target that it was fitted to; before, it may be of any in the table.
    """

    kind: TaskKind | None = field(default=None, repr=False, compare=False, kw_only=True)

    def of_kinds(self) -> Mapping[TaskKind, OfKind]:
        """What the metric is in each kind of task, with its parameters bound."""
        raise NotImplementedError

    @property
    def tasks(self) -> frozenset[TaskKind]:
        return frozenset(self.of_kinds())

    @property
    def responses(self) -> tuple[Response, ...]:
        table = self.of_kinds()
        if self.kind is not None:
            return table[self.kind].responses
        return tuple(dict.fromkeys(response for entry in table.values() for response in entry.responses))

    @property
    def needs(self) -> Needs:
        table = self.of_kinds()
        return next(iter(table.values())).needs if self.kind is None else table[self.kind].needs

    @property
    def undefined_without(self) -> Needs:
        return self.needs

    def for_truth(self, truth: Truth) -> Self:
        """As it is in the target's kind of task."""
        return replace(self, kind=truth.kind) if truth.kind in self.tasks else self

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> Statistic:
        return self.of_kinds()[truth.kind].bind(truth, predictions)


def reads_as_numbers(metric: Metric, y: NDArray[Any]) -> bool:
    """Whether a target is numbers to a metric, of which it may be labels too.

    It is where the metric was fitted to numbers, or knows nothing else; to a metric that knows no more than two
    classes more values than that are numbers, as fractions always are.

    Examples
    --------
    >>> from heldout.metrics import metric_named
    >>> slope = metric_named("calibration_slope")
    >>> [reads_as_numbers(slope, np.array(y)) for y in ([0, 1, 1], [0, 1, 2], ["a", "b"])]
    [False, True, False]
    """
    if TaskKind.REGRESSION not in metric.tasks:
        return False
    kind = metric.kind if isinstance(metric, ByKind) else None
    if kind is not None or not metric.tasks & {TaskKind.BINARY, TaskKind.MULTICLASS}:
        return kind in (None, TaskKind.REGRESSION)
    if y.dtype.kind not in "iuf":
        return False
    return bool(no_labels(y).any()) or (TaskKind.MULTICLASS not in metric.tasks and len(np.unique(y)) > 2)
