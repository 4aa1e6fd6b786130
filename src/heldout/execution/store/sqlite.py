"""The store that survives its process: runs in one SQLite file."""

from __future__ import annotations

import json
import math
import os
import platform
import sqlite3
import zlib
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from heldout._types import Array
from heldout.errors import StoreError
from heldout.estimates.types import Estimate
from heldout.execution.cells import COLUMNS, CellKey, CellResult, CellTable, is_among
from heldout.execution.store import AddedConfiguration, PlanNote, Run, RunIdentity, SearchNote
from heldout.execution.store.opening import (
    claim,
    connect,
    damaged,
    explained,
    has_tables,
    read_as_written,
    sentence,
    trust,
)
from heldout.execution.store.resume import changes_of, differences, other_run
from heldout.execution.store.runs import (
    IDENTITY,
    ArrayHead,
    Member,
    block_numbers,
    checksum,
    now,
    read_block,
    stored_runs,
    text_for_file,
)
from heldout.execution.store.unfinished_search import search_so_far
from heldout.folds.splits import Place

if TYPE_CHECKING:
    from heldout.dropping.base import Barrier

_WITHOUT_OWNER = "UPDATE run SET owner_host = NULL, owner_pid = NULL, owner_since = NULL"
_WITH_OWNER = (
    "UPDATE run SET owner_host = ?, owner_pid = ?, owner_since = ?, opened = ?, cells_then = "
    "(SELECT coalesce(sum(n_cells), 0) FROM block WHERE run = run.number) WHERE number = ?"
)
_CHECKPOINT_BYTES = 8 * 2**20
_BYTES_OF_A_COMMIT = 24 * 2**10  # pages of tables and indices that any commit writes to the log again


Statement: TypeAlias = tuple[str, tuple[Any, ...]]
"""Text of SQL, and its values."""


class SQLiteRun(Run):
    """An open run of a file; made by ``SQLiteStore.open``, used as a context manager.

    - ``stored``: the configurations that an earlier process added. Each is recognised by its id when it is added
      again, and until then its cells wait.
    - ``grows``: whether further configurations are added while it is open.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        number: int,
        entropy: int,
        stored: Sequence[Member],
        *,
        grows: bool,
    ) -> None:
        super().__init__(entropy)
        self.path = path
        self._connection = connection
        self._number = number
        self._stored = {member.id: member for member in stored}
        self._grows = grows
        self._next = _next_number(connection)
        self._members: list[Member] = []
        self._keys: list[int] = []
        """Of the configurations in the file, by position."""
        self._positions: dict[int, int] = {}
        # These three are not on the disk. With the first commit this process is the owner: a dead one may have left
        # its name.
        owner = platform.node(), os.getpid(), now(), now("milliseconds"), number
        self._statements: list[Statement] = [(_WITHOUT_OWNER, ()), (_WITH_OWNER, owner)]
        self._pending: dict[CellKey, CellResult | CellTable] = {}
        self._plan: PlanNote | None = None
        self._in_doubt = False  # whether the last commit was made
        self._load()
        self._bytes_in_log = 0
        self._file = path.absolute()  # absolute, because the working folder may change
        self._closed = False

    def acknowledged(self) -> frozenset[CellKey]:
        """Cells that are on the disk."""
        return frozenset(self._blocks)

    def results(
        self, repeats: Collection[int] | None = None, configurations: Collection[int] | None = None
    ) -> Iterator[CellResult | CellTable]:
        """The acknowledged results in the order in which they were written, those of a block together.

        ``repeats``, ``configurations``: as in ``Run.results``.

        Raises StoreError when the file is damaged.
        """
        wanted = {number for key, number in self._blocks.items() if is_among(key, repeats, configurations)}
        with explained(self.path):
            for number in sorted(wanted):
                with read_as_written(self.path):
                    table = read_block(self._connection, number).at(self._positions)
                yield table[0] if len(table) == 1 else table

    def record(self, result: CellResult | CellTable) -> None:
        """Keep a result, or a block, until the next ``commit``, which makes one block of cells that are alike."""
        of_result = dict.fromkeys(result.keys if isinstance(result, CellTable) else [result.key], result)
        for earlier in {self._pending[key] for key in of_result if key in self._pending}:
            if isinstance(earlier, CellTable):  # some of its cells are replaced, and the rest is written alone
                self._pending.update({cell.key: cell for cell in earlier})
        if isinstance(result, CellTable):
            self._pending.update(of_result)
            return
        # Copied, because the caller may reuse its arrays. One assignment, so an interrupt leaves no partial cell.
        arrays = {
            response: np.array(numbers_of(values, response)) for response, values in result.predictions.items()
        }
        self._pending[result.key] = replace(result, message=text_for_file(result.message), predictions=arrays)

    def commit(self) -> None:
        """Write all recorded results to the disk; when this returns, they are acknowledged.

        Raises StoreError when it cannot be written. What was acknowledged before is safe, and the run can be
        resumed.
        """
        if not self._pending and not self._statements:
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
        return [member.note for member in self._stored.values() if member.note is not None]

    def add(self, configurations: Sequence[AddedConfiguration]) -> list[int]:
        """Add configurations; returns how many cells of each the file holds."""
        first = len(self._members)
        for added in configurations:
            if added.id in self._stored:
                number = self._stored[added.id].number
            else:
                number, self._next = self._next, self._next + 1
            self._positions[number] = position = len(self._members)
            new = Member(number, added.id, position, added.json, note=text_for_file(added.note))
            member = self._stored.get(added.id, new)  # whose row keeps its note
            name = text_for_file(added.name) or member.name
            self._members.append(member._replace(position=position, name=name))
            self._keys.append(number)
        self._statements += [member_statement(self._number, member) for member in self._members[first:]]
        n_cells = Counter[int]()
        with read_as_written(self.path):
            for block in [
                block for member in self._members[first:] for block in self._waiting.pop(member.number, ())
            ]:
                n_cells.update(key.configuration for key in self._place(*block))
        return [n_cells[member.position] for member in self._members[first:]]

    def note_plan(self, note: PlanNote, search: SearchNote | None = None) -> None:
        """Write the plan of the run, and the note on its search, at once, in place of earlier ones."""
        if search is not None:
            heads, data = packed(search.arrays)
            row = self._number, search.text, json.dumps(heads)
            statement = "INSERT OR REPLACE INTO search VALUES (?, ?, ?, ?, ?)"
            self._statements.append((statement, (*row, checksum(*row, data), data)))
        names = dict(enumerate(map(text_for_file, note.names)))
        self._members = [member._replace(name=names.get(member.position, member.name)) for member in self._members]
        self._statements += [
            ("DELETE FROM barrier WHERE run = ?", (self._number,)),
            self._planned(note),
            *(member_statement(self._number, member) for member in self._members),
        ]
        self.commit()

    def note_end(self, n_configurations: int, n_more: int = 0) -> None:
        """Write at once that the plan ends with so many configurations, and more fits."""
        assert self._plan is not None, "a run begins with its plan"
        n_cells = n_configurations * self._plan.n_splits + n_more
        ended = replace(self._plan, n_configurations=n_configurations, n_cells=n_cells)
        self._statements.append(self._planned(ended))
        self.commit()

    def _planned(self, note: PlanNote) -> Statement:
        self._plan = note
        row = json.dumps(asdict(replace(note, names=()))), self._number
        return "UPDATE run SET plan = ? WHERE number = ?", row

    def note_barrier(self, race: Sequence[Place], barrier: Barrier) -> None:
        """Keep the record of a barrier until the next ``commit``."""
        splits = [(int(repeat), int(fold)) for repeat, fold in race]
        dropped = [
            (self._keys[left.configuration], repr(float(left.statistic)), text_for_file(left.reason))
            for left in barrier.dropped
        ]
        row = (
            self._number, splits[0][0], int(barrier.after), json.dumps(splits), int(barrier.n_rows),
            int(barrier.n_before), self._keys[barrier.leader],
            float(barrier.risk) if math.isfinite(barrier.risk) else None, int(barrier.stopped), json.dumps(dropped),
        )  # fmt: skip
        statement = "INSERT OR REPLACE INTO barrier VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        self._statements.append((statement, row))

    def close(self) -> None:
        """Commit, release the file and close it; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        try:
            self.commit()
            with explained(self.path):
                self._begin()
                self._connection.execute(_WITHOUT_OWNER)
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
            for statement in self._statements:
                connection.execute(*statement)
            if self._in_doubt:
                self._load()
                self._pending = {key: result for key, result in self._pending.items() if key not in self._blocks}
            written: dict[CellKey, int] = {}
            if self._pending:
                written = self._insert()
                connection.execute(
                    "UPDATE run SET acknowledged = ? WHERE number = ?", (now("milliseconds"), self._number)
                )
            # After an interrupt among the next lines, closing reads in the file what is there.
            self._in_doubt = True
            connection.execute("COMMIT")
            self._bytes_in_log += _BYTES_OF_A_COMMIT
            self._blocks.update(written)
            self._statements, self._pending = [], {}
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

    def _insert(self) -> dict[CellKey, int]:
        """Write what is recorded; returns the number of the block of each cell."""
        # A cell that is recorded again replaces the former; the others of its block are written again.
        for number in {self._blocks[key] for key in self._pending if key in self._blocks}:
            for cell in read_block(self._connection, number).at(self._positions):
                self._pending.setdefault(cell.key, cell)
            self._connection.execute("DELETE FROM block WHERE number = ?", (number,))
        ((last,),) = self._connection.execute("SELECT coalesce(max(number), 0) FROM block").fetchall()
        groups: dict[Hashable, list[Any]] = {}
        for result in dict.fromkeys(self._pending.values()):
            groups.setdefault(self._likeness(result), []).append(result)
        number_of: dict[CellResult | CellTable, int] = {}
        for number, group in enumerate(groups.values(), start=last + 1):
            table = group[0] if isinstance(group[0], CellTable) else CellTable.of_split(group)
            statement = block_statement(self._number, number, table, self._keys)
            self._connection.execute(*statement)
            self._bytes_in_log += len(statement[1][-1])
            number_of |= dict.fromkeys(group, number)
        return {key: number_of[result] for key, result in self._pending.items()}

    def _likeness(self, result: CellResult | CellTable) -> Hashable:
        """What the cells of a split must have in common for one block."""
        if isinstance(result, CellTable) or result.key in self._blocks:
            return result
        arrays = tuple((response, values.dtype, values.shape) for response, values in result.predictions.items())
        # In a run that grows each configuration has blocks of its own, so that it can be found without the others.
        apart = self._grows and result.key.configuration
        return result.key.place, arrays, tuple(result.test_scores), tuple(result.train_scores), apart

    def checkpoint(self) -> None:
        """Move the log into the file from a second connection, while the first keeps the lock."""
        self._bytes_in_log = 0
        with closing(sqlite3.connect(self._file, isolation_level=None)) as second:
            second.execute("PRAGMA wal_checkpoint(PASSIVE)")
        # The open transaction began before this, and would append to the old log.
        self._connection.execute("ROLLBACK")
        self._begin()

    def _load(self) -> None:
        """Read which cells the file holds, and check all of them, so that a damaged one is refused at once."""
        self._blocks: dict[CellKey, int] = {}
        """The number of the block of each acknowledged cell."""
        self._waiting: dict[int, list[tuple[int, CellTable]]] = defaultdict(list)
        """Blocks with a configuration that is not added yet, by its key in the file."""
        with read_as_written(self.path):
            for number in block_numbers(self._connection, self._number):
                self._place(number, replace(read_block(self._connection, number), predictions={}))

    @property
    def strangers(self) -> list[int]:
        """The keys of configurations that have cells in the file and are not added yet."""
        return sorted(self._waiting)

    def _place(self, number: int, table: CellTable) -> list[CellKey]:
        """Acknowledge a block; returns its cells, or none while one of its configurations is not added."""
        missing = next((key for key in table.configurations if key not in self._positions), None)
        if missing is not None:
            self._waiting[missing].append((number, table))
            return []
        keys = list(table.at(self._positions).keys)
        if len(set(keys)) < len(keys) or not self._blocks.keys().isdisjoint(keys):
            raise ValueError(f"block {number} holds cells that are stored twice")
        self._blocks.update(dict.fromkeys(keys, number))
        return keys


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

    def stored_entropy(self) -> int | None:
        """The entropy of the latest run, or None if there is none.

        Raises
        ------
        StoreError
            When the file cannot be used.
        """
        path = Path(self.path)
        if not path.exists():
            return None
        with explained(path), closing(connect(path)) as connection, read_as_written(path):
            runs = stored_runs(connection) if has_tables(connection) else []
            return runs[-1].entropy if runs else None

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
                with read_as_written(path):
                    number, stored = self._run(connection, path, identity, configurations, resume)
                run = SQLiteRun(connection, path, number, identity.entropy, stored, grows=identity.is_adaptive)
                run.add([AddedConfiguration(key, text, "") for key, text in configurations])
                if run.strangers and not identity.is_adaptive:
                    why = f"it has cells of a configuration {run.strangers[0]} unknown to it"
                    raise StoreError(damaged(path, why))
                run.commit()
                trust(connection)
                run.checkpoint()  # from the start the file alone, without its log, identifies its run
                return run
            except BaseException:
                connection.close()
                raise

    def estimate_so_far(self, n_jobs: int | None = None) -> Estimate:
        """The estimate of the search in the file, of several the one that was opened last, finished or not.

        Of an unfinished search it rests on the folds that are complete for all remaining configurations (flag
        ``unfinished_search``). The file is not changed, and a process that writes it is not disturbed.

        Raises
        ------
        StoreError
            When no fold is complete yet, or the file holds no search with an estimate of its own.
        """
        return search_so_far(Path(self.path)).estimate(n_jobs)

    def _run(
        self,
        connection: sqlite3.Connection,
        path: Path,
        identity: RunIdentity,
        configurations: Sequence[tuple[str, str]],
        resume: bool,
    ) -> tuple[int, Sequence[Member]]:
        """Key of the run to write to, in the file already or new, and the configurations that it has there."""
        ids = frozenset(key for key, _ in configurations)
        # Latest first: of equally close runs a message names the latest.
        unlike = [(run, differences(run, identity, ids)) for run in reversed(stored_runs(connection))]
        closest, found = min(unlike, key=lambda one: len(one[1]), default=(None, []))
        if closest is None or (found and not self.one_run):
            return self._new_run(connection, identity), ()
        if not resume:
            raise StoreError(
                f"the run file {path} already holds a run with {closest.n_cells} finished cells; resume it "
                "(--resume), or use another folder for a new run."
            )
        if found:
            raise StoreError(other_run(path, closest, identity, found))
        there, here = closest.versions[-1], dict(identity.versions)
        if there != here and not self.accept_changed_code:
            changes = "; ".join(changes_of(there, here, "absent"))
            raise StoreError(
                f"the run in {path} was started by other code ({changes}), so its cells "
                "may differ from new ones. Go back to that code, accept the change (--accept-changed-code, or "
                "SQLiteStore(path, accept_changed_code=True)), or use another folder for a new run."
            )
        if there != here:  # other code continues it
            versions = json.dumps([*closest.versions, here])
            row = {**{name: closest.row[name] for name in IDENTITY}, "versions": versions}
            values = versions, checksum(*row.values()), closest.number
            connection.execute("UPDATE run SET versions = ?, checksum = ? WHERE number = ?", values)
        return closest.number, closest.members

    def _new_run(self, connection: sqlite3.Connection, identity: RunIdentity) -> int:
        """Insert a run; returns its key."""
        ((number,),) = connection.execute("SELECT coalesce(max(number), 0) + 1 FROM run").fetchall()
        # Entropy as text: SQLite's integers are signed, and 64 bits of entropy are not.
        row = (
            number, identity.rows, identity.folds, identity.configurations, identity.settings,
            f"{identity.entropy:016x}", json.dumps([dict(identity.versions)]), now(),
        )  # fmt: skip
        terms = json.dumps({name: text_for_file(value) for name, value in identity.terms.items()})
        connection.execute(
            f"INSERT INTO run ({', '.join(IDENTITY)}, checksum, terms) VALUES ({'?, ' * len(row)}?, ?)",
            (*row, checksum(*row), terms),
        )
        return int(number)


def block_statement(run: int, number: int, table: CellTable, keys: Sequence[int]) -> tuple[str, tuple[Any, ...]]:
    """The statement that writes a table; ``keys``: of all configurations in the file, by position.

    Raises StoreError when a prediction is not a number.
    """
    heads, data = packed({str(response): array for response, array in table.predictions.items()})
    cells = {
        "configurations": [keys[j] for j in table.configurations],
        "places": table.places,
        "sizes": table.sizes,
        **{name: _lists(table.columns[name]) for name in COLUMNS},
        "test": {name: column["value"].tolist() for name, column in table.test_scores.items()},
        "train": {name: column["value"].tolist() for name, column in table.train_scores.items()},
        "predictions": heads,
        "data": zlib.crc32(data),
    }
    row = number, run, len(table), json.dumps(cells)
    return "INSERT INTO block VALUES (?, ?, ?, ?, ?, ?)", (*row, checksum(*row), data)


def _lists(values: Array) -> Any:
    """A column as lists; the same value on all splits only once."""
    bits = values.view(np.int64) if values.dtype == np.float64 else values  # 0.0 is not -0.0
    return (values[:, :1] if (bits == bits[:, :1]).all() else values).tolist()


def packed(arrays: Mapping[str, Array]) -> tuple[dict[str, ArrayHead], bytes]:
    """The types and shapes of arrays, and their bytes.

    Raises StoreError when one is not of numbers.
    """
    heads, pieces = {}, []
    for name, array in arrays.items():
        little = numbers_of(array, name).astype(array.dtype.newbyteorder("<"), order="C", copy=False)
        heads[name] = ArrayHead(little.dtype.str, little.shape)
        pieces.append(little.tobytes())
    return heads, b"".join(pieces)


def numbers_of(array: Array, name: str) -> Array:
    """The array; raises StoreError when it is not of numbers."""
    if array.dtype.kind not in "biuf":
        raise StoreError(
            f"predictions of a stored run must be numbers or class codes, got {name} of type {array.dtype}."
        )
    return array


def _next_number(connection: sqlite3.Connection) -> int:
    """The first key that no configuration of the file has."""
    ((number,),) = connection.execute("SELECT coalesce(max(number), 0) + 1 FROM configuration").fetchall()
    return int(number)


def member_statement(run: int, member: Member) -> Statement:
    """Write a configuration, or its new place and name."""
    return (
        "INSERT INTO configuration (run, number, id, position, json, name, note, checksum) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run, id) DO UPDATE SET position = excluded.position, "
        "name = excluded.name, checksum = excluded.checksum",
        (run, *member, checksum(run, *member)),
    )
