"""The race of BCED-CV, run again on a complete matrix: who would have left, and when.

The rule, its bootstraps and what it is shown at each barrier are those of a search that drops while it fits, so
that the same configurations leave after the same folds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from heldout._random import stream
from heldout.dropping.base import Standing
from heldout.dropping.bootstrap import Bootstrap
from heldout.errors import InputError
from heldout.estimates.base import Evidence
from heldout.estimates.evidence import gather
from heldout.estimates.question import Question
from heldout.kernels.draws import Draws, UndefinedDrawsError, always
from heldout_papers.search.held_out import HeldOut

LEFT = "it left the race"


@dataclass(frozen=True, eq=False)
class Raced:
    """A race that was run again.

    Attributes
    ----------
    met : ndarray of int, shape (C,)
        How many folds each met: fits that it took.
    n_folds : int
    """

    met: NDArray[np.intp]
    n_folds: int

    @property
    def left(self) -> dict[int, str]:
        """Who did not stay to the end."""
        return dict.fromkeys(np.flatnonzero(self.met < self.n_folds).tolist(), LEFT)

    def share_left_by(self, fold: int) -> float:
        """The share that had left after so many folds."""
        return float((self.met <= fold).mean()) if fold < self.n_folds else 0.0


def race(held: HeldOut, question: Question, rule: Bootstrap, entropy: int) -> Raced:
    """Run the race of the first repeat, fold by fold.

    Parameters
    ----------
    question : Question
        How the search chooses.
    entropy : int
        Of the search, as ``HeldOutSearchCV(random_state=entropy)`` has it.
    """
    labels = held.folds.labels[:, :1]
    n_configurations = len(held.names)
    met = np.full(n_configurations, held.n_folds, dtype=np.intp)
    for n_met in range(1, held.n_folds):
        seen = labels < n_met
        gone = np.flatnonzero(met < n_met)
        failed = np.isnan(held.scores[seen[:, 0], :, 0]).any(axis=0) & (met >= n_met)
        if failed.sum() + len(gone) < n_configurations:
            met[failed] = n_met
        racing = np.flatnonzero(met > n_met)
        if len(racing) < 2 or seen.sum() < rule.min_predictions:
            continue
        partial = replace(
            held.of_scores(
                np.where(seen[:, :, None], held.scores[:, :, :1], np.nan),
                np.where(seen, labels, -1).astype(np.int32),
            ),
            dropped=dict.fromkeys(np.flatnonzero(met <= n_met).tolist(), LEFT),
        )
        try:
            evidence = gather(held.truth, partial, question)
            verdict = rule.judge(_standing(evidence, n_met, held, entropy))
        except (InputError, UndefinedDrawsError):
            continue  # a class that no row so far has: nobody is judged
        met[evidence.candidates[~verdict.keep]] = n_met
    return Raced(met, held.n_folds)


def _standing(evidence: Evidence, n_met: int, held: HeldOut, entropy: int) -> Standing:
    matrix = evidence.matrix
    assert matrix is not None and evidence.fold_scores is not None, "gathered from predictions with folds"
    draws = Draws(
        seed=stream(entropy, "dropping", 0, n_met),
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
