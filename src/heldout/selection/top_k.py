"""The plain average of the best configurations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from heldout.errors import InputError
from heldout.kernels.reference import Floats
from heldout.selection.base import Library, WeightRule, checked_count


@dataclass(frozen=True)
class TopK(WeightRule):
    """Average the predictions of the ``k`` configurations with the best scores.

    Of equal scores the first counts as the better. Where fewer than ``k`` have a score, all of them are averaged.

    Attributes
    ----------
    k : int

    Examples
    --------
    >>> import heldout as ho
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 120)
    >>> noisy = 1 / (1 + np.exp(-(2 * y[:, None] - 1 + 2 * rng.normal(size=(120, 8)))))  # errors that average out
    >>> of_one = ho.estimate(y, noisy, metric="roc_auc", random_state=0)
    >>> of_three = ho.estimate(y, noisy, metric="roc_auc", selection=TopK(3), random_state=0)
    >>> of_three.value > of_one.value, of_three.selected_name
    (True, 'ensemble of 3 configurations')
    """

    k: int = 10
    name: ClassVar[str] = "top_k"
    words: ClassVar[str] = "the predictions of the best configurations are averaged"

    def __post_init__(self) -> None:
        checked_count("k of top_k", self.k)

    def check(self, n_configurations: int, params: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> None:
        """Refuse to average more than there are."""
        if self.k > n_configurations:
            there = "is 1 configuration" if n_configurations == 1 else f"are {n_configurations} configurations"
            raise InputError(
                f"selection 'top_k' averages the {self.k} best, but there {there}; write "
                f"'top_k(k={max(n_configurations // 2, 1)})', with k of at most {n_configurations}.",
                argument="selection",
            )

    def weigh(self, library: Library) -> Floats:
        """(C,): 1 / k for the best."""
        best = best_first(library.scores)[: self.k]
        weights = np.zeros(len(library.scores))
        weights[best] = 1 / max(len(best), 1)
        return weights


def best_first(scores: Floats) -> Any:
    """Columns of the scores (C,) that are not NaN, the greatest first, of equal ones the first first.

    Examples
    --------
    >>> best_first(np.array([0.5, np.nan, 0.7, 0.5])).tolist()
    [2, 0, 3]
    """
    order = np.argsort(-scores, kind="stable")
    return order[~np.isnan(scores[order])]
