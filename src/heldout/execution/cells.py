"""A cell of work: one configuration on one split, and its result.

A search plans cells, its workers do them, and its store acknowledges them one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from numpy.typing import NDArray

from heldout.data.task import TaskKind, Truth
from heldout.errors import StoreError
from heldout.execution.fitted_model import FittedModel
from heldout.folds.splits import Place
from heldout.metrics.base import Response
from heldout.predictions import UNPREDICTED_LABEL


class CellKey(NamedTuple):
    """Which cell: positions of the configuration and of the split's repeat and fold."""

    configuration: int
    repeat: int
    fold: int

    @property
    def place(self) -> Place:
        """Of its split."""
        return self.repeat, self.fold

    def __str__(self) -> str:
        return f"the cell of configuration {self.configuration}, repeat {self.repeat}, fold {self.fold}"


def is_among(
    key: CellKey, repeats: Collection[int] | None = None, configurations: Collection[int] | None = None
) -> bool:
    """Whether a cell is of some repeats and configurations; None means all."""
    return (repeats is None or key.repeat in repeats) and (
        configurations is None or key.configuration in configurations
    )


class CellState(StrEnum):
    """How a cell ended."""

    DONE = "done"
    FAILED = "failed"
    DROPPED = "dropped"
    """Never fitted: its configuration was dropped before."""


class Saving(NamedTuple):
    """What sharing saved one fit: in a group all parts are equal, and their sum is what was really saved."""

    seconds: float | None
    """What a fit by itself would have taken longer; None where nothing tells how long that is."""
    n_bytes: float = 0.0
    """The output of shared steps that was read and not made again."""


@dataclass(frozen=True, eq=False)
class CellResult:
    """The result of a cell.

    ``test_scores``, ``train_scores``: as the scorers return them (greater = better); empty where not requested or
    failed.
    """

    key: CellKey
    state: CellState
    message: str = ""
    """Why it failed: the exception's type and text, or which response was not finite; empty when done."""
    fit_seconds: float = 0.0
    score_seconds: float = 0.0
    test_scores: Mapping[str, float] = field(default_factory=dict)
    train_scores: Mapping[str, float] = field(default_factory=dict)
    predictions: Mapping[Response, NDArray[Any]] = field(default_factory=dict)
    """Of the split's test rows, in their order: (n_test,) or (n_test, n_classes), as ``HeldOutPredictions`` holds
    them."""
    attempts: int = 1
    ahead_seconds: float = 0.0
    """Spent on steps that it shared, beyond its part of them, so that others find them made; not stored."""
    n_following: int = 0
    """Results that arrive together with it and after it; not stored."""
    shared: Mapping[str, Saving] = field(default_factory=dict)
    """What it shared with other configurations and what that saved: "steps", or a class of which one fit served
    several models or steps."""
    complexity: Mapping[str, float] = field(default_factory=dict)
    """How many of each unit of ``execution.complexity`` its model has, where the selection reads that; of a model
    that selected terms, 1 for each that it has and 0 for the others."""
    model: FittedModel | None = None
    """The model that made the predictions, where models are kept; not stored."""


def check_predictions(
    cell: str,
    predictions: Mapping[Response, NDArray[Any]],
    truth: Truth,
    n_times: int,
    rows: Sequence[int],
    middle: tuple[int, ...] = (),
) -> None:
    """Refuse predictions in a store that no cell can have written.

    Predictions of another shape would be broadcast over rows, and a code beyond the classes would index beyond
    them. The checksum of a record finds chance damage only: someone who changes it can write a new checksum.

    - ``cell``: names the cell, or the block, in words.
    - ``n_times``: of survival probabilities.
    - ``rows``: the numbers of rows that are allowed.
    - ``middle``: the axes between rows and outputs: H completions of the rows, or C configurations of a block.
    """
    for response, values in predictions.items():
        shapes = [(n, *middle, *outputs_of(response, truth, n_times)) for n in rows]
        if values.shape not in shapes:
            raise damaged_record(cell, f"{response} of shape {values.shape} where {shapes[0]} is due")
        if values.dtype.kind not in ("iu" if response is Response.LABELS else "f"):
            raise damaged_record(cell, f"{response} of type {values.dtype}")
        if response is not Response.LABELS or not values.size:
            continue
        if not UNPREDICTED_LABEL <= values.min() <= values.max() < truth.n_classes:
            raise damaged_record(
                cell, f"labels coded {values.min()} to {values.max()} of {truth.n_classes} classes"
            )


def outputs_of(response: Response, truth: Truth, n_times: int) -> tuple[int, ...]:
    """The shape of a response for one row: () for one number."""
    if response is Response.SURVIVAL:
        return (n_times,)
    if truth.kind is TaskKind.OTHER:
        return truth.values.shape[1:]
    by_class = response in (Response.PROBABILITIES, Response.DECISION) and truth.n_classes > 2
    return (truth.n_classes,) if by_class else ()


def damaged_record(cell: str, why: str) -> StoreError:
    """The error for a cell, or a block of them, that holds what none can hold."""
    return StoreError(
        f"the run file is damaged ({cell} holds {why}) and cannot be resumed; restore a copy of it, or move it "
        "away and start again."
    )
