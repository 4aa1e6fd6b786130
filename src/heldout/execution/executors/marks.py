"""What a worker process is doing, written where it stands even if the process is killed the next moment.

Every process keeps a few bytes in a file that it has mapped into memory: which cell, and since when. The system
writes them out whatever becomes of the process, so that the coordinator can tell the cells that were running when
workers died from those that only stood in the same batch.
"""

from __future__ import annotations

import functools
import mmap
import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from heldout.execution.cells import CellKey

_MARK = struct.Struct("=?qqqd")


@contextmanager
def marked(folder: str, cell: CellKey) -> Iterator[None]:
    """Leave a mark in the folder while a cell is being done."""
    mark = _mark(folder, os.getpid())
    # That it is running is written last: a mark is whole as soon as it counts.
    _MARK.pack_into(mark, 0, False, *cell, time.monotonic())
    mark[0] = 1
    try:
        yield
    finally:
        mark[0] = 0


def take_marks(folder: Path) -> dict[CellKey, float]:
    """Cells that were running when their processes ended, with how long ago they began; the marks are erased.

    To be asked when no worker is alive.
    """
    now, found = time.monotonic(), {}
    for path in folder.glob("*.mark"):
        is_running, configuration, repeat, fold, began = _MARK.unpack(path.read_bytes())
        path.unlink()
        if is_running:
            found[CellKey(configuration, repeat, fold)] = now - began
    return found


@functools.lru_cache(maxsize=1)
def _mark(folder: str, process: int) -> mmap.mmap:
    with (Path(folder) / f"{process}.mark").open("w+b") as file:
        file.write(bytes(_MARK.size))
        file.flush()
        return mmap.mmap(file.fileno(), _MARK.size)
