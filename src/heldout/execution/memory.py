"""Check before any fit whether the predictions of a search fit in memory."""

from __future__ import annotations

from heldout.data.memory import check_fits, refuse_beyond_memory
from heldout.data.task import Truth
from heldout.execution.fit import Scoring
from heldout.folds.splits import Folds
from heldout.metrics.base import Response

BYTES_A_CELL = 1000
"""Bytes of a result and its place in the plan, without its predictions."""


def bytes_needed(truth: Truth, n_configurations: int, folds: Folds, scoring: Scoring) -> int:
    """Bytes of the held-out predictions, once as results and once as arrays."""
    tested = sum(len(split.test) for split in folds.splits)
    gathered = truth.n_rows * folds.n_repeats
    return (tested + gathered) * n_configurations * bytes_a_row(truth, scoring)


def bytes_a_row(truth: Truth, scoring: Scoring) -> int:
    """Bytes of the responses of one model for one row."""
    recorded = dict.fromkeys(group[0] for group in scoring.wanted)
    return sum(_bytes_of(response, truth, len(scoring.times)) for response in recorded)


def check_memory(
    truth: Truth, n_configurations: int, folds: Folds, scoring: Scoring, *, keeps_predictions: bool = True
) -> None:
    """Refuse a search that is too large: in fits, or for half of the memory.

    ``keeps_predictions``: whether predictions stay in memory, as without a store.
    """
    check_fits(n_configurations, folds.n_splits)
    n_cells = n_configurations * folds.n_splits
    kept = bytes_needed(truth, n_configurations, folds, scoring) if keeps_predictions else 0
    of_what = f"the held-out predictions and the {n_cells:,} results" if kept else f"the {n_cells:,} results"
    store = "a store (store='run.db'), " if kept else ""
    refuse_beyond_memory(
        kept + BYTES_A_CELL * n_cells,
        f"{of_what} of {n_configurations} configurations on {truth.n_rows} rows",
        f"{store}fewer configurations or repeats, or fewer metrics",
    )


def _bytes_of(response: Response, truth: Truth, n_times: int) -> int:
    if response is Response.SURVIVAL:
        return 8 * n_times
    if response is Response.LABELS:
        return 4
    by_class = response in (Response.PROBABILITIES, Response.DECISION) and truth.n_classes > 2
    return 8 * (truth.n_classes if by_class else 1)
