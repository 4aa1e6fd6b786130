from types import ModuleType

import numpy as np
import pytest


def test_by_hand(kernels: ModuleType) -> None:
    values = np.array([[3.0], [1.0], [10.0]])
    counts = np.array([[1, 1, 1], [1, 1, 0], [0, 2, 3], [2, 2, 0], [0, 0, 1], [0, 0, 0]], dtype=np.uint8)
    expected = [[3.0], [2.0], [10.0], [2.0], [10.0], [np.nan]]
    np.testing.assert_array_equal(kernels.Medians(values).all(counts), expected)


@pytest.mark.parametrize("largest", [3, 255])
@pytest.mark.parametrize("n", [1, 2, 25, 300])
def test_equals_the_median_of_repeated_rows(kernels: ModuleType, n: int, largest: int) -> None:
    rng = np.random.default_rng(n)
    values = np.round(rng.normal(size=(n, 3)), 1)
    counts = rng.integers(0, largest + 1, size=(70, n), dtype=np.uint8)
    counts[:, 0] = np.maximum(counts[:, 0], 1)
    medians = kernels.Medians(values).all(counts)
    for lane in range(70):
        np.testing.assert_array_equal(medians[lane], np.median(np.repeat(values, counts[lane], axis=0), axis=0))
    columns = rng.integers(0, 3, size=70)
    np.testing.assert_array_equal(
        kernels.Medians(values).selected(counts, columns), medians[np.arange(70), columns]
    )


def test_real_weights(kernels: ModuleType) -> None:
    values = np.array([[1.0], [2.0], [5.0]])
    weights = np.array([[0.5, 0.25, 0.25], [0.4, 0.2, 0.4], [0.0, 0.0, 0.3], [0.9, 0.05, 0.05]])
    # In the first the half is met exactly after 1.0, so that the median lies between it and 2.0.
    assert kernels.Medians(values).all(weights).tolist() == [[1.5], [2.0], [5.0], [1.0]]


def test_total_weights_above_16_bits(kernels: ModuleType) -> None:
    values = np.arange(400.0)[:, None]
    counts = np.full((1, 400), 255, dtype=np.uint8)
    counts[0, :100] = 0
    assert kernels.Medians(values).all(counts).tolist() == [[249.5]]
