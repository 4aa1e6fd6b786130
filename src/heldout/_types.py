"""Types of arrays that most modules name."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Weightings: TypeAlias = NDArray[Any]
"""(L, n): uint8 for bootstrap counts, whose sums are exact integers, or float64 for counts times weights."""
