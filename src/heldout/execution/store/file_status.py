"""Inspect a run file that a process may be writing, or that a dead process left, without changing it.

The file is opened for reading only, without the claim that a run makes on it. The lock shows whether a process
writes (see ``store.opening``): a second connection tries to take it, and releases it at once.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from heldout.errors import StoreError
from heldout.execution.store.opening import (
    CLAIMS,
    PAUSE,
    check_path,
    check_program,
    distrust,
    explained,
    has_tables,
    owner,
    primary_code,
    read_as_written,
)
from heldout.execution.store.run_status import RunStatus, run_status
from heldout.execution.store.runs import stored_runs

_NOT_READABLE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH)


class FileState(StrEnum):
    """Whether a process writes a run file, or how the last one left it."""

    RUNNING = "running"
    DEAD = "dead"
    """Its process ended without closing it."""
    INTERRUPTED = "interrupted"
    """Closed, with cells left to do."""
    FINISHED = "finished"
    EMPTY = "empty"
    """Created, with no run yet."""
    UNKNOWN = "unknown"
    """Not closed, and the lock cannot be tried because the folder is read-only."""


@dataclass(frozen=True)
class FileStatus:
    """The contents of a run file."""

    path: Path
    state: FileState
    owner: str | None
    """The process that writes it, or died writing it: number, host, and since when."""
    n_bytes: int
    """With its log."""
    runs: tuple[RunStatus, ...]
    """The oldest first."""


def file_status(path: Path) -> FileStatus:
    """The status of a run file at this moment.

    Raises StoreError when there is no such file, or it is of another program or schema, damaged or unreadable.
    """
    with one_moment(path) as connection:
        with read_as_written(path):
            runs = tuple(map(run_status, stored_runs(connection))) if has_tables(connection) else ()
        who = owner(connection)
        connection.execute("ROLLBACK")
        state = _state(path, who) or _as_left(runs)
    sizes = [found.stat().st_size for found in (path, _log_of(path)) if found.exists()]
    return FileStatus(path, state, who, sum(sizes), runs)


@contextmanager
def one_moment(path: Path) -> Iterator[sqlite3.Connection]:
    """A read-only connection in a transaction, which reads one moment while the writer may continue.

    Raises StoreError as ``file_status`` does.
    """
    if not path.exists():
        raise StoreError(f"there is no run file {path}; name the folder or the run.db of a run.")
    check_path(path)
    with _explained(path), closing(_read_only(path)) as connection:
        check_program(connection, path)
        connection.execute("BEGIN")
        yield connection


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        with explained(path):
            yield
    except StoreError as error:
        cause = error.__cause__
        if isinstance(cause, sqlite3.Error) and primary_code(cause) in _NOT_READABLE:
            raise StoreError(
                f"the run file {path} has a log beside it ({_log_of(path).name}) that cannot be read in a folder "
                "that is read-only; copy both into another folder and try there."
            ) from cause
        raise


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _read_only(path: Path) -> sqlite3.Connection:
    """A read-only connection that has already read."""
    log = _log_of(path)
    if log.exists():
        try:
            return _connected(path, "mode=ro")
        except sqlite3.OperationalError:
            # An empty log in a folder where its index cannot be made: no process writes, and the file is complete.
            if log.exists() and log.stat().st_size:
                raise
    # Without a log no process writes, because each run first makes one. "immutable" makes no file beside it.
    return _connected(path, "mode=ro&immutable=1")


def _connected(path: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True, timeout=5, isolation_level=None)
    try:
        distrust(connection, path)
        has_tables(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _as_left(runs: Sequence[RunStatus]) -> FileState:
    """The state of a file that was closed in order."""
    if not runs:
        return FileState.EMPTY
    return FileState.FINISHED if all(run.n_left == 0 for run in runs) else FileState.INTERRUPTED


def _state(path: Path, who: str | None) -> FileState | None:
    """Whether a process holds the lock; None for a file that was closed in order.

    The caller's connection must still be open: see below.
    """
    closed = FileState.DEAD if who else None
    if not _log_of(path).exists():
        return closed
    for attempt in range(CLAIMS):
        try:
            # The last connection that closes moves the log into the file. While the caller's is open this one is
            # not the last; the caller's cannot write, and does not touch the log of a dead process.
            with closing(_connected(path, "mode=rw")) as second:
                second.execute("PRAGMA busy_timeout = 0")
                second.execute("BEGIN IMMEDIATE")
                if who:
                    # Without permission to write, SQLite takes no lock, and reports it only here.
                    second.execute("DELETE FROM run WHERE 0")
                second.execute("ROLLBACK")
        except sqlite3.OperationalError as error:
            if primary_code(error) == sqlite3.SQLITE_BUSY:
                return FileState.RUNNING
            return FileState.UNKNOWN if who else None
        if who is None:
            return closed
        # A living owner releases the lock for moments between commits.
        if attempt < CLAIMS - 1:
            time.sleep(PAUSE)
    return closed
