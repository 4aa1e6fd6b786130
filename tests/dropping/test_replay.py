"""The dropping, replayed: what it must be equal to, and what it approximates."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from race_on_matrix import race_on_matrix
from sklearn.linear_model import Ridge
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KNeighborsClassifier
from standings import standing_of

import heldout as ho
from heldout.dropping import Bootstrap
from heldout.dropping.loss_course import LossCourse, SplitLosses, on_product_grid, share_of_more_errors
from heldout.dropping.replay import CountedCourse, DroppingHistory, SimulatedRace, draws_within
from heldout.estimates.dropping_replay import with_dropping_replayed
from heldout.estimates.inputs import read_inputs
from heldout.estimates.methods import answer, method_of
from heldout.flags import Flag

FIVE = tuple((0, fold) for fold in range(5))
BBC = method_of("bbc")


def table(metric, n=80, columns=12, seed=0, repeats=1):
    """A target, predictions of unequal skill, and five folds."""
    rng = np.random.default_rng(seed)
    skill = np.linspace(0.3, 2.0, columns)[None, :, None]
    noise = rng.normal(size=(n, columns, repeats))
    folds = np.stack([rng.permutation(np.arange(n) % 5) for _ in range(repeats)], axis=1)
    if metric == "mean_squared_error":
        y = rng.normal(size=n)
        return y, y[:, None, None] + noise / skill, folds
    y = np.resize([0, 1], n)
    scores = (2 * y[:, None, None] - 1) * skill / 2 + noise
    return y, (scores > 0).astype(int) if metric == "accuracy" else scores, folds


@cache
def raced_alone(metric):
    """By the rule itself, with what more than one test reads."""
    return raced(metric)


def raced(metric, *, rule=None, splits=FIVE, left=None, seed=0, repeats=1, **settings):
    """The estimate without and with the dropping repeated, and the evidence of the latter."""
    y, predictions, folds = table(metric, seed=seed, repeats=repeats)
    asked = read_inputs(
        y, predictions, metric=metric, folds=folds, random_state=3, **{"n_bootstraps": 300, **settings}
    )
    evidence = asked.evidence(BBC)
    rule = rule or Bootstrap(min_predictions=1, replay=True)
    history = DroppingHistory(rule, splits, left or {})
    again = with_dropping_replayed(evidence, asked.truth, asked.predictions, asked.question, history)
    return answer(BBC, evidence), answer(BBC, again), again


def some_counts(n, lanes=40, seed=1):
    rng = np.random.default_rng(seed)
    return rng.multinomial(n, np.full(n, 1 / n), size=lanes).astype(np.uint8)


METRICS = ["accuracy", "mean_squared_error", "roc_auc"]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("why", ["too few rows", "no share is above 1", "one split"])
def test_where_nobody_can_leave_it_is_the_plain_estimate_bit_for_bit(metric, why):
    rule, splits = Bootstrap(min_predictions=81, replay=True), FIVE
    if why == "no share is above 1":
        rule = SimpleNamespace(threshold=1.0, replay=True, min_predictions=1, resolve_ties_after=None)
    if why == "one split":
        rule, splits = Bootstrap(min_predictions=1, replay=True), FIVE[:1]
    plain, again, _ = raced(metric, rule=rule, splits=splits, n_bootstraps=50)
    np.testing.assert_array_equal(again.distribution, plain.distribution)
    np.testing.assert_array_equal(again.selection_frequency, plain.selection_frequency)


@pytest.mark.parametrize("metric", METRICS)
def test_where_somebody_leaves_the_choice_is_another_one(metric):
    rule = Bootstrap(min_predictions=1, threshold=0.6, replay=True)
    plain, again, evidence = raced(metric, rule=rule, n_bootstraps=100)
    assert not np.array_equal(again.selection_frequency, plain.selection_frequency)
    assert again.uncorrected == plain.uncorrected
    assert Flag.DROPPING_REPLAYED not in evidence.flags  # nobody had left the matrix: nothing is forced
    how = "200 bootstraps within each bootstrap" if metric == "roc_auc" else "shares of bootstraps in closed form"
    assert again.provenance["dropping_replayed"] == how


@pytest.mark.parametrize(
    ("n", "worst", "near_threshold"), [(5, 0.036, 0.004), (8, 0.004, 0.004), (20, 0.01, 0.004), (60, 0.009, 0.004)]
)
def test_shares_of_errors_are_those_of_all_bootstraps(n, worst, near_threshold):
    """The exact share is that of a sum of n independent steps, for every count of rows that tell the two apart."""
    off, near = [], []
    for more in range(n + 1):
        for fewer in range(min(more, n - more) + 1):
            total = np.zeros(2 * n + 1)
            total[n] = 1.0
            step = np.array([fewer, n - more - fewer, more]) / n
            for _ in range(n):
                total = np.convolve(total, step, mode="same")
            exact = total[n + 1 :].sum()
            found = share_of_more_errors(np.array(float(n)), np.array(float(more)), np.array(float(fewer)))
            off.append(abs(found - exact) if exact > 0.9 else 0.0)
            near.append(abs(found - exact) if 0.98 <= exact <= 0.997 else 0.0)
    assert max(off) < worst and max(near) < near_threshold


def brute_shares(losses, counts, leader, draws=2000, seed=0):
    """p̂ by drawing from the drawn rows: mean losses (n, A) or (n, A, R), NaN where not in play."""
    rng = np.random.default_rng(seed)
    inner = rng.multinomial(int(counts.sum()), counts / counts.sum(), size=draws)
    if losses.ndim == 2:
        losses = losses[:, :, None]
    means = []
    for repeat in range(losses.shape[2]):
        there = ~np.isnan(losses[:, 0, repeat])
        weights = inner[:, there]
        means.append(weights @ losses[there, :, repeat] / weights.sum(axis=1, keepdims=True))
    mean = np.mean(means, axis=0)
    return (mean > mean[:, [leader]] + 1e-12).mean(axis=0)


@pytest.mark.parametrize(
    ("metric", "repeats", "split"),
    [("accuracy", 1, 1), ("accuracy", 1, 3), ("mean_squared_error", 1, 2), ("mean_squared_error", 2, 6)],
)
def test_closed_forms_are_near_a_double_bootstrap(metric, repeats, split):
    y, predictions, folds = table(metric, repeats=repeats)
    losses = predictions != y[:, None, None] if metric == "accuracy" else (predictions - y[:, None, None]) ** 2
    rule = Bootstrap(min_predictions=1, replay=True)
    splits = tuple((repeat, fold) for repeat in range(repeats) for fold in range(5))
    _, _, evidence = raced(metric, rule=rule, splits=splits, repeats=repeats)
    course = evidence.replay.race.course
    counts = some_counts(80, lanes=25)
    standings, alive = course.start(counts), np.ones((25, 12), dtype=bool)
    for number in range(split + 1):
        standings.add_split(number, alive.any(axis=0))
    leaders = standings.leaders(alive)
    found = standings.worse(leaders, alive)
    in_play = np.zeros((80, repeats), dtype=bool)
    for repeat, fold in splits[: split + 1]:
        in_play[:, repeat] |= folds[:, repeat] == fold
    so_far = np.where(in_play[:, None], losses.astype(float), np.nan)[:, :, in_play.any(axis=0)]
    some = in_play.any(axis=1)
    expected = np.stack([brute_shares(so_far[some], counts[b, some], leaders[b]) for b in range(25)])
    read = expected > 0.5  # what is not behind is not read
    off = np.abs(found - expected)[read]
    assert off.mean() < 0.008
    assert off.max() < 0.06
    agree = (found > 0.99) == (expected > 0.99)
    assert agree.mean() > 0.97


def area(y, scores, weights):
    """AUC by counting pairs."""
    above, below = scores[y == 1][:, None], scores[y == 0][None, :]
    ahead = (above > below) + 0.5 * (above == below)
    return weights[y == 1] @ ahead @ weights[y == 0] / (weights[y == 1].sum() * weights[y == 0].sum())


def slow_race(y, scores, folds, counts, course, threshold):
    """The race of one bootstrap by loops, with the same draws within."""
    alive, met = list(range(scores.shape[1])), np.full(scores.shape[1], 5)
    for after in range(1, 5):
        rows = np.flatnonzero(folds < after)
        drawn = counts[rows]
        auc = {j: area(y[rows], scores[rows, j], drawn.astype(float)) for j in alive}
        leader = max(alive, key=lambda j: (round(auc[j], 12), -j))
        inner = draws_within(drawn, course.predicted_rows[after - 1], course.n_draws, course.entropy)
        assert (inner.sum(axis=1) == drawn.sum()).all()
        assert not inner[:, drawn == 0].any()
        for j in [j for j in alive if j != leader]:
            worse = 0
            for weights in inner.astype(float):
                of_leader = area(y[rows], scores[rows, leader], weights)
                mine = area(y[rows], scores[rows, j], weights)
                worse += round(mine, 12) < round(of_leader, 12)
            if worse / len(inner) > threshold:
                alive.remove(j)
                met[j] = after
    return met


def test_rank_metrics_are_raced_as_a_loop_would():
    y, scores, folds = table("roc_auc")
    _, _, evidence = raced_alone("roc_auc")
    race = evidence.replay.race
    course = CountedCourse(race.course.predicted_rows, 30, race.course.entropy)
    small = SimulatedRace(course, race.judged, race.left_after, 5, 0.9)
    counts = some_counts(80, lanes=3)
    weighed = counts[0].astype(float)
    own = roc_auc_score(y, scores[:, 0, 0], sample_weight=weighed)
    assert area(y, scores[:, 0, 0], weighed) == pytest.approx(own)
    found = small.run(counts)
    assert (found < 5).any()
    for lane in range(3):
        expected = slow_race(y, scores[:, :, 0], folds[:, 0], counts[lane], course, 0.9)
        np.testing.assert_array_equal(found[lane], expected)


@pytest.mark.parametrize("metric", METRICS)
def test_neither_blocks_nor_threads_change_anything(metric):
    _, alone, evidence = raced_alone(metric)  # 300 bootstraps: two blocks
    _, together, _ = raced(metric, n_jobs=2)
    np.testing.assert_array_equal(alone.distribution, together.distribution)
    counts = some_counts(80, lanes=70)
    race = evidence.replay.race
    pieces = [race.run(counts[first : first + 9]) for first in range(0, 70, 9)]
    np.testing.assert_array_equal(race.run(counts), np.concatenate(pieces))


@pytest.mark.parametrize("rule", ["best", "one_standard_error"])
def test_who_left_the_search_is_forced_out_where_it_left(rule):
    y, predictions, folds = table("accuracy")
    left = {2: 1, 5: 2, 11: 3}  # the last is the best of all
    held = held_out(predictions, folds, left)
    asked = read_inputs(y, held, metric="accuracy", n_bootstraps=100, random_state=0, selection=rule)
    evidence = asked.evidence(BBC)
    history = DroppingHistory(Bootstrap(min_predictions=1, threshold=0.8, replay=True), FIVE, left)
    again = with_dropping_replayed(evidence, asked.truth, asked.predictions, asked.question, history)
    met = again.replay.race.run(some_counts(80))
    stays = np.ones(12, dtype=bool)
    for configuration, after in left.items():
        assert (met[:, configuration] <= after).all()
        stays[configuration] = False
    assert (met[:, 11] == 3).any()
    assert (met[:, stays] == 5).any(axis=1).all()  # somebody who stayed is always there to be chosen
    assert Flag.DROPPED_CONFIGURATIONS in evidence.flags
    assert Flag.DROPPED_CONFIGURATIONS not in again.flags
    assert again.flags[Flag.DROPPING_REPLAYED].startswith("3 of 12 configurations were dropped early")
    found = answer(BBC, again)
    assert found.selection_frequency[list(left)].sum() == 0
    assert np.isfinite(found.distribution).all()


def held_out(predictions, folds, left):
    """With nothing predicted after a configuration had left."""
    met = np.array([left.get(j, 5) for j in range(predictions.shape[1])])
    labels = np.where(folds[:, None, :] < met[None, :, None], predictions, -1).astype(np.int32)
    names = tuple(f"c{j}" for j in range(predictions.shape[1]))
    gone = dict.fromkeys(left, "it was behind")
    responses = {ho.metrics.metric_named("accuracy").responses[0]: labels}
    return ho.HeldOutPredictions(responses, names, folds.astype(np.int32), np.array([0, 1]), 1, dropped=gone)


def test_groups_are_drawn_whole_within_bootstraps_too():
    """Every row twice, in one group: each sum is twice what it was, and so is its spread."""
    y, predictions, folds = table("mean_squared_error")
    rule = Bootstrap(min_predictions=1, replay=True)
    found = []
    for times in (1, 2):
        groups = None if times == 1 else np.repeat(np.arange(80), 2)
        asked = read_inputs(
            np.repeat(y, times), np.repeat(predictions, times, axis=0), metric="mean_squared_error",
            folds=np.repeat(folds, times, axis=0), groups=groups, n_bootstraps=200, random_state=0,
        )  # fmt: skip
        history = DroppingHistory(rule, FIVE)
        again = with_dropping_replayed(asked.evidence(BBC), asked.truth, asked.predictions, asked.question, history)
        found.append(answer(BBC, again))
    np.testing.assert_array_equal(found[0].selection_frequency, found[1].selection_frequency)
    np.testing.assert_allclose(found[0].distribution, found[1].distribution, rtol=1e-12)


def test_two_that_cannot_be_told_apart_are_separated_where_ties_are_resolved():
    losses = np.zeros((50, 2), dtype=bool)
    losses[0, 1] = True  # the second is a little behind from the first fold on
    folds = np.repeat(np.arange(5), 10)
    assert race_on_matrix(losses, folds, min_predictions=1).tolist() == [5, 5]
    assert race_on_matrix(losses, folds, min_predictions=1, resolve_ties_after=2).tolist() == [5, 3]


def test_a_race_on_a_matrix_is_the_race_of_the_rule():
    """The rule's own shares come from draws, so that a few decisions near the threshold may differ."""
    rng = np.random.default_rng(2)
    folds = np.arange(200) % 5
    y = np.resize([0, 1], 200)
    rule, differ, total, dropped = Bootstrap(min_predictions=30, n_bootstraps=4000), 0, 0, 0
    for seed in range(8):
        right = rng.random((200, 30)) < rng.beta(9, 6, 30)
        labels = np.where(right, y[:, None], 1 - y[:, None])
        met, alive = np.full(30, 5), np.arange(30)
        for after in range(1, 5):
            rows = np.flatnonzero(folds < after)
            verdict = rule.judge(standing_of(y[rows], labels[rows][:, alive], seed=seed))
            met[alive[~verdict.keep]] = after
            alive = alive[verdict.keep]
        found = race_on_matrix(~right, folds, min_predictions=30)
        differ += int((found != met).sum())
        total, dropped = total + 30, dropped + int((met < 5).sum())
    assert dropped > total / 3
    assert differ < 0.03 * total


def test_infinite_losses_and_identical_columns_do_no_harm():
    rng = np.random.default_rng(0)
    losses = rng.random((100, 4))
    losses[:, 1] = losses[:, 0]
    losses[3, 2] = np.inf
    folds = np.arange(100) % 5
    met = race_on_matrix(losses, folds, min_predictions=20)
    assert met[0] == met[1]


def test_the_least_mean_leads_and_a_leader_never_leaves():
    splits = (
        SplitLosses(0, np.arange(3), np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]])),
        SplitLosses(0, np.arange(3, 6), np.array([[9.0, 1.0], [9.0, 1.0], [9.0, 1.0]])),
    )
    standings = LossCourse(splits, np.arange(6)).start(np.ones((1, 6), dtype=np.uint8))
    both = np.ones((1, 2), dtype=bool)
    standings.add_split(0, both[0])
    assert standings.leaders(both).tolist() == [0]
    assert standings.worse(np.array([0]), both).tolist() == [[0.0, 1.0]]
    standings.add_split(1, both[0])
    assert standings.leaders(both).tolist() == [1]
    products = on_product_grid(np.array([[1.0], [-2.0]]), most=100)
    assert products.ravel().tolist() == [1.0, -2.0]


def test_a_search_that_drops_has_the_replayed_estimate():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    grid = {"n_neighbors": [1, 3, 9, 25, 60, 150]}
    found = {}
    for replay in (False, True):
        drop = Bootstrap(min_predictions=40, threshold=0.95, replay=replay)
        search = ho.HeldOutSearchCV(KNeighborsClassifier(), grid, drop=drop, n_bootstraps=200, random_state=1)
        found[replay] = search.fit(X, y)
    assert found[False].n_fits_ == found[True].n_fits_
    assert found[True].n_fits_saved_ > 0
    assert found[True].best_params_ == found[False].best_params_
    assert Flag.DROPPED_CONFIGURATIONS in found[False].estimate_.flags
    assert Flag.DROPPING_REPLAYED in found[True].estimate_.flags
    assert Flag.DROPPED_CONFIGURATIONS not in found[True].estimate_.flags


def test_a_method_that_does_not_replay_says_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = X[:, 0] + rng.normal(size=120)
    search = ho.HeldOutSearchCV(
        Ridge(), {"alpha": [1, 1e5, 1e6]}, drop=Bootstrap(min_predictions=40, replay=True), method="tt",
        scoring="neg_mean_squared_error",
    ).fit(X, y)  # fmt: skip
    assert search.n_fits_saved_ > 0
    assert Flag.DROPPED_CONFIGURATIONS in search.estimate_.flags
    assert Flag.DROPPING_REPLAYED not in search.estimate_.flags
