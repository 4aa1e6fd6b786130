"""The elastic net: R's glmnet, an independent optimiser, the conditions of a minimum, and what a path shares."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

from heldout.errors import InputError
from heldout.spaces import ElasticNetLogistic
from heldout_papers.spaces import elastic_net_logistic as module

# R 4.2, glmnet 4.1-6: l1_ratio, place, then lambda, intercept and coefficients, of nlambda=10 with thresh=1e-14 and
# without its early end (fdev=0, devmax=1).
GLMNET = [
    (0.001, 1, 113.229541, -0.821649174, [-5.2107825e-4, -2.564503e-4, -7.8957359e-5, -5.1218185e-6, -0.01783256]),
    (0.001, 4, 5.25564973, 0.096797432, [-0.0156271183, -0.0101186302, -0.00233581045, -1.5784988e-4, -1.8259541]),
    (0.001, 7, 0.243945651, 7.72507635, [-0.121811007, -0.103509879, -0.0188113134, -0.00120316983, -23.498715]),
    (0.5, 1, 0.226459082, 3.77639841, [-0.0858991728, -0.0524062817, -0.0157150533, -0.000607494461, -5.35626912]),
    (0.5, 4, 0.0105112995, 30.3924879, [-0.353074878, -0.450952042, -0.0711057657, -0.00315697854, -97.4984752]),
    (0.5, 7, 0.000487891302, 59.2255803, [-0.130082524, -0.902066789, -0.225453327, -0.00585049165, -186.272985]),
    (1.0, 1, 0.113229541, 5.60154808, [0, -0.0689211128, -0.0492364386, 0, -5.96521435]),
    (1.0, 4, 0.00525564973, 43.7244882, [0, -0.646848799, -0.221269509, 0, -129.937795]),
    (1.0, 7, 0.000243945651, 50.9346121, [6.73664243, -0.887703807, -1.23007845, -0.00787559329, -140.561364]),
]  # fmt: skip


def few_rows() -> tuple[NDArray[Any], NDArray[Any]]:
    X, y = load_breast_cancer(return_X_y=True)
    return X[:80, :5], y[:80]


def noisy(n: int, p: int, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 20, size=p)
    return X, (X[:, 0] / X[:, 0].std() + rng.normal(size=n) > 0.3).astype(int)


@pytest.mark.parametrize(
    ("l1_ratio", "place", "penalty", "intercept", "slopes"),
    GLMNET,
    ids=[f"l1_ratio {known[0]} place {known[1]}" for known in GLMNET],
)
def test_it_is_glmnets(l1_ratio: float, place: int, penalty: float, intercept: float, slopes: list[float]) -> None:
    model = ElasticNetLogistic(l1_ratio, place).fit(*few_rows())

    assert model.lambda_ == pytest.approx(penalty, rel=1e-8)
    assert model.intercept_[0] == pytest.approx(intercept, rel=2e-5)
    np.testing.assert_allclose(model.coef_[0], slopes, rtol=2e-4, atol=1e-12)


@pytest.mark.parametrize("shape", [(60, 4), (40, 90)], ids=["more rows", "more columns"])
@pytest.mark.parametrize("l1_ratio", [0.001, 0.5, 1.0])
def test_each_place_is_a_minimum(l1_ratio: float, shape: tuple[int, int]) -> None:
    # The gradient of the mean loss is balanced by the penalty's, which for a coefficient of 0 is an interval.
    X, y = noisy(*shape)
    units = (X - X.mean(axis=0)) / X.std(axis=0)
    for place in range(10):
        model = ElasticNetLogistic(l1_ratio, place).fit(X, y)
        slopes = model.coef_[0] * X.std(axis=0)
        left = y - expit(model.decision_function(X))
        gradient = units.T @ left / len(y) - model.lambda_ * (1 - l1_ratio) * slopes
        limit, room = model.lambda_ * l1_ratio, 1e-5
        taking_part = np.abs(slopes) > 1e-9
        assert left.mean() == pytest.approx(0, abs=1e-6)
        np.testing.assert_allclose(gradient[taking_part], limit * np.sign(slopes[taking_part]), atol=room)
        assert np.abs(gradient[~taking_part]).max(initial=0) <= limit + room


def test_another_optimiser_finds_no_smaller_loss() -> None:
    # b = u - v with u, v >= 0 makes the absolute values smooth.
    X, y = noisy(50, 3, seed=2)
    units = (X - X.mean(axis=0)) / X.std(axis=0)
    model = ElasticNetLogistic(0.5, 4).fit(X, y)

    def loss(found: NDArray[Any]) -> float:
        slopes = found[1:4] - found[4:]
        scores = found[0] + units @ slopes
        sizes = 0.25 * (slopes**2).sum() + 0.5 * found[1:].sum()
        return float(np.logaddexp(0, np.where(y > 0, -scores, scores)).mean() + model.lambda_ * sizes)

    other = minimize(loss, np.zeros(7), bounds=[(None, None)] + [(0, None)] * 6, options={"ftol": 1e-14})
    np.testing.assert_allclose(model.coef_[0] * X.std(axis=0), other.x[1:4] - other.x[4:], atol=1e-4)
    ours = np.r_[
        model.intercept_ + model.coef_ @ X.mean(axis=0),
        *np.maximum([1, -1] * (model.coef_.T * X.std(axis=0)[:, None]), 0).T,
    ]
    assert loss(ours) <= other.fun + 1e-9


def test_without_a_penalty_to_speak_of_it_is_logistic_regression() -> None:
    X, y = noisy(200, 3)
    model = ElasticNetLogistic(0.5, 1, n_lambdas=2, lambda_min_ratio=1e-9).fit(X, y)
    plain = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(X / X.std(axis=0), y)

    np.testing.assert_allclose(model.coef_ * X.std(axis=0), plain.coef_, rtol=1e-4)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X / X.std(axis=0)), atol=1e-4)


def test_the_path_begins_where_no_column_takes_part() -> None:
    X, y = noisy(60, 5)
    first = ElasticNetLogistic(lambda_index=0).fit(X, y)
    closer = ElasticNetLogistic(lambda_index=1, n_lambdas=2, lambda_min_ratio=0.99).fit(X, y)

    np.testing.assert_allclose(first.coef_, 0, atol=1e-10)
    np.testing.assert_allclose(first.predict_proba(X)[:, 1], y.mean())
    assert (np.abs(closer.coef_) > 1e-6).sum() == 1
    steps = [later / earlier for earlier, later in pairwise(first.lambdas_)]
    np.testing.assert_allclose(steps, 1e-4 ** (1 / 9))
    assert ElasticNetLogistic().fit(*noisy(20, 30)).lambdas_[[0, -1]] @ [0.01, -1] == pytest.approx(0)


def test_a_path_that_is_remembered_is_the_same_to_the_last_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = noisy(40, 60)

    def found(places: list[int], *, anew: bool) -> dict[int, bytes]:
        bits = {}
        for place in places:
            if anew:
                monkeypatch.setattr(module, "PATHS", module.Recent(8))
            model = ElasticNetLogistic(0.5, place).fit(X, y)
            bits[place] = model.coef_.tobytes() + model.intercept_.tobytes()
        return bits

    alone = found([0, 3, 9], anew=True)
    monkeypatch.setattr(module, "PATHS", module.Recent(8))
    assert found([9, 0, 3], anew=False) == alone
    other = ElasticNetLogistic(0.5, 3).fit(X + 0.1 * (X > 0), y)
    assert other.coef_.tobytes() not in alone[3]
    swapped = ElasticNetLogistic(0.5, 3).fit(X, 1 - y)
    np.testing.assert_allclose(swapped.coef_, -ElasticNetLogistic(0.5, 3).fit(X, y).coef_, atol=1e-6)


def test_units_of_columns_matter_only_where_columns_are_not_standardised() -> None:
    X, y = noisy(60, 3)
    scales = np.array([1.0, 1000.0, 0.01])
    np.testing.assert_allclose(
        ElasticNetLogistic().fit(X * scales, y).coef_ * scales, ElasticNetLogistic().fit(X, y).coef_, atol=1e-6
    )
    plain = ElasticNetLogistic(standardize=False)
    units = X / X.std(axis=0)
    np.testing.assert_allclose(plain.fit(units, y).coef_, ElasticNetLogistic().fit(units, y).coef_, atol=1e-6)
    assert not np.allclose(plain.fit(X, y).predict_proba(X), ElasticNetLogistic().fit(X, y).predict_proba(X))


def test_columns_that_separate_the_classes_or_never_change() -> None:
    y = np.repeat([0, 1], 10)
    separated = ElasticNetLogistic(lambda_index=9).fit(y[:, None] * 2.0, y)
    assert separated.score(y[:, None] * 2.0, y) == 1
    constant = ElasticNetLogistic().fit(np.column_stack([np.full(20, 0.1), y]), y)
    assert constant.coef_[0, 0] == 0
    nothing = ElasticNetLogistic().fit(np.full((20, 2), 0.1), y)
    np.testing.assert_allclose(nothing.predict_proba(np.zeros((1, 2))), 0.5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lambda_index": 10}, "lambda_index must be below `n_lambdas=10`, got 10"),
        ({"lambda_index": -1}, "lambda_index must be an integer of at least 0, got -1"),
        ({"l1_ratio": 1.5}, "l1_ratio must be a number of at least 0 and at most 1, got 1.5"),
        ({"n_lambdas": 0}, "n_lambdas must be an integer of at least 1, got 0"),
        ({"lambda_min_ratio": 0.0}, "lambda_min_ratio must be a number above 0 and at most 1, got 0.0"),
    ],
    ids=["place too far", "place", "ratio", "number", "least"],
)
def test_settings_without_meaning_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ElasticNetLogistic(**settings).fit(*few_rows())


def test_three_classes_are_refused() -> None:
    with pytest.raises(InputError, match=r"Only binary classification is supported\..*3 classes"):
        ElasticNetLogistic().fit([[1.0], [2.0], [3.0]], ["a", "b", "c"])
