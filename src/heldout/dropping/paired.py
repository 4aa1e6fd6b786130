"""The paired rule: drop configurations that a paired test of fold scores finds worse than another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from scipy.special import ndtri, stdtr, stdtrit

from heldout._types import Booleans, Floats, Indices
from heldout.data.checks import check_choice
from heldout.dropping.base import Course, Racing, Standing, Verdict, behind_leader, check_share, verdict
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
        check_share(self.alpha, "alpha")
        check_share(self.power, "power")
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
