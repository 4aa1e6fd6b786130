"""The dropping of BCED-CV, replayed on a complete matrix: which configurations it drops, and when.

The rule, its bootstraps and its input at each barrier are those of a search that drops while it fits, so that the
same configurations are dropped after the same folds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from heldout._streams import stream
from heldout.dropping.base import Standing, judged_after
from heldout.dropping.bootstrap import Bootstrap
from heldout.errors import InputError
from heldout.estimates.evidence import Candidates
from heldout.estimates.from_matrix import gather
from heldout.estimates.question import Question
from heldout.selection.bootstrap_draws import Draws, UndefinedDrawsError, always
from heldout_papers.search.held_out import HeldOut

REASON = "it was dropped"


@dataclass(frozen=True, eq=False)
class ReplayedDropping:
    """The replayed dropping of a search."""

    n_fits: NDArray[np.intp]  # (C,): the number of splits on which each is fitted
    n_splits: int

    @property
    def dropped(self) -> dict[int, str]:
        """The reason for each configuration that is dropped."""
        return dict.fromkeys(np.flatnonzero(self.n_fits < self.n_splits).tolist(), REASON)

    def share_dropped_by(self, split: int) -> float:
        """The share that is dropped after so many splits."""
        return float((self.n_fits <= split).mean()) if split < self.n_splits else 0.0

    def until(self, n_splits: int) -> ReplayedDropping:
        """The dropping of a shorter search: of fewer repeats of the same folds."""
        return ReplayedDropping(np.minimum(self.n_fits, n_splits), n_splits)


def replayed_dropping(held: HeldOut, question: Question, rule: Bootstrap, entropy: int) -> ReplayedDropping:
    """Replay the dropping of all repeats: fold by fold in the first, then at the end of each.

    ``question``: with the metric and the selection rule of the search; ``entropy``: of the search, as
    ``HeldOutSearchCV(random_state=entropy)`` has it.
    """
    split_of = held.folds.labels + held.n_folds * np.arange(held.folds.n_repeats)  # (N, R)
    n_splits, n_configurations = held.n_folds * held.folds.n_repeats, len(held.names)
    judged = judged_after([split // held.n_folds for split in range(n_splits)])
    n_fits = np.full(n_configurations, n_splits, dtype=np.intp)
    for n_done in range(1, n_splits):
        done = split_of < n_done
        dropped_before = np.flatnonzero(n_fits < n_done)
        has_failed = (held.failed & done[:, None, :]).any(axis=(0, 2))
        failed = has_failed & (n_fits >= n_done)
        if failed.sum() + len(dropped_before) < n_configurations:
            n_fits[failed] = n_done
        remaining = np.flatnonzero(n_fits > n_done)
        n_rows = int(done.any(axis=1).sum())
        if len(remaining) < 2 or n_rows < rule.min_predictions or not judged[n_done - 1]:
            continue
        begun = (n_done - 1) // held.n_folds + 1  # repeats
        partial = replace(
            held.of_scores(
                held.where(done[:, :begun]),
                np.where(done, held.folds.labels, -1)[:, :begun].astype(np.int32),
            ),
            dropped=dict.fromkeys(np.flatnonzero(n_fits <= n_done).tolist(), REASON),
        )
        try:
            evidence = gather(held.truth, partial, question)
            verdict = rule.judge(_standing(evidence, n_done, int(judged.sum()), held, entropy))
        except (InputError, UndefinedDrawsError):
            continue  # no row so far has some class: none is dropped
        n_fits[evidence.candidates[~verdict.keep]] = n_done
    return ReplayedDropping(n_fits, n_splits)


def _standing(evidence: Candidates, n_done: int, n_barriers: int, held: HeldOut, entropy: int) -> Standing:
    assert evidence.fold_scores is not None, "gathered from predictions with folds"
    draws = Draws(
        seed=stream(entropy, "dropping", (n_done - 1) // held.n_folds, n_done),
        n_bootstraps=evidence.settings.n_bootstraps,
        unit_of_row=evidence.unit_of_row,
        defined_in_bag=evidence.replay.defined,
        defined_out_of_bag=always,
    )
    return Standing(
        truth=evidence.truth,
        replay=evidence.replay,
        fold_scores=evidence.fold_scores,
        leader=evidence.winner_column,
        draws=draws,
        unit_of_row=evidence.unit_of_row,
        n_started=len(held.names),
        n_barriers=n_barriers,
        n_folds=held.n_folds,
    )
