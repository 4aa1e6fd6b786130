"""An ensemble that is built by adding, again and again, the configuration that helps it most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from heldout.errors import InputError
from heldout.kernels.reference import Floats
from heldout.selection.base import Library, WeightRule, checked_count, tie_exactly
from heldout.selection.top_k import best_first


@dataclass(frozen=True)
class GreedyEnsemble(WeightRule):
    """Forward selection with replacement (Caruana et al. 2004, sections 2 and 2.1).

    Start with nothing. In each round add the configuration with which the average of the predictions scores best;
    one that helps may be added several times, and so gets a greater weight. Of equal scores the first wins. With
    ``best_prefix`` the rounds after the best score are forgotten, the shortest of equal ones being kept.

    Attributes
    ----------
    rounds : int
    of_best : int or None
        Only so many of the best configurations may be added (Caruana, Munson & Niculescu-Mizil 2006, section 3.2,
        prune the library so); all of them when None. Time grows with it.
    best_prefix : bool

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
    of_best: int | None = 50
    best_prefix: bool = True
    name: ClassVar[str] = "greedy_ensemble"
    words: ClassVar[str] = "an ensemble, built by adding the configuration that helps it most"
    sources: ClassVar[tuple[str, ...]] = ("caruana2004", "caruana2006")

    def __post_init__(self) -> None:
        checked_count("rounds of greedy_ensemble", self.rounds)
        if self.of_best is not None:
            checked_count("of_best of greedy_ensemble (None for all)", self.of_best)
        if not isinstance(self.best_prefix, bool):
            raise InputError(f"best_prefix of greedy_ensemble must be True or False, got {self.best_prefix!r}.")

    def weigh(self, library: Library) -> Floats:
        """(C,): how often each configuration was added, as a share."""
        weights = np.zeros(len(library.scores))
        candidates = np.sort(best_first(library.scores)[: self.of_best])
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
        kept = members[: int(np.argmax(reached)) + 1] if self.best_prefix else members
        np.add.at(weights, kept, 1 / len(kept))
        return weights
