"""All that a sub-sample's protocols read: held-out predictions of every repeat, and of every pair of folds.

One array of N x C x R predictions serves cross-validation, TT, BBC with any number of repeats and, as it is
complete, the race of BCED. Nested cross-validation, whose inner folds are the other outer folds, needs models that
saw neither of two folds. One such model predicts both: for the search that leaves out the first fold it is tuned on
the second, and the other way round. So K(K - 1)/2 fits a configuration serve instead of K(K - 1).
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.data.task import Task, Truth
from heldout.folds.splits import Folds, Rows, Split
from heldout.metrics.base import Response
from heldout.predictions import UNPREDICTED_LABEL, HeldOutPredictions
from heldout_papers.search.fits import SCORE, RowFits, SplitScores

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What was predicted of a sub-sample's N rows, by C configurations."""

    truth: Truth
    response: Response  # What the scores are
    folds: Folds  # K folds, R repeats of them
    names: tuple[str, ...]
    scores: Floats  # (N, C, R[, n_classes]): naN where a fit failed
    seconds: Floats  # (C, K, R): of each fit
    # (N, C[, n_classes]): by models that saw neither fold of the first repeat; NaN outside these two
    pairs: dict[tuple[int, int], Floats]
    pair_seconds: float  # Of all these fits together

    @property
    def n_folds(self) -> int:
        return self.seconds.shape[1]

    @property
    def failed(self) -> NDArray[np.bool_]:
        """(N, C, R): where there is no prediction."""
        missing = np.isnan(self.scores)
        return missing if missing.ndim == 3 else np.asarray(missing.any(axis=3))

    def where(self, known: NDArray[np.bool_]) -> Floats:
        """The scores of the first repeats in rows that are known, (N, r); NaN in others."""
        scores = self.scores[:, :, : known.shape[1]]
        is_known = known[:, None] if scores.ndim == 3 else known[:, None, :, None]
        return np.where(is_known, scores, np.nan)

    def predictions(self, repeats: int) -> HeldOutPredictions:
        """Of the first repeats."""
        return self.of_scores(self.scores[:, :, :repeats], self.folds.labels[:, :repeats])

    def of_scores(self, scores: Floats, labels: NDArray[np.int32]) -> HeldOutPredictions:
        """Predictions that the metric can read; decisions stand for any score whose ranks it reads."""
        held: NDArray[Any] = scores
        if self.response is Response.LABELS:
            held = np.where(np.isnan(scores), UNPREDICTED_LABEL, scores).astype(np.int32)
        return HeldOutPredictions(
            {self.response: held}, self.names, labels, self.truth.classes, self.truth.positive
        )


def held_out(fits: RowFits, task: Task, folds: Folds, *, nested: bool) -> HeldOut:
    """Fit every configuration on every split, and where ``nested`` without each pair of folds too."""
    n_folds, n_repeats = folds.n_splits // folds.n_repeats, folds.n_repeats
    names = fits.configurations.names
    scores = np.full((task.n_rows, len(names), n_repeats, *fits.outputs), np.nan)
    seconds = np.zeros((len(names), n_folds, n_repeats))
    for split in folds.splits:
        found = fits.scores_on(split)
        scores[split.test, :, split.repeat] = found.scores
        seconds[:, split.fold, split.repeat] = found.seconds
    pairs, pair_seconds = {}, 0.0
    for first, second in combinations(range(n_folds) if nested else (), 2):
        found, rows = _without(fits, folds, first, second)
        pairs[first, second] = np.full((task.n_rows, len(names), *fits.outputs), np.nan)
        pairs[first, second][rows] = found.scores
        pair_seconds += float(found.seconds.sum())
    return HeldOut(task.truth, _response(fits), folds, tuple(names), scores, seconds, pairs, pair_seconds)


def _response(fits: RowFits) -> Response:
    metric = fits.work.scoring.metrics[SCORE]
    assert metric is not None, "the study opens its scorer"
    return metric.responses[0]


def _without(fits: RowFits, folds: Folds, first: int, second: int) -> tuple[SplitScores, Rows]:
    labels = folds.labels[:, 0]
    out = (labels == first) | (labels == second)
    rows = np.flatnonzero(out)
    split = Split(first, second, np.flatnonzero(~out), rows)
    return fits.scores_on(split, "pair", first, second), rows
