import numpy as np
import pytest

from heldout.data.task import Task, truth_of
from heldout.dropping.sequential import growing_splits
from heldout.errors import InputError


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


@pytest.mark.parametrize("seed", range(5))
def test_every_step_trains_and_tests_on_each_class_in_its_share(seed):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1, 2], [11, 40, 149]))
    folds = growing_splits(task_of(y), 10, entropy=seed)
    for step, split in enumerate(folds.splits, start=1):
        counts = np.bincount(y[split.train], minlength=3)
        assert (np.abs(counts - np.array([11, 40, 149]) * step / 11) <= 1.5).all()
        assert counts.min() >= 1 and np.bincount(y[split.test], minlength=3).min() >= 1


@pytest.mark.parametrize("n_classes", [2, 5, 20])
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
