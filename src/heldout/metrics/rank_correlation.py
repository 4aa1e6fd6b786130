"""How well predicted numbers order the rows: Spearman's rank correlation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.data.task import TaskKind, Truth
from heldout.kernels.dispatch import RankCorrelations
from heldout.metrics.base import Metric, Needs, Response, Sums


@dataclass(frozen=True)
class Spearman(Metric):
    """Pearson's correlation of the ranks of truth and prediction, tied rows sharing the mean of theirs.

    The same number as ``scipy.stats.spearmanr``, on rows repeated by their counts; with importance weights, of
    ranks in which a row takes as many places as it weighs. NaN, as there, for a constant prediction, which so
    never wins. Predictions of the wrong sign have a negative value.

    Examples
    --------
    >>> from heldout.data.task import truth_of
    >>> bound = Spearman().statistic(truth_of([1.5, 2.5, 4.0]), np.array([[1.0, 9.0], [3.0, 4.0], [2.0, 1.0]]))
    >>> bound.all(np.array([[1, 1, 1], [2, 0, 1]], dtype=np.uint8))
    array([[ 0.5, -1. ],
           [ 1. , -1. ]])
    """

    name = "spearman"
    title = "Spearman correlation"
    definition = "The correlation of the ranks of predictions and truth: 0 is none."
    greater_is_better = True
    responses = (Response.VALUES,)
    tasks = frozenset({TaskKind.REGRESSION})
    range = (-1.0, 1.0)
    needs = Needs.TWO_VALUES
    undefined_without = Needs.TWO_VALUES

    def statistic(self, truth: Truth, predictions: NDArray[Any]) -> Sums:
        return RankCorrelations(np.asarray(predictions, dtype=np.float64), truth.values)
