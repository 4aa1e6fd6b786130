"""Columns of predictions of which nothing says what they hold: the metric decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heldout.flags import Flag

Configurations: TypeAlias = tuple[tuple[str, Mapping[str, str | None]], ...]
"""Names of configurations, each with its columns and their classes; the class is None for a single column."""


@dataclass(frozen=True, eq=False)
class ColumnPredictions:
    """Predictions of N rows in R repeats, as columns of a table."""

    frame: Any
    """A row per line of the file, and one column, or one per class, for each configuration."""
    places: NDArray[np.intp]
    """(N, R): the line of the data frame of each row in each repeat."""
    configurations: Configurations | None = None
    """The columns of each configuration; None if they follow from the names of the columns."""
    flags: Mapping[Flag, str] = field(default_factory=dict)
    """What a reader of any estimate from these predictions must know."""
