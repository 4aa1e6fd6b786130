"""Any callable as a metric: the slow path, one call per configuration and draw."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

from heldout._types import Array, Floats, Indices, Weightings
from heldout.data.task import TaskKind, Truth, numbers_listed, with_fields
from heldout.errors import InputError, NoExit, text_of
from heldout.metrics.base import Metric, Needs, Response, Statistic, positive_of
from heldout.metrics.row_losses import Finish, LossOutsideRangeError, MeanLoss, OfRowLosses, mean_loss


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

    def statistic(self, truth: Truth, predictions: Array) -> Statistic:
        raise InputError(f"the scorer '{self.name}' cannot be opened, so it cannot score resampled rows.")


_TASKS_OF: dict[Response, frozenset[TaskKind]] = {
    Response.LABELS: frozenset({TaskKind.BINARY, TaskKind.MULTICLASS}),
    Response.PROBABILITIES: frozenset({TaskKind.BINARY, TaskKind.MULTICLASS}),
    Response.DECISION: frozenset({TaskKind.BINARY, TaskKind.MULTICLASS}),
    Response.VALUES: frozenset({TaskKind.REGRESSION}),
    Response.RISK: frozenset({TaskKind.SURVIVAL}),
    Response.SURVIVAL: frozenset({TaskKind.SURVIVAL}),
}


def custom(
    f: Callable[..., float],
    *,
    greater_is_better: bool,
    response: str | Response | tuple[str | Response, ...],
    range: tuple[float, float] = (-np.inf, np.inf),
    name: str | None = None,
    needs: str | Needs = Needs.ROW,
    takes_weights: bool | None = None,
    times: Sequence[float] | None = None,
    row_wise: bool = False,
) -> CustomMetric:
    """Make a metric from a function, for ``metric=`` and ``scoring=``.

    Parameters
    ----------
    f : callable
        ``f(y_true, y_pred)`` or ``f(y_true, y_pred, sample_weight=...)`` returns one number; with ``row_wise``
        ``f(y_true, y_pred)`` returns one loss per row. It receives true labels and, with ``response="labels"``,
        predicted labels in their original form; probabilities and decisions as (n,) for the positive class of a
        binary task, else (n, n_classes).
    greater_is_better : bool
        Whether the number is a score (True) or a loss (False).
    response : {"labels", "probabilities", "decision", "values", "risk", "survival"} or a tuple of them
        What it is computed from, preferred first; "values" are a regressor's predictions. The last two are for
        survival models: risks (n,) or survival probabilities (n, n_times), and ``y_true`` has the fields ``event``
        and ``time``.
    range : (float, float), default=(-inf, inf)
        Least and greatest possible value; a one-sided interval ends there.
    name : str, optional
        By default the function's name.
    needs : str or Needs, default=Needs.ROW
        What rows must contain for it to be defined; bootstraps without it are drawn again, and folds without it
        are left out.
    takes_weights : bool, optional
        Whether ``f`` accepts ``sample_weight``; by default its signature says so. If not, ``f`` receives the rows
        of a bootstrap repeated, and importance weights are refused.
    times : sequence of float, optional
        With ``response="survival"``, the times at which a search's models predict survival probabilities.
    row_wise : bool, default=False
        Whether ``f`` returns one loss per row, at least 0, whose mean is the metric. It is then called once, not in
        every bootstrap, and with a finite ``range`` the bounds for such losses apply to it (method "hoeffding",
        drop rule "hoeffding_race"). With ``greater_is_better=True`` it returns scores from 0 to 1.

    Returns
    -------
    CustomMetric
        For ``metric=`` and ``scoring=``.

    Raises
    ------
    InputError
        When an argument is not allowed; later, when a row's loss is outside ``range``, or a row-wise ``f`` fails.

    Notes
    -----
    If ``f`` raises, or returns anything but a finite number, the value is NaN, which never wins; ``failures`` keeps
    the messages.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> def cost(y_true, y_pred):
    ...     return 5.0 * np.mean((y_true == "ill") & (y_pred == "well"))
    >>> metric = custom(cost, greater_is_better=False, response="labels", range=(0, 5))
    >>> truth = truth_of(["ill", "ill", "well", "well"])
    >>> bound = metric.statistic(truth, np.array([[0], [1], [1], [1]]))
    >>> bound.all(np.array([[1, 1, 1, 1], [4, 0, 0, 0]], dtype=np.uint8))
    array([[1.25],
           [0.  ]])

    The same, row by row:

    >>> def cost_of_row(y_true, y_pred):
    ...     return 5.0 * ((y_true == "ill") & (y_pred == "well"))
    >>> rows = custom(cost_of_row, greater_is_better=False, response="labels", range=(0, 5), row_wise=True)
    >>> rows.statistic(truth, np.array([[0], [1], [1], [1]])).all(np.ones((1, 4), dtype=np.uint8))
    array([[1.25]])
    """
    if not callable(f):
        raise InputError(f"custom needs a function f(y_true, y_pred), got {f!r}.")
    ends = numbers_listed(range)
    if ends.shape != (2,) or not ends[0] < ends[1]:
        raise InputError(f"range must be (least, greatest) with least < greatest, got {range!r}.")
    low, high = ends.tolist()
    responses = _responses(response)
    if row_wise:
        _check_row_range(low, high, greater_is_better)
    return (CustomLoss if row_wise else CustomMetric)(
        function=f,
        name=name or name_of(f),
        greater_is_better=bool(greater_is_better),
        responses=responses,
        range=(low, high),
        needs=_needs(needs),
        undefined_without=_needs(needs),
        takes_weights=row_wise or (accepts_weights(f) if takes_weights is None else bool(takes_weights)),
        times=None if times is None else _times(times, responses),
    )


@dataclass(frozen=True, eq=False)
class CustomMetric(Metric):
    """A function as a metric; made by ``custom``, which explains the fields.

    It is equal to itself only: arguments may be lists or arrays, which neither compare nor hash.

    Attributes
    ----------
    arguments : tuple of (name, value)
        Further keyword arguments of the function.
    pos_label : label, optional
        The class that binary probabilities and decisions are turned to; the task's positive one when None.
    takes_class : bool
        Whether the function receives the task's positive class as ``pos_label``.
    of_last_class : bool
        Whether binary probabilities and decisions are turned to the last class, as scikit-learn's scorers pass them
        to a function that knows no ``pos_label``.
    own_fields : bool
        Whether the fields of a survival target are called as the user calls them, and not ``event`` and ``time``.
    times : tuple of float or None
        Of the survival probabilities that the function reads.
    """

    function: Callable[..., float]
    name: str = ""
    greater_is_better: bool = True
    responses: tuple[Response, ...] = ()
    range: tuple[float, float] = (-np.inf, np.inf)
    needs: Needs = Needs.ROW
    undefined_without: Needs = Needs.ROW
    takes_weights: bool = False
    arguments: tuple[tuple[str, Any], ...] = ()
    pos_label: Any = None
    takes_class: bool = False
    of_last_class: bool = False
    own_fields: bool = False
    times: tuple[float, ...] | None = None
    calls_foreign_code = True

    @property
    def tasks(self) -> frozenset[TaskKind]:
        return frozenset().union(*(_TASKS_OF[response] for response in self.responses))

    def for_truth(self, truth: Truth) -> CustomMetric:
        positive_of(self, truth)
        return self

    def statistic(self, truth: Truth, predictions: Array) -> Statistic:
        of_class = {"pos_label": truth.pos_label} if self.takes_class else {}
        call = partial(self.function, **dict(self.arguments), **of_class)
        handed_over = self._handed_over(truth, predictions)
        return CalledStatistic(call, self.takes_weights, self._y_true(truth), handed_over)

    def _y_true(self, truth: Truth) -> Array:
        """The target as the function expects it."""
        y_true = truth.labels()
        return with_fields(y_true, truth.fields) if self.own_fields and truth.fields is not None else y_true

    def _handed_over(self, truth: Truth, predictions: Array) -> Array:
        """Predictions as the function expects them."""
        if truth.classes is None:
            return predictions
        if Response.LABELS in self.responses:
            return truth.classes[predictions]
        # Some functions take the last class as positive, whatever the target says.
        code = truth.n_classes - 1 if self.of_last_class else positive_of(self, truth)
        if predictions.ndim > 2 or code == truth.positive:
            return predictions
        # The other class of two: probabilities are complements, decisions have the other sign.
        return 1 - predictions if self.responses == (Response.PROBABILITIES,) else -predictions


@dataclass(frozen=True, eq=False)
class CustomLoss(CustomMetric, OfRowLosses):
    """A function that gives a loss for each row; the metric is their mean. Made by ``custom``."""

    @property
    def finish(self) -> Finish:
        """What becomes of the mean: of scores, one minus the mean of one minus each."""
        return Finish.COMPLEMENT if self.greater_is_better else Finish.MEAN

    def losses(self, truth: Truth, predictions: Array) -> Floats:
        """(n, C): the losses, one column after another.

        Raises InputError where the function fails, or gives anything but a number within the range for each row.
        """
        y_true, y_pred = self._y_true(truth), self._handed_over(truth, predictions)
        columns = [self._of_rows(y_true, y_pred[:, column]) for column in range(y_pred.shape[1])]
        values = np.stack(columns, axis=1)
        return 1.0 - values if self.greater_is_better else values

    def statistic(self, truth: Truth, predictions: Array) -> MeanLoss:
        return mean_loss(self.losses(truth, predictions), self.finish)

    def _of_rows(self, y_true: Array, y_pred: Array) -> Floats:
        try:
            with NoExit():
                values = np.asarray(self.function(y_true, y_pred, **dict(self.arguments)), dtype=np.float64)
        except Exception as error:
            raise InputError(
                f"the loss of rows '{self.name}' failed: {type(error).__name__}: {text_of(error)}.",
                argument="metric",
            ) from error
        if values.shape != (len(y_true),):
            raise InputError(
                f"the loss of rows '{self.name}' must give one number for each of the {len(y_true)} rows, got the "
                f"shape {values.shape}; leave row_wise out for a function that gives one number.",
                argument="metric",
            )
        low, high = self.range
        outside = values[~((values >= low) & (values <= high) & np.isfinite(values))]
        if outside.size:
            raise LossOutsideRangeError(
                f"the loss of rows '{self.name}' gave {outside[0]:g} for a row, outside its range from {low:g} to "
                f"{high:g}; declare the range that it has.",
                argument="metric",
            )
        return values


def _check_row_range(low: float, high: float, greater_is_better: bool) -> None:
    if greater_is_better and (low, high) != (0.0, 1.0):
        raise InputError(
            f"scores of rows must range from 0 to 1, got range=({low:g}, {high:g}); scale them, or give losses "
            "(greater_is_better=False).",
            argument="range",
        )
    if low < 0:
        raise InputError(
            f"losses of rows start at 0 or above, got range=({low:g}, {high:g}); give the least loss, 0 as a rule.",
            argument="range",
        )


@dataclass(frozen=True, eq=False)
class CalledStatistic:
    """A function called for each weighting and column; a ``Statistic``.

    What it warns of is for the caller to silence: filters belong to the process, and this may run in a thread.
    """

    call: Callable[..., Any]
    takes_weights: bool  # pass all rows with ``sample_weight=counts``, instead of rows repeated by their counts
    y_true: Array  # (n,)
    y_pred: Array  # (n, C) or (n, C, n_classes)
    # message → how often the function raised it or gave no finite number
    failures: dict[str, int] = field(default_factory=dict)
    _counting: Lock = field(default_factory=Lock, repr=False)

    def all(self, counts: Weightings) -> Floats:
        columns = np.arange(self.y_pred.shape[1])
        return self._values(counts, np.broadcast_to(columns, (len(counts), len(columns))))

    def selected(self, counts: Weightings, columns: Indices) -> Floats:
        return self._values(counts, np.asarray(columns)[:, None])[:, 0]

    def _values(self, counts: Weightings, wanted: Indices) -> Floats:
        values = np.empty(wanted.shape)
        with np.errstate(all="ignore"):  # of this thread only
            for lane, weights in enumerate(counts):
                if not weights.any():
                    values[lane] = np.nan
                    continue
                rows = None if self.takes_weights else _repeated(weights)
                for i, column in enumerate(wanted[lane]):
                    values[lane, i] = self._value(weights, rows, int(column))
        return values

    def _value(self, weights: Array, rows: Indices | None, column: int) -> float:
        predicted = self.y_pred[:, column]
        try:
            with NoExit():
                if rows is None:
                    value = float(self.call(self.y_true, predicted, sample_weight=weights.astype(np.float64)))
                else:
                    value = float(self.call(self.y_true[rows], predicted[rows]))
        except Exception as error:  # any error of a user's function is a missing value, not the end
            return self._failed(f"{type(error).__name__}: {text_of(error)}")
        return value if np.isfinite(value) else self._failed(f"the value {value}")

    def _failed(self, message: str) -> float:
        with self._counting:
            self.failures[message] = self.failures.get(message, 0) + 1
        return float("nan")


def _repeated(weights: Array) -> Indices:
    if weights.dtype != np.uint8:
        raise InputError("a function without sample_weight takes whole counts only, got real weights.")
    return np.repeat(np.arange(len(weights)), weights)


def accepts_weights(f: Callable[..., Any]) -> bool:
    """Whether a function has a parameter ``sample_weight``."""
    try:
        return "sample_weight" in inspect.signature(f).parameters
    except (TypeError, ValueError):  # some built-in functions have no signature
        return False


def name_of(f: Callable[..., Any]) -> str:
    """A function's name; of a partial, that of the function within; of an object, its class's."""
    while isinstance(f, partial):
        f = f.func
    return str(getattr(f, "__name__", type(f).__name__))


def _responses(response: str | Response | tuple[str | Response, ...]) -> tuple[Response, ...]:
    asked = (response,) if isinstance(response, str) else tuple(response)
    allowed = [kind.value for kind in Response]
    if not asked or any(one not in allowed for one in asked):
        raise InputError(f"response must be one of {', '.join(allowed)}, got {response!r}.")
    kinds = tuple(Response(one) for one in asked)
    scores = {Response.PROBABILITIES, Response.DECISION}
    if scores & set(kinds) and set(kinds) - scores:
        raise InputError(
            f"response may combine probabilities with decision, or labels with values, got {response!r}; "
            "one function cannot read both a label and a number.",
            argument="response",
        )
    if {Response.RISK, Response.SURVIVAL} & set(kinds) and len(kinds) > 1:
        raise InputError(
            f"response of survival models is one of risk and survival, alone, got {response!r}.",
            argument="response",
        )
    return kinds


def _times(times: Sequence[float], responses: tuple[Response, ...]) -> tuple[float, ...]:
    listed = numbers_listed(times)
    if responses != (Response.SURVIVAL,) or listed.ndim != 1 or not listed.size or not np.isfinite(listed).all():
        raise InputError(f"times must be finite numbers, and are for `response='survival'` alone, got {times!r}.")
    return tuple(listed.tolist())


def _needs(needs: str | Needs) -> Needs:
    try:
        return Needs(needs)
    except ValueError:
        allowed = ", ".join(repr(kind.value) for kind in Needs)
        raise InputError(f"needs must be one of {allowed}, got {needs!r}.") from None
