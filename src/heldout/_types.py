"""Types of arrays that most modules name."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Booleans: TypeAlias = NDArray[np.bool_]
Codes: TypeAlias = NDArray[np.int32]
"""Of classes, folds, repeats: which of them, from 0; -1 is none."""
Counts: TypeAlias = NDArray[np.uint8]
"""(L, n): how often a bootstrap draws each row."""
Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]
Weightings: TypeAlias = NDArray[Any]
"""(L, n): uint8 for bootstrap counts, whose sums are exact integers, or float64 for counts times weights."""
