"""Support vector machines, to the last bit: one kernel matrix for all penalties of a gamma.

The machines are those of ``kernel="precomputed"``, fitted on a matrix whose entries have the bits that libsvm would
compute. The first machine of a group is also fitted as usual: unless both have the same bits and predict the same
ones, the others are fitted alone.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from heldout._types import Array, Floats
from heldout.kernels.dispatch import KERNELS, exponentials, hyperbolic_tangents, inner_products, squared_distances
from heldout.spaces.submodels.base import SeparateFitsError, SubmodelFamily, Value, weights_only
from heldout.spaces.submodels.linear import row_weights

_MOST_ROWS = 4000
"""Two kernel matrices exist at a time. Of so many rows each takes 128 MB."""
_ENTRIES_OF_A_FIT = 40_000
"""Entries of a matrix that are computed in the time that a fit takes for its checks."""


class KernelShape(NamedTuple):
    """The numbers in a kernel."""

    gamma: float
    degree: int
    coef0: float


@dataclass(frozen=True, eq=False)
class KernelMatrices:
    """The matrices between rows and the training rows.

    Attributes
    ----------
    kernel : {"rbf", "linear", "poly", "sigmoid"}
    products : ndarray, shape (rows, training rows)
        What does not depend on the shape: squared distances for ``rbf``, inner products otherwise.
    symmetric : bool
    """

    kernel: str
    products: Floats
    symmetric: bool

    @classmethod
    def of_training(cls, kernel: str, rows: Floats) -> KernelMatrices:
        """Among the training rows, where libsvm takes distances from inner products."""
        products = inner_products(rows, rows)
        if kernel == "rbf":
            squares = products.diagonal().copy()
            products = (squares[:, None] + squares) - 2.0 * products
        return cls(kernel, products, True)

    @classmethod
    def of_new(cls, kernel: str, new: Floats, rows: Floats) -> KernelMatrices:
        """Between rows to predict and the training rows."""
        products = squared_distances(new, rows) if kernel == "rbf" else inner_products(new, rows)
        return cls(kernel, products, False)

    def matrix(self, shape: KernelShape) -> Floats:
        """The kernel's values."""
        if self.kernel == "rbf":
            values = exponentials(self.products, -shape.gamma, self.symmetric)
        elif self.kernel == "poly":
            values = _power(shape.gamma * self.products + shape.coef0, shape.degree)
        elif self.kernel == "sigmoid":
            values = hyperbolic_tangents(self.products, shape.gamma, shape.coef0)
        else:
            values = self.products
        if not np.isfinite(values).all():
            raise SeparateFitsError("a kernel overflows")
        return values


def _power(base: Floats, exponent: int) -> Floats:
    """An integer power by repeated squares, multiplied in libsvm's order."""
    power = np.ones_like(base)
    while exponent:
        if exponent % 2:
            power *= base
        exponent //= 2
        if exponent:
            base = base * base
    return power


Machines = Mapping[KernelShape, Mapping[int, Any]]
"""By shape of their matrix and number of the value: machines that are fitted on matrices."""


@dataclass(frozen=True, eq=False)
class KernelMachines:
    """Machines of the same training rows; these are submodels.

    Attributes
    ----------
    n_values : int
    first : int
        The number of a value.
    as_usual : estimator
        The machine of that value, fitted as usual.
    rows : ndarray, shape (training rows, columns)
    machines : mapping
        Empty where all other values must be fitted alone.
    """

    n_values: int
    first: int
    as_usual: Any
    rows: Floats
    machines: Machines

    def predict_many(self, X: Any, response: str) -> list[Array | None]:
        expected = getattr(self.as_usual, response)(X)
        answers = self._by_matrix(X, response) if self.machines else {}
        if not np.array_equal(answers.get(self.first, ()), expected):
            answers = {self.first: expected}
        return [answers.get(number) for number in range(self.n_values)]

    def _by_matrix(self, X: Any, response: str) -> dict[int, Array]:
        matrices = KernelMatrices.of_new(self.as_usual.kernel, _checked_rows(self.as_usual, X), self.rows)
        answers = {}
        for shape, machines in self.machines.items():
            matrix = matrices.matrix(shape)
            with config_context(assume_finite=True):  # the matrix is
                answers.update({number: getattr(machine, response)(matrix) for number, machine in machines.items()})
        return answers


def fit_machines(estimator: Any, values: Sequence[Value], X: Any, y: Any, **fit_params: Any) -> KernelMachines:
    """A machine a value: all fitted on one kernel matrix a shape, or only the first where that takes longer."""
    fit_params = weights_only(fit_params)
    served = {number: value for number, value in enumerate(values) if _is_served(value)}
    _refuse(X, fit_params, len(served))
    first = min(served)
    as_usual = clone(estimator).set_params(**values[first]).fit(X, y, **fit_params)
    rows = _checked_rows(as_usual, X)
    by_shape: dict[KernelShape, dict[int, Value]] = {}
    for number, value in served.items():
        by_shape.setdefault(_shape(as_usual, value, rows), {})[number] = value
    machines: dict[KernelShape, dict[int, Any]] = {}
    if _is_worth_a_matrix(len(served), len(by_shape), as_usual):
        matrices = KernelMatrices.of_training(as_usual.kernel, rows)
        for shape, of_shape in by_shape.items():
            machines[shape] = _fitted(as_usual, of_shape, matrices.matrix(shape), y, fit_params)
    if not any(first in of_shape and _are_same(of_shape[first], as_usual) for of_shape in machines.values()):
        machines = {}
    return KernelMachines(len(values), first, as_usual, rows, machines)


def _checked_rows(machine: Any, X: Any) -> Floats:
    """The rows as a fitted machine passes them to libsvm."""
    rows: Floats = validate_data(machine, X, dtype=np.float64, order="C", reset=False)
    return rows


def _fitted(
    as_usual: Any, values: Mapping[int, Value], matrix: Floats, y: Any, fit_params: Mapping[str, Any]
) -> dict[int, Any]:
    """Machines on a kernel matrix by number of the value; without those that must be fitted alone."""
    machines = {}
    for number, value in values.items():
        machine = clone(as_usual).set_params(**value, kernel="precomputed")
        with suppress(ValueError), config_context(assume_finite=True):  # libsvm refuses a parameter; the matrix is
            machine.fit(matrix, y, **fit_params)
            machines[number] = machine
    return machines


def _is_worth_a_matrix(n_machines: int, n_shapes: int, as_usual: Any) -> bool:
    """Whether the machines take longer alone: each computes the rows of its support vectors, a matrix has all."""
    n_rows = as_usual.shape_fit_[0]
    saved = (n_machines - 1) * (len(as_usual.support_) * n_rows + _ENTRIES_OF_A_FIT)
    return bool(saved > n_rows**2 * (0.75 + 0.25 * n_shapes))


def _is_served(value: Value) -> bool:
    """Whether the values are those that most machines take; libsvm refuses some of them later."""
    numbers = {name: number for name, number in value.items() if name != "gamma" or number not in ("scale", "auto")}
    return all(
        isinstance(number, Integral if name == "degree" else Real)
        and math.isfinite(number)
        and (name == "coef0" or float(number) >= 0.0)
        for name, number in numbers.items()
    )


def _refuse(X: Any, fit_params: Mapping[str, Any], n_served: int) -> None:
    """Refuse data and groups for which separate fits are faster, or different."""
    if KERNELS == "numpy":
        raise SeparateFitsError("a matrix takes long without the compiled kernels")
    if n_served < 2:
        raise SeparateFitsError("one machine")
    if sp.issparse(X):
        raise SeparateFitsError("sparse rows")
    if len(X) > _MOST_ROWS:
        raise SeparateFitsError("too many rows for a matrix")
    weights = row_weights(fit_params, len(X))
    if weights is not None and weights.min() <= 0.0:
        # libsvm leaves such rows out, but takes the columns of a matrix as if they were there.
        raise SeparateFitsError("rows without weight")


def _shape(model: Any, value: Value, rows: Floats) -> KernelShape:
    gamma, degree, coef0 = (value.get(name, getattr(model, name)) for name in KernelShape._fields)
    if gamma == "scale":
        variance = rows.var()
        gamma = 1.0 / (rows.shape[1] * variance) if variance != 0 else 1.0
    elif gamma == "auto":
        gamma = 1.0 / rows.shape[1]
    return KernelShape(float(gamma), int(degree), float(coef0))


def _are_same(machine: Any, other: Any) -> bool:
    names = ("support_", "dual_coef_", "intercept_")
    return all(np.array_equal(getattr(machine, name), getattr(other, name)) for name in names)


def _applies(estimator: Any) -> bool:
    kernels: tuple[Hashable, ...] = ("rbf", "poly", "sigmoid", "linear")
    probability = getattr(estimator, "probability", False)
    return estimator.kernel in kernels and probability in (False, "deprecated")


def _family(*parameters: str) -> SubmodelFamily:
    return SubmodelFamily(object, (*parameters, *KernelShape._fields), fit_machines, _applies, "bitwise", 2)


SVC, NU_SVC, SVR, NU_SVR = _family("C"), _family("nu"), _family("C", "epsilon"), _family("C", "nu")
