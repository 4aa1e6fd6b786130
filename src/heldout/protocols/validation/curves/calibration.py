"""Calibration corrected for optimism: what was observed over what was predicted, smoothed.

The smooth line is lowess without robustness steps, whose shape nothing presumes. It is drawn for the model of all
rows, and for each replicate's model on its own sample and on all rows; where a model predicts nothing, its line
ends. This is what ``calibrate`` of R's rms does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from heldout._types import Floats, Indices
from heldout.data.task import TaskKind
from heldout.errors import InputError
from heldout.flags import Flag
from heldout.kernels.reference_curves import Lowess
from heldout.metrics.base import Response
from heldout.metrics.survival import observed_by
from heldout.protocols.validation.curves.base import (
    CurveOutcome,
    CurveTable,
    class_outcome,
    curve_flags,
    recorded,
    replicated,
)
from heldout.protocols.validation.replicates import Replicates

N_POINTS = 50
SOURCES = ("harrell2015", "cleveland1979")
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
    low, high = found.band()
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
        apparent=found.apparent,
        corrected=corrected,
        low=low,
        high=high,
        n_replicates=found.n_replicates,
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
        raise InputError(
            f"`time={time!r}` is for survival tasks, this one is {truth.kind.value}; leave it out.",
            argument="time",
        )
    if not truth.kind.is_classification and of_class is not None:
        raise InputError(
            f"of_class={of_class!r} is for classes, this task is {truth.kind.value}; leave it out.",
            argument="of_class",
        )
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
        raise InputError(
            f"time must be one of those that survival was predicted for, {listed}; got {time!r}.", argument="time"
        )
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
    return np.linspace(ranked[OUTERMOST - 1], ranked[-OUTERMOST], N_POINTS)


def _points(at: ArrayLike) -> Floats:
    points = np.atleast_1d(np.asarray(at, dtype=np.float64))
    if points.ndim != 1 or not points.size or not np.isfinite(points).all() or (np.diff(points) <= 0).any():
        raise InputError(
            f"at must be increasing finite numbers, got {at!r}; for instance at=[0.1, 0.2, 0.5].", argument="at"
        )
    return points
