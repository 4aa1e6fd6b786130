"""Executors do cells, anywhere and in any order, and report the cells that they lost."""

from __future__ import annotations

import math
import mmap
import pickle
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from heldout.configurations import Configurations
from heldout.errors import InputError, text_of
from heldout.execution.cells import CellKey, CellResult
from heldout.execution.fit import CellContext
from heldout.execution.fold_models import dumps
from heldout.execution.sharing.groups import Sharing
from heldout.execution.split_fits import SplitFits
from heldout.folds.splits import Folds, Place, Split

TASKS_A_WORKER = 3
"""So many parts at least, so that no worker waits long for another at the end."""


class FitsOfSplit(Protocol):
    """The fits of some configurations on one split; ``SplitFits`` is this."""

    @property
    def units(self) -> list[tuple[int, ...]]:
        """The positions that are computed together, one unit after another."""

    def results(self, unit: Sequence[int]) -> list[CellResult]:
        """The results of a unit."""

    def scored(self, results: Sequence[CellResult]) -> list[CellResult]:
        """The same results, with all their scores."""


class DoSplit(Protocol):
    """Makes the fits of some configurations on a split; ``fits_of_search``, or a frozen dataclass."""

    def __call__(self, work: Work, split: Split, positions: tuple[int, ...]) -> FitsOfSplit: ...


def fits_of_search(work: Work, split: Split, positions: tuple[int, ...]) -> FitsOfSplit:
    """The fits of a search: train on the split, predict and score its test rows."""
    return SplitFits(work.context, work.configurations, split, positions, work.sharing, work.share_memory)


@dataclass(frozen=True, eq=False)
class Addition:
    """What a worker needs beside the work that it has: configurations that came later."""

    configurations: Configurations
    sharing: Sharing | None
    share_memory: int | None

    def to(self, work: Work) -> Work:
        """The work with these configurations in place of its own."""
        return replace(
            work, configurations=self.configurations, sharing=self.sharing, share_memory=self.share_memory
        )


@dataclass(frozen=True, eq=False)
class Work:
    """The parts that all cells of a run share."""

    context: CellContext
    configurations: Configurations
    folds: Folds
    """With every split that a cell may name."""
    do: DoSplit = fits_of_search
    """Makes the fits on a split. A protocol may do something else in its cells."""
    identity: Any = None
    """Names what ``do`` does if that is not ``fits_of_search``; a resumed run must have the same."""
    sharing: Sharing | None = None
    """What its configurations share; None where each is fitted by itself."""
    share_memory: int | None = None
    """Bytes for the output of shared steps, in all workers together."""
    base: Work | None = None
    """The same work before it had these configurations, which other processes receive once for all batches of an
    adaptive search."""

    @property
    def to_send(self) -> Work:
        """What other processes receive once."""
        return self.base or self

    @property
    def addition(self) -> Addition | None:
        """What goes with each task."""
        return None if self.base is None else Addition(self.configurations, self.sharing, self.share_memory)

    def tasks(self, cells: Sequence[CellKey], n_workers: int) -> list[tuple[CellKey, ...]]:
        """The cells in parts that a worker does as a whole: each of one split, and of what is shared there.

        With ``n_workers=0`` each cell by itself, as a time limit needs it.
        """
        # Nothing is shared, so the smallest tasks spread best.
        if not n_workers or (self.sharing is None and n_workers > 1):
            return [(cell,) for cell in cells]
        at: dict[Place, list[int]] = {}
        for cell in cells:
            at.setdefault(cell.place, []).append(cell.configuration)
        # Parts of all splits together are some for each worker, so that the last one does not wait alone.
        n_parts = 1 if n_workers == 1 else math.ceil(TASKS_A_WORKER * n_workers / len(at))
        return [
            tuple(CellKey(position, *place) for position in part)
            for place, positions in at.items()
            for part in (self.sharing.tasks(positions, n_parts) if self.sharing else [positions])
        ]

    @cached_property
    def split_of(self) -> Mapping[Place, Split]:
        """The splits by (repeat, fold)."""
        folds = self.folds
        return {split.place: split for split in (*folds.splits, *folds.halves, *folds.without_two)}


class WorkersLostError(RuntimeError):
    """Workers died; the results that they had finished were returned before.

    - ``running``: the cells that they were doing, or may have been doing; empty if unknown.
    - ``reason``: how they died, as half a sentence ("its worker was killed by signal 9").
    - ``times``: how many workers each of these cells has cost; a cluster tries again itself.
    """

    def __init__(self, running: Sequence[CellKey], reason: str, times: int = 1) -> None:
        super().__init__(reason)
        self.running = tuple(running)
        self.reason = reason
        self.times = times


class Executor(Protocol):
    """Fits cells somewhere.

    An executor is a context manager for the time of a run: it may start workers, and send them the work once.
    """

    def run(self, work: Work, cells: Sequence[CellKey]) -> Iterator[CellResult]:
        """The results of the cells as they come, in any order.

        A single cell runs in a worker of its own where there are workers.

        Raises WorkersLostError when workers died. Cells without a result by then were not done.
        """

    def __enter__(self) -> Executor: ...

    def __exit__(self, *error: object) -> None: ...


@dataclass(eq=False)
class ExecutorAround:
    """What executors that use another one have in common."""

    inner: Executor

    def __enter__(self) -> Self:
        self.inner.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.inner.__exit__(*error)


SHARED_FROM_BYTES = 1_000_000
"""Arrays of at least this size stay in place, shared and read-only; smaller ones are copied."""

_ALIGNED = 64
_KEPT = 2


@dataclass(frozen=True)
class FilePayload:
    """Packed work in a file of this machine."""

    token: str
    path: str

    def read(self) -> memoryview:
        with Path(self.path).open("rb") as file:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


@dataclass(frozen=True, eq=False)
class ArrayPayload:
    """Packed work in an array of bytes."""

    token: str
    packed: NDArray[np.uint8]

    def read(self) -> memoryview:
        return memoryview(self.packed.data).toreadonly()


Payload: TypeAlias = FilePayload | ArrayPayload


def write_payload(work: Work, path: Path) -> None:
    """Pack the work into a file."""
    with path.open("wb") as file:
        for piece in _pieces(work):
            file.write(piece)


def payload_array(work: Work) -> NDArray[np.uint8]:
    """Pack the work into an array of bytes."""
    pieces = list(_pieces(work))
    packed = np.empty(sum(len(piece) for piece in pieces), dtype=np.uint8)
    start = 0
    for piece in pieces:
        packed[start : start + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
        start += len(piece)
    return packed


class UnpackedWorks:
    """The works that a process has unpacked; it keeps the latest two (a search and one nested in it).

    ``n_unpacked`` counts how often something was unpacked.
    """

    def __init__(self) -> None:
        self.n_unpacked = 0
        # The latest last, so that the first is the one that was not used for longest.
        self._works: OrderedDict[str, Work] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, payload: Payload) -> Work:
        """The work, unpacked if this process does not have it; other threads wait meanwhile."""
        # Threads of one process share the work; unpacking it twice at once would take twice the memory.
        with self._lock:
            if payload.token not in self._works:
                self._works[payload.token] = _unpacked(payload.read())
                self.n_unpacked += 1
                while len(self._works) > _KEPT:
                    self._works.popitem(last=False)
            self._works.move_to_end(payload.token)
            return self._works[payload.token]


UNPACKED = UnpackedWorks()


def survives_sending(error: Exception) -> bool:
    """Whether this error can be sent to another process."""
    try:
        # By plain pickle, because not every pool sends errors by cloudpickle.
        pickle.loads(pickle.dumps(error))
    except Exception:
        return False
    return True


def _pieces(work: Work) -> Iterator[bytes | memoryview]:
    """A table of lengths, then the pickle and its buffers, each aligned for arrays."""
    buffers: list[pickle.PickleBuffer] = []
    try:
        # cloudpickle sends code of __main__ by value, because __main__ is another module there.
        header = dumps(work, protocol=5, buffer_callback=buffers.append)
    except (TypeError, ValueError, AttributeError, pickle.PicklingError, RecursionError) as error:
        raise InputError(
            "the estimator, its parameters, the scorer or the data cannot be sent to other processes "
            f"({text_of(error)}); use `n_jobs=1`, threads (joblib.parallel_config('threading')), or "
            "objects that can be pickled."
        ) from error
    contents = [memoryview(header), *(buffer.raw() for buffer in buffers)]
    table = np.array([len(contents), *(len(content) for content in contents)], dtype=np.uint64).tobytes()
    for piece in (memoryview(table), *contents):
        yield piece
        yield bytes(-len(piece) % _ALIGNED)


def _unpacked(packed: memoryview) -> Work:
    n_contents = int(np.frombuffer(packed, dtype=np.uint64, count=1)[0])
    lengths = np.frombuffer(packed, dtype=np.uint64, count=n_contents, offset=8)
    start = _padded(8 * (1 + n_contents))
    contents = []
    for length in map(int, lengths):
        content = packed[start : start + length]
        # Small arrays stay writable, as in the process that sent them.
        contents.append(content if length >= SHARED_FROM_BYTES else bytearray(content))
        start += _padded(length)
    work: Work = pickle.loads(contents[0], buffers=contents[1:])
    return work


def _padded(length: int) -> int:
    return length + -length % _ALIGNED
