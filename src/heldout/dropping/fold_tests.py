"""Drop by tests of fold scores: a paired test against any other configuration, and a signed-rank test."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit
from scipy.stats import rankdata

from heldout._types import Booleans, Floats, Indices
from heldout.data.checks import check_choice, check_count, check_number
from heldout.dropping.base import Course, Racing, Standing, Verdict, behind_leader, verdict
from heldout.metrics.base import Metric

FEWEST_FOLDS = 3
"""With fewer, the variance of the differences is unknown."""

MOST_FOLDS = 2.0**30
"""A greater number counts as infinite: the difference is at the limit of what the test can find."""


@dataclass(frozen=True, kw_only=True)
class Paired(Racing):
    """Drop by a paired t test of fold scores against the leader, with power analysis (Zheng & Bilenko 2013).

    Over the k folds in which the metric is defined for both, d̄ and s² are the mean and variance of the leader's
    advantage over a configuration. The configuration is dropped if

        t = d̄ / (s √(1/k + 1/(K-1)))

    passes the 1 - α quantile of Student's t with k - 1 degrees. The models of K folds share training rows, so their
    scores are correlated and s²/k is too small; 1/(K-1), test rows over training rows, corrects that (Nadeau &
    Bengio 2003). Without it the test drops far too many configurations.

    **How many more folds.** If the standardised difference e = d̄/s is the truth, the expected t after k' folds is
    e/√(1/k' + 1/(K-1)). The test finds the difference with probability ``power`` where that reaches q(1 - α) +
    q(power), q being quantiles of t with k' - 1 degrees (the usual approximation of the noncentral t).
    ``folds_needed`` is the least such k', minus k. As 1/(K-1) does not vanish, the expected t stays below e √(K-1)
    however many folds are added: where z(1 - α) + z(power) is not below that (z of the normal distribution), the
    answer is infinite, and also for configurations that are not behind.

    There is no test, and none is dropped (statistic and ``folds_needed`` are NaN), with fewer than 3 folds, if all
    differences are equal (s = 0), and if a repeat has one split (K = 1), for which 1/(K-1) is undefined. Folds
    where either score is not a finite number are left out of the pair. The level α is for one test of one pair;
    papers/pages/dropping.md shows the effect of many tests.

    **All pairs, and a sequence of tests.** The article tests every configuration against every other, and drops the
    inferior ones: ``pairs="all"``. The statistic is then the least p-value over the others, and ``folds_needed``
    the least number of folds that would tell it from one of them. Before the next test of a configuration the
    article runs as many folds as the power analysis asks for: ``looks="power_analysis"``. At a barrier before that
    the configuration is not tested; where no number of folds is enough, it is not tested again. Fewer tests mean
    fewer false alarms, and later drops.

    Attributes
    ----------
    alpha : float
        α, the level of each test.
    power : float
        The power for ``folds_needed``, and so for the next test with ``looks="power_analysis"``.
    pairs : "current_best" or "all"
        What each configuration is tested against.
    looks : "every_fold" or "power_analysis"
        When it is tested again.

    Examples
    --------
    >>> from heldout.metrics import metric_named
    >>> Paired(alpha=0.01).unfit(metric_named("roc_auc"), Course(3, 3))
    'it takes 3 splits to test and one more to save, and here are 3 splits'
    """

    alpha: float = 0.05
    power: float = 0.8
    pairs: Literal["current_best", "all"] = "current_best"
    looks: Literal["every_fold", "power_analysis"] = "every_fold"
    name: ClassVar[str] = "paired"
    statistic_name: ClassVar[str] = "the p-value of the paired test that it is no worse than the leader"
    sources: ClassVar[tuple[str, ...]] = ("zheng2013", "nadeau2003")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("alpha", self.alpha, above=0, below=1)
        check_number("power", self.power, above=0, below=1)
        check_choice("pairs", self.pairs, ("current_best", "all"))
        check_choice("looks", self.looks, ("every_fold", "power_analysis"))

    def unfit(self, metric: Metric, course: Course) -> str | None:
        """It needs three fold scores of a repeat while there is still something to save."""
        if course.n_folds < 2:
            return "its variance needs several folds in a repeat, but here every repeat is one split"
        if course.n_splits <= FEWEST_FOLDS:
            splits = f"{course.n_splits} split{'' if course.n_splits == 1 else 's'}"
            return f"it takes {FEWEST_FOLDS} splits to test and one more to save, and here are {splits}"
        return None

    def judge(self, standing: Standing) -> Verdict:
        """Drop those that a test finds worse; how many more folds the others would need."""
        rivals = range(standing.n_configurations) if self.pairs == "all" else (standing.leader,)
        least = np.full(standing.n_configurations, np.nan)
        needed = least.copy()
        # The least p-value of all: one rival that is clearly better is enough.
        for rival in rivals:
            p, folds = self._against(standing, rival)
            least, needed = np.fmin(least, p), np.fmin(needed, folds)
        due = np.ones(standing.n_configurations, dtype=bool)
        if self.looks == "power_analysis":
            # ``not >``, so that one without a note (NaN) is due.
            due = ~(next_look(standing.noted, standing.n_configurations) > standing.n_splits)
            least = np.where(due, least, np.nan)
        leaves = least < np.fmin(self.alpha, least[standing.leader])  # the leader stays, and so do its twins
        found = verdict(standing, leaves=leaves, statistic=least, folds_needed=np.where(leaves, np.nan, needed))
        if self.looks == "every_fold":
            return found
        return found._replace(noted=np.where(due, standing.n_splits + needed, np.nan))

    def _against(self, standing: Standing, rival: int) -> tuple[Floats, Floats]:
        """The p-value of each configuration against one, and how many more folds would tell them apart."""
        pairs = pairs_with_leader(behind_leader(standing.fold_scores, rival))
        # Repeats of one split have no common factor for shared training rows.
        if standing.n_folds < 2:
            pairs = pairs._replace(tested=np.zeros_like(pairs.tested))
        shared = 1 / max(standing.n_folds - 1, 1)
        p = np.full(standing.n_configurations, np.nan)
        needed = p.copy()
        k, effect = pairs.n_folds[pairs.tested], pairs.effect[pairs.tested]
        p[pairs.tested] = stdtr(k - 1, -effect / np.sqrt(1 / k + shared))
        in_all = folds_to_tell(effect, shared, self.alpha, self.power)
        needed[pairs.tested] = np.maximum(in_all - k, 1)  # of a survivor and a power below .5 it may be none
        return p, needed


def next_look(noted: Floats | None, n_configurations: int) -> Floats:
    """(A,): the number of folds at which each is tested next, as its last test noted; NaN if it had none.

    Examples
    --------
    >>> next_look(np.array([[5.0, np.nan], [np.nan, np.nan], [np.nan, np.inf]]), 2).tolist()
    [5.0, inf]
    """
    look = np.full(n_configurations, np.nan)
    for row in () if noted is None else noted:
        look = np.where(np.isnan(row), look, row)
    return look


def folds_to_tell(effect: Floats, shared: float, alpha: float, power: float) -> Floats:
    """The least number of folds on which the test finds a difference with probability ``power``; may be infinite.

    - ``effect`` (A,): e = d̄/s, positive where a configuration is behind.
    - ``shared``: 1/(K-1).

    Examples
    --------
    >>> folds_to_tell(np.array([2.0, 1.2, 0.8, -1.0]), 1 / 9, alpha=0.05, power=0.8).tolist()
    [5.0, 12.0, inf, inf]
    """

    def suffices(folds: Floats, which: Indices) -> Booleans:
        wanted = stdtrit(folds - 1, 1 - alpha) + stdtrit(folds - 1, power)
        return np.asarray(effect[which] / np.sqrt(1 / folds + shared) >= wanted)

    needed = np.full(len(effect), np.inf)
    # With ever more folds the shared rows stay, so an effect below this limit is never found.
    which = np.flatnonzero((effect > 0) & (effect * np.sqrt(1 / shared) > ndtri(1 - alpha) + ndtri(power)))
    least = np.full(len(which), FEWEST_FOLDS - 1.0)
    most = np.full(len(which), float(FEWEST_FOLDS))
    # Doubled until it suffices, then halved: the number may be in the millions.
    while not (enough := suffices(most, which)).all():
        least, most = np.where(enough, least, most), np.where(enough, most, 2 * most)
        sure = most <= MOST_FOLDS
        which, least, most = which[sure], least[sure], most[sure]
    while (most - least > 1).any():  # by halves: the test only gains from folds
        middle = np.floor((least + most) / 2)
        enough = suffices(middle, which)
        least, most = np.where(enough, least, middle), np.where(enough, middle, most)
    needed[which] = most
    return needed


class Pairs(NamedTuple):
    """Each configuration with the leader: folds in common, d̄/s, and whether they can be tested."""

    n_folds: Indices
    effect: Floats
    tested: Booleans


def pairs_with_leader(behind: Floats) -> Pairs:
    """From differences (folds, A), NaN where there is none."""
    known = ~np.isnan(behind)
    n_folds = known.sum(axis=0)
    differences = np.where(known, behind, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = differences.sum(axis=0) / n_folds
        spread = np.sqrt((np.where(known, behind - mean, 0.0) ** 2).sum(axis=0) / (n_folds - 1))
        effect = mean / spread
    return Pairs(n_folds, effect, (n_folds >= FEWEST_FOLDS) & (spread > 0) & np.isfinite(effect))


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
        check_number("p_threshold", self.p_threshold, above=0, below=1)
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
