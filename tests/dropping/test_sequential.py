import math
import pickle
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, friedmanchisquare, rankdata
from sequential_race import raced
from standings import standing_of

from heldout.data.task import Task, truth_of
from heldout.dropping import RULES, Sequential, drop_rule_of
from heldout.dropping.base import Course
from heldout.dropping.sequential import (
    FEW_ENTRIES,
    BlockTest,
    cochran_q,
    cochran_q_of_each,
    friedman_of_each,
    growing_splits,
    in_top_set,
    losses_behind,
    wald_lines,
)
from heldout.errors import InputError
from heldout.metrics import metric_named
from heldout.references import REFERENCES


def in_parts(n_rows, n_steps):
    return np.arange(n_rows) * (n_steps + 1) // n_rows


def test_wald_s_lines_are_the_article_s():
    # Krueger et al. (2015): S = 10, alpha = .01, beta = .1 give pi1 = .5 · 90^(1/10) = .784.
    lines, high = wald_lines(10), 0.5 * 90**0.1
    assert high == pytest.approx(0.784, abs=5e-4)
    total = math.log(high / 0.5) + math.log(0.5 / (1 - high))
    assert lines == pytest.approx(
        (math.log(0.5 / (1 - high)) / total, -math.log(0.1 / 0.99) / total, math.log(0.9 / 0.01) / total)
    )
    assert lines == pytest.approx((0.6512, 1.7772, 3.4883), abs=5e-5)


@pytest.mark.parametrize("n_steps", [7, 10, 20])
def test_only_all_ones_reach_the_upper_line_and_only_at_the_end(n_steps):
    lines = wald_lines(n_steps)
    above = [step >= lines.slope * step + lines.above - 1e-9 for step in range(1, n_steps + 1)]
    assert above == [False] * (n_steps - 1) + [True]


def probability_of_leaving(share, n_steps):
    """That the sum of independent values, 1 with this probability, is at the lower line at some step before S."""
    lines, alive, gone = wald_lines(n_steps), np.array([1.0]), 0.0
    for step in range(1, n_steps):
        alive = np.convolve(alive, [1 - share, share])
        out = (np.arange(step + 1) <= lines.slope * step - lines.below) & (step >= 2)
        gone += alive[out].sum()
        alive[out] = 0
    return gone


@pytest.mark.parametrize("n_steps", [7, 10, 20])
def test_who_is_among_the_best_often_enough_leaves_as_seldom_as_wald_says(n_steps):
    high = 0.5 * 90 ** (1 / n_steps)
    assert probability_of_leaving(high, n_steps) <= 0.1 / (1 - 0.01)
    assert probability_of_leaving(1.0, n_steps) == 0
    assert probability_of_leaving(0.0, n_steps) == 1
    chances = [probability_of_leaving(share, n_steps) for share in (0.2, 0.5, high)]
    assert chances == sorted(chances, reverse=True) and chances[0] > 0.5


@pytest.mark.parametrize(
    "trace, leaves_at",
    [("000000000", 3), ("100000000", 5), ("110000000", 6), ("001111111", None), ("010101010", 9)],
)
def test_when_a_trace_is_too_low(trace, leaves_at):
    # slope · s - below = -.47, .18, .83, 1.48, 2.13, 2.78, 3.43, 4.08 for s = 2, ..., 9
    rule, y = Sequential(stopping_level=1.0, min_predictions=1), np.resize([0, 1], 220)
    steps = np.stack([np.stack([y, y, y if seen == "1" else 1 - y], axis=1) for seen in (*trace, "1")])
    course = raced(rule, y, steps, in_parts(220, 10))
    assert course.left.get(2) == leaves_at


def test_a_race_worked_by_hand():
    # 32 rows in 8 parts of 4. The first is always right, the second wrong in row 30, the third in every odd row,
    # the last always. Step 1 (28 rows, level .05/3): one row tells the first two apart, p = 1; with the third Q =
    # 2 (3 · (0 + 1 + 196) - 225)/(3·15 - 15) = 24.4, p = 5e-6, so the traces begin 1, 1, 0, 0. Step 2 (24 rows):
    # Q = 2 (3 · (1 + 144) - 169)/(3·13 - 13) = 20.5, the same. For S = 7 Wald's line is .7831 · 2 - .7734 = .79
    # then, and the last two leave. The traces of the first two go on alike, so all is over after step 4, the first
    # beyond the window. In steps 2 to 4 the first is always ahead of the second.
    y = np.resize([0, 1], 32)
    wrong = np.zeros((32, 4), dtype=bool)
    wrong[30, 1], wrong[1::2, 2], wrong[:, 3] = True, True, True
    predictions = np.where(wrong, 1 - y[:, None], y[:, None])
    rule = Sequential(steps=7, min_predictions=1)
    assert wald_lines(7)[:2] == pytest.approx((0.7831, 0.7734), abs=5e-5)
    course = raced(rule, y, np.stack([predictions] * 7), in_parts(32, 7))
    assert course.traces == [{0: 1, 1: 1, 2: 0, 3: 0}] * 2 + [{0: 1, 1: 1}] * 2
    assert course.left == {2: 2, 3: 2}
    assert course.stopped_after == 4
    assert course.winner == 0


def test_it_goes_on_while_traces_differ():
    # The second is among the best in steps 1 to 3 and no more: Q of the window's traces (1 1 / 1 1 / 1 0) has one
    # row that tells, p = 1, at step 4: alike, so all is over.
    y = np.resize([0, 1], 220)
    steps = np.stack([np.stack([y, y if s < 4 else 1 - y], axis=1) for s in range(1, 11)])
    assert raced(Sequential(min_predictions=1), y, steps, in_parts(220, 10)).stopped_after == 4
    # With ten of them that fall behind in step 2, three rows of (1, 0, ..., 0) tell: exact p = 1/11², at step 4.
    many = np.stack([np.stack([y, *[y if s < 2 else 1 - y] * 10], axis=1) for s in range(1, 11)])
    course = raced(Sequential(min_predictions=1), y, many, in_parts(220, 10))
    assert course.stopped_after is None
    assert set(course.left.values()) == {5} and len(course.left) == 10
    assert course.winner == 0


def friedman_p(losses):
    n, k = losses.shape
    ranks = rankdata(losses, axis=1)
    return chi2.sf(12 / (n * k * (k + 1)) * ((ranks.sum(axis=0) - n * (k + 1) / 2) ** 2).sum(), k - 1)


def cochran_p(hits):
    k, of_row, of_column = hits.shape[1], hits.sum(axis=1), hits.sum(axis=0)
    below = k * of_row.sum() - (of_row**2).sum()
    if below == 0:
        return 1.0
    return chi2.sf((k - 1) * (k * (of_column**2).sum() - of_column.sum() ** 2) / below, k - 1)


def as_the_article_has_it(errors, part, n_steps, stops):
    """Algorithm 1 of Krueger et al. (2015) for a regression, a configuration at a time; errors (S, n, C)."""
    n_configurations = errors.shape[2]
    alive = list(range(n_configurations))
    trace = {c: [] for c in alive}
    means, left, stopped = [], {}, None
    high = 0.5 * 90 ** (1 / n_steps)
    for step in range(1, n_steps + 1):
        losses = errors[step - 1][part >= step] ** 2
        mean = {c: losses[:, c].mean() for c in alive}
        means.append(mean)
        order = sorted(alive, key=mean.get)
        top = order[:1]
        for c in order[1:]:
            if friedman_p(losses[:, [*top, c]]) <= 0.05 / (len(alive) - 1):
                break
            top.append(c)
        for c in alive:
            trace[c].append(int(c in top))
        if step == n_steps:
            break
        window = means[-3:]
        ahead = min(
            alive, key=lambda c: (sum(sorted(m[a] for a in alive).index(m[c]) for m in window), c)
        )  # who leads stays
        if step > 1:
            for c in list(alive):
                ones = sum(trace[c])
                likelihood = ones * math.log(high / 0.5) + (step - ones) * math.log((1 - high) / 0.5)
                if likelihood <= math.log(0.1 / 0.99) and c != ahead:
                    alive.remove(c)
                    left[c] = step
        if len(alive) == 1:
            break
        if stops and step > 3 and cochran_p(np.array([trace[c][-3:] for c in alive]).T) > 0.05:
            stopped = step
            break
    window = means[-3:]
    winner = min(alive, key=lambda c: (sum(sorted(m[a] for a in alive).index(m[c]) for m in window), c))
    return left, stopped, winner, trace


@pytest.mark.parametrize("stops", [True, False], ids=["stops", "goes on"])
@pytest.mark.parametrize("seed", range(4))
def test_a_regression_is_raced_as_the_article_has_it(seed, stops):
    rng = np.random.default_rng(seed)
    n_rows, n_steps, n_configurations = 165, 10, 14
    y, part = rng.normal(size=n_rows), in_parts(n_rows, n_steps)
    width = 1 + rng.random(n_configurations)
    errors = np.stack([rng.normal(size=(n_rows, n_configurations)) * width for _ in range(n_steps)])
    # Above 24 entries the window's Q is of chi-squared for both; 14 alive make 42. Fewer may be left at the end.
    level = 0.05 if stops else 1.0
    course = raced(
        Sequential(min_predictions=1, stopping_level=level), y, y[:, None] + errors, part, "mean_squared_error"
    )
    left, stopped, winner, trace = as_the_article_has_it(errors, part, n_steps, stops)
    assert course.traces[:3] == [{c: trace[c][s] for c in range(n_configurations)} for s in range(3)]
    assert {c: step for c, step in course.left.items() if step <= 4} == {c: s for c, s in left.items() if s <= 4}
    if not stops:
        assert (course.left, course.winner, course.stopped_after) == (left, winner, None)
        assert left  # somebody leaves, or nothing was compared
    elif stopped == 4:
        assert course.stopped_after == 4 and course.winner == winner


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from(["accuracy", "log_loss"]))
def test_the_order_of_configurations_does_not_matter(seed, metric):
    rng = np.random.default_rng(seed)
    n_rows, n_steps, n_configurations = 96, 7, 6
    y, part = rng.integers(0, 2, n_rows), in_parts(n_rows, n_steps)
    skill = rng.uniform(0.4, 1, n_configurations)
    if metric == "accuracy":
        right = rng.random((n_steps, n_rows, n_configurations)) < skill
        predictions = np.where(right, y[:, None], 1 - y[:, None])
    else:
        noise = rng.normal(size=(n_steps, n_rows, n_configurations))
        predictions = 1 / (1 + np.exp(-(skill * (2 * y[:, None] - 1) + noise)))
    rule, order = Sequential(steps=7, min_predictions=1), rng.permutation(n_configurations)
    one = raced(rule, y, predictions, part, metric)
    other = raced(rule, y, predictions[:, :, order], part, metric)
    # The winner may be one of several of equal mean rank, of whom the first is taken.
    assert {int(order[c]): step for c, step in other.left.items()} == one.left
    assert [{int(order[c]): was for c, was in trace.items()} for trace in other.traces] == one.traces
    assert other.stopped_after == one.stopped_after


def test_equal_scores_enter_the_top_set_together():
    wrong = np.zeros((60, 3), dtype=bool)
    wrong[:20, 1], wrong[40:, 2] = True, True
    # Of the first and either other p = 2^-19; the second comes with the third or not at all.
    assert in_top_set(-wrong.mean(axis=0), wrong, 0.05).tolist() == [True, False, False]
    assert in_top_set(-wrong[:, 1:].mean(axis=0), wrong[:, 1:], 0.05).tolist() == [True, True]
    assert in_top_set(np.array([0.5]), wrong[:, :1], 0.05).tolist() == [True]


def test_the_level_is_divided_by_how_many_could_be_beaten():
    wrong = np.zeros((40, 4), dtype=bool)
    wrong[:7, 1] = True  # p = 2^-6 = .0156 for the two
    wrong[:, 2:] = True
    scores = -wrong.mean(axis=0)
    two = in_top_set(scores[:2], wrong[:, :2], 0.016)
    four = in_top_set(scores, wrong, 0.016)
    assert two.tolist() == [True, False]
    assert four.tolist() == [True, True, False, False]


def test_groups_are_blocks():
    # Ten groups of 20 rows that are right or wrong as one: 3 of 10 are no difference, 60 of 200 rows would be.
    groups, y = np.repeat(np.arange(10), 20), np.resize([0, 1], 200)
    wrong = np.stack([groups < 0, groups < 3], axis=1)
    predictions = np.where(wrong, 1 - y[:, None], y[:, None])
    noted = np.empty((0, 2))
    rule = Sequential()
    ungrouped = standing_of(y, predictions)
    grouped = standing_of(y, predictions, groups=groups)
    told = [
        rule.judge(type(each)(**{**vars(each), "predictions": predictions[:, :, None], "noted": noted})).noted
        for each in (ungrouped, grouped)
    ]
    assert [each.tolist() for each in told] == [[1, 0], [1, 1]]


def test_steps_that_could_not_be_judged_do_not_count():
    y = np.resize([0, 1], 100)
    predictions = np.stack([y, 1 - y], axis=1)
    standing = standing_of(y, predictions, leader=0)
    values = {**vars(standing), "predictions": predictions[:, :, None]}
    rule = Sequential()
    for noted, stays in (([[1, 0], [1, 0]], False), ([[np.nan, np.nan], [1, 0]], True)):
        said = rule.judge(type(standing)(**{**values, "noted": np.array(noted)}))
        assert said.keep.tolist() == [True, stays]


def test_the_leader_stays_whatever_its_trace():
    y = np.resize([0, 1], 100)
    predictions = np.stack([y, 1 - y], axis=1)
    standing = standing_of(y, predictions, leader=1)
    noted = np.array([[1.0, 0.0]] * 4)
    said = Sequential().judge(
        type(standing)(**{**vars(standing), "predictions": predictions[:, :, None], "noted": noted})
    )
    assert said.keep.tolist() == [True, True]
    assert said.statistic.tolist() == [5, 0]


@pytest.mark.parametrize(
    "metric, losses",
    [
        ("accuracy", "accuracy"),
        ("neg_log_loss", "log_loss"),
        ("brier_score", "brier_score"),
        ("r2", "mean_squared_error"),
        ("neg_root_mean_squared_error", "root_mean_squared_error"),
        ("roc_auc", None),
        ("f1", None),
        ("balanced_accuracy", None),
        ("median_absolute_error", None),
    ],
)
def test_metrics_that_are_means_of_row_losses_can_be_raced(metric, losses):
    found = losses_behind(metric_named(metric))
    assert (None if found is None else found.name) == losses
    reason = Sequential().unfit(metric_named(metric), Course(10, 10))
    assert reason is None if losses else "is not a mean of one loss per row" in reason


def test_weights_are_refused():
    reason = Sequential().unfit(metric_named("accuracy"), Course(10, 10, True, True))
    assert reason == "its tests count rows, which cannot be weighted"


@pytest.mark.parametrize(
    "settings, said",
    [
        ({"steps": 6}, r"steps must be at least 7, got 6: .*pi1 = 1.06"),
        ({"steps": 10, "alpha": 0.0001}, "steps must be at least 14, got 10"),
        ({"steps": 7.0}, "steps must be an integer of at least"),
        ({"window": 1}, "window must be an integer of at least 2"),
        ({"window": 10}, "window must be below `steps=10`, got 10"),
        ({"alpha": 0.5, "beta": 0.5}, r"alpha \+ beta must be below 1"),
        ({"shuffle_folds": True}, "shuffle_folds is not for `drop='sequential'`"),
    ],
)
def test_settings_of_no_meaning_are_refused(settings, said):
    with pytest.raises(InputError, match=said):
        Sequential(**settings)


def test_it_is_known_by_its_name_and_travels():
    assert RULES["sequential"] is Sequential
    assert drop_rule_of("sequential") == Sequential() == pickle.loads(pickle.dumps(Sequential()))
    assert set(Sequential.sources) <= set(REFERENCES)
    assert Sequential(window=4, steps=12).selection.last == 4


# Tests of matched samples: by hand, against all arrangements and SciPy.


def friedman(table: np.ndarray) -> BlockTest:
    return list(friedman_of_each(table))[-1]


def test_q_worked_by_hand():
    # T = (3, 3, 0), L = (2, 1, 2, 1): Q = 2 (3·18 - 36) / (3·6 - 10) = 36/8. Of the 81 arrangements (three for each
    # row) 18 give column sums of (3, 3, 0) in some order: two rows hold a pair, two a single one of that pair.
    found = cochran_q(np.array([[1, 1, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]))
    assert found.statistic == pytest.approx(4.5)
    assert found.p_value == pytest.approx(18 / 81)


def test_exact_p_is_the_share_of_all_arrangements():
    rng = np.random.default_rng(4)
    for n, k in ((2, 3), (3, 3), (2, 4), (4, 2)):
        table = (rng.random((n, k)) < 0.5).astype(int)
        table[:, 0], table[:, 1] = 1, 0  # so that every row differs
        own = float((table.sum(axis=0) ** 2).sum())
        arranged = [list(permutations(row)) for row in table.tolist()]
        reached = [float((np.array(each).sum(axis=0) ** 2).sum()) >= own for each in product(*arranged)]
        assert cochran_q(table).p_value == pytest.approx(np.mean(reached))


def test_two_columns_are_the_exact_sign_test():
    table = np.array([[1, 0]] * 5 + [[0, 1]] + [[1, 1]] * 3)
    assert cochran_q(table).p_value == pytest.approx(2 * (1 + 6) / 2**6)


def test_from_the_25th_entry_on_p_is_of_chi_squared():
    rows = FEW_ENTRIES // 2
    few = np.array([[1, 0]] * (rows - 2) + [[0, 1]] * 2)
    many = np.vstack([few, [[1, 0]]])
    assert cochran_q(few).p_value == pytest.approx(2 * (1 + 12 + 66) / 2**12)
    assert cochran_q(many).p_value == pytest.approx(chi2.sf((11 - 2) ** 2 / 13, 1))
    both_right = np.ones((50, 2), dtype=int)  # rows in which nobody differs do not count
    assert cochran_q(np.vstack([few, both_right])) == cochran_q(few)


def test_where_nobody_differs_p_is_one():
    assert cochran_q(np.ones((5, 3))) == cochran_q(np.zeros((5, 3))) == (0.0, 1.0)
    assert friedman(np.ones((5, 3))) == (0.0, 1.0)
    assert cochran_q(np.eye(4)[:, :1]) == friedman(np.arange(4.0)[:, None]) == (0.0, 1.0)


def test_friedman_worked_by_hand():
    # Ranks (1, 2, 3), (1, 2, 3), (2, 1, 3), (1, 3, 2) sum to 5, 8, 11: 12/(4·3·4) · (9 + 0 + 9) = 4.5.
    found = friedman(np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [2.0, 1.0, 3.0], [1.0, 3.0, 2.0]]))
    assert found.statistic == pytest.approx(4.5)
    assert found.p_value == pytest.approx(np.exp(-2.25))


@given(st.integers(2, 7), st.integers(3, 30), st.integers(1, 40), st.integers(0, 10**6))
def test_friedman_is_scipy_s(k, n, values, seed):
    table = np.random.default_rng(seed).integers(0, values, (n, k)).astype(float)
    table[0] = np.arange(k)
    for number, found in enumerate(friedman_of_each(table), start=1):
        if number >= 3:  # as SciPy demands
            expected = friedmanchisquare(*table[:, :number].T)
            assert found.statistic == pytest.approx(expected.statistic)
            assert found.p_value == pytest.approx(expected.pvalue)


@given(st.integers(1, 6), st.integers(1, 40), st.integers(0, 10**6))
def test_each_of_the_growing_tables_is_tested_as_it_is(k, n, seed):
    table = np.random.default_rng(seed).integers(0, 2, (n, k))
    assert list(cochran_q_of_each(table)) == [cochran_q(table[:, :number]) for number in range(1, k + 1)]
    assert [found.statistic for found in friedman_of_each(table)] == pytest.approx(
        [friedman(table[:, :number]).statistic for number in range(1, k + 1)]
    )


@given(st.integers(2, 5), st.integers(1, 12), st.integers(0, 10**6))
def test_order_does_not_matter_and_right_is_as_good_as_wrong(k, n, seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 2, (n, k))
    found = cochran_q(table)
    assert cochran_q(table[rng.permutation(n)][:, rng.permutation(k)]) == pytest.approx(found)
    assert cochran_q(1 - table) == pytest.approx(found)
    assert friedman(-table) == pytest.approx(friedman(table))


# Splits whose training parts grow.


def task_of(y, groups=None, kind=None):
    return Task(np.zeros((len(y), 1)), truth_of(y, kind), groups)


def test_training_rows_grow_by_a_part_and_all_others_are_tested():
    folds = growing_splits(task_of(np.linspace(0, 1, 113)), 10, entropy=3)
    assert folds.n_splits == folds.n_repeats == 10
    assert [split.repeat for split in folds.splits] == list(range(10))
    assert [len(split.train) for split in folds.splits] == [round(113 * s / 11) for s in range(1, 11)]
    for split, later in zip(folds.splits, folds.splits[1:], strict=False):
        assert set(split.train) < set(later.train)
    for split in folds.splits:
        assert sorted([*split.train, *split.test]) == list(range(113))
    assert folds.exchangeable and not folds.grouped


def test_the_order_is_the_entropy_s():
    task = task_of(np.linspace(0, 1, 60))
    first, again, other = (growing_splits(task, 7, entropy=e).fingerprint() for e in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize("seed", range(2))
def test_every_step_trains_and_tests_on_each_class_in_its_share(seed):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1, 2], [11, 40, 149]))
    folds = growing_splits(task_of(y), 10, entropy=seed)
    for step, split in enumerate(folds.splits, start=1):
        counts = np.bincount(y[split.train], minlength=3)
        assert (np.abs(counts - np.array([11, 40, 149]) * step / 11) <= 1.5).all()
        assert counts.min() >= 1 and np.bincount(y[split.test], minlength=3).min() >= 1


@pytest.mark.parametrize("n_classes", [2, 20])
def test_classes_as_small_as_they_may_be_are_in_every_step(n_classes):
    y = np.repeat(np.arange(n_classes), np.r_[11, 11 + 7 * np.arange(1, n_classes)])
    for split in growing_splits(task_of(y), 10, entropy=n_classes).splits:
        assert set(y[split.train]) == set(y[split.test]) == set(range(n_classes))


def test_groups_stay_whole():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 40, 300)
    y = rng.integers(0, 2, 300)
    folds = growing_splits(task_of(y, groups), 10, entropy=5)
    assert folds.grouped
    for step, split in enumerate(folds.splits, start=1):
        assert not set(groups[split.train]) & set(groups[split.test])
        assert abs(len(split.train) - 300 * step / 11) <= np.bincount(groups).max()
        assert set(y[split.train]) == {0, 1}


@pytest.mark.parametrize(
    "y, groups, said",
    [
        (np.linspace(0, 1, 10), None, r"steps \+ 1 = 11 parts, and 10 rows are too few"),
        (np.repeat([0, 1], [90, 10]), None, r"and 10 rows of class 1 are too few"),
        (np.linspace(0, 1, 90), np.arange(90) % 9, r"and 9 groups \(the largest of 10 rows\) are too few"),
        (
            np.repeat([0, 1], [40, 48]),
            np.repeat(np.arange(11), 8),
            r"parts with every class in the first, and 11 groups",
        ),
    ],
    ids=["rows", "class", "groups", "classes of groups"],
)
def test_too_little_is_refused(y, groups, said):
    with pytest.raises(InputError, match=said):
        growing_splits(task_of(y, groups), 10, entropy=0)
