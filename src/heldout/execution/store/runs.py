"""The rows of a run in the file: how it is recognised, started and inspected.

The plan and the barriers are notes for inspection (``store.file_status``): a resumed run does not read them.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from heldout.data.declared import from_json, of_type
from heldout.execution.store.base import PlanNote, RunIdentity
from heldout.execution.store.matching import StoredRun
from heldout.execution.store.opening import now, read_as_written
from heldout.folds.splits import Place

if TYPE_CHECKING:
    from heldout.dropping.base import Barrier


class _RunRow(NamedTuple):
    """The columns of ``run`` that hold its identity."""

    number: int
    rows: str
    folds: str
    configurations: str
    settings: str
    entropy: str
    versions: str


def stored_runs(connection: sqlite3.Connection, path: Path) -> list[StoredRun]:
    """Every run of the file, the oldest first.

    Raises StoreError when they cannot be read.
    """
    with read_as_written(path):
        found = connection.execute(f"SELECT {', '.join(_RunRow._fields)} FROM run ORDER BY number").fetchall()
        return [_stored_run(connection, of_type(_RunRow, row, "a run")) for row in found]


def _stored_run(connection: sqlite3.Connection, row: _RunRow) -> StoredRun:
    ids = connection.execute("SELECT id FROM configuration WHERE run = ?", (row.number,)).fetchall()
    versions = from_json(tuple[Mapping[str, str], ...], row.versions)
    if not versions:
        raise ValueError("a run has no versions")
    if not re.fullmatch("[0-9a-f]{16}", row.entropy):
        raise ValueError(f"the entropy {row.entropy[:20]!r} is not 16 hexadecimal digits")
    return StoredRun(
        number=row.number,
        identity=RunIdentity(
            row.rows,
            row.folds,
            row.configurations,
            row.settings,
            int(row.entropy, 16),
            terms=_terms(connection, row.number),
        ),
        versions=versions,
        configuration_ids=frozenset(of_type(str, key, "a configuration's id") for (key,) in ids),
    )


def _terms(connection: sqlite3.Connection, run: int) -> dict[str, str]:
    """The options that the run was started with."""
    found = connection.execute("SELECT name, value FROM terms WHERE run = ?", (run,)).fetchall()
    return {of_type(str, name, "a term"): of_type(str, value, "a term") for name, value in found}


def new_run(connection: sqlite3.Connection, identity: RunIdentity) -> int:
    """Insert a run; returns its key."""
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
    connection.executemany(
        "INSERT INTO terms (run, name, value) VALUES (?, ?, ?)",
        [(number, name, text_for_file(value)) for name, value in identity.terms.items()],
    )
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
    numbers = stored_numbers(connection, run)
    return [numbers[key] for key, _ in configurations]


class AddedRow(NamedTuple):
    """A row of ``configuration`` that an open run adds, without its run."""

    number: int
    id: str
    position: int
    json: str
    name: str
    note: str


def write_added(connection: sqlite3.Connection, run: int, rows: Sequence[AddedRow]) -> None:
    """Write configurations that were added to an open run, or their new places."""
    connection.executemany(
        "INSERT INTO configuration (run, number, id, position, json, name, note) VALUES (?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (run, id) DO UPDATE SET position = excluded.position, name = excluded.name",
        [(run, *row) for row in rows],
    )


def stored_numbers(connection: sqlite3.Connection, run: int) -> dict[str, int]:
    """The keys of a run's configurations in the file, by their ids."""
    return dict(connection.execute("SELECT id, number FROM configuration WHERE run = ?", (run,)).fetchall())


def stored_notes(connection: sqlite3.Connection, run: int) -> list[str]:
    """The notes on a run's configurations, in their order."""
    found = connection.execute("SELECT note FROM configuration WHERE run = ? ORDER BY position, number", (run,))
    return [of_type(str, note, "a configuration's note") for (note,) in found if note is not None]


def next_number(connection: sqlite3.Connection) -> int:
    """The first key that no configuration of the file has."""
    (number,) = connection.execute("SELECT coalesce(max(number), 0) + 1 FROM configuration").fetchone()
    return int(number)


def count_cells(connection: sqlite3.Connection, run: int) -> int:
    """Acknowledged cells of a run."""
    (count,) = connection.execute(
        "SELECT (SELECT count(*) FROM cell JOIN configuration ON configuration.number = cell.configuration "
        "WHERE run = :run) + (SELECT coalesce(sum(n_cells), 0) FROM block WHERE run = :run)",
        {"run": run},
    ).fetchone()
    return int(count)


def add_versions(connection: sqlite3.Connection, stored: StoredRun, versions: Mapping[str, str]) -> None:
    """Record that other code continues a run."""
    connection.execute(
        "UPDATE run SET versions = ? WHERE number = ?",
        (json.dumps([*stored.versions, dict(versions)]), stored.number),
    )


def write_plan(connection: sqlite3.Connection, run: int, configurations: Sequence[int], note: PlanNote) -> None:
    """Replace the plan, and delete the notes on earlier barriers.

    ``configurations`` are the keys in the file, by position; here and below.
    """
    connection.execute("DELETE FROM barrier WHERE run = ?", (run,))
    connection.execute(
        'DELETE FROM "drop" WHERE configuration IN (SELECT number FROM configuration WHERE run = ?)', (run,)
    )
    connection.execute(
        "INSERT OR REPLACE INTO plan (run, n_configurations, n_splits, n_cells, n_rows, metric, title) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (run, note.n_configurations, note.n_splits, note.n_cells, note.n_rows, note.metric, note.title),
    )
    connection.executemany(
        "UPDATE configuration SET name = ? WHERE number = ?",
        [(text_for_file(name), number) for name, number in zip(note.names, configurations, strict=False)],
    )


def write_end(connection: sqlite3.Connection, run: int, n_configurations: int, n_more: int) -> None:
    """Change the plan to the configurations of a search at its end, with so many fits beside its splits."""
    connection.execute(
        "UPDATE plan SET n_configurations = :n, n_cells = :n * n_splits + :more WHERE run = :run",
        {"n": n_configurations, "more": n_more, "run": run},
    )


def write_barrier(
    connection: sqlite3.Connection, run: int, configurations: Sequence[int], race: Sequence[Place], barrier: Barrier
) -> None:
    """Write the record of a barrier and of the configurations dropped there; it replaces an earlier record."""
    splits = [(int(repeat), int(fold)) for repeat, fold in race]
    number = splits[0][0]
    connection.execute(
        "INSERT OR REPLACE INTO barrier (run, race, after, splits, n_rows, n_before, leader, risk, stopped) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            run,
            number,
            int(barrier.after),
            json.dumps(splits),
            int(barrier.n_rows),
            int(barrier.n_before),
            configurations[barrier.leader],
            float(barrier.risk) if math.isfinite(barrier.risk) else None,
            int(barrier.stopped),
        ),
    )
    connection.executemany(
        'INSERT OR REPLACE INTO "drop" (configuration, race, barrier, statistic, reason) VALUES (?, ?, ?, ?, ?)',
        [
            (
                configurations[left.configuration],
                number,
                int(left.after),
                repr(float(left.statistic)),
                text_for_file(left.reason),
            )
            for left in barrier.dropped
        ],
    )


def write_opened(connection: sqlite3.Connection, run: int, n_cells: int) -> None:
    """Record that a process has opened the run."""
    connection.execute(
        "UPDATE run SET opened = ?, cells_then = ? WHERE number = ?", (now("milliseconds"), n_cells, run)
    )


def write_acknowledged(connection: sqlite3.Connection, run: int) -> None:
    """Record the time of an acknowledgement."""
    connection.execute("UPDATE run SET acknowledged = ? WHERE number = ?", (now("milliseconds"), run))


def text_for_file(text: str) -> str:
    """The text as SQLite can hold it: without lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode()
