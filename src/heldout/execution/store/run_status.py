"""The status of each run from its tables: progress, current best, dropped configurations, failures."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

import numpy as np

from heldout.data.declared import from_json, of_type
from heldout.execution.cells import CellKey, CellResult, CellState
from heldout.execution.listeners.tally import CurrentBest, WorkPace, best_so_far
from heldout.execution.sharing.accounts import SharedFits, shared_fits
from heldout.execution.store.block_rows import block_numbers, read_block
from heldout.execution.store.schema import scores_on_test, scores_text, shared_of
from heldout.folds.splits import Place


class DroppedStatus(NamedTuple):
    """A configuration that was dropped; the statistic is None if there is none."""

    name: str
    statistic: float | None
    reason: str


@dataclass(frozen=True)
class BarrierStatus:
    """The record of a barrier.

    - ``after``, ``n_splits``: the number of splits before it, and in all.
    - ``n_rows``, ``n_before``: rows predicted and configurations in the race by then.
    """

    race: int
    """Counted from 0 in the order of the file; a search has one."""
    after: int
    n_splits: int
    n_rows: int
    n_before: int
    leader: str
    risk: float | None
    """Estimated probability that the best was among those dropped here."""
    stopped: bool
    """Whether the race ended here for all."""
    left: tuple[DroppedStatus, ...]


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
    barriers: tuple[BarrierStatus, ...] = ()
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


class _Run(NamedTuple):
    number: int
    created: str
    opened: str | None
    cells_then: int | None
    acknowledged: str | None


class _Configuration(NamedTuple):
    number: int
    position: int
    name: str | None


class _Cell(NamedTuple):
    configuration: int
    repeat: int
    fold: int
    state: str
    message: str
    fit_seconds: float
    score_seconds: float
    scores: str


class _Plan(NamedTuple):
    n_configurations: int
    n_splits: int
    n_cells: int
    n_rows: int | None
    metric: str
    title: str


class _Barrier(NamedTuple):
    race: int
    after: int
    splits: tuple[Place, ...]
    n_rows: int
    n_before: int
    leader: int
    risk: float | None
    stopped: int


class _Dropped(NamedTuple):
    configuration: int
    race: int
    barrier: int
    statistic: str
    reason: str


def run_statuses(connection: sqlite3.Connection) -> tuple[RunStatus, ...]:
    """Every run of the file, the oldest first; the connection is in a transaction.

    Raises sqlite3.Error, ValueError, TypeError or KeyError when the file is damaged.
    """
    runs = connection.execute(f"SELECT {', '.join(_Run._fields)} FROM run ORDER BY number").fetchall()
    return tuple(_status(connection, of_type(_Run, row, "a run")) for row in runs)


def _status(connection: sqlite3.Connection, run: _Run) -> RunStatus:
    names = _names(connection, run.number)
    cells = [*_cells_of_blocks(connection, run.number, names), *_cells(connection, run.number)]
    plan, barriers, dropped = _notes(connection, run.number)
    metric = plan and plan.metric
    results, out = _results(cells, names), {left.configuration for left in dropped}
    # Of several races it is not known which configurations go on where.
    gone = [] if len({left.race for left in barriers}) > 1 else [at for at, key in enumerate(names) if key in out]
    status = RunStatus(
        number=run.number,
        created=run.created,
        n_configurations=len(names),
        n_done=len(cells),
        n_failed=sum(cell.state == CellState.FAILED for cell in cells),
        seconds=math.fsum(cell.fit_seconds + cell.score_seconds for cell in cells),
        n_rows=plan and plan.n_rows,
        n_splits=plan and plan.n_splits,
        n_cells=plan and plan.n_cells,
        metric=metric,
        title=plan and (plan.title or plan.metric),
        n_saved=_n_saved(cells, barriers, dropped),
        best=_best(cells, metric, names, out, plan and plan.n_splits),
        barriers=_barriers(barriers, dropped, names),
        # Of equally frequent ones the first written comes first.
        messages=dict(Counter(cell.message for cell in cells if cell.message).most_common()),
        opened=run.opened,
        acknowledged=run.acknowledged,
        cells_per_second=_rate(run, len(cells)),
        seconds_left=_seconds_left(run, plan, results, gone),
        n_shared=sum(bool(cell.shared) for cell in results),
        shared_fits=shared_fits(cell.shared for cell in results),
    )
    return status if status.n_left else replace(status, seconds_left=status.seconds_left and 0.0)


def _cells(connection: sqlite3.Connection, run: int) -> list[_Cell]:
    found = connection.execute(
        "SELECT cell.configuration, repeat, fold, state, message, fit_seconds, score_seconds, scores FROM cell "
        "JOIN configuration ON configuration.number = cell.configuration WHERE run = ? ORDER BY cell.number",
        (run,),
    )
    return [of_type(_Cell, row, f"cell {number}") for number, row in enumerate(found)]


def _cells_of_blocks(connection: sqlite3.Connection, run: int, names: Mapping[int, str]) -> list[_Cell]:
    """The cells of blocks; ``names``: of all configurations, by their keys."""
    same = {key: key for key in names}
    blocks = (read_block(connection, number, same) for number in block_numbers(connection, run))
    return [
        _Cell(*cell.key, cell.state, cell.message, cell.fit_seconds, cell.score_seconds, scores_text(cell))
        for block in blocks
        for cell in block.cells()
    ]


def _names(connection: sqlite3.Connection, run: int) -> dict[int, str]:
    found = connection.execute(
        "SELECT number, position, name FROM configuration WHERE run = ? ORDER BY position", (run,)
    )
    named = [of_type(_Configuration, row, "a configuration") for row in found]
    return {each.number: each.name or f"configuration {each.position}" for each in named}


def _notes(connection: sqlite3.Connection, run: int) -> tuple[_Plan | None, list[_Barrier], list[_Dropped]]:
    plan = connection.execute(
        "SELECT n_configurations, n_splits, n_cells, n_rows, metric, title FROM plan WHERE run = ?", (run,)
    ).fetchone()
    barriers = [
        of_type(_Barrier, (race, after, from_json(tuple[tuple[int, int], ...], splits), *more), "a barrier")
        for race, after, splits, *more in connection.execute(
            "SELECT race, after, splits, n_rows, n_before, leader, risk, stopped FROM barrier WHERE run = ? "
            "ORDER BY race, after",
            (run,),
        )
    ]
    dropped = connection.execute(
        'SELECT configuration, race, barrier, statistic, reason FROM "drop" '
        "JOIN configuration ON configuration.number = configuration WHERE run = ? "
        "ORDER BY race, barrier, position",
        (run,),
    ).fetchall()
    left = [of_type(_Dropped, row, "a dropped configuration") for row in dropped]
    return plan and of_type(_Plan, plan, "the plan"), barriers, left


def _n_saved(cells: Sequence[_Cell], barriers: Sequence[_Barrier], dropped: Sequence[_Dropped]) -> int:
    """Planned cells that will not be done; a run resumed with another rule may have done some of them before."""
    if not dropped and not any(barrier.stopped for barrier in barriers):
        return 0
    done = {(cell.configuration, cell.repeat, cell.fold) for cell in cells}
    splits_of = {barrier.race: barrier.splits for barrier in barriers}
    leavers = {(left.race, left.configuration) for left in dropped}
    n_saved = sum(
        (left.configuration, *split) not in done
        for left in dropped
        for split in splits_of[left.race][left.barrier :]
    )
    for barrier in barriers:
        if barrier.stopped:
            going_on = barrier.n_before - sum(
                left.race == barrier.race and left.barrier == barrier.after for left in dropped
            )
            ahead = set(barrier.splits[barrier.after :])
            n_there = sum(
                (repeat, fold) in ahead and (barrier.race, configuration) not in leavers
                for configuration, repeat, fold in done
            )
            n_saved += going_on * len(ahead) - n_there
    return n_saved


def _best(
    cells: Sequence[_Cell], metric: str | None, names: Mapping[int, str], out: set[int], n_splits: int | None
) -> CurrentBest | None:
    # Fits that follow the splits of the plan have later places.
    places = sorted({(cell.repeat, cell.fold) for cell in cells})[:n_splits]
    rows, columns = ({key: number for number, key in enumerate(keys)} for keys in (names, places))
    scores = np.full((len(rows), len(columns)), np.nan)
    failed = set[int]()
    for cell in cells:
        if cell.state == CellState.FAILED:
            failed.add(cell.configuration)
        elif (column := columns.get((cell.repeat, cell.fold))) is not None:
            scores[rows[cell.configuration], column] = scores_on_test(cell.scores).get(metric or "", np.nan)
    return best_so_far(scores, list(names.values()), [rows[key] for key in out | failed])


def _barriers(
    barriers: Sequence[_Barrier], dropped: Sequence[_Dropped], names: Mapping[int, str]
) -> tuple[BarrierStatus, ...]:
    numbers = {race: number for number, race in enumerate(dict.fromkeys(barrier.race for barrier in barriers))}
    return tuple(
        BarrierStatus(
            race=numbers[barrier.race],
            after=barrier.after,
            n_splits=len(barrier.splits),
            n_rows=barrier.n_rows,
            n_before=barrier.n_before,
            leader=names[barrier.leader],
            risk=barrier.risk,
            stopped=bool(barrier.stopped),
            left=tuple(
                DroppedStatus(names[left.configuration], _finite(left.statistic), left.reason)
                for left in dropped
                if (left.race, left.barrier) == (barrier.race, barrier.after)
            ),
        )
        for barrier in barriers
    )


def _finite(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


def _took(run: _Run) -> float | None:
    """Seconds from opening the run to the last cell."""
    if run.opened is None or run.acknowledged is None or run.cells_then is None:
        return None
    return (datetime.fromisoformat(run.acknowledged) - datetime.fromisoformat(run.opened)).total_seconds()


def _rate(run: _Run, n_done: int) -> float | None:
    took = _took(run)
    n_cells = n_done - (run.cells_then or 0)
    return n_cells / took if took is not None and n_cells > 0 and took > 0 else None


def _seconds_left(run: _Run, plan: _Plan | None, cells: Sequence[CellResult], gone: Sequence[int]) -> float | None:
    """The seconds for the rest at the pace since the run was opened; ``gone``: positions of dropped ones."""
    took, n_before = _took(run), run.cells_then or 0
    if plan is None or took is None or not took > 0:
        return None
    resumed = Counter(cell.key.configuration for cell in cells[:n_before])
    pace = WorkPace(_units(cells), plan.n_configurations, plan.n_cells / max(plan.n_configurations, 1), resumed)
    for cell in cells[n_before:]:
        pace.add(cell)
    pace.drop(gone)
    return None if pace.part_left is None else pace.part_left * took


def _results(cells: Sequence[_Cell], names: Mapping[int, str]) -> list[CellResult]:
    """The cells by the positions of their configurations, without scores."""
    at = {key: position for position, key in enumerate(names)}
    return [
        CellResult(
            CellKey(at[cell.configuration], cell.repeat, cell.fold),
            CellState(cell.state),
            fit_seconds=cell.fit_seconds,
            score_seconds=cell.score_seconds,
            shared=shared_of(cell.scores),
        )
        for cell in cells
    ]


def _units(cells: Sequence[CellResult]) -> list[list[int]]:
    """Configurations that one fit served: on a split they have equal parts of its seconds."""
    together: dict[tuple[Place, float], list[int]] = defaultdict(list)
    for cell in cells:
        if cell.shared:
            together[cell.key.place, cell.fit_seconds].append(cell.key.configuration)
    return list(together.values())
