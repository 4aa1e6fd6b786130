"""Boosted linear classifiers: an iteration by hand, as R's bst 0.3-24 says, and where it leads in the end."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from heldout.errors import InputError
from heldout.spaces import BoostedLinear

IRIS, SPECIES = load_iris(return_X_y=True)
FEW = [*range(50, 70), *range(100, 120), *range(120, 130)]


def test_an_iteration_by_hand() -> None:
    X, y = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [5.0, 1.0]]), [0, 0, 0, 1]
    model = BoostedLinear(n_iterations=1, learning_rate=0.5).fit(X, y)
    # From log(1/3) the gradients are -1/4, -1/4, -1/4 and 3/4, with mean 0. On the first column, less its mean 2,
    # the slope is (2 + 1 + 0 + 9) / 4 / (4 + 1 + 0 + 9) = 3 / 14, halved by the rate; the second is constant.
    np.testing.assert_allclose(model.coef_, [[3 / 28, 0]])
    np.testing.assert_allclose(model.intercept_, [np.log(1 / 3) - 2 * 3 / 28])
    assert model.losses_[0, 0] == pytest.approx(-(3 * np.log(3 / 4) + np.log(1 / 4)) / 4)

    hinge = BoostedLinear("hinge", n_iterations=1, learning_rate=0.5).fit(X, y)
    # From 0 the gradients are -1, -1, -1 and 1, with mean -1/2; the slope is (2 + 1 + 3) / 14.
    np.testing.assert_allclose(hinge.coef_, [[3 / 14, 0]])
    np.testing.assert_allclose(hinge.intercept_, [-1 / 4 - 2 * 3 / 14])
    assert hinge.losses_.shape == (1, 2)
    assert hinge.losses_[0, 0] == 1


R_CASES = {
    "logistic": (
        [0, 0, 0.11009019174, 1.95510989107],
        0.420308526563,
        [0.656950476105, 0.641650721913, 0.403937590001],
        [-0.2727710068464, -0.0992780560878, 0.2393501822801],
    ),
    "hinge": (
        [0, 0, 0.512906640169, 2.169116396589],
        0.294,
        [0.930974952018, 0.861949904035, 0.238689302119],
        [-0.617182893482, -0.502852581857, 0.380837690022],
    ),
}


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_iris_as_in_r(loss: str) -> None:
    # R's steps are half as long (its cost is 0.5), so that its nu is 0.2; and its lines have no intercept of their
    # own, so that columns are centred.
    X = IRIS[FEW] - IRIS[FEW].mean(axis=0)
    coef, intercept, losses, scores = R_CASES[loss]
    model = BoostedLinear(loss, n_iterations=30, learning_rate=0.1).fit(X, SPECIES[FEW])

    np.testing.assert_allclose(model.coef_[0], coef, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.intercept_, [intercept], rtol=1e-9)
    np.testing.assert_allclose(model.losses_[0, [1, 2, 30]], losses, rtol=1e-9)
    np.testing.assert_allclose(model.decision_function(X[[0, 1, 49]]), scores, rtol=1e-9)


def test_in_the_end_it_is_logistic_regression() -> None:
    X, y = IRIS[50:, :2], SPECIES[50:]
    model = BoostedLinear(n_iterations=4000, learning_rate=1.0).fit(X, y)
    best = LogisticRegression(C=1e9, tol=1e-10, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(model.coef_, best.coef_, rtol=1e-3)
    np.testing.assert_allclose(model.predict_proba(IRIS[:, :2]), best.predict_proba(IRIS[:, :2]), atol=1e-4)
    assert (np.diff(model.losses_[0]) <= 1e-12).all()


def test_stopped_early_few_columns_have_weight() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    few, more = (BoostedLinear(n_iterations=n).fit(X[::2], y[::2]) for n in (10, 300))
    assert (few.coef_ != 0).sum() < (more.coef_ != 0).sum() < 30
    assert roc_auc_score(y[1::2], more.decision_function(X[1::2])) > 0.98


def test_the_scale_of_a_column_changes_its_coefficient_alone() -> None:
    scale = np.array([1e6, 1, 1e-6, 10])
    plain, other = (BoostedLinear(n_iterations=20).fit(X, SPECIES) for X in (IRIS, IRIS * scale + 3))
    np.testing.assert_allclose(other.coef_ * scale, plain.coef_, rtol=1e-6)
    np.testing.assert_allclose(other.predict_proba(IRIS * scale + 3), plain.predict_proba(IRIS), rtol=1e-6)


def test_each_of_three_classes_is_compared_with_all_others() -> None:
    model = BoostedLinear(n_iterations=50).fit(IRIS, SPECIES)
    alone = [BoostedLinear(n_iterations=50).fit(IRIS, SPECIES == k) for k in range(3)]
    np.testing.assert_allclose(model.coef_, [one.coef_[0] for one in alone])
    against = np.column_stack([one.predict_proba(IRIS)[:, 1] for one in alone])
    np.testing.assert_allclose(model.predict_proba(IRIS), against / against.sum(axis=1, keepdims=True))
    assert model.score(IRIS, SPECIES) > 0.8


@pytest.mark.parametrize("n_classes", [2, 3])
def test_stages_are_the_scores_of_fewer_iterations(n_classes: int) -> None:
    y = np.minimum(SPECIES, n_classes - 1)
    stages = list(BoostedLinear("hinge", n_iterations=12).fit(IRIS, y).staged_decision_function(IRIS))
    assert len(stages) == 12
    for n in (1, 5, 12):
        np.testing.assert_allclose(
            stages[n - 1], BoostedLinear("hinge", n_iterations=n).fit(IRIS, y).decision_function(IRIS), atol=1e-12
        )


def test_only_the_logistic_loss_gives_probabilities() -> None:
    assert hasattr(BoostedLinear(), "predict_proba")
    assert not hasattr(BoostedLinear("hinge"), "predict_proba")


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("loss", "square", "one of 'logistic', 'hinge', got 'square'"),
        ("n_iterations", 0, "an integer of at least 1, got 0"),
        ("learning_rate", 0.0, "a number above 0 and at most 1, got 0.0"),
        ("learning_rate", 1.1, "a number above 0 and at most 1, got 1.1"),
    ],
)
def test_parameters_without_meaning_are_refused(name: str, value: object, allowed: str) -> None:
    with pytest.raises(InputError, match=f"{name} must be {allowed}"):
        BoostedLinear(**{name: value}).fit(IRIS, SPECIES)
