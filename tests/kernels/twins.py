"""The compiled kernels under the names of the NumPy kernels, so that the same tests run with both."""

import importlib
from types import ModuleType

import numpy as np


def compiled_kernels() -> ModuleType | None:
    """``CompiledRankSums`` as ``RankSums`` and so on; None if this installation was built without a compiler."""
    try:
        importlib.import_module("heldout.kernels._core").draw_units  # noqa: B018
    except (ImportError, AttributeError):
        return None
    compiled = vars(importlib.import_module("heldout.kernels.compiled"))
    twins = ModuleType("twins of the NumPy kernels")
    vars(twins).update({name.removeprefix("Compiled"): value for name, value in compiled.items()})
    return twins


def counts_by_definition(seed: int, b: int, attempt: int, n: int) -> list[int]:
    """In Python's integers, from NumPy's own generator."""
    stream = np.random.Philox(
        key=np.array([seed, b], dtype=np.uint64), counter=np.array([0, 0, attempt, 0], dtype=np.uint64)
    )
    counts = [0] * n
    for raw in stream.random_raw(n):
        counts[(int(raw) * n) >> 64] += 1
    return counts
