"""Scores of the outer folds beyond what their cells hold: all rows of a repeat together, and row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.execution.cells import CellResult
from heldout.execution.search import Search
from heldout.metrics.aggregate import aggregate_score
from heldout.metrics.base import Metric, Response, at_times_of, positive_of, quiet_if_foreign
from heldout.metrics.within import within_score
from heldout.protocols.branches import BranchScore
from heldout.protocols.nested.plan import NestedBranch

_ROWS_AT_A_TIME = 512


def is_defined(search: Search, metric: Metric, rows: NDArray[np.intp]) -> bool:
    """Whether scikit-learn gives the metric a number on these rows."""
    truth, weights = search.task.truth.rows(rows), search.task.sample_weight
    present = np.ones((1, len(rows))) if weights is None else weights[None, rows]
    return bool(metric.undefined_without.met(truth, positive_of(metric, truth), present)[0])


def pooled_score(
    search: Search, metric: Metric, outer: Sequence[NestedBranch], tested: Sequence[BranchScore]
) -> tuple[float, str]:
    """The metric on all outer predictions of a repeat, mean over repeats; or NaN and why there is none.

    Where the search chooses by the pairs within folds, of the pairs of rows of one outer fold.
    The models of the outer folds are of different winners, so they are pooled in a response that all of them have.
    """
    cells = [one.cell for one in tested[: len(outer)] if one.cell is not None]
    common = [response for response in metric.responses if all(response in cell.predictions for cell in cells)]
    if not common:
        return float("nan"), f"the winners have no response in common from which {metric.name} is computed"
    repeats = list(dict.fromkeys(branch.repeat for branch in outer))
    first = _read(search, metric, cells[0], common[0])
    array = np.zeros((search.task.n_rows, 1, len(repeats), *first.shape[1:]), dtype=first.dtype)
    segments = np.full((search.task.n_rows, len(repeats)), -1, dtype=np.int32)
    within = search.estimation.aggregate == "within"
    for number, (branch, cell) in enumerate(zip(outer, cells, strict=True)):
        column = repeats.index(branch.repeat)
        array[branch.refit.test, 0, column] = _read(search, metric, cell, common[0])
        segments[branch.refit.test, column] = number if within else column
    score_of = within_score if within else aggregate_score
    with quiet_if_foreign([metric]):
        score = score_of(metric, search.task.truth, array, segments, search.task.sample_weight)
        value = float(score.observed()[0])
    return value, f"{metric.name} is undefined on all outer rows together" if np.isnan(value) else ""


def _read(search: Search, metric: Metric, cell: CellResult, response: Response) -> NDArray[Any]:
    """What a cell holds of a response, as the metric reads it: of survival, its own times."""
    held = cell.predictions[response]
    return at_times_of(metric, held, search.scoring.times) if response is Response.SURVIVAL else held


def row_values(search: Search, metric: Metric, branch: NestedBranch, tested: BranchScore) -> NDArray[np.float64]:
    """The metric of each row by itself, in the order of the test rows: what a mean over rows is the mean of."""
    assert tested.cell is not None, "asked only of what was fitted"
    responses = [response for response in metric.responses if response in tested.cell.predictions]
    predictions = _read(search, metric, tested.cell, responses[0])[:, None]
    truth, values = search.task.truth.rows(branch.refit.test), []
    for start in range(0, len(predictions), _ROWS_AT_A_TIME):
        rows = slice(start, start + _ROWS_AT_A_TIME)
        part = np.arange(len(predictions))[rows]
        with quiet_if_foreign([metric]):
            statistic = metric.statistic(truth.rows(part), predictions[rows])
            values.append(statistic.all(np.eye(len(part), dtype=np.uint8))[:, 0])
    return np.concatenate(values).astype(np.float64)
