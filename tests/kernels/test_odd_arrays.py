"""Arrays that lie oddly in memory give what the same numbers give as an ordinary array."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from heldout.kernels import dispatch

RNG = np.random.default_rng(0)
N, C, L = 60, 3, 5
SCORES, EVENT, TIME = RNG.random((N, C)), RNG.random(N) < 0.6, RNG.random(N)
POSITIVE = np.arange(N) % 2 == 0
COUNTS = RNG.integers(0, 3, (L, N)).astype(np.uint8)
WEIGHTS = RNG.random((L, N))
CODES = RNG.integers(0, 4, (N, C)).astype(np.int32)


def misaligned(array: np.ndarray) -> np.ndarray:
    """One byte off from where the processor would have it."""
    room = np.zeros(array.nbytes + 1, dtype=np.uint8)
    moved = room[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


def in_records(array: np.ndarray) -> np.ndarray:
    """A field of packed records: misaligned, with gaps that are no multiple of its size."""
    records = np.zeros(array.shape, dtype=[("before", "u1"), ("value", array.dtype)])
    records["value"] = array
    return np.asarray(records["value"])


def read_only(array: np.ndarray) -> np.ndarray:
    array = array.copy()
    array.setflags(write=False)
    return array


def backwards(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array[::-1])[::-1]


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "misaligned": misaligned,
    "records": in_records,
    "read only": read_only,
    "backwards": backwards,
    "columns": np.asfortranarray,
    "other bytes": lambda array: array.astype(array.dtype.newbyteorder()),
    "every second": lambda array: np.repeat(array, 2, axis=0)[::2],
}
SUMS: dict[str, Callable[[Callable[[np.ndarray], np.ndarray]], Any]] = {
    "ranks": lambda lay: dispatch.RankSums(lay(SCORES), lay(POSITIVE), lay(~POSITIVE)),
    "cells": lambda lay: dispatch.CellSums(lay(CODES), 4),
    "losses": lambda lay: dispatch.LossSums(lay(SCORES), 2 * N),
    "precision": lambda lay: dispatch.PrecisionSums(lay(SCORES), lay(POSITIVE)),
    "found": lambda lay: dispatch.SensitivityWithin(lay(SCORES), lay(POSITIVE), 0.5),
    "area": lambda lay: dispatch.AreaWithin(lay(SCORES), lay(POSITIVE), 0.5),
    "correlation": lambda lay: dispatch.RankCorrelations(lay(SCORES), lay(TIME)),
    "gaps": lambda lay: dispatch.BinnedGaps(lay(SCORES), lay(CODES), 4, 1),
    "logistic": lambda lay: dispatch.LogisticFits(lay(SCORES), lay(POSITIVE), False),
    "medians": lambda lay: dispatch.Medians(lay(SCORES)),
    "concordance": lambda lay: dispatch.ConcordanceSums(lay(SCORES), lay(EVENT), lay(TIME)),
}


@pytest.mark.parametrize("lay", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("make", SUMS.values(), ids=SUMS)
def test_a_kernel_reads_numbers_wherever_they_lie(make: Any, lay: Callable[[np.ndarray], np.ndarray]) -> None:
    odd, plain = make(lay), make(np.ascontiguousarray)
    columns = np.arange(L) % C
    for weightings in (COUNTS, WEIGHTS):
        laid = lay(weightings) if lay is not LAYOUTS["other bytes"] else weightings
        np.testing.assert_array_equal(odd.all(laid), plain.all(weightings))
        np.testing.assert_array_equal(odd.selected(laid, lay(columns)), plain.selected(weightings, columns))


@pytest.mark.skipif(dispatch.KERNELS == "numpy", reason="NumPy reads from anywhere")
@pytest.mark.parametrize("lay", LAYOUTS.values(), ids=LAYOUTS)
def test_compiled_kernels_are_given_aligned_arrays(
    lay: Callable[[np.ndarray], np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    from heldout.kernels import compiled

    given: list[np.ndarray] = []
    monkeypatch.setattr(compiled._core, "RankSums", lambda *arrays: given.extend(arrays[:3]))
    monkeypatch.setattr(compiled._core, "weighted_loss_sums", lambda *arrays: given.extend(arrays))
    compiled.CompiledRankSums(lay(SCORES), lay(POSITIVE), lay(~POSITIVE))
    weights = WEIGHTS if lay is LAYOUTS["other bytes"] else lay(WEIGHTS)
    compiled.CompiledLossSums(lay(SCORES), 2 * N).all(weights)
    assert len(given) == 6
    assert all(array.flags.aligned and array.dtype.isnative for array in given)


def test_draws_read_bootstrap_numbers_wherever_they_lie() -> None:
    numbers = np.arange(4, dtype=np.uint64)
    plain = dispatch.draw_units(7, numbers, 0, N)
    for lay in (misaligned, in_records, read_only, backwards):
        np.testing.assert_array_equal(dispatch.draw_units(7, lay(numbers), 0, N), plain)


def test_no_rows_are_no_numbers() -> None:
    sums = dispatch.CellSums(misaligned(np.zeros((0, C), dtype=np.int32)), 4)
    assert sums.all(np.zeros((L, 0), dtype=np.uint8)).shape == (L, C, 4)
