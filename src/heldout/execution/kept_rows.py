"""The rows whose held-out predictions a search in memory keeps: all, or the part that its estimate reads."""

import numpy as np

from heldout.data.limits import memory_there
from heldout.data.row_part import RowPart, row_part
from heldout.data.task import TaskKind
from heldout.estimates.data_flags import too_small_out_of_bag
from heldout.estimates.methods import method_of
from heldout.estimates.question import Scales
from heldout.execution.plan import bytes_needed
from heldout.execution.run import RunSettings
from heldout.execution.search import Search
from heldout.execution.store import MemoryStore

MOST_KEPT = 500_000_000
"""Bytes of the predictions of all rows, as results and as arrays."""
PART_KEPT = 0.25
"""Of the memory of this machine, if that is less."""


def kept_part(search: Search, running: RunSettings) -> RowPart | None:
    """The part of the rows whose predictions are kept; None for those of all rows.

    Of very many rows bootstraps draw from a part, and the means over folds, which choose the winner and are its
    value, were computed where the models were. The rows of the part, and the first rows of the file, by which an
    order of time shows, are then all that anything reads.
    """
    if running.keep_predictions not in (False, "auto") or not isinstance(running.store, MemoryStore):
        return None
    needed = bytes_needed(search.task.truth, len(search.configurations), search.folds, search.scoring)
    there = memory_there()
    most = MOST_KEPT if there is None else min(MOST_KEPT, PART_KEPT * there.n_bytes)
    return None if running.keep_predictions == "auto" and needed <= most else _part_read(search)


def _part_read(search: Search) -> RowPart | None:
    """The rows whose predictions are read; None for all."""
    task, folds, estimation = search.task, search.folds, search.estimation
    if search.scoring.weights:  # scorers weigh rows otherwise than each other
        return None
    reads_all = (search.drop, search.stop_when_width, search.imputation, search.blocks)
    if any(each is not None for each in reads_all) or search.training_size_correction:
        return None
    if search.keep_models != "none":  # their predictions are compared
        return None
    if not folds.exchangeable or folds.halves or not (folds.labels >= 0).all() or task.truth.kind is TaskKind.OTHER:
        return None
    method = None if estimation.method is None else method_of(estimation.method)
    metrics = [metric for metric in search.scoring.metrics.values() if metric is not None]
    scored = "as asked" if method is None else method.scored
    by_folds = all(
        Scales.of(search.aggregate, metric, scored) == ("folds", "folds") and not metric.calls_foreign_code
        for metric in metrics
    )
    if not by_folds or not (method is None or method.draws_rows):
        return None
    part = row_part(
        task.truth, np.arange(task.n_rows), estimation.n_rows_of_bootstrap, search.entropy, groups=task.groups
    )
    if part is None or not part.stands_for_all(metrics, task.sample_weight, folds.labels, part.rows):
        return None
    truth, labels = task.truth.rows(part.rows), folds.labels[part.rows]
    return None if any(too_small_out_of_bag(metric, truth, labels) for metric in metrics) else part
