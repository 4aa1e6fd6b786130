"""Held-out predictions of a simulated search, and the scores that protocols compute from them.

Right and wrong answers are counted; all other predictions are scored by the metrics of the library.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from heldout._streams import stream
from heldout._types import Counts, Floats
from heldout.data.task import Truth
from heldout.dropping import Bootstrap
from heldout.dropping.base import Standing
from heldout.metrics.aggregate import aggregate_score
from heldout.metrics.base import Fused, Metric, Statistic, oriented, positive_of
from heldout.metrics.row_losses import Finish, mean_of_errors
from heldout.selection import Best
from heldout.selection.bootstrap_draws import Draws, always
from heldout.selection.replay import SelectionReplay
from heldout_papers.bias.race import survivors

DROPPING_THRESHOLD = 0.99
Starts = NDArray[np.intp]
"""(K,): the first row of each fold; in the order of the folds."""


class SimulatedPredictions(Protocol):
    """Predictions of N rows by C configurations. Scores are such that greater is better, also those of a loss."""

    @property
    def n_rows(self) -> int: ...

    def scores(self) -> Floats:
        """(C,): over all rows."""

    def by_fold(self, starts: Starts) -> Floats:
        """(K, C): on the rows of each fold."""

    def without_fold(self, starts: Starts) -> Floats:
        """(K, C): over all rows but those of the fold."""

    def fused(self, columns: NDArray[np.intp] | None) -> Fused:
        """What selects in the bag and scores out of it, in the metric's own units; of some columns, or of all."""

    def drawable(self, counts: Counts) -> NDArray[np.bool_]:
        """(L,): whether rows drawn, or left out, hold what the metric needs."""

    def survivors(self, starts: Starts, n_bootstraps: int, seed: int) -> NDArray[np.intp]:
        """Columns that early dropping from the first fold on never drops, in order."""


@dataclass(frozen=True, eq=False)
class RightOrWrong:
    """For accuracy."""

    wrong: NDArray[np.bool_]  # (N, C)

    @property
    def n_rows(self) -> int:
        return len(self.wrong)

    def scores(self) -> Floats:
        right: Floats = (self.n_rows - np.count_nonzero(self.wrong, axis=0)) / self.n_rows
        return right

    def by_fold(self, starts: Starts) -> Floats:
        sizes = np.diff(np.append(starts, self.n_rows))[:, None]
        share: Floats = (sizes - self._wrong_by_fold(starts)) / sizes
        return share

    def without_fold(self, starts: Starts) -> Floats:
        others = self.n_rows - np.diff(np.append(starts, self.n_rows))[:, None]
        wrong = self._wrong_by_fold(starts)
        share: Floats = (others - (wrong.sum(axis=0) - wrong)) / others
        return share

    def fused(self, columns: NDArray[np.intp] | None) -> Fused:
        wrong = self.wrong if columns is None else np.ascontiguousarray(self.wrong[:, columns])
        return mean_of_errors(wrong, Finish.COMPLEMENT)

    def drawable(self, counts: Counts) -> NDArray[np.bool_]:
        return np.asarray(counts.any(axis=1))

    def survivors(self, starts: Starts, n_bootstraps: int, seed: int) -> NDArray[np.intp]:
        """By the shares of all bootstraps that there are, of which the drawn ones are a sample."""
        return survivors(self.wrong, starts, DROPPING_THRESHOLD)

    def _wrong_by_fold(self, starts: Starts) -> NDArray[np.int64]:
        return np.add.reduceat(self.wrong, starts, axis=0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class MetricPredictions:
    """For a metric of the library that has a fused path."""

    metric: Metric
    target: Truth  # Of N rows
    predictions: Floats  # (N, C)

    @property
    def n_rows(self) -> int:
        return self.target.n_rows

    def scores(self) -> Floats:
        return self._oriented(np.ones((1, self.n_rows), dtype=np.uint8))[0]

    def by_fold(self, starts: Starts) -> Floats:
        return self._oriented(self._in_fold(starts))

    def without_fold(self, starts: Starts) -> Floats:
        return self._oriented(1 - self._in_fold(starts))

    def fused(self, columns: NDArray[np.intp] | None) -> Fused:
        bound = self._bound if columns is None else self.metric.statistic(self.target, self.predictions[:, columns])
        assert isinstance(bound, Fused), "as the class says"
        return bound

    def drawable(self, counts: Counts) -> NDArray[np.bool_]:
        return self.metric.needs.met(self.target, positive_of(self.metric, self.target), counts)

    def survivors(self, starts: Starts, n_bootstraps: int, seed: int) -> NDArray[np.intp]:
        """By the rule of the library, with drawn bootstraps."""
        rule = Bootstrap(threshold=DROPPING_THRESHOLD, n_bootstraps=n_bootstraps, min_predictions=1)
        in_folds = self.by_fold(starts)
        kept = np.arange(self.predictions.shape[1])
        for after, end in enumerate(starts[1:], start=1):
            kept = kept[rule.judge(self._standing(int(end), kept, in_folds[:after], seed)).keep]
        return kept

    def _standing(self, end: int, kept: NDArray[np.intp], in_folds: Floats, seed: int) -> Standing:
        """After the rows before ``end``."""
        target = self.target.rows(np.arange(end))
        pooled = np.zeros((end, 1), dtype=np.int32)
        score = aggregate_score(self.metric, target, self.predictions[:end, kept, None], pooled)
        places = np.arange(len(kept))
        replay = SelectionReplay(Best(), (score,), (), places, [{} for _ in places], [self.metric.name])
        return Standing(
            truth=target,
            replay=replay,
            fold_scores=in_folds[:, kept],
            leader=int(replay.choose(np.ones((1, end), dtype=np.uint8))[0]),
            draws=Draws(stream(seed, "dropping", end), 0, np.arange(end), replay.defined, always),
            unit_of_row=np.arange(end),
            n_started=self.predictions.shape[1],
            n_barriers=len(in_folds),
            n_folds=len(in_folds),
        )

    @cached_property
    def _bound(self) -> Statistic:
        return self.metric.statistic(self.target, self.predictions)

    def _oriented(self, counts: Counts) -> Floats:
        return oriented(self.metric, self._bound.all(counts))

    def _in_fold(self, starts: Starts) -> Counts:
        """(K, N): 1 for the rows of each fold."""
        fold_of_row = np.searchsorted(starts, np.arange(self.n_rows), side="right") - 1
        return (fold_of_row == np.arange(len(starts))[:, None]).astype(np.uint8)
