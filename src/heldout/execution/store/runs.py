"""The rows of a run in the file: how it is recognised, started and inspected.

The plan and the barriers are notes for inspection (``store.file_status``): a resumed run does not read them.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from heldout.data.declared import from_json
from heldout.dropping.base import Barrier, Dropped
from heldout.execution.cells import CellResult, CellTable
from heldout.execution.store.base import PlanNote, RunIdentity
from heldout.execution.store.rows import block_numbers, read_block
from heldout.execution.store.schema import checksum, rows_of, text_for_file
from heldout.folds.splits import Place

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


class Member(NamedTuple):
    """A configuration of a run, by its key in the file."""

    number: int
    id: str
    position: int
    json: str
    name: str | None = None
    note: str | None = None


class StoredRun:
    """A run of a file, whose rows are read when they are asked for.

    Attributes
    ----------
    number : int
        Its key in the file.
    row : sqlite3.Row
    members : list of Member
        Its configurations, by position.
    """

    def __init__(self, connection: sqlite3.Connection, row: sqlite3.Row) -> None:
        self._connection = connection
        self.row = row
        self.number: int = row["number"]
        columns = ", ".join(Member._fields)
        found = rows_of(
            connection, "configuration", "run = ? ORDER BY position, number", self.number, columns=columns
        )
        self.members = [Member(*row) for row in found]

    @cached_property
    def entropy(self) -> int:
        if not re.fullmatch("[0-9a-f]{16}", self.row["entropy"]):
            raise ValueError(f"the entropy {self.row['entropy'][:20]!r} is not 16 hexadecimal digits")
        return int(self.row["entropy"], 16)

    @cached_property
    def terms(self) -> Mapping[str, str]:
        """The options that it was started with."""
        terms: Mapping[str, str] = from_json(Mapping[str, str], self.row["terms"])
        return terms

    @cached_property
    def versions(self) -> tuple[Mapping[str, str], ...]:
        """Of the code that worked on it, in order of time; more than one if a change was accepted."""
        versions: tuple[Mapping[str, str], ...] = from_json(tuple[Mapping[str, str], ...], self.row["versions"])
        if not versions:
            raise ValueError("a run has no versions")
        return versions

    @cached_property
    def plan(self) -> PlanNote | None:
        """None before it is noted."""
        text = self.row["plan"]
        return None if text is None else from_json(PlanNote, text)

    @property
    def names(self) -> list[str]:
        return [member.name or f"configuration {member.position}" for member in self.members]

    @cached_property
    def positions(self) -> dict[int, int]:
        """Of its configurations, by their keys."""
        return {member.number: position for position, member in enumerate(self.members)}

    @property
    def n_cells(self) -> int:
        """Acknowledged cells."""
        return sum(
            row["n_cells"] for row in rows_of(self._connection, "block", "run = ?", self.number, columns="n_cells")
        )

    @cached_property
    def barriers(self) -> dict[tuple[Place, ...], list[Barrier]]:
        """The barriers of each race, by its splits in their order."""
        races = dict[tuple[Place, ...], list[Barrier]]()
        for row in rows_of(self._connection, "barrier", "run = ? ORDER BY race, after", self.number):
            places, after = from_json(tuple[Place, ...], row["splits"]), row["after"]
            dropped = [
                # Barriers count splits from 1: the first is after the first split.
                Dropped(self.positions[key], after, float(statistic), reason, places[after - 1])
                for key, statistic, reason in from_json(tuple[tuple[int, str, str], ...], row["dropped"])
            ]
            dropped.sort(key=lambda drop: drop.configuration)
            barrier = Barrier(
                after, row["n_rows"], row["n_before"], self.positions[row["leader"]], tuple(dropped),
                float("nan") if row["risk"] is None else row["risk"], stopped=bool(row["stopped"]),
            )  # fmt: skip
            races.setdefault(places, []).append(barrier)
        return races

    @cached_property
    def blocks(self) -> dict[int, CellTable]:
        """Its results without predictions, in the order in which they were written, by their keys."""
        return {
            number: read_block(self._connection, number, with_predictions=False).at(self.positions)
            for number in block_numbers(self._connection, self.number)
        }

    def results(self, local: Mapping[int, int]) -> Iterator[CellResult]:
        """The results of some configurations, under other positions."""
        for number, block in self.blocks.items():
            if not local.keys().isdisjoint(block.configurations):
                for cell in read_block(self._connection, number).at(self.positions):
                    if cell.key.configuration in local:
                        yield replace(cell, key=cell.key._replace(configuration=local[cell.key.configuration]))


def stored_runs(connection: sqlite3.Connection) -> list[StoredRun]:
    """Every run of the file, the oldest first.

    Raises an error of ``UNREADABLE`` when they cannot be read.
    """
    return [StoredRun(connection, row) for row in rows_of(connection, "run", "TRUE ORDER BY number")]


def differences(stored: StoredRun, wanted: RunIdentity, configuration_ids: frozenset[str]) -> list[str]:
    """The parts of the identity that differ, each in words with both values; empty for the same run."""
    found = []
    for part in ("rows", "folds", "configurations"):
        # The order of the configurations is no part of a run's identity.
        if part == "configurations" and configuration_ids == {member.id for member in stored.members}:
            continue
        if stored.row[part] != getattr(wanted, part):
            found.append(f"other {part}{_both(stored.terms.get(part), wanted.terms.get(part))}")
    if stored.row["settings"] != wanted.settings:
        found.append(f"other settings{_changed_settings(stored.row['settings'], wanted.settings)}")
    if stored.entropy != wanted.entropy:
        found.append(f"random_state {stored.entropy} then, {wanted.entropy} now")
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
    options = changed_options(stored.terms, wanted.terms)
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


_IDENTITY = "number", "rows", "folds", "configurations", "settings", "entropy", "versions", "created"
"""The columns of a run under its checksum."""

Statement: TypeAlias = tuple[str, tuple[Any, ...]]
"""Text of SQL, and its values."""


def now(unit: str = "seconds") -> str:
    """The time of day with its zone, to the second or to another unit of ``datetime.isoformat``."""
    return datetime.now().astimezone().isoformat(timespec=unit)


def new_run(connection: sqlite3.Connection, identity: RunIdentity) -> int:
    """Insert a run; returns its key."""
    ((number,),) = connection.execute("SELECT coalesce(max(number), 0) + 1 FROM run").fetchall()
    # Entropy as text: SQLite's integers are signed, and 64 bits of entropy are not.
    row = (
        number, identity.rows, identity.folds, identity.configurations, identity.settings,
        f"{identity.entropy:016x}", json.dumps([dict(identity.versions)]), now(),
    )  # fmt: skip
    terms = json.dumps({name: text_for_file(value) for name, value in identity.terms.items()})
    connection.execute(
        f"INSERT INTO run ({', '.join(_IDENTITY)}, checksum, terms) VALUES ({'?, ' * len(row)}?, ?)",
        (*row, checksum(*row), terms),
    )
    return int(number)


def add_versions(connection: sqlite3.Connection, stored: StoredRun, versions: Mapping[str, str]) -> None:
    """Record that other code continues a run."""
    text = json.dumps([*stored.versions, dict(versions)])
    row = {**{name: stored.row[name] for name in _IDENTITY}, "versions": text}
    connection.execute(
        "UPDATE run SET versions = ?, checksum = ? WHERE number = ?", (text, checksum(*row.values()), stored.number)
    )


def next_number(connection: sqlite3.Connection) -> int:
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


def placed_members(
    connection: sqlite3.Connection, run: int, stored: Sequence[Member], configurations: Sequence[tuple[str, str]]
) -> list[Member]:
    """Write configurations, each an id and its JSON, at their present positions; stored ones keep their keys."""
    there, first = {member.id: member for member in stored}, next_number(connection)
    members = [
        there.get(key, Member(first + position, key, position, text))._replace(position=position)
        for position, (key, text) in enumerate(configurations)
    ]
    for member in members:
        connection.execute(*member_statement(run, member))
    return members


def changed_row(connection: sqlite3.Connection) -> str | None:
    """A row of a run or a configuration that is not as it was written, in words; None if all are."""
    for table, names in (("run", _IDENTITY), ("configuration", ("run", *Member._fields))):
        for row in rows_of(connection, table):
            if row["checksum"] != checksum(*(row[name] for name in names)):
                return f"the row of {table} {row['number']} is not as it was written"
    return None


def plan_statement(run: int, note: PlanNote) -> Statement:
    return "UPDATE run SET plan = ? WHERE number = ?", (json.dumps(asdict(replace(note, names=()))), run)


def barrier_statement(run: int, keys: Sequence[int], race: Sequence[Place], barrier: Barrier) -> Statement:
    """Write the record of a barrier in place of an earlier one; ``keys``: of configurations, by position."""
    splits = [(int(repeat), int(fold)) for repeat, fold in race]
    dropped = [
        (keys[left.configuration], repr(float(left.statistic)), text_for_file(left.reason))
        for left in barrier.dropped
    ]
    return (
        "INSERT OR REPLACE INTO barrier VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            run,
            splits[0][0],
            int(barrier.after),
            json.dumps(splits),
            int(barrier.n_rows),
            int(barrier.n_before),
            keys[barrier.leader],
            float(barrier.risk) if math.isfinite(barrier.risk) else None,
            int(barrier.stopped),
            json.dumps(dropped),
        ),
    )
