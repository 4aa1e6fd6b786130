"""``cv="auto"``: as many folds as the smallest class allows."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import heldout as ho
from heldout.data.task import Task, truth_of
from heldout.errors import InputError
from heldout.folds.plans import auto_folds, number_of_folds
from heldout.folds.splits import make_folds

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
    search = ho.HeldOutSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv="auto", random_state=0)
    search.fit(X, RARE)
    folds = search.predictions_.folds[:, 0]
    assert search.n_splits_ == 4
    assert [int(RARE[folds == fold].sum()) for fold in range(4)] == [1, 1, 1, 1]
    # The same folds as the plan of so many folds with the seed of the run.
    same = ho.HeldOutSearchCV(
        KNeighborsClassifier(), {"n_neighbors": [1, 3]}, cv=ho.protocols.k_folds(4), random_state=0
    ).fit(X, RARE)
    assert np.array_equal(same.predictions_.folds, search.predictions_.folds)


def test_numbers_have_no_classes() -> None:
    search = ho.HeldOutSearchCV(KNeighborsRegressor(), cv="auto", repeats=2, random_state=0).fit(X, X[:, 0])
    assert search.n_splits_ == 20


def test_protocols_take_it() -> None:
    grid = {"n_neighbors": [1, 3]}
    nested = ho.nested_cv(KNeighborsClassifier(), X, RARE, grid, cv="auto", random_state=0)
    assert nested.n_fits == 4 * 4 * 2 + 4 + 1
    sampled = ho.bootstrap_search(
        KNeighborsClassifier(), X, np.array([0, 1] * 20), grid, cv="auto", n_bootstraps=2, random_state=0
    )
    assert len(sampled.bootstraps) == 2


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
