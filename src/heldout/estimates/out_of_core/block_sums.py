"""Sums over blocks of rows from which a metric follows, in parallel: by threads, processes or a cluster.

A task is a range of blocks and some bootstraps. It is sent where to read, not what was read, and it sends back
sums of whole numbers. So the result is the same for any number of workers and any order of their work.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from heldout.errors import InputError
from heldout.estimates.out_of_core.blocks import Block, BlockSource
from heldout.kernels.block_draws import BlockDraws
from heldout.selection.draws import MOST_ATTEMPTS


@dataclass(frozen=True, eq=False)
class TableScores:
    """What the table itself gives."""

    scores: NDArray[np.float64]  # (C,)
    winner: int  # the best, the first of equals
    bounds: NDArray[np.float64]  # (C,): how far each score can lie from the exact one


@dataclass(frozen=True, eq=False)
class BootstrapScores:
    """What L bootstraps gave."""

    chosen: NDArray[np.intp]  # (L,): the configuration that is best in the bag, the first of equals
    scores: NDArray[np.float64]  # (L,): its score out of the bag
    # (L,): whether the metric is defined in the bag and out of it; else the bootstrap is drawn again
    defined: NDArray[np.bool_]
    bounds: NDArray[np.float64]  # (L,): how far the score can lie from the exact one
    certain: NDArray[np.bool_]  # (L,): whether exact scores would have chosen the same configuration
    every: NDArray[
        np.float64
    ]  # (L, C): every configuration's score, in the bag or out of it as ``Plan.keeps`` says

    def of(self, lanes: NDArray[Any]) -> BootstrapScores:
        """Of some of the bootstraps, or of all in another order."""
        return BootstrapScores(*(getattr(self, own.name)[lanes] for own in fields(self)))


def joined(outcomes: Sequence[BootstrapScores]) -> BootstrapScores:
    """One after another."""
    return BootstrapScores(
        *(np.concatenate([getattr(each, own.name) for each in outcomes]) for own in fields(BootstrapScores))
    )


Keeps: TypeAlias = Literal["in the bag", "out of the bag", "nothing"]
"""Where the scores of all configurations are kept: in the bag for shrinkage, out of it for the control of bbc."""


class Plan(Protocol):
    """Sums over rows from which a metric follows, in the bag and out of it.

    Attributes
    ----------
    lanes : int
        Bootstraps whose sums are held at once.
    together : int
        Bootstraps whose counts are held at once, at most ``lanes``.
    keeps : str
        Which scores of all configurations an outcome holds; (L, 0) for "nothing".
    """

    @property
    def lanes(self) -> int: ...
    @property
    def together(self) -> int: ...
    @property
    def keeps(self) -> Keeps: ...

    def prepared(self, block: Block) -> NDArray[Any]:
        """What is summed of each row of the block."""

    def zeros(self, lanes: int) -> NDArray[Any]:
        """Sums of no rows, whole numbers."""

    def add(self, total: NDArray[Any], lanes: slice, counts: NDArray[np.uint8], prepared: NDArray[Any]) -> None:
        """Add a block's rows to the sums of some lanes, which drew them ``counts`` (L', n) times."""

    def outcome(self, total: NDArray[Any]) -> BootstrapScores:
        """From the sums over all blocks."""

    def observed(self, total: NDArray[Any]) -> TableScores:
        """From the sums with every row drawn once."""


Result = TypeVar("Result")
SPLIT_TOGETHER = 64
"""Bootstraps whose draws are divided among the blocks in one task."""


@dataclass(frozen=True, eq=False)
class TaskDraws:
    """The bootstraps of a task."""

    draws: BlockDraws
    bootstraps: NDArray[np.uint64]  # (L,)
    attempt: int
    totals: NDArray[np.int64]  # (L, blocks of the task): how many draws each takes from each block


def in_parallel(
    function: Callable[..., Result], arguments: Iterable[tuple[Any, ...]], n_jobs: int | None
) -> Generator[Result, None, None]:
    """Results in the order of the arguments; threads, unless a backend was chosen around it."""
    # A worker is one core: the matrix products of its own would only crowd the others out.
    with threadpool_limits(1):
        jobs = (delayed(function)(*each) for each in arguments)
        yield from Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(jobs)


def over_ranges(
    function: Callable[..., Result], source: BlockSource, *arguments: Any, n_jobs: int | None
) -> list[Result]:
    """``function(source, *arguments, first, last)`` of every range of blocks."""
    tasks = ((source, *arguments, first, last) for first, last in source.ranges())
    with closing(in_parallel(function, tasks, n_jobs)) as results:
        return list(results)


def observe(source: BlockSource, plan: Plan, n_jobs: int | None) -> NDArray[Any]:
    """The plan's sums with every row drawn once: one lane."""
    tasks = ((source, plan, None, first, last) for first, last in source.ranges())
    return _total(tasks, n_jobs)


def resample(
    source: BlockSource, plan: Plan, draws: BlockDraws, n_bootstraps: int, n_jobs: int | None
) -> tuple[BootstrapScores, int]:
    """All bootstraps of a table, and how many were drawn again as the metric was undefined on them."""
    pending = np.arange(n_bootstraps, dtype=np.uint64)
    outcomes: list[BootstrapScores] = []
    drawn: list[NDArray[np.uint64]] = []
    redraws = 0
    for attempt in range(MOST_ATTEMPTS):
        again = []
        for first in range(0, len(pending), plan.lanes):
            lanes = pending[first : first + plan.lanes]
            outcome = plan.outcome(_sums(source, plan, draws, lanes, attempt, n_jobs))
            outcomes.append(outcome.of(outcome.defined))
            drawn.append(lanes[outcome.defined])
            again.append(lanes[~outcome.defined])
        pending = np.concatenate(again)
        if not pending.size:
            return joined(outcomes).of(np.argsort(np.concatenate(drawn))), redraws
        redraws += pending.size
    raise InputError(
        f"{source.name}: bootstrap {pending[0]} found no draw in {MOST_ATTEMPTS} attempts on which the metric is "
        "defined both among the rows drawn and among those left out; gather more rows of the rarest class."
    )


def _sums(
    source: BlockSource,
    plan: Plan,
    draws: BlockDraws,
    bootstraps: NDArray[np.uint64],
    attempt: int,
    n_jobs: int | None,
) -> NDArray[Any]:
    """The plan's sums of some bootstraps over all blocks."""
    parts = [bootstraps[k : k + SPLIT_TOGETHER] for k in range(0, len(bootstraps), SPLIT_TOGETHER)]
    with closing(in_parallel(draws.totals, ((part, attempt) for part in parts), n_jobs)) as divided:
        totals = np.concatenate(list(divided))
    tasks = (
        (source, plan, TaskDraws(draws, bootstraps, attempt, totals[:, first:last]), first, last)
        for first, last in source.ranges()
    )
    return _total(tasks, n_jobs)


def _total(tasks: Iterable[tuple[Any, ...]], n_jobs: int | None) -> NDArray[Any]:
    with closing(in_parallel(sum_range, tasks, n_jobs)) as parts:
        total = np.require(next(parts), requirements="W")  # what came by wire may be read-only
        for part in parts:
            total += part
        return total


def sum_range(source: BlockSource, plan: Plan, share: TaskDraws | None, first: int, last: int) -> NDArray[Any]:
    """The plan's sums over blocks ``first .. last - 1``: of some bootstraps, or of every row once."""
    n_lanes = 1 if share is None else len(share.bootstraps)
    total = plan.zeros(n_lanes)
    for k, block in enumerate(source.blocks(first, last)):
        prepared = plan.prepared(block)
        if share is None:
            plan.add(total, slice(0, 1), np.ones((1, len(prepared)), dtype=np.uint8), prepared)
            continue
        for start in range(0, n_lanes, plan.together):
            lanes = slice(start, min(start + plan.together, n_lanes))
            counts = share.draws.counts(first + k, share.bootstraps[lanes], share.attempt, share.totals[lanes, k])
            plan.add(total, lanes, counts, prepared)
    return total
