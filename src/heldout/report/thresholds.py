"""Tables of thresholds: what follows from calling the rows above each positive. And curves with few points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats
from heldout.data.task import TaskKind, Truth
from heldout.metrics.base import Response
from heldout.predictions import HeldOutPredictions
from heldout.report.diagnostics import first_predicted
from heldout.report.entries import Facts

MOST_PRECISION_POINTS = 300
PROBABILITIES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
"""Thresholds of a table of probabilities."""
SHARES = (0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05)
"""Shares of rows above the thresholds of a table of decision values, which also has the 0 that ``predict`` uses."""


def threshold_table(
    truth: Truth, predictions: HeldOutPredictions, configuration: int, sample_weight: Floats | None = None
) -> Facts | None:
    """The table of one configuration's held-out predictions; all repeats count together.

    None but for a binary task with probabilities or decision values. Thresholds of probabilities are round numbers;
    of decision values they are 0 and those above which round shares of the rows lie.
    """
    if truth.kind is not TaskKind.BINARY:
        return None
    probabilities, decisions = (
        None if (array := predictions.responses.get(kind)) is None else array[:, configuration]
        for kind in (Response.PROBABILITIES, Response.DECISION)
    )
    scores = first_predicted(probabilities, decisions)
    if scores is None:
        return None
    weights = np.ones(truth.n_rows) if sample_weight is None else sample_weight
    rows = threshold_rows(truth.values == truth.positive, scores, weights, probabilities=scores is probabilities)
    return (
        Facts(rows=rows, positive=str(truth.pos_label), of_probabilities=scores is probabilities) if rows else None
    )


def drawn_curves(curves: tuple[Facts, ...]) -> tuple[Facts, ...]:
    """The curves with few enough points, closer at the beginning, where precision jumps."""
    return tuple(_thinned(curve) for curve in curves)


def _thinned(curve: Facts) -> Facts:
    points = len(curve.x)
    power = 1.0 if points <= MOST_PRECISION_POINTS else 1.5
    steps = np.linspace(0.0, 1.0, min(points, MOST_PRECISION_POINTS)) ** power
    kept = np.unique(np.rint(steps * (points - 1)).astype(int)).tolist()
    x, y = (tuple(round(values[n], 5) for n in kept) for values in (curve.x, curve.y))
    return Facts({**curve, "x": x, "y": y})


def threshold_rows(
    positive: NDArray[np.bool_], scores: Floats, weights: Floats, *, probabilities: bool
) -> tuple[Facts, ...]:
    """The rows from scores (N, R) of a binary task; none without rows of both classes."""
    called = np.broadcast_to(positive[:, None], scores.shape)
    weighed = np.broadcast_to(weights[:, None], scores.shape)
    present = ~np.isnan(scores) & (weighed > 0)
    flat, truth, weight = scores[present], called[present], weighed[present]
    if truth.all() or not truth.any():
        return ()
    thresholds = (
        np.array(PROBABILITIES)
        if probabilities
        else np.unique([0.0, *np.quantile(flat, [1 - share for share in SHARES], method="lower")])
    )
    return tuple(_threshold_row(float(threshold), flat, truth, weight) for threshold in thresholds)


def _threshold_row(threshold: float, scores: Floats, truth: NDArray[np.bool_], weight: Floats) -> Facts:
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
