"""What a metric is: a declaration (direction, response, tasks, range, needs) and one method.

``Metric.statistic`` binds the metric to rows and predictions; the ``Statistic`` that it returns is evaluated
for blocks of weightings of those rows, which is all that the estimates ever ask.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import StrEnum
from operator import attrgetter
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, Self, TypeGuard, runtime_checkable

import numpy as np

from heldout._text import is_one_of, python_value
from heldout._types import Array, Booleans, Counts, Floats, Indices, Weightings
from heldout.data.task import TaskKind, Truth, labels_text, no_labels
from heldout.errors import InputError
from heldout.kernels.dispatch import cut_rows, total_weight
from heldout.kernels.reference import places_in_time


class Response(StrEnum):
    """Kinds of predictions: the names of the arrays in ``HeldOutPredictions``."""

    LABELS = "labels"
    """``predict`` of a classifier, as class codes (int32): shape (n, C)."""
    PROBABILITIES = "probabilities"
    """``predict_proba``: of the positive class (n, C) for a binary task, else (n, C, n_classes)."""
    DECISION = "decision"
    """``decision_function``: greater = more positive, (n, C) for a binary task, else (n, C, n_classes)."""
    VALUES = "values"
    """``predict`` of a regressor: (n, C)."""
    RISK = "risk"
    """``predict`` of a survival model: greater = an earlier event, (n, C)."""
    SURVIVAL = "survival"
    """Probabilities of no event until each of some times: (n, C, n_times)."""


ESTIMATOR_METHODS: Mapping[Response, str] = MappingProxyType(
    {
        Response.LABELS: "predict",
        Response.VALUES: "predict",
        Response.PROBABILITIES: "predict_proba",
        Response.DECISION: "decision_function",
    }
)
"""The method of scikit-learn's estimators that gives each response."""


class Needs(StrEnum):
    """What rows must contain for a metric to be defined."""

    ROW = "a row"
    TWO_ROWS = "two rows"
    EVERY_CLASS = "a row of every class"
    EVERY_OF_SEVERAL = "a row of every class, if there are more than two"
    POSITIVE = "a row of the positive class"
    """Of a multi-class task: of every class, as each is the positive one in turn."""
    TWO_VALUES = "two different target values"
    PAIR = "an event and a row that outlasts it"
    """Of a survival task; a row censored at the time of an event outlasts it."""

    def codes(self, truth: Truth, positive: int | None) -> list[int]:
        """The classes that must have a row; ``positive`` is the metric's own positive class."""
        if self is Needs.POSITIVE and positive is not None:
            return [positive]
        if self in (Needs.EVERY_CLASS, Needs.POSITIVE) or (self is Needs.EVERY_OF_SEVERAL and truth.n_classes > 2):
            return list(range(truth.n_classes))
        return []

    def met(self, truth: Truth, positive: int | None, weights: Weightings, rows: Indices | None = None) -> Booleans:
        """(L,): whether the rows of positive weight are enough.

        ``weights`` are those of the n rows of the target, (L, n), or of more rows, (L, N): then ``rows`` (n,) are
        the rows of the target.
        """
        rows = np.arange(truth.n_rows) if rows is None else rows
        if self is Needs.PAIR:
            return _has_pair(truth, np.take(weights, rows, axis=1) > 0)
        if self is Needs.TWO_VALUES:
            return hold_two_values(truth.values, weights, rows)
        if self is Needs.TWO_ROWS:
            return _found(weights, rows, lambda part, present: np.asarray(present.sum(axis=1) >= 2))
        codes = self.codes(truth, positive)
        sets = [rows[truth.values == code] for code in codes] if codes else [rows]
        held = [_found(weights, members, lambda part, present: np.asarray(present.any(axis=1))) for members in sets]
        return np.asarray(np.logical_and.reduce(held))


PROBED_ROWS = 16
"""So many rows show of most weightings that they hold enough."""


def _found(weights: Weightings, rows: Indices, found_in: Callable[[slice, Booleans], Booleans]) -> Booleans:
    """(L,): whether ``found_in(part of the rows, which of them are present)``, for something that more rows keep.

    All rows are read only of those weightings of which the first few rows do not hold it.
    """
    first = slice(0, PROBED_ROWS)
    # A few rows of each weighting decide most cases; bootstraps of thousands of rows are not read for one row of a
    # class.
    presence = np.asarray(found_in(first, np.take(weights, rows[first], axis=1) > 0))
    if len(rows) > PROBED_ROWS and not presence.all():
        rest = weights if not presence.any() else weights[~presence]
        presence[~presence] = found_in(slice(None), cut_rows(rest, rows) > 0)
    return presence


def hold_two_values(values: Array, weights: Weightings, rows: Indices) -> Booleans:
    """(L,): whether the rows of positive weight hold two different of the values (n,), which belong to ``rows``."""

    def two(part: slice, present: Booleans) -> Booleans:
        # More rows than the most frequent value has are enough.
        here = values[part].tolist()
        most = 1 if len(set(here)) == len(here) else max(Counter(here).values())
        presence = np.asarray(np.count_nonzero(present, axis=1) > most)
        few = present[~presence]
        if few.size:
            least = np.where(few, values[part], np.inf).min(axis=1)
            greatest = np.where(few, values[part], -np.inf).max(axis=1)
            presence[~presence] = least < greatest
        return presence

    return _found(weights, rows, two)


def _has_pair(truth: Truth, present: Booleans) -> Booleans:
    """(L,): whether the last row present is later than the first event present."""
    event = truth.values["event"]
    places = places_in_time(event, truth.values["time"])
    order = np.argsort(places)
    places, event, present = places[order], event[order], np.take(present, order, axis=1)
    events = present & event
    first = events.argmax(axis=1)
    last = present.shape[1] - 1 - present[:, ::-1].argmax(axis=1)
    return np.asarray(events.any(axis=1) & (places[first] < places[last]))


class Statistic(Protocol):
    """A metric bound to n rows and C columns of predictions.

    ``counts`` (L, n) weigh the rows: uint8 for bootstrap counts (results are exact for those), float64 for
    counts times sample weights. Values come in the metric's own direction and units: scikit-learn's number
    where it gives a finite one, infinite where a loss passes float64, NaN where there is nothing to give.
    """

    def all(self, counts: Weightings) -> Floats:
        """(L, C): every column under every weighting."""

    def selected(self, counts: Weightings, columns: Indices) -> Floats:
        """(L,): column ``columns[l]`` under weighting l."""


class Selected(NamedTuple):
    """The best column in the bag under each of L weightings, and its value out of the bag."""

    columns: Indices
    values: Floats


@runtime_checkable
class Fused(Protocol):
    """A statistic that selects in the bag and scores out of it without a matrix of values.

    It can where the denominator is common to all columns, so that the best sum is the best value. It is asked
    only for draws that hold what the metric needs, so that no value is NaN.
    """

    def best_out_of_bag(self, counts: Counts) -> Selected:
        """For counts (L, n): the first best column on the drawn rows, its value on those not drawn."""


class Sums(Protocol):
    """What every kernel of ``heldout.kernels.dispatch`` offers."""

    def all(self, counts: Weightings) -> Array: ...
    def selected(self, counts: Weightings, columns: Indices) -> Array: ...


@runtime_checkable
class Failing(Protocol):
    """A statistic of a function that may fail.

    Attributes
    ----------
    failures : mapping of str to int
        Message → how often the function raised it or gave no finite number.
    """

    @property
    def failures(self) -> Mapping[str, int]: ...


@runtime_checkable
class OfParts(Protocol):
    """A metric that is a function of other metrics: that of a corrected score is made of the corrected parts.

    A mean over bootstraps of a distance is above 0 where the distance of the mean is 0.
    """

    @property
    def parts(self) -> tuple[Metric, ...]: ...
    def of_parts(self, values: Sequence[float]) -> float:
        """The metric of one value for each part."""


class Metric:
    """Base class of metrics, which measure predictive performance; a subclass declares the members by assignment.

    Attributes
    ----------
    name : str
        The name by which users choose it and reports print it.
    stem : str
        The first part of ``name``, which adds the parameters that differ from their defaults.
    greater_is_better : bool
        Whether it is a score (True) or a loss (False).
    responses : tuple of Response
        What it can be computed from, preferred first; the first that a model has is used.
    tasks : frozenset of TaskKind
        The kinds of task to which it applies.
    range : (float, float)
        Least and greatest possible value.
    needs : Needs
        What the rows in and out of bag must contain for the metric to be meaningful; otherwise the bootstrap is
        drawn again.
    undefined_without : Needs
        What the rows of a fold must contain for scikit-learn to give a number, so that the fold enters the mean
        over folds. Often less than ``needs``: F1 of rows without a positive one is 0 in scikit-learn.
    row_wise : bool
        Whether the value is a weighted mean of one loss per row.

    pos_label : label or None
        The metric's own positive class; None for the task's.
    takes_weights : bool
        Whether it can be weighted.
    calls_foreign_code : bool
        Whether it runs a function of the user or of scikit-learn, which may warn.
    ideal : float or None
        The best value of a metric without a better direction: a calibration slope is best at 1 and no better at 2.
        Such a metric describes a model, but cannot select one.
    fits_to_its_rows : bool
        Whether it fits a curve to the rows that it scores.
    mean_within_classes : bool
        Whether it is a mean over the rows of each class, or over pairs of rows of two classes. A random part of
        each class then has the same expected value.
    squares_errors : bool
        Whether the loss of a row is its squared error.
    reads_truth : bool
        False if predictions are scores themselves, without true values.
    sources : tuple of str
        Keys of ``heldout.references``.
    times : sequence of float or None
        The times at which it reads survival probabilities, ascending.
    title, definition : str
        Its name for people, and one sentence on what it measures; a user's own metric has no definition.
    function_name : str
        The function of scikit-learn or scikit-survival that computes it, if it has another name; else empty.
    """

    greater_is_better: bool
    row_wise: bool = False
    pos_label: Any = None
    takes_weights: bool = True
    calls_foreign_code: bool = False
    ideal: float | None = None
    mean_within_classes: bool = False
    squares_errors: bool = False
    reads_truth: bool = True
    sources: tuple[str, ...] = ()
    _variants: tuple[tuple[Any, ...], ...] = ((),)  # arguments of the class, for each metric with a name of its own

    @property
    def stem(self) -> str:
        return type(self).__name__

    @property
    def name(self) -> str:
        return name_with(self.stem, self)

    @property
    def responses(self) -> tuple[Response, ...]:
        raise NotImplementedError(f"{type(self).__name__} declares no 'responses'")

    @property
    def tasks(self) -> frozenset[TaskKind]:
        raise NotImplementedError(f"{type(self).__name__} declares no 'tasks'")

    @property
    def range(self) -> tuple[float, float]:
        raise NotImplementedError(f"{type(self).__name__} declares no 'range'")

    @property
    def needs(self) -> Needs:
        return Needs.ROW

    @property
    def undefined_without(self) -> Needs:
        return Needs.ROW

    @property
    def fits_to_its_rows(self) -> bool:
        return False

    @property
    def times(self) -> Sequence[float] | None:
        return None

    @property
    def title(self) -> str:
        return self.name.replace("_", " ")

    @property
    def definition(self) -> str:
        return ""

    @property
    def function_name(self) -> str:
        return ""

    def for_truth(self, truth: Truth) -> Metric:
        """The metric for this target: with the range that it has there, and its positive class checked."""
        return self

    def truth_for_needs(self, truth: Truth) -> Truth:
        """The target on which ``needs`` are checked; Uno's index excludes late events, which it does not count."""
        return truth

    def clipped(self, truth: Truth, predictions: Array) -> Booleans | None:
        """(n, C): where clipping replaces a probability and sets the value; None if that never happens."""
        return None

    def statistic(self, truth: Truth, predictions: Array) -> Statistic:
        """The metric bound to the n rows of ``truth`` and predictions (n, C) or (n, C, n_classes) of one response.

        No prediction is NaN; labels are class codes; binary probabilities and decisions point to
        ``truth.positive``.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method 'statistic'")


NO_PARAMETERS = frozenset({"responses", "metric", "sign", "censoring", "kind", "is_of_other_class"})
"""Fields of metrics that follow from the model, the target or the name."""


def name_with(stem: str, metric: Any, *parameters: str) -> str:
    """A metric's name with those of its parameters (all by default) that differ from their default.

    Examples
    --------
    >>> from heldout.metrics.regression import PinballLoss
    >>> name_with("mean_pinball_loss", PinballLoss(np.float64(0.9))), name_with("pinball", PinballLoss(), "alpha")
    ('mean_pinball_loss(alpha=0.9)', 'pinball')
    """
    declared = fields(metric) if is_dataclass(metric) else ()
    usual = {field.name: field.default for field in declared if field.name not in NO_PARAMETERS}
    given = {name: python_value(getattr(metric, name)) for name in parameters or usual}
    listed = ", ".join(f"{name}={value!r}" for name, value in given.items() if not is_one_of(value, (usual[name],)))
    return f"{stem}({listed})" if listed else stem


def oriented(metric: Metric, values: Floats) -> Floats:
    """Scores with greater = better: the values themselves for a score, their negative for a loss."""
    return values if metric.greater_is_better else -values


@contextmanager
def quiet_if_foreign(metrics: Iterable[Metric]) -> Iterator[None]:
    """Silence warnings while users' functions are called, which may warn in every bootstrap.

    Filters of warnings belong to the process, so this is entered around threads and never in them.
    """
    with warnings.catch_warnings():
        if any(metric.calls_foreign_code for metric in metrics):
            warnings.simplefilter("ignore")
        yield


def positive_of(metric: Metric, truth: Truth) -> int | None:
    """The positive class of a metric: its own ``pos_label``, or else the task's.

    Parameters
    ----------
    metric : Metric
    truth : Truth

    Returns
    -------
    int or None
        The code of the class; None if the target has no positive class.

    Raises
    ------
    InputError
        When ``pos_label`` is none of the classes.
    """
    pos_label = metric.pos_label
    if pos_label is None or truth.positive is None or truth.classes is None:
        return truth.positive
    labels = truth.classes.tolist()
    if pos_label not in labels:
        raise InputError(
            f"metric '{metric.name}' has `pos_label={pos_label!r}`, but the classes are {labels_text(labels)}; "
            "name one of them as `pos_label`.",
            argument="metric",
        )
    return labels.index(pos_label)


def needed_codes(metric: Metric, truth: Truth) -> list[int]:
    """The classes of which a bootstrap needs a row in the bag and one out of it, by the metric's ``needs``.

    Examples
    --------
    >>> from heldout.metrics import metric_named
    >>> from heldout.metrics.classification import FScore
    >>> from heldout.data.task import truth_of
    >>> truth = truth_of(["ill", "well", "well"])
    >>> metrics = FScore(pos_label="ill"), metric_named("roc_auc"), metric_named("accuracy")
    >>> [needed_codes(metric, truth) for metric in metrics]
    [[0], [0, 1], []]
    """
    return metric.needs.codes(truth, positive_of(metric, truth))


_PERHAPS_NEEDED = MappingProxyType({TaskKind.REGRESSION: Needs.TWO_VALUES, TaskKind.SURVIVAL: Needs.PAIR})
"""What a metric that does not declare its needs may need of rows; of a classification every class."""


def needs_of_score(metric: Metric | None, truth: Truth) -> Needs:
    """What rows may lack if scikit-learn gives the metric no number; None is a scorer that cannot be opened."""
    declared = Needs.ROW if metric is None else metric.undefined_without
    if declared is Needs.ROW and (metric is None or metric.calls_foreign_code):
        return _PERHAPS_NEEDED.get(truth.kind, Needs.EVERY_CLASS)
    return declared


def is_undefined(metric: Metric | None, truth: Truth, weight: Floats | None = None) -> bool:
    """Whether rows on which no model has a score have none by the metric's definition, and not by an error."""
    needs = needs_of_score(metric, truth)
    weights = np.ones((1, truth.n_rows)) if weight is None else weight[None]
    counted, positive = (
        (truth, None) if metric is None else (metric.truth_for_needs(truth), positive_of(metric, truth))
    )
    return not needs.met(counted, positive, weights)[0]


def check_among(parameter: str, value: Any, allowed: Sequence[Any]) -> None:
    """Refuse a value that a metric's parameter cannot have."""
    if not any(value is one or (isinstance(value, str) and value == one) for one in allowed):
        raise InputError(f"{parameter} must be one of {', '.join(repr(one) for one in allowed)}, got {value!r}.")


def times_of(metric: Metric) -> tuple[float, ...]:
    """The times at which a metric reads survival probabilities; none of one that reads none, or any."""
    return () if metric.times is None else tuple(float(time) for time in metric.times)


def full_name(metric: Metric) -> str:
    """The name by which a metric is found again: with its times, where they are several and the name has none.

    Examples
    --------
    >>> from heldout.metrics.survival import IntegratedBrier
    >>> full_name(IntegratedBrier(times=(1, 4)))
    'integrated_brier_score(times=[1.0, 4.0])'
    """
    times = times_of(metric)
    return f"{metric.name}(times={list(times)})" if len(times) > 1 and "(" not in metric.name else metric.name


def at_times_of(metric: Metric, array: Array, times: Sequence[float]) -> Array:
    """Survival probabilities (..., n_times) at the times that a metric reads, of those at ``times``.

    Examples
    --------
    >>> from heldout.metrics.survival import IntegratedBrier
    >>> at_times_of(IntegratedBrier(times=(1, 4)), np.array([[[0.9, 0.8, 0.7]]]), (1, 2, 4)).tolist()
    [[[0.9, 0.7]]]
    """
    read = times_of(metric)
    if not read or not times or read == tuple(times):
        return array
    place = {time: number for number, time in enumerate(times)}
    absent = [time for time in read if time not in place]
    if absent:
        raise InputError(
            f"{metric.name} reads survival probabilities at time {absent[0]:g}, but the predictions are of times "
            f"{', '.join(f'{time:g}' for time in times)}; predict them at its times too."
        )
    return array[..., [place[time] for time in read]]


def checked_probabilities(name: str, predictions: Array) -> Floats:
    """Predictions as float64; InputError, naming the metric, where they are beyond [0, 1]."""
    given: Floats = np.asarray(predictions, dtype=np.float64)
    if given.size and not (given.min() >= 0 and given.max() <= 1):
        raise InputError(
            f"metric '{name}' needs probabilities from 0 to 1, got values from {given.min():g} to "
            f"{given.max():g}; give probabilities, or use a metric that takes decision values.",
            argument="metric",
        )
    return given


class OfKind(NamedTuple):
    """What a metric is in one kind of task."""

    responses: tuple[Response, ...]  # preferred first
    needs: Needs  # what drawn rows must hold, and those of a fold too
    # ``bind(truth, predictions)`` to a ``Statistic``, as ``Metric.statistic``
    bind: Callable[[Truth, Array], Statistic]


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

    def statistic(self, truth: Truth, predictions: Array) -> Statistic:
        return self.of_kinds()[truth.kind].bind(truth, predictions)


def reads_as_numbers(metric: Metric, y: Array) -> bool:
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


class PairStatistic(Statistic, Protocol):
    """A statistic that knows where it has pairs."""

    def defined(self, counts: Weightings) -> Booleans:
        """(L,): whether the rows of positive weight (L, n) hold every pair that the metric needs."""


class PairBased(Metric):
    """A metric that can count the pairs of rows of one fold only.

    Attributes
    ----------
    share_of_pairs : PairBased
        The metric, or one that tells of the same scores whether folds are comparable: folds of any size have the
        expected share of pairs of all rows then, while the beginning of a curve is coarser in a small fold.
    """

    @property
    def share_of_pairs(self) -> PairBased:
        return self

    def statistic(self, truth: Truth, predictions: Array) -> Statistic:
        return self.statistic_within(truth, predictions, None)

    def statistic_within(self, truth: Truth, predictions: Array, folds: Indices | None) -> PairStatistic:
        """As ``statistic``, of the pairs of rows with equal ``folds`` (n,), codes of at least 0; of all by None."""
        raise NotImplementedError


def is_pair_based(metric: Metric) -> TypeGuard[PairBased]:
    """Whether a metric can count the pairs within folds.

    Examples
    --------
    >>> from heldout.metrics import metric_named
    >>> [is_pair_based(metric_named(name)) for name in ("roc_auc", "concordance_index", "log_loss", "neg_log_loss")]
    [True, True, False, False]
    """
    return isinstance(unsigned(metric), PairBased)


class OfOneClass(Metric):
    """A metric of one class, a dataclass with ``pos_label`` and ``is_of_other_class`` (than the task's)."""

    is_of_other_class: bool

    @property
    def name(self) -> str:
        return name_with(self.stem, self, "pos_label") if self.is_of_other_class else self.stem

    def for_truth(self, truth: Truth) -> Self:
        code = positive_of(self, truth)
        if code == truth.positive:
            return self
        changed: Self = replace(self, pos_label=truth.label_of(code), is_of_other_class=True)  # type: ignore[type-var]
        return changed


class AroundMetric(Metric):
    """A dataclass with the field ``metric``, whose members it has; its subclass declares what differs."""

    metric: Metric

    def clipped(self, truth: Truth, predictions: Array) -> Booleans | None:
        return self.metric.clipped(truth, predictions)

    def for_truth(self, truth: Truth) -> Self:
        """The same of the metric as it is on this target."""
        changed: Self = replace(self, metric=self.metric.for_truth(truth))  # type: ignore[type-var]
        return changed


_FORWARDED = (
    "name title definition greater_is_better responses tasks range needs undefined_without row_wise "
    "mean_within_classes squares_errors reads_truth pos_label sources takes_weights calls_foreign_code"
)
for _member in _FORWARDED.split():
    setattr(AroundMetric, _member, property(attrgetter(f"metric.{_member}")))


@dataclass(frozen=True)
class Signed(AroundMetric, PairBased):
    """``sign`` times a metric, with greater = better: what scikit-learn's scorers are.

    ``neg_log_loss`` is log loss times -1, and greater is better. The best column stays the best.

    Attributes
    ----------
    metric : Metric
    sign : 1 or -1
        -1 of a loss is the usual case. +1 of a loss maximises it, and -1 of a score minimises it: what a
        scorer says is done, as the search that it comes from does it too.

    Examples
    --------
    >>> from heldout.metrics.classification import LogLoss
    >>> Signed(LogLoss(), -1).name, Signed(LogLoss(), -1).range
    ('neg_log_loss', (-inf, 0.0))
    """

    metric: Metric
    sign: int
    greater_is_better = True

    @property
    def name(self) -> str:
        return self.metric.name if self.sign > 0 else f"neg_{self.metric.name}"

    @property
    def range(self) -> tuple[float, float]:
        low, high = self.metric.range
        return (low, high) if self.sign > 0 else (0.0 - high, 0.0 - low)

    @property
    def times(self) -> tuple[float, ...]:
        return times_of(self.metric)

    def statistic(self, truth: Truth, predictions: Array) -> Rescaled:
        inner = self.metric.statistic(truth, predictions)
        same_best = self.metric.greater_is_better == (self.sign > 0)
        kind = RescaledFused if same_best and isinstance(inner, Fused) else Rescaled
        return kind(inner, self.sign)

    @property
    def share_of_pairs(self) -> PairBased:
        return self.metric.share_of_pairs if isinstance(self.metric, PairBased) else self

    def statistic_within(self, truth: Truth, predictions: Array, folds: Indices | None) -> PairStatistic:
        assert isinstance(self.metric, PairBased), "asked only of those that are"
        return Rescaled(self.metric.statistic_within(truth, predictions, folds), self.sign)


def unsigned(metric: Metric) -> Metric:
    """The metric within one of scikit-learn's ``neg_`` names; any other itself."""
    return metric.metric if isinstance(metric, Signed) else metric


def is_reversed(metric: Metric) -> bool:
    """Whether a scorer maximises a loss, or minimises a score."""
    return isinstance(metric, Signed) and metric.metric.greater_is_better != (metric.sign > 0)


def sign_of(metric: Metric) -> int:
    """-1 of a ``neg_`` name, otherwise 1."""
    return metric.sign if isinstance(metric, Signed) else 1


@dataclass(frozen=True, eq=False)
class Rescaled:
    """``origin + factor * value`` of a statistic; a ``Statistic``."""

    inner: Any  # a Statistic; a ``PairStatistic`` where it is asked whether it is defined
    factor: float
    origin: float = 0.0  # 0 and not nothing: a perfect loss is 0, not -0

    def all(self, counts: Weightings) -> Floats:
        return self._rescaled(self.inner.all(counts))

    def selected(self, counts: Weightings, columns: Indices) -> Floats:
        return self._rescaled(self.inner.selected(counts, columns))

    def defined(self, counts: Weightings) -> Booleans:
        """(L,): whether it has pairs, of a statistic of pairs."""
        defined: Booleans = self.inner.defined(counts)
        return defined

    @property
    def failures(self) -> dict[str, int]:
        """Of the statistic within."""
        return dict(self.inner.failures) if isinstance(self.inner, Failing) else {}

    def _rescaled(self, values: Floats) -> Floats:
        return self.origin + self.factor * values


@dataclass(frozen=True, eq=False)
class RescaledFused(Rescaled):
    """... of one whose best column can be found without a matrix of values."""

    def best_out_of_bag(self, counts: Counts) -> Selected:
        columns, values = self.inner.best_out_of_bag(counts)
        return Selected(columns, self._rescaled(values))


@dataclass(frozen=True, eq=False)
class Derived:
    """A number made of sums, or of another statistic, and of the weight of the rows; a ``Statistic``."""

    sums: Sums
    # from sums (L, C[, ...]) and weights (L, 1), or (L[, ...]) and (L,)
    value: Callable[[Array, Floats], Floats]
    weight: Callable[[Weightings], Floats] = total_weight

    def all(self, counts: Weightings) -> Floats:
        return self.value(self.sums.all(counts), self.weight(counts)[:, None])

    def selected(self, counts: Weightings, columns: Indices) -> Floats:
        return self.value(self.sums.selected(counts, columns), self.weight(counts))


@dataclass(frozen=True, eq=False)
class OfFits:
    """A number made of a column's fit and of what it was fitted to; a ``Statistic``, or ``Sums``."""

    fits: Sums  # the coefficients of each column's regression, along the last axis
    # from counts (L, n), fits (L, ...) and, for each of ``columns``, numbers (L, n)
    value: Callable[..., Floats]
    columns: tuple[Floats, ...] = ()  # each (n, C)

    def all(self, counts: Weightings) -> Floats:
        fits = self.fits.all(counts)
        values = [
            self.value(counts, fits[:, j], *(np.broadcast_to(part[:, j], counts.shape) for part in self.columns))
            for j in range(fits.shape[1])
        ]
        return np.stack(values, axis=1)

    def selected(self, counts: Weightings, columns: Indices) -> Floats:
        return self.value(counts, self.fits.selected(counts, columns), *(part.T[columns] for part in self.columns))


@dataclass(frozen=True)
class ReadAs(AroundMetric):
    """What stands for a metric where predictions are read, and reads others than it."""

    metric: Metric
    name: str = ""
    responses: tuple[Response, ...] = ()
