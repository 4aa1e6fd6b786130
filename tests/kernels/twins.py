"""The compiled kernels under the names of the NumPy kernels, so that the same tests run with both."""

import hashlib
import importlib
from types import ModuleType

import numpy as np
from numpy.typing import NDArray


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


def key_by_definition(seed: int, *words: object) -> int:
    """Of the stream of these words in a run of this seed."""
    text = "\x1f".join([f"{seed:016x}", *(str(word) for word in words)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def rows_by_definition(key: int, b: int, attempt: int, n: int) -> NDArray[np.intp]:
    """Row numbers of one bootstrap: the high word of raw x n, in Python's own big integers."""
    raw = np.random.Philox(key=np.array([key, b], dtype=np.uint64), counter=[0, 0, attempt, 0]).random_raw(n)
    return np.array([(int(word) * n) >> 64 for word in raw])


def counts_by_definition(seed: int, b: int, attempt: int, n: int) -> list[int]:
    return [int(count) for count in np.bincount(rows_by_definition(seed, b, attempt, n), minlength=n)]
