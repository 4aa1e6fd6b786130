"""What a run says of itself to those who inspect it: its plan, and what happened at its barriers.

Nothing of this is read when a run is resumed; see ``store.file_status`` for its one reader.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from heldout.execution.store.opening import now
from heldout.folds.splits import Place

if TYPE_CHECKING:
    from heldout.dropping.base import Barrier


@dataclass(frozen=True)
class PlanNote:
    """A row of ``plan``."""

    n_configurations: int
    n_splits: int
    n_cells: int
    metric: str
    title: str
    n_rows: int | None = None
    names: tuple[str, ...] = ()


def write_plan(connection: sqlite3.Connection, run: int, configurations: Sequence[int], note: PlanNote) -> None:
    """Put a plan in the place of the one before, and forget what happened at its barriers.

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


def write_barrier(
    connection: sqlite3.Connection, run: int, configurations: Sequence[int], race: Sequence[Place], barrier: Barrier
) -> None:
    """Write what happened at a barrier, and who left there; a barrier noted again replaces itself."""
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
    """A process has taken the run up."""
    connection.execute(
        "UPDATE run SET opened = ?, cells_then = ? WHERE number = ?", (now("milliseconds"), n_cells, run)
    )


def write_acknowledged(connection: sqlite3.Connection, run: int) -> None:
    """Cells are being acknowledged."""
    connection.execute("UPDATE run SET acknowledged = ? WHERE number = ?", (now("milliseconds"), run))


def text_for_file(said: str) -> str:
    """As SQLite can hold it: without lone surrogates."""
    return said.encode("utf-8", "backslashreplace").decode()
