"""The splits of nested cross-validation: nobody sees what it is scored on, and as many fits as are promised."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, ShuffleSplit, StratifiedKFold, TimeSeriesSplit

from heldout.data.task import Task, truth_of
from heldout.errors import InputError
from heldout.folds.plans import KFolds
from heldout.folds.splits import make_folds
from heldout.protocols.nested.plan import NestedFolds, nested_folds


def task(n: int = 24, *, groups: object = None) -> Task:
    return Task(np.zeros((n, 1)), truth_of(np.arange(n) % 2), None if groups is None else np.asarray(groups))


def assert_nobody_sees_what_it_is_scored_on(nested: NestedFolds, n: int) -> None:
    for branch in nested.branches:
        left_out = set(branch.refit.test.tolist())
        assert not left_out & set(branch.refit.train.tolist())
        for split in branch.inner:
            assert not left_out & set(split.train.tolist()) and not left_out & set(split.test.tolist())
            assert not set(split.train.tolist()) & set(split.test.tolist())
            assert set(split.train.tolist()) | set(split.test.tolist()) <= set(branch.refit.train.tolist())
    places = [(split.repeat, split.fold) for split in nested.search.splits]
    places += [(split.repeat, split.fold) for branch in nested.branches for split in (*branch.inner, branch.refit)]
    assert len(set(places)) == len(places)


@given(
    n_folds=st.integers(4, 7),
    repeats=st.integers(1, 3),
    inner=st.sampled_from(["remaining", "holdout", 2, 3, KFold(2), StratifiedKFold(2, shuffle=True)]),
    pairs=st.booleans(),
    seed=st.integers(0, 99),
)
def test_no_inner_split_holds_a_row_of_what_its_branch_left_out(n_folds, repeats, inner, pairs, seed):
    rows = task(30)
    folds = make_folds(rows, n_folds, repeats=repeats, entropy=seed)
    nested = nested_folds(rows, folds, inner, pairs=pairs, entropy=seed)

    assert_nobody_sees_what_it_is_scored_on(nested, 30)
    assert len(nested.outer) == n_folds * repeats
    assert len(nested.pairs) == pairs * repeats * n_folds * (n_folds - 1) // 2
    for branch, split in zip(nested.outer, folds.splits, strict=True):
        np.testing.assert_array_equal(branch.refit.train, split.train)
        np.testing.assert_array_equal(branch.refit.test, split.test)
        assert (branch.repeat, branch.left_out) == (split.repeat, (split.fold,))


def bootstrap_splits(n: int, times: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """A user's own: rows drawn with replacement train, those left out test."""
    drawn = [np.random.default_rng(b).integers(0, n, n) for b in range(times)]
    return [(rows, np.setdiff1d(np.arange(n), rows)) for rows in drawn]


@pytest.mark.parametrize("inner", [3, KFold(2), StratifiedKFold(2, shuffle=True)])
def test_copies_of_a_training_row_stay_on_one_side_of_the_inner_folds(inner: object) -> None:
    rows = task(60)
    folds = make_folds(rows, bootstrap_splits(60, 4))
    nested = nested_folds(rows, folds, inner)

    assert_nobody_sees_what_it_is_scored_on(nested, 60)
    for branch, split in zip(nested.outer, folds.splits, strict=True):
        times = np.bincount(split.train, minlength=60)
        tested = np.concatenate([one.test for one in branch.inner])
        assert sorted(tested) == np.flatnonzero(times).tolist()  # each distinct row once
        for one in branch.inner:
            counts = np.bincount(one.train, minlength=60)
            np.testing.assert_array_equal(counts[counts > 0], times[counts > 0])  # and trains as often as outside
    distinct = [len(np.unique(split.train)) for split in folds.splits]
    assert folds.n_training_rows == np.mean(distinct) < 60
    assert nested.test_share == pytest.approx(
        np.mean([len(split.test) / d for split, d in zip(folds.splits, distinct, strict=True)])
    )


@pytest.mark.parametrize("inner", ["remaining", "holdout"])
def test_folds_that_oversample_are_a_partition_and_keep_their_copies(inner: str) -> None:
    rows = task(24)
    doubled = [(np.r_[train, train[train % 2 == 1]], test) for train, test in KFold(4).split(np.zeros((24, 1)))]
    nested = nested_folds(rows, make_folds(rows, doubled), inner, pairs=inner == "remaining")

    assert_nobody_sees_what_it_is_scored_on(nested, 24)
    assert nested.n_folds == 4
    for branch in nested.branches:
        for split in (*branch.inner, branch.refit):
            times = np.bincount(split.train, minlength=24)
            assert set(times[1::2]) <= {0, 2} and set(times[::2]) <= {0, 1}


def test_as_many_rows_drawn_with_replacement_are_no_partition() -> None:
    rows = task(24)
    drawn = [
        (np.random.default_rng(0).choice(train, len(train)), test) for train, test in KFold(4).split(np.zeros(24))
    ]
    with pytest.raises(InputError, match="needs outer folds that test every row once"):
        nested_folds(rows, make_folds(rows, drawn), "remaining")


@pytest.mark.parametrize(("k", "r", "c"), [(4, 1, 1), (5, 2, 3)])
def test_the_number_of_fits_is_the_formula(k: int, r: int, c: int) -> None:
    rows = task(36)
    folds = make_folds(rows, k, repeats=r)
    searches = r * (k**2 * c + k) + 1
    assert nested_folds(rows, folds).n_fits(c) == searches
    pairs = r * k * (k - 1) // 2 * ((k - 2) * c + 1)
    assert nested_folds(rows, folds, pairs=True).n_fits(c) == searches + pairs
    assert nested_folds(rows, folds, "holdout").n_fits(c) == 2 * r * k * c + r * k + 1
    assert nested_folds(rows, folds, 3).n_fits(c) == r * k * 3 * c + r * k + 3 * c + 1


def test_the_remaining_folds_are_the_inner_ones():
    rows = task(12)
    folds = make_folds(rows, KFold(4))
    first = nested_folds(rows, folds).outer[0]

    assert [split.test.tolist() for split in first.inner] == [[3, 4, 5], [6, 7, 8], [9, 10, 11]]
    assert first.inner[0].train.tolist() == [6, 7, 8, 9, 10, 11]


def test_the_hold_out_is_the_next_fold():
    rows = task(12)
    nested = nested_folds(rows, make_folds(rows, KFold(3)), "holdout")

    tested = [[split.test.tolist() for split in branch.inner] for branch in nested.outer]
    assert tested == [[[4, 5, 6, 7]], [[8, 9, 10, 11]], [[0, 1, 2, 3]]]


def test_pairs_leave_two_folds_out_and_test_them_in_order():
    rows = task(10)
    folds = make_folds(rows, KFold(5))
    nested = nested_folds(rows, folds, pairs=True)

    assert [branch.left_out for branch in nested.pairs] == list(combinations(range(5), 2))
    one = nested.pairs[1]  # folds 0 and 2
    assert one.refit.test.tolist() == [0, 1, 4, 5] and one.refit.train.tolist() == [2, 3, 6, 7, 8, 9]
    assert [split.test.tolist() for split in one.inner] == [[2, 3], [6, 7], [8, 9]]


@pytest.mark.parametrize("inner", ["remaining", 2, GroupKFold(2)], ids=["remaining", "number", "splitter"])
def test_groups_stay_whole_at_every_level(inner):
    groups = np.repeat(np.arange(12), 2)
    rows = task(24, groups=groups)
    nested = nested_folds(rows, make_folds(rows, KFolds(4), entropy=3), inner, entropy=3)

    for split in [split for branch in nested.outer for split in (*branch.inner, branch.refit)]:
        assert not set(groups[split.train]) & set(groups[split.test])
    assert_nobody_sees_what_it_is_scored_on(nested, 24)


def test_a_number_of_inner_folds_keeps_classes_in_proportion():
    y = np.arange(40) % 4 == 0
    rows = Task(np.zeros((40, 1)), truth_of(y))
    nested = nested_folds(rows, make_folds(rows, 5), 4, entropy=1)

    assert {int(y[split.test].sum()) for branch in nested.outer for split in branch.inner} == {2}


def test_inner_folds_are_seeded_by_the_run_and_differ_between_outer_folds():
    rows = task(24)
    folds = make_folds(rows, KFold(4))

    def tested(seed: int, inner: object) -> list[list[int]]:
        nested = nested_folds(rows, folds, inner, entropy=seed)
        return [split.test.tolist() for branch in nested.outer for split in branch.inner]

    for inner in (3, KFold(3, shuffle=True)):
        assert tested(1, inner) == tested(1, inner) != tested(2, inner)
    fixed = KFold(3, shuffle=True, random_state=5)
    assert tested(1, fixed) == tested(2, fixed)


def test_split_anew_the_search_on_all_rows_is_split_so_too():
    rows = task(24)
    folds = make_folds(rows, 6)
    assert nested_folds(rows, folds, 3).search.n_splits == 3
    assert nested_folds(rows, folds, "holdout").search is folds


def test_an_inner_splitter_may_repeat_itself_and_outer_folds_need_not_be_a_partition():
    rows = task(24)
    nested = nested_folds(rows, make_folds(rows, ShuffleSplit(3, test_size=0.25, random_state=0)), 2)
    assert nested.n_folds is None and nested.test_share == pytest.approx(1 / 3)
    repeated = nested_folds(rows, make_folds(rows, 3), RepeatedKFold(n_splits=2, n_repeats=2, random_state=0))
    assert {len(branch.inner) for branch in repeated.outer} == {4}
    assert_nobody_sees_what_it_is_scored_on(repeated, 24)


@pytest.mark.parametrize(
    "cv, inner, pairs, said",
    [
        (2, "remaining", False, "needs at least 3 outer folds, got 2; use `cv=5`, or `inner=3`"),
        (3, "remaining", True, "`inner='remaining'` with two folds left out needs at least 4 outer folds, got 3"),
        (2, 2, True, "needs at least 3 outer folds"),
        (5, "others", False, "inner must be 'remaining', 'holdout', a number of folds or a splitter, got 'others'"),
        (5, [([0], [1])], False, "a list of splits cannot describe"),
        (TimeSeriesSplit(3), "remaining", False, "needs outer folds that test every row once"),
        (TimeSeriesSplit(3), 2, True, "the interval of Bates, Hastie and Tibshirani needs outer folds that test"),
        (5, 1, False, "inner must be .* or a number of folds of at least 2, got 1"),
    ],
    ids=["two", "three", "two-pairs", "name", "list", "time", "time-pairs", "one"],
)
def test_what_cannot_be_planned_is_refused(cv, inner, pairs, said):
    rows = task(24)
    with pytest.raises(InputError, match=said):
        nested_folds(rows, make_folds(rows, cv), inner, pairs=pairs)
