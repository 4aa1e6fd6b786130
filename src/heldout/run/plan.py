"""The plan of a search: which cells are left to do, in which order. Pure."""

from __future__ import annotations

from collections.abc import Collection

from heldout.cells import CellKey
from heldout.folds import Folds


def all_cells(n_configurations: int, folds: Folds) -> list[CellKey]:
    """Every cell, configuration by configuration and split by split: the order of ``Evaluation.cells``."""
    return [
        CellKey(configuration, split.repeat, split.fold)
        for configuration in range(n_configurations)
        for split in folds.splits
    ]


def cells_left(
    n_configurations: int, folds: Folds, acknowledged: Collection[CellKey] = frozenset()
) -> list[CellKey]:
    """The cells that are not acknowledged yet, fold by fold.

    All configurations meet one split before the next one starts, so that an interrupted search holds complete
    folds, which can be compared.

    Examples
    --------
    >>> import numpy as np
    >>> from heldout.folds import Split
    >>> rows = np.arange(4)
    >>> folds = Folds((Split(0, 0, rows[:2], rows[2:]), Split(0, 1, rows[2:], rows[:2])), 4)
    >>> [tuple(cell) for cell in cells_left(2, folds, {CellKey(0, 0, 0)})]
    [(1, 0, 0), (0, 0, 1), (1, 0, 1)]
    """
    planned = (
        CellKey(configuration, split.repeat, split.fold)
        for split in folds.splits
        for configuration in range(n_configurations)
    )
    return [cell for cell in planned if cell not in acknowledged]
