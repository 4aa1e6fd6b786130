"""Blocks of bootstraps, spread over threads.

Kernels are single-threaded and release the GIL; each thread takes one block of bootstraps after another. A draw
depends only on (seed, b, attempt), and a kernel sums each bootstrap separately in a fixed order, so neither the
number of threads nor the size of the blocks can change a bit of a result.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from numbers import Integral
from typing import TypeVar

from joblib import cpu_count, effective_n_jobs
from joblib.parallel import get_active_backend

from heldout.errors import InputError

Result = TypeVar("Result")

BLOCK = 256
"""Bootstraps per call of the compiled kernels; smaller blocks do not fill their vectors."""


def map_blocks(
    function: Callable[[int, int], Result], n_bootstraps: int, *, n_threads: int, block: int = BLOCK
) -> list[Result]:
    """``function(first, last)`` for each block of bootstraps ``first .. last - 1``, results in their order.

    Parameters
    ----------
    function : callable
        Called from several threads at once if ``n_threads`` is above one.
    n_bootstraps : int
        B.
    n_threads : int
        See ``effective_threads``.
    block : int
        The most bootstraps per call.

    Raises
    ------
    Exception
        The exception of the first block, in their order, that raised one. Blocks that have not begun are then
        cancelled, and also on KeyboardInterrupt.

    Examples
    --------
    >>> map_blocks(lambda first, last: (first, last), 600, n_threads=2)
    [(0, 256), (256, 512), (512, 600)]
    """
    if block < 1:
        raise ValueError(f"block must be at least 1, got {block}")
    ranges = [(first, min(first + block, n_bootstraps)) for first in range(0, n_bootstraps, block)]
    if n_threads <= 1 or len(ranges) <= 1:
        return [function(first, last) for first, last in ranges]
    with ThreadPoolExecutor(min(n_threads, len(ranges)), thread_name_prefix="heldout-block") as pool:
        pending = [pool.submit(function, first, last) for first, last in ranges]
        try:
            return [future.result() for future in pending]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def check_jobs(n_jobs: object) -> None:
    """Raise InputError unless ``n_jobs`` is a whole number other than 0, or None."""
    if n_jobs is None:
        return
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise InputError(
            f"n_jobs must be a number of processes, -1 for every core, or None, got {n_jobs!r}.", argument="n_jobs"
        )


def effective_threads(n_jobs: int | None) -> int:
    """The number of threads for ``n_jobs`` as joblib counts: at most the cores, and 1 inside a joblib worker.

    A worker is already one of many, and the size of a cluster is not a number of threads of this machine.
    """
    check_jobs(n_jobs)
    backend, _ = get_active_backend()
    if getattr(backend, "nesting_level", 0):
        return 1
    return max(1, min(int(effective_n_jobs(n_jobs)), int(cpu_count())))
