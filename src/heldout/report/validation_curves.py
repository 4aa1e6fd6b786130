"""From the replicates of a validation to its figures: corrected curves, and the optimism of each bootstrap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout._text import number_text
from heldout._types import Floats
from heldout.data.task import TaskKind, Truth
from heldout.errors import InputError
from heldout.estimates.types import json_number
from heldout.flags import Flag
from heldout.metrics.base import Metric, Response, oriented
from heldout.protocols.validation.curves.calibration import CalibrationCurve, calibration_curve
from heldout.protocols.validation.curves.decision import decision_curve
from heldout.protocols.validation.curves.roc import roc_curve
from heldout.protocols.validation.replicates import Replicates
from heldout.report import validation_words as words
from heldout.report.validation_content import CalibrationPicture, DecisionPicture, OptimismPicture, RocPicture
from heldout.scales import Scale, decimals_for

MOST_CLASSES = 4
"""Classes that are drawn if there are several."""
CALIBRATION_BINS = 25
MOST_OPTIMISM_BINS = 30
FROM_OWN_SAMPLES = ("optimism", "two_stage")
"""Methods whose optimism is the score on a model's own sample minus the score on all rows."""


def roc_pictures(replicates: Replicates) -> tuple[RocPicture, ...]:
    """The ROC curves of a classification with scores or probabilities, one per class if there are several."""
    truth = replicates.truth
    if (
        not truth.kind.is_classification
        or not {Response.DECISION, Response.PROBABILITIES} & replicates.on_original.keys()
    ):
        return ()
    pictures = []
    for of_class in _classes(truth):
        curve = roc_curve(replicates, of_class=of_class)
        pictures.append(
            RocPicture(
                name=class_text(curve.name),
                **_points(curve.false_positive_rate, curve, _clipped),
                area_apparent=number_text(curve.area_apparent, 3),
                area_corrected=number_text(curve.area_corrected, 3),
                note=curve.flags.get(Flag.CURVE_BEYOND_RANGE, ""),
            )
        )
    return tuple(pictures)


def calibration_pictures(replicates: Replicates) -> tuple[CalibrationPicture, ...]:
    """Calibration of probabilities, values, or survival at the middle time; none if rows are too few."""
    wanted = {TaskKind.REGRESSION: Response.VALUES, TaskKind.SURVIVAL: Response.SURVIVAL}
    if wanted.get(replicates.truth.kind, Response.PROBABILITIES) not in replicates.on_original:
        return ()
    pictures = []
    for settings in _settings(replicates):
        try:
            curve = calibration_curve(replicates, **settings)
        except InputError:  # ten rows or fewer allow no curve
            return ()
        pictures.append(_calibration(curve, replicates.truth.kind))
    return tuple(pictures)


def _calibration(curve: CalibrationCurve, kind: TaskKind) -> CalibrationPicture:
    is_probability = kind is not TaskKind.REGRESSION
    low, high = (0.0, 1.0) if is_probability else _ends(curve)
    decimals = decimals_for(curve.mean_absolute_error)
    counts, _ = np.histogram(curve.of_rows, bins=CALIBRATION_BINS, range=(low, high))
    return CalibrationPicture(
        name=class_text(curve.name) if kind.is_classification else curve.name,
        **_points(curve.predicted, curve, _clipped if is_probability else _numbers),
        groups=tuple((group.predicted, group.observed) for group in curve.groups),
        low_end=low,
        high_end=high,
        histogram=tuple(counts.tolist()),
        caption=words.CORRECTED_CALIBRATION_CAPTION.format(
            mean=number_text(curve.mean_absolute_error, decimals), most=number_text(curve.quantile_90, decimals)
        ),
        note=curve.flags.get(Flag.CURVE_BEYOND_RANGE, ""),
    )


def _ends(curve: CalibrationCurve) -> tuple[float, float]:
    """The range of all values in the figure of a regression, with a margin."""
    drawn = [curve.of_rows, curve.apparent, curve.corrected, curve.low, curve.high]
    points = np.concatenate([*drawn, [group.observed for group in curve.groups]])
    points = points[np.isfinite(points)]
    margin = 0.02 * float(np.ptp(points)) or 1.0
    return float(points.min()) - margin, float(points.max()) + margin


def decision_pictures(replicates: Replicates) -> tuple[DecisionPicture, ...]:
    """Decision curves of two classes, or of survival at the middle time."""
    kind = replicates.truth.kind
    wanted = {TaskKind.BINARY: Response.PROBABILITIES, TaskKind.SURVIVAL: Response.SURVIVAL}.get(kind)
    if wanted is None or wanted not in replicates.on_original:
        return ()
    pictures = []
    for settings in _settings(replicates):
        curve = decision_curve(replicates, **settings)
        pictures.append(
            DecisionPicture(
                name=class_text(curve.name) if kind.is_classification else curve.name,
                **_points(curve.threshold, curve, _numbers),
                act_on_all=tuple(curve.act_on_all.tolist()),
            )
        )
    return tuple(pictures)


def _points(x: Floats, curve: Any, shown: Callable[[Floats], tuple[float | None, ...]]) -> dict[str, Any]:
    """The points of a curve and of its band."""
    of = {name: shown(getattr(curve, name)) for name in ("apparent", "corrected", "low", "high")}
    return {"x": tuple(x.tolist()), **of}


def class_text(label: str) -> str:
    """A label, with "class" before a number.

    Examples
    --------
    >>> class_text("ill"), class_text("1")
    ('ill', 'class 1')
    """
    return f"class {label}" if label.lstrip("-")[:1].isdigit() else label


def _settings(replicates: Replicates) -> Sequence[dict[str, Any]]:
    """The arguments of each curve: a class, a time, or none."""
    if replicates.truth.kind is TaskKind.SURVIVAL:
        times = replicates.times
        return [{"time": times[len(times) // 2]}] if times else []
    return [{"of_class": each} for each in _classes(replicates.truth)]


def _classes(truth: Truth) -> Sequence[Any]:
    if truth.kind is not TaskKind.MULTICLASS or truth.classes is None:
        return [None]
    listed: list[Any] = truth.classes.tolist()
    return listed[:MOST_CLASSES]


def optimism_picture(replicates: Replicates, metric: Metric, scale: Scale, method: str) -> OptimismPicture | None:
    """The distribution of the optimism over the bootstraps; None if it is always unknown."""
    scores = replicates.scores(metric)
    own = method in FROM_OWN_SAMPLES
    optimism = oriented(metric, scores.in_bootstrap - (scores.on_original if own else scores.out_of_bag))
    optimism = optimism[np.isfinite(optimism)]
    if not optimism.size:
        return None
    low, high = float(optimism.min()), float(optimism.max())
    if high - low <= 1e-12 * max(abs(low), abs(high), 1e-300):
        low, high = low - 0.5, high + 0.5
    bins = int(np.clip(2 * np.sqrt(optimism.size), 5, MOST_OPTIMISM_BINS))
    counts, edges = np.histogram(optimism, bins=bins, range=(low, high))
    return OptimismPicture(
        metric=scale,
        edges=tuple(edges.tolist()),
        counts=tuple(counts.tolist()),
        mean=float(optimism.mean()),
        bootstraps=len(optimism),
        caption=words.OPTIMISM_CAPTION if own else words.LEFT_OUT_CAPTION,
    )


def _numbers(values: Floats) -> tuple[float | None, ...]:
    return tuple(json_number(value) for value in values.tolist())


def _clipped(values: NDArray[np.float64]) -> tuple[float | None, ...]:
    """Shares, clipped to the range of the figure."""
    return _numbers(np.clip(values, 0.0, 1.0))
