"""Partial least squares regression for all numbers of components: the first ones of a large fit are a smaller fit.

As a step of a pipeline it has no provider: its ``fit_transform`` returns two arrays, which pipelines do not take.
``PLSCanonical`` and ``CCA`` have as many components as the target has columns at most, and a target has one here.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import pinv

from heldout._sklearn import scales_of_pls
from heldout.spaces.submodels import base


def fit_pls(estimator: Any, values: Sequence[base.Value], X: Any, y: Any, **fit_params: Any) -> base.Views:
    """The largest number of components; larger ones than the table allows are fitted alone, to fail alone."""
    base.without_weights(fit_params)
    limit = min(np.shape(X))
    sizes = [size if size is not None and size <= limit else None for size in base.counts(values, "n_components")]
    return base.Views(base.fitted_copy(estimator, {"n_components": base.largest(sizes)}, X, y, {}), sizes, _views)


def _views(model: Any, X: Any, sizes: list[int]) -> dict[int, Any]:
    return {size: _first_components(model, size) for size in sizes}


def _first_components(model: Any, size: int) -> Any:
    """The smaller model, by scikit-learn's own operations on arrays of the same layout: equal to the last bit."""
    names = ("x_weights_", "x_loadings_", "y_loadings_")
    weights, loadings, of_target = (np.ascontiguousarray(getattr(model, name)[:, :size]) for name in names)
    rotations = np.dot(weights, pinv(np.dot(loadings.T, weights), check_finite=False))
    coefficients = np.dot(rotations, of_target.T)
    of_columns, of_target = scales_of_pls(model)
    return base.view_of(model, n_components=size, coef_=(coefficients * of_target).T / of_columns)


PLS = base.SubmodelFamily(object, ("n_components",), fit_pls, None, "bitwise", cost="proportional")
