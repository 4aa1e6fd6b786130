"""Plans of folds: stratified, grouped and seeded as the task is, and splitters for scikit-learn too."""

import json
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import heldout as ho
from heldout._streams import numpy_seed
from heldout.configurations import canonical_form
from heldout.data.task import Task, TaskKind, truth_of
from heldout.errors import InputError
from heldout.folds.plans import (
    FoldPlan,
    KFolds,
    PairedHoldOut,
    auto_folds,
    bootstrap,
    hold_out,
    k_folds,
    leave_one_out,
    number_of_folds,
    repeated,
    repeated_hold_out,
)
from heldout.folds.splits import make_folds

PLANS = {
    "k_folds": k_folds(3),
    "repeated": repeated(3, 2),
    "hold_out": hold_out(0.3),
    "repeated_hold_out": repeated_hold_out(4, 0.3),
    "leave_one_out": leave_one_out(),
    "auto": auto_folds(4),
    "bootstrap": bootstrap(4),
}
LABELS = np.array([0, 0, 1] * 12)
GROUPS = np.repeat(np.arange(12), 3)


def task_of(y: np.ndarray, groups: np.ndarray | None = None, kind: TaskKind | None = None) -> Task:
    return Task(np.arange(float(len(y)))[:, None], truth_of(y, kind), groups)


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("grouped", [False, True], ids=["rows", "groups"])
@pytest.mark.parametrize("kind", [TaskKind.BINARY, TaskKind.REGRESSION])
def test_every_plan_divides_every_task(name: str, grouped: bool, kind: TaskKind) -> None:
    task = task_of(LABELS, GROUPS if grouped else None, kind)
    folds = make_folds(task, PLANS[name], entropy=7)
    again = make_folds(task, PLANS[name], entropy=7)
    assert folds.fingerprint() == again.fingerprint()
    for split in folds.splits:
        assert not set(split.train) & set(split.test)
        assert split.n_training_rows + len(split.test) == len(LABELS)
        if grouped:
            assert not set(GROUPS[split.train]) & set(GROUPS[split.test])
    if PLANS[name].is_shuffled:
        assert folds.fingerprint() != make_folds(task, PLANS[name], entropy=8).fingerprint()


def test_folds_are_those_of_scikit_learn_with_the_run_s_seed() -> None:
    seed = numpy_seed(5, "folds", 0)
    expected = {
        (TaskKind.BINARY, False): StratifiedKFold(3, shuffle=True, random_state=seed),
        (TaskKind.BINARY, True): StratifiedGroupKFold(3, shuffle=True, random_state=seed),
        (TaskKind.REGRESSION, False): KFold(3, shuffle=True, random_state=seed),
        (TaskKind.REGRESSION, True): GroupKFold(3, shuffle=True, random_state=seed),
    }
    for (kind, grouped), splitter in expected.items():
        task = task_of(LABELS, GROUPS if grouped else None, kind)
        ours = make_folds(task, k_folds(3), entropy=5)
        assert ours.fingerprint() == make_folds(task, splitter).fingerprint()
    once = StratifiedShuffleSplit(1, test_size=0.3, random_state=seed)
    task = task_of(LABELS)
    assert make_folds(task, hold_out(0.3), entropy=5).fingerprint() == make_folds(task, once).fingerprint()


def test_a_hold_out_keeps_classes_in_proportion() -> None:
    folds = make_folds(task_of(LABELS), hold_out(0.25), entropy=1)
    assert folds.n_splits == folds.n_repeats == 1
    assert np.bincount(LABELS[folds.splits[0].test]).tolist() == [6, 3]


def test_a_hold_out_of_groups_keeps_classes_as_near_as_groups_allow() -> None:
    # Groups of one class: a quarter of the 12 groups is 3, and two of class 0 with one of class 1 is nearest.
    labels = np.repeat([0] * 8 + [1] * 4, 3)
    for entropy in range(5):
        test = make_folds(task_of(labels, GROUPS), hold_out(0.25), entropy=entropy).splits[0].test
        assert np.bincount(labels[test]).tolist() == [6, 3]


def test_each_hold_out_of_several_is_a_repeat_even_where_no_row_recurs() -> None:
    folds = make_folds(task_of(LABELS), repeated_hold_out(3, 0.1), entropy=0)
    assert [(split.repeat, split.fold) for split in folds.splits] == [(0, 0), (1, 0), (2, 0)]


def test_leave_one_out_leaves_groups_out_where_there_are_groups() -> None:
    assert make_folds(task_of(LABELS), leave_one_out()).n_splits == 36
    folds = make_folds(task_of(LABELS, GROUPS), leave_one_out())
    assert [split.test.tolist() for split in folds.splits] == [
        test.tolist() for _, test in LeaveOneGroupOut().split(LABELS, LABELS, GROUPS)
    ]


def test_repeats_of_folds_are_repeats_of_the_search() -> None:
    task = task_of(LABELS)
    assert (
        make_folds(task, repeated(3, 4), entropy=2).fingerprint()
        == make_folds(task, 3, repeats=4, entropy=2).fingerprint()
        == make_folds(task, k_folds(3), repeats=4, entropy=2).fingerprint()
    )


def test_a_plan_keeps_its_own_seed_in_every_run() -> None:
    task = task_of(LABELS)
    for plan in (k_folds(3, random_state=4), repeated(KFolds(3, 4), 2), repeated(3, 2, random_state=4)):
        assert make_folds(task, plan, entropy=1).fingerprint() == make_folds(task, plan, entropy=2).fingerprint()


@pytest.mark.parametrize("name", PLANS)
def test_plans_are_splitters_for_scikit_learn(name: str) -> None:
    plan = PLANS[name]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(36, 2)) + LABELS[:, None]
    pairs = list(plan.split(X, LABELS))
    assert len(pairs) == plan.get_n_splits(X, LABELS)
    search = GridSearchCV(LogisticRegression(), {"C": [1]}, cv=plan, refit=False).fit(X, LABELS)
    assert search.n_splits_ == len(pairs)
    assert isinstance(clone(search).cv, FoldPlan)


@pytest.mark.parametrize("name", PLANS)
def test_plans_are_recognised_in_other_processes(name: str) -> None:
    plan = PLANS[name]
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert json.dumps(canonical_form(plan)) == json.dumps(canonical_form(clone(plan, safe=False)))


def test_alone_classes_are_recognised_by_their_recurring() -> None:
    labels = np.array([0] * 9 + [1] * 3)
    for _, test in k_folds(3, random_state=0).split(np.zeros((12, 1)), labels):
        assert np.bincount(labels[test]).tolist() == [3, 1]
    ages = np.arange(12)  # every value alone: numbers
    assert len(list(k_folds(3, random_state=0).split(np.zeros((12, 1)), ages))) == 3


def test_groups_reach_a_plan_with_and_without_routing() -> None:
    from sklearn import config_context

    rng = np.random.default_rng(0)
    X = rng.normal(size=(36, 2)) + LABELS[:, None]
    for routing in (False, True):
        with config_context(enable_metadata_routing=routing):
            search = ho.HeldOutSearchCV(
                LogisticRegression(), {"C": [0.1, 1]}, cv=k_folds(3), n_bootstraps=50, random_state=0
            ).fit(X, LABELS, groups=GROUPS)
        assert search.predictions_.grouped


def test_what_cannot_be_repeated_is_refused() -> None:
    with pytest.raises(InputError, match="leave-one-out is the same however often"):
        repeated(leave_one_out(), 3)
    with pytest.raises(InputError, match="is repeated already"):
        repeated(repeated(5, 2), 3)
    with pytest.raises(InputError, match="folds must be an integer of at least 2"):
        repeated("five", 3)
    task = task_of(LABELS)
    with pytest.raises(InputError, match="repeats twice"):
        make_folds(task, repeated(3, 2), repeats=2)
    with pytest.raises(InputError, match="use `repeats=1`"):
        make_folds(task, leave_one_out(), repeats=2)


def test_folds_that_a_class_cannot_fill_are_refused_before_fitting() -> None:
    with pytest.raises(InputError, match="class 1 has 2 rows, fewer than the 3 folds"):
        make_folds(task_of(np.array([0] * 10 + [1] * 2)), k_folds(3))
    with pytest.raises(InputError, match="refused the data"):
        make_folds(task_of(np.array([0] * 10 + [1])), hold_out())


def test_a_whole_number_of_rows_is_drawn_without_regard_to_classes() -> None:
    """The estimate from m + 1 rows: m train, one tests (lecture notes, before theorem 1)."""
    task = task_of(np.array([0] * 5 + [1]))
    folds = make_folds(task, repeated_hold_out(300, 1), entropy=2)
    assert all(len(split.train) == 5 and len(split.test) == 1 for split in folds.splits)
    drawn = np.bincount([int(split.test[0]) for split in folds.splits], minlength=6)
    assert drawn.min() > 25 and drawn.max() < 80  # 50 each expected; class 1 as often as its only row
    groups = make_folds(task_of(LABELS, GROUPS), hold_out(2), entropy=2).splits[0]
    assert len(np.unique(GROUPS[groups.test])) == 2
    assert (hold_out(1).words, hold_out(3).words) == ("one hold-out of 1 row", "one hold-out of 3 rows")
    for wrong in (0, -1, 1.0, 1.5, True, "1"):
        with pytest.raises(InputError, match="must lie between 0 and 1, or be a whole number of rows, got"):
            hold_out(wrong)  # type: ignore[arg-type]


def test_the_estimate_from_one_row_more_has_the_mean_of_leave_one_out() -> None:
    """Theorem 1 of the lecture notes, on one sample: over its rows the estimate averages to leave-one-out."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), np.array([0, 1] * 6)
    model = KNeighborsClassifier(3)
    single = {}
    for split in make_folds(Task(X, truth_of(y)), repeated_hold_out(100, 1), entropy=0).splits:
        fitted = model.fit(X[split.train], y[split.train])
        single[int(split.test[0])] = fitted.score(X[split.test], y[split.test])
    assert len(single) == 12
    search = ho.HeldOutSearchCV(model, cv=leave_one_out(), method=None).fit(X, y)
    assert np.mean(list(single.values())) == pytest.approx(search.best_score_, abs=1e-12)
    one = ho.HeldOutSearchCV(model, cv=hold_out(1, random_state=3), method=None).fit(X, y)
    assert one.best_score_ in (0.0, 1.0)


# ``cv="auto"``: as many folds as the smallest class allows.


RARE = np.array([0] * 36 + [1] * 4)
X = np.random.default_rng(0).normal(size=(40, 2))


@pytest.mark.parametrize(
    ("classes", "groups", "expected"),
    [
        ([0] * 36 + [1] * 4, None, 4),
        ([0] * 20 + [1] * 20, None, 10),
        (None, None, 10),
        # Class 1 is in the groups 0, 1 and 2 only.
        ([1, 1, 1, 0] * 10, [0, 1, 2, 3] * 10, 1),
        ([0, 1] * 20, [0, 1, 2] * 13 + [0], 3),
        (None, [0, 1, 2, 3] * 10, 4),
    ],
)
def test_the_smallest_class_decides(classes: list[int] | None, groups: list[int] | None, expected: int) -> None:
    labels = None if classes is None else np.array(classes)
    if expected < 2:  # class 0 is in one group only
        with pytest.raises(InputError, match="class 0 has 1 group, which cannot both train and test"):
            number_of_folds(40, labels, groups)
    else:
        assert number_of_folds(40, labels, groups) == expected


def test_a_class_of_one_row_is_refused() -> None:
    with pytest.raises(InputError, match="class 1 has 1 row, which cannot both train and test; gather more of it"):
        ho.HeldOutSearchCV(KNeighborsClassifier(), cv="auto").fit(X, np.array([0] * 39 + [1]))


def test_a_search_stratifies_into_that_many_folds() -> None:
    model, settings = KNeighborsClassifier(), {"method": None, "random_state": 0}
    search = ho.HeldOutSearchCV(model, {"n_neighbors": [1, 3]}, cv="auto", **settings).fit(X, RARE)
    folds = search.predictions_.folds[:, 0]
    assert search.n_splits_ == 4
    assert [int(RARE[folds == fold].sum()) for fold in range(4)] == [1, 1, 1, 1]
    # The same folds as the plan of so many folds with the seed of the run.
    same = ho.HeldOutSearchCV(model, {"n_neighbors": [1]}, cv=ho.protocols.k_folds(4), **settings).fit(X, RARE)
    assert np.array_equal(same.predictions_.folds, search.predictions_.folds)


def test_numbers_have_no_classes() -> None:
    search = ho.HeldOutSearchCV(KNeighborsRegressor(), cv="auto", repeats=2, method=None).fit(X, X[:, 0])
    assert search.n_splits_ == 20


def test_advice_says_which() -> None:
    advice = ho.advise(X, RARE, (KNeighborsClassifier(), {"n_neighbors": [1, 3]}), cv=3, seconds=0)
    assert advice.auto_folds == 4
    assert "`cv='auto'` makes 4 folds, so that each model trains on more of the rows." in advice.sentences


def test_too_many_folds_name_it() -> None:
    with pytest.raises(InputError, match="use at most `cv=4` or `cv='auto'`"):
        make_folds(Task(X, truth_of(RARE)), 10)


def test_the_splitter_needs_rows_and_a_limit_of_two() -> None:
    with pytest.raises(InputError, match="the number of folds depends on the rows"):
        auto_folds().get_n_splits()
    with pytest.raises(InputError, match="most must be an integer of at least 2, got 1"):
        auto_folds(1)


def test_events_count_like_a_class() -> None:
    seen = np.arange(60) % 15 == 0  # four events
    y = np.array(list(zip(seen, 1.0 + np.arange(60), strict=True)), dtype=[("event", bool), ("time", float)])
    assert auto_folds().get_n_splits(np.zeros((60, 1)), y) == 4
    with pytest.raises(InputError, match="the event has 1 row, which cannot both train and test"):
        auto_folds().get_n_splits(np.zeros((60, 1)), np.concatenate([y[:1], y[1:15]]))


def test_inner_folds_and_errors_name_their_argument() -> None:
    balanced = np.array([0, 1] * 20)
    grid = {"n_neighbors": [1, 3]}
    found = ho.nested_cv(KNeighborsClassifier(), X, balanced, grid, cv=4, inner="auto", random_state=0)
    assert found.n_fits == 4 * (10 * 2 + 1) + 10 * 2 + 1
    with pytest.raises(InputError) as raised:
        make_folds(Task(X, truth_of([0] * 39 + [1])), "auto")
    assert raised.value.argument == "cv" and "refused the data" not in str(raised.value)
    sampled = ho.bootstrap_search(KNeighborsClassifier(), X, balanced, grid, cv="auto", n_bootstraps=2)
    assert len(sampled.bootstraps) == 2


# Paired subsampling: its splits, by hand and by count, and what it refuses.


def folds_of(plan, n=61, classes=True, groups=None, entropy=3):
    y = np.resize([0, 1, 1], n) if classes else np.arange(n) / 7
    return make_folds(Task(np.zeros((n, 1)), truth_of(y), groups=groups), plan, entropy=entropy)


@pytest.mark.parametrize("classes", [True, False])
def test_halves_are_disjoint_and_test_as_many_rows_as_all_rows_do(classes):
    folds = folds_of(PairedHoldOut(4, 0.1, 3), classes=classes)
    assert folds.n_splits == 4 and len(folds.halves) == 2 * 3 * 4 and folds.n_halvings == 3
    assert all(len(split.test) == 7 and len(split.train) == 54 for split in folds.splits)  # ceil(6.1)
    for halving in range(3):
        mine = folds.halves[8 * halving : 8 * (halving + 1)]
        first, second = (
            np.unique(np.concatenate([np.r_[s.train, s.test] for s in mine[k : k + 4]])) for k in (0, 4)
        )
        assert not np.intersect1d(first, second).size
        assert sorted([len(first), len(second)]) == [30, 31]
        for split, half in zip(mine, [first] * 4 + [second] * 4, strict=True):
            assert len(split.test) == 7
            assert sorted([*split.train, *split.test]) == half.tolist()
    assert len({split.place for split in (*folds.splits, *folds.halves)}) == 28


def test_classes_stay_in_proportion_and_groups_whole():
    folds = folds_of(PairedHoldOut(3, 0.2, 2), n=60)
    assert {int((np.resize([0, 1, 1], 60)[split.test] == 0).sum()) for split in folds.halves} == {4}
    groups = np.arange(60) // 3
    grouped = folds_of(PairedHoldOut(3, 0.2, 2), n=60, classes=False, groups=groups)
    for split in (*grouped.splits, *grouped.halves):
        assert not np.intersect1d(groups[split.train], groups[split.test]).size


def test_the_seed_of_the_run_decides_unless_the_plan_has_one():
    own, run = PairedHoldOut(2, 0.2, 2, random_state=1), PairedHoldOut(2, 0.2, 2)
    assert folds_of(own, entropy=1).fingerprint() == folds_of(own, entropy=2).fingerprint()
    assert folds_of(run, entropy=1).fingerprint() != folds_of(run, entropy=2).fingerprint()
    main = folds_of(run, entropy=1)
    assert main.fingerprint() != main.part(main.splits).fingerprint()  # halves belong to the identity of a run


def test_as_a_splitter_it_gives_all_rows_first():
    plan = ho.protocols.paired_hold_out(3, 0.1, 2, random_state=0)
    X, y = np.zeros((41, 1)), np.resize([0, 1], 41)
    pairs = list(plan.split(X, y))
    assert len(pairs) == plan.get_n_splits() == 15
    assert [len(train) + len(test) for train, test in pairs[:3]] == [41] * 3
    assert {len(train) + len(test) for train, test in pairs[3:]} == {20, 21}
    assert plan.words == "3 repeats of one hold-out of 10% of the rows, and as many in both halves of 2 halvings"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((1, 0.1, 2), "times must be an integer of at least 2, got 1"),
        ((3, 0.5, 2), "test_share must be below .5, got 0.5"),
        ((3, 0.0, 2), "test_share must lie between 0 and 1"),
        ((3, 0.1, 0), "halvings must be an integer of at least 1, got 0"),
        ((3, 0.1, True), "halvings must be an integer"),
    ],
)
def test_wrong_numbers_are_refused(arguments, said):
    with pytest.raises(ho.InputError, match=said):
        ho.protocols.paired_hold_out(*arguments)


def test_halves_that_are_too_small_are_refused():
    y = np.array([0] * 30 + [1] * 3)
    with pytest.raises(ho.InputError, match="halves of the 33 rows cannot be split"):
        make_folds(Task(np.zeros((33, 1)), truth_of(y)), PairedHoldOut(2, 0.1, 2))


def test_repeats_of_it_are_refused():
    with pytest.raises(ho.InputError, match="repeats twice"):
        make_folds(Task(np.zeros((30, 1)), truth_of(np.resize([0, 1], 30))), PairedHoldOut(2, 0.2, 2), repeats=2)


# The bootstrap as a plan of folds, flat and nested.


WINE, CULTIVARS = load_wine(return_X_y=True)
GRID = {"n_neighbors": [1, 5, 15]}


def test_samples_draw_all_rows_with_replacement() -> None:
    pairs = list(bootstrap(400, random_state=1).split(np.zeros((30, 1))))
    for train, test in pairs:
        assert len(train) == 30
        assert np.array_equal(np.setdiff1d(np.arange(30), train), test)
    # A row is left out with probability (1 - 1/30)^30 = .3617; the error of the mean share is about .004.
    left_out = np.mean([len(test) / 30 for _, test in pairs])
    assert abs(left_out - (29 / 30) ** 30) < 0.012
    drawn = np.mean([np.bincount(train, minlength=30) for train, _ in pairs], axis=0)
    assert np.allclose(drawn, 1, atol=0.2)


def test_groups_are_drawn_whole_and_classes_are_on_both_sides() -> None:
    groups = np.repeat(np.arange(8), 5)
    y = np.repeat([0, 0, 0, 0, 0, 1, 1, 0], 5)  # class 1 is in two groups
    task = Task(np.zeros((40, 1)), truth_of(y), groups)
    for split in make_folds(task, bootstrap(30), entropy=3).splits:
        counts = np.bincount(split.train, minlength=40).reshape(8, 5)
        assert (counts == counts[:, :1]).all()
        assert counts.sum() == 40
        assert set(y[split.train]) == set(y[split.test]) == {0, 1}


def test_a_flat_search_scores_each_sample_on_the_rows_left_out() -> None:
    search = ho.HeldOutSearchCV(
        KNeighborsClassifier(), GRID, cv=bootstrap(6, random_state=5), random_state=0, method="bbc"
    ).fit(WINE, CULTIVARS)
    by_hand = [
        np.mean(
            [
                KNeighborsClassifier(n_neighbors=k)
                .fit(WINE[train], CULTIVARS[train])
                .score(WINE[test], CULTIVARS[test])
                for train, test in bootstrap(6, random_state=5).split(WINE, CULTIVARS)
            ]
        )
        for k in GRID["n_neighbors"]
    ]
    assert np.allclose(search.cv_results_["mean_test_score"], by_hand, rtol=0, atol=1e-12)
    assert search.n_fits_ == 6 * 3
    peer = GridSearchCV(KNeighborsClassifier(), GRID, cv=bootstrap(6, random_state=5)).fit(WINE, CULTIVARS)
    assert np.allclose(peer.cv_results_["mean_test_score"], by_hand, rtol=0, atol=1e-12)
    by_correct = ho.correct(peer, method="corrected_t", test_share=0.37)
    assert by_correct.uncorrected == pytest.approx(max(by_hand), abs=1e-12)


def test_nested_keeps_the_copies_of_a_row_together() -> None:
    found = ho.nested_cv(KNeighborsClassifier(), WINE, CULTIVARS, GRID, cv=bootstrap(4), inner=3, random_state=0)
    assert found.n_fits == 4 * (3 * 3 + 1) + 3 * 3 + 1
    assert len(found.outer_folds) == 4
    for fold in found.outer_folds:
        assert len(fold.training_rows) == len(CULTIVARS)
        assert not set(fold.training_rows) & set(fold.test_rows)
        # One nearest neighbour would score 1 inside wherever a copy of the tested row trains.
        assert fold.inner_scores[0] < 0.9
    assert found.value == pytest.approx(np.mean([fold.score for fold in found.outer_folds]), abs=1e-12)
    assert all(row["n_training_rows"] < 130 for row in found.to_dict()["outer_folds"])
    assert 105 < found.provenance["training_rows"] < 120  # distinct rows, .632 of 178


def test_nesting_with_the_remaining_samples_is_refused() -> None:
    with pytest.raises(InputError, match="`inner='remaining'` needs outer folds that test every row once"):
        ho.nested_cv(KNeighborsClassifier(), WINE, CULTIVARS, GRID, cv=bootstrap(4))


def test_methods_of_subsampling_take_it() -> None:
    search = ho.HeldOutSearchCV(
        KNeighborsClassifier(), GRID, cv=bootstrap(20), random_state=0, method="corrected_t"
    ).fit(WINE, CULTIVARS)
    low, high = search.confidence_interval_.low, search.confidence_interval_.high
    scores = [search.cv_results_[f"split{i}_test_score"][search.best_index_] for i in range(20)]
    assert low < np.mean(scores) < high
    assert high - low > 2 * 2.09 * np.std(scores, ddof=1) / np.sqrt(20)  # wider than that of independent samples


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(InputError, match="times must be an integer of at least 1, got 0"):
        bootstrap(0)
    one = Task(np.zeros((6, 1)), truth_of(np.arange(6.0) / 7), np.zeros(6))
    with pytest.raises(InputError, match="draws some groups and leaves out others, so it needs at least 2, got 1"):
        make_folds(one, bootstrap(2))
    with pytest.raises(InputError, match="20 bootstrap samples repeats twice"):
        ho.HeldOutSearchCV(KNeighborsClassifier(), cv=bootstrap(20), repeats=2).fit(WINE, CULTIVARS)
