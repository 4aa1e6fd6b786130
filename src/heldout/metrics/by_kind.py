"""Metrics that are one measure under one name, but read other predictions in each kind of task.

Somers' D of probabilities and of risks, the calibration slope of log-odds, of numbers and of log-hazards: what such
a metric is in a kind of task stands in its table, and the target says which entry counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

from numpy.typing import NDArray

from heldout.columns import column_of
from heldout.metrics.base import Metric, Needs, Response, Statistic
from heldout.task import TaskKind, Truth, truth_of


class OfKind(NamedTuple):
    """What a metric is in one kind of task.

    Attributes
    ----------
    responses : tuple of Response
        Preferred first.
    needs : Needs
        What drawn rows must hold, and those of a fold too.
    bind : callable
        ``bind(truth, predictions)`` to a ``Statistic``, as ``Metric.statistic``.
    """

    responses: tuple[Response, ...]
    needs: Needs
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


def truth_for(metric: Metric, y: Any, classes: Any = None, pos_label: Any = None) -> Truth:
    """The target as a metric of numbers, and perhaps of two classes, reads it.

    More than two values are numbers to a metric that knows only two classes.

    Examples
    --------
    >>> from heldout.metrics import metric_named
    >>> [truth_for(metric_named("calibration_slope"), y).kind.value for y in ([0, 1, 1], [0, 1, 2])]
    ['binary', 'regression']
    """
    if metric.tasks == {TaskKind.REGRESSION}:
        return truth_of(y, TaskKind.REGRESSION, classes=classes, pos_label=pos_label)
    numbers = column_of(y, "the target").dtype.kind in "iuf" and classes is None and pos_label is None
    if numbers and TaskKind.MULTICLASS not in metric.tasks and truth_of(y).kind is TaskKind.MULTICLASS:
        return truth_of(y, TaskKind.REGRESSION)
    return truth_of(y, classes=classes, pos_label=pos_label)
