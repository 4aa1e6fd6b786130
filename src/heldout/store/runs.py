"""The rows of ``run`` and ``configuration``: which runs a file holds, and how one is begun."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path

from heldout.errors import StoreError
from heldout.store.base import RunIdentity
from heldout.store.matching import StoredRun
from heldout.store.opening import damaged, now


def stored_runs(connection: sqlite3.Connection, path: Path) -> list[StoredRun]:
    """Every run of the file, the oldest first.

    Raises
    ------
    StoreError
        When they cannot be read.
    """
    found = connection.execute(
        "SELECT number, rows, folds, configurations, settings, entropy, versions FROM run ORDER BY number"
    ).fetchall()
    try:
        return [
            StoredRun(
                number=number,
                identity=RunIdentity(rows, folds, configurations, settings, int(entropy, 16)),
                versions=tuple(json.loads(versions)),
                configuration_ids=frozenset(
                    key for (key,) in connection.execute("SELECT id FROM configuration WHERE run = ?", (number,))
                ),
            )
            for number, rows, folds, configurations, settings, entropy, versions in found
        ]
    except (ValueError, TypeError) as error:
        raise StoreError(damaged(path, error)) from error


def new_run(connection: sqlite3.Connection, identity: RunIdentity) -> int:
    """Begin a run; its key."""
    # Entropy as text: SQLite's integers are signed, and 64 bits of entropy are not.
    number = connection.execute(
        "INSERT INTO run (rows, folds, configurations, settings, entropy, versions, created) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            identity.rows,
            identity.folds,
            identity.configurations,
            identity.settings,
            f"{identity.entropy:016x}",
            json.dumps([dict(identity.versions)]),
            now(),
        ),
    ).lastrowid
    assert number is not None  # it is None only before the first insertion
    return number


def configuration_numbers(
    connection: sqlite3.Connection, run: int, configurations: Sequence[tuple[str, str]]
) -> list[int]:
    """Keys of the configurations by position; new ones are written."""
    connection.executemany(
        "INSERT INTO configuration (run, id, position, json) VALUES (?, ?, ?, ?) "
        "ON CONFLICT (run, id) DO UPDATE SET position = excluded.position",
        [(run, key, position, text) for position, (key, text) in enumerate(configurations)],
    )
    numbers = dict(connection.execute("SELECT id, number FROM configuration WHERE run = ?", (run,)).fetchall())
    return [numbers[key] for key, _ in configurations]


def count_cells(connection: sqlite3.Connection, run: int) -> int:
    """Acknowledged cells of a run."""
    (count,) = connection.execute(
        "SELECT count(*) FROM cell JOIN configuration ON configuration.number = cell.configuration WHERE run = ?",
        (run,),
    ).fetchone()
    return int(count)


def add_versions(connection: sqlite3.Connection, stored: StoredRun, versions: Mapping[str, str]) -> None:
    """Record that other code goes on with a run."""
    connection.execute(
        "UPDATE run SET versions = ? WHERE number = ?",
        (json.dumps([*stored.versions, dict(versions)]), stored.number),
    )
