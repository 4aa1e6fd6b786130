"""How work is sent to workers: large arrays stay in place, shared and read-only, and the rest is packed once."""

import mmap
import pickle
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from heldout._types import Counts
from heldout.errors import InputError, text_of
from heldout.execution.cells import dumps
from heldout.execution.fit import Work

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
    packed: Counts

    def read(self) -> memoryview:
        return memoryview(self.packed.data).toreadonly()


Payload: TypeAlias = FilePayload | ArrayPayload


def write_payload(work: Work, path: Path) -> None:
    """Pack the work into a file."""
    with path.open("wb") as file:
        for piece in _pieces(work):
            file.write(piece)


def payload_array(work: Work) -> Counts:
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
    work = replace(work, task=replace(work.task, groups=None, sample_weight=None))  # no fit reads them
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
