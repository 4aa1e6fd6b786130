"""LVQ1: steps by hand, and the same prototypes as R's package class from the same rows."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from heldout.errors import InputError
from heldout.spaces import LVQ1
from heldout_papers.spaces.lvq1 import learned

IRIS, SPECIES = load_iris(return_X_y=True)

ROWS = [67, 128, 42, 13, 50, 84, 20, 105, 73, 6, 72, 78, 36, 104, 109, 33, 105, 125, 88, 32, 83, 69, 73, 41, 110]
ROWS += [147, 19, 43, 120, 86, 69, 120, 39, 24, 118, 121, 38, 41, 133, 23, 13, 129, 44, 145, 21, 114, 103, 69, 69]
ROWS += [103, 102, 74, 12, 39, 88, 22, 109, 83, 102, 28]
"""What R draws by set.seed(1); sample(150, 60, TRUE), counted from 0."""


def test_two_steps_by_hand() -> None:
    X, codes = np.array([[2.0], [6.0]]), np.array([0, 1])
    # 2 is of the class of the prototype at 0, which goes half the way to it; 6 is nearest to the one at 5, of the
    # other class, which goes a quarter of their distance away from it.
    found = learned(X, codes, np.array([[0.0], [5.0]]), np.array([0, 0]), np.array([0, 1]), 0.5)
    np.testing.assert_allclose(found, [[1.0], [4.75]])


def test_iris_as_in_r() -> None:
    begin = [0, 1, 50, 51, 100, 101]
    found = learned(IRIS, SPECIES, IRIS[begin], SPECIES[begin], np.array(ROWS), 0.3)
    expected = [
        [5.132682421, 3.610094156, 1.574958818, 0.2919014274],
        [4.550090753, 2.933284568, 1.288830916, 0.2108465195],
        [7.029550000, 3.184500000, 4.639160000, 1.3242400000],
        [5.849160601, 2.782020378, 4.258162094, 1.2467723185],
        [7.082251543, 3.096926334, 6.078242073, 2.1672072791],
        [5.926194806, 2.828999843, 5.191091378, 2.0264884883],
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_learning_separates_classes_that_means_do_not() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 0], 60)
    X = np.repeat([0.0, 5.0, 10.0], 60)[:, None] + rng.normal(scale=0.5, size=(180, 1))

    assert LVQ1(1, random_state=0).fit(X, y).score(X, y) < 0.8
    assert LVQ1(4, learning_rate=0.1, random_state=0).fit(X, y).score(X, y) == 1


def test_the_seed_decides_and_labels_are_the_classes() -> None:
    species = np.array(["s", "e", "v"])[SPECIES]
    first, again, other = (LVQ1(2, random_state=seed).fit(IRIS, species) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.prototypes_, again.prototypes_)
    assert (first.prototypes_ != other.prototypes_).any()
    assert first.prototype_labels_.tolist() == ["e", "e", "s", "s", "v", "v"]
    assert first.predict(IRIS[:1]).tolist() == ["s"]


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("n_prototypes", 0, "an integer of at least 1, got 0"),
        ("n_prototypes", 1.5, "an integer of at least 1, got 1.5"),
        ("learning_rate", 0.0, "a number above 0 and at most 1, got 0.0"),
        ("learning_rate", 2, "a number above 0 and at most 1, got 2"),
        ("steps_per_prototype", True, "an integer of at least 1, got True"),
    ],
)
def test_parameters_without_meaning_are_refused(name: str, value: object, allowed: str) -> None:
    with pytest.raises(InputError, match=f"{name} must be {allowed}"):
        LVQ1(**{name: value}).fit(IRIS, SPECIES)
