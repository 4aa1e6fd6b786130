"""Random k-nearest neighbours: votes counted by hand, and scikit-learn's classifiers where these are the same."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from heldout.errors import InputError
from heldout.spaces import RandomSubspaceKNN
from heldout_papers.spaces.random_subspace_knn import nearest

IRIS, SPECIES = load_iris(return_X_y=True)


def test_votes_by_hand() -> None:
    X = np.array([[0.0, 9.0], [1.0, 8.0], [2.0, 1.0], [3.0, 0.0]])
    y = ["a", "a", "b", "b"]
    model = RandomSubspaceKNN(1, n_estimators=40, max_features=1, random_state=2).fit(X, y)
    by_first = (model.subspaces_ == 0).mean()

    # The first row is near a by both columns; the second is near a by the first column, b by the second.
    assert 0 < by_first < 1
    np.testing.assert_allclose(model.predict_proba([[0.4, 9], [0.4, 0.2]]), [[1, 0], [by_first, 1 - by_first]])
    assert model.predict([[0.4, 9], [0.4, 0.2]]).tolist() == ["a", "a" if by_first >= 0.5 else "b"]


def test_a_choice_has_one_vote_however_clear_it_is() -> None:
    X = np.array([[0.0, 0.0], [0.0, 0.1], [0.1, 0.0], [1.0, 0.9], [0.9, 1.0], [1.0, 1.0]])
    y = [0, 0, 1, 1, 1, 1]
    model = RandomSubspaceKNN(3, n_estimators=7, max_features=2, random_state=0).fit(X, y)
    # The three nearest are of classes 0, 0 and 1: a vote for 0, where shares would say a third for 1.
    assert model.predict_proba([[0.0, 0.0]]).tolist() == [[1, 0]]


@pytest.mark.parametrize("k", [1, 5])
def test_with_all_columns_it_is_k_nearest_neighbours(k: int) -> None:
    rng = np.random.default_rng(0)
    X = IRIS + rng.normal(scale=1e-6, size=IRIS.shape)
    model = RandomSubspaceKNN(k, n_estimators=3, max_features=1.0, random_state=0).fit(X, SPECIES)
    rows = X + rng.normal(scale=0.5, size=X.shape)
    expected = KNeighborsClassifier(k).fit(X, SPECIES).predict_proba(rows)
    clear = np.sort(expected)[:, -1] > np.sort(expected)[:, -2]
    assert clear.sum() > 140
    assert (model.predict(rows) == expected.argmax(axis=1))[clear].all()


@pytest.mark.parametrize("k", [1, 4, 50])
def test_each_choice_is_k_nearest_neighbours_in_its_columns(k: int) -> None:
    rng = np.random.default_rng(3)
    X, rows = rng.normal(size=(2, 50, 6))
    y = np.arange(50) % 3
    model = RandomSubspaceKNN(k, n_estimators=30, random_state=4).fit(X, y)
    said = [KNeighborsClassifier(k).fit(X[:, one], y).predict(rows[:, one]) for one in model.subspaces_]
    shares = np.stack([(np.array(said) == code).mean(axis=0) for code in range(3)], axis=1)
    np.testing.assert_allclose(model.predict_proba(rows), shares)


def test_several_numbers_of_neighbours_at_once_are_each_by_itself() -> None:
    model = RandomSubspaceKNN(n_estimators=20, random_state=4).fit(IRIS, SPECIES)
    each = [RandomSubspaceKNN(k, 20, random_state=4).fit(IRIS, SPECIES).predict_proba(IRIS) for k in (7, 2, 150)]
    np.testing.assert_allclose(model.votes(IRIS, [7, 2, 150]) / 20, each)


def test_of_rows_equally_far_the_first_is_nearer() -> None:
    distances = np.array([[2.0, 1.0, 2.0, 2.0, 0.0], [1.0, 1.0, 1.0, 1.0, 1.0]])
    assert nearest(distances, 3).tolist() == [[4, 1, 0], [0, 1, 2]]
    assert nearest(distances, 5).tolist() == [[4, 1, 0, 2, 3], [0, 1, 2, 3, 4]]


@pytest.mark.parametrize(("asked", "columns"), [("sqrt", 3), (4, 4), (0.5, 5), (0.01, 1), (1, 1), (1.0, 10)])
def test_how_many_columns_are_drawn(asked: object, columns: int) -> None:
    rng = np.random.default_rng(1)
    model = RandomSubspaceKNN(n_estimators=200, max_features=asked, random_state=0)
    drawn = model.fit(rng.normal(size=(12, 10)), np.arange(12) % 2).subspaces_
    assert drawn.shape == (200, columns)
    assert all(len(set(one)) == columns for one in drawn)
    # Each column is expected in 200 * columns / 10 choices, at most 5 standard deviations (7.1) from that.
    assert np.abs(np.bincount(drawn.ravel(), minlength=10) - 20 * columns).max() < 36


def test_columns_that_tell_nothing_hurt_less_than_in_all_columns() -> None:
    rng = np.random.default_rng(5)
    y = np.arange(300) % 2
    X = np.column_stack([y[:, None] + rng.normal(scale=0.7, size=(300, 6)), rng.normal(scale=2, size=(300, 30))])
    all_columns = KNeighborsClassifier(1).fit(X[:200], y[:200]).score(X[200:], y[200:])
    some = RandomSubspaceKNN(random_state=0).fit(X[:200], y[:200]).score(X[200:], y[200:])
    assert some > all_columns + 0.1


def test_what_cannot_be_fitted_is_refused() -> None:
    with pytest.raises(InputError, match="n_neighbors must be at most the 150 rows, got 151"):
        RandomSubspaceKNN(151).fit(IRIS, SPECIES)
    with pytest.raises(InputError, match="max_features must be at most the 4 columns, got 5; a share always fits"):
        RandomSubspaceKNN(max_features=5).fit(IRIS, SPECIES)
    for value in (0, -1, 0.0, 1.5, "all", True, None):
        with pytest.raises(InputError, match="max_features must be a whole number of at least 1, a share above 0"):
            RandomSubspaceKNN(max_features=value).fit(IRIS, SPECIES)
    with pytest.raises(InputError, match="n_estimators must be an integer of at least 1, got 0"):
        RandomSubspaceKNN(n_estimators=0).fit(IRIS, SPECIES)
