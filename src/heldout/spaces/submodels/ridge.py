"""Ridge regression, ridge classifiers and kernel ridge for all penalties: one matrix of eigenvectors.

The results equal those of separate fits to 1e-12 on well-conditioned data only; others are fitted separately.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import linalg
from sklearn.base import clone, is_classifier
from sklearn.utils import compute_sample_weight
from sklearn.utils.validation import validate_data

from heldout._sklearn import check_params, kernel_of
from heldout._types import Array, Floats
from heldout.spaces.submodels.base import SeparateFitsError, SubmodelFamily, Value, fitted_copy, weights_only
from heldout.spaces.submodels.linear import PenaltyCoefficients, matrix, positions, positives, row_weights, target

CONDITION = 1e5
"""The largest condition number at which two ways of solving agree to 1e-12 with a margin."""
_AGREEMENT, _ROUNDING = 5e-13, 1e-13
"""The largest difference from a separate fit, and the largest rounding, relative to the largest prediction."""


@dataclass(frozen=True, eq=False)
class Centred:
    """Rows and targets without their means, each row times the square root of its weight."""

    X: Floats
    Y: Floats
    X_mean: Floats
    Y_mean: Floats

    @classmethod
    def of(cls, X: Floats, Y: Floats, weights: Floats | None, *, intercept: bool) -> Centred:
        X_mean = np.average(X, axis=0, weights=weights) if intercept else np.zeros(X.shape[1])
        Y_mean = np.average(Y, axis=0, weights=weights) if intercept else np.zeros(Y.shape[1])
        if weights is None:
            return cls(X - X_mean, Y - Y_mean, X_mean, Y_mean)
        roots = np.sqrt(weights)[:, np.newaxis]
        return cls((X - X_mean) * roots, (Y - Y_mean) * roots, X_mean, Y_mean)

    def intercepts(self, coefficients: Floats) -> Floats:
        """(outputs, models), from coefficients (features, outputs, models)."""
        return self.Y_mean[:, np.newaxis] - np.einsum("f,fom->om", self.X_mean, coefficients)


def fit_ridge(estimator: Any, values: Sequence[Value], X: Any, y: Any, **fit_params: Any) -> PenaltyCoefficients:
    """The coefficients for all values of ``alpha``."""
    fit_params = weights_only(fit_params)
    rows, alphas = matrix(X), positives(values, "alpha")
    weights = row_weights(fit_params, len(rows))
    Y, weights = outputs(estimator, target(y), weights)
    centred = Centred.of(rows, Y, weights, intercept=estimator.fit_intercept)
    equations = NormalEquations.of(centred)
    asked = sorted({alpha for alpha in alphas if alpha is not None})
    served, coefficients = _solutions(equations, asked, estimator)

    @cache
    def fit(alpha: float) -> Any:
        return fitted_copy(estimator, {"alpha": alpha}, X, y, fit_params)

    by_cholesky = not is_classifier(estimator) and estimator.solver != "svd"

    def agrees(place: int) -> bool:
        # A fit by Cholesky's method solves these equations too, and so need not be made.
        alpha = served[place]
        theirs = equations.by_cholesky(alpha) if by_cholesky else np.atleast_2d(fit(alpha).coef_).T
        return _agree(coefficients[..., place], theirs, centred, rows)

    # The smaller the penalty, the worse the condition; so the first that agrees can be found by halving.
    first = 0 if agrees(0) else bisect_left(range(len(served)), True, 1, key=agrees)
    if first == len(served):
        raise SeparateFitsError("ill-conditioned or badly scaled")
    served, coefficients = served[first:], coefficients[..., first:]
    model = unfitted(estimator, X, y) if by_cholesky else fit(served[0])
    return PenaltyCoefficients(model, coefficients, centred.intercepts(coefficients), positions(alphas, served))


def unfitted(estimator: Any, X: Any, y: Any) -> Any:
    """A model that knows its columns, after the checks that its fit would make."""
    model = clone(estimator)
    check_params(model)
    validate_data(model, X, y, y_numeric=True)
    return model


def outputs(estimator: Any, y: Array, weights: Floats | None) -> tuple[Floats, Floats | None]:
    """The target as columns of numbers, and the weights together with those of the classes."""
    if not is_classifier(estimator):
        return np.asarray(y, dtype=np.float64)[:, np.newaxis], weights
    classes = np.unique(y)
    Y = np.where(y[:, np.newaxis] == classes, 1.0, -1.0)
    if estimator.class_weight:
        of_classes = compute_sample_weight(estimator.class_weight, y)
        weights = of_classes if weights is None else weights * of_classes
    return (Y[:, 1:] if len(classes) == 2 else Y), weights


@dataclass(frozen=True, eq=False)
class NormalEquations:
    """Of the coefficients, or where there are more columns than rows, of one number a row."""

    products: Floats
    right: Floats
    X: Floats
    is_wide: bool

    @classmethod
    def of(cls, centred: Centred) -> NormalEquations:
        X, Y = centred.X, centred.Y
        wide = X.shape[1] > X.shape[0]
        return cls(X @ X.T if wide else X.T @ X, Y if wide else X.T @ Y, X, wide)

    def by_cholesky(self, alpha: float) -> Floats:
        """The coefficients (features, outputs), as scikit-learn finds them."""
        products = self.products + alpha * np.eye(len(self.products))
        return self.coefficients(linalg.solve(products, self.right, assume_a="pos"))

    def coefficients(self, solved: Floats) -> Floats:
        """From solutions (unknowns, outputs[, models])."""
        return np.tensordot(self.X.T, solved, axes=1) if self.is_wide else solved


def _solutions(equations: NormalEquations, alphas: list[float], estimator: Any) -> tuple[list[float], Floats]:
    """The penalties with a well-conditioned system, and their coefficients (features, outputs, models)."""
    eigenvalues, vectors = np.linalg.eigh(equations.products)
    # The mean of centred rows is zero, so one eigenvalue of their products is zero; the target has no such part.
    smallest = max(eigenvalues[1 if equations.is_wide and estimator.fit_intercept else 0], 0.0)
    served = [alpha for alpha in alphas if (eigenvalues[-1] + alpha) / (smallest + alpha) <= CONDITION]
    if not served:
        raise SeparateFitsError("ill-conditioned")
    parts = vectors.T @ equations.right
    shrunk = parts[:, :, np.newaxis] / (eigenvalues[:, np.newaxis, np.newaxis] + np.array(served))
    return served, equations.coefficients(np.tensordot(vectors, shrunk, axes=1))


def _agree(ours: Floats, theirs: Floats, centred: Centred, rows: Floats) -> bool:
    """Whether coefficients (features, outputs) give the same predictions as those of a fit by itself.

    They are compared by the most that their difference, or rounding, can change a prediction of any row within the
    range of the columns: new rows need not be like those of training.
    """
    intercepts = [centred.intercepts(each[..., np.newaxis])[:, 0] for each in (ours, theirs)]
    ends = np.maximum(rows.max(axis=0), -rows.min(axis=0))
    difference = ends @ np.abs(ours - theirs) + np.abs(intercepts[0] - intercepts[1])
    rounding = ends @ np.abs(ours) * np.finfo(float).eps
    largest = np.abs(rows @ theirs + intercepts[1]).max()
    return bool(difference.max() <= _AGREEMENT * largest and rounding.max() <= _ROUNDING * largest)


def ridge_applies(estimator: Any) -> bool:
    """Whether the solver is a direct one."""
    return estimator.solver in ("auto", "cholesky", "svd") and not estimator.positive


RIDGE = SubmodelFamily(object, ("alpha",), fit_ridge, ridge_applies, True)


_KERNEL_AGREEMENT = 1e-13


class KernelCoefficients:
    """Dual coefficients of several kernel models, one a penalty."""

    def __init__(self, model: Any, duals: Floats, places: Sequence[int | None]) -> None:
        self.model = model
        self.duals = duals
        self.places = places

    def predict_many(self, X: Any, response: str) -> list[Array | None]:
        if response != "predict":
            raise SeparateFitsError(f"no {response}")
        kernel = kernel_of(self.model, X, self.model.X_fit_)
        predictions = kernel @ self.duals
        return [None if place is None else np.ascontiguousarray(predictions[:, place]) for place in self.places]


def fit_kernel_ridge(
    estimator: Any, values: Sequence[Value], X: Any, y: Any, **fit_params: Any
) -> KernelCoefficients:
    """The dual coefficients for all values of ``alpha``."""
    fit_params = weights_only(fit_params)
    y_numbers, alphas = np.asarray(target(y), dtype=np.float64), positives(values, "alpha")
    weights = row_weights(fit_params, len(y_numbers))
    distinct = sorted({alpha for alpha in alphas if alpha is not None})
    if not distinct:
        raise SeparateFitsError("no value can be shared")
    model = fitted_copy(estimator, {"alpha": distinct[-1]}, X, y, fit_params)
    kernel = kernel_of(model, model.X_fit_)
    if kernel.dtype != np.float64:
        raise SeparateFitsError(f"a kernel of type {kernel.dtype}")
    roots = np.ones(len(y_numbers)) if weights is None else np.sqrt(weights)
    served, duals = _duals(kernel * np.outer(roots, roots), y_numbers * roots, distinct)
    duals *= roots[:, np.newaxis]
    fitted = fitted_copy(estimator, {"alpha": served[0]}, X, y, fit_params)
    theirs = kernel @ fitted.dual_coef_
    if not np.abs(kernel @ duals[:, 0] - theirs).max() <= _KERNEL_AGREEMENT * np.abs(theirs).max():
        raise SeparateFitsError("ill-conditioned")
    return KernelCoefficients(model, duals, positions(alphas, served))


def _duals(kernel: Floats, y: Floats, alphas: list[float]) -> tuple[list[float], Floats]:
    eigenvalues, vectors = np.linalg.eigh(kernel)
    smallest = max(eigenvalues[0], 0.0)
    served = [alpha for alpha in alphas if (eigenvalues[-1] + alpha) / (smallest + alpha) <= CONDITION]
    if not served:
        raise SeparateFitsError("ill-conditioned")
    return served, vectors @ ((vectors.T @ y)[:, np.newaxis] / (eigenvalues[:, np.newaxis] + np.array(served)))


def _kernel_applies(estimator: Any) -> bool:
    return estimator.kernel != "precomputed"


KERNEL_RIDGE = SubmodelFamily(object, ("alpha",), fit_kernel_ridge, _kernel_applies, True)
