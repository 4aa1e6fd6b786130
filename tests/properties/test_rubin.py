"""What holds of Rubin's rules whatever the coefficients."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from heldout.imputation.coefficients import Coefficients, pool_coefficients

NUMBERS = st.floats(-100, 100, allow_subnormal=False).map(lambda value: round(value, 6))


def named(values: np.ndarray, covariance: np.ndarray) -> Coefficients:
    return Coefficients(tuple(f"x{j}" for j in range(len(values))), values, covariance)


@given(arrays(float, 3, elements=NUMBERS), st.floats(0.01, 100), st.integers(2, 9), st.integers(5, 1000))
def test_identical_imputations_leave_the_variance_of_complete_rows(
    values: np.ndarray, variance: float, H: int, n: int
) -> None:
    pooled = pool_coefficients([named(values, variance * np.eye(3))] * H, n)
    assert pooled is not None
    np.testing.assert_allclose(pooled.values, values, rtol=1e-12)
    np.testing.assert_allclose(pooled.covariance, variance * np.eye(3), rtol=1e-9, atol=1e-9)
    complete = n - 3
    np.testing.assert_allclose(pooled.df, (complete + 1) / (complete + 3) * complete, rtol=1e-6)


@example(values=np.array([[0.0, 0.0]] * 3 + [[1.0, 0.0]]), n=4, scale=1.0, shear=1e-150)  # its square is 0
@given(arrays(float, (4, 2), elements=NUMBERS), st.integers(4, 500), st.floats(0.01, 100), st.floats(-3, 3))
def test_the_rules_go_with_linear_maps_and_are_bounded(
    values: np.ndarray, n: int, scale: float, shear: float
) -> None:
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    A = np.array([[scale, 0.0], [shear, 1.0]])
    pooled = pool_coefficients([named(each, covariance) for each in values], n)
    mapped = pool_coefficients([named(A @ each, A @ covariance @ A.T) for each in values], n)
    assert pooled is not None and mapped is not None
    np.testing.assert_allclose(mapped.values, A @ pooled.values, rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(mapped.covariance, A @ pooled.covariance @ A.T, rtol=1e-8, atol=1e-4)
    assert (np.diag(pooled.covariance) >= np.diag(pooled.within)).all()
    assert (0 <= pooled.variance_from_missing).all() and (pooled.variance_from_missing < 1).all()
    assert (pooled.df > 0).all() and (pooled.df < n - 2).all()
