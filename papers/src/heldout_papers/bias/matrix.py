"""One simulated search: configurations of known performance, and what each predicted of held-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from heldout._streams import stream
from heldout._types import Counts, Floats
from heldout.data.task import TaskKind, Truth
from heldout.selection.bootstrap_draws import Draws
from heldout_papers.bias.predictions import MetricPredictions, RightOrWrong, SimulatedPredictions, Starts
from heldout_papers.bias.setting import ACCURACY, METRICS, ROC_AUC, BiasSetting
from heldout_papers.simulation import predictions_of_r2, scores_of_auc

BINARY = np.array([0, 1])


@dataclass(frozen=True, eq=False)
class BiasMatrix:
    """A simulated search, and the scores that all protocols share."""

    predicted: SimulatedPredictions
    truth: Floats  # (C,): how good each configuration truly is, in the metric's units
    starts: Starts  # (K,): the first row of each fold
    setting: BiasSetting
    seed: int  # Of the bootstraps, which all protocols share

    @classmethod
    def drawn(cls, setting: BiasSetting, entropy: int, repetition: int) -> BiasMatrix:
        """The matrix of a repetition."""
        place = [str(part) for part in (setting.rows, setting.configurations, *setting.beta, repetition)]
        if setting.metric != ACCURACY:
            place = [setting.metric, str(setting.prevalence), *place]
        rng = np.random.Generator(np.random.Philox(key=stream(entropy, "study bias", *place)))
        drawn = rng.beta(*setting.beta, size=setting.configurations)
        seed = stream(entropy, "study bias draws", *place)
        equal = np.arange(setting.folds) * setting.rows // setting.folds
        if setting.metric == ACCURACY:
            # float32 halves the time; a uniform number of 24 bits is as good for a probability.
            wrong = rng.random((setting.rows, setting.configurations), dtype=np.float32) >= drawn
            return cls(RightOrWrong(wrong), drawn, equal, setting, seed)
        metric = METRICS[setting.metric]
        if setting.metric == ROC_AUC:
            classes, starts = stratified(setting.n_positive, setting.rows, setting.folds)
            scores = scores_of_auc(rng, classes, drawn)
            target = Truth(TaskKind.BINARY, classes.astype(np.int32), BINARY, positive=1)
            return cls(MetricPredictions(metric, target, scores), drawn, starts, setting, seed)
        y = rng.standard_normal(setting.rows)
        predictions = predictions_of_r2(rng, y, drawn)
        return cls(
            MetricPredictions(metric, Truth(TaskKind.REGRESSION, y), predictions), 1.0 - drawn, equal, setting, seed
        )

    @cached_property
    def scores(self) -> Floats:
        """(C,): over all rows, greater = better."""
        return self.predicted.scores()

    @cached_property
    def by_fold(self) -> Floats:
        """(K, C): in each fold, greater = better."""
        return self.predicted.by_fold(self.starts)

    @cached_property
    def without_fold(self) -> Floats:
        """(K, C): over all rows but a fold's, greater = better."""
        return self.predicted.without_fold(self.starts)

    @cached_property
    def winner(self) -> int:
        """The best on all rows, the first of those that tie."""
        return int(self.scores.argmax())

    @cached_property
    def counts(self) -> Counts:
        """(B, N): how often each bootstrap drew each row; drawn rows and the others hold what the metric needs."""
        drawable = self.predicted.drawable
        draws = Draws(self.seed, self.setting.n_bootstraps, np.arange(self.predicted.n_rows), drawable, drawable)
        return draws.block(0, self.setting.n_bootstraps)[0]

    def corrected(self, columns: NDArray[np.intp] | None = None) -> float:
        """The mean, over bootstraps, of the best in the bag scored out of it; of some columns, or of all."""
        return float(self.predicted.fused(columns).best_out_of_bag(self.counts).values.mean())

    def survivors(self) -> NDArray[np.intp]:
        """Columns that early dropping leaves."""
        return self.predicted.survivors(self.starts, self.setting.n_bootstraps, self.seed)


def stratified(n_positive: int, n_rows: int, n_folds: int) -> tuple[NDArray[np.intp], Starts]:
    """Classes of rows that are sorted by fold, and the first row of each fold.

    Rows of class 1, then those of class 0, are dealt to the folds in turn: folds differ by a row at most, and by
    one of each class.

    Examples
    --------
    >>> classes, starts = stratified(3, 8, 2)
    >>> classes.tolist(), starts.tolist()
    ([1, 1, 0, 0, 1, 0, 0, 0], [0, 4])
    """
    classes = (np.arange(n_rows) < n_positive).astype(np.intp)
    fold = np.arange(n_rows) % n_folds
    order = np.argsort(fold, kind="stable")
    return classes[order], np.searchsorted(fold[order], np.arange(n_folds))
