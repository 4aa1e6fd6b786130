"""A cell of work: one configuration on one split, and what came of it.

Cells are what a search plans, what its workers do, and what its store acknowledges one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from numpy.typing import NDArray

from heldout.folds.splits import Place
from heldout.metrics.base import Response


class CellKey(NamedTuple):
    """Which cell: positions of the configuration and of the split's repeat and fold."""

    configuration: int
    repeat: int
    fold: int

    @property
    def place(self) -> Place:
        """Of its split."""
        return self.repeat, self.fold


class CellState(StrEnum):
    """How a cell ended."""

    DONE = "done"
    FAILED = "failed"
    DROPPED = "dropped"
    """Never fitted: its configuration had left the race."""


@dataclass(frozen=True, eq=False)
class CellResult:
    """What came of a cell.

    Attributes
    ----------
    key : CellKey
    state : CellState
    message : str
        Why it failed: the exception's type and text, or which response was not finite; empty when done.
    fit_seconds, score_seconds : float
    test_scores, train_scores : mapping of scorer name to float
        As the scorers return them (greater = better); empty where not asked for or failed.
    predictions : mapping of Response to ndarray
        Of the split's test rows, in their order: (n_test,) or (n_test, n_classes), as ``HeldOutPredictions``
        holds them.
    attempts : int
    """

    key: CellKey
    state: CellState
    message: str = ""
    fit_seconds: float = 0.0
    score_seconds: float = 0.0
    test_scores: Mapping[str, float] = field(default_factory=dict)
    train_scores: Mapping[str, float] = field(default_factory=dict)
    predictions: Mapping[Response, NDArray[Any]] = field(default_factory=dict)
    attempts: int = 1
