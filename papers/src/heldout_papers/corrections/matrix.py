"""A matrix of held-out predictions whose true scores are known, and the cell of the test bed that it belongs to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.metrics.base import Metric
from heldout.metrics.named import metric_named
from heldout.predictions import HeldOutPredictions
from heldout_papers.corrections.distribution import Floats, KnownDistribution


@dataclass(frozen=True)
class BedCell:
    """Matrices of one kind: results are summed up over its repetitions.

    Attributes
    ----------
    part : str
        "independent", "correlated" or "tables".
    kind : str
        What the columns of its matrices are: "Be(9, 6)", "ties", "varied".
    metric : str
    rows, configurations : int
        N and C.
    """

    part: str
    kind: str
    metric: str
    rows: int
    configurations: int


@dataclass(frozen=True, eq=False)
class KnownMatrix:
    """One search, and how good each of its configurations truly is.

    Attributes
    ----------
    y : ndarray of shape (N,)
    predictions : ndarray of shape (N, C) or (N, C, 1, n_classes), or HeldOutPredictions
        Held out.
    truths : ndarray of shape (C,)
        The true score of each configuration, in the metric's own units.
    metric : str
    folds : ndarray of shape (N,), or None
        None where the predictions tell them.
    seed : int
        Of everything that methods draw: all of them draw the same.
    reading : mapping
        How ``ho.estimate`` is to read the predictions: ``response``, ``pos_label``.
    scale : float
        Errors are divided by it: 1, or for errors in units of a target the standard deviation of that target.
    distribution : KnownDistribution, optional
        For the oracle; without it the oracle is a line that other repetitions tell.
    """

    y: NDArray[Any]
    predictions: NDArray[Any] | HeldOutPredictions
    truths: Floats
    metric: str
    folds: NDArray[Any] | None
    seed: int
    reading: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    scale: float = 1.0
    distribution: KnownDistribution | None = None


WORST: Mapping[str, float] = MappingProxyType(
    {"r2": -2.0, "root_mean_squared_error": 2.0, "mean_absolute_error": 2.0}
)
"""True scores (divided by their scale) beyond which a winner is a catastrophe outside its rows, which no estimate
from these rows can see. There values, ends and truths are moved to this score before they are averaged."""


def direction(metric: str) -> int:
    """1 where more is better, -1 for a loss."""
    return 1 if declared(metric).greater_is_better else -1


def declared(metric: str) -> Metric:
    return metric_named(metric)


def moderate(metric: str, values: Floats, scale: Floats | float = 1.0) -> Floats:
    """Scores divided by their scale, none worse than ``WORST``.

    Examples
    --------
    >>> moderate("r2", np.array([0.5, -30.0])).tolist()
    [0.5, -2.0]
    >>> moderate("root_mean_squared_error", np.array([3.0, 90.0]), 6.0).tolist()
    [0.5, 2.0]
    """
    scaled = np.asarray(values) / scale
    if metric not in WORST:
        return scaled
    limit = np.maximum if direction(metric) > 0 else np.minimum
    return np.asarray(limit(scaled, WORST[metric]))
