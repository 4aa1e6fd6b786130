"""Nearest prototypes: the rule by hand and as one nearest neighbour, and where learning begins."""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from heldout.spaces import GLVQ
from heldout_papers.spaces.prototypes import first_prototypes

IRIS, SPECIES = load_iris(return_X_y=True)


def model(points: list[float], labels: list[str]) -> GLVQ:
    """Prototypes given, not found."""
    made = GLVQ().fit([[0.0], [1.0], [2.0]], ["a", "b", "c"][: len(set(labels))] + ["a"] * (3 - len(set(labels))))
    made.prototypes_, made.prototype_labels_ = np.array(points)[:, None], np.array(labels)
    return made


def test_relative_distances_by_hand() -> None:
    two = model([0.0, 10.0, 3.0], ["a", "a", "b"])
    # Of 1: squared distances 1 to a and 4 to b; of 8: 4 (not 64) and 25; of 1.5 the same to both.
    np.testing.assert_allclose(two.decision_function([[1.0], [8.0], [1.5], [3.0]]), [-3 / 5, -21 / 29, 0, 1])
    assert two.predict([[1.0], [8.0], [1.5], [3.0]]).tolist() == ["a", "a", "a", "b"]

    three = model([0.0, 3.0, 4.0], ["a", "b", "c"])
    np.testing.assert_allclose(
        three.decision_function([[1.0], [3.5]]), [[3 / 5, -3 / 5, -8 / 10], [-12 / 12.5, 0, 0]], rtol=1e-12
    )
    assert three.predict([[1.0], [3.5]]).tolist() == ["a", "b"]


def test_a_row_at_prototypes_of_two_classes_scores_zero() -> None:
    assert model([0.0, 0.0], ["a", "b"]).decision_function([[0.0], [1.0]]).tolist() == [0, 0]


def test_it_is_the_nearest_neighbour_among_the_prototypes() -> None:
    found = GLVQ(n_prototypes=3, random_state=0, max_iter=5).fit(IRIS, SPECIES)
    neighbour = KNeighborsClassifier(1).fit(found.prototypes_, found.prototype_labels_)
    assert (found.predict(IRIS) == neighbour.predict(IRIS)).all()
    assert (found.decision_function(IRIS).argmax(axis=1) == neighbour.predict(IRIS)).all()


def test_learning_begins_at_means_or_at_distinct_rows() -> None:
    X = np.array([[1.0], [1.0], [4.0], [7.0], [9.0], [8.0]])
    codes = np.array([0, 0, 0, 1, 1, 1])

    points, labels = first_prototypes(X, codes, 1, np.random.default_rng(0))
    np.testing.assert_allclose(points, [[2.0], [8.0]])
    assert labels.tolist() == [0, 1]

    points, labels = first_prototypes(X, codes, 3, np.random.default_rng(0))
    assert points.ravel().tolist() == [1, 4, 7, 8, 9]
    assert labels.tolist() == [0, 0, 1, 1, 1]

    begun = [tuple(first_prototypes(X, codes, 2, np.random.default_rng(k))[0].ravel()) for k in range(200)]
    assert set(begun) == {(1, 4, 7, 8), (1, 4, 7, 9), (1, 4, 8, 9)}
    # Far apart: 7 and 9 follow from 7 with 4 in 5, from 9 likewise, and from 8 never; of 200, 107 expected, sd 7.
    assert 79 < begun.count((1, 4, 7, 9)) < 135


def test_rows_too_near_for_a_number_are_one() -> None:
    X = np.array([[0.0], [1e-200], [1.0], [2.0]])
    points, labels = first_prototypes(X, np.array([0, 0, 1, 1]), 2, np.random.default_rng(0))
    assert len(points) == 3
    assert labels.tolist() == [0, 1, 1]
