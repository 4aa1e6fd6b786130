"""The compiled kernels under the names of the NumPy kernels, so that the same tests run with both."""

from __future__ import annotations

import importlib
from types import ModuleType


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
