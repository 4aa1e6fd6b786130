"""Drawn regressions: centred at the best fit, spread as the information says."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression, Ridge

from heldout.imputation.chained import SHRINKAGE, category_equation, linear_equation


class Still:
    """Draws that are all at their centre."""

    def standard_normal(self, size: int) -> np.ndarray[Any, Any]:
        return np.zeros(size)

    def chisquare(self, degrees: float) -> float:
        return degrees


def rows(n: int = 120, p: int = 3) -> tuple[np.ndarray[Any, Any], np.random.Generator]:
    rng = np.random.default_rng(4)
    return np.column_stack([np.ones(n), rng.normal(size=(n, p))]), rng


def test_a_line_is_centred_at_ridge_and_its_noise_at_the_residuals() -> None:
    Z, rng = rows()
    y = Z @ [1.0, 0.5, -1.0, 0.0] + rng.normal(size=120)
    drawn: Any = linear_equation(Z, y, Still())  # type: ignore[arg-type]
    ridge = Ridge(alpha=3 * SHRINKAGE).fit(Z[:, 1:], y)
    np.testing.assert_allclose(drawn.coefficients, np.append(ridge.intercept_, ridge.coef_), rtol=1e-6)
    assert drawn.noise == pytest.approx(np.sqrt(((y - ridge.predict(Z[:, 1:])) ** 2).sum() / 116), rel=1e-3)


def test_lines_spread_as_in_least_squares() -> None:
    Z, rng = rows()
    y = Z @ [1.0, 0.5, -1.0, 0.0] + rng.normal(size=120)
    drawn = np.array([linear_equation(Z, y, rng).coefficients for _ in range(4000)])
    noise = ((y - Z @ np.linalg.lstsq(Z, y, rcond=None)[0]) ** 2).sum() / 116
    # A Student's t with 116 degrees has 116/114 times its scale's variance; a variance of 4000 draws errs by 2.2 %.
    expected = np.diag(noise * 116 / 114 * np.linalg.inv(Z.T @ Z))
    np.testing.assert_allclose(drawn.var(axis=0), expected, rtol=0.1)


def test_two_categories_are_centred_at_logistic_regression() -> None:
    Z, rng = rows()
    codes = (rng.random(120) < 1 / (1 + np.exp(-Z @ [0.3, 1.0, -1.0, 0.0]))).astype(np.intp)
    drawn = category_equation(Z, codes, 2, Still())  # type: ignore[arg-type]
    model = LogisticRegression(C=1 / (3 * SHRINKAGE), tol=1e-10).fit(Z[:, 1:], codes)
    np.testing.assert_allclose(drawn.coefficients[:, 0], np.append(model.intercept_, model.coef_), atol=1e-4)
    np.testing.assert_allclose(drawn.probabilities(Z), model.predict_proba(Z[:, 1:]), atol=1e-4)


def curvature(f: Callable[[Any], float], at: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Second derivatives by central differences."""
    h = 1e-3 * np.eye(len(at))
    return np.array(
        [[(f(at + a + b) - f(at + a - b) - f(at - a + b) + f(at - a - b)) / 4e-6 for b in h] for a in h]
    )


def test_three_categories_are_the_maximum_of_their_posterior() -> None:
    Z, rng = rows(p=2)
    codes = (Z[:, 1:] @ [1.0, -1.0] + rng.normal(size=120) > np.array([[-0.5], [0.7]])).sum(axis=0)

    def loss(flat: np.ndarray[Any, Any]) -> float:
        W = flat.reshape(3, 2)
        fit = log_softmax(np.column_stack([np.zeros(120), Z @ W]), axis=1)[np.arange(120), codes].sum()
        return -fit + 0.5 * 2 * SHRINKAGE * (W[1:] ** 2).sum()

    best = minimize(loss, np.zeros(6), tol=1e-10)
    drawn: Any = category_equation(Z, codes, 3, Still())  # type: ignore[arg-type]
    np.testing.assert_allclose(drawn.coefficients.ravel(), best.x, atol=2e-4)
    spread = np.array([category_equation(Z, codes, 3, rng).coefficients.ravel() for _ in range(800)])
    expected = np.linalg.inv(curvature(loss, best.x))
    # An element of the covariance of 800 draws errs by at most sqrt(2/800) = 5 % of the greatest variance.
    np.testing.assert_allclose(np.cov(spread.T), expected, atol=0.2 * np.diag(expected).max())


def test_codes_are_drawn_as_often_as_their_probabilities_say() -> None:
    Z, rng = rows()
    codes = np.arange(120) % 3
    drawn = category_equation(Z, codes, 3, rng)
    counts = np.stack([drawn.draw(Z, rng)[:, None] == np.arange(3) for _ in range(2000)]).mean(axis=0)
    assert np.abs(counts - drawn.probabilities(Z)).max() < 0.06  # 360 means of standard error .011


@pytest.mark.parametrize(
    "kind", ["separated", "one row of a class", "more columns than rows", "copies of a column"]
)
def test_hard_rows_still_give_draws(kind: str) -> None:
    Z, rng = rows(30)
    codes = (Z[:, 1] > 0).astype(np.intp)
    if kind == "one row of a class":
        codes = np.zeros(30, dtype=np.intp)
        codes[4] = 1
    if kind == "more columns than rows":
        Z = np.column_stack([Z, rng.normal(size=(30, 60))])
    if kind == "copies of a column":
        Z = np.column_stack([Z, Z[:, 1], Z[:, 1], np.zeros(30)])
    category = category_equation(Z, codes, 2, rng)
    assert np.isfinite(category.probabilities(Z)).all()
    line = linear_equation(Z, Z[:, 1] + rng.normal(size=30), rng)
    assert np.isfinite(line.draw(Z, rng)).all()
    assert line.noise > 0
