"""Plans of folds: stratified, grouped and seeded as the task is, and splitters for scikit-learn too."""

import json
import pickle

import numpy as np
import pytest
from sklearn.base import clone
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

import heldout as ho
from heldout._streams import numpy_seed
from heldout.configurations import canonical_form
from heldout.data.task import Task, TaskKind, truth_of
from heldout.errors import InputError
from heldout.folds.plans import (
    FoldPlan,
    KFolds,
    auto_folds,
    bootstrap,
    hold_out,
    k_folds,
    leave_one_out,
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
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=plan).fit(X, LABELS)
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


def test_a_hold_out_is_scikit_learn_s() -> None:
    splitter = StratifiedShuffleSplit(1, test_size=0.3, random_state=numpy_seed(3, "folds", 0))
    task = task_of(LABELS)
    assert make_folds(task, hold_out(0.3), entropy=3).fingerprint() == make_folds(task, splitter).fingerprint()


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
    model = LogisticRegression()
    single = {}
    for split in make_folds(Task(X, truth_of(y)), repeated_hold_out(100, 1), entropy=0).splits:
        fitted = model.fit(X[split.train], y[split.train])
        single[int(split.test[0])] = fitted.score(X[split.test], y[split.test])
    assert len(single) == 12
    search = ho.HeldOutSearchCV(model, cv=leave_one_out(), method=None).fit(X, y)
    assert np.mean(list(single.values())) == pytest.approx(search.best_score_, abs=1e-12)
    one = ho.HeldOutSearchCV(model, cv=hold_out(1, random_state=3), method=None).fit(X, y)
    assert one.best_score_ in (0.0, 1.0)
