"""Inspect a run file that a process may be writing, or that a dead process left, without changing it.

The file is opened for reading only, without the claim that a run makes on it. The lock shows whether a process
writes (see ``store.opening``): a second connection tries to take it, and releases it at once.
"""

from __future__ import annotations

import math
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from heldout.dropping.base import Barrier, dropped_at
from heldout.errors import StoreError
from heldout.execution.cells import CellKey, CellResult, CellState, SharedFits, each_cell, shared_fits
from heldout.execution.listeners.tally import CurrentBest, WorkPace, best_so_far
from heldout.execution.store import PlanNote
from heldout.execution.store.opening import (
    CLAIMS,
    PAUSE,
    connect,
    explained,
    has_tables,
    owner,
    primary_code,
    read_as_written,
)
from heldout.execution.store.runs import StoredRun, stored_runs
from heldout.folds.splits import Place

SECONDS = 5.0
"""That a reader waits for a lock."""
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
        state = _state(path, who)
        if state is None:  # closed in order
            is_over = all(run.n_left == 0 for run in runs)
            state = FileState.EMPTY if not runs else FileState.FINISHED if is_over else FileState.INTERRUPTED
    sizes = [found.stat().st_size for found in (path, _log_of(path)) if found.exists()]
    return FileStatus(path, state, who, sum(sizes), runs)


@contextmanager
def one_moment(path: Path) -> Iterator[sqlite3.Connection]:
    """A read-only connection in a transaction, which reads one moment while the writer may continue.

    Raises StoreError as ``file_status`` does.
    """
    if not path.exists():
        raise StoreError(f"there is no run file {path}; name the folder or the run.db of a run.")
    with _explained(path), closing(_read_only(path)) as connection:
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
            return connect(path, "ro", SECONDS)
        except sqlite3.OperationalError:
            # An empty log in a folder where its index cannot be made: no process writes, and the file is complete.
            if log.exists() and log.stat().st_size:
                raise
    # Without a log no process writes, because each run first makes one. "immutable" makes no file beside it.
    return connect(path, "ro&immutable=1", SECONDS)


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
            with closing(connect(path, "rw", SECONDS)) as second:
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


@dataclass(frozen=True)
class RunStatus:
    """A run of a file.

    - ``n_rows``, ``n_splits``, ``n_cells``: as planned; None before the plan is written.
    - ``metric``, ``title``: the scorer that decides, and what people call it; empty of a validation.
    - ``n_done``, ``n_failed``: cells that are acknowledged; the failed ones are among the done.
    - ``opened``, ``acknowledged``: when a process last took the run up, and when a cell was last acknowledged.
    """

    number: int
    created: str
    n_configurations: int
    n_done: int
    n_failed: int
    seconds: float
    """Fitting and scoring, of all cells."""
    n_rows: int | None = None
    n_splits: int | None = None
    n_cells: int | None = None
    metric: str | None = None
    title: str | None = None
    n_saved: int = 0
    """Cells that will not be done because their configuration was dropped."""
    best: CurrentBest | None = None
    barriers: tuple[Mapping[str, Any], ...] = ()
    """Each with its race, counted from 0 in the order of the file, and those ``left`` there by name."""
    messages: Mapping[str, int] = field(default_factory=dict)
    """What cells complained of, and how many; the most frequent first."""
    opened: str | None = None
    acknowledged: str | None = None
    cells_per_second: float | None = None
    """Since ``opened``."""
    seconds_left: float | None = None
    """At the pace since ``opened``; an upper bound if more are dropped."""
    n_shared: int = 0
    """Cells that were not made alone."""
    shared_fits: Mapping[str, SharedFits] = field(default_factory=dict)
    """The same by what they shared, and what that saved."""

    @property
    def is_validation(self) -> bool:
        """Whether models are scored when all are fitted, not cell by cell."""
        return self.metric == ""

    @property
    def n_left(self) -> int | None:
        return None if self.n_cells is None else max(self.n_cells - self.n_done - self.n_saved, 0)


def run_status(run: StoredRun) -> RunStatus:
    """The status of a run; the connection is in a transaction.

    Raises sqlite3.Error or an error of ``UNREADABLE`` when the file is damaged.
    """
    cells, races, plan = list(each_cell(run.blocks.values())), run.barriers, run.plan
    dropped = {j for barriers in races.values() for j in dropped_at(barriers)}
    shared = [cell.shared for cell in cells]
    status = RunStatus(
        number=run.number,
        created=run.row["created"],
        n_configurations=len(run.members),
        n_done=len(cells),
        n_failed=sum(cell.state is CellState.FAILED for cell in cells),
        seconds=math.fsum(cell.fit_seconds + cell.score_seconds for cell in cells),
        n_saved=_n_saved({cell.key for cell in cells}, races),
        barriers=_barriers(run),
        # Of equally frequent ones the first written comes first.
        messages=dict(Counter(cell.message for cell in cells if cell.message).most_common()),
        opened=run.row["opened"],
        acknowledged=run.row["acknowledged"],
        n_shared=sum(map(bool, shared)),
        shared_fits=shared_fits(shared),
    )
    if plan is not None:
        status = replace(
            status,
            n_rows=plan.n_rows,
            n_splits=plan.n_splits,
            n_cells=plan.n_cells,
            metric=plan.metric,
            title=plan.title or plan.metric,
        )
    best = _best(cells, run.names, dropped, status)
    took, n_before = _took(run), run.row["cells_then"] or 0
    if not took or len(cells) <= n_before:
        return replace(status, best=best)
    # Of several races it is not known which configurations go on where.
    gone = () if len(races) > 1 else dropped
    left = _part_left(cells, n_before, plan, gone) if plan is not None and status.n_left else 0.0
    rate = (len(cells) - n_before) / took
    return replace(status, best=best, cells_per_second=rate, seconds_left=None if left is None else left * took)


def _n_saved(done: Collection[CellKey], races: Mapping[tuple[Place, ...], Sequence[Barrier]]) -> int:
    """Planned cells that will not be done; a run resumed with another rule may have done some of them before."""
    n_saved = 0
    for places, barriers in races.items():
        dropped = dropped_at(barriers)
        for drop in dropped.values():
            n_saved += sum(CellKey(drop.configuration, *place) not in done for place in places[drop.after :])
        for barrier in barriers:
            if barrier.stopped:
                ahead = places[barrier.after :]
                n_there = sum(key.place in ahead and key.configuration not in dropped for key in done)
                n_saved += (barrier.n_before - len(barrier.dropped)) * len(ahead) - n_there
    return n_saved


def _best(
    cells: Sequence[CellResult], names: Sequence[str], dropped: Collection[int], status: RunStatus
) -> CurrentBest | None:
    # Fits that follow the splits of the plan have later places.
    places = sorted({cell.key.place for cell in cells})[: status.n_splits]
    column = {place: number for number, place in enumerate(places)}
    scores = np.full((len(names), len(places)), np.nan)
    failed = {cell.key.configuration for cell in cells if cell.state is CellState.FAILED}
    for cell in cells:
        if cell.key.place in column:
            scores[cell.key.configuration, column[cell.key.place]] = cell.test_scores.get(
                status.metric or "", math.nan
            )
    return best_so_far(scores, names, failed.union(dropped))


def _barriers(run: StoredRun) -> tuple[dict[str, Any], ...]:
    names = run.names
    return tuple(
        {
            "race": race,
            "after": barrier.after,
            "n_splits": len(places),
            "n_rows": barrier.n_rows,
            "n_before": barrier.n_before,
            "leader": names[barrier.leader],
            "risk": _finite(barrier.risk),
            "stopped": barrier.stopped,
            "left": [
                {"name": names[left.configuration], "statistic": _finite(left.statistic), "reason": left.reason}
                for left in barrier.dropped
            ],
        }
        for race, (places, barriers) in enumerate(run.barriers.items())
        for barrier in barriers
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _took(run: StoredRun) -> float | None:
    """Seconds from opening the run to the last cell."""
    if run.row["opened"] is None or run.row["acknowledged"] is None:
        return None
    opened, acknowledged = (datetime.fromisoformat(run.row[name]) for name in ("opened", "acknowledged"))
    return max((acknowledged - opened).total_seconds(), 0.0)


def _part_left(cells: Sequence[CellResult], n_before: int, plan: PlanNote, gone: Collection[int]) -> float | None:
    """The rest of the work, as a part of what was done since the run was opened."""
    resumed = Counter(cell.key.configuration for cell in cells[:n_before])
    n_splits = plan.n_cells / max(plan.n_configurations, 1)
    pace = WorkPace(_units(cells), plan.n_configurations, n_splits, resumed)
    for cell in cells[n_before:]:
        pace.add(cell)
    pace.drop(gone)
    return pace.part_left


def _units(cells: Sequence[CellResult]) -> list[list[int]]:
    """Configurations that one fit served: on a split they have equal parts of its seconds."""
    together: dict[tuple[Place, float], list[int]] = defaultdict(list)
    for cell in cells:
        if cell.shared:
            together[cell.key.place, cell.fit_seconds].append(cell.key.configuration)
    return list(together.values())
