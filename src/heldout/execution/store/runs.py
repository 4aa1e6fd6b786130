"""The rows of a run in the file: how it is recognised, started and inspected.

The plan and the barriers are notes for inspection (``store.file_status``): a resumed run does not read them.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heldout.data.declared import from_json
from heldout.dropping.base import Barrier, Dropped
from heldout.errors import StoreError
from heldout.execution.cells import COLUMNS, CellResult, CellState, CellTable, Saving, ScoreColumn
from heldout.execution.store import PlanNote, RunIdentity, SearchNote
from heldout.execution.store.schema import checksum, rows_of, text_for_file
from heldout.folds.splits import Place
from heldout.metrics.base import Response


class ArrayHead(NamedTuple):
    """The type of an array as NumPy writes it ('<f8'), and its shape."""

    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class _Cells:
    """The column ``cells`` of a block.

    Columns that are one value a cell are lists by configuration and split; one of values that are the same on all
    splits holds each once.
    """

    configurations: tuple[int, ...]
    """Their keys in the file."""
    places: tuple[Place, ...]
    sizes: tuple[int, ...]
    state: tuple[tuple[CellState, ...], ...]
    message: tuple[tuple[str, ...], ...]
    fit_seconds: tuple[tuple[float, ...], ...]
    score_seconds: tuple[tuple[float, ...], ...]
    attempts: tuple[tuple[int, ...], ...]
    shared: tuple[tuple[Mapping[str, Saving], ...], ...]
    complexity: tuple[tuple[Mapping[str, float], ...], ...]
    test: Mapping[str, Any]
    train: Mapping[str, Any]
    """Scores by scorer, which need not be finite."""
    predictions: Mapping[Response, ArrayHead]
    data: int
    """The checksum of their bytes."""


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
        "test": {name: column.values.tolist() for name, column in table.test_scores.items()},
        "train": {name: column.values.tolist() for name, column in table.train_scores.items()},
        "predictions": heads,
        "data": zlib.crc32(data),
    }
    row = number, run, len(table), json.dumps(cells)
    return "INSERT INTO block VALUES (?, ?, ?, ?, ?, ?)", (*row, checksum(*row), data)


def _lists(values: NDArray[Any]) -> Any:
    """A column as lists; the same value on all splits only once."""
    bits = values.view(np.int64) if values.dtype == np.float64 else values  # 0.0 is not -0.0
    return (values[:, :1] if (bits == bits[:, :1]).all() else values).tolist()


def block_numbers(connection: sqlite3.Connection, run: int) -> list[int]:
    """The keys of the blocks of a run, in the order in which they were written."""
    rows = rows_of(connection, "block", "run = ? ORDER BY number", run, columns="number")
    return [row["number"] for row in rows]


def read_block(connection: sqlite3.Connection, number: int, *, with_predictions: bool = True) -> CellTable:
    """A block of the file, its configurations by their keys there.

    Raises ValueError when it is not as it was written.
    """
    columns = "number, run, n_cells, cells, checksum" + (", data" if with_predictions else "")
    (row,) = rows_of(connection, "block", "number = ?", number, columns=columns)
    if row["checksum"] != checksum(*row[:4]):
        raise ValueError(f"block {number} is not as it was written")
    cells = from_json(_Cells, row["cells"])
    shape = len(cells.configurations), len(cells.places)
    if row["n_cells"] != math.prod(shape) or len(cells.sizes) != shape[1]:
        raise ValueError(f"a block of {row['n_cells']} cells cannot have the shape {shape}")
    predictions: dict[Response, NDArray[Any]] = {}
    if with_predictions:
        if zlib.crc32(row["data"]) != cells.data:
            raise ValueError(f"block {number} is not as it was written")
        predictions = unpacked(cells.predictions, row["data"])
    table = CellTable.empty(cells.configurations, cells.places, predictions=predictions, sizes=cells.sizes)
    for of_scorers, scores in ((table.test_scores, cells.test), (table.train_scores, cells.train)):
        for name, values in scores.items():
            of_scorers[name] = ScoreColumn.of(_column(values, np.float64, shape))
    for name, dtype in COLUMNS.items():
        table.columns[name] = _column(getattr(cells, name), dtype, shape)
    return table


def _column(values: Any, dtype: Any, shape: tuple[int, int]) -> NDArray[Any]:
    column = np.array(values, dtype=dtype)
    if column.shape not in (shape, (shape[0], 1)):
        raise ValueError(f"a block of the shape {shape} cannot have a column of the shape {column.shape}")
    return column


def packed(arrays: Mapping[str, NDArray[Any]]) -> tuple[dict[str, ArrayHead], bytes]:
    """The types and shapes of arrays, and their bytes.

    Raises StoreError when one is not of numbers.
    """
    heads, pieces = {}, []
    for name, array in arrays.items():
        little = numbers_of(array, name).astype(array.dtype.newbyteorder("<"), order="C", copy=False)
        heads[name] = ArrayHead(little.dtype.str, little.shape)
        pieces.append(little.tobytes())
    return heads, b"".join(pieces)


def numbers_of(array: NDArray[Any], name: str) -> NDArray[Any]:
    """The array; raises StoreError when it is not of numbers."""
    if array.dtype.kind not in "biuf":
        raise StoreError(
            f"predictions of a stored run must be numbers or class codes, got {name} of type {array.dtype}."
        )
    return array


def unpacked(heads: Mapping[Any, ArrayHead], data: bytes) -> dict[Any, NDArray[Any]]:
    """The arrays that were packed; raises ValueError when they are damaged."""
    arrays, start = {}, 0
    for name, (kind, shape) in heads.items():
        if not re.fullmatch(r"[<|][biuf]\d{1,2}", kind) or min(shape, default=0) < 0:
            raise ValueError(f"predictions of type {kind[:20]!r} and shape {str(shape)[:40]}")
        # A copy, because an array over the bytes themselves would be read-only.
        arrays[name] = np.ndarray(shape, kind, data, start).astype(np.dtype(kind).newbyteorder("="))
        start += arrays[name].nbytes
    return arrays


def search_statement(run: int, note: SearchNote) -> tuple[str, tuple[Any, ...]]:
    """Write the note of a run in place of an earlier one."""
    heads, data = packed(note.arrays)
    row = run, note.text, json.dumps(heads)
    return "INSERT OR REPLACE INTO search VALUES (?, ?, ?, ?, ?)", (*row, checksum(*row, data), data)


def read_search(connection: sqlite3.Connection, run: int) -> SearchNote | None:
    """The note of a run; None where it has none.

    Raises ValueError when it is not as it was written.
    """
    for row in rows_of(connection, "search", "run = ?", run):
        if row["checksum"] != checksum(*row[:3], row["data"]):
            raise ValueError("the note on the search is not as it was written")
        return SearchNote(row["note"], unpacked(from_json(Mapping[str, ArrayHead], row["arrays"]), row["data"]))
    return None


_PARTS = {"rows", "folds", "configurations"}
_MOST_CHARACTERS = 40


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
    changed = (name for name in {**new, **old} if old.get(name) != new.get(name))
    words = [_changed_setting(name, old.get(name), new.get(name)) for name in changed]
    return f" ({', '.join(words)})" if words else ""


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
