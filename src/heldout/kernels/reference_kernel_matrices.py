"""NumPy kernels of support vector machines' matrices, to the last bit as libsvm computes their entries.

libsvm calls the inner product of SciPy's BLAS for each pair of rows, and the exponential and the tangent of the C
library. A product of matrices and the exponential of NumPy give other last bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.linalg.blas import ddot

from heldout._types import Floats


def inner_products(left: Floats, right: Floats) -> Floats:
    """The inner product of each row of the first with each of the second, (n, m)."""
    refuse_other_columns(left, right)
    return np.array([[ddot(x, y) for y in right] for x in left], dtype=np.float64).reshape(len(left), len(right))


def squared_distances(left: Floats, right: Floats) -> Floats:
    """The inner product of the difference of two rows with itself, (n, m)."""
    refuse_other_columns(left, right)
    products = [[ddot(difference, difference) for difference in x - right] for x in left]
    return np.array(products, dtype=np.float64).reshape(len(left), len(right))


def exponentials(values: Floats, factor: float, symmetric: bool = False) -> Floats:
    """exp(factor · value), of a matrix; ``symmetric`` promises that it is."""
    return _each(_exponential, factor * values)


def hyperbolic_tangents(values: Floats, factor: float, offset: float) -> Floats:
    """tanh(factor · value + offset), of a matrix."""
    return _each(math.tanh, factor * values + offset)


def refuse_other_columns(left: Floats, right: Floats) -> None:
    if left.ndim != 2 or left.shape[1:] != right.shape[1:] or not left.shape[1]:
        raise ValueError(
            f"rows must have the same columns, at least one, got shapes {left.shape} and {right.shape}"
        )


def _exponential(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _each(function: Callable[[float], float], values: Floats) -> Floats:
    return np.array([function(value) for value in values.ravel().tolist()]).reshape(values.shape)
