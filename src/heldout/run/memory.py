"""Whether the predictions of a search will fit in memory, asked before anything is fitted."""

from __future__ import annotations

import os

from heldout.errors import InputError
from heldout.fitting import Scoring
from heldout.folds import Folds
from heldout.metrics.base import Response
from heldout.task import Truth

_SHARE = 0.5


def bytes_needed(truth: Truth, n_configurations: int, folds: Folds, scoring: Scoring) -> int:
    """Bytes of the held-out predictions, as they come and gathered."""
    tested = sum(len(split.test) for split in folds.splits)
    gathered = truth.n_rows * folds.n_repeats
    cells = (tested + gathered) * n_configurations
    return sum(cells * _bytes_of(group[0], truth, len(scoring.times)) for group in scoring.wanted)


def check_memory(truth: Truth, n_configurations: int, folds: Folds, scoring: Scoring) -> None:
    """Refuse a search whose predictions would take more than half of the machine's memory.

    Raises
    ------
    InputError
    """
    needed, there = bytes_needed(truth, n_configurations, folds, scoring), machine_memory()
    if there is not None and needed > _SHARE * there:
        raise InputError(
            f"the held-out predictions of {n_configurations} configurations on {truth.n_rows} rows need "
            f"{needed / 2**30:.1f} GiB, more than half of this machine's {there / 2**30:.1f} GiB; use a store "
            "(store='run.db'), fewer configurations or repeats, or fewer metrics."
        )


def _bytes_of(response: Response, truth: Truth, n_times: int) -> int:
    if response is Response.SURVIVAL:
        return 8 * n_times
    if response is Response.LABELS:
        return 4
    by_class = response in (Response.PROBABILITIES, Response.DECISION) and truth.n_classes > 2
    return 8 * (truth.n_classes if by_class else 1)


def machine_memory() -> int | None:
    """Bytes of physical memory, None where the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
