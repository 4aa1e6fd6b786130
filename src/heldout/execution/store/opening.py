"""Open a run file: is it ours, complete, free and writable? Each "no" is one clear sentence.

One process writes a run file at a time. It holds SQLite's write lock from opening to closing: it begins the next
transaction directly after a commit. The system frees the lock when the process dies for any reason, so a free lock
proves that the former owner is gone; no guess from a process id is needed. The owner's name in the file only serves
for messages.
"""

import os
import platform
import re
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, repeat
from pathlib import Path

from heldout._text import cut
from heldout.data.declared import UNREADABLE
from heldout.errors import StoreError
from heldout.execution.store.runs import APPLICATION_ID, SCHEMA_VERSION, changed_row, create_tables, unlike_ours

_HEADER = b"SQLite format 3\x00"
CLAIMS = 4
PAUSE = 0.02

_LONGEST_REASON = 200
_STEP = 1_000_000
_STEPS_AT_LEAST, _STEPS_A_MIB = 100, 50
"""The limit of steps, each a million instructions of SQLite, to open a file: a sound file takes less than one for
each
MiB, and one whose pages form a circle might never end."""
_LENGTH_AT_LEAST, _LENGTH_OF_SQLITE = 64 * 2**20, 10**9


def is_database(path: Path) -> bool:
    """Whether a path is a file of SQLite, by its first bytes."""
    try:
        if what_it_is(path) != "a file":
            return False
        with path.open("rb") as file:
            return file.read(len(_HEADER)) == _HEADER
    except (OSError, ValueError):  # a path that cannot be read, or be a path
        return False


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into one sentence with a remedy."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(sentence(path, error)) from error
    except UnicodeDecodeError as error:
        # SQLite's message quotes the text of the damaged file.
        raise StoreError(damaged(path, error.reason)) from error


@contextmanager
def read_as_written(path: Path) -> Iterator[None]:
    """Report a damaged file if its rows are not as they were written."""
    try:
        yield
    except StoreError:
        raise
    except UNREADABLE as error:
        raise StoreError(damaged(path, str(error) or type(error).__name__)) from error


def sentence(path: Path, error: sqlite3.Error) -> str:
    """The sentence for an error of SQLite on this file."""
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
    """The sentence for a file of ours that is damaged."""
    reason = cut(" ".join(str(why).split()), _LONGEST_REASON)
    return (
        f"the run file {path} is damaged ({reason}) and cannot be resumed; restore a copy of it, or move it away "
        "and start again."
    )


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's result code without its extension; 0 if Python raised the error."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def connect(path: Path, mode: str = "rwc", seconds: float = 0.25) -> sqlite3.Connection:
    """A connection that has read and changed nothing; the file is ours or empty.

    - ``mode``: of SQLite's address of a file.
    - ``seconds``: that it waits for a lock.

    Raises StoreError when the path is no file, or a file of another program or schema.
    """
    check_path(path)
    address = f"{path.absolute().as_uri()}?mode={mode}"
    # isolation_level=None: only this package begins and ends transactions.
    connection = sqlite3.connect(address, timeout=seconds, isolation_level=None, check_same_thread=False, uri=True)
    try:
        distrust(connection, path)
        check_program(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def distrust(connection: sqlite3.Connection, path: Path) -> None:
    """Limit the time and the memory that the contents of a file can take."""
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    beside = (path, path.with_name(path.name + "-wal"))
    n_bytes = sum(file.stat().st_size for file in beside if file.exists())
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(max(2 * n_bytes, _LENGTH_AT_LEAST), _LENGTH_OF_SQLITE))
    steps = max(_STEPS_AT_LEAST, _STEPS_A_MIB * (n_bytes >> 20))
    # No Python function of ours, because a Ctrl-C raised in it would be lost in SQLite.
    connection.set_progress_handler(chain(repeat(0, steps), repeat(1)).__next__, _STEP)


def trust(connection: sqlite3.Connection) -> None:
    """Lift the limits: the file is sound, and this process alone writes it."""
    connection.set_progress_handler(None, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LENGTH_OF_SQLITE)


def check_path(path: Path) -> None:
    """Refuse what is no file of ours before SQLite opens it: a pipe would block for ever."""
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
    """The kind of a path, in words: "a file", "a pipe", "a folder", "a socket" or "a device"."""
    mode = path.stat().st_mode
    words = {"a file": stat.S_ISREG, "a pipe": stat.S_ISFIFO, "a folder": stat.S_ISDIR, "a socket": stat.S_ISSOCK}
    return next((word for word, says in words.items() if says(mode)), "a device")


def check_program(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a database of another program or schema, or with other tables."""
    marks = ("application_id", "user_version")
    program, version = (int(connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in marks)
    # A process killed between creating the file and its tables leaves an empty database.
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
    if version < SCHEMA_VERSION:
        raise StoreError(
            f"the run file {path} has schema {version}, written by {_writer(connection)}; this one reads schema "
            f"{SCHEMA_VERSION}: continue the run with the version that wrote it, or use another file for a new run."
        )
    if (why := unlike_ours(connection)) is not None:
        raise StoreError(damaged(path, why))


def _writer(connection: sqlite3.Connection) -> str:
    """The version of heldout that wrote an older file, as far as the file tells."""
    try:
        ((version,),) = connection.execute(
            "SELECT json_extract(versions, '$[#-1].heldout') FROM run ORDER BY number DESC LIMIT 1"
        ).fetchall()
    except (sqlite3.Error, *UNREADABLE):
        version = None
    return f"heldout {version}" if re.fullmatch(r"[\w.+-]{1,40}", str(version or "")) else "an older heldout"


def has_tables(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None


def claim(connection: sqlite3.Connection, path: Path) -> None:
    """Become the only writer of the file, and leave open the transaction that holds its lock.

    In this transaction it creates missing tables, and checks existing ones.

    Raises StoreError when another process is writing, or the file is damaged.
    """
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA journal_mode = WAL")
    # A checkpoint after a commit would leave the lock free meanwhile; the run makes its own (see SQLiteRun).
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
        # A living owner takes the lock again within microseconds after a commit: so try again before deciding that
        # it is dead, without waiting for the next such moment.
        connection.execute("ROLLBACK")
        connection.execute("PRAGMA busy_timeout = 0")
        time.sleep(PAUSE)
    connection.execute("PRAGMA busy_timeout = 10000")
    if not has_tables(connection):
        create_tables(connection)
    check_sound(connection, path)


def check_sound(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file with damaged pages, rows that belong to nothing, or changed rows of runs and configurations."""
    verdict = str(connection.execute("PRAGMA integrity_check(1)").fetchone()[0])
    if verdict != "ok":
        raise StoreError(damaged(path, verdict))
    if (astray := connection.execute("PRAGMA foreign_key_check").fetchone()) is not None:
        raise StoreError(damaged(path, f"a row of its table {astray[0]} belongs to nothing"))
    with read_as_written(path):
        if (why := changed_row(connection)) is not None:
            raise StoreError(damaged(path, why))


def owner(connection: sqlite3.Connection) -> str | None:
    """The process that writes the file, or died writing it, in words."""
    if not has_tables(connection):
        return None
    found = connection.execute(
        "SELECT owner_host, owner_pid, owner_since FROM run WHERE owner_pid IS NOT NULL"
    ).fetchone()
    return found and "process {1} on {0} since {2}".format(*found)


def _locked(path: Path, who: str | None) -> str:
    if who is not None and who.startswith(f"process {os.getpid()} on {platform.node()} "):
        # As after an interrupted cell of a notebook, which keeps the search.
        return (
            f"the run file {path} is in use by {who}, which is this one; end the search that has it open by its "
            "finish() or close(), or use another file."
        )
    return (
        f"the run file {path} is in use by {who or 'another process'}; wait until that has finished, end it, or "
        f"use another file."
    )
