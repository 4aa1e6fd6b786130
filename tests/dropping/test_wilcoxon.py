"""The signed-rank test: by hand, against SciPy and all arrangements of signs, and when it is not heeded."""

from itertools import product

import numpy as np
import pytest
from scipy import stats
from standings import standing_of_scores

import heldout as ho
from heldout.dropping import Wilcoxon
from heldout.dropping.base import Course, behind_leader
from heldout.dropping.fold_tests import signed_rank_p
from heldout.metrics import metric_named


def test_by_hand():
    """Behind by 1, -2, 3, 4: W = 1 + 3 + 4 = 8; of 16 arrangements of signs those of sums 10, 9 and 8 reach it."""
    assert signed_rank_p(np.array([[1.0], [-2.0], [3.0], [4.0]])).tolist() == [3 / 16]


@pytest.mark.parametrize("n", [2, 5, 12, 13, 30, 50])
def test_without_ties_it_is_exact_as_in_scipy(n):
    differences = np.random.default_rng(n).normal(0.3, 1, size=(n, 20))
    exact = [stats.wilcoxon(column, alternative="greater", method="exact").pvalue for column in differences.T]
    np.testing.assert_allclose(signed_rank_p(differences), exact, rtol=1e-12)


@pytest.mark.parametrize("n", [2, 4, 8])
def test_with_ties_and_zeros_it_counts_all_arrangements(n):
    differences = np.random.default_rng(n).integers(-1, 4, size=(n, 12)).astype(float)
    signs = np.array(list(product([-1, 1], repeat=n)))
    for column, p in zip(differences.T, signed_rank_p(differences), strict=True):
        ranks = stats.rankdata(np.abs(column))
        sums = ((signs * column > 0) * ranks).sum(axis=1)
        assert p == np.mean(sums >= ((column > 0) * ranks).sum())


def test_many_folds_take_the_normal_distribution_with_its_variance_corrected_for_ties():
    rng = np.random.default_rng(0)
    for differences in (rng.normal(0.1, 1, size=(60, 6)), rng.integers(-2, 4, size=(20, 6)).astype(float)):
        n = len(differences)
        for column, p in zip(differences.T, signed_rank_p(differences), strict=True):
            ranks = stats.rankdata(np.abs(column))
            total = ranks[column > 0].sum() + ranks[column == 0].sum() / 2
            variance = (ranks**2).sum() / 4  # mid-ranks lose (t³ - t)/12 of Σr² for every tie of t
            assert p == pytest.approx(stats.norm.sf((total - n * (n + 1) / 4) / np.sqrt(variance)), rel=1e-12)


def test_its_level_is_kept_exactly_in_one_look():
    """Over all 2^8 arrangements of signs the share with p < .1 is the largest multiple of 2⁻⁸ that a sum of ranks
    allows, and not above .1."""
    signs = np.array(list(product([-1.0, 1.0], repeat=8))).T
    p = signed_rank_p(signs * np.arange(1, 9)[:, None])
    assert (p < 0.1).mean() == max(p[p < 0.1]) <= 0.1


def test_nobody_leaves_before_the_start_or_where_the_mean_is_not_behind():
    steady = np.array([[0.9, 0.8]] * 4) + np.arange(4)[:, None] / 100
    assert Wilcoxon().judge(standing_of_scores(steady[:3])).keep.all()
    assert Wilcoxon().judge(standing_of_scores(steady[:3])).statistic[1] == 0.125
    assert not Wilcoxon().judge(standing_of_scores(steady)).keep[1]
    late = Wilcoxon(n_startup_folds=5).judge(standing_of_scores(steady))
    assert late.keep.all()
    assert np.isnan(late.statistic).all()

    outlier = np.zeros((9, 2))
    outlier[:, 1] = [-1, -2, -3, -4, -5, -6, -7, -8, 100]
    found = Wilcoxon().judge(standing_of_scores(outlier))
    assert found.statistic[1] < 0.1
    assert found.keep.all()


def test_folds_without_a_number():
    """One that nobody has is left out; of whoever lacks one that another has nothing is said, as with Optuna."""
    scores = np.column_stack([np.full(6, 0.9), np.full(6, 0.5), np.full(6, 0.5)]) + np.arange(6)[:, None] / 100
    scores[2] = np.nan
    scores[3, 2] = -np.inf
    found = Wilcoxon().judge(standing_of_scores(scores))
    assert found.statistic[1] == 1 / 32
    assert np.isnan(found.statistic[2])
    assert found.keep.tolist() == [True, False, True]


def test_equal_differences_tie_whatever_their_last_bits():
    leader = np.array([0.9, 0.8, 0.7, 0.6, 0.5])
    scores = np.column_stack([leader, leader - 0.1, leader[::-1]])
    behind = np.column_stack([np.full(5, 1.0), np.array([4, 2, 0, -2, -4])])
    found = Wilcoxon().judge(standing_of_scores(scores))
    np.testing.assert_array_equal(found.statistic[1:], signed_rank_p(behind.astype(float)))


def test_an_equal_mean_is_not_behind_whatever_rounding_leaves_of_its_differences():
    scores = np.array([[3, 7, 3, 5, 6, 6, 6], [9, 6, 2, 4, 5, 5, 5]]).T / 10
    assert behind_leader(scores, 0)[:, 1].sum() > 0
    found = Wilcoxon(p_threshold=0.2).judge(standing_of_scores(scores))
    assert found.statistic[1] < 0.2
    assert found.keep.all()


def test_what_it_takes():
    assert Wilcoxon().unfit(metric_named("roc_auc"), Course(5, 5, True, True)) is None
    reason = Wilcoxon(n_startup_folds=7).unfit(metric_named("roc_auc"), Course(5, 5))
    assert reason == "it drops none before 7 splits, and the last of 5 saves nothing"
    assert Wilcoxon(p_threshold=0.125).unfit(metric_named("roc_auc"), Course(4, 4))  # 2⁻³ is not below
    assert Wilcoxon(p_threshold=0.13).unfit(metric_named("roc_auc"), Course(4, 4)) is None
    with pytest.raises(ho.InputError, match="n_startup_folds must be an integer of at least 2, got 1"):
        Wilcoxon(n_startup_folds=1)
    with pytest.raises(ho.InputError, match="p_threshold must be a number between 0 and 1, got 0"):
        Wilcoxon(p_threshold=0)
