"""Bootstrap samples of a search: what trains never tests, and copies of a row stay together."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit, StratifiedKFold

from heldout._streams import stream
from heldout.data.task import Task, TaskKind, truth_of
from heldout.errors import InputError
from heldout.folds.plans import hold_out, k_folds, leave_one_out, repeated
from heldout.folds.splits import make_folds
from heldout.metrics import metric_named
from heldout.protocols.drawn_rows import Demands, draw, drawn_rows
from heldout.protocols.search_bootstrap import folds_of_models, samples_of_search

N = 36
LABELS = np.array([0, 0, 1] * 12)
GROUPS = np.random.default_rng(1).permutation(np.repeat(np.arange(12), 3))
METRIC = metric_named("roc_auc")
SPLITTERS: dict[str, Any] = {
    "integer": 3,
    "default": None,
    "stratified": StratifiedKFold(3),
    "shuffled": KFold(3, shuffle=True),
    "subsamples": ShuffleSplit(3, test_size=0.3),
    "rows": LeaveOneOut(),
    "plan": k_folds(3),
    "repeated plan": repeated(3, 2),
    "hold-out": hold_out(0.3),
    "groups out": leave_one_out(),
    "list": [(np.arange(12, 36), np.arange(12)), (np.arange(24), np.arange(24, 36))],
}


def task_of(groups: np.ndarray | None = None) -> Task:
    return Task(np.arange(float(N))[:, None], truth_of(LABELS, TaskKind.BINARY), groups)


@pytest.mark.parametrize("name", SPLITTERS)
@given(entropy=st.integers(0, 2**64 - 1))
@settings(max_examples=3)
def test_no_row_is_on_both_sides(name: str, entropy: int) -> None:
    grouped = name in ("integer", "plan", "repeated plan", "hold-out", "groups out")
    for task in [task_of()] + ([task_of(GROUPS)] if grouped else []):
        cv = k_folds(3) if name == "integer" and task.groups is not None else SPLITTERS[name]
        folds = make_folds(task, cv, entropy=entropy)
        drawn = draw(Demands(task, [METRIC], 2), 3, stream(entropy, "draws"))
        samples = samples_of_search(task, folds, drawn, cv, entropy, classifier=True)
        places = [(split.repeat, split.fold) for split in folds.splits]
        for sample in samples:
            bag = drawn_rows(sample.counts)
            assert sample.refit.train.tolist() == bag.tolist()
            assert sorted({*bag, *sample.refit.test}) == list(range(N))
            assert not set(bag) & set(sample.refit.test)
            for split in sample.inner:
                assert not set(split.train) & set(split.test)
                for side in (split.train, split.test):  # each row as often as it was drawn
                    rows, times = np.unique(side, return_counts=True)
                    assert times.tolist() == sample.counts[rows].tolist()
                if task.groups is not None:
                    assert not set(task.groups[split.train]) & set(task.groups[split.test])
            if task.groups is not None:
                assert not set(task.groups[bag]) & set(task.groups[sample.refit.test])
            places += [(split.repeat, split.fold) for split in (*sample.inner, sample.refit)]
        assert len(set(places)) == len(places), "every split has a place of its own"
        again = samples_of_search(task, folds, drawn, cv, entropy, classifier=True)
        assert [s.train.tolist() for one in samples for s in one.inner] == [
            s.train.tolist() for one in again for s in one.inner
        ]


def test_draws_are_those_of_philox() -> None:
    drawn = draw(Demands(task_of(), [], 1), 3, stream(11, "draws"))
    for b in range(3):
        raw = np.random.Philox(key=np.array([stream(11, "draws"), b], dtype=np.uint64)).random_raw(N)
        rows = [int(word) * N >> 64 for word in raw.tolist()]
        assert drawn.counts[b].tolist() == np.bincount(rows, minlength=N).tolist()


def test_each_class_is_drawn_twice_where_the_sample_is_searched() -> None:
    labels = np.array([0] * 30 + [1] * 4)
    task = Task(np.zeros((34, 1)), truth_of(labels, TaskKind.BINARY))
    drawn = draw(Demands(task, [METRIC], 2), 50, 0)
    assert drawn.redraws > 0
    rare = drawn.counts[:, labels == 1]
    assert (np.count_nonzero(rare, axis=1) >= 2).all()
    assert (rare == 0).any(axis=1).all()


def test_a_sample_that_cannot_be_divided_names_the_bootstrap() -> None:
    task = task_of()
    drawn = draw(Demands(task, [METRIC], 1), 2, 0)
    with pytest.raises(
        InputError, match=r"bootstrap 0 drew \d+ of 36 rows, which cannot be searched: .* fewer folds"
    ):
        samples_of_search(task, make_folds(task, KFold(36)), drawn, KFold(36), 0)


def test_models_have_a_repeat_a_sample() -> None:
    task = task_of()
    drawn = draw(Demands(task, [METRIC], 1), 4, 5)
    folds = folds_of_models(task, drawn)
    assert [(split.repeat, split.fold) for split in folds.splits] == [(0, 0), (1, 0), (2, 0), (3, 0)]
    assert np.array_equal(folds.labels == 0, drawn.counts.T == 0)
