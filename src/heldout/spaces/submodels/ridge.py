"""Ridge regression, ridge classifiers and kernel ridge for all penalties: one matrix of eigenvectors.

The results equal those of separate fits to 1e-12 on well-conditioned data only; others are fitted separately.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import compute_sample_weight

from heldout.spaces.submodels.base import SeparateFitsError, SubmodelFamily, Value
from heldout.spaces.submodels.linear import (
    Floats,
    PenaltyCoefficients,
    matrix,
    positions,
    positives,
    row_weights,
    target,
)
from heldout.spaces.submodels.parts import fitted_copy, weights_only

CONDITION = 1e5
"""The largest condition number at which two ways of solving agree to 1e-12 with a margin."""
_AGREEMENT = 1e-13
"""The largest difference from a separate fit, relative to the largest prediction, that shows a good condition."""


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
        roots = 1.0 if weights is None else np.sqrt(weights)[:, np.newaxis]
        return cls((X - X_mean) * roots, (Y - Y_mean) * roots, X_mean, Y_mean)


def fit_ridge(estimator: Any, values: Sequence[Value], X: Any, y: Any, **fit_params: Any) -> PenaltyCoefficients:
    """The coefficients for all values of ``alpha``."""
    fit_params = weights_only(fit_params)
    rows, alphas = matrix(X), positives(values, "alpha")
    weights = row_weights(fit_params, len(rows))
    Y, weights = outputs(estimator, target(y), weights)
    centred = Centred.of(rows, Y, weights, intercept=estimator.fit_intercept)
    served, coefficients = _solutions(centred, sorted({alpha for alpha in alphas if alpha is not None}), estimator)
    model = fitted_copy(estimator, {"alpha": served[0]}, X, y, fit_params)
    intercepts = centred.Y_mean[:, np.newaxis] - np.einsum("f,fom->om", centred.X_mean, coefficients)
    found = PenaltyCoefficients(model, coefficients, intercepts, positions(alphas, served))
    _check(found, rows)
    return found


def outputs(estimator: Any, y: NDArray[Any], weights: Floats | None) -> tuple[Floats, Floats | None]:
    """The target as columns of numbers, and the weights together with those of the classes."""
    if not is_classifier(estimator):
        return np.asarray(y, dtype=np.float64)[:, np.newaxis], weights
    classes = np.unique(y)
    Y = np.where(y[:, np.newaxis] == classes, 1.0, -1.0)
    if estimator.class_weight:
        of_classes = compute_sample_weight(estimator.class_weight, y)
        weights = of_classes if weights is None else weights * of_classes
    return (Y[:, 1:] if len(classes) == 2 else Y), weights


def _solutions(centred: Centred, alphas: list[float], estimator: Any) -> tuple[list[float], Floats]:
    """The penalties with a well-conditioned system, and their coefficients (features, outputs, models)."""
    X, Y = centred.X, centred.Y
    wide = X.shape[1] > X.shape[0]
    eigenvalues, vectors = np.linalg.eigh(X @ X.T if wide else X.T @ X)
    # The mean of centred rows is zero, so one eigenvalue of their products is zero; the target has no such part.
    smallest = max(eigenvalues[1 if wide and estimator.fit_intercept else 0], 0.0)
    served = [alpha for alpha in alphas if (eigenvalues[-1] + alpha) / (smallest + alpha) <= CONDITION]
    if not served:
        raise SeparateFitsError("ill-conditioned")
    parts = vectors.T @ (Y if wide else X.T @ Y)
    shrunk = parts[:, :, np.newaxis] / (eigenvalues[:, np.newaxis, np.newaxis] + np.array(served))
    solved = np.tensordot(vectors, shrunk, axes=1)
    return served, np.tensordot(X.T, solved, axes=1) if wide else solved


def _check(found: PenaltyCoefficients, rows: Floats) -> None:
    """Refuse where the smallest penalty gives other predictions than its separate fit, or rounding is large."""
    model = found.model
    ours = found.linear(rows)[..., 0]
    theirs = rows @ np.atleast_2d(model.coef_).T + np.atleast_1d(model.intercept_)
    largest = np.abs(theirs).max()
    rounding = np.abs(rows).max(axis=0) @ np.abs(found.coefficients[..., 0]) * np.finfo(float).eps
    if not (np.abs(ours - theirs).max() <= _AGREEMENT * largest and rounding.max() <= _AGREEMENT * largest):
        raise SeparateFitsError("ill-conditioned or badly scaled")


def ridge_applies(estimator: Any) -> bool:
    """Whether the solver is a direct one."""
    return estimator.solver in ("auto", "cholesky", "svd") and not estimator.positive


_RIDGE = SubmodelFamily(object, ("alpha",), fit_ridge, ridge_applies, True)

FAMILIES: Mapping[str, tuple[SubmodelFamily, ...]] = {"Ridge": (_RIDGE,), "RidgeClassifier": (_RIDGE,)}
