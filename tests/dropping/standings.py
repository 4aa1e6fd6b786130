"""How a race stands, built by hand: from predictions, or from fold scores alone."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from heldout.data.task import truth_of
from heldout.dropping import Standing
from heldout.metrics import metric_named
from heldout.metrics.aggregate import aggregate_score
from heldout.metrics.base import Metric, oriented
from heldout.selection import Best
from heldout.selection.bootstrap_draws import Draws, always
from heldout.selection.replay import SelectionReplay


def standing_of(
    y: Any,
    predictions: np.ndarray,
    metric: str | Metric = "accuracy",
    *,
    folds: np.ndarray | None = None,
    groups: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
    leader: int | None = None,
    seed: int = 1,
    n_started: int | None = None,
    n_barriers: int = 9,
    n_folds: int = 10,
    n_threads: int = 1,
    kind: str | None = None,
) -> Standing:
    """From predictions (n, A) or (n, A, R) of the rows so far, NaN where a repeat has not predicted a row."""
    truth = truth_of(y, kind)
    table = predictions[:, :, None] if predictions.ndim == 2 else predictions
    has = ~np.isnan(table.astype(float)).any(axis=1)
    measured = metric_named(metric) if isinstance(metric, str) else metric
    read = np.where(has[:, None], table, 0)
    repeats = np.arange(table.shape[2])[None, :]
    score = aggregate_score(measured, truth, read, np.where(has, repeats, -1).astype(np.int32), sample_weight)
    labels = np.zeros(has.shape, dtype=int) if folds is None else folds.reshape(len(truth.values), -1)
    segments = np.where(has, labels + repeats * (labels.max() + 1), -1).astype(np.int32)
    by_fold = aggregate_score(measured, truth, read, segments, sample_weight, as_folds=True)
    unit_of_row = np.arange(truth.n_rows) if groups is None else np.unique(groups, return_inverse=True)[1]
    n_columns = table.shape[1]
    replay = SelectionReplay(
        Best(), (score,), (), np.arange(n_columns), [{} for _ in range(n_columns)], [measured.name]
    )
    once = np.ones((1, truth.n_rows), dtype=np.uint8)
    return Standing(
        truth=truth,
        replay=replay,
        fold_scores=oriented(score.metric, by_fold.observed_by_segment()),
        leader=int(replay.choose(once)[0]) if leader is None else leader,
        draws=Draws(seed, 1000, unit_of_row, replay.defined, always),
        unit_of_row=unit_of_row,
        n_started=n_columns if n_started is None else n_started,
        n_barriers=n_barriers,
        n_folds=n_folds,
        n_threads=n_threads,
    )


def standing_of_scores(fold_scores: Any, *, leader: int = 0, n_folds: int = 10) -> Standing:
    """From fold scores (k, A), greater = better, alone; the predictions are those of one row that all predict."""
    scores = np.asarray(fold_scores, dtype=float)
    return replace(_standing_of_twins(scores.shape[1], leader, n_folds), fold_scores=scores)


@cache
def _standing_of_twins(n: int, leader: int, n_folds: int) -> Standing:
    return standing_of([0, 1], np.ones((2, n), dtype=int), leader=leader, n_folds=n_folds)
