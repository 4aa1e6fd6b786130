"""An open run of an SQLite file: a row an acknowledged cell, or a block of cells that are alike.

Acknowledged results are on the disk (write-ahead log, synchronous=FULL) and survive any end of the process. Results
are acknowledged in groups, because a commit costs a few milliseconds and a cell may cost less.
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from heldout.errors import StoreError
from heldout.execution.cells import CellBlock, CellKey, CellResult, block_of, is_among, likeness
from heldout.execution.store.base import AddedConfiguration, PlanNote, SearchNote
from heldout.execution.store.block_rows import (
    BlockRows,
    block_configurations,
    block_numbers,
    encoded_block,
    read_block,
    write_block,
    write_checksums,
    write_search,
)
from heldout.execution.store.opening import clear_owner, explained, read_as_written, sentence
from heldout.execution.store.runs import (
    AddedRow,
    next_number,
    stored_notes,
    stored_numbers,
    text_for_file,
    write_acknowledged,
    write_added,
    write_barrier,
    write_end,
    write_plan,
)
from heldout.execution.store.schema import ResultRows, checksum, decoded, encoded, read_rows
from heldout.folds.splits import Place

if TYPE_CHECKING:
    from heldout.dropping.base import Barrier


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


_CHECKPOINT_BYTES = 8 * 2**20
_BYTES_OF_A_COMMIT = 24 * 2**10  # pages of tables and indices that any commit writes to the log again


class SQLiteRun:
    """An open run of a file; made by ``SQLiteStore.open``, used as a context manager.

    ``configurations``: their keys in the file, by position; None for a run to which they are added.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        number: int,
        entropy: int,
        configurations: Sequence[int] | None,
    ) -> None:
        self.entropy = entropy
        self.path = path
        self._connection = connection
        self._number = number
        self._configurations = list(configurations or ())
        self._positions = {number: position for position, number in enumerate(self._configurations)}
        self._pending = PendingResults(self._configurations, apart=configurations is None)
        self._plan: PlanNote | None = None  # these five are not yet written
        self._search: SearchNote | None = None
        self._end: tuple[int, int] | None = None
        self._barriers: list[tuple[Sequence[Place], Barrier]] = []
        self._added: list[AddedRow] = []
        self._in_doubt = False  # whether the last commit was made
        with read_as_written(path):
            self._growth = Growth(connection, number) if configurations is None else None
        self._acknowledged = self._numbers()
        self._blocks = self._numbers_of_blocks()
        self._bytes_in_log = 0
        self._file = path.absolute()  # absolute, because the working folder may change
        self._closed = False

    def acknowledged(self) -> frozenset[CellKey]:
        """Cells that are on the disk."""
        return frozenset(self._acknowledged).union(*self._blocks.values())

    def results(
        self, repeats: Collection[int] | None = None, configurations: Collection[int] | None = None
    ) -> Iterator[CellResult | CellBlock]:
        """The acknowledged blocks, and then the other results in the order in which they were acknowledged.

        ``repeats``, ``configurations``: as in ``Run.results``.

        Raises StoreError when the file is damaged.
        """
        wanted = [
            (number, key) for key, number in self._acknowledged.items() if is_among(key, repeats, configurations)
        ]
        with explained(self.path):
            for number, keys in self._blocks.items():
                if any(is_among(key, repeats, configurations) for key in keys):
                    with read_as_written(self.path):
                        block = read_block(self._connection, number, self._positions)
                    yield block
            for number, key in sorted(wanted):
                with read_as_written(self.path):
                    result = decoded(read_rows(self._connection, number), key.configuration)
                yield result

    def record(self, result: CellResult | CellBlock) -> None:
        """Keep a result, or a block, until the next ``commit``, which makes one block of cells that are alike."""
        alone = isinstance(result, CellResult) and result.key in self._acknowledged
        self._pending.add(result, alone=alone)

    def commit(self) -> None:
        """Write all recorded results to the disk; when this returns, they are acknowledged.

        Raises StoreError when it cannot be written. What was acknowledged before is safe, and the run can be
        resumed.
        """
        if not (self._pending or self._barriers or self._added) and self._plan is None and self._end is None:
            return
        try:
            self._write()
        except sqlite3.Error as error:
            raise StoreError(
                f"{sentence(self.path, error)} Cells that are safe: {len(self.acknowledged())}; that must be done "
                f"again: {len(self._pending)}."
            ) from error

    def notes(self) -> list[str]:
        """The notes on configurations that an earlier process added."""
        return [] if self._growth is None else self._growth.notes

    def add(self, configurations: Sequence[AddedConfiguration]) -> list[int]:
        """Add configurations to a run that grows; returns how many cells of each the file holds."""
        assert self._growth is not None, "a run with fixed configurations does not grow"
        rows = self._growth.rows(configurations, len(self._configurations))
        self._added += rows
        self._configurations += [row.number for row in rows]
        self._positions.update((row.number, row.position) for row in rows)
        n_cells = Counter[int]()
        for row in rows:
            for stored in self._growth.cells(row.number):
                self._acknowledged[CellKey(row.position, *stored.place)] = stored.number
                n_cells[row.position] += 1
        with read_as_written(self.path):
            for number in self._growth.blocks(self._positions):
                block = read_block(self._connection, number, self._positions)
                self._blocks[number] = frozenset(block.keys)
                n_cells.update(key.configuration for key in block.keys)
        return [n_cells[row.position] for row in rows]

    def note_plan(self, note: PlanNote) -> None:
        """Write the plan of the run at once, in place of an earlier plan."""
        self._plan, self._barriers = note, []
        self.commit()

    def note_search(self, note: SearchNote) -> None:
        """Keep the note for ``note_plan``, which writes both."""
        self._search = note

    def note_end(self, n_configurations: int, n_more: int = 0) -> None:
        """Write at once that the plan ends with so many configurations, and more fits."""
        self._end = n_configurations, n_more
        self.commit()

    def note_barrier(self, race: Sequence[Place], barrier: Barrier) -> None:
        """Keep the record of a barrier until the next ``commit``."""
        self._barriers.append((race, barrier))

    def close(self) -> None:
        """Commit, release the file and close it; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        try:
            self.commit()
            with explained(self.path):
                self._begin()
                clear_owner(self._connection)
                self._connection.execute("COMMIT")
                # Closing does it too, but not while a reader is open; afterwards the file alone holds everything.
                self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        finally:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        # The error that ended the search matters more than a second failure to write.
        with suppress(StoreError) if any(error) else nullcontext():
            self.close()

    def _write(self) -> None:
        connection = self._connection
        try:
            self._begin()
            write_added(connection, self._number, self._added)
            if self._plan is not None:
                write_plan(connection, self._number, self._configurations, self._plan)
                write_search(connection, self._number, self._search)
            changed = None if self._plan is not None else [row.number for row in self._added]
            write_checksums(connection, self._number, changed)
            if self._end is not None:
                write_end(connection, self._number, *self._end)
            for race, barrier in self._barriers:
                write_barrier(connection, self._number, self._configurations, race, barrier)
            if self._in_doubt:
                self._acknowledged, self._blocks = self._numbers(), self._numbers_of_blocks()
                self._pending.forget(self.acknowledged())
            cells, blocks = self._pending.rows()
            written = {
                key: self._insert(self._configurations[key.configuration], rows) for key, rows in cells.items()
            }
            written_blocks = {write_block(connection, self._number, rows): keys for keys, rows in blocks}
            self._bytes_in_log += sum(len(array.blob) for _, rows in blocks for array in rows.arrays)
            if self._pending:
                write_acknowledged(connection, self._number)
            # After an interrupt among the next lines, closing reads in the file what is there.
            self._in_doubt = True
            connection.execute("COMMIT")
            self._bytes_in_log += _BYTES_OF_A_COMMIT
            self._acknowledged.update(written)
            self._blocks.update(written_blocks)
            self._plan, self._search, self._end, self._barriers, self._added = None, None, None, [], []
            self._pending = PendingResults(self._configurations, apart=self._growth is not None)
            self._in_doubt = False
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self._begin()
        if self._bytes_in_log > _CHECKPOINT_BYTES:
            self.checkpoint()

    def _begin(self) -> None:
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")

    def _insert(self, configuration: int, rows: ResultRows) -> int:
        connection = self._connection
        connection.execute(
            "DELETE FROM cell WHERE configuration = ? AND repeat = ? AND fold = ?",
            (configuration, rows.cell.repeat, rows.cell.fold),
        )
        number = connection.execute(
            "INSERT INTO cell (configuration, repeat, fold, state, attempts, message, fit_seconds, score_seconds, "
            "scores, checksum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (configuration, *rows.cell, checksum(configuration, rows)),
        ).lastrowid
        connection.executemany(
            "INSERT INTO prediction (cell, response, dtype, shape, blob) VALUES (?, ?, ?, ?, ?)",
            [(number, *stored) for stored in rows.predictions],
        )
        self._bytes_in_log += sum(len(stored.blob) for stored in rows.predictions)
        assert number is not None  # it is None only before the first insertion
        return number

    def checkpoint(self) -> None:
        """Move the log into the file from a second connection, while the first keeps the lock."""
        self._bytes_in_log = 0
        with closing(sqlite3.connect(self._file, isolation_level=None)) as second:
            second.execute("PRAGMA wal_checkpoint(PASSIVE)")
        # The open transaction began before this, and would append to the old log.
        self._connection.execute("ROLLBACK")
        self._begin()

    def _numbers(self) -> dict[CellKey, int]:
        """The cells of this run in the file, checked, with their numbers there."""
        positions = self._positions
        found = self._connection.execute(
            "SELECT cell.configuration, repeat, fold, cell.number FROM cell "
            "JOIN configuration ON configuration.number = cell.configuration WHERE run = ?",
            (self._number,),
        ).fetchall()
        with read_as_written(self.path):
            known = [row for row in found if self._is_known(row[:1])]
            # Read here too, so that a damaged cell is refused before the others run.
            for *_, number in known:
                read_rows(self._connection, number)
            return {CellKey(positions[key], repeat, fold): number for key, repeat, fold, number in known}

    def _numbers_of_blocks(self) -> dict[int, frozenset[CellKey]]:
        """The blocks of this run in the file, checked, with their cells."""
        known = set(self._acknowledged)
        blocks: dict[int, frozenset[CellKey]] = {}
        with read_as_written(self.path):
            for number in block_numbers(self._connection, self._number):
                if not self._is_known(block_configurations(self._connection, number)):
                    continue
                block = read_block(self._connection, number, self._positions)
                keys = frozenset(block.keys)
                if len(keys) < block.n_cells or not known.isdisjoint(keys):
                    raise ValueError(f"block {number} holds cells that are stored twice")
                known |= keys
                blocks[number] = keys
        return blocks

    def _is_known(self, keys: Iterable[int]) -> bool:
        """Whether these configurations have positions here; in a run that grows they may be added later."""
        unknown = [key for key in keys if key not in self._positions]
        if unknown and self._growth is None:
            raise ValueError(f"it has cells of a configuration {unknown[0]} unknown to it")
        return not unknown
