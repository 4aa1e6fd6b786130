"""Leave-one-out of linear discriminant analysis: one matrix of eigenvectors, and an update of rank one a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.spaces.submodels.base import SeparateFitsError, Value
from heldout.spaces.submodels.linear import Floats, matrix, target
from heldout.spaces.submodels.parts import Answer, fitted_copy, is_clear, view_of, without_weights

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
    codes: NDArray[np.intp]
    sizes: Floats

    @classmethod
    def of(cls, rows: Floats, codes: NDArray[np.intp]) -> Scatter:
        sizes = np.bincount(codes).astype(np.float64)
        if sizes.min() < 2:
            raise SeparateFitsError("a class of one row")
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
    estimator: Any, values: Sequence[Value], X: Any, y: Any, response: str, **fit_params: Any
) -> list[NDArray[Any] | None]:
    """Row i predicted by the discriminant analysis of the others, for all shrinkages."""
    without_weights(fit_params)
    classes, codes = np.unique(target(y), return_inverse=True)
    scatter = Scatter.of(matrix(X), codes)
    model = fitted_copy(estimator, {}, X, y, {})
    lost = _degrees_lost(model, scatter) if estimator.solver == "svd" else 0
    predictions: list[NDArray[Any] | None] = []
    for shrinkage in (_shrinkage(value["shrinkage"], estimator.solver) for value in values):
        decision = None if shrinkage is None else _decision(scatter, shrinkage, estimator.solver == "svd", lost)
        if decision is None or (response == "predict" and not is_clear(decision)):
            predictions.append(None)
            continue
        if len(classes) == 2:
            decision = decision[:, 1] - decision[:, 0]
        predictions.append(getattr(view_of(model, decision_function=Answer(decision)), response)(X))
    return predictions


def _shrinkage(value: Any, solver: str) -> float | None:
    if value is None or solver == "svd":
        return 0.0 if value is None else None
    number = isinstance(value, int | float | np.integer | np.floating) and type(value) is not bool
    return float(value) if number and 0.0 <= value <= 1.0 else None


def _degrees_lost(model: Any, scatter: Scatter) -> int:
    """The number that the solver "svd" subtracts from the number of rows: the classes in old versions, now zero."""
    if not np.all(scatter.eigenvalues > scatter.eigenvalues[-1] / _CONDITION):
        raise SeparateFitsError("ill-conditioned")
    ours = ((scatter.means - scatter.rows.mean(axis=0)) / scatter.eigenvalues) @ scatter.vectors.T
    ours = ours if len(ours) > 2 else ours[1:] - ours[:1]
    degrees = np.sum(model.coef_ * ours) / np.sum(ours**2)
    lost = round(len(scatter.rows) - degrees)
    expected = (len(scatter.rows) - lost) * ours
    if lost not in (0, len(scatter.sizes)) or np.abs(model.coef_ - expected).max() > 1e-9 * np.abs(expected).max():
        raise SeparateFitsError("directions are left out")
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
