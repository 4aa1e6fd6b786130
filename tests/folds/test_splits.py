"""Splits: numbering into repeats and folds, what is refused, and what scikit-learn would give."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    check_cv,
)

from heldout.data.task import Task, truth_of
from heldout.errors import InputError
from heldout.folds.plans import k_folds
from heldout.folds.splits import Folds, Split, make_folds


def task_of(y: Any, groups: Any = None) -> Task:
    return Task(np.zeros((len(y), 1)), truth_of(y), None if groups is None else np.asarray(groups))


BALANCED = task_of(["no", "yes"] * 6)
NUMBERS = task_of(np.linspace(0.1, 0.9, 12))


def test_default_is_five_stratified_folds_unshuffled() -> None:
    task = task_of([0, 0, 1, 1, 0] * 6)
    folds = make_folds(task)
    expected = list(check_cv(None, task.truth.labels(), classifier=True).split(task.X, task.truth.labels()))
    assert folds.n_splits == 5 and folds.n_repeats == 1 and folds.is_partition and folds.exchangeable
    for split, (train, test) in zip(folds.splits, expected, strict=True):
        np.testing.assert_array_equal(split.train, train)
        np.testing.assert_array_equal(split.test, test)
    assert folds.n_training_rows == 24
    assert repr(folds) == "Folds(5 splits, 1 repeat of 30 rows, partition)"


def test_numbers_are_not_stratified() -> None:
    assert make_folds(NUMBERS, 3).labels.ravel().tolist() == [0] * 4 + [1] * 4 + [2] * 4


def test_repeats_shuffle_anew_each_time_and_the_same_each_call() -> None:
    folds = make_folds(BALANCED, 3, repeats=4, entropy=5)
    assert folds.n_splits == 12 and folds.n_repeats == 4 and folds.is_partition
    assert [(s.repeat, s.fold) for s in folds.splits] == [(r, f) for r in range(4) for f in range(3)]
    assert len({folds.labels[:, repeat].tobytes() for repeat in range(4)}) == 4
    assert folds.fingerprint() == make_folds(BALANCED, 3, repeats=4, entropy=5).fingerprint()
    assert folds.fingerprint() != make_folds(BALANCED, 3, repeats=4, entropy=6).fingerprint()
    stratified = [np.bincount(BALANCED.truth.values[split.test]).tolist() for split in folds.splits]
    assert stratified == [[2, 2]] * 12


def test_repeats_reseed_a_splitter_that_shuffles_and_leave_it_as_it_is() -> None:
    splitter = KFold(3, shuffle=True, random_state=9)
    folds = make_folds(NUMBERS, splitter, repeats=2)
    assert (folds.labels[:, 0] != folds.labels[:, 1]).any()
    assert splitter.random_state == 9


@pytest.mark.parametrize("splitter", [KFold(3), LeaveOneOut(), PredefinedSplit([0, 1] * 6), [([0], [1])]])
def test_repeats_of_what_cannot_be_reseeded_are_refused(splitter: Any) -> None:
    with pytest.raises(InputError, match="`repeats=2` needs a splitter that shuffles"):
        make_folds(NUMBERS, splitter, repeats=2)


def test_a_row_that_recurs_starts_a_new_repeat() -> None:
    rows = np.arange(6)
    pairs = [(rows[2:], rows[:2]), (rows[:4], rows[4:]), (rows[:4], rows[4:]), (rows[2:], rows[:2])]
    folds = make_folds(task_of([0.5, 1.5, 2, 3, 4, 5]), pairs)
    assert [(s.repeat, s.fold) for s in folds.splits] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert folds.labels.tolist() == [[0, 1], [0, 1], [-1, -1], [-1, -1], [1, 0], [1, 0]]
    assert not folds.is_partition
    assert repr(folds).endswith("incomplete)")


def test_repeated_k_fold_is_repeats_of_a_partition() -> None:
    folds = make_folds(NUMBERS, RepeatedKFold(n_splits=4, n_repeats=3, random_state=0))
    assert folds.is_partition and folds.n_repeats == 3


@given(st.integers(1, 8), st.integers(0, 1000), st.floats(0.1, 0.6))
def test_every_test_row_of_shuffle_splits_keeps_its_split(n_splits: int, seed: int, share: float) -> None:
    splitter = ShuffleSplit(n_splits, test_size=share, random_state=seed)
    folds = make_folds(NUMBERS, splitter)
    assert folds.n_splits == n_splits
    for split, (_, test) in zip(folds.splits, splitter.split(NUMBERS.X), strict=True):
        np.testing.assert_array_equal(folds.labels[test, split.repeat], split.fold)
    assert (folds.labels >= 0).sum() == sum(len(split.test) for split in folds.splits)


def test_time_order_is_flagged() -> None:
    assert not make_folds(NUMBERS, TimeSeriesSplit(3)).exchangeable
    by_hand = [(range(4), range(4, 8)), (range(8), range(8, 12))]
    assert not make_folds(NUMBERS, by_hand).exchangeable
    assert make_folds(NUMBERS, KFold(3)).exchangeable


def test_masks_name_rows_too() -> None:
    mask = np.arange(12) < 4
    (split,) = make_folds(NUMBERS, [(~mask, mask)]).splits
    assert split.test.tolist() == [0, 1, 2, 3]


def test_groups_reach_the_splitter() -> None:
    groups = np.repeat([1, 2, 3, 4], 3)
    folds = make_folds(task_of(np.arange(12) / 7, groups), GroupKFold(2))
    assert all(len(set(folds.labels[groups == group, 0])) == 1 for group in groups)


@pytest.mark.parametrize("cv", [None, 3, KFold(3), LeaveOneOut(), k_folds(3), [([0], [0])]])
def test_one_row_is_refused(cv: Any) -> None:
    with pytest.raises(InputError, match=r"tests on others, so it needs at least 2, got 1 sample\."):
        make_folds(task_of(np.array([0.5])), cv)


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_groups_on_both_sides_are_refused() -> None:
    with pytest.raises(InputError, match="split 0 has rows of group 'b' on both sides; use a splitter that keeps"):
        make_folds(task_of(np.arange(12) / 7, ["a"] * 3 + ["b"] * 3 + ["c"] * 6), KFold(3))


@pytest.mark.parametrize(
    ("cv", "words"),
    [
        (1, "cv must be at least 2, got 1; use an integer from 2 to 12"),
        (13, "cv must be at most the number of rows, 12, got 13"),
        ("five", "cv must be an integer of at least 2, 'auto', a splitter .* got 'five'"),
        ([], "the splitter gave no splits"),
        ([([0, 1], [1, 2])], "split 0 trains on rows that it tests"),
        ([([0, 1], [2, 2])], "split 0 tests a row twice"),
        ([([0, 1], [2]), ([], [2])], "split 1 has no training rows"),
        ([([0, 1], [])], "split 0 has no test rows"),
        ([([0, 1], [12])], "a split names row 12, but rows are numbered 0 to 11"),
        ([([-1, 1], [3])], "a split names row -1"),
        (GroupKFold(2), "the splitter GroupKFold.* refused the data: The 'groups' parameter should not be None"),
    ],
)
def test_unusable_splits_are_refused(cv: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        make_folds(NUMBERS, cv)


@pytest.mark.parametrize("repeats", [0, 1.5])
def test_repeats_are_counted(repeats: Any) -> None:
    with pytest.raises(InputError, match="repeats must be an integer of at least 1"):
        make_folds(NUMBERS, 3, repeats=repeats)


def test_a_class_smaller_than_the_folds_is_named() -> None:
    task = task_of(["rare"] * 2 + ["common"] * 10)
    with pytest.raises(InputError, match="class 'rare' has 2 rows, fewer than the 3 folds; use at most `cv=2`"):
        make_folds(task, 3)
    with pytest.warns(UserWarning, match="The least populated class in y has only 2 members"):
        assert make_folds(task, 3, small_classes="allow").n_splits == 3
    assert make_folds(task, StratifiedKFold(2)).n_splits == 2


def test_fingerprint_reads_training_rows_too() -> None:
    rows = np.arange(6)
    whole = Folds((Split(0, 0, rows[2:], rows[:2]),), 6)
    less = Folds((Split(0, 0, rows[3:], rows[:2]),), 6)
    assert whole.fingerprint() != less.fingerprint()


def test_fits_of_the_groups_of_a_splitter_are_counted_before_it_splits() -> None:
    class Splitter(LeaveOneGroupOut):
        def split(self, *_: Any, **__: Any) -> Any:
            raise AssertionError("it was asked to split")

    task = Task(np.zeros((40, 1)), truth_of([0, 1] * 20), groups=np.arange(40))
    with pytest.raises(InputError, match="40,000,000 fits"):
        make_folds(task, Splitter(), n_configurations=1_000_000)
