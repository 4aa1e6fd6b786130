"""What providers of linear models share: training rows as numbers, and predictions for many coefficients."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import validate_data

from heldout._types import Array, Floats
from heldout.spaces.submodels.base import Answer, SeparateFitsError, Value, view_of

_MOST_NUMBERS = 10_000_000
"""Of an array that is made from sparse rows: 80 megabytes."""


@dataclass(frozen=True, eq=False)
class PenaltyCoefficients:
    """Coefficients and intercepts of several linear models that differ in nothing else; these are submodels.

    Attributes
    ----------
    model : estimator
        One of them, fitted.
    coefficients : ndarray, shape (features, outputs, models)
    intercepts : ndarray, shape (outputs, models)
    positions : sequence of int or None
        Of each value among the models.
    """

    model: Any
    coefficients: Floats
    intercepts: Floats
    positions: Sequence[int | None]

    def predict_many(self, X: Any, response: str) -> list[Array | None]:
        linear = self.linear(validate_data(self.model, X, accept_sparse="csr", reset=False))
        return [
            None if position is None else self._answer(X, response, np.ascontiguousarray(linear[..., position]))
            for position in self.positions
        ]

    def linear(self, rows: Any) -> Floats:
        """The linear predictors, (rows, outputs, models)."""
        features = self.coefficients.shape[0]
        product = safe_sparse_dot(rows, self.coefficients.reshape(features, -1))
        return product.reshape(len(product), *self.coefficients.shape[1:]) + self.intercepts

    def _answer(self, X: Any, response: str, linear: Floats) -> Array:
        linear = linear[:, 0] if linear.shape[1] == 1 else linear
        if not is_classifier(self.model):
            return linear
        return getattr(view_of(self.model, decision_function=Answer(linear)), response)(X)


def matrix(X: Any) -> Floats:
    """Training rows as an array of double precision, the one to which scikit-learn would convert them.

    Other precisions and sparse rows are refused.
    """
    if sp.issparse(X):
        raise SeparateFitsError("sparse rows")
    rows = np.asarray(X)
    if rows.dtype.kind not in "biu" and rows.dtype != np.float64:
        raise SeparateFitsError(f"rows of type {rows.dtype}")
    return np.asarray(rows, dtype=np.float64)


def dense(X: Any) -> Any:
    """Sparse rows as an array where it is small, for solutions to a tolerance; all other rows as they are."""
    return X.toarray() if sp.issparse(X) and math.prod(X.shape) <= _MOST_NUMBERS else X


def target(y: Any) -> Array:
    y = np.asarray(y)
    if y.ndim != 1:
        raise SeparateFitsError("several outputs")
    return y


def row_weights(fit_params: Mapping[str, Any], rows: int) -> Floats | None:
    weights = fit_params.get("sample_weight")
    if weights is None:
        return None
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (rows,) or not np.all(weights >= 0.0):
        raise SeparateFitsError("unusual weights")
    return weights


def positives(values: Sequence[Value], name: str) -> list[float | None]:
    """The values of a parameter that is a positive number, None where it is something else."""
    return [_positive(value[name]) for value in values]


def _positive(value: Any) -> float | None:
    number = isinstance(value, int | float | np.integer | np.floating) and type(value) is not bool
    return float(value) if number and 0.0 < value < np.inf else None


def positions(sizes: Sequence[float | None], served: Sequence[float]) -> list[int | None]:
    """Where each value is among the served ones."""
    place = {value: position for position, value in enumerate(served)}
    return [None if size is None else place.get(size) for size in sizes]
