import math
from types import ModuleType

import numpy as np
import pytest
from scipy.linalg.blas import ddot

from heldout.kernels.dispatch import KERNELS


def rows(n: int, columns: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, columns)) * 10.0 ** (np.arange(columns) % 7 - 3)


@pytest.mark.parametrize("columns", [1, 2, 7, 8, 31, 64, 101])
def test_products_are_those_of_blas_to_the_last_bit(kernels: ModuleType, columns: int) -> None:
    left, right = rows(45, columns), rows(9, columns, 1)
    for one, other in ((left, right), (left, left), (left[:9], right)):
        expected = [[ddot(x, y) for y in other] for x in one]
        assert np.array_equal(kernels.inner_products(one, other), expected)
        apart = [[ddot(x - y, x - y) for y in other] for x in one]
        assert np.array_equal(kernels.squared_distances(one, other), apart)


def test_functions_are_those_of_the_c_library_to_the_last_bit(kernels: ModuleType) -> None:
    values = rows(70, 70)
    values = values + values.T
    expected = [[math.exp(-0.03 * value) for value in row] for row in values.tolist()]
    assert np.array_equal(kernels.exponentials(values, -0.03), expected)
    assert np.array_equal(kernels.exponentials(values, -0.03, symmetric=True), expected)
    assert np.array_equal(kernels.exponentials(values[:5], -0.03), expected[:5])
    tangents = [[math.tanh(0.7 * value + 0.1) for value in row] for row in values.tolist()]
    assert np.array_equal(kernels.hyperbolic_tangents(values, 0.7, 0.1), tangents)


def test_values_beyond_the_range(kernels: ModuleType) -> None:
    values = np.array([[1e4, -1e4, np.nan, 0.0]])
    assert np.array_equal(kernels.exponentials(values, -1.0), [[0.0, np.inf, np.nan, 1.0]], equal_nan=True)
    assert np.array_equal(kernels.hyperbolic_tangents(values, 1.0, 0.0), [[1.0, -1.0, np.nan, 0.0]], equal_nan=True)


def test_arrays_of_any_layout(kernels: ModuleType) -> None:
    left, right = np.asfortranarray(rows(12, 6)), rows(5, 12)[:, ::2]
    whole = np.ascontiguousarray(left), np.ascontiguousarray(right)
    for name in ("inner_products", "squared_distances"):
        assert np.array_equal(getattr(kernels, name)(left, right), getattr(kernels, name)(*whole))
    assert np.array_equal(kernels.exponentials(left, 2.0), kernels.exponentials(whole[0], 2.0))


def test_rows_of_other_columns_are_refused(kernels: ModuleType) -> None:
    for left, right in ((rows(3, 2), rows(3, 3)), (rows(3, 0), rows(3, 0))):
        for name in ("inner_products", "squared_distances"):
            with pytest.raises(ValueError, match="the same columns, at least one"):
                getattr(kernels, name)(left, right)


@pytest.mark.skipif(KERNELS == "numpy", reason="this installation was built without a compiler")
def test_only_the_inner_product_of_scipy_is_called() -> None:
    from scipy.linalg import cython_blas

    from heldout.kernels import _core

    left = rows(2, 2)
    with pytest.raises(ValueError, match="another type"):
        _core.inner_products(cython_blas.__pyx_capi__["sdot"], left, left, np.empty((2, 2)))
