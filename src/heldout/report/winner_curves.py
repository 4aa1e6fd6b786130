"""Precision against recall, and net benefit, of one configuration's held-out predictions, as plain numbers.

Like the curves of ``diagnostics`` they are uncorrected for the choice of the configuration.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout._types import Floats
from heldout.data.task import TaskKind, Truth
from heldout.kernels.reference_curves import net_benefit, precision_recall_points
from heldout.metrics.base import Response
from heldout.predictions import HeldOutPredictions
from heldout.protocols.validation.curves.decision import checked_thresholds
from heldout.report.diagnostics import MOST_CLASS_CURVES, class_names, first_predicted


@dataclass(frozen=True)
class PrecisionRecallPoints:
    """Precision against recall, from the highest threshold to the lowest."""

    name: str
    """The class that is compared with all others; empty for a binary task."""
    repeat: int
    recall: tuple[float, ...]
    precision: tuple[float, ...]
    average_precision: float
    """The sum of the precisions, each times the recall that it adds: scikit-learn's."""
    prevalence: float
    """Share of the positive rows: the precision of guessing."""


@dataclass(frozen=True)
class NetBenefit:
    """Net benefit a row of acting on probabilities from each threshold on, mean over repeats."""

    name: str
    """The class that one acts on."""
    thresholds: tuple[float, ...]
    net_benefit: tuple[float, ...]
    act_on_all: tuple[float, ...]
    """Of acting on every row; acting on none has 0."""


def precision_recall_of(
    truth: Truth, predictions: HeldOutPredictions, configuration: int, sample_weight: Floats | None = None
) -> tuple[PrecisionRecallPoints, ...]:
    """One curve a repeat of a binary task, or a class in the first repeat; empty without scores of classes.

    Of many classes, those with the smallest average precisions.
    """
    if not truth.kind.is_classification:
        return ()
    responses = [predictions.responses.get(kind) for kind in (Response.PROBABILITIES, Response.DECISION)]
    ranks = first_predicted(*(None if array is None else array[:, configuration] for array in responses))
    if ranks is None:
        return ()
    weights = np.ones(truth.n_rows) if sample_weight is None else sample_weight
    if truth.kind is TaskKind.BINARY:
        positive = truth.values == truth.positive
        curves = [_curve("", repeat, positive, ranks[:, repeat], weights) for repeat in range(ranks.shape[1])]
    else:
        curves = [
            _curve(name, 0, truth.values == code, ranks[:, 0, code], weights)
            for code, name in enumerate(class_names(truth))
        ]
    known = [curve for curve in curves if curve is not None]
    if truth.kind is TaskKind.MULTICLASS and len(known) > MOST_CLASS_CURVES:
        known = sorted(known, key=lambda curve: curve.average_precision)[:MOST_CLASS_CURVES]
    return tuple(known)


def _curve(
    name: str, repeat: int, positive: NDArray[np.bool_], scores: Floats, weights: Floats
) -> PrecisionRecallPoints | None:
    present = ~np.isnan(scores) & (weights > 0)
    if not (present & positive).any():
        return None
    recall, precision, average = precision_recall_points(positive[present], scores[present], weights[present])
    share = float(np.average(positive[present], weights=weights[present]))
    return PrecisionRecallPoints(name, repeat, tuple(recall.tolist()), tuple(precision.tolist()), average, share)


def net_benefit_of(
    truth: Truth,
    predictions: HeldOutPredictions,
    configuration: int,
    sample_weight: Floats | None = None,
) -> NetBenefit | None:
    """Net benefit of a binary task's probabilities by threshold; None without any."""
    points = checked_thresholds(None)
    probabilities = predictions.responses.get(Response.PROBABILITIES)
    if truth.kind is not TaskKind.BINARY or probabilities is None:
        return None
    weights = np.ones(truth.n_rows) if sample_weight is None else sample_weight
    observed = (truth.values == truth.positive).astype(np.float64)
    benefits, shares = [], []
    for predicted in probabilities[:, configuration].T:
        present = ~np.isnan(predicted) & (weights > 0)
        if present.any():
            benefits.append(net_benefit(observed[present], predicted[present], weights[present], points))
            shares.append(float(np.average(observed[present], weights=weights[present])))
    if not benefits:
        return None
    share = float(np.mean(shares))
    of_all = share - (1 - share) * points / (1 - points)
    return NetBenefit(
        str(truth.pos_label),
        tuple(points.tolist()),
        tuple(np.mean(benefits, axis=0).tolist()),
        tuple(of_all.tolist()),
    )
