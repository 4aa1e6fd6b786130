"""The store that survives its process: a run is one SQLite file, a row an acknowledged cell.

Acknowledged results are on the disk (write-ahead log, synchronous=FULL) and survive any end of the process. Results
are acknowledged in groups, because a commit costs a few milliseconds and a cell may cost less.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from heldout.errors import StoreError
from heldout.execution.blocks import CellBlock
from heldout.execution.cells import CellKey, CellResult
from heldout.execution.store.base import PlanNote, RunIdentity
from heldout.execution.store.block_rows import (
    block_numbers,
    read_block,
    write_block,
)
from heldout.execution.store.matching import StoredRun, already_there, changed_versions, differences, other_run
from heldout.execution.store.opening import (
    claim,
    clear_owner,
    connect,
    explained,
    has_tables,
    read_as_written,
    sentence,
    set_owner,
    trust,
)
from heldout.execution.store.pending import PendingResults
from heldout.execution.store.runs import (
    add_versions,
    configuration_numbers,
    count_cells,
    new_run,
    stored_runs,
    write_acknowledged,
    write_barrier,
    write_opened,
    write_plan,
)
from heldout.execution.store.schema import ResultRows, checksum, decoded, read_rows
from heldout.folds.splits import Place

if TYPE_CHECKING:
    from heldout.dropping.base import Barrier

_CHECKPOINT_BYTES = 8 * 2**20
_BYTES_OF_A_COMMIT = 24 * 2**10  # pages of tables and indices that any commit writes to the log again


class SQLiteRun:
    """An open run of a file; made by ``SQLiteStore.open``, used as a context manager."""

    def __init__(
        self, connection: sqlite3.Connection, path: Path, number: int, entropy: int, configurations: Sequence[int]
    ) -> None:
        self.entropy = entropy
        self.path = path
        self._connection = connection
        self._number = number
        self._configurations = configurations  # their keys in the file, by position
        self._positions = {number: position for position, number in enumerate(configurations)}
        self._pending = PendingResults(configurations)
        self._plan: PlanNote | None = None  # these two are not yet written
        self._barriers: list[tuple[Sequence[Place], Barrier]] = []
        self._in_doubt = False  # whether the last commit was made
        self._acknowledged = self._numbers()
        self._blocks = self._numbers_of_blocks()
        self._bytes_in_log = 0
        self._file = path.absolute()  # absolute, because the working folder may change
        self._closed = False

    def acknowledged(self) -> frozenset[CellKey]:
        """Cells that are on the disk."""
        return frozenset(self._acknowledged).union(*self._blocks.values())

    def results(self, repeats: Collection[int] | None = None) -> Iterator[CellResult | CellBlock]:
        """The acknowledged blocks, and then the other results in the order in which they were acknowledged.

        ``repeats``: only those of these repeats.

        Raises StoreError when the file is damaged.
        """
        wanted = [
            (number, key) for key, number in self._acknowledged.items() if repeats is None or key.repeat in repeats
        ]
        with explained(self.path):
            for number, keys in self._blocks.items():
                if repeats is None or any(key.repeat in repeats for key in keys):
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
        if not self._pending and not self._barriers and self._plan is None:
            return
        try:
            self._write()
        except sqlite3.Error as error:
            raise StoreError(
                f"{sentence(self.path, error)} Cells that are safe: {len(self.acknowledged())}; that must be done "
                f"again: {len(self._pending)}."
            ) from error

    def note_plan(self, note: PlanNote) -> None:
        """Write the plan of the run at once, in place of an earlier plan."""
        self._plan, self._barriers = note, []
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
            if self._plan is not None:
                write_plan(connection, self._number, self._configurations, self._plan)
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
            self._plan, self._barriers, self._pending = None, [], PendingResults(self._configurations)
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
            # Read here too, so that a damaged cell is refused before the others run.
            for key, *_, number in found:
                if key not in positions:
                    raise ValueError(f"it has cells of a configuration {key} unknown to it")
                read_rows(self._connection, number)
            return {CellKey(positions[key], repeat, fold): number for key, repeat, fold, number in found}

    def _numbers_of_blocks(self) -> dict[int, frozenset[CellKey]]:
        """The blocks of this run in the file, checked, with their cells."""
        known = set(self._acknowledged)
        blocks: dict[int, frozenset[CellKey]] = {}
        with read_as_written(self.path):
            for number in block_numbers(self._connection, self._number):
                block = read_block(self._connection, number, self._positions)
                keys = frozenset(block.keys)
                if len(keys) < block.n_cells or not known.isdisjoint(keys):
                    raise ValueError(f"block {number} holds cells that are stored twice")
                known |= keys
                blocks[number] = keys
        return blocks


@dataclass(frozen=True)
class SQLiteStore:
    """Runs in one SQLite file, each recognised by its fingerprints.

    Attributes
    ----------
    path : str or Path
        The file; made where there is none, in a folder that exists.
    accept_changed_code : bool
        Whether a run may be resumed after a change of a version or of the source of a class; the file records the
        change.
    one_run : bool
        Whether the file is for one run only, as on the command line: ``open`` then refuses to add another one, and
        says how they differ. Otherwise a file may hold many runs.
    terms : mapping of str to str
        The options of a new run, as the user wrote them; see ``RunIdentity``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> identity = RunIdentity(rows="r", folds="f", configurations="c", settings="{}", entropy=7)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = SQLiteStore(pathlib.Path(folder) / "run.db")
    ...     with store.open(identity, [("id of the first", "{}")], resume=True) as run:
    ...         run.acknowledged()
    ...     store.stored_entropy()
    frozenset()
    7
    """

    path: str | Path
    accept_changed_code: bool = False
    one_run: bool = False
    terms: Mapping[str, str] = field(default_factory=dict, compare=False)

    def stored_entropy(self, rows: str | None = None, configurations: str | None = None) -> int | None:
        """The entropy of the run that would be resumed, or None if there is none.

        Of several runs the latest one of these rows and configurations, else of these rows, else of all.

        Parameters
        ----------
        rows, configurations : str, optional
            Fingerprints as in ``RunIdentity``; they do not depend on the entropy, as the folds do.

        Raises
        ------
        StoreError
            When the file cannot be used.
        """
        path = Path(self.path)
        if not path.exists():
            return None
        with explained(path), closing(connect(path)) as connection:
            if not has_tables(connection):
                return None
            runs = stored_runs(connection, path)

        def closeness(run: StoredRun) -> tuple[bool, bool, int]:
            same_rows = run.identity.rows == rows
            return same_rows, same_rows and run.identity.configurations == configurations, run.number

        return max(runs, key=closeness).identity.entropy if runs else None

    def open(self, identity: RunIdentity, configurations: Sequence[tuple[str, str]], *, resume: bool) -> SQLiteRun:
        """Start a run, or resume the one of the same identity.

        Parameters
        ----------
        identity : RunIdentity
        configurations : sequence of (id, canonical JSON)
            In order of position; a resumed run may have them in another order than before.
        resume : bool
            Whether an existing run of the same identity may be resumed. If there is none, a new one starts.

        Raises
        ------
        StoreError
            When the file holds this run and ``resume`` is False; when it holds another one and is for one run only;
            when other code started the run; when the file is damaged, of another program or schema, in use, or not
            writable.
        """
        path = Path(self.path)
        identity = replace(identity, terms={**self.terms, **identity.terms})
        with explained(path):
            connection = connect(path)
            try:
                claim(connection, path)
                number = self._run_number(
                    connection, path, identity, frozenset(key for key, _ in configurations), resume
                )
                keys = configuration_numbers(connection, number, configurations)
                set_owner(connection, number)
                write_opened(connection, number, count_cells(connection, number))
                connection.execute("COMMIT")
                connection.execute("BEGIN IMMEDIATE")
                run = SQLiteRun(connection, path, number, identity.entropy, keys)
                trust(connection)
                run.checkpoint()  # from the start the file alone, without its log, identifies its run
                return run
            except BaseException:
                connection.close()
                raise

    def _run_number(
        self,
        connection: sqlite3.Connection,
        path: Path,
        identity: RunIdentity,
        configuration_ids: frozenset[str],
        resume: bool,
    ) -> int:
        """Key of the run to write to, in the file already or new."""
        runs = stored_runs(connection, path)
        # Latest first: of equally close runs a message names the latest.
        unlike = {run: differences(run, identity, configuration_ids) for run in reversed(runs)}
        closest = min(unlike, key=lambda run: len(unlike[run]), default=None)
        if closest is None:
            return new_run(connection, identity)
        if not unlike[closest]:
            if not resume:
                raise StoreError(already_there(path, count_cells(connection, closest.number)))
            self._check_versions(connection, path, closest, identity)
            return closest.number
        if self.one_run:
            if not resume:
                raise StoreError(already_there(path, count_cells(connection, closest.number)))
            raise StoreError(other_run(path, closest, identity, unlike[closest]))
        return new_run(connection, identity)

    def _check_versions(
        self, connection: sqlite3.Connection, path: Path, stored: StoredRun, identity: RunIdentity
    ) -> None:
        there, here = stored.versions[-1], dict(identity.versions)
        if there == here:
            return
        if not self.accept_changed_code:
            raise StoreError(changed_versions(path, there, here))
        add_versions(connection, stored, here)
