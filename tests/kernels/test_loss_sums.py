from fractions import Fraction
from types import ModuleType
from typing import Literal

import numpy as np
import pytest

from heldout.kernels.reference import on_exact_grid


def test_by_hand(kernels: ModuleType) -> None:
    sums = kernels.LossSums(np.array([[0.25, 1.0], [2.0, 0.0], [0.5, 4.0]]), 9)
    counts = np.array([[1, 1, 1], [0, 4, 2]], dtype=np.uint8)
    assert sums.all(counts).tolist() == [[2.75, 5.0], [9.0, 8.0]]
    assert sums.selected(counts, np.array([1, 0])).tolist() == [5.0, 9.0]
    assert sums.all(counts * 0.5).tolist() == [[1.375, 2.5], [4.5, 4.0]]


def test_losses_on_the_grid_add_up_without_rounding(kernels: ModuleType) -> None:
    rng = np.random.default_rng(0)
    losses = rng.lognormal(sigma=3, size=(200, 3))
    counts = rng.integers(0, 5, size=(6, 200), dtype=np.uint8)
    most = int(counts.sum(axis=1).max())
    grid = on_exact_grid(losses, most)
    np.testing.assert_allclose(grid, losses, rtol=0, atol=losses.max() * most * 2**-52)
    sums = kernels.LossSums(losses, most).all(counts)
    for lane in range(6):
        for j in range(3):
            exact = sum(int(c) * Fraction(x) for c, x in zip(counts[lane], grid[:, j], strict=True))
            assert Fraction(sums[lane, j]) == exact


@pytest.mark.parametrize("n_rows", [0, 1, 15, 16, 37, 100])
@pytest.mark.parametrize("order", ["C", "F"])
def test_chosen_columns_are_those_of_all(kernels: ModuleType, n_rows: int, order: Literal["C", "F"]) -> None:
    rng = np.random.default_rng(2)
    sums = kernels.LossSums(np.asarray(rng.lognormal(size=(n_rows, 9)), order=order), 10 * n_rows)
    counts = rng.integers(0, 9, size=(40, n_rows), dtype=np.uint8)
    columns = rng.integers(0, 9, size=40)
    np.testing.assert_array_equal(sums.selected(counts, columns), sums.all(counts)[np.arange(40), columns])


def test_real_weights_are_added_row_after_row(kernels: ModuleType) -> None:
    rng = np.random.default_rng(1)
    losses, weights = rng.lognormal(size=(90, 70)), rng.random((5, 90))
    grid = on_exact_grid(losses, 90)
    expected = np.zeros((5, 70))
    for i in range(90):
        expected += weights[:, [i]] * grid[i]
    sums = kernels.LossSums(losses, 90)
    np.testing.assert_array_equal(sums.all(weights), expected)
    columns = np.array([0, 69, 3, 64, 63])
    np.testing.assert_array_equal(sums.selected(weights, columns), expected[np.arange(5), columns])


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1.0, 1e305])
def test_losses_of_any_magnitude(kernels: ModuleType, scale: float) -> None:
    losses = np.array([[1.0], [2.0], [0.0]]) * scale
    sums = kernels.LossSums(losses, 100).all(np.array([[1, 1, 1]], dtype=np.uint8))
    np.testing.assert_allclose(sums, [[3.0 * scale]], rtol=1e-12)


def test_losses_that_cannot_be_added_are_refused(kernels: ModuleType) -> None:
    with pytest.raises(ValueError, match="accept NaN"):
        kernels.LossSums(np.array([[np.nan]]), 1)
    with pytest.raises(ValueError, match="clip infinite ones"):
        kernels.LossSums(np.array([[np.inf]]), 1)
    with pytest.raises(ValueError, match="rescale them"):
        kernels.LossSums(np.array([[1e308]]), 100)
