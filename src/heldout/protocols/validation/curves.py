"""Whole curves corrected for optimism, point by point: calibration, ROC, net benefit.

A curve is a number at each of m given points, so it is corrected as a score is: by the mean, at each point, of what
the models of the replicates look better on their own samples than on all rows.

The line of a calibration is lowess without robustness steps, whose shape nothing presumes; where a model predicts
nothing, its line ends. This is what ``calibrate`` of R's rms does.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from heldout._record import Record, frame_of, points, thinned
from heldout._types import Array, Floats, Indices
from heldout.data.task import TaskKind, labels_text, numbers_listed
from heldout.errors import InputError
from heldout.estimates.intervals import order_statistic
from heldout.flags import Flag
from heldout.kernels.lowess import Lowess
from heldout.kernels.reference_curves import net_benefit, roc_points
from heldout.metrics.base import Response
from heldout.metrics.survival import observed_by
from heldout.protocols.drawn_rows import drawn_rows
from heldout.protocols.validation.corrections import memorising
from heldout.protocols.validation.replicates import Replicates

CONFIDENCE_LEVEL = 0.95

Measure: TypeAlias = Callable[[Floats, Floats, Floats], Floats]
"""From observed, predicted and weights, each (n,), to a curve (m,); NaN where it has no value."""


@dataclass(frozen=True, eq=False)
class CurveOutcome:
    """The outcome that a curve is of: as observed in every row, and the place of its prediction."""

    name: str
    """The class that is compared with the others, empty for a regression."""
    observed: Floats
    """(N,): 1 and 0, or the values of a regression."""
    weights: Floats
    """(N,): for what censoring hides; 1 elsewhere."""
    response: Response
    output: int | None = None
    """The prediction's place among several outputs."""

    def predicted(self, values: Array) -> Floats:
        """The predictions of this outcome: the last axis goes where there are several outputs."""
        mine = np.asarray(values if self.output is None else values[..., self.output], dtype=np.float64)
        # Curves are of the event, survival of what has not happened yet.
        return 1.0 - mine if self.response is Response.SURVIVAL else mine


@dataclass(frozen=True, eq=False)
class Replicated:
    """A curve in every replicate that has a model."""

    apparent: Floats
    """(m,): of the model fitted on all rows, on these rows."""
    in_bootstrap: Floats
    """(B, m): of each replicate's model on its own sample."""
    on_original: Floats
    """(B, m): of the same models on all rows; of a model that memorises, on the rows that its sample left out."""
    memorises: bool = False

    @property
    def n_replicates(self) -> Indices:
        """(m,): replicates that have both curves at a point."""
        return np.isfinite(self.in_bootstrap - self.on_original).sum(axis=0)

    @cached_property
    def optimism(self) -> Floats:
        """(m,): mean over those; NaN where there is none."""
        return _mean(self.in_bootstrap - self.on_original)

    @property
    def corrected(self) -> Floats:
        """(m,): less the optimism, or the mean of the rows left out."""
        return _mean(self.on_original) if self.memorises else self.apparent - self.optimism

    @property
    def columns(self) -> dict[str, Any]:
        """(m,) each: the columns that every corrected curve has.

        ``low`` and ``high`` are percentiles of the replicates on their own samples, moved by the optimism; or of
        those on the rows left out.
        """
        tail = (1.0 - CONFIDENCE_LEVEL) / 2
        ends = np.full((2, len(self.apparent)), np.nan)
        usable = np.isfinite(self.in_bootstrap - self.on_original)
        curves = self.on_original if self.memorises else self.in_bootstrap - self.optimism
        # Point by point, because a replicate may have no value where its model predicts nothing.
        for point in np.flatnonzero(usable.any(axis=0)):
            values = np.sort(curves[usable[:, point], point])
            ends[:, point] = [order_statistic(values, p) for p in (tail, 1.0 - tail)]
        return {
            "apparent": self.apparent, "corrected": self.corrected, "low": ends[0], "high": ends[1],
            "n_replicates": self.n_replicates,
        }  # fmt: skip


class CurveTable(Record):
    """What every corrected curve shows of itself: one row per point in its frame, its numbers, and its flags."""

    name: str
    confidence_level: ClassVar[float] = CONFIDENCE_LEVEL
    flags: Mapping[Flag, str]
    _more = "confidence_level"

    def to_frame(self) -> Any:
        """A row a point, as a pandas DataFrame (pandas comes with the extra ``app``)."""
        return frame_of(points(self, self._columns), f"{type(self).__name__}.to_frame")


def _mean(values: Floats) -> Floats:
    """(m,): mean of the finite values of each column."""
    finite = np.isfinite(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean: Floats = np.where(finite, values, 0.0).sum(axis=0) / finite.sum(axis=0)
    return mean


def replicated(replicates: Replicates, outcome: CurveOutcome, measure: Measure) -> Replicated:
    """The curve of every model; its mean over the completions of the rows."""
    kept, memorises = replicates.kept, bool(memorising(replicates).score)
    row_weights = replicates.all_rows[0] * outcome.weights
    # Of a model that memorises all rows are mostly its own, so the rows left out stand in for them.
    tested = (
        replicates.left_out(kept)
        if memorises
        else np.broadcast_to(replicates.all_rows, (len(kept), len(row_weights)))
    )
    apparent = outcome.predicted(replicates.apparent[outcome.response])
    everywhere = outcome.predicted(replicates.on_original[outcome.response])

    def over_completions(observed: Floats, predicted: Floats, weights: Floats) -> Floats:
        curves = [measure(observed, predicted[:, h], weights) for h in range(predicted.shape[1])]
        return np.mean(curves, axis=0)

    of_all = over_completions(outcome.observed, apparent, row_weights)
    curves = np.full((2, len(kept), len(of_all)), np.nan)
    for place, b in enumerate(kept.tolist()):
        predicted = everywhere[:, :, b]
        curves[1, place] = over_completions(outcome.observed, predicted, tested[place] * outcome.weights)
        if replicates.in_sample is None:
            weights = replicates.weighted(replicates.counts[b]) * outcome.weights
            curves[0, place] = over_completions(outcome.observed, predicted, weights)
        else:
            rows = drawn_rows(replicates.counts[b])
            weights = outcome.weights[rows] * (1.0 if replicates.weights is None else replicates.weights[rows])
            own = outcome.predicted(replicates.in_sample[outcome.response][b])
            curves[0, place] = over_completions(outcome.observed[rows], own, weights)
    return Replicated(of_all, curves[0], curves[1], memorises)


def class_outcome(replicates: Replicates, of_class: Any, response: Response) -> CurveOutcome:
    """One class against the others.

    Raises InputError when a task of several classes lacks ``of_class``, or the class is none of its own.
    """
    truth = replicates.truth
    assert truth.classes is not None, "only of a classification"
    if of_class is None:
        if truth.kind is TaskKind.MULTICLASS:
            raise InputError(
                f"of_class must say which of the {truth.n_classes} classes the curve is of, one against the "
                f"others: {labels_text(truth.classes)}."
            )
        of_class = truth.pos_label
    codes = [code for code, label in enumerate(truth.classes.tolist()) if label == of_class]
    if not codes:
        raise InputError(f"of_class must be one of the classes {labels_text(truth.classes)}, got {of_class!r}.")
    if truth.kind is TaskKind.BINARY and codes[0] != truth.positive:
        raise InputError(
            f"`of_class={of_class!r}`: predictions of a binary task are of its positive class {truth.pos_label!r}; "
            "leave of_class out."
        )
    output = codes[0] if truth.kind is TaskKind.MULTICLASS else None
    observed = (truth.values == codes[0]).astype(np.float64)
    return CurveOutcome(str(of_class), observed, np.ones(truth.n_rows), response, output)


def recorded(replicates: Replicates, *responses: Response) -> Response | None:
    """The first of these responses that the replicates hold."""
    return next((response for response in responses if response in replicates.on_original), None)


def curve_flags(
    corrected: Floats, bounds: tuple[float, float] | None, *, rises: bool = False
) -> Mapping[Flag, str]:
    """What a reader of a corrected curve must know.

    - ``bounds``: what a curve of the kind lies between.
    - ``rises``: whether a curve of the kind never falls.
    """
    known, total = corrected[np.isfinite(corrected)], len(corrected)
    flags: dict[Flag, str] = {}
    if len(known) < total:
        flags |= Flag.CURVE_UNDEFINED.of(points=total - len(known), total=total)
    if bounds is not None and (outside := int(((known < bounds[0]) | (known > bounds[1])).sum())):
        flags |= Flag.CURVE_BEYOND_RANGE.of(points=outside, total=total, low=bounds[0], high=bounds[1])
    if rises and (falls := int((np.diff(known) < -1e-12).sum())):
        flags |= Flag.CURVE_NOT_MONOTONE.of(points=falls)
    return flags


CALIBRATION_POINTS = 50
CALIBRATION_SOURCES = ("harrell2015", "cleveland1979")
OUTERMOST = 5
"""The grid runs from the 5th smallest prediction to the 5th largest."""
ROWS_A_GROUP, MOST_GROUPS = 20, 10


@dataclass(frozen=True)
class CalibrationPoint:
    """Rows of similar prediction by the model of all rows: means, and how many rows."""

    predicted: float
    observed: float
    rows: float


@dataclass(frozen=True, eq=False)
class CalibrationCurve(CurveTable):
    """The calibration curve, observed over predicted, corrected for optimism. The ideal is ``predicted`` itself.

    Attributes
    ----------
    name : str
        What is predicted: a class or ``event by t``; empty for a regression.
    predicted : ndarray of shape (m,)
        The predictions at which the curve is evaluated.
    apparent : ndarray of shape (m,)
        The curve of the model fitted on all rows, on these rows.
    corrected : ndarray of shape (m,)
        ``apparent`` minus the optimism: the mean difference between the replicates' curves on their own sample and
        on all rows, over the replicates that reach the point. NaN if none does.
    low, high : ndarray of shape (m,)
        Percentiles of the replicates' curves on their own samples, moved by the optimism. A model fitted to be
        calibrated hardly varies in slope on its own sample, so that the true uncertainty is at least this large.
    confidence_level : float
    n_replicates : ndarray of shape (m,)
        Replicates that reach the point.
    mean_absolute_error, mean_squared_error, quantile_90 : float
        Errors of the predictions of all rows against the corrected curve; ``quantile_90`` is that of the absolute
        errors.
    groups : tuple of CalibrationPoint
        About ten groups of equal size, uncorrected.
    of_rows : ndarray of shape (N,)
        The predictions of the model fitted on all rows; for imputed rows the mean over completions.
    flags : mapping of Flag to str
    """

    name: str
    predicted: Floats
    apparent: Floats
    corrected: Floats
    low: Floats
    high: Floats
    n_replicates: Indices
    mean_absolute_error: float
    mean_squared_error: float
    quantile_90: float
    groups: tuple[CalibrationPoint, ...]
    of_rows: Floats
    flags: Mapping[Flag, str] = field(default_factory=dict)

    @property
    def ideal(self) -> Floats:
        """(m,): the curve of perfect calibration, ``predicted`` itself."""
        return self.predicted

    _without = "of_rows"
    _columns = "predicted apparent corrected low high n_replicates"
    _shown = "mean_absolute_error mean_squared_error 90_%_of_absolute_errors_up_to=quantile_90"

    def __repr__(self) -> str:
        of = f" of {self.name}" if self.name else ""
        return (
            f"CalibrationCurve({len(self.predicted)} points{of}; mean absolute error "
            f"{self.mean_absolute_error:.4g}, {int(self.n_replicates.max(initial=0))} replicates)"
        )

    @property
    def _title(self) -> str:
        return f"Calibration {self.name}".strip()


def calibration_curve(
    replicates: Replicates,
    *,
    at: ArrayLike | None = None,
    time: float | None = None,
    of_class: Any = None,
) -> CalibrationCurve:
    """The optimism-corrected calibration curve of a validated model.

    The parameters are those of ``Validation.calibration_curve``; ``replicates`` hold probabilities, values of a
    regression, or survival probabilities. Rows censored before ``time`` weigh nothing and the others more, by the
    inverse probability of not being censored, estimated from all rows.

    Notes
    -----
    Harrell (2015), section 5.3 and ``calibrate`` of the R package rms; with missing values imputed, curves are
    means over the completions.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> values = np.arange(12.0)[:, None]
    >>> replicates = Replicates(
    ...     truth_of(np.arange(12.0) + 0.5),
    ...     counts=np.ones((1, 12), dtype=np.uint8),
    ...     apparent={Response.VALUES: values},
    ...     on_original={Response.VALUES: values[:, :, None] + 1},
    ... )
    >>> curve = calibration_curve(replicates, at=[4, 6])
    >>> curve.corrected.round(6).tolist(), round(curve.mean_absolute_error, 6)
    ([4.5, 6.5], 0.5)
    """
    outcome = calibrated_outcome(replicates, time=time, of_class=of_class)
    predictions = outcome.predicted(replicates.apparent[outcome.response])
    of_rows = predictions.mean(axis=1)
    row_weights = replicates.all_rows[0] * outcome.weights
    # Rows of weight 0, as those censored early, must not decide where the curve runs.
    points = _grid(of_rows[row_weights > 0]) if at is None else _points(at)
    found = replicated(replicates, outcome, lambda y, x, weights: smoothed(x, y, points, weights))
    corrected = found.corrected
    known = np.isfinite(corrected)
    errors = np.full(predictions.shape, np.nan)
    if known.any():
        line = np.interp(predictions, points[known], corrected[known], left=np.nan, right=np.nan)
        errors = np.abs(predictions - line)
    errors = errors[np.isfinite(errors)]
    is_probability = replicates.truth.kind is not TaskKind.REGRESSION
    return CalibrationCurve(
        name=outcome.name,
        predicted=points,
        **found.columns,
        mean_absolute_error=float(errors.mean()) if errors.size else np.nan,
        mean_squared_error=float((errors**2).mean()) if errors.size else np.nan,
        quantile_90=float(np.quantile(errors, 0.9)) if errors.size else np.nan,
        groups=grouped(outcome.observed, of_rows, row_weights),
        of_rows=of_rows,
        flags=curve_flags(corrected, (0.0, 1.0) if is_probability else None),
    )


def calibrated_outcome(replicates: Replicates, *, time: float | None = None, of_class: Any = None) -> CurveOutcome:
    """What a calibration curve is about."""
    truth = replicates.truth
    if truth.kind is not TaskKind.SURVIVAL and time is not None:
        raise InputError(f"`time={time!r}` is for survival tasks, this one is {truth.kind.value}; leave it out.")
    if not truth.kind.is_classification and of_class is not None:
        raise InputError(f"`of_class={of_class!r}` is for classes, this task is {truth.kind.value}; leave it out.")
    wanted = {TaskKind.REGRESSION: Response.VALUES, TaskKind.SURVIVAL: Response.SURVIVAL}
    response = recorded(replicates, wanted.get(truth.kind, Response.PROBABILITIES))
    if response is None:
        raise InputError(
            f"a calibration curve needs {wanted.get(truth.kind, Response.PROBABILITIES).value}, and the validation "
            f"recorded only {', '.join(replicates.on_original)}; validate by a metric that reads them too, such as "
            f"{'integrated_brier_score' if truth.kind is TaskKind.SURVIVAL else 'brier_score'}."
        )
    if truth.kind.is_classification:
        return class_outcome(replicates, of_class, response)
    if truth.kind is TaskKind.REGRESSION:
        return CurveOutcome("", truth.values, np.ones(truth.n_rows), response)
    if time is None and len(replicates.times) == 1:
        (time,) = replicates.times
    if time is None or time not in replicates.times:
        listed = ", ".join(f"{each!r}" for each in replicates.times)
        raise InputError(f"time must be one of those that survival was predicted for, {listed}; got {time!r}.")
    there, weights = observed_by(truth, time)
    return CurveOutcome(f"event by {time:g}", 1.0 - there, weights, response, replicates.times.index(time))


def smoothed(x: Floats, y: Floats, at: Floats, weights: Floats) -> Floats:
    """(m,): lowess at the rows, joined by straight lines; NaN beyond them.

    As R's ``approx(lowess(x, y, iter = 0), xout = at)`` on rows that stand as often as they weigh.

    Examples
    --------
    >>> x = np.arange(6.0)
    >>> smoothed(x, 2 * x, np.array([1.5, 9.0]), np.ones(6)).round(9).tolist()
    [3.0, nan]
    """
    smoother = Lowess(x, y)
    there, line = smoother.at_rows(weights[smoother.order])
    places = smoother.x[there]
    if not len(places):
        return np.full(len(at), np.nan)
    return np.interp(at, places, line, left=np.nan, right=np.nan)


def grouped(observed: Floats, predicted: Floats, weights: Floats) -> tuple[CalibrationPoint, ...]:
    """Groups of equal size by prediction; rows of equal prediction stand in one."""
    present = weights > 0
    observed, predicted, weights = observed[present], predicted[present], weights[present]
    n_groups = int(np.clip(len(predicted) // ROWS_A_GROUP, 2, MOST_GROUPS))
    # By rank among all rows: equal predictions have one rank, and so one group.
    rank = np.searchsorted(np.sort(predicted), predicted)
    group = rank * n_groups // max(len(predicted), 1)
    points = []
    for code in np.unique(group):
        inside = group == code
        mine = weights[inside]
        points.append(
            CalibrationPoint(
                float(np.average(predicted[inside], weights=mine)),
                float(np.average(observed[inside], weights=mine)),
                float(inside.sum()),
            )
        )
    return tuple(points)


def _grid(predicted: Floats) -> Floats:
    if len(predicted) <= 2 * OUTERMOST:
        raise InputError(
            f"the curve runs from the {OUTERMOST}th smallest prediction to the {OUTERMOST}th largest, which takes "
            f"more than {2 * OUTERMOST} rows, got {len(predicted)}; pass the predictions at which you want it "
            "as at=."
        )
    ranked = np.sort(predicted)
    return np.linspace(ranked[OUTERMOST - 1], ranked[-OUTERMOST], CALIBRATION_POINTS)


def _points(at: ArrayLike) -> Floats:
    points = np.atleast_1d(numbers_listed(at))
    if points.ndim != 1 or not points.size or not np.isfinite(points).all() or (np.diff(points) <= 0).any():
        raise InputError(f"at must be increasing finite numbers, got {at!r}; for instance at=[0.1, 0.2, 0.5].")
    return points


DECISION_SOURCES = ("vickers2006",)
MOST_SHOWN = 10


@dataclass(frozen=True, eq=False)
class DecisionCurve(CurveTable):
    """The decision curve: net benefit by threshold probability, corrected for optimism at each threshold.

    Attributes
    ----------
    name : str
        The class or event on whose prediction one would act.
    threshold : ndarray of shape (m,)
        One acts if the predicted probability is at least this.
    apparent, corrected : ndarray of shape (m,)
        Net benefit per row, in true positives: the positives acted on, minus the others acted on times threshold /
        (1 - threshold), divided by all rows.
    act_on_all : ndarray of shape (m,)
        The net benefit of acting on every row; acting on none has 0.
    low, high : ndarray of shape (m,)
        Percentiles of the replicates' net benefit on their own samples, moved by the optimism.
    confidence_level : float
    n_replicates : ndarray of shape (m,)
    flags : mapping of Flag to str
    """

    name: str
    threshold: Floats
    apparent: Floats
    corrected: Floats
    act_on_all: Floats
    low: Floats
    high: Floats
    n_replicates: Indices
    flags: Mapping[Flag, str] = field(default_factory=dict)

    _columns = "threshold apparent corrected act_on_all low high n_replicates"
    _shown = "threshold corrected apparent act_on_all"

    def __repr__(self) -> str:
        return f"DecisionCurve({len(self.threshold)} thresholds of acting on {self.name})"

    @property
    def _rows(self) -> list[Any]:
        return thinned(points(self, self._columns), MOST_SHOWN)

    @property
    def _title(self) -> str:
        return f"Net benefit {self.name}"


def decision_curve(
    replicates: Replicates,
    *,
    thresholds: ArrayLike | None = None,
    time: float | None = None,
    of_class: Any = None,
) -> DecisionCurve:
    """The optimism-corrected decision curve (Vickers and Elkin 2006) of a model that predicts probabilities.

    The parameters are those of ``Validation.decision_curve``.

    Examples
    --------
    Acting above .5 finds one of two positives and one other row: (1 - 1) / 4.

    >>> from heldout.metrics.base import Response
    >>> from heldout.data.task import truth_of
    >>> values = np.array([0.1, 0.6, 0.3, 0.8])[:, None]
    >>> replicates = Replicates(
    ...     truth_of(["no", "no", "yes", "yes"]),
    ...     counts=np.array([[2, 0, 1, 1]], dtype=np.uint8),
    ...     apparent={Response.PROBABILITIES: values},
    ...     on_original={Response.PROBABILITIES: values[:, :, None]},
    ... )
    >>> curve = decision_curve(replicates, thresholds=[0.5])
    >>> curve.apparent.tolist(), curve.corrected.tolist(), curve.act_on_all.tolist()
    ([0.0], [-0.25], [0.0])
    """
    if replicates.truth.kind is TaskKind.REGRESSION:
        raise InputError("a decision curve is of probabilities, and this task is a regression.")
    points = checked_thresholds(thresholds)
    outcome = calibrated_outcome(replicates, time=time, of_class=of_class)
    odds = points / (1.0 - points)

    found = replicated(replicates, outcome, lambda y, p, weights: net_benefit(y, p, weights, points))
    weights = replicates.all_rows[0] * outcome.weights
    share = float(np.average(outcome.observed, weights=weights))
    return DecisionCurve(
        name=outcome.name,
        threshold=points,
        act_on_all=share - (1.0 - share) * odds,
        **found.columns,
        flags=curve_flags(found.corrected, None),
    )


def checked_thresholds(thresholds: ArrayLike | None) -> Floats:
    """Thresholds of probability as an array; .01, .02 .. .99 by default.

    Raises InputError unless they increase from above 0 to below 1.
    """
    if thresholds is None:
        return np.arange(1, 100) / 100
    points = np.atleast_1d(numbers_listed(thresholds))
    if points.ndim != 1 or not ((points > 0) & (points < 1)).all() or (np.diff(points) <= 0).any():
        raise InputError(f"thresholds must increase from above 0 to below 1, got {thresholds!r}.")
    return points


ROC_POINTS = 101
ROC_SOURCES = ("fawcett2006",)


@dataclass(frozen=True, eq=False)
class RocCurve(CurveTable):
    """The ROC curve: sensitivity by false positive rate, corrected for optimism at each false positive rate.

    Attributes
    ----------
    name : str
        The class to detect, against the others.
    false_positive_rate : ndarray of shape (101,)
        0, .01 .. 1.
    apparent, corrected : ndarray of shape (101,)
        Sensitivity of the model fitted on all rows, on these rows; and the same minus its mean optimism. The
        corrected curve may leave [0, 1] or fall; it is not changed then, but flagged.
    low, high : ndarray of shape (101,)
        Percentiles of the replicates' sensitivities on their own samples, moved by the optimism.
    confidence_level : float
    n_replicates : ndarray of shape (101,)
    area_apparent, area_corrected : float
        The ROC AUC and its optimism-corrected value, from the exact curves; the area under the 101 points differs a
        little.
    flags : mapping of Flag to str
    """

    name: str
    false_positive_rate: Floats
    apparent: Floats
    corrected: Floats
    low: Floats
    high: Floats
    n_replicates: Indices
    area_apparent: float
    area_corrected: float
    flags: Mapping[Flag, str] = field(default_factory=dict)

    _columns = "false_positive_rate apparent corrected low high n_replicates"
    _shown = "area,_corrected=area_corrected area,_apparent=area_apparent"

    def __repr__(self) -> str:
        return (
            f"RocCurve(of {self.name}; area {self.area_apparent:.4g} apparent, {self.area_corrected:.4g} "
            f"corrected, {int(self.n_replicates.max(initial=0))} replicates)"
        )

    @property
    def _title(self) -> str:
        return f"ROC curve {self.name}"


def roc_curve(replicates: Replicates, *, of_class: Any = None) -> RocCurve:
    """The optimism-corrected ROC curve of a validated classifier.

    Every curve is read at the same false positive rates (vertical averaging, Fawcett 2006, section 8): the greatest
    sensitivity there, and between two thresholds the one on the straight line that joins them.

    ``replicates`` hold decisions or probabilities; the parameters are those of ``Validation.roc_curve``.

    Examples
    --------
    A sample that drew the rows that the model ranks right:

    >>> from heldout.data.task import truth_of
    >>> values = np.array([0.1, 0.4, 0.3, 0.8])[:, None]
    >>> replicates = Replicates(
    ...     truth_of(["no", "no", "yes", "yes"]),
    ...     counts=np.array([[2, 0, 1, 1]], dtype=np.uint8),
    ...     apparent={Response.PROBABILITIES: values},
    ...     on_original={Response.PROBABILITIES: values[:, :, None]},
    ... )
    >>> curve = roc_curve(replicates)
    >>> curve.area_apparent, curve.area_corrected
    (0.75, 0.5)
    """
    if not replicates.truth.kind.is_classification:
        raise InputError(f"a ROC curve is of a classification, this task is {replicates.truth.kind.value}.")
    # In the order in which the ROC AUC reads them, so that the areas agree with it.
    response = recorded(replicates, Response.DECISION, Response.PROBABILITIES)
    if response is None:
        raise InputError(
            "a ROC curve needs decisions or probabilities, and the validation recorded only "
            f"{', '.join(replicates.on_original)}; validate by a metric that reads them too, such as roc_auc."
        )
    outcome = class_outcome(replicates, of_class, response)
    rates = np.linspace(0.0, 1.0, ROC_POINTS)

    def sensitivities_and_area(observed: Floats, scores: Floats, weights: Floats) -> Floats:
        drawn, positive = weights > 0, observed > 0
        if not (drawn & positive).any() or not (drawn & ~positive).any() or np.isnan(scores[drawn]).any():
            return np.full(ROC_POINTS + 1, np.nan)
        x, y, area = roc_points(positive[drawn], scores[drawn], weights[drawn])
        # The area goes along as a last point, so that it is corrected as the curve is.
        return np.append(np.interp(rates, x, y), area)

    found = replicated(replicates, outcome, sensitivities_and_area)
    return RocCurve(
        name=outcome.name,
        false_positive_rate=rates,
        **{name: values[:-1] for name, values in found.columns.items()},
        area_apparent=float(found.apparent[-1]),
        area_corrected=float(found.corrected[-1]),
        flags=curve_flags(found.corrected[:-1], (0.0, 1.0), rises=True),
    )
