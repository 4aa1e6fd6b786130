"""Opening a run file: is it ours, is it whole, is it free, can it be written; each "no" is one clear sentence.

One process writes a run file at a time. It holds SQLite's write lock from opening to closing, beginning the next
transaction as soon as it has committed one. The system frees that lock when the process dies, however it dies,
so a lock that can be had proves that the former owner is gone; nobody has to guess from a process id. The
owner's name in the file only serves to say who holds it.
"""

from __future__ import annotations

import os
import platform
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import chain, repeat
from pathlib import Path

from heldout.data.declared import UNREADABLE
from heldout.errors import StoreError
from heldout.execution.store.schema import (
    APPLICATION_ID,
    SCHEMA_VERSION,
    create_tables,
    unlike_ours,
    upgrade_tables,
)

_HEADER = b"SQLite format 3\x00"
CLAIMS = 4
PAUSE = 0.02

_LONGEST_REASON = 200
_STEP = 1_000_000
_STEPS_AT_LEAST, _STEPS_A_MIB = 100, 50
"""Steps of a million instructions of SQLite that opening a file may take: a sound one takes less than one for each
MiB, and one whose pages point in circles may never end."""
_LENGTH_AT_LEAST, _LENGTH_OF_SQLITE = 64 * 2**20, 10**9


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into one sentence that says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(sentence(path, error)) from error
    except UnicodeDecodeError as error:
        # SQLite complains of the text of a damaged file in the words of that text.
        raise StoreError(damaged(path, error.reason)) from error


@contextmanager
def read_as_written(path: Path) -> Iterator[None]:
    """Say that the file is damaged where its rows are not what they were when they were written."""
    try:
        yield
    except StoreError:
        raise
    except UNREADABLE as error:
        raise StoreError(damaged(path, str(error) or type(error).__name__)) from error


def sentence(path: Path, error: sqlite3.Error) -> str:
    """What an error of SQLite means for this file."""
    match primary_code(error):
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return (
                f"the run file {path} is locked by another program ({error}); wait until that has finished, or "
                f"use another file."
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | sqlite3.SQLITE_AUTH:
            return (
                f"the run file {path} cannot be written ({error}); make the file and its folder writable, or use "
                f"another folder."
            )
        case sqlite3.SQLITE_FULL | sqlite3.SQLITE_IOERR:
            return (
                f"the run file {path} cannot be written ({error}): the disk is full or failing; what was "
                f"acknowledged before is safe, so free some space and resume the run."
            )
        case sqlite3.SQLITE_INTERRUPT:
            return damaged(path, "reading it does not end")
        case _:
            return damaged(path, error)


def damaged(path: Path, why: object) -> str:
    """The sentence for a file that is ours but not whole."""
    reason = " ".join(str(why).split())
    reason = reason if len(reason) <= _LONGEST_REASON else f"{reason[: _LONGEST_REASON - 1]}…"
    return (
        f"the run file {path} is damaged ({reason}) and cannot be resumed; restore a copy of it, or move it away "
        "and start again."
    )


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's result code without its extension; 0 where Python raised the error itself."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def connect(path: Path) -> sqlite3.Connection:
    """A connection that has changed nothing yet; the file is ours or empty.

    Raises
    ------
    StoreError
        When the path is no file, or a file of another program or of a newer heldout.
    """
    check_path(path)
    # isolation_level=None: transactions begin and end where this package says so, never by themselves.
    connection = sqlite3.connect(path.absolute(), timeout=0.25, isolation_level=None, check_same_thread=False)
    try:
        distrust(connection, path)
        check_program(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def distrust(connection: sqlite3.Connection, path: Path) -> None:
    """Let nothing that a file holds run for ever, or take more memory than the file is long."""
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    beside = (path, path.with_name(path.name + "-wal"))
    n_bytes = sum(file.stat().st_size for file in beside if file.exists())
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(max(2 * n_bytes, _LENGTH_AT_LEAST), _LENGTH_OF_SQLITE))
    steps = max(_STEPS_AT_LEAST, _STEPS_A_MIB * (n_bytes >> 20))
    # No function of ours: in one a Ctrl-C would be raised, and lost in SQLite.
    connection.set_progress_handler(chain(repeat(0, steps), repeat(1)).__next__, _STEP)


def trust(connection: sqlite3.Connection) -> None:
    """Lift the limits: the file is sound, and this process alone writes it."""
    connection.set_progress_handler(None, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LENGTH_OF_SQLITE)


def check_path(path: Path) -> None:
    """Refuse what is no file of ours, before SQLite opens it: a pipe would be waited for, and for ever."""
    if path.is_dir():
        raise StoreError(f"the run file {path} is a folder; name a file in it, for instance {path / 'run.db'}.")
    if not path.absolute().parent.is_dir():
        raise StoreError(f"the folder of the run file {path} does not exist or is no folder; make it first.")
    for beside in ("", "-wal", "-shm", "-journal"):
        part = path.with_name(path.name + beside)
        if part.exists() and (found := what_it_is(part)) != "a file":
            raise StoreError(f"the run file {part} is {found}, and must be a file; name another one.")
    if not path.exists():
        return
    try:
        with path.open("rb") as file:
            head = file.read(len(_HEADER))
    except OSError as error:
        raise StoreError(f"the run file {path} cannot be read ({error.strerror}); use another file.") from error
    if head and head != _HEADER:
        raise StoreError(f"{path} is not a run file of heldout (it begins with {head!r}); use another file.")


def what_it_is(path: Path) -> str:
    """What a path names, in words: "a file", "a pipe", "a folder", "a socket" or "a device"."""
    mode = path.stat().st_mode
    words = {"a file": stat.S_ISREG, "a pipe": stat.S_ISFIFO, "a folder": stat.S_ISDIR, "a socket": stat.S_ISSOCK}
    return next((word for word, says in words.items() if says(mode)), "a device")


def check_program(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a database of another program or schema, and one that holds anything but our tables."""
    program, version = (_pragma(connection, name) for name in ("application_id", "user_version"))
    # A process killed between making the file and its tables leaves a database with nothing in it.
    if not program and not version and not has_tables(connection):
        return
    if program != APPLICATION_ID:
        raise StoreError(f"{path} is an SQLite database of another program; use another file.")
    if version < 1:
        raise StoreError(damaged(path, f"it has schema {version}"))
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"the run file {path} has schema {version}, written by a newer heldout; this one reads schema "
            f"{SCHEMA_VERSION}: upgrade heldout, or use another file."
        )
    if (why := unlike_ours(connection, version)) is not None:
        raise StoreError(damaged(path, why))


def has_tables(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None


def claim(connection: sqlite3.Connection, path: Path) -> None:
    """Become the one writer of the file, and leave the transaction open that holds its lock.

    Makes the tables where there are none, checks those that are there, and brings an older file's to the present
    schema; all of it in the transaction that is left open.

    Raises
    ------
    StoreError
        When another process is writing, or the file is damaged.
    """
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA journal_mode = WAL")
    # A checkpoint after a commit would leave the lock free while it lasts; the run makes its own (see SQLiteRun).
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    for attempt in range(CLAIMS):
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if primary_code(error) != sqlite3.SQLITE_BUSY:
                raise
            raise StoreError(_locked(path, owner(connection))) from error
        if owner(connection) is None or attempt == CLAIMS - 1:
            break
        # An owner that lives has the lock back within microseconds of its commit: so ask again before believing
        # that it is dead, and without waiting for another such moment.
        connection.execute("ROLLBACK")
        connection.execute("PRAGMA busy_timeout = 0")
        time.sleep(PAUSE)
    connection.execute("PRAGMA busy_timeout = 10000")
    if not has_tables(connection):
        create_tables(connection)
    verdict = str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
    if verdict != "ok":
        raise StoreError(damaged(path, verdict))
    if (astray := connection.execute("PRAGMA foreign_key_check").fetchone()) is not None:
        raise StoreError(damaged(path, f"a row of its table {astray[0]} belongs to nothing"))
    with read_as_written(path):
        upgrade_tables(connection)


def owner(connection: sqlite3.Connection) -> str | None:
    """Who writes the file, or died writing it, in words."""
    if not has_tables(connection):
        return None
    found = connection.execute(
        "SELECT owner_host, owner_pid, owner_since FROM run WHERE owner_pid IS NOT NULL"
    ).fetchone()
    return found and "process {1} on {0} since {2}".format(*found)


def _locked(path: Path, who: str | None) -> str:
    return (
        f"the run file {path} is in use by {who or 'another process'}; wait until that has finished, end it, or "
        f"use another file."
    )


def set_owner(connection: sqlite3.Connection, run: int) -> None:
    """Write this process's name on the run, and wipe a dead owner's."""
    clear_owner(connection)
    connection.execute(
        "UPDATE run SET owner_host = ?, owner_pid = ?, owner_since = ? WHERE number = ?",
        (platform.node(), os.getpid(), now(), run),
    )


def clear_owner(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE run SET owner_host = NULL, owner_pid = NULL, owner_since = NULL")


def now(unit: str = "seconds") -> str:
    """The time of day with its zone, to the second or to another unit of ``datetime.isoformat``."""
    return datetime.now().astimezone().isoformat(timespec=unit)


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
