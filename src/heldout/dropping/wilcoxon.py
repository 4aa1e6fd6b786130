"""The Wilcoxon rule: drop by a signed-rank test of fold scores against the leader, like Optuna's pruner."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import rankdata

from heldout._types import Floats
from heldout.data.checks import check_count
from heldout.dropping.base import (
    Course,
    Racing,
    Standing,
    Verdict,
    behind_leader,
    check_share,
    verdict,
)
from heldout.metrics.base import Metric

MOST_TIED, MOST_UNTIED = 13, 50
"""Differences up to which p-values are exact, with equal ones among them and without, as in SciPy."""


@dataclass(frozen=True, kw_only=True)
class Wilcoxon(Racing):
    """Drop by a signed-rank test of fold scores against the leader (Wilcoxon 1945), as Optuna's pruner does.

    The test and its exceptions are those of ``optuna.pruners.WilcoxonPruner`` (Akiba et al. 2019), a trial being a
    configuration, a step a fold, and the best trial the leader: zeros count half to either side (``zsplit``),
    p-values are exact up to 50 folds (13 where differences are equal or zero) and from the normal distribution
    beyond, and a configuration is dropped if p < ``p_threshold``, unless its mean fold score is at least the
    leader's, or either has a fold score that is not a finite number. Folds without any finite score are left out.
    Unlike Optuna, the rule ignores rounding errors of differences and has ``min_predictions``.

    The test assumes independent folds, which they are not (their models share training rows), and it is repeated at
    every barrier. So the best is dropped more often than ``p_threshold`` suggests: the rule is here for comparison.
    No p-value is below 2⁻ᵏ after k folds: at .1 none is dropped before the fourth.

    Attributes
    ----------
    p_threshold : float
        A configuration with a smaller p-value is dropped.
    n_startup_folds : int
        No configuration is dropped before this many folds; at least 2.

    Examples
    --------
    >>> from heldout.metrics import metric_named
    >>> Wilcoxon().unfit(metric_named("roc_auc"), Course(4, 4))
    'it drops none before 4 splits, and the last of 4 saves nothing'
    """

    p_threshold: float = 0.1
    n_startup_folds: int = 2
    name: ClassVar[str] = "wilcoxon"
    statistic_name: ClassVar[str] = "the p-value of the signed-rank test that it is no worse than the leader"
    sources: ClassVar[tuple[str, ...]] = ("wilcoxon1945", "akiba2019")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_share(self.p_threshold, "p_threshold")
        check_count("n_startup_folds", self.n_startup_folds, 2)

    def unfit(self, metric: Metric, course: Course) -> str | None:
        """It needs enough fold scores for a small p-value, and a split left to save."""
        first = max(math.floor(math.log2(1 / self.p_threshold)) + 1, self.n_startup_folds)
        if course.n_splits <= first:
            return f"it drops none before {first} splits, and the last of {course.n_splits} saves nothing"
        return None

    def judge(self, standing: Standing) -> Verdict:
        """Drop those significantly behind the leader."""
        scores = standing.fold_scores
        behind = behind_leader(scores, standing.leader)[np.isfinite(scores).any(axis=1)]
        p = np.full(standing.n_configurations, np.nan)
        compared = ~np.isnan(behind).any(axis=0)
        if len(behind) >= self.n_startup_folds:
            p[compared] = signed_rank_p(behind[:, compared])
        ahead = behind.sum(axis=0) > len(behind) / 2  # each was rounded by up to half its unit
        return verdict(standing, leaves=(p < self.p_threshold) & ahead, statistic=p)


def signed_rank_p(differences: Floats) -> Floats:
    """P-values of the one-sided signed-rank test that each column is no more than 0.

    Ranks of tied magnitudes are their mean. Sums of ranks are exact, because they are counted in halves.

    From differences (n, A) to p-values (A,).

    Examples
    --------
    >>> signed_rank_p(np.array([[1.0, 1.0, 0.0], [2.0, -2.0, 0.0], [3.0, 3.0, 0.0]])).tolist()
    [0.125, 0.375, 1.0]
    """
    n, n_columns = differences.shape
    doubled = np.rint(2 * rankdata(np.abs(differences), axis=0)).astype(np.int64)
    positive, zero = differences > 0, differences == 0
    observed = np.where(positive, doubled, 0).sum(axis=0)
    ordered = np.sort(np.abs(differences), axis=0)
    tied = (ordered[1:] == ordered[:-1]).any(axis=0) | zero.any(axis=0)
    p = np.empty(n_columns)
    exact = tied if n <= MOST_TIED else np.zeros(n_columns, dtype=bool)
    p[exact] = _upper_tail(np.where(zero, 0, doubled)[:, exact])[np.arange(int(exact.sum())), observed[exact]]
    plain = ~tied & (n <= MOST_UNTIED)
    if plain.any():  # the same distribution for all of them
        p[plain] = _upper_tail(2 * np.arange(1, n + 1)[:, None])[0, observed[plain]]
    rest = ~(exact | plain)
    if rest.any():
        p[rest] = _normal_p(doubled[:, rest], observed[rest] + np.where(zero, doubled, 0).sum(axis=0)[rest] / 2)
    return p


def _upper_tail(ranks: NDArray[np.int64]) -> Floats:
    """(A, n(n + 1) + 1): P(S ≥ s), S the sum of ranks (n, A) of which each is taken with probability ½.

    Probabilities are multiples of 2⁻ⁿ, n at most 50, and so without rounding.
    """
    n, n_columns = ranks.shape
    sums = np.arange(n * (n + 1) + 1)
    chance = np.zeros((n_columns, len(sums)))
    chance[:, 0] = 1.0
    for rank in ranks:
        before = sums[None, :] - rank[:, None]
        shifted = np.where(before >= 0, np.take_along_axis(chance, np.maximum(before, 0), axis=1), 0.0)
        chance = (chance + shifted) / 2
    return np.cumsum(chance[:, ::-1], axis=1)[:, ::-1]


def _normal_p(doubled: NDArray[np.int64], observed: Floats) -> Floats:
    """By the normal distribution, its variance corrected for ties."""
    n = len(doubled)
    ties = np.array([_cubes(column) for column in doubled.T])
    variance = (n * (n + 1) * (2 * n + 1) - ties / 2) / 24
    return np.asarray(ndtr(-(observed / 2 - n * (n + 1) / 4) / np.sqrt(variance)))


def _cubes(ranks: NDArray[np.int64]) -> float:
    """The sum of t³ - t over groups of t equal ranks."""
    _, times = np.unique(ranks, return_counts=True)
    return float((times.astype(np.float64) ** 3 - times).sum())
