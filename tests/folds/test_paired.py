"""Paired subsampling: its splits, by hand and by count, and what it refuses."""

import numpy as np
import pytest

import heldout as ho
from heldout.data.task import Task, truth_of
from heldout.folds.plans import PairedHoldOut
from heldout.folds.splits import make_folds


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
