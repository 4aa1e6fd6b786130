"""Training sizes and subsamples: counts, proportions, nesting, groups, and what is refused."""

import itertools

import numpy as np
import pytest

import heldout as ho
from heldout.data.task import Task, TaskKind, truth_of
from heldout.protocols.learning_curve import subsampled_folds, training_counts

COUNTS = (12, 20, 33, 48)


def task_of(y, groups=None, kind=None):
    return Task(np.zeros((len(y), 1)), truth_of(y, kind), groups=groups)


def by_size(folds, n_sizes):
    """The splits of each repetition, from the smallest size to the largest."""
    n = folds.n_splits // n_sizes
    return [[folds.splits[size * n + repetition] for size in range(n_sizes)] for repetition in range(n)]


def test_shares_and_numbers_are_counts():
    assert training_counts((0.2, 0.5, 0.8), 60) == (12, 30, 48)
    assert training_counts(np.array([10, 20]), 60) == (10, 20)


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ((0.5,), "at least 2"), ("0.2", "at least 2"), (0.5, "at least 2"), ((0.5, 0.2), "must ascend"),
        ((0.5, 0.501), "must ascend"), ((0.01, 0.5), "share between 0 and 1, or from 2 to 59"),
        ((10, 60), "got 60"), ((0.5, 1.0), "got 1.0"), ((True, 5), "got True"),
    ],
    ids=str,
)  # fmt: skip
def test_sizes_that_cannot_be_are_refused(sizes, said):
    with pytest.raises(ho.InputError, match=said):
        training_counts(sizes, 60)


def test_every_size_holds_the_smaller_ones_keeps_the_classes_and_tests_the_rest():
    y = np.r_[np.zeros(42, int), np.ones(18, int)]
    folds = subsampled_folds(task_of(y), COUNTS, 5, 0)
    for splits in by_size(folds, 4):
        for count, split in zip(COUNTS, splits, strict=True):
            assert len(split.train) == count
            assert abs(y[split.train].sum() - 0.3 * count) <= 1
            assert sorted([*split.train, *split.test]) == list(range(60))
        for smaller, larger in itertools.pairwise(splits):
            assert set(smaller.train) < set(larger.train)


def test_a_repetition_is_the_same_however_many_there_are():
    y = np.resize([0, 1], 60)
    few, many = (by_size(subsampled_folds(task_of(y), COUNTS, n, 7), 4) for n in (2, 6))
    for mine, theirs in zip(few, many[:2], strict=True):
        assert all((a.train == b.train).all() for a, b in zip(mine, theirs, strict=True))
    assert any((a[0].train != b[0].train).any() for a, b in itertools.pairwise(many))


def test_every_row_trains_as_often_as_any_other():
    y = np.resize([0, 1], 60)
    folds = subsampled_folds(task_of(y), (15, 30), 400, 1)
    times = np.bincount(np.concatenate([split.train for split in folds.splits[:400]]), minlength=60)
    # 400 draws of a quarter: binomial, standard error 8.7; the largest of 60 is beyond 5 of them once in 10 000.
    assert np.abs(times - 100).max() < 5 * 8.7


def test_numbers_are_drawn_without_classes():
    folds = subsampled_folds(task_of(np.linspace(0, 1, 60), kind=TaskKind.REGRESSION), COUNTS, 3, 0)
    assert [len(split.train) for split in folds.splits] == list(np.repeat(COUNTS, 3))


def test_groups_stay_whole_and_sizes_are_near():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 25, size=100)
    y = (groups + rng.integers(0, 2, size=100)) % 2
    folds = subsampled_folds(task_of(y, groups), (20, 50, 80), 4, 0)
    assert folds.grouped
    for splits in by_size(folds, 3):
        for count, split in zip((20, 50, 80), splits, strict=True):
            assert not set(groups[split.train]) & set(groups[split.test])
            assert abs(len(split.train) - count) <= 4
        assert set(splits[0].train) < set(splits[1].train) < set(splits[2].train)


def test_groups_that_give_too_few_sizes_are_refused():
    with pytest.raises(ho.InputError, match="3 groups cannot be divided so that they give 3 training sizes"):
        subsampled_folds(task_of(np.resize([0, 1], 30), np.repeat([0, 1, 2], 10)), (6, 12, 20), 2, 0)


def test_a_class_without_a_row_is_refused():
    y = np.r_[np.zeros(57, int), np.ones(3, int)]
    with pytest.raises(ho.InputError, match="class 1 has 3 of 60 rows, none of them among the 6 to train on"):
        subsampled_folds(task_of(y), (6, 30), 2, 0)
    with pytest.raises(ho.InputError, match="none of them among the 3 to test"):
        subsampled_folds(task_of(y), (30, 57), 2, 0)
