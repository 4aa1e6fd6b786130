"""Which kernels are in use: the compiled ones where the build made them, the NumPy reference elsewhere.

The two give the same numbers (a property test holds them equal); only the time differs.
``HELDOUT_KERNELS=numpy`` asks for the reference even where the compiled ones exist.
"""

from __future__ import annotations

from heldout.kernels import reference

KERNELS = "numpy"
draw_units = reference.draw_units
RankSums = reference.RankSums
CellSums = reference.CellSums
LossSums = reference.LossSums
PrecisionSums = reference.PrecisionSums
Medians = reference.Medians
best_out_of_bag = reference.best_out_of_bag
