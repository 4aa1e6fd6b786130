"""Results that were recorded and wait for the next commit, which writes cells that are alike as one block."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import replace

import numpy as np

from heldout.execution.blocks import CellBlock, block_of, likeness
from heldout.execution.cells import CellKey, CellResult
from heldout.execution.store.block_rows import BlockRows, encoded_block
from heldout.execution.store.schema import ResultRows, encoded


class PendingResults:
    """Cells and blocks that are not on the disk.

    - ``keys``: of the configurations in the file, by position.
    - ``apart``: whether each configuration has blocks of its own, so that it can be found without the others.
    """

    def __init__(self, keys: Sequence[int], *, apart: bool = False) -> None:
        self._keys = keys
        self._apart = apart
        self._cells: dict[CellKey, ResultRows | CellResult] = {}
        self._blocks: list[tuple[frozenset[CellKey], BlockRows]] = []

    def add(self, result: CellResult | CellBlock, *, alone: bool = False) -> None:
        """Add a result or a block; ``alone``: as a record by itself, in place of one in the file."""
        # Encoded or copied now, because the caller may reuse its arrays. One assignment, so an interrupt leaves no
        # partial cell.
        if isinstance(result, CellBlock):
            self._blocks.append((frozenset(result.keys), encoded_block(result, self._keys)))
        elif alone or likeness(result) is None:
            self._cells[result.key] = encoded(result)
        else:
            arrays = {response: np.array(values) for response, values in result.predictions.items()}
            self._cells[result.key] = replace(result, predictions=arrays)

    def forget(self, keys: Collection[CellKey]) -> None:
        """Leave out what is on the disk."""
        self._cells = {key: cell for key, cell in self._cells.items() if key not in keys}
        self._blocks = [(own, rows) for own, rows in self._blocks if own.isdisjoint(keys)]

    def __len__(self) -> int:
        return len(self._cells) + sum(len(keys) for keys, _ in self._blocks)

    def rows(self) -> tuple[dict[CellKey, ResultRows], list[tuple[frozenset[CellKey], BlockRows]]]:
        """The rows of all records: of cells, and of blocks with their cells."""
        alike: dict[Hashable, list[CellResult]] = {}
        for cell in self._cells.values():
            if isinstance(cell, CellResult):
                alike.setdefault((likeness(cell), self._apart and cell.key.configuration), []).append(cell)
        groups = [(frozenset(cell.key for cell in cells), cells) for cells in alike.values() if len(cells) > 1]
        in_groups = frozenset().union(*(keys for keys, _ in groups))
        alone = {
            key: encoded(cell) if isinstance(cell, CellResult) else cell
            for key, cell in self._cells.items()
            if key not in in_groups
        }
        blocks = [(keys, encoded_block(block_of(cells), self._keys)) for keys, cells in groups]
        return alone, [*self._blocks, *blocks]
