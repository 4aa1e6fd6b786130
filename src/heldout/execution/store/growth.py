"""Configurations that are added to an open run of a file, and what an earlier process left of them."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from heldout.execution.store.base import AddedConfiguration
from heldout.execution.store.block_rows import block_numbers, read_block
from heldout.execution.store.runs import AddedRow, next_number, stored_notes, stored_numbers, text_for_file
from heldout.execution.store.schema import read_rows
from heldout.folds.splits import Place


class StoredCell(NamedTuple):
    """A cell of a configuration that is not added yet, by its key in the file."""

    number: int
    place: Place


class Growth:
    """The configurations of a run that grows.

    An earlier process may have added the same ones. Each is recognised by its id when it is added again; until then
    its cells wait.

    Raises ValueError when the file holds a damaged cell or block.
    """

    def __init__(self, connection: sqlite3.Connection, run: int) -> None:
        self.notes = stored_notes(connection, run)
        self._keys = stored_numbers(connection, run)
        self._next = next_number(connection)
        self._cells: dict[int, list[StoredCell]] = defaultdict(list)
        found = connection.execute(
            "SELECT cell.configuration, cell.number, repeat, fold FROM cell "
            "JOIN configuration ON configuration.number = cell.configuration WHERE run = ?",
            (run,),
        ).fetchall()
        for key, number, repeat, fold in found:
            read_rows(connection, number)
            self._cells[key].append(StoredCell(number, (repeat, fold)))
        same = {key: key for key in self._keys.values()}
        self._blocks = {
            number: frozenset(read_block(connection, number, same).configurations)
            for number in block_numbers(connection, run)
        }

    def rows(self, added: Sequence[AddedConfiguration], first: int) -> list[AddedRow]:
        """The rows of added configurations, the first of which has this position."""
        rows = []
        for position, each in enumerate(added, start=first):
            if each.id not in self._keys:
                self._keys[each.id] = self._next
                self._next += 1
            name, note = text_for_file(each.name), text_for_file(each.note)
            rows.append(AddedRow(self._keys[each.id], each.id, position, each.json, name, note))
        return rows

    def cells(self, key: int) -> list[StoredCell]:
        """The cells that waited for a configuration."""
        return self._cells.pop(key, [])

    def blocks(self, known: Collection[int]) -> Iterator[int]:
        """The blocks that waited for the last of their configurations; ``known``: those that are added."""
        for number, keys in list(self._blocks.items()):
            if keys <= set(known):
                del self._blocks[number]
                yield number
