"""The scores of every configuration in every bootstrap: what all paired questions are answered from.

One walk over the bootstraps keeps, of each configuration, the score on the drawn rows and on those left out. Rows
are drawn once for all configurations, so that scores of the same bootstrap are paired.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heldout.estimates.bootstrap import check_matrix_drawable, draws_of, map_draws
from heldout.estimates.evidence import Evidence
from heldout.kernels.draws import out_of_bag
from heldout.kernels.reference import Floats
from heldout.metrics.base import oriented
from heldout.selection.base import NONE_CHOSEN, tie_exactly


@dataclass(frozen=True, eq=False)
class PairedScores:
    """Oriented scores (greater = better) of the candidates, a column each; equal ones tie, as in a selection.

    Attributes
    ----------
    observed : ndarray of shape (candidates,)
        On all rows.
    in_bag, out_of_bag : ndarray of shape (B, candidates)
        On the drawn rows, and on those left out, of each bootstrap.
    chosen : ndarray of int, shape (B,)
        The candidate that the selection rule chose on the drawn rows, ``NONE_CHOSEN`` where it could not.
    winner : int
        The candidate that it chose on all rows.
    """

    observed: Floats
    in_bag: Floats
    out_of_bag: Floats
    chosen: NDArray[np.intp]
    winner: int

    @property
    def n_bootstraps(self) -> int:
        return self.in_bag.shape[0]

    @property
    def n_candidates(self) -> int:
        return self.in_bag.shape[1]

    @property
    def usable(self) -> NDArray[np.bool_]:
        """(B,): bootstraps in which a configuration could be chosen."""
        return self.chosen != NONE_CHOSEN


def paired_scores(evidence: Evidence) -> PairedScores:
    """Draw the bootstraps of ``heldout.estimate``, and score every candidate in each.

    Raises
    ------
    InputError
        When a bootstrap cannot be drawn on which the metric is defined.
    """
    matrix = evidence.matrix
    assert matrix is not None, "a question about a user's predictions has them"
    check_matrix_drawable(evidence, matrix)
    draws = draws_of(matrix, evidence)

    def block(first: int, last: int) -> tuple[Floats, Floats, NDArray[np.intp]]:
        counts, _ = draws.block(first, last)
        left_out = out_of_bag(counts)
        return matrix.scores.all(counts), matrix.out_of_bag.all(left_out), matrix.replay.choose(counts)

    blocks = map_draws(block, matrix, evidence)
    in_bag, left_out, chosen = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    metric = evidence.metric
    return PairedScores(
        observed=tie_exactly(oriented(metric, matrix.scores.observed())),
        in_bag=tie_exactly(oriented(metric, in_bag)),
        out_of_bag=tie_exactly(oriented(metric, left_out)),
        chosen=chosen,
        winner=evidence.winner_column,
    )
