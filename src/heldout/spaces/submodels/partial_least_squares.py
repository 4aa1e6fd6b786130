"""Partial least squares for all numbers of components: the first ones of a large fit are a smaller fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.linalg import pinv

from heldout.spaces.submodels.base import SubmodelFamily, Value
from heldout.spaces.submodels.parts import Views, counts, fitted_copy, largest, view_of, without_weights


def fit_pls(estimator: Any, values: Sequence[Value], X: Any, y: Any, **fit_params: Any) -> Views:
    """The largest number of components; larger ones than the table allows are fitted alone, to fail alone."""
    without_weights(fit_params)
    limit = min(np.shape(X))
    sizes = [size if size is not None and size <= limit else None for size in counts(values, "n_components")]
    return Views(fitted_copy(estimator, {"n_components": largest(sizes)}, X, y, {}), sizes, _views)


def _views(model: Any, X: Any, sizes: list[int]) -> dict[int, Any]:
    return {size: _first_components(model, size) for size in sizes}


def _first_components(model: Any, size: int) -> Any:
    weights, loadings = model.x_weights_[:, :size], model.x_loadings_[:, :size]
    rotations = weights @ pinv(loadings.T @ weights, check_finite=False)
    coefficients = rotations @ model.y_loadings_[:, :size].T
    return view_of(model, n_components=size, coef_=(coefficients * model._y_std).T / model._x_std)


_PLS = SubmodelFamily(object, ("n_components",), fit_pls, None, True)

FAMILIES: Mapping[str, tuple[SubmodelFamily, ...]] = {"PLSRegression": (_PLS,)}
