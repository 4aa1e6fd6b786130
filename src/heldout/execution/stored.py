"""Check that what a store returns can be a cell's result: the shape of its predictions, the codes of its labels.

Predictions of another shape would be broadcast over rows, and a code beyond the classes would index beyond them. A
checksum finds chance damage only: whoever changes a cell can write its checksum anew.
"""

from __future__ import annotations

from collections.abc import Sequence

from heldout.data.task import Truth
from heldout.errors import StoreError
from heldout.execution.cells import CellResult
from heldout.metrics.base import Response
from heldout.predictions import UNPREDICTED_LABEL


def check_result(
    result: CellResult, truth: Truth, n_times: int, rows: Sequence[int], completions: tuple[int, ...] = ()
) -> None:
    """Refuse predictions that no cell leaves.

    Parameters
    ----------
    n_times : int
        Of survival probabilities.
    rows : sequence of int
        How many rows it may be of.
    completions : () or (H,)
        The axis after the rows, where rows were completed H times.

    Raises
    ------
    StoreError
    """
    for response, values in result.predictions.items():
        shapes = [(n, *completions, *_outputs(response, truth, n_times)) for n in rows]
        if values.shape not in shapes:
            raise _damaged(result, f"{response} of shape {values.shape} where {shapes[0]} is due")
        if values.dtype.kind not in ("iu" if response is Response.LABELS else "f"):
            raise _damaged(result, f"{response} of type {values.dtype}")
        if response is not Response.LABELS or not values.size:
            continue
        if not UNPREDICTED_LABEL <= values.min() <= values.max() < truth.n_classes:
            raise _damaged(result, f"labels coded {values.min()} to {values.max()} of {truth.n_classes} classes")


def _outputs(response: Response, truth: Truth, n_times: int) -> tuple[int, ...]:
    if response is Response.SURVIVAL:
        return (n_times,)
    by_class = response in (Response.PROBABILITIES, Response.DECISION) and truth.n_classes > 2
    return (truth.n_classes,) if by_class else ()


def _damaged(result: CellResult, why: str) -> StoreError:
    configuration, repeat, fold = result.key
    return StoreError(
        f"the run file is damaged (the cell of configuration {configuration}, repeat {repeat}, fold {fold} holds "
        f"{why}) and cannot be resumed; restore a copy of it, or move it away and start again."
    )
