"""Linear models along their penalties, and partial least squares, against separate fits."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from provider_contract import (
    CLASSES,
    CLASSIFICATION,
    REGRESSION,
    TRAINING,
    Case,
    Rows,
    check_predictions,
    each_kind,
    fit_alone,
    grid_of,
    rows_of,
    without,
)
from sklearn.base import clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, Ridge, RidgeClassifier

from heldout.spaces.submodels import family_of


def _ridge() -> list[Case]:
    alphas = grid_of("alpha", (1, 0.01, 300.0, 1, 1e-3))
    odd = ["regression-sparse"]
    return [
        Case(Ridge(), alphas, REGRESSION, True, odd),
        Case(Ridge(fit_intercept=False), alphas, ["regression-wide"], True),
        Case(Ridge(solver="svd"), alphas, ["regression-weighted", "regression-wide"], True),
        Case(Ridge(), alphas, ["regression-wide", "regression-collinear"], True, ["regression-collinear"]),
        Case(RidgeClassifier(), alphas, CLASSIFICATION, True, ["binary-sparse", "binary-float32"]),
        Case(RidgeClassifier(class_weight="balanced"), alphas, ["binary-weighted", "multiclass"], True),
        Case(KernelRidge(kernel="rbf"), alphas, REGRESSION, True),
        Case(KernelRidge(), grid_of("alpha", (1e-6, 1e-5)), ["regression"], True, ["regression"]),
    ]


def _components() -> list[Case]:
    sizes = grid_of("n_components", (3, 1, 5, 3, 2))
    kinds = ["regression", "regression-integer", "regression-tied", "regression-wide", "regression-float32"]
    return [
        Case(PLSRegression(), sizes, kinds),
        Case(PLSRegression(), grid_of("n_components", (3, 1, 2)), ["regression-copies"]),
        Case(PLSRegression(scale=False, tol=1e-10), sizes, kinds),
    ]


def _tolerance() -> list[Case]:
    Cs = grid_of("C", (1, 0.01, 30.0, 1))
    alphas = grid_of("alpha", (1, 0.01, 0.1, 1, 0.3))
    newton = LogisticRegression(tol=1e-10, solver="newton-cholesky", max_iter=200)
    lasso, net = Lasso(tol=1e-14, max_iter=100_000), ElasticNet(tol=1e-14, max_iter=100_000, l1_ratio=0.3)
    kinds = without(CLASSIFICATION, "sparse", "float32")
    return [
        Case(newton, Cs, kinds, False, tolerance=1e-5),
        Case(clone(newton).set_params(fit_intercept=False), Cs, CLASSES, False, tolerance=1e-5),
        Case(clone(newton).set_params(class_weight="balanced"), Cs, CLASSES, False, tolerance=1e-5),
        Case(LogisticRegression(tol=1e-10), Cs, ["binary-sparse"], False, tolerance=1e-5),
        Case(LogisticRegression(), Cs, ["binary-float32"], False, ["binary-float32"]),
        Case(lasso, alphas, [*REGRESSION, "regression-float32"], False, ["regression-float32"], tolerance=1e-4),
        Case(net, alphas, without(REGRESSION, "tied"), False, tolerance=1e-4),
        Case(net, alphas, ["regression-wide"], False, tolerance=1e-4),
        Case(Lasso(positive=True, fit_intercept=False), alphas, ["regression"], False, tolerance=1e-2),
    ]


@pytest.mark.filterwarnings("ignore")
@each_kind([*_ridge(), *_components(), *_tolerance()])
def test_one_fit_predicts_as_separate_fits(case: Case, kind: str) -> None:
    check_predictions(case, kind)


def _logistic_objective(rows: Rows, C: float, coef: NDArray[Any], intercept: NDArray[Any]) -> float:
    linear = rows.X @ np.ravel(coef) + np.ravel(intercept)
    weights = rows.fit_params.get("sample_weight", np.ones(TRAINING))
    losses = np.logaddexp(0.0, linear) - (rows.y == "yes") * linear
    return C * np.sum(weights * losses) + 0.5 * np.sum(coef**2)


def _net_objective(rows: Rows, alpha: float, coef: NDArray[Any], intercept: NDArray[Any]) -> float:
    weights = rows.fit_params.get("sample_weight", np.ones(TRAINING))
    errors = rows.y - rows.X @ np.ravel(coef) - intercept
    penalty = 0.4 * np.sum(np.abs(coef)) + 0.3 * np.sum(coef**2)
    return 0.5 * np.average(errors**2, weights=weights) + alpha * penalty


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("solver", ["lbfgs", "newton-cholesky", "saga"])
@pytest.mark.parametrize("kind", ["binary", "binary-weighted", "binary-copies"])
def test_objectives_of_logistic_regression_are_not_above_those_of_separate_fits(kind: str, solver: str) -> None:
    _assert_objectives(
        Case(LogisticRegression(solver=solver), grid_of("C", np.logspace(-3, 3, 7)), [kind]), _logistic_objective
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("exponents", [(-3, 3, 25), (-4, 5, 4)], ids=["close", "far apart"])
@pytest.mark.parametrize("kind", ["binary", "binary-weighted", "binary-copies", "binary-wide"])
def test_objectives_of_logistic_regression_are_as_certified(kind: str, exponents: tuple[int, int, int]) -> None:
    exact = LogisticRegression(solver="newton-cholesky", tol=1e-13, max_iter=500)
    _assert_objectives(Case(exact, grid_of("C", np.logspace(*exponents)), [kind]), _logistic_objective, 1e-10)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["regression", "regression-weighted", "regression-wide"])
def test_objectives_of_elastic_nets_are_not_above_those_of_separate_fits(kind: str) -> None:
    _assert_objectives(
        Case(ElasticNet(l1_ratio=0.4), grid_of("alpha", np.logspace(-2, 1, 7)), [kind]), _net_objective
    )


def _assert_objectives(case: Case, objective: Any, excess: float = 1e-8) -> None:
    rows = rows_of(case.kinds[0])
    family = family_of(case.estimator, "tolerance")
    assert family is not None
    many: Any = family.fit_many(case.estimator, case.values, rows.X, rows.y, **rows.fit_params)
    for value, place in zip(case.values, many.positions, strict=True):
        (number,) = value.values()
        alone = fit_alone(case, value, rows)
        ours = objective(rows, number, many.coefficients[:, 0, place], many.intercepts[0, place])
        assert ours <= (1 + excess) * objective(rows, number, alone.coef_, alone.intercept_)
