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
    from heldout.kernels.reference import CellSums as CellSums
    from heldout.kernels.reference import ConcordanceSums as ConcordanceSums
    from heldout.kernels.reference import LossSums as LossSums
    from heldout.kernels.reference import Medians as Medians
    from heldout.kernels.reference import PrecisionSums as PrecisionSums
    from heldout.kernels.reference import RankCorrelations as RankCorrelations
    from heldout.kernels.reference import RankSums as RankSums
    from heldout.kernels.reference import best_out_of_bag as best_out_of_bag
    from heldout.kernels.reference import cut_rows as cut_rows
    from heldout.kernels.reference import draw_units as draw_units
    from heldout.kernels.reference import exponentials as exponentials
    from heldout.kernels.reference import hyperbolic_tangents as hyperbolic_tangents
    from heldout.kernels.reference import inner_products as inner_products
    from heldout.kernels.reference import squared_distances as squared_distances
    from heldout.kernels.reference import total_weight as total_weight
    from heldout.kernels.reference import weight_of as weight_of
    from heldout.kernels.reference_curves import AreaWithin as AreaWithin
    from heldout.kernels.reference_curves import BinnedGaps as BinnedGaps
    from heldout.kernels.reference_curves import LogisticFits as LogisticFits
    from heldout.kernels.reference_curves import SensitivityWithin as SensitivityWithin
else:
    from heldout.kernels import compiled
    from heldout.kernels.compiled import best_out_of_bag as best_out_of_bag
    from heldout.kernels.compiled import cut_rows as cut_rows
    from heldout.kernels.compiled import draw_units as draw_units
    from heldout.kernels.compiled import exponentials as exponentials
    from heldout.kernels.compiled import hyperbolic_tangents as hyperbolic_tangents
    from heldout.kernels.compiled import inner_products as inner_products
    from heldout.kernels.compiled import squared_distances as squared_distances
    from heldout.kernels.compiled import total_weight as total_weight
    from heldout.kernels.compiled import weight_of as weight_of

    AreaWithin = compiled.CompiledAreaWithin
    BinnedGaps = compiled.CompiledBinnedGaps
    CellSums = compiled.CompiledCellSums
    ConcordanceSums = compiled.CompiledConcordanceSums
    LogisticFits = compiled.CompiledLogisticFits
    LossSums = compiled.CompiledLossSums
    Medians = compiled.CompiledMedians
    PrecisionSums = compiled.CompiledPrecisionSums
    RankCorrelations = compiled.CompiledRankCorrelations
    RankSums = compiled.CompiledRankSums
    SensitivityWithin = compiled.CompiledSensitivityWithin
