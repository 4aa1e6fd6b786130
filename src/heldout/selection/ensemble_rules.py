"""Rules that choose an ensemble: the average of the best configurations, or of those that help it most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from heldout._types import Floats
from heldout.errors import InputError
from heldout.selection.base import Library, WeightRule, checked_count, tie_exactly

MOST_ROUNDS = 10_000
"""Each scores every candidate once more, in every bootstrap; 25 are usual."""
LIBRARY = 50
"""How many of the best configurations may join; time grows with it."""


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


@dataclass(frozen=True)
class GreedyEnsemble(WeightRule):
    """Forward selection with replacement (Caruana et al. 2004, sections 2 and 2.1).

    Start with nothing. In each round add the configuration with which the average of the predictions scores best;
    one that helps may be added several times, and so gets a greater weight. Of equal scores the first wins. The
    rounds after the best score are forgotten, the shortest of equal ones being kept. Only the 50 best ones may
    be added (Caruana, Munson & Niculescu-Mizil 2006, section 3.2, prune the library so).

    Attributes
    ----------
    rounds : int

    Examples
    --------
    >>> import heldout as ho
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=100)
    >>> noisy = y[:, None] + rng.normal(size=(100, 6))  # errors that average out
    >>> found = ho.estimate(
    ...     y, noisy, metric="mean_squared_error", selection=GreedyEnsemble(10), n_bootstraps=50, random_state=0
    ... )
    >>> found.uncorrected < found.value < 0.5, len(found.provenance["weights"])
    (True, 6)
    """

    rounds: int = 25
    name: ClassVar[str] = "greedy_ensemble"
    words: ClassVar[str] = "an ensemble, built by adding the configuration that helps it most"
    sources: ClassVar[tuple[str, ...]] = ("caruana2004", "caruana2006")

    def __post_init__(self) -> None:
        checked_count("rounds of greedy_ensemble", self.rounds, most=MOST_ROUNDS)

    def weigh(self, library: Library) -> Floats:
        """(C,): how often each configuration was added, as a share."""
        weights = np.zeros(len(library.scores))
        candidates = np.sort(best_first(library.scores)[:LIBRARY])
        if not len(candidates):
            return weights
        members = np.empty(0, dtype=np.intp)
        reached = []
        for _ in range(self.rounds):
            alone = not len(members)
            scores = library.scores[candidates] if alone else library.with_one_more(members, candidates)
            known = np.where(np.isnan(scores), -np.inf, tie_exactly(scores))
            best = int(known.argmax())
            members = np.append(members, candidates[best])
            reached.append(known[best])
        kept = members[: int(np.argmax(reached)) + 1]
        np.add.at(weights, kept, 1 / len(kept))
        return weights
