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
    return (tested + gathered) * n_configurations * bytes_a_row(truth, scoring)


def bytes_a_row(truth: Truth, scoring: Scoring) -> int:
    """Bytes of what one model says of one row."""
    recorded = dict.fromkeys(group[0] for group in scoring.wanted)
    return sum(_bytes_of(response, truth, len(scoring.times)) for response in recorded)


def check_memory(truth: Truth, n_configurations: int, folds: Folds, scoring: Scoring) -> None:
    """Refuse a search whose predictions would take more than half of the machine's memory.

    Raises
    ------
    InputError
    """
    refuse_beyond_memory(
        bytes_needed(truth, n_configurations, folds, scoring),
        f"the held-out predictions of {n_configurations} configurations on {truth.n_rows} rows",
        "a store (store='run.db'), fewer configurations or repeats, or fewer metrics",
    )


def refuse_beyond_memory(needed: int, what: str, remedy: str) -> None:
    """Refuse what would take more than half of the machine's memory.

    Raises
    ------
    InputError
    """
    there = machine_memory()
    if there is not None and needed > _SHARE * there:
        raise InputError(
            f"{what} need {needed / 2**30:,.1f} GiB, more than half of this machine's {there / 2**30:.1f} GiB; "
            f"use {remedy}."
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
