"""Leave-one-out without fits: formulas for ridge regression, kernel models, discriminant analysis and neighbours.

Row i is predicted by the model of all other rows. The formulas serve fixed hyper-parameters; whatever a fit learns
from the other rows beside them (balanced classes, the scale of the target) excludes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from heldout._sklearn import kernel_of
from heldout.spaces.submodels.base import ClosedForm, SeparateFitsError, Value
from heldout.spaces.submodels.left_out_discriminant import discriminant_applies, discriminant_left_out
from heldout.spaces.submodels.linear import Floats, matrix, positives, row_weights, target
from heldout.spaces.submodels.neighbours import fit_neighbours
from heldout.spaces.submodels.parts import Answer, fitted_copy, is_clear, view_of, weights_only
from heldout.spaces.submodels.ridge import CONDITION, Centred, outputs, ridge_applies, unfitted

_REST = 1e-3
"""Rows whose own weight in their prediction leaves less than this are not predicted accurately by the formula."""


def _ridge_left_out(
    estimator: Any, values: Sequence[Value], X: Any, y: Any, response: str, **fit_params: Any
) -> list[NDArray[Any] | None]:
    rows, alphas = matrix(X), positives(values, "alpha")
    weights = row_weights(weights_only(fit_params), len(rows))
    labels = target(y)
    if is_classifier(estimator) and np.unique(labels, return_counts=True)[1].min() < 2:
        raise SeparateFitsError("a class of one row")
    Y, weights = outputs(estimator, labels, weights)
    centred = Centred.of(rows, Y, weights, intercept=estimator.fit_intercept)
    eigenvalues, scores = _principal_scores(centred.X)
    smallest = max(eigenvalues[-1], 0.0) if rows.shape[1] < len(rows) else 0.0
    roots = np.ones(len(rows)) if weights is None else np.sqrt(weights)
    own = roots**2 / np.sum(roots**2) if estimator.fit_intercept else np.zeros(len(rows))
    answer = _response(estimator, X, y, response)
    predictions: list[NDArray[Any] | None] = []
    for alpha in alphas:
        if alpha is None or (eigenvalues[0] + alpha) / (smallest + alpha) > CONDITION:
            predictions.append(None)
            continue
        shrunk = scores / (eigenvalues + alpha)
        rest = 1.0 - own - np.einsum("ij,ij->i", shrunk, scores)
        errors = (centred.Y - shrunk @ (scores.T @ centred.Y)) / rest[:, np.newaxis]
        # A row without weight has no part in the fit; its error is that of the model of all rows.
        usable = rest.min() > _REST and roots.min() > 0.0
        predictions.append(answer(Y - errors / roots[:, np.newaxis]) if usable else None)
    return predictions


def _principal_scores(X: Floats) -> tuple[Floats, Floats]:
    """Squared singular values, falling, and left singular vectors times singular values."""
    U, singular, _ = np.linalg.svd(X, full_matrices=False)
    return singular**2, U * singular


def _response(estimator: Any, X: Any, y: Any, response: str) -> Any:
    """A function from linear predictors to what the method of this name returns; raises what a fit would."""
    if not is_classifier(estimator):
        unfitted(estimator, X, y)
        return lambda linear: linear[:, 0]
    model = fitted_copy(estimator, {}, X, y, {})

    def answer(linear: Floats) -> NDArray[Any] | None:
        linear = linear[:, 0] if linear.shape[1] == 1 else linear
        if response == "predict" and not is_clear(linear):
            return None
        return np.asarray(getattr(view_of(model, decision_function=Answer(linear)), response)(X))

    return answer


def _ridge_left_out_applies(estimator: Any) -> bool:
    return ridge_applies(estimator) and getattr(estimator, "class_weight", None) != "balanced"


def _kernel_left_out(
    estimator: Any, values: Sequence[Value], X: Any, y: Any, response: str, **fit_params: Any
) -> list[NDArray[Any] | None]:
    """Kernel ridge, and Gaussian processes with a fixed kernel: the same formula."""
    numbers, alphas = np.asarray(target(y), dtype=np.float64), positives(values, "alpha")
    weights = row_weights(weights_only(fit_params), len(numbers))
    if response != "predict" or (weights is not None and weights.min() <= 0.0):
        raise SeparateFitsError("rows without weight")
    roots = np.ones(len(numbers)) if weights is None else np.sqrt(weights)
    kernel = _kernel(estimator, X, y)
    eigenvalues, vectors = np.linalg.eigh(kernel * np.outer(roots, roots))
    parts = vectors.T @ (numbers * roots)
    predictions: list[NDArray[Any] | None] = []
    for alpha in alphas:
        if alpha is None or not 0.0 < eigenvalues[-1] + alpha <= CONDITION * (eigenvalues[0] + alpha):
            predictions.append(None)
            continue
        inverse = 1.0 / (eigenvalues + alpha)
        diagonal = (vectors**2) @ inverse
        usable = (alpha * diagonal).min() > _REST
        predictions.append(numbers - (vectors @ (inverse * parts)) / diagonal / roots if usable else None)
    return predictions


def _kernel(estimator: Any, X: Any, y: Any) -> Floats:
    model = fitted_copy(estimator, {"alpha": 1e12}, X, y, {})  # no kernel makes this one warn
    kernel = kernel_of(model, model.X_fit_) if hasattr(model, "X_fit_") else model.kernel_(model.X_train_)
    if kernel.dtype != np.float64:
        raise SeparateFitsError(f"a kernel of type {kernel.dtype}")
    return np.asarray(kernel)


def _kernel_ridge_applies(estimator: Any) -> bool:
    return estimator.kernel != "precomputed"


def _process_applies(estimator: Any) -> bool:
    fixed = estimator.optimizer is None or estimator.kernel is None
    return fixed and not estimator.normalize_y and estimator.n_targets in (None, 1)


def _neighbours_left_out(
    estimator: Any, values: Sequence[Value], X: Any, y: Any, response: str, **fit_params: Any
) -> list[NDArray[Any] | None]:
    """The neighbours of each row among the others."""
    if is_classifier(estimator) and np.unique(target(y), return_counts=True)[1].min() < 2:
        raise SeparateFitsError("a class of one row")
    found = fit_neighbours(estimator, values, X, y, **fit_params)
    return [
        None if setting is None else found.predict_left_out(X, response, *setting) for setting in found.settings
    ]


def _neighbours_applies(estimator: Any) -> bool:
    """Two metrics, where they get no matrix, compute one from all the rows."""
    return estimator.metric not in ("precomputed", "seuclidean", "mahalanobis")


def _only_one_row(n_rows: int, n_features: int, n_splits: int) -> bool:
    """A formula costs as much as a few fits, and serves test sets of one row."""
    return n_splits == n_rows and n_rows > 5


_form = partial(ClosedForm, object, cheaper=_only_one_row)
_RIDGE = _form(("alpha",), _ridge_left_out, applies=_ridge_left_out_applies)
_NEIGHBOURS = _form(("n_neighbors", "weights"), _neighbours_left_out, applies=_neighbours_applies)

CLOSED_FORMS: Mapping[str, ClosedForm] = {
    "Ridge": _RIDGE,
    "RidgeClassifier": _RIDGE,
    "LinearDiscriminantAnalysis": _form(("shrinkage",), discriminant_left_out, applies=discriminant_applies),
    "KernelRidge": _form(("alpha",), _kernel_left_out, applies=_kernel_ridge_applies),
    "GaussianProcessRegressor": _form(("alpha",), _kernel_left_out, applies=_process_applies),
    "KNeighborsClassifier": _NEIGHBOURS,
    "KNeighborsRegressor": _NEIGHBOURS,
}
