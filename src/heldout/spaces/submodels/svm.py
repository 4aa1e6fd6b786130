"""Support vector machines, to a tolerance: one kernel matrix for all penalties of a gamma."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.validation import validate_data

from heldout.spaces.submodels.base import SeparateFitsError, SubmodelFamily, Value
from heldout.spaces.submodels.linear import Floats, matrix, row_weights
from heldout.spaces.submodels.parts import weights_only

_ROWS = 5000
"""The kernel matrix of more rows takes too much memory (200 MB)."""


class KernelMachines:
    """Machines fitted on kernel matrices of the same rows.

    Parameters
    ----------
    estimator : estimator
        The machine with all parameters that do not differ.
    reference : estimator
        A machine that knows the names and the number of columns.
    """

    def __init__(self, estimator: Any, reference: Any, rows: Floats, machines: Sequence[tuple[Any, float]]) -> None:
        self.estimator = estimator
        self.reference = reference
        self.rows = rows
        self.machines = machines
        self._new: Any = None
        self._products: Floats = np.empty((0, 0))

    def predict_many(self, X: Any, response: str) -> list[NDArray[Any] | None]:
        if self._new is not X:
            new = np.asarray(validate_data(self.reference, X, reset=False), dtype=np.float64)
            self._products, self._new = _products(self.estimator, new, self.rows), X

        @cache
        def kernel(gamma: float) -> Floats:
            return _kernel(self.estimator, self._products, gamma)

        return [getattr(machine, response)(kernel(gamma)) for machine, gamma in self.machines]


def fit_machines(estimator: Any, values: Sequence[Value], X: Any, y: Any, **fit_params: Any) -> KernelMachines:
    """A machine a value, all fitted on one kernel matrix a gamma."""
    fit_params = weights_only(fit_params)
    rows = matrix(X)
    weights = row_weights(fit_params, len(rows))
    if weights is not None and weights.min() <= 0.0:
        # libsvm leaves such rows out, but takes the columns of a kernel matrix as if they were there.
        raise SeparateFitsError("rows without weight")
    if len(rows) > _ROWS:
        raise SeparateFitsError("too many rows for a kernel matrix")
    reference = clone(estimator)
    validate_data(reference, X)
    products = _products(estimator, rows, rows)

    @cache
    def kernel(gamma: float) -> Floats:
        return _kernel(estimator, products, gamma)

    machines = []
    for value in values:
        gamma = _gamma(value.get("gamma", estimator.gamma), rows)
        machine = clone(estimator).set_params(**value).set_params(kernel="precomputed")
        machines.append((machine.fit(kernel(gamma), y, **fit_params), gamma))
    return KernelMachines(estimator, reference, rows, machines)


def _gamma(gamma: Any, rows: Floats) -> float:
    if isinstance(gamma, str):
        variance = rows.var()
        scale = 1.0 / (rows.shape[1] * variance) if variance != 0 else 1.0
        return {"scale": scale, "auto": 1.0 / rows.shape[1]}[gamma]
    if gamma < 0:
        raise SeparateFitsError("a negative gamma")
    return float(gamma)


def _products(estimator: Any, new: Floats, rows: Floats) -> Floats:
    """What does not depend on gamma: squared distances, or inner products."""
    if estimator.kernel == "rbf":
        return np.asarray(euclidean_distances(new, rows, squared=True))
    return np.asarray(new @ rows.T)


def _kernel(estimator: Any, products: Floats, gamma: float) -> Floats:
    if estimator.kernel == "rbf":
        return np.exp(-gamma * products)
    if estimator.kernel == "poly":
        return (gamma * products + estimator.coef0) ** estimator.degree
    if estimator.kernel == "sigmoid":
        return np.tanh(gamma * products + estimator.coef0)
    return products


def _applies(estimator: Any) -> bool:
    kernels = ("rbf", "poly", "sigmoid", "linear")
    probability = getattr(estimator, "probability", False)
    return estimator.kernel in kernels and probability in (False, "deprecated")


def _family(*parameters: str) -> SubmodelFamily:
    return SubmodelFamily(object, parameters, fit_machines, _applies, False)


FAMILIES: Mapping[str, tuple[SubmodelFamily, ...]] = {
    "SVC": (_family("C", "gamma"),),
    "NuSVC": (_family("nu", "gamma"),),
    "SVR": (_family("C", "gamma", "epsilon"),),
    "NuSVR": (_family("C", "gamma", "nu"),),
}
