"""Kernel ridge regression for all penalties: one kernel matrix, and its eigenvectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from heldout._sklearn import kernel_of
from heldout._types import Array, Floats
from heldout.spaces.submodels.base import SeparateFitsError, SubmodelFamily, Value, fitted_copy, weights_only
from heldout.spaces.submodels.linear import positions, positives, row_weights, target

_CONDITION = 1e5
_AGREEMENT = 1e-13


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
    if not np.abs(kernel @ duals[:, 0] - theirs).max() <= _AGREEMENT * np.abs(theirs).max():
        raise SeparateFitsError("ill-conditioned")
    return KernelCoefficients(model, duals, positions(alphas, served))


def _duals(kernel: Floats, y: Floats, alphas: list[float]) -> tuple[list[float], Floats]:
    eigenvalues, vectors = np.linalg.eigh(kernel)
    smallest = max(eigenvalues[0], 0.0)
    served = [alpha for alpha in alphas if (eigenvalues[-1] + alpha) / (smallest + alpha) <= _CONDITION]
    if not served:
        raise SeparateFitsError("ill-conditioned")
    return served, vectors @ ((vectors.T @ y)[:, np.newaxis] / (eigenvalues[:, np.newaxis] + np.array(served)))


def _applies(estimator: Any) -> bool:
    return estimator.kernel != "precomputed"


KERNEL_RIDGE = SubmodelFamily(object, ("alpha",), fit_kernel_ridge, _applies, True)
