"""GLVQ: its cost by hand, its gradient by differences, its minimum."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from heldout.errors import InputError
from heldout.spaces import GLVQ
from heldout_papers.spaces.glvq import cost_and_gradient

IRIS, SPECIES = load_iris(return_X_y=True)


def test_cost_by_hand() -> None:
    X, codes = np.array([[1.0], [3.0], [0.0]]), np.array([0, 1, 1])
    # Prototypes at 0 and 3: (1 - 4) / 5, (0 - 9) / 9, (9 - 0) / 9.
    cost, gradient = cost_and_gradient(X, codes, np.array([[0.0], [3.0]]), np.array([0, 1]), 2.0)
    expected = [1 / (1 + np.exp(-2 * m)) for m in (-3 / 5, -1, 1)]
    assert cost == pytest.approx(np.mean(expected))
    # Only the first row pulls: 2 s (1 - s) / 3 times 2 * 4 / 25 at the right prototype and -2 * 1 / 25 at the
    # wrong, times -2 (1 - 0) and -2 (1 - 3). The others are at one prototype, however far the other is.
    slope = 2 * expected[0] * (1 - expected[0]) / 3
    np.testing.assert_allclose(gradient, [[slope * 8 / 25 * -2], [slope * -2 / 25 * 4]])


@pytest.mark.parametrize("per_class", [1, 3])
def test_gradient_by_differences(per_class: int) -> None:
    rng = np.random.default_rng(per_class)
    labels = np.repeat([0, 1, 2], per_class)
    points = IRIS[rng.permutation(150)[: len(labels)]] + rng.normal(scale=0.1, size=(len(labels), 4))

    def cost(flat: np.ndarray) -> float:
        return cost_and_gradient(IRIS, SPECIES, flat.reshape(points.shape), labels, 3.0)[0]

    def gradient(flat: np.ndarray) -> np.ndarray:
        return cost_and_gradient(IRIS, SPECIES, flat.reshape(points.shape), labels, 3.0)[1].ravel()

    assert np.abs(gradient(points.ravel())).max() > 1e-3
    assert check_grad(cost, gradient, points.ravel()) < 1e-6


def test_the_cost_is_at_a_minimum_and_below_that_of_the_means() -> None:
    model = GLVQ(steepness=3.0, max_iter=1000).fit(IRIS, SPECIES)
    means = np.array([IRIS[SPECIES == k].mean(axis=0) for k in range(3)])

    cost, gradient = cost_and_gradient(IRIS, SPECIES, model.prototypes_, model.prototype_labels_, 3.0)
    assert cost == pytest.approx(model.cost_)
    assert np.abs(gradient).max() < 1e-3
    assert model.cost_ < 0.95 * cost_and_gradient(IRIS, SPECIES, means, np.arange(3), 3.0)[0]
    assert 1 < GLVQ(max_iter=3).fit(IRIS, SPECIES).n_iter_ <= 3


def test_moving_and_stretching_all_columns_alike_changes_nothing() -> None:
    plain = GLVQ(max_iter=10).fit(IRIS, SPECIES)
    other = GLVQ(max_iter=10).fit(IRIS * 1e6 - 5e5, SPECIES)
    np.testing.assert_allclose(other.prototypes_, plain.prototypes_ * 1e6 - 5e5, rtol=1e-5)


def test_it_classifies_as_well_as_expected() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    assert cross_val_score(make_pipeline(StandardScaler(), GLVQ()), X, y).mean() > 0.96
    middle = np.repeat([0, 1, 0], 20)
    line = np.linspace(0, 30, 60)[:, None]
    assert GLVQ(1).fit(line, middle).score(line, middle) < 0.8
    reached = [GLVQ(2, random_state=seed).fit(line, middle).score(line, middle) for seed in range(10)]
    assert min(reached) > 0.95


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("n_prototypes", 0, "an integer of at least 1, got 0"),
        ("steepness", 0, "a number above 0, got 0"),
        ("steepness", float("inf"), "a number above 0, got inf"),
        ("max_iter", 0, "an integer of at least 1, got 0"),
    ],
)
def test_parameters_without_meaning_are_refused(name: str, value: object, allowed: str) -> None:
    with pytest.raises(InputError, match=f"{name} must be {allowed}"):
        GLVQ(**{name: value}).fit(IRIS, SPECIES)
