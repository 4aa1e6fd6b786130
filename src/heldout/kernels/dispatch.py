"""The kernels in use: the compiled ones if the build made them, otherwise the NumPy ones.

Both give the same numbers, which property tests check; only the time differs. ``HELDOUT_KERNELS=numpy`` selects the
NumPy kernels even if the compiled ones exist, and ``HELDOUT_KERNELS=compiled`` is an error if they do not.

``RankSums`` in ``reference`` is the specification, in NumPy; ``CompiledRankSums`` in ``compiled`` is its subclass,
in C++. The library imports ``RankSums`` from here and gets one of the two. All kernels are named in this way.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from heldout.errors import InputError


def _kernels_in_use() -> Literal["compiled", "numpy"]:
    wanted = os.environ.get("HELDOUT_KERNELS", "")
    if wanted not in ("", "compiled", "numpy"):
        raise InputError(f"HELDOUT_KERNELS must be 'compiled' or 'numpy' (or not set), got {wanted!r}.")
    if wanted == "numpy":
        return "numpy"
    if _is_built():
        return "compiled"
    if wanted == "compiled":
        raise InputError(
            "HELDOUT_KERNELS is 'compiled', but this installation was built without a C++ compiler; "
            "unset it, or install again with a compiler."
        )
    return "numpy"


def _is_built() -> bool:
    try:
        from heldout.kernels import _core
    except ImportError:
        return False
    return hasattr(
        _core, "draw_units"
    )  # the folder of C++ sources in a checkout can be imported too, as an empty package


KERNELS = _kernels_in_use()

if TYPE_CHECKING or KERNELS == "numpy":
    from heldout.kernels.reference import (
        CellSums,
        ConcordanceSums,
        LossSums,
        Medians,
        PrecisionSums,
        RankCorrelations,
        RankSums,
        best_out_of_bag,
        cut_rows,
        draw_units,
        exponentials,
        hyperbolic_tangents,
        inner_products,
        squared_distances,
        total_weight,
        weight_of,
    )
    from heldout.kernels.reference_curves import AreaWithin, BinnedGaps, LogisticFits, SensitivityWithin
else:
    from heldout.kernels.compiled import CompiledAreaWithin as AreaWithin
    from heldout.kernels.compiled import CompiledBinnedGaps as BinnedGaps
    from heldout.kernels.compiled import CompiledCellSums as CellSums
    from heldout.kernels.compiled import CompiledConcordanceSums as ConcordanceSums
    from heldout.kernels.compiled import CompiledLogisticFits as LogisticFits
    from heldout.kernels.compiled import CompiledLossSums as LossSums
    from heldout.kernels.compiled import CompiledMedians as Medians
    from heldout.kernels.compiled import CompiledPrecisionSums as PrecisionSums
    from heldout.kernels.compiled import CompiledRankCorrelations as RankCorrelations
    from heldout.kernels.compiled import CompiledRankSums as RankSums
    from heldout.kernels.compiled import CompiledSensitivityWithin as SensitivityWithin
    from heldout.kernels.compiled import (
        best_out_of_bag,
        cut_rows,
        draw_units,
        exponentials,
        hyperbolic_tangents,
        inner_products,
        squared_distances,
        total_weight,
        weight_of,
    )

__all__ = [
    "KERNELS",
    "AreaWithin",
    "BinnedGaps",
    "CellSums",
    "ConcordanceSums",
    "LogisticFits",
    "LossSums",
    "Medians",
    "PrecisionSums",
    "RankCorrelations",
    "RankSums",
    "SensitivityWithin",
    "best_out_of_bag",
    "cut_rows",
    "draw_units",
    "exponentials",
    "hyperbolic_tangents",
    "inner_products",
    "squared_distances",
    "total_weight",
    "weight_of",
]
