"""Blocks of bootstraps on threads: the kernels release the GIL, and a block's result depends on nothing else."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import joblib

T = TypeVar("T")


def map_blocks(
    function: Callable[[int, int], T], n_bootstraps: int, *, n_threads: int = 1, block: int = 256
) -> list[T]:
    """``function(first, last)`` of each block of bootstraps, in order."""
    ranges = [(first, min(first + block, n_bootstraps)) for first in range(0, n_bootstraps, block)]
    if n_threads <= 1 or len(ranges) == 1:
        return [function(first, last) for first, last in ranges]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(lambda ends: function(*ends), ranges))


def effective_threads(n_jobs: int | None) -> int:
    """Threads that ``n_jobs`` allows, one inside a worker of a parallel run."""
    return int(joblib.effective_n_jobs(n_jobs))
