"""A block of cells: configurations that were tested on the same splits, as one record."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heldout.data.task import Truth
from heldout.execution.cells import CellKey, CellResult, CellState, Saving, check_predictions, damaged_record
from heldout.folds.splits import Place
from heldout.metrics.base import Response


@dataclass(frozen=True, eq=False)
class CellBlock:
    """The results of C configurations on S splits; every cell is done, at the first attempt and without a message.

    Attributes
    ----------
    configurations : tuple of int
    places : tuple of (repeat, fold)
    sizes : tuple of int
        Test rows of each split.
    predictions : mapping of Response to ndarray of shape (sum of sizes, C) or (sum of sizes, C, outputs)
        The test rows of one split after those of another.
    test_scores : mapping of str to ndarray of shape (C, S)
        By scorer, greater = better.
    fit_seconds, score_seconds : ndarray of shape (C, S)
    shared : tuple of mapping
        What each configuration shared, as in ``CellResult``; on every split the same.
    """

    configurations: tuple[int, ...]
    places: tuple[Place, ...]
    sizes: tuple[int, ...]
    predictions: Mapping[Response, NDArray[Any]]
    test_scores: Mapping[str, NDArray[np.float64]]
    fit_seconds: NDArray[np.float64]
    score_seconds: NDArray[np.float64]
    shared: tuple[Mapping[str, Saving], ...]

    @property
    def n_cells(self) -> int:
        return len(self.configurations) * len(self.places)

    @property
    def columns(self) -> Mapping[str, Any]:
        """The fields of ``CellResult`` that are one value a cell and kept: (C, S), (C, 1), or the same for all."""
        return {
            "state": CellState.DONE,
            "message": "",
            "fit_seconds": self.fit_seconds,
            "score_seconds": self.score_seconds,
            "attempts": 1,
            "shared": np.array(self.shared, dtype=object)[:, None],
            "complexity": np.array([[{}]], dtype=object),
        }

    @property
    def keys(self) -> Iterator[CellKey]:
        """Of its cells, configuration by configuration and split by split."""
        return (CellKey(j, *place) for j in self.configurations for place in self.places)

    def has_any_of(self, repeats: Collection[int] | None, configurations: Collection[int] | None = None) -> bool:
        """Whether a cell of it is of these repeats and configurations; None means all."""
        is_of_repeats = repeats is None or any(repeat in repeats for repeat, _ in self.places)
        return is_of_repeats and (configurations is None or not set(configurations).isdisjoint(self.configurations))

    def check(self, sizes: Sequence[int], truth: Truth, n_times: int) -> None:
        """Refuse predictions in a store that no block can have written; ``sizes``: test rows of its splits."""
        if list(self.sizes) != list(sizes):
            raise damaged_record(str(self), f"predictions of {sum(self.sizes)} rows where {sum(sizes)} are due")
        check_predictions(
            str(self), self.predictions, truth, n_times, [sum(self.sizes)], (len(self.configurations),)
        )

    def cells(self) -> Iterator[CellResult]:
        """Its cells one by one, in the order of ``keys``."""
        ends = np.cumsum(self.sizes)
        for c, configuration in enumerate(self.configurations):
            for s, place in enumerate(self.places):
                rows = slice(ends[s] - self.sizes[s], ends[s])
                yield CellResult(
                    CellKey(configuration, *place),
                    CellState.DONE,
                    fit_seconds=float(self.fit_seconds[c, s]),
                    score_seconds=float(self.score_seconds[c, s]),
                    test_scores={name: float(scores[c, s]) for name, scores in self.test_scores.items()},
                    predictions={response: values[rows, c] for response, values in self.predictions.items()},
                    shared=self.shared[c],
                )

    def __str__(self) -> str:
        return f"the block of {len(self.configurations)} configurations on {len(self.places)} splits"


def likeness(result: CellResult) -> Hashable | None:
    """What the cells of a split must have in common for one block; None for a cell that is a record by itself."""
    plain = result.state is CellState.DONE and result.attempts == 1 and not result.message
    if not plain or not result.shared or result.train_scores:
        return None
    arrays = tuple((response, values.dtype, values.shape) for response, values in result.predictions.items())
    return result.key.place, arrays, tuple(result.test_scores)


def block_of(alike: Sequence[CellResult]) -> CellBlock:
    """The block of cells that are alike."""
    first = alike[0]
    return CellBlock(
        configurations=tuple(cell.key.configuration for cell in alike),
        places=(first.key.place,),
        sizes=(len(next(iter(first.predictions.values()), ())),),
        predictions={
            response: np.stack([cell.predictions[response] for cell in alike], axis=1)
            for response in first.predictions
        },
        test_scores={name: _column([cell.test_scores[name] for cell in alike]) for name in first.test_scores},
        fit_seconds=_column([cell.fit_seconds for cell in alike]),
        score_seconds=_column([cell.score_seconds for cell in alike]),
        shared=tuple(cell.shared for cell in alike),
    )


def _column(numbers: Sequence[float]) -> NDArray[np.float64]:
    return np.array(numbers, dtype=np.float64)[:, None]


def each_cell(results: Iterable[CellResult | CellBlock]) -> Iterator[CellResult]:
    """Results as single cells."""
    for result in results:
        if isinstance(result, CellBlock):
            yield from result.cells()
        else:
            yield result
