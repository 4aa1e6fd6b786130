from types import ModuleType

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix


def test_by_hand(kernels: ModuleType) -> None:
    cells = np.array([[0, 1], [-1, 0], [0, 0], [1, -1]], dtype=np.int32)
    sums = kernels.CellSums(cells, 2)
    counts = np.array([[1, 1, 1, 1], [0, 5, 2, 7]], dtype=np.uint8)
    assert sums.all(counts).dtype == np.int64
    assert sums.all(counts).tolist() == [[[2, 1], [2, 1]], [[2, 7], [7, 0]]]
    assert sums.selected(counts, np.array([1, 0])).tolist() == [[2, 1], [2, 7]]


def test_a_confusion_matrix_equals_scikit_learns(kernels: ModuleType) -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, size=50)
    # Columns that err seldom, often, and nearly always: each is listed another way.
    wrong = rng.random((50, 4)) < [0.05, 0.5, 0.95, 1.0]
    labels = np.where(wrong, (truth[:, None] + 1) % 3, truth[:, None])
    counts = rng.integers(0, 6, size=(80, 50), dtype=np.uint8)
    sums = kernels.CellSums((3 * truth[:, None] + labels).astype(np.int32), 9).all(counts)
    for lane in (0, 17, 79):
        for j in range(4):
            expected = confusion_matrix(truth, labels[:, j], sample_weight=counts[lane].astype(int))
            assert sums[lane, j].reshape(3, 3).tolist() == expected.tolist()


@pytest.mark.parametrize("largest", [1, 7, 63, 64, 127, 128, 255])
def test_counts_of_any_size_are_summed_exactly(kernels: ModuleType, largest: int) -> None:
    rng = np.random.default_rng(largest)
    cells = rng.integers(-1, 2, size=(403, 3)).astype(np.int32)
    counts = np.full((3, 403), largest, dtype=np.uint8)
    counts[1] = rng.integers(0, largest + 1, size=403)
    sums = kernels.CellSums(cells, 2).all(counts)
    expected = [[[int(w[column == k].sum(dtype=int)) for k in (0, 1)] for column in cells.T] for w in counts]
    assert sums.tolist() == expected


def test_many_cells(kernels: ModuleType) -> None:
    cells = np.arange(60, dtype=np.int32).reshape(20, 3) % 37
    counts = np.arange(40, dtype=np.uint8).reshape(2, 20)
    sums = kernels.CellSums(cells, 37).all(counts)
    expected = np.zeros((2, 3, 37), dtype=int)
    for i in range(20):
        for j in range(3):
            expected[:, j, cells[i, j]] += counts[:, i]
    np.testing.assert_array_equal(sums, expected)


def test_a_cell_that_does_not_exist_is_refused(kernels: ModuleType) -> None:
    for cells, n_cells in (([[2]], 2), ([[-2]], 2), ([[0]], 0), ([[40]], 40)):
        with pytest.raises(ValueError, match="a cell must be from -1 to"):
            kernels.CellSums(np.array(cells, dtype=np.int32), n_cells)


def test_real_weights_are_added_row_after_row(kernels: ModuleType) -> None:
    rng = np.random.default_rng(2)
    cells = rng.integers(-1, 2, size=(50, 3)).astype(np.int32)
    weights = rng.random((35, 50))
    expected = np.zeros((35, 3, 2))
    for i in range(50):
        for j in range(3):
            if cells[i, j] >= 0:
                expected[:, j, cells[i, j]] += weights[:, i]
    sums = kernels.CellSums(cells, 2)
    np.testing.assert_array_equal(sums.all(weights), expected)
    columns = rng.integers(0, 3, size=35)
    np.testing.assert_array_equal(sums.selected(weights, columns), expected[np.arange(35), columns])
