"""The rows of a run in the file: how it is recognised, started and inspected.

The plan and the barriers are notes for inspection (``store.file_status``): a resumed run does not read them.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from heldout.data.declared import from_json, of_type
from heldout.execution.store.base import PlanNote, RunIdentity
from heldout.execution.store.opening import now, read_as_written
from heldout.folds.splits import Place

if TYPE_CHECKING:
    from heldout.dropping.base import Barrier


_PARTS = {"rows", "folds", "configurations"}
_MOST_CHARACTERS = 40
_IN_WORDS = {
    "scorers": "scoring",
    "responses": "predictions that are kept",
    "positive": "positive class",
    "error_score": "error_score",
    "train_scores": "return_train_score",
    "seeded": "whether estimators are seeded",
    "fit": "parameters of fit",
    "fit_of_model": "parameters of fit",
    "score": "parameters of scoring",
    "do": "what is done in a fit",
    "share": "share",
    "early_stopping": "early_stopping",
    "complexity": "the complexity of the selection",
    "stop_when_width": "stop_when_width",
}
"""The settings of ``execution.identity`` as users know them."""


@dataclass(frozen=True, eq=False)
class StoredRun:
    """A run of a file."""

    number: int
    """Its key in the file."""
    identity: RunIdentity
    """Without versions."""
    versions: tuple[Mapping[str, str], ...]
    """Of the code that worked on it, in order of time; more than one if a change was accepted."""
    configuration_ids: frozenset[str]


def differences(stored: StoredRun, wanted: RunIdentity, configuration_ids: frozenset[str]) -> list[str]:
    """The parts of the identity that differ, each in words with both values; empty for the same run."""
    there = stored.identity
    found = []
    for part in ("rows", "folds", "configurations"):
        # The order of the configurations is no part of a run's identity.
        if part == "configurations" and stored.configuration_ids == configuration_ids:
            continue
        if getattr(there, part) != getattr(wanted, part):
            found.append(f"other {part}{_both(there.terms.get(part), wanted.terms.get(part))}")
    if there.settings != wanted.settings:
        found.append(f"other settings{_changed_settings(there.settings, wanted.settings)}")
    if there.entropy != wanted.entropy:
        found.append(f"random_state {there.entropy} then, {wanted.entropy} now")
    return found


def _both(there: str | None, here: str | None) -> str:
    if there is None or here is None:
        return ""
    return f" ({there} then and now, but not the same)" if there == here else f" ({there} then, {here} now)"


def _changed_settings(there: str, here: str) -> str:
    try:
        old, new = (from_json(Mapping[str, Any], settings) for settings in (there, here))
    except ValueError:
        return ""
    changed = [name for name in _IN_WORDS if old.get(name) != new.get(name)]
    words = [_changed_setting(_IN_WORDS[name], old.get(name), new.get(name)) for name in changed]
    words += sorted(name for name in (old.keys() | new.keys()) - _IN_WORDS.keys() if old.get(name) != new.get(name))
    return f" ({', '.join(dict.fromkeys(words))})" if words else ""


def _changed_setting(name: str, old: object, new: object) -> str:
    plain = all(
        isinstance(value, str | bool | int | float) and len(str(value)) <= _MOST_CHARACTERS for value in (old, new)
    )
    return f"{name} {old} then, {new} now" if plain else name


def changed_options(there: Mapping[str, str], here: Mapping[str, str]) -> list[str]:
    """The options in which two runs differ, with both values.

    Examples
    --------
    >>> changed_options({"--preset": "quick", "--cv": "5"}, {"--preset": "standard", "--cv": "5"})
    ['--preset quick then, standard now']
    """
    if not there.keys() - _PARTS or not here.keys() - _PARTS:
        return []  # started from Python
    return [
        f"{name} {there.get(name, 'not given')} then, {here.get(name, 'not given')} now"
        for name in dict.fromkeys((*here, *there))
        if name not in _PARTS and there.get(name) != here.get(name)
    ]


def other_run(path: Path, stored: StoredRun, wanted: RunIdentity, found: list[str]) -> str:
    """The sentence for a file that holds only other runs."""
    options = changed_options(stored.identity.terms, wanted.terms)
    if any(option.startswith("--seed ") for option in options):
        found = [part for part in found if not part.startswith("random_state ")]
    return (
        f"the run file {path} holds a run that was started with other settings: {'; '.join([*options, *found])}. "
        f"Resume it with the same settings, or use another folder for a new run."
    )


def changed_versions(path: Path, there: Mapping[str, str], here: Mapping[str, str]) -> str:
    """The sentence for a run that other code started."""
    changed = [
        f"{name} {there.get(name, 'absent')} there, {here.get(name, 'absent')} here"
        for name in sorted(there.keys() | here.keys())
        if there.get(name) != here.get(name)
    ]
    return (
        f"the run in {path} was started by other code ({'; '.join(changed)}), so its cells may differ from new "
        f"ones. Go back to that code, accept the change (--accept-changed-code, or SQLiteStore(path, "
        f"accept_changed_code=True)), or use another folder for a new run."
    )


def already_there(path: Path, n_cells: int) -> str:
    """The sentence for a new run in a file that already holds it."""
    return (
        f"the run file {path} already holds a run with {n_cells} finished cells; resume it (--resume), or use "
        f"another folder for a new run."
    )


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
