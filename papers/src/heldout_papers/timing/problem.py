"""The timed problems: predictions of a size, and each way from them to a lower bound."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from heldout._streams import stream
from heldout.estimates.estimate import estimate
from heldout_papers.engine.results import Term
from heldout_papers.simulation import scores_of_auc
from heldout_papers.timing import plain

BETA = (24.0, 6.0)
LEVEL = 0.95


@dataclass(frozen=True)
class TimingSetting:
    """A size of the problem, and the ways that are timed on it.

    Attributes
    ----------
    rows, configurations, folds, n_bootstraps : int
        N, C, K and B.
    ways : tuple of str
    """

    rows: int
    configurations: int
    folds: int
    n_bootstraps: int
    ways: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class TimingProblem:
    """The input of a method."""

    y: NDArray[np.intp]  # (N,): 0 and 1, half of each
    scores: NDArray[np.float64]  # (N, C)
    folds: NDArray[np.intp]  # (N,)
    n_bootstraps: int
    seed: int

    @classmethod
    def drawn(cls, setting: TimingSetting, entropy: int, repetition: int) -> TimingProblem:
        """The problem of a repetition: AUCs from Be(24, 6), rows of each class dealt to the folds in turn."""
        place = [str(n) for n in (setting.rows, setting.configurations, setting.folds, repetition)]
        rng = np.random.Generator(np.random.Philox(key=stream(entropy, "study timing", *place)))
        y = np.sort(np.arange(setting.rows, dtype=np.intp) % 2)
        auc = rng.beta(*BETA, size=setting.configurations)
        folds = np.arange(setting.rows, dtype=np.intp) % setting.folds
        seed = stream(entropy, "study timing draws", *place)
        return cls(y, scores_of_auc(rng, y, auc), folds, setting.n_bootstraps, seed)

    def library_bound(self, method: str, folds: NDArray[np.intp] | None) -> float:
        """The lower bound that ``heldout.estimate`` gives, with one thread."""
        found = estimate(
            self.y, self.scores, metric="roc_auc", method=method, folds=folds, aggregate="pooled",
            n_bootstraps=self.n_bootstraps, confidence_level=LEVEL, alternative="greater", response="decision",
            random_state=self.seed, n_jobs=1,
        )  # fmt: skip
        assert found.interval is not None, "every problem has rows of both classes in each fold"
        return found.interval.low


def bbc(problem: TimingProblem) -> float:
    """BBC by ``heldout.estimate``."""
    return problem.library_bound("bbc", None)


def bbc_f(problem: TimingProblem) -> float:
    """BBC-F by ``heldout.estimate``, the scores of the folds computed from the predictions."""
    return problem.library_bound("bbc_f", problem.folds)


def plain_bbc(problem: TimingProblem) -> float:
    """BBC as the article writes it down, in NumPy."""
    return plain.bbc_bound(problem.y, problem.scores, problem.n_bootstraps, LEVEL, _generator(problem))


def plain_bbc_f(problem: TimingProblem) -> float:
    """BBC-F as the article writes it down, in NumPy."""
    return plain.bbc_f_bound(
        problem.y, problem.scores, problem.folds, problem.n_bootstraps, LEVEL, _generator(problem)
    )


def _generator(problem: TimingProblem) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=problem.seed))


WAYS: Mapping[str, Callable[[TimingProblem], float]] = MappingProxyType(
    {"bbc": bbc, "bbc_f": bbc_f, "plain_bbc": plain_bbc, "plain_bbc_f": plain_bbc_f}
)
"""By name; each returns its lower bound."""
TERMS = {
    "bbc": Term("BBC, heldout", "heldout.estimate from the predictions, one thread, with its checks of the input"),
    "bbc_f": Term("BBC-F, heldout", "the same; the scores of the folds are computed from the predictions"),
    "plain_bbc": Term(
        "BBC, plain",
        "NumPy, as the article describes the method: one bootstrap after another, in each an AUC for every "
        "configuration. It stands for published code, and no other command uses it",
    ),
    "plain_bbc_f": Term("BBC-F, plain", "the same, on the scores of the folds"),
}
PAIRS = (("bbc", "bbc_f"), ("plain_bbc", "plain_bbc_f"))
"""Ways whose times are compared."""
