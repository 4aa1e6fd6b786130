"""All that a sub-sample's protocols read: held-out predictions of every repeat, and of every pair of folds.

One array of N x C x R predictions serves cross-validation, TT, BBC with any number of repeats and, as it is
complete, the race of BCED. Nested cross-validation, whose inner folds are the other outer folds, needs models that
saw neither of two folds. One such model predicts both: for the search that leaves out the first fold it is tuned on
the second, and the other way round. So K(K - 1)/2 fits a configuration serve instead of K(K - 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from heldout.data.task import Task, Truth
from heldout.folds.splits import Folds, Rows, Split
from heldout.metrics.base import Response
from heldout.predictions import HeldOutPredictions
from heldout_papers.search.fits import RowFits, SplitScores

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What was predicted of a sub-sample's N rows, by C configurations."""

    truth: Truth
    folds: Folds  # K folds, R repeats of them
    names: tuple[str, ...]
    scores: Floats  # (N, C, R): naN where a fit failed
    seconds: Floats  # (C, K, R): of each fit
    # (N, C): by models that saw neither fold of the first repeat; NaN outside these two
    pairs: dict[tuple[int, int], Floats]
    pair_seconds: float  # Of all these fits together

    @property
    def n_folds(self) -> int:
        return self.seconds.shape[1]

    def predictions(self, repeats: int) -> HeldOutPredictions:
        """Of the first repeats."""
        return self.of_scores(self.scores[:, :, :repeats], self.folds.labels[:, :repeats])

    def of_scores(self, scores: Floats, labels: NDArray[np.int32]) -> HeldOutPredictions:
        """Predictions that a metric of ranks can read; decisions stand for any score that it reads."""
        return HeldOutPredictions(
            {Response.DECISION: scores}, self.names, labels, self.truth.classes, self.truth.positive
        )


def held_out(fits: RowFits, task: Task, folds: Folds, *, nested: bool) -> HeldOut:
    """Fit every configuration on every split, and where ``nested`` without each pair of folds too."""
    n_folds, n_repeats = folds.n_splits // folds.n_repeats, folds.n_repeats
    names = fits.configurations.names
    scores = np.full((task.n_rows, len(names), n_repeats), np.nan)
    seconds = np.zeros((len(names), n_folds, n_repeats))
    for split in folds.splits:
        found = fits.scores_on(split)
        scores[split.test, :, split.repeat] = found.scores
        seconds[:, split.fold, split.repeat] = found.seconds
    pairs, pair_seconds = {}, 0.0
    for first, second in combinations(range(n_folds) if nested else (), 2):
        found, rows = _without(fits, folds, first, second)
        pairs[first, second] = np.full((task.n_rows, len(names)), np.nan)
        pairs[first, second][rows] = found.scores
        pair_seconds += float(found.seconds.sum())
    return HeldOut(task.truth, folds, tuple(names), scores, seconds, pairs, pair_seconds)


def _without(fits: RowFits, folds: Folds, first: int, second: int) -> tuple[SplitScores, Rows]:
    labels = folds.labels[:, 0]
    out = (labels == first) | (labels == second)
    rows = np.flatnonzero(out)
    split = Split(first, second, np.flatnonzero(~out), rows)
    return fits.scores_on(split, "pair", first, second), rows
