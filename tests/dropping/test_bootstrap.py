"""The bootstrap rule: by hand, against a loop over scikit-learn's functions, and what must not matter."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, f1_score, log_loss, mean_squared_error, roc_auc_score
from standings import standing_of

import heldout as ho
from heldout.dropping import Bootstrap
from heldout.dropping.base import Course
from heldout.dropping.bootstrap import drawn_again
from heldout.metrics import metric_named
from heldout.metrics.custom import OpaqueMetric
from heldout.selection import bootstrap_draws as draws_module


def drawn(standing, n_bootstraps: int) -> np.ndarray:
    return standing.draws.block(0, n_bootstraps)[0]


def test_by_hand():
    """The leader is right on all four rows. One is wrong on row 0, so it is worse whenever row 0 is drawn, with
    probability 1 - (3/4)^4 = .684; one is wrong on rows 0 and 1; one is the leader again."""
    y = np.array([0, 1, 0, 1])
    labels = np.column_stack([y, y, y, y])
    labels[0, 1] = labels[0, 2] = 1
    labels[1, 2] = 0
    standing = standing_of(y, labels)
    counts = drawn(standing, 1000)
    found = Bootstrap(threshold=0.8).judge(standing)
    of_two = ((counts[:, 0] > 0) | (counts[:, 1] > 0)).mean()
    assert found.statistic[1:].tolist() == [(counts[:, 0] > 0).mean(), of_two, 0.0]
    assert found.statistic[1] == pytest.approx(1 - 0.75**4, abs=0.06)  # four standard errors of 1000 draws
    assert np.isnan(found.statistic[0])
    assert found.keep.tolist() == [True, True, False, True]


METRICS = {
    "roc_auc": (roc_auc_score, 1),
    "average_precision": (average_precision_score, 1),
    "log_loss": (log_loss, -1),
}
OF_LABELS = {"f1": (f1_score, 1)}


@pytest.mark.parametrize("name", [*METRICS, *OF_LABELS])
def test_it_is_the_loop_over_scikit_learn(name):
    rng = np.random.default_rng(5)
    y = np.resize([0, 1, 1], 40)
    probabilities = np.clip(0.5 + 0.15 * (2 * y[:, None] - 1) + 0.3 * rng.normal(size=(40, 6)), 0.01, 0.99).round(2)
    probabilities[:, 5] = probabilities[:, 4]
    table = probabilities if name in METRICS else (probabilities > 0.5).astype(int)
    score, sign = (METRICS | OF_LABELS)[name]
    standing = standing_of(y, table, name)
    worse = np.zeros(6)
    for counts in drawn(standing, 15):
        rows = np.repeat(np.arange(40), counts)
        values = np.array([sign * score(y[rows], table[rows, j]) for j in range(6)])
        worse += values < values[standing.leader] - 1e-12
    expected = worse / 15
    expected[standing.leader] = np.nan
    np.testing.assert_array_equal(Bootstrap(n_bootstraps=15).judge(standing).statistic, expected)


def test_a_regression_of_two_repeats_of_which_the_second_has_begun():
    """The score is the mean over repeats of the score on the rows that each has predicted."""
    rng = np.random.default_rng(1)
    y = rng.normal(size=30)
    table = y[:, None, None] + rng.normal(size=(30, 4, 2)) * np.array([0.5, 0.6, 0.8, 1.0])[:, None]
    table[20:, :, 1] = np.nan
    standing = standing_of(y, table, "mean_squared_error", kind="regression")
    worse = np.zeros(4)
    for counts in drawn(standing, 60):
        losses = np.zeros(4)
        for repeat, rows in enumerate([np.repeat(np.arange(30), counts), np.repeat(np.arange(20), counts[:20])]):
            losses += [mean_squared_error(y[rows], table[rows, j, repeat]) / 2 for j in range(4)]
        worse += losses > losses[standing.leader] + 1e-12
    expected = worse / 60
    expected[standing.leader] = np.nan
    np.testing.assert_array_equal(Bootstrap(n_bootstraps=60).judge(standing).statistic, expected)


def test_whole_groups_are_drawn_and_weights_multiply():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 36)
    labels = np.where(rng.random((36, 4)) < [0.9, 0.8, 0.7, 0.6], y[:, None], 1 - y[:, None])
    groups, weights = np.arange(36) // 4, rng.uniform(0.5, 2, 36)
    standing = standing_of(y, labels, groups=groups, sample_weight=weights)
    counts = drawn(standing, 50)
    assert (np.diff(counts.reshape(50, 9, 4), axis=2) == 0).all()
    right = (counts * weights) @ (labels == y[:, None]) / (counts * weights).sum(axis=1, keepdims=True)
    expected = (right < right[:, [standing.leader]] - 1e-12).mean(axis=0)
    expected[standing.leader] = np.nan
    np.testing.assert_array_equal(Bootstrap(n_bootstraps=50).judge(standing).statistic, expected)


@pytest.mark.parametrize(
    ("metric", "weights"),
    [("roc_auc", 0), ("log_loss", 1), ("average_precision", 1), ("f1", 0), ("matthews_corrcoef", 1)],
)
def test_what_predicts_the_same_never_counts_as_worse(metric, weights):
    """Neither twins of the leader, nor, of a rank metric, those in the same order with other numbers."""
    rng = np.random.default_rng(3)
    y = np.resize([0, 1], 60)
    best = 1 / (1 + np.exp(-rng.normal(size=60) - 2 * y))
    poor = rng.uniform(0.01, 0.99, size=(60, 3))
    table = np.column_stack([best, poor, best, best**3 if metric in ("roc_auc", "average_precision") else best])
    table = (table > 0.5).astype(int) if metric in ("f1", "matthews_corrcoef") else table
    standing = standing_of(y, table, metric, sample_weight=rng.uniform(0.1, 3, 60) if weights else None)
    found = Bootstrap(threshold=0.01, n_bootstraps=200).judge(standing)
    assert standing.leader == 0
    assert found.statistic[4:].tolist() == [0.0, 0.0]
    assert found.keep.tolist() == [True, False, False, False, True, True]


def test_neither_threads_nor_blocks_nor_the_standing_own_number_of_draws_change_a_bit(monkeypatch):
    rng = np.random.default_rng(4)
    y = np.resize([0, 1], 50)
    table = rng.normal(size=(50, 12)) + y[:, None]
    expected = Bootstrap(n_bootstraps=700).judge(standing_of(y, table, "roc_auc")).statistic
    threaded = Bootstrap(n_bootstraps=700).judge(standing_of(y, table, "roc_auc", n_threads=3)).statistic
    np.testing.assert_array_equal(threaded, expected)
    monkeypatch.setattr(draws_module.map_blocks, "__kwdefaults__", {"block": 37})
    np.testing.assert_array_equal(
        Bootstrap(n_bootstraps=700).judge(standing_of(y, table, "roc_auc")).statistic, expected
    )


def test_who_scores_nothing_is_kept_and_nobody_is_judged_where_nothing_can_be_drawn():
    y = np.resize([0, 1], 30)
    constant = metric_named("r2")
    values = np.column_stack([y, 1 - y]).astype(float)
    lonely = standing_of(np.full(30, 2.0), values, constant, leader=0, kind="regression")
    found = Bootstrap(n_bootstraps=5).judge(lonely)
    assert found.keep.all()
    assert np.isnan(found.statistic).all()

    def some(y_true, y_pred, sample_weight=None):
        return np.nan if y_pred[0] == 1 else float(np.mean(y_true == y_pred))

    undefined = ho.metrics.custom(some, greater_is_better=True, response="labels")
    found = Bootstrap(threshold=0.01, n_bootstraps=30).judge(
        standing_of(y, values.astype(int), undefined, leader=0)
    )
    assert found.keep.all()


def test_what_it_takes():
    assert Bootstrap().unfit(metric_named("roc_auc"), Course(2, 2, True, True)) is None
    reason = Bootstrap().unfit(OpaqueMetric("secret"), Course(10, 10))
    assert reason == "it scores resampled rows, but the scorer 'secret' cannot be opened"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"threshold": 1.0}, "threshold must lie between 0 and 1, got 1.0"),
        ({"threshold": "a"}, "threshold must lie between 0 and 1, got 'a'"),
        ({"n_bootstraps": 0}, "n_bootstraps must be an integer of at least 1, got 0"),
        ({"replay": 1}, "replay must be True or False, got 1"),
        ({"min_predictions": 0}, "min_predictions must be an integer of at least"),
        ({"against": "all"}, "against must be one of current_best, best_of_each, double, got 'all'"),
        ({"against": "double", "replay": True}, "`replay=True` repeats comparisons with the current best"),
    ],
    ids=["threshold", "threshold_text", "bootstraps", "replay", "predictions", "against", "replay of double"],
)
def test_what_it_refuses(wrong, says):
    with pytest.raises(ho.InputError, match=says):
        Bootstrap(**wrong)


def four(seed=6, n=40):
    """Four configurations of unequal skill, and one that repeats the best."""
    rng = np.random.default_rng(seed)
    y = np.resize([0, 1], n)
    labels = np.where(rng.random((n, 4)) < [0.8, 0.75, 0.7, 0.5], y[:, None], 1 - y[:, None])
    return y, np.column_stack([labels, labels[:, 0]])


def test_against_the_best_of_each_bootstrap_by_hand():
    """Worse than the best of a bootstrap: fewer rows right than another of the five there."""
    y, labels = four()
    standing = standing_of(y, labels)
    right = drawn(standing, 300).astype(int) @ (labels == y[:, None])
    expected = (right < right.max(axis=1, keepdims=True)).mean(axis=0)
    found = Bootstrap(against="best_of_each", n_bootstraps=300, threshold=0.9).judge(standing)
    others = np.arange(5) != standing.leader
    np.testing.assert_array_equal(found.statistic[others], expected[others])
    assert found.keep.tolist() == [not (j != standing.leader and expected[j] > 0.9) for j in range(5)]
    assert found.statistic[4] == expected[0]  # a twin is as often the best
    # What a configuration loses to the current best it also loses to the best.
    alone = Bootstrap(n_bootstraps=300).judge(standing).statistic
    assert (found.statistic[others] >= alone[others]).all()


def test_of_two_the_best_of_each_bootstrap_is_the_current_best_or_the_other():
    """Where the other one is the best it is not worse: both comparisons are the same for two."""
    y, labels = four()
    standing = standing_of(y, labels[:, :2])
    one, other = (
        Bootstrap(against=against, n_bootstraps=200).judge(standing).statistic
        for against in ("current_best", "best_of_each")
    )
    np.testing.assert_array_equal(one, other)


def test_the_probability_of_the_best_among_the_dropped_is_at_most_their_sum():
    """The share of bootstraps in which one of the dropped is chosen, against the sum of 1 - p̂ over them."""
    y, labels = four()
    standing = standing_of(y, labels)
    found = Bootstrap(against="best_of_each", threshold=0.6, n_bootstraps=500).judge(standing)
    gone = np.flatnonzero(~found.keep)
    assert gone.size
    chosen = standing.replay.choose(drawn(standing, 500))
    assert np.isin(chosen, gone).mean() <= (1 - found.statistic[gone]).sum() + 1e-12


def test_the_double_bootstrap_is_the_nested_loop():
    """A first sample chooses, and second samples of it compare: 300 x 50 of them here, one each in the rule. The
    standard error of 2000 pairs is at most .0112, that of 300 first samples at most .029; four of the first and two
    of the second are the tolerance."""
    y, labels = four()
    standing = standing_of(y, labels)
    found = Bootstrap(against="double", n_bootstraps=2000).judge(standing).statistic
    right = (labels == y[:, None]).astype(int)
    rng = np.random.default_rng(9)
    worse = np.zeros(5)
    for _ in range(300):
        rows = rng.integers(0, len(y), len(y))
        best = right[rows].sum(axis=0).argmax()
        again = rows[rng.integers(0, len(y), (50, len(y)))]
        scores = right[again].sum(axis=1)
        worse += (scores < scores[:, [best]]).mean(axis=0) / 300
    others = np.arange(5) != standing.leader
    np.testing.assert_allclose(found[others], worse[others], atol=4 * 0.0112 + 2 * 0.029)


def test_the_double_bootstrap_draws_whole_groups_and_is_the_same_for_any_threads():
    y, labels = four(n=60)
    groups = np.arange(60) // 4
    rule = Bootstrap(against="double", n_bootstraps=300)
    one = rule.judge(standing_of(y, labels, groups=groups)).statistic
    np.testing.assert_array_equal(one, rule.judge(standing_of(y, labels, groups=groups, n_threads=3)).statistic)
    standing = standing_of(y, labels, groups=groups)
    again = drawn_again(standing.draws, drawn(standing, 20), 0)
    assert (np.diff(again.reshape(20, 15, 4), axis=2) == 0).all()
    assert (again[drawn(standing, 20) == 0] == 0).all()
