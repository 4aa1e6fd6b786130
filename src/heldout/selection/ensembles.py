"""Ensembles: averages of configurations' held-out predictions, scored like any configuration.

An average of models' predictions is what the average of the models would have predicted, so an ensemble has
held-out predictions as soon as its members have, and choosing its weights can be replayed like any other choice.
Each weighting of the rows has an ensemble of its own; the ensembles of a block are bound to the metric as columns
of one matrix, and column l is scored under weighting l.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.reference import Weightings
from heldout.metrics.aggregate import AggregateScore
from heldout.metrics.base import oriented
from heldout.selection.base import NONE_CHOSEN, Floats, WeightRule
from heldout.selection.choice import Choice, of_weights
from heldout.selection.ties import tie_exactly

CELLS_AT_ONCE = 4_000_000
"""Predictions of ensembles that are held at once."""


@dataclass(frozen=True, eq=False)
class Averages:
    """Weighted averages of the candidates' predictions.

    Attributes
    ----------
    predictions : ndarray of shape (n, C, R) or (n, C, R, n_classes)
        Probabilities or values.
    are_probabilities : bool
    respond : callable or None
        From averaged probabilities to what the metric reads, where that is labels.
    """

    predictions: Floats
    are_probabilities: bool
    respond: Callable[[Floats], NDArray[Any]] | None = None

    @property
    def n_columns(self) -> int:
        return self.predictions.shape[1]

    def of_weights(self, weights: Floats) -> NDArray[Any]:
        """(n, L, R[, n_classes]): the ensemble of each of the weights (L, C), summed column by column."""
        averages = np.empty((len(self.predictions), len(weights), *self.predictions.shape[2:]))
        for lane, mine in enumerate(weights):
            total = np.zeros((len(self.predictions), *self.predictions.shape[2:]))
            for column in np.flatnonzero(mine):
                total += mine[column] * self.predictions[:, column]
            averages[:, lane] = total
        return self._as_read(averages)

    def with_one_more(self, members: NDArray[np.intp], candidates: NDArray[np.intp]) -> NDArray[Any]:
        """(n, len(candidates), R[, n_classes]): the plain average of the members and each candidate."""
        total = self.predictions[:, members].sum(axis=1)
        return self._as_read((total[:, None] + self.predictions[:, candidates]) / (len(members) + 1))

    def score(self, score: AggregateScore, choice: Choice, counts: Weightings) -> Floats:
        """(L,): the ensemble of each weighting under it, NaN where none was chosen."""
        assert choice.weights is not None, "a rule of weights chose"
        cells = self.predictions.size // self.n_columns
        step = max(1, CELLS_AT_ONCE // max(cells, 1))
        values = np.full(len(counts), np.nan)
        for first in range(0, len(counts), step):
            some = slice(first, first + step)
            bound = score.with_predictions(self.of_weights(choice.weights[some]))
            values[some] = bound.selected(counts[some], np.arange(bound.n_columns))
        return np.where(choice.columns == NONE_CHOSEN, np.nan, values)

    def _as_read(self, averages: Floats) -> NDArray[Any]:
        # Equal averages differ in their last bits by the order of summing, and ranks would see that.
        read = tie_exactly(averages)
        if self.are_probabilities:
            np.clip(read, 0, 1, out=read)
        return read if self.respond is None else self.respond(read)


def weigh(rule: WeightRule, score: AggregateScore, averages: Averages, counts: Weightings) -> Choice:
    """The ensembles that a rule chooses under each of the weightings (L, n)."""
    scores = tie_exactly(oriented(score.metric, score.all(counts)))
    weights = [
        rule.weigh(_Resample(score, averages, counts[lane : lane + 1], scores[lane])) for lane in range(len(counts))
    ]
    return of_weights(np.stack(weights))


@dataclass(frozen=True, eq=False)
class _Resample:
    """A ``Library``: what a rule of weights may ask under one weighting (1, n)."""

    score: AggregateScore
    averages: Averages
    counts: Weightings
    scores: Floats

    def with_one_more(self, members: NDArray[np.intp], candidates: NDArray[np.intp]) -> Floats:
        bound = self.score.with_predictions(self.averages.with_one_more(members, candidates))
        return oriented(bound.metric, bound.all(self.counts))[0]
