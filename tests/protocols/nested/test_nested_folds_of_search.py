"""The folds of nested cross-validation of a search object: an equal ``cv`` is no other one."""

from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import KFold, RandomizedSearchCV, ShuffleSplit, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

import heldout as ho

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 3)), np.arange(60) % 2
GRID = {"max_depth": [1, 3]}
TREE = DecisionTreeClassifier(random_state=0)
K, C = 3, 2
FOLDS = [(np.setdiff1d(np.arange(60), test), test) for test in np.array_split(np.arange(60), K)]


def searches(cv: Any) -> list[Any]:
    return [
        ho.HeldOutSearchCV(TREE, GRID, cv=cv, random_state=0),
        RandomizedSearchCV(TREE, GRID, n_iter=C, cv=cv, random_state=0),
    ]


@pytest.mark.parametrize(
    ("own", "passed"),
    [
        (K, K),
        (KFold(K), KFold(K)),
        (StratifiedKFold(K, shuffle=True, random_state=1), StratifiedKFold(K, shuffle=True, random_state=1)),
        (FOLDS, [(train.copy(), test.copy()) for train, test in FOLDS]),
    ],
    ids=["number", "splitter", "seeded", "splits"],
)
def test_an_equal_cv_makes_the_outer_folds_alone(own: Any, passed: Any) -> None:
    for search in searches(own):
        alone, both = (
            ho.nested_cv(search, X, Y, random_state=0),
            ho.nested_cv(search, X, Y, cv=passed, random_state=0),
        )
        assert both.n_fits == alone.n_fits == K * K * C + K + 1
        assert both.value == alone.value


@pytest.mark.parametrize("passed", [KFold(K, shuffle=True, random_state=1), StratifiedKFold(K), 4])
def test_another_cv_makes_the_outer_folds_and_that_of_the_search_the_inner_ones(passed: Any) -> None:
    n_outer = passed if isinstance(passed, int) else K
    for search in searches(KFold(K)):
        assert ho.nested_cv(search, X, Y, cv=passed, random_state=0).n_fits == (n_outer + 1) * K * C + n_outer + 1


def test_new_inner_folds_are_named() -> None:
    found = ho.nested_cv(searches(K)[0], X, Y, cv=K, inner=K)
    assert found.n_fits == K * K * C + K * C + K + 1


def test_an_equal_splitter_beside_a_search_is_no_contradiction() -> None:
    search = ho.HeldOutSearchCV(TREE, GRID, cv=KFold(3), random_state=0)
    found = ho.bootstrap_search(search, X, Y, cv=KFold(3), n_bootstraps=5)
    assert found.value == ho.bootstrap_search(search, X, Y, n_bootstraps=5).value
    with pytest.raises(ho.InputError, match="has `cv="):
        ho.bootstrap_search(search, X, Y, cv=KFold(3, shuffle=True, random_state=0), n_bootstraps=5)


@pytest.mark.parametrize("folds", [2, KFold(2), ShuffleSplit(3, test_size=0.25, random_state=0)])
def test_an_equal_cv_without_remaining_folds_makes_the_inner_ones_too(folds: Any) -> None:
    for search in searches(folds):
        n_outer = 3 if isinstance(folds, ShuffleSplit) else 2
        found = ho.nested_cv(search, X, X[:, 0] + X[:, 1] > 0, cv=folds, random_state=0)
        assert found.n_fits == (n_outer + 1) * n_outer * C + n_outer + 1
        with pytest.raises(ho.InputError, match="outer folds"):
            ho.nested_cv(search, X, Y, random_state=0)
