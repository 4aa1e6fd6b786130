"""Means of scores that rows already have, such as right or wrong: there is no target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from heldout._types import Array, Floats
from heldout.data.task import TaskKind, Truth
from heldout.errors import InputError
from heldout.metrics.base import Response, is_number
from heldout.metrics.row_losses import Finish, OfRowLosses


@dataclass(frozen=True)
class MeanScore(OfRowLosses):
    """Mean of scores: the prediction of a row is its score, and there are no true values.

    Pass the scores in place of the true values. Internally the target is the best score on every row, or the task
    of each row, so that methods for row losses apply.

    Attributes
    ----------
    least, greatest : float
        The range of a score, known in advance. A score outside it is refused.

    Examples
    --------
    >>> import heldout as ho
    >>> right = [[1, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1]]  # 4 rows, 3 configurations
    >>> ho.estimate(right, metric="mean_score", random_state=0).uncorrected
    0.75
    """

    least: float = 0.0
    greatest: float = 1.0
    stem = "mean_score"
    title = "Mean score"
    definition = "The mean of the scores of rows, such as the share of right answers."
    greater_is_better = True
    responses = (Response.VALUES,)
    tasks = frozenset({TaskKind.REGRESSION, TaskKind.MULTICLASS, TaskKind.BINARY})
    finish = Finish.COMPLEMENT
    reads_truth = False

    def __post_init__(self) -> None:
        ends = self.least, self.greatest
        if not (all(map(is_number, ends)) and np.isfinite(ends).all() and self.least < self.greatest):
            raise InputError(
                f"the range of scores must be two finite numbers, least < greatest, got {ends!r}; "
                "write 'mean_score(least=0, greatest=10)'.",
                argument="metric",
            )

    @property
    def range(self) -> tuple[float, float]:
        return float(self.least), float(self.greatest)

    @property
    def best_value(self) -> float:
        return float(self.greatest)

    def losses(self, truth: Truth, predictions: Array) -> Array:
        """(n, C): by how much each score is below the best; booleans where it is 0 or 1."""
        scores: Floats = np.asarray(predictions, dtype=np.float64)
        outside = (scores < self.least) | (scores > self.greatest)
        if outside.any():
            raise InputError(
                f"{self.name} is of scores from {self.least:g} to {self.greatest:g}, and a row has "
                f"{scores[outside][0]:g}; give the range, as in 'mean_score(least=0, greatest=10)'.",
                argument="metric",
            )
        missing = self.greatest - scores
        return missing > 0 if np.isin(missing, (0.0, 1.0)).all() else missing
