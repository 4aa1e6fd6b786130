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
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from heldout.errors import StoreError
from heldout.store.schema import APPLICATION_ID, SCHEMA_VERSION, create_tables, upgrade_tables

_HEADER = b"SQLite format 3\x00"
CLAIMS = 4
PAUSE = 0.02


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
        case _:
            return damaged(path, error)


def damaged(path: Path, why: object) -> str:
    """The sentence for a file that is ours but not whole."""
    reason = " ".join(str(why).split())
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
        check_program(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def check_path(path: Path) -> None:
    if path.is_dir():
        raise StoreError(f"the run file {path} is a folder; name a file in it, for instance {path / 'run.db'}.")
    if not path.absolute().parent.is_dir():
        raise StoreError(f"the folder of the run file {path} does not exist or is no folder; make it first.")
    if not path.exists():
        return
    try:
        with path.open("rb") as file:
            head = file.read(len(_HEADER))
    except OSError as error:
        raise StoreError(f"the run file {path} cannot be read ({error.strerror}); use another file.") from error
    if head and head != _HEADER:
        raise StoreError(f"{path} is not a run file of heldout (it begins with {head!r}); use another file.")


def check_program(connection: sqlite3.Connection, path: Path) -> None:
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
