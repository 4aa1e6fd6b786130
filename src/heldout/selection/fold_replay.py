"""The selection, replayed on fold scores alone: which configuration would have won had other folds been drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.kernels.dispatch import LossSums
from heldout.kernels.reference import Floats
from heldout.selection.base import SelectionRule
from heldout.selection.candidates import chosen_columns


@dataclass(frozen=True, eq=False)
class FoldReplay:
    """The rule with the fold scores that it reads.

    Attributes
    ----------
    rule : SelectionRule
    scores : ndarray of shape (splits, candidates, M)
        Greater = better, the refit metric first; NaN where a metric is undefined.
    candidates : ndarray of int
        The configuration behind each candidate column.
    params : sequence of mapping
        Of all C configurations.
    metric_names : sequence of str
        Of the M metrics.
    repeat_of_split : ndarray of int, shape (splits,)
    """

    rule: SelectionRule
    scores: Floats
    candidates: NDArray[np.intp]
    params: Sequence[Mapping[str, Any]]
    metric_names: Sequence[str]
    repeat_of_split: NDArray[np.intp]

    def of(self, splits: NDArray[np.intp]) -> FoldReplay:
        """The same rule on some of the splits: those of one repeat."""
        return replace(self, scores=self.scores[splits], repeat_of_split=self.repeat_of_split[splits])

    @property
    def n_splits(self) -> int:
        return self.scores.shape[0]

    def choose(self, counts: NDArray[np.uint8]) -> NDArray[np.intp]:
        """(L,): the candidate column chosen when each split counts as often as it was drawn, counts (L, splits).

        A configuration's score is the mean over the drawn splits in which it has one, as it is in the mean over
        folds. ``NONE_CHOSEN`` where none can be.
        """
        folds = self.scores[drawn(counts)] if self.rule.reads_fold_scores else None
        repeats = self._by_repeat(counts) if self._reads_repeats else None
        means = self._means(counts)
        return chosen_columns(self.rule, means, self.candidates, self.params, self.metric_names, folds, repeats)

    def defined(self, counts: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """(L,): whether each metric has a score in some drawn split."""
        scored = np.asarray(~np.isnan(self.scores).all(axis=1))
        held = np.asarray(((counts > 0)[:, :, None] & scored).any(axis=1))
        return np.asarray(held.all(axis=1))

    @property
    def _reads_repeats(self) -> bool:
        several = len(np.unique(self.repeat_of_split)) > 1
        return several and self.rule.reads_repeats

    def _means(self, counts: NDArray[np.uint8]) -> Floats:
        """(L, candidates, M)."""
        by_metric = [_mean(self.scores[:, :, m], sums, counts) for m, sums in enumerate(self._sums)]
        return np.stack(by_metric, axis=2)

    def _by_repeat(self, counts: NDArray[np.uint8]) -> Floats:
        """(L, repeats, candidates, M)."""
        repeats = [np.flatnonzero(self.repeat_of_split == repeat) for repeat in np.unique(self.repeat_of_split)]
        return np.stack([self.of(splits)._means(counts[:, splits]) for splits in repeats], axis=1)

    @cached_property
    def _sums(self) -> list[tuple[LossSums, LossSums]]:
        """Of each metric: sums of the finite scores, and how many scores there are. Both exact in any blocking."""
        prepared = []
        for m in range(self.scores.shape[2]):
            scores = self.scores[:, :, m]
            finite = np.where(np.isfinite(scores), scores, 0.0) * _room(scores)
            has_score = (~np.isnan(scores)).astype(np.float64)
            prepared.append((LossSums(finite, self.n_splits), LossSums(has_score, self.n_splits)))
        return prepared


def drawn(counts: NDArray[np.uint8]) -> NDArray[np.intp]:
    """(L, K): the numbers of the K units drawn, in ascending order, from counts (L, K) that sum to K.

    Examples
    --------
    >>> drawn(np.array([[0, 2, 1], [1, 1, 1]], dtype=np.uint8)).tolist()
    [[1, 1, 2], [0, 1, 2]]
    """
    lanes, n = counts.shape
    return np.repeat(np.tile(np.arange(n), lanes), counts.ravel()).reshape(lanes, n)


def _room(scores: Floats) -> float:
    """A power of two by which the greatest finite scores are made small enough to be summed."""
    return 2.0**-64 if np.abs(scores, where=np.isfinite(scores), out=np.zeros_like(scores)).max() > 1e280 else 1.0


def _mean(scores: Floats, sums: tuple[LossSums, LossSums], counts: NDArray[np.uint8]) -> Floats:
    """(L, C): means over the drawn splits that have a score; one infinitely bad split makes the mean that."""
    total, present = (each.all(counts) for each in sums)
    with np.errstate(invalid="ignore"):
        mean: Floats = total / present / _room(scores)
    for infinite in (np.inf, -np.inf):
        at = scores == infinite
        if at.any():
            mean = np.where(counts.astype(np.float64) @ at > 0, infinite, mean)
    return mean
