"""Counts cut to some rows, and their totals."""

from types import ModuleType

import numpy as np
import pytest

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", [np.uint8, np.float64])
@pytest.mark.parametrize("rows", [[], [4], [2, 0, 2, 5], [5, 4, 3, 2, 1, 0]])
def test_rows_are_cut_in_their_order(kernels: ModuleType, dtype: type, rows: list[int]) -> None:
    counts = RNG.integers(0, 256, size=(7, 6)).astype(dtype)
    cut = kernels.cut_rows(counts, np.array(rows, dtype=np.intp))
    assert cut.dtype == dtype and cut.flags.c_contiguous and cut.shape == (7, len(rows))
    assert cut.tolist() == [[lane[row] for row in rows] for lane in counts.tolist()]
    assert kernels.cut_rows(np.asfortranarray(counts), np.array(rows, dtype=np.int32)).tolist() == cut.tolist()


def test_rows_that_do_not_exist_are_refused(kernels: ModuleType) -> None:
    with pytest.raises(IndexError):
        kernels.cut_rows(np.ones((2, 6), dtype=np.uint8), np.array([0, 6]))


@pytest.mark.parametrize("n_rows", [0, 1, 63, 200, 70_000])
def test_totals_of_all_and_of_flagged_rows(kernels: ModuleType, n_rows: int) -> None:
    counts = RNG.integers(0, 256, size=(3, n_rows), dtype=np.uint8)
    counts[0] = 255
    flags = RNG.random(n_rows) < 0.3
    whole, flagged = kernels.total_weight(counts), kernels.weight_of(counts, flags)
    assert whole.dtype == flagged.dtype == np.float64
    assert whole.tolist() == [sum(lane) for lane in counts.tolist()]
    assert flagged.tolist() == [sum(lane) for lane in counts[:, flags].tolist()]
    halves = kernels.weight_of(counts * 0.5, flags)
    assert halves.tolist() == [sum(lane) / 2 for lane in counts[:, flags].tolist()]
