"""Leave-one-out without fits: formulas for ridge regression, kernel models, discriminant analysis and neighbours.

Row i is predicted by the model of all other rows. The formulas serve fixed hyper-parameters; whatever a fit learns
from the other rows beside them (balanced classes, the scale of the target) excludes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from heldout._sklearn import kernel_of
from heldout._types import Array, Floats, Indices
from heldout.spaces.submodels import base
from heldout.spaces.submodels.linear import matrix, positives, row_weights, target
from heldout.spaces.submodels.neighbours import fit_neighbours
from heldout.spaces.submodels.ridge import CONDITION, Centred, outputs, ridge_applies, unfitted

_CONDITION = 1e6


@dataclass(frozen=True, eq=False)
class Scatter:
    """The scatter within classes, in the coordinates of its eigenvectors.

    Attributes
    ----------
    eigenvalues : ndarray, shape (features,)
    vectors : ndarray, shape (features, features)
    rows : ndarray, shape (rows, features)
    offsets : ndarray, shape (rows, features)
        Of each row from the mean of its class.
    means : ndarray, shape (classes, features)
    codes : ndarray of int, shape (rows,)
    sizes : ndarray, shape (classes,)
    """

    eigenvalues: Floats
    vectors: Floats
    rows: Floats
    offsets: Floats
    means: Floats
    codes: Indices
    sizes: Floats

    @classmethod
    def of(cls, rows: Floats, codes: Indices) -> Scatter:
        sizes = np.bincount(codes).astype(np.float64)
        if sizes.min() < 2:
            raise base.SeparateFitsError("a class of one row")
        means = np.stack([rows[codes == code].mean(axis=0) for code in range(len(sizes))])
        offsets = rows - means[codes]
        eigenvalues, vectors = np.linalg.eigh(offsets.T @ offsets)
        eigenvalues = np.maximum(eigenvalues, 0.0)
        return cls(eigenvalues, vectors, rows @ vectors, offsets @ vectors, means @ vectors, codes, sizes)

    @property
    def lost(self) -> Floats:
        """The factor of the outer product of its offset that leaves the scatter together with a row."""
        size = self.sizes[self.codes]
        return size / (size - 1.0)

    def means_without(self, code: int) -> Floats:
        """The mean of a class without each row, (rows, features)."""
        inside = (self.codes == code)[:, np.newaxis]
        return np.where(
            inside, self.means[code] - self.offsets / max(self.sizes[code] - 1.0, 1.0), self.means[code]
        )

    def log_priors(self, code: int) -> Floats:
        """The logarithm of the share of a class among the other rows."""
        return np.log((self.sizes[code] - (self.codes == code)) / (len(self.codes) - 1.0))


def discriminant_left_out(
    estimator: Any, values: Sequence[base.Value], X: Any, y: Any, response: str, **fit_params: Any
) -> list[Array | None]:
    """Row i predicted by the discriminant analysis of the others, for all shrinkages."""
    base.without_weights(fit_params)
    classes, codes = np.unique(target(y), return_inverse=True)
    scatter = Scatter.of(matrix(X), codes)
    model = base.fitted_copy(estimator, {}, X, y, {})
    lost = _degrees_lost(model, scatter) if estimator.solver == "svd" else 0
    predictions: list[Array | None] = []
    for shrinkage in (_shrinkage(value["shrinkage"], estimator.solver) for value in values):
        decision = None if shrinkage is None else _decision(scatter, shrinkage, estimator.solver == "svd", lost)
        if decision is None or (response == "predict" and not base.is_clear(decision)):
            predictions.append(None)
            continue
        if len(classes) == 2:
            decision = decision[:, 1] - decision[:, 0]
        predictions.append(getattr(base.view_of(model, decision_function=base.Answer(decision)), response)(X))
    return predictions


def _shrinkage(value: Any, solver: str) -> float | None:
    if value is None or solver == "svd":
        return 0.0 if value is None else None
    number = isinstance(value, int | float | np.integer | np.floating) and type(value) is not bool
    return float(value) if number and 0.0 <= value <= 1.0 else None


def _degrees_lost(model: Any, scatter: Scatter) -> int:
    """The number that the solver "svd" subtracts from the number of rows: the classes in old versions, now zero."""
    if not np.all(scatter.eigenvalues > scatter.eigenvalues[-1] / _CONDITION):
        raise base.SeparateFitsError("ill-conditioned")
    ours = ((scatter.means - scatter.rows.mean(axis=0)) / scatter.eigenvalues) @ scatter.vectors.T
    ours = ours if len(ours) > 2 else ours[1:] - ours[:1]
    degrees = np.sum(model.coef_ * ours) / np.sum(ours**2)
    lost = round(len(scatter.rows) - degrees)
    expected = (len(scatter.rows) - lost) * ours
    if lost not in (0, len(scatter.sizes)) or np.abs(model.coef_ - expected).max() > 1e-9 * np.abs(expected).max():
        raise base.SeparateFitsError("directions are left out")
    return lost


def _decision(scatter: Scatter, shrinkage: float, centred: bool, degrees_lost: int) -> Floats | None:
    """The discriminant of each class without each row, (rows, classes); None if ill-conditioned."""
    n, features = scatter.rows.shape
    offsets, lost = scatter.offsets, scatter.lost
    degrees = n - 1.0 - degrees_lost
    trace = scatter.eigenvalues.sum() - lost * np.einsum("ij,ij->i", offsets, offsets)
    diagonal = (1.0 - shrinkage) / degrees * scatter.eigenvalues
    diagonal = diagonal + (shrinkage * trace / degrees / features)[:, np.newaxis]
    if not np.all(diagonal.max(axis=1) <= _CONDITION * diagonal.min(axis=1)):
        return None
    inverse, update = 1.0 / diagonal, (1.0 - shrinkage) / degrees * lost
    rest = 1.0 - update * np.einsum("ij,ij,ij->i", offsets, inverse, offsets)
    if rest.min() < 1e-3:
        return None
    # Inner products under the inverse covariance without the row, by the formula of Sherman and Morrison.
    centre = _centre(scatter) if centred else 0.0
    along_row = np.einsum("ij,ij,ij->i", offsets, inverse, scatter.rows - centre)
    decision = np.empty((n, len(scatter.sizes)))
    for code in range(len(scatter.sizes)):
        mean = scatter.means_without(code) - centre
        weighted = inverse * mean
        along_mean = np.einsum("ij,ij->i", offsets, weighted)
        of_row = np.einsum("ij,ij->i", scatter.rows - centre, weighted) + update / rest * along_row * along_mean
        of_mean = np.einsum("ij,ij->i", mean, weighted) + update / rest * along_mean**2
        decision[:, code] = of_row - 0.5 * of_mean + scatter.log_priors(code)
    return decision


def _centre(scatter: Scatter) -> Floats:
    """The mean of all rows without each row; the solver "svd" measures from it."""
    return (scatter.rows.sum(axis=0) - scatter.rows) / (len(scatter.rows) - 1.0)


def discriminant_applies(estimator: Any) -> bool:
    """With given shares of the classes, or a covariance estimator, more than a product leaves with a row."""
    return estimator.priors is None and estimator.covariance_estimator is None


_REST = 1e-3
"""Rows whose own weight in their prediction leaves less than this are not predicted accurately by the formula."""


def _ridge_left_out(
    estimator: Any, values: Sequence[base.Value], X: Any, y: Any, response: str, **fit_params: Any
) -> list[Array | None]:
    rows, alphas = matrix(X), positives(values, "alpha")
    weights = row_weights(base.weights_only(fit_params), len(rows))
    labels = target(y)
    if is_classifier(estimator) and np.unique(labels, return_counts=True)[1].min() < 2:
        raise base.SeparateFitsError("a class of one row")
    Y, weights = outputs(estimator, labels, weights)
    centred = Centred.of(rows, Y, weights, intercept=estimator.fit_intercept)
    eigenvalues, scores = _principal_scores(centred.X)
    smallest = max(eigenvalues[-1], 0.0) if rows.shape[1] < len(rows) else 0.0
    roots = np.ones(len(rows)) if weights is None else np.sqrt(weights)
    own = roots**2 / np.sum(roots**2) if estimator.fit_intercept else np.zeros(len(rows))
    answer = _response(estimator, X, y, response)
    predictions: list[Array | None] = []
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
    model = base.fitted_copy(estimator, {}, X, y, {})

    def answer(linear: Floats) -> Array | None:
        linear = linear[:, 0] if linear.shape[1] == 1 else linear
        if response == "predict" and not base.is_clear(linear):
            return None
        return np.asarray(getattr(base.view_of(model, decision_function=base.Answer(linear)), response)(X))

    return answer


def _ridge_left_out_applies(estimator: Any) -> bool:
    return ridge_applies(estimator) and getattr(estimator, "class_weight", None) != "balanced"


def _kernel_left_out(
    estimator: Any, values: Sequence[base.Value], X: Any, y: Any, response: str, **fit_params: Any
) -> list[Array | None]:
    """Kernel ridge, and Gaussian processes with a fixed kernel: the same formula."""
    numbers, alphas = np.asarray(target(y), dtype=np.float64), positives(values, "alpha")
    weights = row_weights(base.weights_only(fit_params), len(numbers))
    if response != "predict" or (weights is not None and weights.min() <= 0.0):
        raise base.SeparateFitsError("rows without weight")
    roots = np.ones(len(numbers)) if weights is None else np.sqrt(weights)
    kernel = _kernel(estimator, X, y)
    eigenvalues, vectors = np.linalg.eigh(kernel * np.outer(roots, roots))
    parts = vectors.T @ (numbers * roots)
    predictions: list[Array | None] = []
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
    model = base.fitted_copy(estimator, {"alpha": 1e12}, X, y, {})  # no kernel makes this one warn
    kernel = kernel_of(model, model.X_fit_) if hasattr(model, "X_fit_") else model.kernel_(model.X_train_)
    if kernel.dtype != np.float64:
        raise base.SeparateFitsError(f"a kernel of type {kernel.dtype}")
    return np.asarray(kernel)


def _kernel_ridge_applies(estimator: Any) -> bool:
    return estimator.kernel != "precomputed"


def _process_applies(estimator: Any) -> bool:
    fixed = estimator.optimizer is None or estimator.kernel is None
    return fixed and not estimator.normalize_y and estimator.n_targets in (None, 1)


def _neighbours_left_out(
    estimator: Any, values: Sequence[base.Value], X: Any, y: Any, response: str, **fit_params: Any
) -> list[Array | None]:
    """The neighbours of each row among the others."""
    if is_classifier(estimator) and np.unique(target(y), return_counts=True)[1].min() < 2:
        raise base.SeparateFitsError("a class of one row")
    found = fit_neighbours(estimator, values, X, y, **fit_params)
    return [
        None if setting is None else found.predict_left_out(X, response, *setting) for setting in found.settings
    ]


def _neighbours_applies(estimator: Any) -> bool:
    """Two metrics, where they get no matrix, compute one from all the rows."""
    return estimator.metric not in ("precomputed", "seuclidean", "mahalanobis")


RIDGE = base.ClosedForm(object, ("alpha",), _ridge_left_out, _ridge_left_out_applies)
NEIGHBOURS = base.ClosedForm(object, ("n_neighbors", "weights"), _neighbours_left_out, _neighbours_applies)
DISCRIMINANT = base.ClosedForm(object, ("shrinkage",), discriminant_left_out, discriminant_applies)
KERNEL_RIDGE = base.ClosedForm(object, ("alpha",), _kernel_left_out, _kernel_ridge_applies)
PROCESS = base.ClosedForm(object, ("alpha",), _kernel_left_out, _process_applies)
