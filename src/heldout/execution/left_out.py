"""Leave-one-out by a formula, which predicts each row by the model of all the others, without its fits."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress

import numpy as np

from heldout._types import Floats, Indices
from heldout.errors import NoExit
from heldout.execution.cells import CellKey, CellState, CellTable, Saving, ScoreColumn
from heldout.execution.fit import Work
from heldout.execution.responses import coded_answers, fold_scores, has_responses, is_computable_by_row
from heldout.execution.sharing.groups import LeftOutGroup
from heldout.execution.threads import on_one_thread
from heldout.folds.splits import Split


def left_out_blocks(
    work: Work, splits: Sequence[Split], positions: Collection[int], done: Collection[CellKey]
) -> Iterator[CellTable]:
    """A block for each group of configurations that a formula serves on the splits; the others must be fitted.

    - ``positions``: of the configurations that run on these splits.
    - ``done``: cells that need no work; a configuration with one of them is left to the loop.
    """
    if work.sharing is None or not work.sharing.left_out or not work.folds.part(splits).leaves_one_out:
        return
    rows = np.concatenate([split.test for split in splits])
    weight = work.routed.score.get("sample_weight")
    weight = None if weight is None else np.asarray(weight, dtype=np.float64)[rows]
    # Scores of training rows, or other weights for some scorer, need fits of their own.
    if work.return_train_score or work.scoring.weights or not set(work.routed.score) <= {"sample_weight"}:
        return
    if not is_computable_by_row(work.scoring.metrics.values(), work.task.truth.rows(rows), weight):
        return
    # A configuration that a run has begun is not begun again by another way.
    open_ones = set(positions) - {cell.configuration for cell in done}
    for group in work.sharing.left_out:
        block = None
        # A formula may fail where a fit does not; then the loop fits the configuration.
        with suppress(Exception), NoExit(), on_one_thread():
            block = _block(work, splits, group, open_ones, rows, weight)
        if block is not None:
            yield block


def _block(
    work: Work,
    splits: Sequence[Split],
    group: LeftOutGroup,
    open_ones: Collection[int],
    rows: Indices,
    weight: Floats | None,
) -> CellTable | None:
    """The block of a group, without the configurations that must be fitted; None if these are all.

    ``rows``, ``weight``: the row that each split leaves out, and its weight in the score.
    """
    task, scoring, started = work.task, work.scoring, time.perf_counter()
    fit_params = work.routed.to_fit(work.configurations[group.members[0]])
    estimator = work.configurations[group.members[0]].fresh()
    answers = coded_answers(
        task.truth,
        scoring,
        estimator,
        task.target,
        lambda method: group.form.predict_left_out(
            estimator, group.values, task.X, task.target, method, **fit_params
        ),
    )
    metrics = scoring.metrics
    served = {
        j: answer
        for j, answer in zip(group.members, answers, strict=True)
        if j in open_ones and has_responses(metrics.values(), answer)
    }
    if not served:
        return None
    fitted = time.perf_counter()
    predictions = {
        response: np.stack([answer[response][rows] for answer in served.values()], axis=1)
        for response in next(iter(served.values()))
    }
    tests, row_splits = task.truth.rows(rows), np.arange(len(rows), dtype=np.int32)
    scores = fold_scores(metrics, tests, predictions, row_splits, weight, scoring.times)
    block = CellTable.empty(
        list(served),
        (split.place for split in splits),
        test_scores={name: ScoreColumn.of(values) for name, values in scores.items()},
        predictions=predictions,
        sizes=(1,) * len(rows),
    )
    shared, n_cells = {f"{group.form.type.__name__} by formula": Saving(None)}, len(block)
    # All fits at once have one time, which is divided evenly.
    seconds = (fitted - started) / n_cells, (time.perf_counter() - fitted) / n_cells
    block.columns[...] = np.array((CellState.DONE, "", *seconds, 1, shared, {}), dtype=block.columns.dtype)
    return block
