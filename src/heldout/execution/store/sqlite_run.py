"""An open run of an SQLite file: a row an acknowledged cell, or a block of cells that are alike.

Acknowledged results are on the disk (write-ahead log, synchronous=FULL) and survive any end of the process. Results
are acknowledged in groups, because a commit costs a few milliseconds and a cell may cost less.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from heldout.errors import StoreError
from heldout.execution.blocks import CellBlock
from heldout.execution.cells import CellKey, CellResult, is_among
from heldout.execution.store.base import AddedConfiguration, PlanNote, SearchNote
from heldout.execution.store.block_rows import block_configurations, block_numbers, read_block, write_block
from heldout.execution.store.growth import Growth
from heldout.execution.store.identity_rows import write_checksums
from heldout.execution.store.opening import clear_owner, explained, read_as_written, sentence
from heldout.execution.store.pending import PendingResults
from heldout.execution.store.runs import (
    AddedRow,
    write_acknowledged,
    write_added,
    write_barrier,
    write_end,
    write_plan,
)
from heldout.execution.store.schema import ResultRows, checksum, decoded, read_rows
from heldout.execution.store.search_rows import write_search
from heldout.folds.splits import Place

if TYPE_CHECKING:
    from heldout.dropping.base import Barrier

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
