"""Rules that compare fold scores: the signed-rank test, the paired test, and comparisons with the incumbent."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from optuna.distributions import IntDistribution
from scipy import stats
from sklearn.datasets import make_classification
from sklearn.neighbors import KNeighborsClassifier
from standings import standing_of_scores

import heldout as ho
from heldout.dropping import Aggressive, Forgiving, Paired, Wilcoxon
from heldout.dropping.base import Course, behind_leader
from heldout.dropping.fold_tests import folds_to_tell, signed_rank_p
from heldout.errors import InputError
from heldout.metrics import metric_named


def test_by_hand():
    """Behind by 1, -2, 3, 4: W = 1 + 3 + 4 = 8; of 16 arrangements of signs those of sums 10, 9 and 8 reach it."""
    assert signed_rank_p(np.array([[1.0], [-2.0], [3.0], [4.0]])).tolist() == [3 / 16]


@pytest.mark.parametrize("n", [2, 12, 13, 50])
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
    with pytest.raises(ho.InputError, match="p_threshold must lie between 0 and 1, got 0"):
        Wilcoxon(p_threshold=0)


# The paired test by hand, against a loop, its size where it is exact, and how many more folds it asks for.


def test_the_paired_test_by_hand():
    """Behind by .02, .04, .06: d̄ = .04, s = .02; k = 3, K = 10: t = 2/√(1/3 + 1/9) = 3; P(T₂ > 3) = .0477330."""
    leader = np.array([0.9, 0.8, 0.85])
    standing = standing_of_scores(np.column_stack([leader, leader - [0.02, 0.04, 0.06]]))
    found = Paired(alpha=0.05).judge(standing)
    assert found.statistic[1] == pytest.approx(0.0477330, abs=1e-7)
    assert found.keep.tolist() == [True, False]
    assert (
        Paired(alpha=0.04)
        .judge(standing_of_scores(np.column_stack([leader, leader - [0.02, 0.04, 0.06]])))
        .keep.all()
    )


def slow(scores: np.ndarray, leader: int, n_folds: int) -> list[float]:
    p = []
    for j in range(scores.shape[1]):
        d = [a - b for a, b in zip(scores[:, leader], scores[:, j], strict=True) if np.isfinite([a, b]).all()]
        if j == leader or len(d) < 3 or np.std(d) < 1e-12:
            p.append(np.nan)
            continue
        t = np.mean(d) / (np.std(d, ddof=1) * np.sqrt(1 / len(d) + 1 / (n_folds - 1)))
        p.append(stats.t.sf(t, len(d) - 1))
    return p


@pytest.mark.parametrize("k", [3, 5, 9, 30])
def test_it_is_the_loop(k):
    rng = np.random.default_rng(k)
    scores = rng.normal(0.8, 0.05, size=(k, 8)) - np.linspace(0, 0.1, 8)
    scores[0, 2], scores[1, 3], scores[:, 4] = np.nan, -np.inf, scores[:, 1]
    found = Paired().judge(standing_of_scores(scores, leader=1, n_folds=5))
    expected = slow(scores, 1, 5)
    np.testing.assert_allclose(found.statistic, expected, rtol=1e-9)
    np.testing.assert_array_equal(found.keep, ~(np.array(expected) < 0.05))


def test_no_test_without_three_folds_a_variance_or_other_folds():
    two, alike = [[0.9, 0.1], [0.8, 0.1]], [[0.9, 0.8], [0.8, 0.7], [0.7, 0.6]]
    undefined = [[0.9, np.nan], [0.8, 0.1], [0.7, 0.2]]
    varied = [[0.9, 0.1], [0.8, 0.2], [0.9, 0.2]]
    for scores, n_folds in [(two, 10), (alike, 10), (undefined, 10), (varied, 1)]:
        found = Paired().judge(standing_of_scores(scores, n_folds=n_folds))
        assert found.keep.all()
        assert np.isnan(found.statistic).all()
        assert np.isnan(found.folds_needed).all()
    assert not Paired().judge(standing_of_scores(varied)).keep[1]


def test_of_equicorrelated_folds_its_size_is_exact():
    """Normal differences with correlation 1/K between folds: then (1/k + 1/(K-1))s² is an unbiased variance of
    their mean, independent of it, and the statistic is Student's t. 40 000 columns, which share nothing: the share
    below α is within four standard errors, which fails by chance in 1 of 16 000 runs."""
    k, n_folds, n, alpha = 6, 10, 40_000, 0.05
    rng = np.random.default_rng(0)
    rho = 1 / n_folds
    behind = np.sqrt(rho) * rng.normal(size=(1, n)) + np.sqrt(1 - rho) * rng.normal(size=(k, n))
    scores = np.column_stack([np.zeros(k), -behind])
    share = 1 - Paired(alpha=alpha).judge(standing_of_scores(scores, n_folds=n_folds)).keep[1:].mean()
    assert share == pytest.approx(alpha, abs=4 * np.sqrt(alpha * (1 - alpha) / n))


def test_folds_needed_is_the_least_that_satisfies_its_definition():
    effect = np.array([0.3, 0.9, 1.0, 1.2, 1.5, 2.0, 3.0, 10.0, -1.0])
    shared, alpha, power = 1 / 9, 0.05, 0.8
    found = folds_to_tell(effect, shared, alpha, power)
    assert found[[0, 8]].tolist() == [np.inf, np.inf]
    assert (np.diff(found[1:8]) <= 0).all()
    for e, folds in zip(effect[1:8], found[1:8], strict=True):
        enough = [
            e / np.sqrt(1 / n + shared) >= stats.t.ppf(1 - alpha, n - 1) + stats.t.ppf(power, n - 1)
            for n in (folds - 1, folds)
        ]
        assert enough[1]
        assert folds == 3 or not enough[0]


def test_folds_needed_has_the_power_that_it_promises():
    """By the noncentral t, whose quantiles it approximates: near the power, and two folds fewer have less."""
    shared = 1 / 9
    for effect in (1.0, 1.2, 1.5):
        folds = float(folds_to_tell(np.array([effect]), shared, 0.05, 0.8)[0])
        power = [
            stats.nct.sf(stats.t.ppf(0.95, n - 1), n - 1, effect / np.sqrt(1 / n + shared))
            for n in (folds, folds - 2)
        ]
        assert 0.78 < power[0] < 0.87
        assert power[1] < power[0]


def test_beyond_the_limit_of_what_folds_can_tell_it_is_infinite():
    """e √(K-1) at most z(.95) + z(.8) = 2.486: at K = 10 that is e = .8288."""
    edge = (stats.norm.ppf(0.95) + stats.norm.ppf(0.8)) / 3
    found = folds_to_tell(np.array([edge - 1e-6, edge + 1e-3, edge * (1 + 1e-15)]), 1 / 9, 0.05, 0.8)
    assert found[0] == np.inf
    assert 300 < found[1] < 1e6
    assert found[2] == np.inf


def test_folds_needed_in_a_verdict():
    leader = np.array([0.9, 0.8, 0.85, 0.8])
    scores = np.column_stack(
        [leader, leader - [0.02, 0.0, 0.02, 0.01], leader, leader + np.array([0.01, 0, 0.02, 0])]
    )
    found = Paired(alpha=0.01, power=0.9).judge(standing_of_scores(scores))
    d = np.array([0.02, 0.0, 0.02, 0.01])
    in_all = folds_to_tell(np.array([d.mean() / d.std(ddof=1)]), 1 / 9, 0.01, 0.9)[0]
    assert found.folds_needed[[1, 3]].tolist() == [in_all - 4, np.inf]
    assert np.isnan(found.folds_needed[[0, 2]]).all()
    loose = Paired(alpha=0.2).judge(standing_of_scores(scores))
    assert not loose.keep[1]
    assert np.isnan(loose.folds_needed[1])


def test_what_the_paired_test_takes():
    for metric in ("roc_auc", "log_loss"):
        assert Paired().unfit(metric_named(metric), Course(4, 4, True, True)) is None
    few = Paired().unfit(metric_named("roc_auc"), Course(3, 3))
    assert few == "it takes 3 splits to test and one more to save, and here are 3 splits"
    held_out = Paired().unfit(metric_named("roc_auc"), Course(20, 1))
    assert held_out == "its variance needs several folds in a repeat, but here every repeat is one split"
    for wrong in ({"alpha": 0.0}, {"power": 1.0}):
        with pytest.raises(ho.InputError, match=f"{next(iter(wrong))} must lie between 0 and 1"):
            Paired(**wrong)
    for wrong in ({"pairs": "some"}, {"looks": 3}):
        with pytest.raises(ho.InputError, match=f"{next(iter(wrong))} must be one of"):
            Paired(**wrong)


@pytest.mark.parametrize("k", [3, 6, 12])
def test_all_pairs_is_the_loop_over_pairs(k):
    rng = np.random.default_rng(k)
    scores = rng.normal(0.8, 0.05, size=(k, 7)) - np.linspace(0, 0.1, 7)
    scores[0, 2], scores[:, 4] = np.nan, scores[:, 1]
    found = Paired(pairs="all").judge(standing_of_scores(scores, leader=0, n_folds=10))
    of_rivals = np.array([slow(scores, rival, 10) for rival in range(7)])
    expected = np.fmin.reduce(of_rivals, axis=0)
    np.testing.assert_allclose(found.statistic[1:], expected[1:], rtol=1e-9)
    least = np.fmin(0.05, expected[0])  # what is no worse off than the leader stays with it
    np.testing.assert_array_equal(found.keep[1:], ~(expected[1:] < least))
    assert found.keep[0]  # the leader always stays


def test_all_pairs_finds_one_that_only_another_than_the_leader_beats():
    """The leader varies from fold to fold; the second is steadily ahead of the third by .02, .03, .02."""
    scores = np.array([[0.99, 0.80, 0.78], [0.70, 0.80, 0.77], [0.99, 0.80, 0.78]])
    standing = standing_of_scores(scores)
    assert Paired().judge(standing).keep.all()
    found = Paired(pairs="all").judge(standing)
    assert found.keep.tolist() == [True, True, False]
    d = np.array([0.02, 0.03, 0.02])
    t = d.mean() / (d.std(ddof=1) * np.sqrt(1 / 3 + 1 / 9))
    assert found.statistic[2] == pytest.approx(stats.t.sf(t, 2), rel=1e-9)


def test_power_analysis_says_when_the_next_test_is():
    """At k = 3 the differences .02, .04, .06 minus a little need more folds; before that there is no test."""
    leader = np.array([0.9, 0.8, 0.85, 0.9, 0.8, 0.85, 0.9])
    behind = np.array([0.01, 0.04, 0.06, 0.05, 0.05, 0.05, 0.05])
    scores = np.column_stack([leader, leader - behind])
    rule = Paired(looks="power_analysis")
    first = rule.judge(standing_of_scores(scores[:3]))
    assert first.keep.all() and first.statistic[1] > 0.05
    needed = first.folds_needed[1]
    assert 1 <= needed < np.inf
    due = 3 + needed
    assert first.noted[1] == due
    notes = np.array([[np.nan, due]])
    for k in range(4, 8):
        standing = standing_of_scores(scores[:k])
        found = rule.judge(type(standing)(**{**vars(standing), "noted": notes}))
        plain = Paired().judge(standing)
        if k < due:
            assert found.keep.all() and np.isnan(found.statistic[1]) and np.isnan(found.noted[1])
        else:
            np.testing.assert_array_equal(found.keep, plain.keep)
            np.testing.assert_array_equal(found.statistic, plain.statistic)
    assert not Paired().judge(standing_of_scores(scores[:7])).keep[1]


def test_one_that_no_number_of_folds_tells_apart_is_tested_once():
    scores = np.array([[0.9, 0.95], [0.8, 0.7], [0.85, 0.84]])  # no clear difference
    rule = Paired(looks="power_analysis")
    first = rule.judge(standing_of_scores(scores))
    assert first.noted[1] == np.inf
    standing = standing_of_scores(np.vstack([scores, [[0.9, 0.1]] * 6]))
    noted = type(standing)(**{**vars(standing), "noted": first.noted[None]})
    assert rule.judge(noted).keep.all()
    assert not Paired().judge(standing).keep[1]


def test_of_alike_configurations_a_test_of_all_pairs_drops_as_often_as_their_greatest_t_says():
    """Five with equal means and independent folds' errors: a given one is dropped at one look with the probability
    that the greatest of its four t's passes the quantile, found by plain simulation of normal numbers. 800 looks
    have a standard error below .012; the bound is two and a half times that of the difference."""
    k, n_folds, alpha, n = 6, 10, 0.05, 800
    rng = np.random.default_rng(4)
    bound = stats.t.isf(alpha, k - 1)
    times = expected = 0
    for _ in range(n):
        scores = rng.normal(size=(k, 5))
        times += not Paired(pairs="all").judge(standing_of_scores(scores, leader=1, n_folds=n_folds)).keep[0]
        d = rng.normal(size=(k, 5))
        d = d[:, 1:] - d[:, :1]
        expected += (d.mean(axis=0) / (d.std(axis=0, ddof=1) * np.sqrt(1 / k + 1 / (n_folds - 1))) > bound).any()
    assert times / n == pytest.approx(expected / n, abs=0.042)
    assert 0.02 < times / n < 3 * alpha


# Forgiving and aggressive: by hand, against a plain loop, and in searches.


# The leader (0) has folds .8, .6, .9: its worst is .6, its mean .7667.
FOLDS = np.array(
    [
        [0.8, 0.7, 0.5, 0.9, 0.8, 0.2],
        [0.6, 0.8, 0.6, 0.1, 0.6, 0.9],
        [0.9, 0.75, 0.6, 0.8, 0.9, 0.7],
    ]
)


@pytest.mark.parametrize(
    ("rule", "kept", "below"),
    [
        (Forgiving(), [1, 1, 0, 1, 1, 1], 0.6 - 1.7 / 3),
        (Aggressive(), [1, 0, 0, 0, 1, 0], 2.3 / 3 - 1.7 / 3),
    ],
)
def test_the_rules_of_the_incumbent_by_hand(rule: Any, kept: list[int], below: float) -> None:
    """Means: .7667, .75, .5667, .6, .7667, .6; one of exactly the worst fold, or of the leader's mean, stays."""
    found = rule.judge(standing_of_scores(FOLDS, leader=0))
    assert found.keep.astype(int).tolist() == kept
    assert found.statistic[2] == pytest.approx(below)
    assert np.isnan(found.statistic[0])


@pytest.mark.parametrize("rule", [Forgiving(n_startup_folds=1), Aggressive(n_startup_folds=1)])
def test_a_plain_loop_drops_the_same(rule: Any) -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        scores = rng.integers(0, 8, size=(rng.integers(1, 7), 9)) / 7
        leader = int(scores.mean(axis=0).argmax())
        kept = []
        for column in scores.T:
            bound = min(scores[:, leader]) if rule.name == "forgiving" else sum(scores[:, leader]) / len(scores)
            kept.append(sum(column) / len(column) >= bound - 1e-9)
        assert rule.judge(standing_of_scores(scores, leader=leader)).keep.tolist() == kept
    assert rule.judge(
        standing_of_scores(np.zeros((7, 3)), leader=0)
    ).keep.all()  # twins at 0, where no slack is left


def test_none_is_dropped_before_the_start() -> None:
    for rule, first in ((Forgiving(), 3), (Aggressive(), 2)):
        for k in range(1, 4):
            found = rule.judge(standing_of_scores(FOLDS[:k], leader=0))
            assert found.keep.all() == (k < first), (rule.name, k)


@pytest.mark.parametrize("bad", [np.nan, -np.inf, np.inf])
@pytest.mark.parametrize("rule", [Forgiving(), Aggressive()])
def test_what_is_not_a_finite_number_is_not_compared(rule: Any, bad: float) -> None:
    scores = FOLDS.copy()
    scores[1, 2] = bad
    assert rule.judge(standing_of_scores(scores, leader=0)).keep[2]
    scores = FOLDS.copy()
    scores[1, 0] = bad
    assert rule.judge(standing_of_scores(scores, leader=0)).keep.all()


def test_it_needs_a_split_to_save() -> None:
    accuracy = metric_named("accuracy")
    assert (
        Forgiving().unfit(accuracy, Course(3, 3))
        == "it drops none before 3 splits, and the last of 3 saves nothing"
    )
    assert Aggressive().unfit(accuracy, Course(3, 3)) is None
    with pytest.raises(InputError, match="n_startup_folds must be an integer of at least 1, got 0"):
        Aggressive(n_startup_folds=0)


X, Y = make_classification(200, n_informative=3, flip_y=0.2, random_state=1)


@pytest.mark.parametrize("drop", ["forgiving", "aggressive"])
def test_an_adaptive_search_drops_what_a_loop_over_its_trials_would(drop: str) -> None:
    """Each trial against the best before it, which has all its folds, on the folds so far."""
    search = ho.HeldOutOptunaSearchCV(
        KNeighborsClassifier(), {"n_neighbors": IntDistribution(1, 150)}, n_trials=12, cv=8, drop=drop,
        random_state=0, n_bootstraps=9, refit=False,
    ).fit(X, Y)  # fmt: skip
    tried = [{"n_neighbors": [each["n_neighbors"]]} for each in search.cv_results_["params"]]
    whole = ho.HeldOutSearchCV(
        KNeighborsClassifier(), tried, cv=8, random_state=0, n_bootstraps=9, refit=False
    ).fit(X, Y)
    folds = np.array([whole.cv_results_[f"split{k}_test_score"] for k in range(8)])
    first, best, dropped = (3 if drop == "forgiving" else 2), 0, {}
    for j in range(1, 12):
        for k in range(first, 8):
            own, other = folds[:k, j], folds[:k, best]
            bound = other.min() if drop == "forgiving" else other.mean()
            if 25 * k >= 50 and own.mean() < bound - 1e-9 and other.mean() >= own.mean():
                dropped[j] = k - 1
                break
        else:
            best = j if folds[:, j].mean() > folds[:, best].mean() + 1e-9 else best
    assert dropped
    assert {j: at for j, at in enumerate(search.cv_results_["dropped_at_split"]) if at >= 0} == dropped
