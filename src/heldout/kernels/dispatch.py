"""Which kernels are in use: the compiled ones where the build made them, the NumPy reference elsewhere.

The two give the same numbers (a property test holds them equal); only the time differs.
``HELDOUT_KERNELS=numpy`` asks for the reference even where the compiled ones exist, and
``HELDOUT_KERNELS=compiled`` refuses to go on without them.
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
            "unset it, or install again where there is one."
        )
    return "numpy"


def _is_built() -> bool:
    try:
        from heldout.kernels import _core
    except ImportError:
        return False
    return hasattr(_core, "draw_units")  # in a checkout the folder of C++ sources passes for an empty package


KERNELS = _kernels_in_use()

if TYPE_CHECKING or KERNELS == "numpy":
    from heldout.kernels.reference import CellSums as CellSums
    from heldout.kernels.reference import LossSums as LossSums
    from heldout.kernels.reference import Medians as Medians
    from heldout.kernels.reference import PrecisionSums as PrecisionSums
    from heldout.kernels.reference import RankSums as RankSums
    from heldout.kernels.reference import best_out_of_bag as best_out_of_bag
    from heldout.kernels.reference import draw_units as draw_units
    from heldout.kernels.reference_blocks import add_bin_sums as add_bin_sums
    from heldout.kernels.reference_blocks import draw_block as draw_block
    from heldout.kernels.reference_blocks import find_bins as find_bins
    from heldout.kernels.reference_blocks import split_draws as split_draws
    from heldout.kernels.reference_calibration import BinnedGaps as BinnedGaps
    from heldout.kernels.reference_calibration import LogisticFits as LogisticFits
    from heldout.kernels.reference_concordance import ConcordanceSums as ConcordanceSums
    from heldout.kernels.reference_correlation import RankCorrelations as RankCorrelations
    from heldout.kernels.reference_curves import AreaWithin as AreaWithin
    from heldout.kernels.reference_curves import FoundWithin as FoundWithin
else:
    from heldout.kernels.compiled import AreaWithin as AreaWithin
    from heldout.kernels.compiled import BinnedGaps as BinnedGaps
    from heldout.kernels.compiled import CellSums as CellSums
    from heldout.kernels.compiled import ConcordanceSums as ConcordanceSums
    from heldout.kernels.compiled import FoundWithin as FoundWithin
    from heldout.kernels.compiled import LogisticFits as LogisticFits
    from heldout.kernels.compiled import LossSums as LossSums
    from heldout.kernels.compiled import Medians as Medians
    from heldout.kernels.compiled import PrecisionSums as PrecisionSums
    from heldout.kernels.compiled import RankCorrelations as RankCorrelations
    from heldout.kernels.compiled import RankSums as RankSums
    from heldout.kernels.compiled import add_bin_sums as add_bin_sums
    from heldout.kernels.compiled import best_out_of_bag as best_out_of_bag
    from heldout.kernels.compiled import draw_block as draw_block
    from heldout.kernels.compiled import draw_units as draw_units
    from heldout.kernels.compiled import find_bins as find_bins
    from heldout.kernels.compiled import split_draws as split_draws
