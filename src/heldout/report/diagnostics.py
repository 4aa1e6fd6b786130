"""The winner's held-out predictions: ROC, calibration, confusion, residuals and thresholds, as plain numbers.

They concern one configuration and need no model. Repeats do not count as more rows: intervals count each row once.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import sqrt
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np

from heldout._types import Array, Booleans, Codes, Floats, Indices
from heldout.data.task import TaskKind, Truth
from heldout.estimates.types import Estimate
from heldout.kernels.reference_curves import precision_recall_points, roc_points
from heldout.metrics.base import Response
from heldout.predictions import UNPREDICTED_LABEL, HeldOutPredictions, is_predicted
from heldout.report.entries import Facts

MOST_CURVE_POINTS = 300
MOST_SCATTER_POINTS = 1000
MOST_MATRIX_CLASSES = 20
MOST_CLASS_CURVES = 7
ROWS_A_GROUP = 20


@dataclass(frozen=True)
class PredictedRows:
    """One configuration's held-out predictions of a target."""

    truth: Truth
    predictions: HeldOutPredictions
    configuration: int
    sample_weight: Floats | None = None
    estimates: Mapping[str, Estimate] = field(default_factory=dict)
    """A search's estimates of this configuration by their metrics."""

    @property
    def name(self) -> str:
        """Of the configuration."""
        return self.predictions.names[self.configuration]

    @property
    def weights(self) -> Floats:
        return np.ones(self.truth.n_rows) if self.sample_weight is None else self.sample_weight

    @property
    def is_binary(self) -> bool:
        return self.truth.kind is TaskKind.BINARY

    @property
    def positive(self) -> Booleans:
        """(N,): whether a row is of the positive class."""
        return self.truth.values == self.truth.positive

    @property
    def responses(self) -> dict[Response, Array]:
        """Those that the configuration has, (N, R) or (N, R, K)."""
        arrays = {kind: array[:, self.configuration] for kind, array in self.predictions.responses.items()}
        return {kind: array for kind, array in arrays.items() if is_predicted(array)}

    @property
    def ranks(self) -> Floats | None:
        """What ranks rows of a classification: probabilities, or else decisions."""
        responses = self.responses
        return responses.get(Response.PROBABILITIES, responses.get(Response.DECISION))


def predictions_facts(rows: PredictedRows | None) -> dict[str, Any]:
    """What a page shows of the predictions of one configuration; nothing of an ensemble."""
    if rows is None:
        return {"diagnostics": None}
    return {
        "diagnostics": diagnose(rows),
        "precision_recall": tuple(map(thinned_curve, class_curves(rows, precision_recall_points))),
        "thresholds": threshold_table(rows),
    }


def diagnose(rows: PredictedRows) -> Facts | None:
    """All diagnostics that the predictions allow; None if they allow none."""
    residuals = _residuals(rows)
    parts: dict[str, Any] = {
        "roc": class_curves(rows, thinned_roc_points),
        "calibration": calibration_of(rows),
        "confusion": _confusion(rows),
        "residuals": residuals,
    }
    if not any(parts.values()):
        return None
    n_drawn = rows.truth.n_rows if residuals is None else len(residuals.truth)  # rows of the scatter plots
    return Facts.of(rows, "name repeats=predictions.n_repeats rows=truth.n_rows", drawn=n_drawn, **parts)


PointsOf: TypeAlias = Callable[[Booleans, Floats, Floats], tuple[Floats, Floats, float] | None]
"""From which rows are positive, their scores and weights to x, y and the area below; None where it is undefined."""


def class_curves(rows: PredictedRows, points_of: PointsOf) -> tuple[Facts, ...]:
    """A curve a repeat of a binary task, or a class in the first repeat: of many those with the least areas."""
    truth, ranks, weights = rows.truth, rows.ranks, rows.weights
    if ranks is None or not truth.kind.is_classification:
        return ()
    if rows.is_binary:
        parts = [("", repeat, rows.positive, scores) for repeat, scores in enumerate(ranks.T)]
    elif ranks.ndim == 3:
        named = enumerate(class_names(truth))
        parts = [(name, 0, truth.values == code, ranks[:, 0, code]) for code, name in named]
    else:
        return ()
    curves = []
    for name, repeat, is_of, scores in parts:
        present = ~np.isnan(scores) & (weights > 0)
        points = points_of(is_of[present], scores[present], weights[present]) if is_of[present].any() else None
        if points is not None:
            share = float(np.average(is_of[present], weights=weights[present]))
            x, y = (tuple(values.tolist()) for values in points[:2])
            curves.append(Facts(name=name, repeat=repeat, x=x, y=y, area=points[2], prevalence=share))
    if not rows.is_binary and len(curves) > MOST_CLASS_CURVES:
        curves = sorted(curves, key=lambda curve: curve.area)[:MOST_CLASS_CURVES]
    return tuple(curves)


def thinned_roc_points(positive: Booleans, scores: Floats, weights: Floats) -> tuple[Floats, Floats, float] | None:
    """The corners of a ROC curve, at most ``MOST_CURVE_POINTS``, and its whole area; None of a single class."""
    if positive.all():
        return None
    x, y, area = roc_points(positive, scores, weights)
    kept = _corners(x, y)
    return x[kept].round(5), y[kept].round(5), area


def _corners(x: Floats, y: Floats) -> Indices:
    """Points at which a curve turns, at most ``MOST_CURVE_POINTS`` of them."""
    if len(x) < 3:
        return np.arange(len(x))
    turns = np.abs(np.diff(x[1:]) * np.diff(y[:-1]) - np.diff(x[:-1]) * np.diff(y[1:])) > 1e-15
    kept = np.concatenate([[0], 1 + np.flatnonzero(turns), [len(x) - 1]])
    if len(kept) > MOST_CURVE_POINTS:
        kept = kept[np.linspace(0, len(kept) - 1, MOST_CURVE_POINTS).astype(int)]
    return kept


def class_names(truth: Truth) -> tuple[str, ...]:
    """The labels as text."""
    return tuple(str(label) for label in ([] if truth.classes is None else truth.classes.tolist()))


def two_classes(truth: Truth) -> tuple[str, ...]:
    """The positive and the negative class of a binary task as text; empty for another."""
    if truth.kind is not TaskKind.BINARY or truth.positive is None:
        return ()
    names = class_names(truth)
    return names[truth.positive], names[1 - truth.positive]


def wilson(share: float, rows: float) -> tuple[float, float]:
    """Wilson's 95 % interval for a share of ``rows`` rows.

    Examples
    --------
    >>> [round(end, 3) for end in wilson(0.5, 10)]
    [0.237, 0.763]
    """
    z = NormalDist().inv_cdf(0.975)
    centre = (share + z * z / (2 * rows)) / (1 + z * z / rows)
    half = z / (1 + z * z / rows) * sqrt(share * (1 - share) / rows + z * z / (4 * rows * rows))
    return max(centre - half, 0.0), min(centre + half, 1.0)


def _flat(rows: PredictedRows, scores: Floats) -> tuple[Booleans, Floats, Booleans, Floats]:
    """What is predicted (N, R); and of these, whether they are positive, scores and weights, repeats together."""
    weighed = np.broadcast_to(rows.weights[:, None], scores.shape)
    present = ~np.isnan(scores) & (weighed > 0)
    positive = np.broadcast_to(rows.positive[:, None], scores.shape)
    return present, scores[present], positive[present], weighed[present]


def calibration_of(rows: PredictedRows) -> Facts | None:
    """Groups of rows by predicted probability, with what was observed; None but of two classes' probabilities."""
    probabilities = rows.responses.get(Response.PROBABILITIES)
    if probabilities is None or not rows.is_binary:
        return None
    present, predicted, happened, weight = _flat(rows, probabilities)
    repeats = float(present.sum() / max(present.any(axis=1).sum(), 1))
    n_groups = int(np.clip(len(predicted) / repeats // ROWS_A_GROUP, 2, 10))
    # Ranks with ties at their lowest, so that equal predictions are in one group.
    rank = np.searchsorted(np.sort(predicted), predicted)
    group = rank * n_groups // len(predicted)
    groups = []
    for code in np.unique(group):
        inside = group == code
        mine = weight[inside]
        share = float(np.average(happened[inside], weights=mine))
        n_rows = float(mine.sum() ** 2 / (mine**2).sum() / repeats)
        low, high = wilson(share, n_rows)
        mean = float(np.average(predicted[inside], weights=mine))
        groups.append(Facts(predicted=mean, observed=share, low=low, high=high, rows=n_rows))
    histogram = np.histogram(predicted, bins=20, range=(0, 1))[0] / repeats
    return Facts(groups=tuple(groups), histogram=tuple(histogram.round(2).tolist()))


def _confusion(rows: PredictedRows) -> Facts | None:
    """Counts of predicted labels, or else of labels from probabilities (above one half, or the largest)."""
    truth, responses = rows.truth, rows.responses
    predicted = responses.get(Response.LABELS)
    if predicted is None and Response.PROBABILITIES in responses:
        predicted = _labels_from(truth, responses[Response.PROBABILITIES])
    if predicted is None or not truth.kind.is_classification or truth.n_classes > MOST_MATRIX_CLASSES:
        return None
    counts = np.zeros((truth.n_classes, truth.n_classes))
    present = predicted != UNPREDICTED_LABEL
    codes = np.broadcast_to(truth.values[:, None], predicted.shape)
    np.add.at(counts, (codes[present], predicted[present]), 1.0)
    repeats = present.sum() / max(present.any(axis=1).sum(), 1)
    means = (counts / repeats).round(2).tolist()
    return Facts(classes=class_names(truth), counts=tuple(map(tuple, means)))


def _labels_from(truth: Truth, probabilities: Floats) -> Codes:
    if probabilities.ndim == 3:
        unknown = np.isnan(probabilities).any(axis=2)
        best = np.nan_to_num(probabilities).argmax(axis=2)
    else:
        assert truth.positive is not None, "a binary task has a positive class"
        unknown = np.isnan(probabilities)
        best = np.where(probabilities > 0.5, truth.positive, 1 - truth.positive)
    return np.where(unknown, UNPREDICTED_LABEL, best).astype(np.int32)


def _residuals(rows: PredictedRows) -> Facts | None:
    values = rows.responses.get(Response.VALUES)
    if values is None or rows.truth.kind is not TaskKind.REGRESSION:
        return None
    present = np.flatnonzero(np.isfinite(values[:, 0]))
    truth, predicted = rows.truth.values[present], values[present, 0]
    residuals = truth - predicted
    drawn = np.arange(len(truth))
    if len(truth) > MOST_SCATTER_POINTS:
        # A fixed sample, so the same content gives the same figure.
        drawn = np.sort(np.random.default_rng(0).choice(len(truth), MOST_SCATTER_POINTS, replace=False))
    n_groups = int(np.clip(len(truth) // ROWS_A_GROUP, 1, 10))
    by_prediction = np.array_split(np.argsort(predicted, kind="stable"), n_groups)
    half, most = np.quantile(np.abs(residuals), [0.5, 0.95])
    return Facts(
        predicted=tuple(predicted[drawn].tolist()),
        truth=tuple(truth[drawn].tolist()),
        medians=tuple((float(np.median(predicted[g])), float(np.median(residuals[g]))) for g in by_prediction),
        half=float(half),
        most=float(most),
    )


MOST_PRECISION_POINTS = 300
PROBABILITIES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
"""Thresholds of a table of probabilities."""
SHARES = (0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05)
"""Shares of rows above the thresholds of a table of decision values, which also has the 0 that ``predict`` uses."""


def threshold_table(rows: PredictedRows) -> Facts | None:
    """The table of one configuration's held-out predictions; all repeats count together.

    None but for a binary task with probabilities or decision values, and rows of both classes. Thresholds of
    probabilities are round numbers; of decision values they are 0 and those above which round shares of rows lie.
    """
    if not rows.is_binary or rows.ranks is None:
        return None
    _, flat, truth, weight = _flat(rows, rows.ranks)
    if truth.all() or not truth.any():
        return None
    is_share = Response.PROBABILITIES in rows.responses
    below = np.quantile(flat, [1 - share for share in SHARES], method="lower")
    thresholds = PROBABILITIES if is_share else np.unique([0.0, *below]).tolist()
    lines = tuple(_threshold_row(threshold, flat, truth, weight) for threshold in thresholds)
    return Facts(rows=lines, positive=str(rows.truth.pos_label), of_probabilities=is_share)


def thinned_curve(curve: Facts) -> Facts:
    """The curve with few enough points, closer at the beginning, where precision jumps."""
    points = len(curve.x)
    power = 1.0 if points <= MOST_PRECISION_POINTS else 1.5
    steps = np.linspace(0.0, 1.0, min(points, MOST_PRECISION_POINTS)) ** power
    kept = np.unique(np.rint(steps * (points - 1)).astype(int)).tolist()
    x, y = (tuple(round(values[n], 5) for n in kept) for values in (curve.x, curve.y))
    return Facts({**curve, "x": x, "y": y})


def _threshold_row(threshold: float, scores: Floats, truth: Booleans, weight: Floats) -> Facts:
    flagged = scores > threshold
    hits, alarms, missed, quiet = (
        float(weight[flagged_so & truly].sum())
        for flagged_so, truly in ((flagged, truth), (flagged, ~truth), (~flagged, truth), (~flagged, ~truth))
    )
    return Facts(
        threshold=threshold,
        flagged=(hits + alarms) / float(weight.sum()),
        recall=_share(hits, hits + missed),
        specificity=_share(quiet, quiet + alarms),
        precision=_share(hits, hits + alarms),
        negative_predictive_value=_share(quiet, quiet + missed),
        f1=_share(2 * hits, 2 * hits + alarms + missed),
    )


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
