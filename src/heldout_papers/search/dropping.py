"""The dropping of BCED-CV, replayed on a complete matrix: which configurations it drops, and when.

The rule, its bootstraps and its input at each barrier are those of a search that drops while it fits, so that the
same configurations are dropped after the same folds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from heldout._random import stream
from heldout.dropping.base import Standing
from heldout.dropping.bootstrap import Bootstrap
from heldout.errors import InputError
from heldout.estimates.evidence import Evidence
from heldout.estimates.from_matrix import gather
from heldout.estimates.question import Question
from heldout.selection.draws import Draws, UndefinedDrawsError, always
from heldout_papers.search.held_out import HeldOut

REASON = "it was dropped"


@dataclass(frozen=True, eq=False)
class ReplayedDropping:
    """The replayed dropping of a search."""

    n_fits: NDArray[np.intp]  # (C,): the number of folds on which each is fitted
    n_folds: int

    @property
    def dropped(self) -> dict[int, str]:
        """The reason for each configuration that is dropped."""
        return dict.fromkeys(np.flatnonzero(self.n_fits < self.n_folds).tolist(), REASON)

    def share_dropped_by(self, fold: int) -> float:
        """The share that is dropped after so many folds."""
        return float((self.n_fits <= fold).mean()) if fold < self.n_folds else 0.0


def replayed_dropping(held: HeldOut, question: Question, rule: Bootstrap, entropy: int) -> ReplayedDropping:
    """Replay the dropping of the first repeat, fold by fold.

    ``question``: with the metric and the selection rule of the search; ``entropy``: of the search, as
    ``HeldOutSearchCV(random_state=entropy)`` has it.
    """
    labels = held.folds.labels[:, :1]
    n_configurations = len(held.names)
    n_fits = np.full(n_configurations, held.n_folds, dtype=np.intp)
    for n_folds_done in range(1, held.n_folds):
        done = labels < n_folds_done
        dropped_before = np.flatnonzero(n_fits < n_folds_done)
        failed = np.isnan(held.scores[done[:, 0], :, 0]).any(axis=0) & (n_fits >= n_folds_done)
        if failed.sum() + len(dropped_before) < n_configurations:
            n_fits[failed] = n_folds_done
        remaining = np.flatnonzero(n_fits > n_folds_done)
        if len(remaining) < 2 or done.sum() < rule.min_predictions:
            continue
        partial = replace(
            held.of_scores(
                np.where(done[:, :, None], held.scores[:, :, :1], np.nan),
                np.where(done, labels, -1).astype(np.int32),
            ),
            dropped=dict.fromkeys(np.flatnonzero(n_fits <= n_folds_done).tolist(), REASON),
        )
        try:
            evidence = gather(held.truth, partial, question)
            verdict = rule.judge(_standing(evidence, n_folds_done, held, entropy))
        except (InputError, UndefinedDrawsError):
            continue  # no row so far has some class: none is dropped
        n_fits[evidence.candidates[~verdict.keep]] = n_folds_done
    return ReplayedDropping(n_fits, held.n_folds)


def _standing(evidence: Evidence, n_folds_done: int, held: HeldOut, entropy: int) -> Standing:
    matrix = evidence.matrix
    assert matrix is not None and evidence.fold_scores is not None, "gathered from predictions with folds"
    draws = Draws(
        seed=stream(entropy, "dropping", 0, n_folds_done),
        n_bootstraps=evidence.settings.n_bootstraps,
        unit_of_row=matrix.unit_of_row,
        defined_in_bag=matrix.replay.defined,
        defined_out_of_bag=always,
    )
    return Standing(
        truth=matrix.truth,
        replay=matrix.replay,
        fold_scores=evidence.fold_scores,
        leader=evidence.winner_column,
        draws=draws,
        unit_of_row=matrix.unit_of_row,
        n_started=len(held.names),
        n_barriers=held.n_folds - 1,
        n_folds=held.n_folds,
    )
